package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A gate is a store whose lists wait while it is shut.
type gate struct {
	table.DB
	mu    sync.Mutex
	shut  chan struct{} // nil: open
	err   error         // the answers of lists
	lists int
}

func (g *gate) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	g.mu.Lock()
	g.lists++
	shut, err := g.shut, g.err
	g.mu.Unlock()
	if err != nil {
		return table.Page{}, err
	}
	page, err := g.DB.List(ctx, name, r, limit, next)
	if shut != nil {
		<-shut
	}
	return page, err
}

func (g *gate) set(shut chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.err, g.lists = shut, err, 0
}

func newGate(t *testing.T) (*world, *gate) {
	g := &gate{DB: memory.NewTables()}
	return newWorldOn(t, g), g
}

// firstPages are the first pages that an instance keeps.
var firstPages = map[string]func(ctx context.Context, db *promptdb.DB, limit int) (promptdb.Page, error){
	"newest": func(ctx context.Context, db *promptdb.DB, limit int) (promptdb.Page, error) {
		return db.Newest(ctx, "", limit)
	},
	"most liked": func(ctx context.Context, db *promptdb.DB, limit int) (promptdb.Page, error) {
		return db.Ranked(ctx, promptdb.MostLiked, "", limit)
	},
	"tag": func(ctx context.Context, db *promptdb.DB, limit int) (promptdb.Page, error) {
		return db.Find(ctx, promptdb.Search{Tags: []prompt.Tag{"text"}}, "", limit)
	},
}

func (w *world) edit(author prompt.UserID, id prompt.ID, do func(*prompt.Prompt)) {
	w.t.Helper()
	_, err := w.Change(w.t.Context(), author, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		do(&p)
		return p, nil
	})
	require.NoError(w.t, err)
}

func eachFirstPage(t *testing.T, f func(t *testing.T, read func(*promptdb.DB) []string)) {
	for name, page := range firstPages {
		t.Run(name, func(t *testing.T) {
			f(t, func(db *promptdb.DB) []string {
				t.Helper()
				p, err := page(t.Context(), db, 3)
				require.NoError(t, err)
				names := []string{}
				for _, it := range p.Items {
					names = append(names, fmt.Sprintf("%s %+d", it.Title, it.Score()))
				}
				return names
			})
		})
	}
}

func TestFirstPagesShowOwnWritesAtOnce(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(testing.TB) *world{"apart": newWorld, "together": newWholeWorld} {
		t.Run(name, func(t *testing.T) { showOwnWritesAtOnce(t, begin) })
	}
}

func showOwnWritesAtOnce(t *testing.T, begin func(testing.TB) *world) {
	eachFirstPage(t, func(t *testing.T, read func(*promptdb.DB) []string) {
		w := begin(t)
		require.Empty(t, read(w.DB))
		a := w.add("ann", draft("a", "text"))
		require.Equal(t, []string{"a +0"}, read(w.DB))
		b := w.add("ann", draft("b", "text"))
		require.Equal(t, []string{"b +0", "a +0"}, read(w.DB))
		w.edit("ann", b.ID, func(p *prompt.Prompt) { p.Title = "new b" })
		require.Equal(t, []string{"new b +0", "a +0"}, read(w.DB))
		w.edit("ann", b.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
		require.Equal(t, []string{"a +0"}, read(w.DB))
		w.edit("ann", b.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Public })
		require.Equal(t, []string{"new b +0", "a +0"}, read(w.DB))
		w.edit("ann", b.ID, func(p *prompt.Prompt) { p.HiddenAt, p.HiddenReason = w.clock.Now(), "why" })
		require.Equal(t, []string{"a +0"}, read(w.DB))
		w.edit("ann", a.ID, func(p *prompt.Prompt) { p.DeletedAt = w.clock.Now() })
		require.Empty(t, read(w.DB))
	})
}

func TestFirstPagesFollowTheirTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	titles := func() []string {
		return w.titles(3, func(after string) (promptdb.Page, error) {
			return w.Find(t.Context(), promptdb.Search{Tags: []prompt.Tag{"image"}}, after, 3)
		})
	}
	p := w.add("ann", draft("a", "text"))
	require.Empty(t, titles())
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Tags = []prompt.Tag{"image"} })
	require.Equal(t, []string{"a"}, titles())
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Tags = nil })
	require.Empty(t, titles())
}

// TestFirstPagesFollowJobs lets a prompt rise into a full page by votes whose job runs in this
// instance.
func TestFirstPagesFollowJobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	low := w.add("ann", draft("low", "text"))
	for i := range 4 {
		p := w.add("ann", draft(fmt.Sprint("high ", i), "text"))
		for v := range 2 {
			w.vote(prompt.UserID(fmt.Sprint("voter ", v)), p.ID, prompt.Like)
		}
	}
	w.run()
	first := firstPages["most liked"]
	for v := range 3 {
		w.vote(prompt.UserID(fmt.Sprint("voter ", v)), low.ID, prompt.Like)
	}
	page, err := first(t.Context(), w.DB, 3)
	require.NoError(t, err)
	require.Equal(t, "high 3", page.Items[0].Title)
	require.NoError(t, w.Move(t.Context(), fmt.Sprintf(`{"v":1,"author":"ann","prompt":%q,"voter":"voter 0"}`, low.ID)))
	page, err = first(t.Context(), w.DB, 3)
	require.NoError(t, err)
	require.Equal(t, "low", page.Items[0].Title)
}

func TestFirstPagesShowOthersWritesAfterASecond(t *testing.T) {
	t.Parallel()
	eachFirstPage(t, func(t *testing.T, read func(*promptdb.DB) []string) {
		w := newWorld(t)
		p := w.add("ann", draft("a", "text"))
		require.Equal(t, []string{"a +0"}, read(w.DB))
		_, err := w.another().Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.DeletedAt = w.clock.Now()
			return p, nil
		})
		require.NoError(t, err)
		w.clock.Advance(time.Second - time.Millisecond)
		require.Equal(t, []string{"a +0"}, read(w.DB), "this instance does not know better yet")
		w.clock.Advance(time.Millisecond)
		require.Empty(t, read(w.DB))
	})
}

func TestFirstPagesAreReadOnceForAll(t *testing.T) {
	t.Parallel()
	for name, page := range firstPages {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, g := newGate(t)
				w.add("ann", draft("a", "text"))
				shut := make(chan struct{})
				g.set(shut, nil)
				var all sync.WaitGroup
				for range 100 {
					all.Go(func() {
						p, err := page(t.Context(), w.DB, 3)
						require.NoError(t, err)
						require.Len(t, p.Items, 1)
					})
				}
				synctest.Wait()
				close(shut)
				all.Wait()
				require.LessOrEqual(t, g.lists, 3, "a page, and what lies behind its partition")
			})
		})
	}
}

// TestFirstPagesBeingReadMissNoWrite writes while a page is being read: a caller that comes after
// the answer to the write sees it.
func TestFirstPagesBeingReadMissNoWrite(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		w, g := newGate(t)
		var last prompt.Prompt
		for i := range 4 {
			last = w.add("ann", draft(fmt.Sprint("old ", i), "text"))
		}
		shut := make(chan struct{})
		g.set(shut, nil)
		old := make(chan promptdb.Page, 1)
		go func() {
			page, _ := w.Newest(context.Background(), "", 3)
			old <- page
		}()
		synctest.Wait()
		g.set(nil, nil)
		w.edit("ann", last.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
		page, err := w.Newest(t.Context(), "", 3)
		require.NoError(t, err)
		require.Equal(t, "old 2", page.Items[0].Title)
		close(shut)
		require.Equal(t, "old 3", (<-old).Items[0].Title)
		page, err = w.Newest(t.Context(), "", 3)
		require.NoError(t, err)
		require.Equal(t, "old 2", page.Items[0].Title, "what was read before does not come back")
	})
}

func TestFirstPagesBelongToNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.add("ann", draft("a", "text"))
	w.vote("vera", p.ID, prompt.Like)
	for _, tc := range []struct {
		viewer prompt.UserID
		want   prompt.Vote
	}{{"vera", prompt.Like}, {"otto", prompt.None}, {"vera", prompt.Like}, {"", prompt.None}} {
		page, err := w.Newest(t.Context(), "", 3)
		require.NoError(t, err)
		require.NoError(t, w.MarkVotes(t.Context(), tc.viewer, page.Items))
		require.Equal(t, tc.want, page.Items[0].MyVote, tc.viewer)
	}
}

func TestFirstPagesKeepNoError(t *testing.T) {
	t.Parallel()
	w, g := newGate(t)
	g.set(nil, errors.New("away"))
	_, err := w.Newest(t.Context(), "", 3)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	g.set(nil, nil)
	_, err = w.Newest(t.Context(), "", 3)
	require.NoError(t, err)
}

// TestFirstPagesOutliveTheirReader lets the caller go away whose request reads the page that others
// wait for.
func TestFirstPagesOutliveTheirReader(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		w, g := newGate(t)
		w.add("ann", draft("a", "text"))
		shut := make(chan struct{})
		g.set(shut, nil)
		ctx, leave := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		read := func(ctx context.Context) {
			_, err := w.Newest(ctx, "", 3)
			errs <- err
		}
		go read(ctx)
		synctest.Wait()
		go read(context.Background())
		impatient, giveUp := context.WithCancel(t.Context())
		go func() {
			_, err := w.Newest(impatient, "", 3)
			require.ErrorIs(t, err, context.Canceled)
		}()
		synctest.Wait()
		giveUp()
		leave()
		synctest.Wait()
		close(shut)
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
	})
}

func TestFirstPagesAreFew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("a", "text"))
	for i := range 1000 {
		page, err := w.Find(t.Context(), promptdb.Search{Tags: []prompt.Tag{prompt.Tag(fmt.Sprint("tag", i))}}, "", 3)
		require.NoError(t, err)
		require.Empty(t, page.Items)
	}
	require.LessOrEqual(t, w.FirstPages(), 64)
	w.clock.Advance(time.Second)
	require.Equal(t, []string{"a"}, w.newest(3))
	require.Equal(t, 1, w.FirstPages(), "old ones make room")
}

// TestProjectionsDoNotWaitForLists: while an instance reads which month is the oldest, and the
// storage takes its time, a prompt is created.
func TestProjectionsDoNotWaitForLists(t *testing.T) {
	w, g := newGate(t)
	shut := make(chan struct{})
	g.set(shut, nil)
	listed := make(chan error, 1)
	go func() { _, err := w.Newest(t.Context(), "", 20); listed <- err }()
	require.Eventually(t, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.lists > 0
	}, time.Minute, time.Millisecond)
	made := make(chan error, 1)
	p := w.made("ann", draft("Meanwhile", "text"))
	go func() { _, _, err := w.Add(t.Context(), p, nil); made <- err }()
	select {
	case err := <-made:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Error("the prompt waits for the list")
	}
	close(shut)
	require.NoError(t, <-listed)
}
