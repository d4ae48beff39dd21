package posts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
	"prompthub/internal/testing/repeatable"
)

// A world is posts of one person over stores in memory.
type world struct {
	t *testing.T
	*repeatable.Clock
	db     *memory.Tables
	queues *memory.Queues
	luck   *repeatable.Luck
	blobs  blob.Store
	phone  duubletest.Phone
	people *people.Service
	posts  *posts.Service
	talks  *discussions.Service
	shown  *pictures.Service
	ann    people.Claim
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, Clock: repeatable.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)), db: memory.NewTables(),
		luck: repeatable.Seeded(1), blobs: duubletest.Blobs(time.Now),
	}
	w.queues = memory.NewQueues(w.Now)
	require.NoError(t, w.db.Create(t.Context(), duubletest.Tables.All()...))
	require.NoError(t, w.queues.Create(t.Context(), append(posts.Queues(), people.Queues()...)...))
	w.posts = w.over(w.db, w.queues)
	w.people, w.talks = w.posts.People, discussions.New(w.posts)
	w.shown = &pictures.Service{Assets: w.people.Assets, Posts: w.posts, ADay: 100}
	w.ann = w.enter(1)
	return w
}

// over returns a service over other stores, as another process.
func (w *world) over(db table.DB, queues queue.Queues) *posts.Service {
	return w.overBlobs(db, w.blobs, queues)
}

func (w *world) overBlobs(db table.DB, blobs blob.Store, queues queue.Queues) *posts.Service {
	rows := duubletest.Rows(db, w.Now)
	return service(w.t, queues, w.luck,
		duubletest.People(rows, blobs, queues, w.luck, keyring.Ring{make([]byte, 32)}, &w.phone))
}

// service returns the service of some accounts, over the rows of which it is.
func service(t *testing.T, queues queue.Queues, luck *repeatable.Luck, accounts *people.Service) *posts.Service {
	t.Helper()
	rows := accounts.Store
	keys, err := ballot.NewKeys(make([]byte, 32))
	require.NoError(t, err)
	var s *posts.Service
	votes := ballot.New(ballot.Config{
		Store: rows, Posts: "Posts", Due: "Admin", Queues: queues, Keys: keys, VoteMin: 3,
		SettleAfter: 24 * time.Hour, Entropy: luck,
		Follow: func(ctx context.Context, all []ballot.Receipt) error { return s.FollowVotes(ctx, all) },
	})
	s = posts.New(posts.Config{
		Store: rows, Tables: duubletest.Tables, Queues: queues, Entropy: luck, People: accounts,
		Hubs:   hubs.New(hubs.Config{Store: rows, Tables: duubletest.Tables, Entropy: luck, People: accounts}),
		Ballot: votes, PostsADay: 100, CommentsADay: 1000, MessagesADay: 1000, VotesAnHour: 300,
	})
	discussions.New(s)
	return s
}

// enter makes an account that is complete.
func (w *world) enter(i int) people.Claim {
	w.t.Helper()
	return duubletest.Enter(w.t, w.people, &w.phone, i)
}

// pump lets time go by and the jobs do what is due then.
func (w *world) pump(d time.Duration) {
	w.t.Helper()
	w.Pass(d)
	for _, trigger := range append(w.posts.Triggers(), w.people.Triggers(w.shown.Sweep)...) {
		if trigger.Queue == "" {
			require.NoError(w.t, trigger.Run(w.t.Context(), function.Invocation{Timer: true}))
			continue
		}
		list, err := w.queues.Receive(w.t.Context(), trigger.Queue, queue.MaxReceive, time.Second)
		require.NoError(w.t, err)
		for _, m := range list {
			require.NoError(w.t, trigger.Run(w.t.Context(), function.Invocation{Text: m.Text}))
			require.NoError(w.t, trigger.Run(w.t.Context(), function.Invocation{Text: m.Text}), "it may run twice")
			require.NoError(w.t, w.queues.Delete(w.t.Context(), trigger.Queue, m.Receipt))
		}
	}
}

// purge removes for good what is due, twice, with as much time between that nothing is left.
func (w *world) purge(what ...any) {
	w.t.Helper()
	require.NoError(w.t, w.posts.Purge(w.t.Context()), what...)
	w.Pass(people.AgainAfter + time.Second)
	require.NoError(w.t, w.posts.Purge(w.t.Context()), what...)
	require.NoError(w.t, w.shown.Sweep(w.t.Context()), what...)
}

// differences returns what verify reports.
func (w *world) differences() []string {
	w.t.Helper()
	all, err := differences(w.t.Context(), w.posts)
	require.NoError(w.t, err)
	return all
}

func differences(ctx context.Context, s *posts.Service) (all []string, err error) {
	report := func(what string) { all = append(all, what) }
	for _, verify := range []func(context.Context, func(string)) (int, error){
		s.People.VerifyRows, s.VerifyRows, s.Hubs.VerifyRows,
	} {
		if _, err := verify(ctx, report); err != nil {
			return nil, err
		}
	}
	if err := discussions.New(s).VerifyRows(ctx, report); err != nil {
		return nil, err
	}
	_, err = s.Ballot.Verify(ctx, func(d ballot.Difference) { report("post " + d.Post + ": " + d.Text) })
	return all, err
}

// each takes away one row after the other of a partition, of those that are wanted, and holds that
// verify tells of each. It returns their keys.
func (w *world) each(name, partition string, wanted func(key string) bool) (all []string) {
	w.t.Helper()
	ctx := w.t.Context()
	for row, err := range table.All(ctx, w.db, name, table.Range{Partition: partition}) {
		require.NoError(w.t, err)
		if !wanted(row.Key.Row) {
			continue
		}
		all = append(all, row.Key.Row)
		_, err := w.db.Write(ctx, name, table.Op{Kind: table.Delete, Row: row})
		require.NoError(w.t, err)
		require.NotEmpty(w.t, w.differences(), "%s is gone", row.Key)
		row.ETag = ""
		_, err = w.db.Write(ctx, name, table.Op{Kind: table.Insert, Row: row})
		require.NoError(w.t, err)
		require.Empty(w.t, w.differences())
	}
	return all
}

// TestCrashes: after any accident to any call of a new post, and a repeat by the same key, the
// post is there once, in all lists, and counted once.
func TestCrashes(t *testing.T) {
	t.Parallel()
	thought := "four cups"
	draft := posts.Draft{
		Thought: &thought, Slider: &posts.Slider{Text: "Tea?"},
		Article: &posts.Article{Kind: "text", Text: strings.Repeat("x", 40_000)},
	}
	for _, lands := range []bool{false, true} {
		for _, goesOn := range []bool{false, true} {
			for _, key := range []string{"", "key"} {
				met := 0
				for n := 1; ; n++ {
					w := newWorld(t)
					c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
					made, err := w.over(c.Over(w.db, w.queues)).Create(t.Context(), w.ann, draft, key)
					if c.Left > 0 {
						break // there is no such call
					}
					met++
					what := fmt.Sprintf("call %d, lands %v, goes on %v, key %q: %v", n, lands, goesOn, key, err)
					if key != "" {
						again, err := w.posts.Create(t.Context(), w.ann, draft, key)
						require.NoError(t, err, what)
						if made.ID != "" {
							require.Equal(t, made.ID, again.ID, what)
						}
						made = again
					}
					w.pump(2 * time.Minute)
					require.Empty(t, w.differences(), what)
					page, err := w.posts.Newest(t.Context(), people.Claim{}, "", 10)
					require.NoError(t, err, what)
					require.LessOrEqual(t, len(page.Cards), 1, what)
					if made.ID != "" {
						require.Len(t, page.Cards, 1, what)
						begins := *draft.Article
						begins.Text, begins.More = begins.Text[:posts.MaxExcerpt], true
						require.Equal(t, &begins, page.Cards[0].Article, what)
						whole, err := w.posts.Card(t.Context(), people.Claim{}, made.ID)
						require.NoError(t, err, what)
						require.Equal(t, draft.Article, whole.Article, what)
					}
					me, err := w.people.Me(t.Context(), w.ann)
					require.NoError(t, err, what)
					require.EqualValues(t, len(page.Cards), me.Counts.Posts, what)
				}
				require.Greater(t, met, 5, "accidents never happened")
			}
		}
	}
}

// TestCrashesInHubs is TestCrashes of a locked post of two hubs: it is in the lists of both and of
// its author, or nowhere, and no one else finds it.
func TestCrashesInHubs(t *testing.T) {
	t.Parallel()
	for _, lands := range []bool{false, true} {
		for _, goesOn := range []bool{false, true} {
			met := 0
			for n := 1; ; n++ {
				w := newWorld(t)
				bob := w.enter(2)
				var ids []string
				for _, name := range []string{"Tea", "Coffee"} {
					h := duubletest.NewHub(t, w.posts.Hubs, w.ann, hubs.Draft{Name: name})
					ids = append(ids, h.ID)
				}
				draft := posts.Draft{Visibility: posts.Locked, Hubs: ids, Slider: &posts.Slider{Text: "Tea?"}}
				c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
				made, err := w.over(c.Over(w.db, w.queues)).Create(t.Context(), w.ann, draft, "")
				if c.Left > 0 {
					break // there is no such call
				}
				met++
				what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
				w.pump(2 * time.Minute)
				require.Empty(t, w.differences(), what)
				of := func(c people.Claim) int {
					page, err := w.posts.Of(t.Context(), c, w.ann.UserID, "", 10)
					require.NoError(t, err, what)
					return len(page.Cards)
				}
				for _, hub := range ids {
					page, err := w.posts.InHub(t.Context(), w.ann, hub, "", 10)
					require.NoError(t, err, what)
					require.Len(t, page.Cards, of(w.ann), what)
				}
				if made.ID != "" {
					require.Equal(t, 1, of(w.ann), what)
				}
				require.Zero(t, of(bob), what)
				page, err := w.posts.Newest(t.Context(), w.ann, "", 10)
				require.NoError(t, err, what)
				require.Empty(t, page.Cards, what)
				me, err := w.people.Me(t.Context(), w.ann)
				require.NoError(t, err, what)
				require.Equal(t, people.Counts{LockedPosts: int64(of(w.ann))}, me.Counts, what)
			}
			require.Greater(t, met, 5, "accidents never happened")
		}
	}
}

// TestVerifyFinds: a row that is missing is told, and Repair writes the rows that follow from
// posts.
func TestVerifyFinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	c, err := w.posts.Create(ctx, w.ann, posts.Draft{Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(t, err)
	for i := range 4 {
		voter := w.enter(10 + i)
		_, err = w.posts.Vote(ctx, voter, c.ID, ballot.Position(i))
		require.NoError(t, err)
		_, err = w.posts.Vote(ctx, voter, c.ID, ballot.Neutral)
		require.Equal(t, ballot.AlreadyVoted, fault.CodeOf(err))
	}
	require.NotEmpty(t, w.differences(), "the lists of the voters follow by messages")
	require.NoError(t, w.posts.Repair(ctx))
	require.Empty(t, w.differences(), "as after a restore, when there are no messages")
	w.pump(25 * time.Hour)
	require.Empty(t, w.differences())
	for _, name := range []string{"Lists", "Names", "Users"} {
		for row, err := range table.All(ctx, w.db, name, table.Range{}) {
			require.NoError(t, err)
			if strings.HasPrefix(row.Key.Row, "id|") || strings.HasPrefix(row.Partition, "home|") {
				continue // that it is missing looks like an account that is being made, or like another audience
			}
			_, err := w.db.Write(ctx, name, table.Op{Kind: table.Delete, Row: row})
			require.NoError(t, err)
			if row.Key.Row != "me" {
				require.NotEmpty(t, w.differences(), "%s %s is gone", name, row.Key)
			}
			row.ETag = ""
			_, err = w.db.Write(ctx, name, table.Op{Kind: table.Insert, Row: row})
			require.NoError(t, err)
			require.Empty(t, w.differences())
		}
	}
}
