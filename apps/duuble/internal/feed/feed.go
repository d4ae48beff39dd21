// Package feed carries what people do around posts to the homes of others.
//
//	act|{user}     {inv}|{id}    the activities of a person
//	home|{user}    {inv}|{id}    activities that others may want to see
//
// An activity follows from a row of a post, such as a comment. Once that is written, a message of
// the queue fan-out names the activity. The job looks whether the row is still there, and writes
// the activity into the homes of an audience, some people a message, so that each message ends
// soon. Rows have names that follow from the activity: to write them again changes nothing.
//
// The last followers of a person get the activities of the person. The homes of all other followers
// read them from the list of the person: a Reader reads both as one list.
//
// A row of a home only suggests. Package posts looks at each post, each thing and each reason to
// show it, at the time of reading. Rows go when they are older than Keep.
package feed

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Queue is the queue, and the function of the same name, that writes activities into homes.
const Queue = "fan-out"

// Bounds of an audience.
const (
	MaxFans   = 5000 // those who followed last
	MaxOfHub  = 200  // of a hub of the person who acts: those who joined last
	MaxOfPost = 200  // those who voted on a post, and as many comments
	// Brought is how many activities of a person come into a home with a follow.
	Brought = 20
	// slice is how many rows of homes one message writes.
	slice = 1000
	// atOnce is how many of them are written at once.
	atOnce = 16
)

// The types of activities.
const (
	Created      = "post_created"
	Reposted     = "post_reposted"
	Voted        = "post_voted"
	Commented    = "post_commented"
	SharedToFeed = "post_shared_to_feed"
	SharedToHub  = "post_shared_to_hub"
)

// Types are all of them.
var Types = []string{Created, Reposted, Voted, Commented, SharedToFeed, SharedToHub}

// An Activity is what a person did around a post.
type Activity struct {
	Type  string    `json:"type"`
	Actor string    `json:"actor"`
	Post  string    `json:"post"`
	Thing string    `json:"thing,omitempty"` // a comment, or the key of a share
	At    time.Time `json:"at"`
}

// rowKey is the key of an activity in a partition.
func (a Activity) rowKey() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{a.Type, a.Actor, a.Post, a.Thing}, "\n")))
	return rowstore.Descending(a.At) + "|" + hex.EncodeToString(sum[:16])
}

// columns are the properties of an activity.
var columns = rowstore.Columns[Activity]{
	rowstore.Text("type", func(a *Activity) *string { return &a.Type }),
	rowstore.Text("actor_id", func(a *Activity) *string { return &a.Actor }),
	rowstore.Text("post_id", func(a *Activity) *string { return &a.Post }),
	rowstore.Instant("at", func(a *Activity) *time.Time { return &a.At }),
	rowstore.Text("thing", func(a *Activity) *string { return &a.Thing }).Optional(),
}

func (a Activity) toRow(partition string) table.Row {
	return table.Row{Key: table.Key{Partition: partition, Row: a.rowKey()}, Props: columns.Props(&a)}
}

func parseActivity(row table.Row) (a Activity) {
	columns.Read(row.Props, &a)
	return a
}

const (
	actRows  = "act|"
	homeRows = "home|"
)

// An Audience is for whom an activity is.
type Audience struct {
	Holds  bool // whether what the activity follows from is there
	Groups []Group
	Told   []Told // people who get a notification
}

// A Told is a notification for a person.
type Told struct {
	User   string
	Notice notices.Notice
}

// A Group is people of an audience.
type Group struct {
	lists.List        // of rows that name them by the last part of the key
	Property   string // that names them instead, unless it is ""
	Most       int    // the first of them; 0: all
	TookPart   bool   // whether they are those who did something around the post before
	// In says whether a row is of one of them; nil: each is.
	In func(table.Row) bool
	// Rest is told of those beyond Most, the last of whom within Most is at a position: of none
	// before the first of them are read, and then some at a time. It returns whether it wants more of
	// them; nil wants none.
	Rest func(ctx context.Context, after string, rows []table.Row, isLast bool) (more bool, err error)
	// Notice is the notification for those of them whose row Notified says so; nil is none.
	Notice   *notices.Notice
	Notified func(table.Row) bool
}

func (g Group) name() string { return g.Partition + " " + g.Prefix }

// A Service keeps feeds. New makes one.
type Service struct{ Config }

// A Config is what a Service needs. Every field is required.
type Config struct {
	*rowstore.Store
	Tables schema.Tables // prefixed
	Queues queue.Queues
	Keep   time.Duration // how long activities and notifications are kept
	Look   func(context.Context, Activity) (Audience, error)
	// Follows returns since when a person follows another, zero if it is not so.
	Follows func(ctx context.Context, user, other string) (time.Time, error)
	Notices *notices.Service
	// OfHub tells people of a change of a hub.
	OfHub func(ctx context.Context, hub, change string) error
}

// New returns the service.
func New(c Config) *Service { return &Service{c} }

// A message asks to write an activity into homes, that some activities of Actor are brought into
// the home of Reader, or that people are told of a change of a hub.
type message struct {
	Activity
	Quiet  bool   `json:"quiet,omitempty"` // those who took part need not know
	Reader string `json:"reader,omitempty"`
	Hub    string `json:"hub,omitempty"` // in which a change was made, of which people are told
	Change string `json:"change,omitempty"`

	Group string `json:"group,omitempty"` // where the job goes on
	After string `json:"after,omitempty"`
	Done  int    `json:"done,omitempty"`
	Most  string `json:"most,omitempty"` // the position of the last within the most of the group
}

func (s *Service) feedOutbox() outbox.Outbox {
	return outbox.Outbox{Store: s.Store, Queues: s.Queues, Queue: Queue, After: schema.MessageAfter}
}

// Begin returns the context of a change from which an activity follows.
func (s *Service) Begin(ctx context.Context) context.Context { return s.feedOutbox().Begin(ctx) }

// Prepare sends the message of an activity, before the change is made. ctx is of Begin.
func (s *Service) Prepare(ctx context.Context, a Activity) (queue.Receipt, error) {
	return s.feedOutbox().Send(ctx, message{Activity: a})
}

// Forward makes a message that was prepared come now.
func (s *Service) Forward(ctx context.Context, r queue.Receipt) { s.feedOutbox().Forward(ctx, r) }

// Tell sends the message of an activity that has happened.
func (s *Service) Tell(ctx context.Context, a Activity) error {
	return s.feedOutbox().Tell(ctx, message{Activity: a})
}

// TellQuietly is Tell of an activity that another one on the same post follows at once, which those
// who took part are told of.
func (s *Service) TellQuietly(ctx context.Context, a Activity) error {
	return s.feedOutbox().Tell(ctx, message{Activity: a, Quiet: true})
}

// Bring sends the message of a follow, by which the newest activities of the person come into the
// home of the one who follows, and the person is told.
func (s *Service) Bring(ctx context.Context, reader, actor string) error {
	return s.feedOutbox().Tell(ctx, message{Reader: reader, Activity: Activity{Actor: actor}})
}

// PrepareHub sends the message of a change of a hub, before it is made. ctx is of Begin.
func (s *Service) PrepareHub(ctx context.Context, hub, change string) (queue.Receipt, error) {
	return s.feedOutbox().Send(ctx, message{Hub: hub, Change: change})
}

// Deliver does what a message asks for.
func (s *Service) Deliver(ctx context.Context, text string) error {
	var m message
	err := json.Unmarshal([]byte(text), &m)
	if err == nil && schema.IsID(m.Hub) && schema.IsID(m.Change) {
		return s.OfHub(ctx, m.Hub, m.Change)
	}
	if err != nil || !schema.IsID(m.Actor) || m.Reader == "" && !schema.IsID(m.Post) {
		return fault.New(fault.Malformed, "the message names no activity")
	}
	if m.Reader != "" {
		return s.bringActivities(ctx, m.Reader, m.Actor)
	}
	audience, err := s.Look(ctx, m.Activity)
	if err != nil || !audience.Holds || s.Now().Sub(m.At) > s.Keep {
		return err
	}
	if m.Group == "" {
		err := s.Note(ctx, m.Activity)
		for _, one := range audience.Told {
			if err == nil && one.User != m.Actor {
				err = s.Notices.Tell(ctx, one.User, one.Notice)
			}
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(audience.Groups, func(a, b Group) int { return cmp.Compare(a.name(), b.name()) })
	left := slice
	for _, g := range audience.Groups {
		if g.name() < m.Group || m.Quiet && g.TookPart {
			continue
		}
		if g.name() > m.Group {
			m.Group, m.After, m.Done, m.Most = g.name(), "", 0, ""
		}
		for more := true; more; {
			n := left
			if g.Most > 0 && m.Most == "" {
				n = min(n, g.Most-m.Done)
			}
			if n == 0 && g.Rest == nil {
				break
			}
			if n == 0 {
				m.Most, n = m.After, left
				if _, err := g.Rest(ctx, m.Most, nil, false); err != nil {
					return err
				}
			}
			rows, next, err := lists.Read(ctx, s.Store, g.List, m.After, n, nil)
			more = next != ""
			switch {
			case err != nil:
			case m.Most != "":
				var wants bool
				wants, err = g.Rest(ctx, m.Most, rows, !more)
				more = more && wants
			default:
				err = s.writeActivity(ctx, m.Activity, g, rows)
			}
			if err != nil {
				return err
			}
			left, m.After, m.Done = left-len(rows), next, m.Done+len(rows)
			if left == 0 && more {
				return s.feedOutbox().Tell(ctx, m)
			}
		}
		if left == 0 {
			m.Group, m.After, m.Done, m.Most = g.name()+"~", "", 0, "" // the groups after this one
			return s.feedOutbox().Tell(ctx, m)
		}
	}
	return nil
}

// writeActivity writes an activity into the homes of people that rows name.
func (s *Service) writeActivity(ctx context.Context, a Activity, g Group, rows []table.Row) error {
	return rowstore.Each(ctx, len(rows), atOnce, func(ctx context.Context, i int) error {
		reader := lists.ID(rows[i])
		if g.Property != "" {
			reader = rows[i].Props.Get(g.Property).Str()
		}
		if reader == a.Actor || !schema.IsID(reader) || g.In != nil && !g.In(rows[i]) {
			return nil
		}
		err := s.Upsert(ctx, s.Tables.Lists, a.toRow(homeRows+reader))
		if err == nil && g.Notice != nil && g.Notified(rows[i]) {
			err = s.Notices.Tell(ctx, reader, *g.Notice)
		}
		return err
	})
}

// Note writes an activity into the list of the person, unless it is too old for it.
func (s *Service) Note(ctx context.Context, a Activity) error {
	if s.Now().Sub(a.At) > s.Keep {
		return nil
	}
	return s.Upsert(ctx, s.Tables.Lists, a.toRow(actRows+a.Actor))
}

// IsNoted reports whether the list of the person has an activity that it must have, none from
// before the time of Swept.
func (s *Service) IsNoted(ctx context.Context, a Activity, swept time.Time) (bool, error) {
	if s.Now().Sub(a.At) > s.Keep || a.At.Before(swept) {
		return true, nil
	}
	row, err := s.GetRow(ctx, s.Tables.Lists, a.toRow(actRows+a.Actor).Key)
	return row != nil, err
}

// oldKeys begins the keys of rows that are older than Keep: it is after all rows of that instant.
func (s *Service) oldKeys() string { return rowstore.Descending(s.Now().Add(-s.Keep)) + "}" }

func (s *Service) bringActivities(ctx context.Context, reader, actor string) error {
	since, err := s.Follows(ctx, reader, actor)
	if err != nil || since.IsZero() {
		return err
	}
	if s.Now().Sub(since) <= s.Keep { // else it is one that came back
		if err := s.Notices.Tell(ctx, actor,
			notices.Notice{Type: notices.UserFollowed, Actor: reader, At: since}); err != nil {
			return err
		}
	}
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Lists,
		table.Range{Partition: actRows + actor, To: s.oldKeys()}, Brought)
	if err != nil || len(rows) == 0 {
		return err
	}
	var ops []table.Op
	for _, row := range rows {
		ops = append(ops, table.Op{Kind: table.Upsert, Row: parseActivity(row).toRow(homeRows + reader)})
	}
	if err := s.Write(ctx, s.Tables.Lists, ops); err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}

// A Row is an activity in a home. Key is where it is.
type Row struct {
	Activity
	Key string
}

// A Reader reads the home of a person, and lists of others, as one list, the newest first.
type Reader struct {
	s     *Service
	at    string // the position after which it goes on
	parts []*part
}

// A part is one of the lists that a Reader reads, with the rows that it has not returned yet.
type part struct {
	partition string
	at        string
	rows      []table.Row
	ends      bool // whether there is no more after the rows
}

// Home returns a reader of the home of a person after a position.
func (s *Service) Home(user, after string) *Reader {
	return &Reader{s, after, []*part{{partition: homeRows + user, at: after}}}
}

// Add has the reader read the lists of some people, too.
func (r *Reader) Add(actors []string) {
	for _, id := range actors {
		r.parts = append(r.parts, &part{partition: actRows + id, at: r.at})
	}
}

// Fill reads up to limit rows of each list that is used up.
func (r *Reader) Fill(ctx context.Context, limit int) error {
	return rowstore.Each(ctx, len(r.parts), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		p := r.parts[i]
		if p.ends || len(p.rows) > 0 {
			return nil
		}
		rows, _, err := r.s.Budget().Rows(ctx, r.s.Tables.Lists,
			table.Range{Partition: p.partition, After: p.at, To: r.s.oldKeys()}, limit)
		p.rows, p.ends = rows, len(rows) < limit
		return err
	})
}

// Next reads up to limit activities, fewer at the end.
func (r *Reader) Next(ctx context.Context, limit int) (all []Row, err error) {
	for len(all) < limit {
		if err := r.Fill(ctx, limit); err != nil {
			return nil, err
		}
		var first *part
		for _, p := range r.parts {
			if len(p.rows) > 0 && (first == nil || p.rows[0].Row < first.rows[0].Row) {
				first = p
			}
		}
		if first == nil {
			return all, nil
		}
		row := first.rows[0]
		first.rows, first.at = first.rows[1:], row.Row
		if row.Row == r.at {
			continue // which another list has, too
		}
		r.at = row.Row
		all = append(all, Row{parseActivity(row), row.Row})
	}
	return all, nil
}

// Forget removes the home and the notifications of a person whose account goes, and the list of
// what the person did.
func (s *Service) Forget(ctx context.Context, user string) error {
	if err := s.Empty(ctx, s.Tables.Lists, homeRows+user, ""); err != nil {
		return err
	}
	if err := s.Empty(ctx, s.Tables.Lists, actRows+user, ""); err != nil {
		return err
	}
	return s.Notices.Forget(ctx, user)
}

// Erase removes activities and notifications of others that name a person. It reads all of them:
// those of people who have left are removed by Sweep, long before their accounts are.
func (s *Service) Erase(ctx context.Context, user string) error {
	for _, in := range []struct{ table, prefix string }{
		{s.Tables.Lists, homeRows},
		{s.Tables.Notifications, notices.Rows},
	} {
		for row, err := range table.All(ctx, s.DB, in.table,
			table.Range{FromPartition: in.prefix, ToPartition: table.After(in.prefix)}) {
			if err == nil && row.Props.Get("actor_id").Str() == user {
				err = s.RemoveKey(ctx, in.table, row.Key)
			}
			if err != nil {
				return rowstore.Unavailable(err)
			}
		}
	}
	return nil
}

// VerifyRows reports activities and notifications that name people without an account, or are
// theirs: exists tells. It leaves out rows that Sweep removes within soon: a person who has left
// may have done something then that was told a moment later, and is kept from that moment on.
func (s *Service) VerifyRows(ctx context.Context, exists func(context.Context, string) (bool, error),
	report func(string),
) (rows int, err error) {
	known := map[string]bool{"": true}
	old := rowstore.Descending(s.Now().Add(soon - s.Keep))
	for _, in := range []struct{ table, prefix, what string }{
		{s.Tables.Lists, actRows, "the list of what they did"},
		{s.Tables.Lists, homeRows, "a home"},
		{s.Tables.Notifications, notices.Rows, "a notification"},
	} {
		for row, err := range table.All(ctx, s.DB, in.table,
			table.Range{FromPartition: in.prefix, ToPartition: table.After(in.prefix)}) {
			if err != nil {
				return rows, err
			}
			rows++
			if row.Row > old {
				continue
			}
			for _, id := range []string{strings.TrimPrefix(row.Partition, in.prefix), row.Props.Get("actor_id").Str()} {
				there, ok := known[id]
				if !ok {
					if there, err = exists(ctx, id); err != nil {
						return rows, err
					}
					known[id] = there
				}
				if !there {
					report(fmt.Sprintf("user %s: there is no such account, and %s has it (%s)", id, in.what, row.Key))
				}
			}
		}
	}
	return rows, nil
}

const soon = time.Hour

// sweepEvery is after how many partitions Sweep keeps where it is.
const sweepEvery = 500

func (s *Service) placeKey() table.Key { return table.Key{Partition: "cfg", Row: "sweep"} }

// Sweep removes activities and notifications that are older than Keep: a job of a timer. It goes on
// where the one before was stopped.
func (s *Service) Sweep(ctx context.Context) error {
	row, err := s.GetRow(ctx, s.Tables.Admin, s.placeKey())
	if err != nil {
		return err
	}
	began := ""
	if row != nil {
		began = row.Props.Get("at").Str()
	}
	if err := s.keepPlace(ctx, began, row); err != nil {
		return err
	}
	parts := 0
	for _, in := range []struct{ table, prefix string }{
		{s.Tables.Lists, actRows},
		{s.Tables.Lists, homeRows},
		{s.Tables.Notifications, notices.Rows},
	} {
		for from, to := max(in.prefix, began), table.After(in.prefix); from < to; {
			rows, _, err := s.Budget().Rows(ctx, in.table, table.Range{FromPartition: from, ToPartition: to}, 1)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				break
			}
			if err := s.sweepPartition(ctx, in.table, rows[0].Partition); err != nil {
				return err
			}
			from = rows[0].Partition + "!" // before the next one, as no id has such a character
			if parts++; parts%sweepEvery == 0 {
				if err := s.keepPlace(ctx, from, row); err != nil {
					return err
				}
			}
		}
	}
	if began == "" {
		return nil
	}
	return s.keepPlace(ctx, "", row) // the next one begins anew
}

// keepPlace notes how far a sweep is, and before which time one has removed activities: Keep may
// have been shorter in the sweep before, which wrote row.
func (s *Service) keepPlace(ctx context.Context, at string, row *table.Row) error {
	until := s.Now().Add(-s.Keep)
	if row != nil && row.Props.Get(sweptUntil).Time().After(until) {
		until = row.Props.Get(sweptUntil).Time()
	}
	return s.Upsert(ctx, s.Tables.Admin,
		table.Row{
			Key:   s.placeKey(),
			Props: table.Props{{Name: "at", Value: table.String(at)}, {Name: sweptUntil, Value: table.Time(until)}},
		})
}

const sweptUntil = "swept_until"

// Swept returns before which time a sweep may have removed all activities.
func (s *Service) Swept(ctx context.Context) (time.Time, error) {
	row, err := s.GetRow(ctx, s.Tables.Admin, s.placeKey())
	if err != nil || row == nil {
		return time.Time{}, err
	}
	return row.Props.Get(sweptUntil).Time(), nil
}

// sweepPartition removes what is too old of one partition.
func (s *Service) sweepPartition(ctx context.Context, name, partition string) error {
	for {
		rows, more, err := s.Budget().Rows(ctx, name,
			table.Range{Partition: partition, From: s.oldKeys(), Select: []string{"none"}}, table.MaxBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		var ops []table.Op
		for _, row := range rows {
			ops = append(ops, rowstore.Removal(row.Key))
		}
		if err := s.Write(ctx, name, ops); err != nil && !rowstore.Overtaken(err) {
			return rowstore.Unavailable(err)
		}
		if !more {
			return nil
		}
	}
}
