package feed_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/internal/fault"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/repeatable"
)

const keep = 30 * 24 * time.Hour

// A world is feeds over stores in memory, and the audience of every activity.
type world struct {
	t *testing.T
	*repeatable.Clock
	db       *memory.Tables
	queues   *memory.Queues
	feed     *feed.Service
	audience feed.Audience
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, Clock: repeatable.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)), db: memory.NewTables()}
	w.queues = memory.NewQueues(w.Now)
	require.NoError(t, w.db.Create(t.Context(), duubletest.Tables.All()...))
	require.NoError(t, w.queues.Create(t.Context(), feed.Queue))
	w.feed = feed.New(feed.Config{
		Store: duubletest.Rows(w.db, w.Now), Tables: duubletest.Tables, Queues: w.queues, Keep: keep,
		Notices: notices.New(notices.Config{Store: duubletest.Rows(w.db, w.Now), Tables: duubletest.Tables}),
		Follows: func(context.Context, string, string) (time.Time, error) { return w.Now(), nil },
		Look:    func(context.Context, feed.Activity) (feed.Audience, error) { return w.audience, nil },
	})
	return w
}

// group writes rows that name people, and returns them as a group.
func (w *world) group(name string, people, most int) feed.Group {
	w.t.Helper()
	for i := range people {
		_, err := w.db.Write(w.t.Context(), "Users",
			table.Op{
				Kind: table.Insert,
				Row:  table.Row{Key: table.Key{Partition: name, Row: fmt.Sprintf("x|%s%05d", name, i)}},
			})
		require.NoError(w.t, err)
	}
	return feed.Group{List: lists.List{Table: "Users", Partition: name, Prefix: "x|"}, Most: most}
}

// work does what messages ask for, until none is left, and returns how many there were. Each comes
// twice.
func (w *world) work() (n int) {
	w.t.Helper()
	for {
		got, err := w.queues.Receive(w.t.Context(), feed.Queue, 1, time.Minute)
		require.NoError(w.t, err)
		if len(got) == 0 {
			return n
		}
		n++
		require.NoError(w.t, w.feed.Deliver(w.t.Context(), got[0].Text))
		require.NoError(w.t, w.queues.Delete(w.t.Context(), feed.Queue, got[0].Receipt))
	}
}

// homes returns how many people have something in their home.
func (w *world) homes() int {
	w.t.Helper()
	n := 0
	for _, err := range table.All(w.t.Context(), w.db, "Lists",
		table.Range{FromPartition: "home|", ToPartition: "home}"}) {
		require.NoError(w.t, err)
		n++
	}
	return n
}

func (w *world) act(post string) feed.Activity {
	return feed.Activity{Type: feed.Voted, Actor: "actor", Post: post, At: w.Now()}
}

// TestSlices: an activity reaches everybody of all groups once, up to the bound of each group, by
// messages of which each writes up to 1,000 rows, also where a slice ends with a group or in one.
func TestSlices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		sizes, most []int
		homes       int
		messages    int
	}{
		{[]int{0}, []int{0}, 0, 1},
		{[]int{3, 2}, []int{0, 0}, 5, 1},
		{[]int{1500}, []int{0}, 1500, 2},
		{[]int{1500, 700}, []int{1200, 600}, 1800, 2},
		{[]int{1000, 5}, []int{0, 0}, 1005, 2},
		{[]int{300, 2300}, []int{200, 0}, 2500, 3},
	} {
		w := newWorld(t)
		w.audience.Holds = true
		for i, size := range tt.sizes {
			w.audience.Groups = append(w.audience.Groups, w.group(string(rune('a'+i)), size, tt.most[i]))
		}
		require.NoError(t, w.feed.Tell(t.Context(), w.act("post")))
		n := w.work()
		require.Equal(t, tt.homes, w.homes(), "%v", tt)
		require.GreaterOrEqual(t, n, tt.messages, "%v", tt)
		require.LessOrEqual(t, n, tt.messages+1, "%v", tt)
		require.NoError(t, w.feed.Tell(t.Context(), w.act("post")))
		w.work()
		require.Equal(t, tt.homes, w.homes(), "again is the same")
	}
}

// TestTellQuietly: those who took part are not told of each of several activities at once, and the
// others are.
func TestTellQuietly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	took := w.group("b", 3, 0)
	took.TookPart = true
	w.audience = feed.Audience{Holds: true, Groups: []feed.Group{w.group("a", 2, 0), took}}
	require.NoError(t, w.feed.TellQuietly(t.Context(), w.act("one")))
	w.work()
	require.Equal(t, 2, w.homes())
	require.NoError(t, w.feed.Tell(t.Context(), w.act("two")))
	w.work()
	require.Equal(t, 7, w.homes())
}

// TestTell: no one is told of activities that do not hold any more or are too old, nor a person of
// the own ones. A message that names nothing is refused.
func TestTell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.audience.Groups = []feed.Group{w.group("a", 1, 0)}
	_, err := w.db.Write(t.Context(), "Users",
		table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: "a", Row: "x|actor"}}})
	require.NoError(t, err)
	require.NoError(t, w.feed.Tell(t.Context(), w.act("post")))
	w.work()
	require.Zero(t, w.homes())
	w.audience.Holds = true
	old := w.act("post")
	w.Pass(keep + time.Second)
	require.NoError(t, w.feed.Tell(t.Context(), old))
	w.work()
	require.Zero(t, w.homes())
	require.NoError(t, w.feed.Tell(t.Context(), w.act("post")))
	w.work()
	require.Equal(t, 1, w.homes())
	for _, text := range []string{"", "{}", `{"actor":"a"}`, `{"actor":"../x","post":"p"}`} {
		require.Equal(t, fault.Malformed, fault.Of(w.feed.Deliver(t.Context(), text)), text)
	}
}

// TestPrepared: a message that was prepared comes by itself if its process stops, or at once where
// it is brought forward.
func TestPrepared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.audience = feed.Audience{Holds: true, Groups: []feed.Group{w.group("a", 1, 0)}}
	r, err := w.feed.Prepare(w.feed.Begin(t.Context()), w.act("one"))
	require.NoError(t, err)
	_, err = w.feed.Prepare(w.feed.Begin(t.Context()), w.act("two"))
	require.NoError(t, err)
	require.Zero(t, w.work())
	w.feed.Forward(t.Context(), r)
	require.Equal(t, 1, w.work())
	require.Equal(t, 1, w.homes())
	w.Pass(time.Minute)
	require.Equal(t, 1, w.work())
	require.Equal(t, 2, w.homes())
}

// TestRest: those beyond the most of a group are told in order, over several messages, until no
// more are wanted, and the groups after it get what they must.
func TestRest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ size, most, wanted, rest int }{
		{2500, 1200, 5000, 1300},
		{2500, 1000, 5000, 1500},
		{2500, 1200, 500, 800},
		{5, 3, 5000, 2},
		{3, 3, 5000, 0},
	} {
		w := newWorld(t)
		g := w.group("a", tt.size, tt.most)
		told, ended := map[string]bool{}, tt.rest == 0
		g.Rest = func(_ context.Context, after string, rows []table.Row, isLast bool) (bool, error) {
			require.Equal(t, fmt.Sprintf("a%05d", tt.most-1), after)
			for _, row := range rows {
				told[lists.ID(row)] = true
			}
			ended = ended || isLast
			return len(told) < tt.wanted, nil
		}
		w.audience = feed.Audience{Holds: true, Groups: []feed.Group{g, w.group("b", 10, 0)}}
		require.NoError(t, w.feed.Tell(t.Context(), w.act("post")))
		w.work()
		require.Equal(t, tt.rest, len(told), tt) //nolint:testifylint // it prints all
		require.Equal(t, tt.most+10, w.homes(), tt)
		require.Equal(t, tt.wanted > tt.rest, ended, tt)
	}
}

// TestRestIsToldFirst: rows that come into the list once the rest was told of none are read.
func TestRestIsToldFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.group("a", 4, 2)
	var told []string
	g.Rest = func(_ context.Context, _ string, rows []table.Row, _ bool) (bool, error) {
		if told == nil {
			require.Empty(t, rows)
			told = []string{}
			row := table.Row{Key: table.Key{Partition: "a", Row: "x|a00002b"}}
			_, err := w.db.Write(t.Context(), "Users", table.Op{Kind: table.Insert, Row: row})
			require.NoError(t, err)
		}
		for _, row := range rows {
			told = append(told, lists.ID(row))
		}
		return true, nil
	}
	w.audience = feed.Audience{Holds: true, Groups: []feed.Group{g}}
	require.NoError(t, w.feed.Tell(t.Context(), w.act("post")))
	w.work()
	require.Equal(t, []string{"a00002", "a00002b", "a00003"}, told)
}

// TestBring: with a follow the newest activities come, and none twice.
func TestBring(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.audience = feed.Audience{Holds: true, Groups: []feed.Group{w.group("a", 1, 0)}}
	require.NoError(t, w.feed.Note(t.Context(), w.act("too old")))
	w.Pass(keep + time.Second)
	for i := range feed.Brought + 5 {
		require.NoError(t, w.feed.Note(t.Context(), w.act(fmt.Sprint("post", i))))
		w.Pass(time.Second)
	}
	for range 2 {
		require.NoError(t, w.feed.Bring(t.Context(), "reader", "actor"))
		require.Equal(t, 1, w.work())
		rows, err := w.feed.Home("reader", "").Next(t.Context(), 100)
		require.NoError(t, err)
		require.Len(t, rows, feed.Brought)
		require.Equal(t, fmt.Sprint("post", feed.Brought+4), rows[0].Post)
	}
	require.NoError(t, w.feed.Bring(t.Context(), "other", "nobody"))
	w.work()
}

// stops is a storage whose n-th call and all after it fail.
type stops struct {
	table.DB
	left int
}

func (s *stops) call() error {
	if s.left--; s.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func (s *stops) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if err := s.call(); err != nil {
		return table.Row{}, err
	}
	return s.DB.Get(ctx, name, key)
}

func (s *stops) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if err := s.call(); err != nil {
		return table.Page{}, err
	}
	return s.DB.List(ctx, name, r, limit, next)
}

func (s *stops) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	return s.DB.Write(ctx, name, ops...)
}

// TestSweep: an activity of 29 d 23:59:59 ago stays and one of 30 d 00:00:01 ago goes, from all
// partitions, whatever call the sweep stops at, and it is read by no one before it goes.
func TestSweep(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		w := newWorld(t)
		w.audience = feed.Audience{Holds: true, Groups: []feed.Group{w.group("a", 3, 0)}}
		for i := range 3 {
			require.NoError(t, w.feed.Tell(t.Context(), w.act(fmt.Sprint("old", i))))
		}
		w.Pass(2 * time.Second)
		require.NoError(t, w.feed.Tell(t.Context(), w.act("young")))
		w.work()
		require.Equal(t, 12, w.homes())
		w.Pass(keep - time.Second)
		rows, err := w.feed.Home("a00000", "").Next(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		over := &stops{DB: w.db, left: n}
		other := *w.feed
		other.Store = duubletest.Rows(over, w.Now)
		err = other.Sweep(t.Context())
		require.NoError(t, w.feed.Sweep(t.Context()))
		require.Equal(t, 3, w.homes())
		if over.left >= 0 {
			require.NoError(t, err)
			require.Greater(t, n, 10)
			break // there is no such call
		}
		require.Error(t, err)
	}
}

// TestForget: the home of a person, and what the person did, go whole.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.audience = feed.Audience{Holds: true, Groups: []feed.Group{w.group("a", 2, 0)}}
	require.NoError(t, w.feed.Tell(t.Context(), w.act("post")))
	w.work()
	require.NoError(t, w.feed.Forget(t.Context(), "a00000"))
	require.Equal(t, 1, w.homes())
	is, err := w.feed.IsNoted(t.Context(), w.act("post"), time.Time{})
	require.NoError(t, err)
	require.True(t, is)
	require.NoError(t, w.feed.Forget(t.Context(), "actor"))
	is, err = w.feed.IsNoted(t.Context(), w.act("post"), time.Time{})
	require.NoError(t, err)
	require.False(t, is)
}
