package people

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// To follow and to block are ties, each a row in the partition of the person who made it:
//
//	fo|{other}, fod|{inv}|{other}    the people that the person follows, and the same by the time of the first follow
//	bl|{other}, br|{other}           the people that the person blocks, and those that block the person
//	fb|{inv}|{other}                 followed people whose jobs stop before the home of the person, as beyond.go says
//	fr|{other}, frd|{inv}|{other}    who follows the person: mirrors of fo| there
//	c|00                             how many of each, in the same batch
//
// A row br| only says where to look, and is written before what it points at. A tie that ends stays
// as a row for Keep, so that one that comes back keeps its date. Only the rows bl| of both people
// say whether they are hidden from each other. A read of one person asks them; a read of many finds
// by the rows br| of the reader whose to ask, so a block that holds always has its row br|. A purge
// takes one away only if it is old: a block that comes back writes it anew before, and a purge that
// had read the older one finds that it has changed. A block also ends the follows both ways. It is
// written first and looks for follows after that, and a follow is written first and looks for
// blocks after that: so of both at once none stays.

// QueueTies is the queue, and the function of the same name, that finishes what follows from a tie.
const QueueTies = "ties"

// Bounds of ties of a person.
const (
	MaxFollows = 20_000
	MaxBlocks  = 2000
)

// TooMany is the code of what a person or a hub has as often as it may.
const TooMany fault.Code = "TOO_MANY"

const (
	followRows   = "fo|"
	followByTime = "fod|"
	blockRows    = "bl|"
	blockerRows  = "br|"
	fanRows      = "fr|"
	fanByTime    = "frd|"
)

// Fans are the rows of those who follow a person, the newest first. The last parts of their keys
// are the ids.
func (s *Service) Fans(user string) lists.List {
	return lists.List{Table: s.Tables.Users, Partition: schema.User(user), Prefix: fanByTime}
}

// FollowsNoOne reports whether a person follows no one.
func (s *Service) FollowsNoOne(ctx context.Context, user string) (bool, error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Users, table.Prefix(schema.User(user), followByTime), 1)
	return len(rows) == 0, err
}

// A tie is that of one person to another.
type tie struct {
	from, to  string
	kind      string // followRows or blockRows
	beyond    bool   // whether this is one of the follows of beyond.go
	createdAt time.Time
	deletedAt time.Time // zero of one that holds
	version   int64
	etag      string
}

func (x *tie) isLive() bool { return x != nil && x.deletedAt.IsZero() }

func (x *tie) toRow() table.Row {
	props := table.Props{
		{Name: "created_at", Value: table.Time(x.createdAt)},
		{Name: "version", Value: table.Int64(x.version)},
		{Name: deleted, Value: table.Bool(!x.isLive())},
	}
	if !x.isLive() {
		props = append(props, table.Prop{Name: "deleted_at", Value: table.Time(x.deletedAt)})
	}
	if x.beyond {
		props = append(props, table.Prop{Name: isBeyond, Value: table.Bool(true)})
	}
	return table.Row{Key: table.Key{Partition: schema.User(x.from), Row: x.kind + x.to}, ETag: x.etag, Props: props}
}

func parseTie(row table.Row) *tie {
	kind, to, _ := strings.Cut(row.Row, "|")
	p := row.Props
	return &tie{
		from: strings.TrimPrefix(row.Partition, schema.User("")), to: to, kind: kind + "|",
		createdAt: p.Get("created_at").Time(), deletedAt: p.Get("deleted_at").Time(),
		version: p.Get("version").Int(), beyond: p.Get(isBeyond).Bool(), etag: row.ETag,
	}
}

// readTie reads a tie, also one that has ended; nil if there never was one.
func (s *Service) readTie(ctx context.Context, kind, from, to string) (*tie, error) {
	row, err := s.userRow(ctx, from, kind+to)
	if err != nil || row == nil {
		return nil, err
	}
	return parseTie(*row), nil
}

// listKeys returns the keys of the rows by which a follow is listed, none of a block.
func (x *tie) listKeys() (keys []string) {
	if x.kind == followRows {
		keys = append(keys, followByTime+rowstore.Descending(x.createdAt)+"|"+x.to)
	}
	if x.beyond {
		keys = append(keys, beyondRows+rowstore.Descending(x.createdAt)+"|"+x.to)
	}
	return keys
}

// listOps returns the writes of the rows by which a tie is listed, or not any more.
func (x *tie) listOps(live bool) (ops []table.Op) {
	for _, key := range x.listKeys() {
		ops = append(ops, listOps(x.from, key, live)...)
	}
	return ops
}

// setTie makes a tie, or ends it. One that is so already stays as it is.
func (s *Service) setTie(ctx context.Context, kind, from, to string, live bool) (*tie, error) {
	var x *tie
	err := s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		var counts *table.Row
		err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
			x, err = s.readTie(ctx, kind, from, to)
			return err
		}, func(ctx context.Context) (err error) {
			counts, err = s.userRow(ctx, from, tally)
			return err
		})
		if err != nil || x.isLive() == live {
			return nil, err
		}
		column, most, text := following, int64(MaxFollows), "you follow as many people as a person may"
		if kind == blockRows {
			column, most, text = blocking, MaxBlocks, "you block as many people as a person may"
		}
		if live && counts != nil && counts.Props.Get(column).Int() >= most {
			return nil, fault.Coded(fault.Conflict, TooMany, text)
		}
		now := table.TimeOf(table.Ticks(s.Now()))
		if x == nil {
			// Later than any version of a tie that was here before and was purged: a mirror may
			// still be on its way that has that.
			x = &tie{from: from, to: to, kind: kind, createdAt: now, version: now.UnixMilli()}
		}
		x.version++
		if x.deletedAt = now; live {
			x.deletedAt = time.Time{}
		}
		if !live || kind == blockRows {
			err = s.endedTies().Add(ctx, now, from+"|"+kind+to)
		}
		if err == nil && live && kind == blockRows {
			// At each try, because a purge of a block that had ended takes the row away. If the
			// block is never written, PurgeTies finds by the row before that this one is of
			// nothing.
			err = s.Upsert(ctx, s.Tables.Users, s.blockerRow(to, from))
		}
		if err != nil {
			return nil, err
		}
		return append([]table.Op{rowstore.Put(x.toRow()), countOp(from, counts, column, live)}, x.listOps(live)...), nil
	})
	return x, err
}

// Follows returns since when a person follows another, zero if it is not so.
func (s *Service) Follows(ctx context.Context, user, other string) (time.Time, error) {
	x, err := s.readTie(ctx, followRows, user, other)
	if err != nil || !x.isLive() {
		return time.Time{}, err
	}
	return x.createdAt, nil
}

// Hidden reports whether one of two people blocks the other. A guest is "".
func (s *Service) Hidden(ctx context.Context, viewer, other string) (bool, error) {
	if viewer == "" || viewer == other {
		return false, nil
	}
	var mine, theirs *tie
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		mine, err = s.readTie(ctx, blockRows, viewer, other)
		return err
	}, func(ctx context.Context) (err error) {
		theirs, err = s.readTie(ctx, blockRows, other, viewer)
		return err
	})
	return mine.isLive() || theirs.isLive(), err
}

// mostBlocks is how many blocks of a person, made and received, are read at once. If there are
// more, each of the other people is asked about.
const mostBlocks = 200

// AreHidden returns those of some people who are hidden from a viewer. An id may be there more than
// once, or "".
func (s *Service) AreHidden(ctx context.Context, viewer string, ids []string) (map[string]bool, error) {
	hidden := map[string]bool{}
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id string) bool {
		return id == "" || id == viewer
	})
	if viewer == "" || len(ids) == 0 {
		return hidden, nil
	}
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Users,
		table.Range{Partition: schema.User(viewer), From: blockRows, To: table.After(blockerRows)}, mostBlocks+1)
	if err != nil {
		return nil, err
	}
	ask := ids
	if len(rows) <= mostBlocks {
		ask = nil
		for _, row := range rows {
			kind, other, _ := strings.Cut(row.Row, "|")
			if _, listed := slices.BinarySearch(ids, other); !listed {
				continue
			}
			if kind+"|" == blockerRows {
				ask = append(ask, other)
			} else if isLive(&row) {
				hidden[other] = true
			}
		}
	}
	are := make([]bool, len(ask))
	err = rowstore.Each(ctx, len(ask), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		are[i], err = s.Hidden(ctx, viewer, ask[i])
		return err
	})
	for i, id := range ask {
		if are[i] {
			hidden[id] = true
		}
	}
	return hidden, err
}

func (s *Service) tieOutbox() outbox.Outbox {
	return outbox.Outbox{Store: s.Store, Queues: s.Queues, Queue: QueueTies, After: schema.MessageAfter}
}

// A pair is the text of a message: rows that follow from the ties of two people may be missing, or
// without Other those that follow from the leaving of one, or the return.
type pair struct {
	User  string `json:"user"`
	Other string `json:"other,omitempty"`
}

// readBoth reads what decides whether the caller can make a tie to another person.
func (s *Service) readBoth(ctx context.Context, c Claim, other string) (there bool, err error) {
	hidden := false
	_, err = s.Member(ctx, c, func(ctx context.Context) error {
		if !schema.IsID(other) {
			return nil
		}
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			u, err := s.readUser(ctx, other)
			there = u.isThere()
			return err
		}, func(ctx context.Context) (err error) {
			hidden, err = s.Hidden(ctx, c.UserID, other)
			return err
		})
	})
	if err == nil && other == c.UserID {
		err = &fault.Error{
			Kind: fault.Invalid, Text: "this is you",
			Fields: []fault.Field{{Name: "path.id", Message: "must be another person"}},
		}
	}
	return there && !hidden, err
}

// Follow has the caller follow a person, or not any more, and returns since when.
func (s *Service) Follow(ctx context.Context, c Claim, other string, live bool) (time.Time, error) {
	there, err := s.readBoth(ctx, c, other)
	if err == nil && !there {
		err = noUser()
	}
	if err != nil {
		return time.Time{}, err
	}
	ctx = s.tieOutbox().Begin(ctx)
	r, err := s.tieOutbox().Send(ctx, pair{c.UserID, other})
	if err != nil {
		return time.Time{}, err
	}
	x, err := s.setTie(ctx, followRows, c.UserID, other, live)
	if err != nil {
		return time.Time{}, err
	}
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		if s.reflectFollow(ctx, c.UserID, other) == nil && s.tellFollow(ctx, x) == nil {
			s.tieOutbox().Cancel(ctx, r)
		}
	})
	if x == nil {
		return time.Time{}, nil // there never was one
	}
	return x.createdAt, nil
}

// tellFollow tells other rooms of a follow that holds.
func (s *Service) tellFollow(ctx context.Context, x *tie) error {
	if !x.isLive() || s.Followed == nil {
		return nil
	}
	return s.Followed(ctx, x.from, x.to)
}

// reflectFollow writes what follows from a follow: its mirror, or its end if the two are hidden
// from each other. One that was made while the account of the other was removed goes. The follows
// of a person who has left are not counted until they come back.
func (s *Service) reflectFollow(ctx context.Context, from, to string) error {
	var x *tie
	var u *User
	hidden := false
	reads := []func(context.Context) error{
		func(ctx context.Context) (err error) { x, err = s.readTie(ctx, followRows, from, to); return err },
		func(ctx context.Context) (err error) { u, err = s.readUser(ctx, from); return err },
		func(ctx context.Context) (err error) { hidden, err = s.Hidden(ctx, from, to); return err },
	}
	err := rowstore.All(ctx, reads...)
	if err == nil && x.isLive() && hidden {
		x, err = s.setTie(ctx, followRows, from, to, false)
	}
	if err != nil || x == nil || u == nil || u.purging {
		return err
	}
	// Both numbers only grow, so a later state of the two rows has the larger sum.
	is, err := s.reflectMirror(ctx, Mirror{
		User: to, Row: fanRows + from, Version: x.version + u.Life, Live: x.isLive() && u.DeletedAt.IsZero(),
		Column: followers, Order: fanByTime + rowstore.Descending(x.createdAt) + "|" + from,
		Props: table.Props{{Name: "created_at", Value: table.Time(x.createdAt)}},
	})
	if err == nil && !is {
		return s.dropTie(ctx, followRows, from, to, func(*tie) bool { return true })
	}
	if err == nil && x.isLive() && u.DeletedAt.IsZero() {
		err = s.catchUp(ctx, x)
	}
	return err
}

// reflectPair writes what follows from the ties of two people.
func (s *Service) reflectPair(ctx context.Context, a, b string) error {
	if err := s.reflectFollow(ctx, a, b); err != nil {
		return err
	}
	return s.reflectFollow(ctx, b, a)
}

// followPair does what a message asks for.
func (s *Service) followPair(ctx context.Context, text string) error {
	var p pair
	if err := json.Unmarshal([]byte(text), &p); err != nil || !schema.IsID(p.User) ||
		p.Other != "" && !schema.IsID(p.Other) {
		return fault.New(fault.Malformed, "the message names no people")
	}
	if p.Other == "" {
		return s.reflectLife(ctx, p.User)
	}
	if err := s.reflectPair(ctx, p.User, p.Other); err != nil {
		return err
	}
	x, err := s.readTie(ctx, followRows, p.User, p.Other)
	if err != nil {
		return err
	}
	return s.tellFollow(ctx, x)
}

// Block hides the caller and a person from each other, or not any more, and returns since when. It
// ends the follows both ways, which do not come back.
func (s *Service) Block(ctx context.Context, c Claim, other string, live bool) (time.Time, error) {
	there, err := s.readBoth(ctx, c, other)
	var x *tie
	if err == nil && !there && schema.IsID(other) { // one who is blocked already
		if x, err = s.readTie(ctx, blockRows, c.UserID, other); err == nil && !x.isLive() {
			err = noUser()
		}
	} else if err == nil && !there {
		err = noUser()
	}
	if err != nil || x.isLive() && live {
		return startOf(x), err
	}
	ctx = s.tieOutbox().Begin(ctx)
	r, err := s.tieOutbox().Send(ctx, pair{c.UserID, other})
	if err != nil {
		return time.Time{}, err
	}
	if x, err = s.setTie(ctx, blockRows, c.UserID, other, live); err != nil {
		return time.Time{}, err
	}
	if s.reflectPair(ctx, c.UserID, other) == nil { // else its message does it
		s.tieOutbox().Cancel(ctx, r)
	}
	return startOf(x), nil
}

func blockerKey(user, by string) table.Key {
	return table.Key{Partition: schema.User(user), Row: blockerRows + by}
}

// blockerRow is the row by which a block is found from the person who is blocked, written now.
func (s *Service) blockerRow(user, by string) table.Row {
	return table.Row{Key: blockerKey(user, by), Props: table.Props{{Name: "at", Value: table.Time(s.Now().UTC())}}}
}

func startOf(x *tie) time.Time {
	if x == nil {
		return time.Time{}
	}
	return x.createdAt
}

// A PersonPage is a part of a list of people. Next is the position that the next one begins after,
// "" at the end.
type PersonPage struct {
	Items []Person
	Next  string
}

// Blocks returns the people that the caller blocks, in the order of their ids.
func (s *Service) Blocks(ctx context.Context, c Claim, after string, limit int) (PersonPage, error) {
	return s.personPage(ctx, c, c.UserID, blockRows, after, limit)
}

// Followers returns who follows a person, the newest first.
func (s *Service) Followers(ctx context.Context, c Claim, user, after string, limit int) (PersonPage, error) {
	return s.personPage(ctx, c, user, fanByTime, after, limit)
}

// Following returns the people that a person follows, the newest first.
func (s *Service) Following(ctx context.Context, c Claim, user, after string, limit int) (PersonPage, error) {
	return s.personPage(ctx, c, user, followByTime, after, limit)
}

func (s *Service) personPage(ctx context.Context, c Claim, user, prefix, after string, limit int) (PersonPage, error) {
	var rows []table.Row
	next := ""
	read := func(ctx context.Context) (err error) {
		if schema.IsID(user) {
			rows, next, err = lists.Read(ctx, s.Store,
				lists.List{Table: s.Tables.Users, Partition: schema.User(user), Prefix: prefix}, after, limit, onlyLive)
		}
		return err
	}
	var err error
	if prefix == blockRows {
		_, err = s.Member(ctx, c, read)
	} else {
		_, err = s.Visitor(ctx, c, func(ctx context.Context) error {
			return rowstore.Both(ctx, read, func(ctx context.Context) error { return s.MustSee(ctx, c.UserID, user) })
		})
	}
	if err != nil {
		return PersonPage{}, err
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = lists.ID(row)
	}
	var persons map[string]Person
	hidden := map[string]bool{}
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		persons, err = s.People(ctx, ids)
		return err
	}, func(ctx context.Context) (err error) {
		if prefix != blockRows {
			hidden, err = s.AreHidden(ctx, c.UserID, ids)
		}
		return err
	})
	page := PersonPage{Items: []Person{}, Next: next}
	for _, id := range ids {
		if p := persons[id]; p.ID != "" && !hidden[id] {
			page.Items = append(page.Items, p)
		}
	}
	return page, err
}

func onlyLive(_ context.Context, rows []table.Row) ([]table.Row, error) {
	return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool { return !isLive(&row) }), nil
}

// MustSee returns an error unless a viewer can see a person, a guest "" among them. A person who
// has no username yet is not there.
func (s *Service) MustSee(ctx context.Context, viewer, id string) error {
	_, err := s.SeenBy(ctx, viewer, id)
	return err
}

// SeenBy returns a person who is there for a viewer.
func (s *Service) SeenBy(ctx context.Context, viewer, id string) (User, error) {
	if !schema.IsID(id) {
		return User{}, noUser()
	}
	var u *User
	hidden := false
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		u, err = s.readUser(ctx, id)
		return err
	}, func(ctx context.Context) (err error) {
		hidden, err = s.Hidden(ctx, viewer, id)
		return err
	})
	if err == nil && (!u.isThere() || hidden) {
		err = noUser()
	}
	if err != nil {
		return User{}, err
	}
	return *u, nil
}

// Repair writes the mirrors of all follows, the rows by which people are found, and those that
// point at blocks and at what is due to be removed. After a restore some may be missing, because a
// backup reads one partition after the other.
func (s *Service) Repair(ctx context.Context) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{}) {
		if err == nil && strings.HasPrefix(row.Row, followRows) {
			x := parseTie(row)
			err = s.reflectFollow(ctx, x.from, x.to)
		}
		write := func(name string, row table.Row) error { return s.Upsert(ctx, name, row) }
		if u := parseUser(row); err == nil && row.Row == meRow {
			if err = s.dropMissing(ctx, u); err == nil {
				err = s.searchIndex().Want(u.ID, u.searchWords(), write)
			}
		}
		if err == nil && row.Row == fansRow {
			err = s.RemoveRow(ctx, s.Tables.Users, row) // the next activity marks all
		}
		if err == nil {
			err = s.eachPointer(row, write)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// eachPointer calls do for each row that points at a row of a user.
func (s *Service) eachPointer(row table.Row, do func(name string, row table.Row) error) error {
	if u := parseUser(row); row.Row == meRow && !u.DeletedAt.IsZero() {
		return do(s.Tables.Admin, s.leaverRows().Row(u.DeletedAt, u.ID))
	}
	if !strings.HasPrefix(row.Row, followRows) && !strings.HasPrefix(row.Row, blockRows) {
		return nil
	}
	x := parseTie(row)
	if x.kind == blockRows {
		if err := do(s.Tables.Users, s.blockerRow(x.to, x.from)); err != nil {
			return err
		}
	}
	if x.isLive() {
		return nil
	}
	return do(s.Tables.Admin, s.endedTies().Row(x.deletedAt, x.from+"|"+x.kind+x.to))
}

// A circle is what follows from the ties of a user, and the rows that are there.
type circle struct {
	user      string
	said, has map[string]int64 // by the columns of counts
	want, got map[string]bool
	marked    string // the instant before which all follows of the user are marked, "" if none are
}

func (a *circle) add(row table.Row) {
	key, p := row.Row, row.Props
	kind, _, _ := strings.Cut(key, "|")
	switch kind + "|" {
	case "c|":
		for _, column := range []string{following, followers, blocking} {
			a.said[column] += p.Get(column).Int()
		}
	case followRows, blockRows:
		if x := parseTie(row); x.isLive() {
			a.has[map[string]string{followRows: following, blockRows: blocking}[x.kind]]++
			for _, key := range x.listKeys() {
				a.want[key] = true
			}
		}
	case fanRows:
		if isLive(&row) {
			a.has[followers]++
			a.want[fanByTime+rowstore.Descending(p.Get("created_at").Time())+"|"+
				strings.TrimPrefix(key, fanRows)] = true
		}
	case followByTime, fanByTime, beyondRows:
		a.got[key] = true
	case fansRow + "|":
		a.marked = p.Get(marked).Str()
	}
}

func (a *circle) check(report func(string)) {
	if a == nil {
		return
	}
	differs := func(format string, args ...any) { report("user " + a.user + ": " + fmt.Sprintf(format, args...)) }
	for _, column := range []string{following, followers, blocking} {
		if a.said[column] != a.has[column] {
			differs("%s is %d, and there are %d", column, a.said[column], a.has[column])
		}
	}
	for key := range a.want {
		if !a.got[key] {
			differs("a follow is missing in a list")
		}
	}
	for key := range a.got {
		if !a.want[key] {
			differs("a list has a follow that is not there")
		}
	}
}

// verifyTies compares the ties of users with their counts, lists and mirrors.
func (s *Service) verifyTies(ctx context.Context, report func(string)) (rows int, err error) {
	var a *circle
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{}) {
		if err != nil {
			return rows, err
		}
		if id := strings.TrimPrefix(row.Partition, schema.User("")); a == nil || a.user != id {
			a.check(report)
			a = &circle{
				user: id, said: map[string]int64{}, has: map[string]int64{},
				want: map[string]bool{}, got: map[string]bool{},
			}
		}
		a.add(row)
		if err := s.eachPointer(row, func(name string, row table.Row) error {
			there, err := s.GetRow(ctx, name, row.Key)
			if err == nil && there == nil {
				kind, _, _ := strings.Cut(row.Key.Row, "|")
				report(fmt.Sprintf("user %s: a row %s of %s is missing that points at it", a.user, kind, name))
			}
			return err
		}); err != nil {
			return rows, err
		}
		from, to, kind := a.user, "", ""
		if rest, ok := strings.CutPrefix(row.Row, followRows); ok {
			to, kind = rest, fanRows+from
		} else if rest, ok := strings.CutPrefix(row.Row, fanRows); ok {
			to, kind = rest, followRows+from
		}
		if kind == "" {
			continue
		}
		rows++
		other, err := s.userRow(ctx, to, kind)
		if err != nil {
			return rows, err
		}
		follow, mirror, follower := &row, other, from
		if strings.HasPrefix(row.Row, fanRows) {
			follow, mirror, follower = other, &row, to
		}
		u, err := s.readUser(ctx, follower)
		if err != nil {
			return rows, err
		}
		if other == nil || isLive(mirror) != (isLive(follow) && u != nil && u.DeletedAt.IsZero()) {
			report(fmt.Sprintf("user %s: a follow between them and %s is not the same on both sides", from, to))
		} else if x := parseTie(*follow); mirror == &row && isLive(mirror) && a.marked != "" &&
			rowstore.Descending(x.createdAt) > a.marked && !x.beyond {
			report(fmt.Sprintf("user %s: the home of %s has not what they do, and does not ask for it",
				a.user, follower))
		}
	}
	a.check(report)
	return rows, nil
}
