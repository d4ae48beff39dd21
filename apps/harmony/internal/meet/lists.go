package meet

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An Entry of a list is a member, with the like, match or block between them and the caller.
type Entry struct {
	Card
	At        time.Time
	Anonymous bool
	Match     bool
	ChatID    string
}

// A Page is a part of a list. Next is the position that the next one begins after, "" at the end.
type Page struct {
	Entries   []Entry
	Next      string
	Anonymous int // of likes received: how many are anonymous, up to maxAnonymous
}

// maxAnonymous is how far anonymous likes are counted.
const maxAnonymous = 100

// someone is a member that a row of a list names.
type someone struct {
	key   table.Key
	of    *User
	shows rules.Privacy
	pair  pairs.Pair
}

// readMembers reads the members that rows of a list name, and their pairs with the user of the
// list.
func (s *Service) readMembers(ctx context.Context, user string, rows []table.Row) ([]someone, error) {
	all := make([]someone, len(rows))
	err := rowstore.Each(ctx, 3*len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		one, row := &all[i/3], rows[i/3].Key
		id := row.Row[strings.LastIndexByte(row.Row, '_')+1:]
		if id == "" { // it was erased
			one.key = row
			return nil
		}
		switch i % 3 {
		case 0:
			one.key = row
			one.of, err = s.readUser(ctx, id)
		case 1:
			one.shows, _, err = s.readPrivacy(ctx, id)
		case 2:
			one.pair, err = s.readPair(ctx, user, id)
		}
		return err
	})
	return all, err
}

// ticksOf returns the instant in the key of a list row.
func ticksOf(key table.Key) int64 {
	inverse, _, _ := strings.Cut(key.Row, "_")
	var n int64
	for _, c := range inverse {
		n = 10*n + int64(c-'0')
	}
	return table.MaxTicks - n
}

// readList reads the first rows of a list of the caller, next to the caller and other reads.
func (s *Service) readList(ctx context.Context, c Claim, name, after string, limit int,
	reads ...func(context.Context) error,
) (caller Caller, p Part, err error) {
	caller, err = s.identifyCaller(ctx, c, append(reads, func(ctx context.Context) (err error) {
		p, err = s.PartOf(ctx, name, table.Range{Partition: c.UserID, After: after, To: dayRows}, limit+1)
		return err
	})...)
	return caller, p, err
}

// pageOf returns a page of a list whose positions are the keys of its rows.
func pageOf(ctx context.Context, p Part, limit int, entriesOf func([]table.Row) ([]*Entry, error)) (Page, error) {
	entries, next, err := FillPage(ctx, p, limit, entriesOf)
	if next == nil {
		return Page{Entries: entries}, err
	}
	return Page{Entries: entries, Next: next.Key.Row}, err
}

// showEntries returns the entries of rows that their pairs and members let the caller see, nil for
// others. A row that its pair refuses follows a change that is over: it is removed after the
// answer.
func (s *Service) showEntries(ctx context.Context, caller Caller, name string, rows []table.Row,
	holds func(someone) bool,
) ([]*Entry, error) {
	all, err := s.readMembers(ctx, caller.ID, rows)
	if err != nil {
		return nil, err
	}
	entries := make([]*Entry, len(all))
	for i, one := range all {
		if !holds(one) {
			ctx := context.WithoutCancel(ctx)
			s.Background(func() { _ = s.RemoveKey(ctx, name, one.key) }) // the next reader tries again
			continue
		}
		if one.of == nil || sightOf(caller.User, *one.of, one.shows, one.pair, s.Now()) == Hidden {
			continue
		}
		entries[i] = &Entry{
			Card: cardOf(caller.User, *one.of, one.pair, s.Now()),
			At:   table.TimeOf(ticksOf(one.key)), Match: one.pair.Matched(),
		}
	}
	return entries, nil
}

// LikesSent returns the caller's likes.
func (s *Service) LikesSent(ctx context.Context, c Claim, after string, limit int) (Page, error) {
	caller, p, err := s.readList(ctx, c, s.Tables.Likes, after, limit)
	if err != nil {
		return Page{}, err
	}
	secret := map[string]bool{}
	likes, err := pageOf(ctx, p, limit, func(rows []table.Row) ([]*Entry, error) {
		return s.showEntries(ctx, caller, s.Tables.Likes, rows, func(one someone) bool {
			side := one.pair.Side(c.UserID)
			secret[one.pair.IDs[1-side]] = one.pair.Anonymous[side]
			return one.pair.Like[side] == ticksOf(one.key)
		})
	})
	for i, e := range likes.Entries {
		likes.Entries[i].Anonymous = secret[e.ID]
	}
	return likes, err
}

// LikesReceived returns the likes of others that wait for the caller's answer and are not
// anonymous, and how many are.
func (s *Service) LikesReceived(ctx context.Context, c Claim, after string, limit int) (Page, error) {
	var hidden []table.Row
	caller, p, err := s.readList(ctx, c, s.Tables.LikesReceived, after, limit, func(ctx context.Context) (err error) {
		hidden, _, err = s.Budget().Rows(ctx, s.Tables.LikesReceived,
			table.Range{Partition: pairs.ReceivedBy(c.UserID, true)}, maxAnonymous)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	likes, err := pageOf(ctx, p, limit, func(rows []table.Row) ([]*Entry, error) {
		return s.showEntries(ctx, caller, s.Tables.LikesReceived, rows, func(one someone) bool {
			from := 1 - one.pair.Side(c.UserID)
			return !one.pair.Matched() && one.pair.Like[from] == ticksOf(one.key) && !one.pair.Anonymous[from]
		})
	})
	if err != nil {
		return Page{}, err
	}
	// No answer names the sender of a secret like. So the number depends on nothing that the reader
	// can see of a member, or bring about: no block, suspension, deletion or erasure changes it.
	counts := make([]bool, len(hidden))
	err = rowstore.Each(ctx, len(hidden), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		key := hidden[i].Key
		_, from, _ := strings.Cut(key.Row, "_")
		if from == "" { // the account was erased
			counts[i] = true
			return nil
		}
		p, err := s.readPair(ctx, c.UserID, from)
		counts[i] = p.Counts(p.Side(from), ticksOf(key))
		return err
	})
	for _, yes := range counts {
		if yes {
			likes.Anonymous++
		}
	}
	return likes, err
}

// Matches returns the matches of the caller, the newest first.
func (s *Service) Matches(ctx context.Context, c Claim, after string, limit int) (Page, error) {
	var rows []table.Row
	caller, err := s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.Tables.Matches, table.Range{Partition: c.UserID}, rowstore.MaxScan)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	rows = slices.DeleteFunc(rows, func(r table.Row) bool { return !r.Props.Get("IsActive").Bool() })
	position := func(r table.Row) string {
		return rowstore.Descending(table.TimeOf(r.Props.Get("CreatedAt").Int())) + "_" + r.Key.Row
	}
	slices.SortFunc(rows, func(a, b table.Row) int { return cmp.Compare(position(a), position(b)) })
	rows = slices.DeleteFunc(rows, func(r table.Row) bool { return position(r) <= after })
	entries, next, err := FillPage(ctx, partsOf(rows, limit+1), limit, s.matchesOf(ctx, caller))
	p := Page{Entries: entries}
	if next != nil {
		p.Next = position(*next)
	}
	return p, err
}

// matchesOf returns what makes entries of rows of a caller's matches.
func (s *Service) matchesOf(ctx context.Context, caller Caller) func([]table.Row) ([]*Entry, error) {
	return func(rows []table.Row) ([]*Entry, error) {
		all, err := s.readMembers(ctx, caller.ID, rows)
		entries := make([]*Entry, len(all))
		for i, one := range all {
			if err == nil && one.pair.Matched() && one.of != nil &&
				sightOf(caller.User, *one.of, one.shows, one.pair, s.Now()) != Hidden {
				entries[i] = &Entry{
					Card: cardOf(caller.User, *one.of, one.pair, s.Now()),
					At:   table.TimeOf(one.pair.MatchedAt), Match: true, ChatID: one.pair.ChatID(),
				}
			}
		}
		return entries, err
	}
}

// Blocked returns the members that the caller has blocked, but those who would look as if the
// account were gone without that: else it would tell whether they have blocked the caller or left.
func (s *Service) Blocked(ctx context.Context, c Claim, after string, limit int) (Page, error) {
	_, p, err := s.readList(ctx, c, s.Tables.Blocks, after, limit)
	if err != nil {
		return Page{}, err
	}
	return pageOf(ctx, p, limit, func(rows []table.Row) ([]*Entry, error) {
		all, err := s.readMembers(ctx, c.UserID, rows)
		entries := make([]*Entry, len(all))
		for i, one := range all {
			side := one.pair.Side(c.UserID)
			if err == nil && s.isPresent(one.of) && one.pair.Block[side] == ticksOf(one.key) &&
				one.pair.Block[1-side] == 0 {
				entries[i] = &Entry{Card: Card{ID: one.of.ID, Name: one.of.Name}, At: table.TimeOf(ticksOf(one.key))}
			}
		}
		return entries, err
	})
}
