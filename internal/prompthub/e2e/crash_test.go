package e2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/functiontest"
)

// TestKilledInTheMiddle kills the program (SIGKILL) during an import and during votes, starts it
// again, and finds everything that was acknowledged. The import run again completes.
func TestKilledInTheMiddle(t *testing.T) {
	alone, behind := work(t), workOnAzurite(t)
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		killed(t, startLocal(t, "embedded"), whole, alone)
	})
	t.Run("host", func(t *testing.T) {
		t.Parallel()
		killed(t, startHosted(t, functiontest.Faults{}), onAzurite(), behind)
	})
}

func killed(t *testing.T, a app, n size, done func()) {
	file, total, good := importFile(t, n.rows)
	importing := make(chan string)
	go func() {
		_, out, errs := command(t, nil, "import", file, "--as-contributor", "--public", "--url", a.url())
		importing <- out + errs
	}()
	reader := user{t: t, url: a.url(), name: "reader"}
	// Killed when some are there and others are on their way.
	require.Eventually(t, func() bool { return len(reader.walkSafely("/prompts?limit=100")) > good/10 },
		time.Minute, 20*time.Millisecond)
	a.kill(t)
	out := <-importing
	code, out2, errs := command(t, nil, "import", file, "--as-contributor", "--public", "--url", a.url())
	require.Contains(t, []int{0, 3}, code, "%s\n%s\n%s", out, out2, errs)
	require.Contains(t, out2, fmt.Sprintf("rejected %d", total-good))

	votesThroughKills(t, a, n.alive)
	done()
	awaitCount(t, reader, good)
	finish(t, a)
}

// walkSafely returns what it can read while the service may be down.
func (u user) walkSafely(path string) []shown {
	var page struct{ Items []shown }
	if _, _, err := u.try("GET", path, nil, &page); err != nil {
		return nil
	}
	return page.Items
}

// awaitCount waits until the newest list holds n prompts: repairs of interrupted writes take up to
// three minutes.
func awaitCount(t *testing.T, u user, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(u.walk("/prompts?limit=100", func() {})) == n }, cutShort,
		time.Second, "not all prompts are listed")
}

// votesThroughKills casts votes while the program is killed again and again. Each vote that was
// answered counts, once.
func votesThroughKills(t *testing.T, a app, alive int) {
	t.Helper()
	ps := user{t: t, url: a.url(), name: "reader"}.walkSafely("/prompts?limit=10")
	require.NotEmpty(t, ps)
	var mu sync.Mutex
	answered := map[string][]string{} // by prompt, the voters whose like was answered
	asked := map[string]int{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				voter, p := fmt.Sprintf("voter %d-%d", g, i), ps[i%len(ps)]
				err := user{t: t, url: a.url(), name: voter}.vote(p.ID, "like")
				mu.Lock()
				asked[p.ID]++
				if err == nil {
					answered[p.ID] = append(answered[p.ID], voter)
				}
				mu.Unlock()
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		n := 0
		for _, voters := range answered {
			n += len(voters)
		}
		return n
	}
	for range 3 {
		before := count()
		require.Eventually(t, func() bool { return count() > before+alive }, 3*time.Minute, time.Millisecond)
		a.kill(t)
	}
	close(stop)
	wg.Wait()
	for _, p := range ps {
		var got shown
		user{t: t, url: a.url(), name: "reader"}.do(200, "GET", "/prompts/"+p.ID, nil, &got)
		require.GreaterOrEqual(t, got.Likes-p.Likes, len(answered[p.ID]), "a vote that was answered is lost")
		require.LessOrEqual(t, got.Likes-p.Likes, asked[p.ID], "a vote counts twice")
		for _, voter := range answered[p.ID][:min(3, len(answered[p.ID]))] {
			user{t: t, url: a.url(), name: voter}.do(200, "GET", "/prompts/"+p.ID, nil, &got)
			require.Equal(t, "like", got.MyVote)
		}
	}
}

// openAzure returns the store of an application on Azurite, next to it.
func openAzure(t testing.TB, vars []string, raw bool) *azure.Store {
	t.Helper()
	cfg, err := azure.FromEnv(lookup(vars))
	require.NoError(t, err)
	cfg.RawMessages = raw
	store, err := azure.New(cfg)
	require.NoError(t, err)
	return store
}

// openQueues returns its queues under their plain names.
func openQueues(t testing.TB, vars []string, raw bool) queue.Queues {
	t.Helper()
	return queue.Prefixed(openAzure(t, vars, raw).Queues, queuePrefix)
}

func lookup(vars []string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// A doomed store stops answering after the first write of a truth row has landed.
type doomed struct {
	table.DB
	dead bool
}

var errDead = errors.New("the process is gone")

func (d *doomed) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if d.dead {
		return nil, errDead
	}
	if strings.HasSuffix(name, "Prompts") {
		d.dead = true
		_, _ = d.DB.Write(ctx, name, ops...) // the answer reaches no client
		return nil, errDead
	}
	return d.DB.Write(ctx, name, ops...)
}

func (d *doomed) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if d.dead {
		return table.Row{}, errDead
	}
	return d.DB.Get(ctx, name, key)
}

// TestCreateIsRepairedByItsMessage stops a writer right after its commit, before any index row, and
// waits for the repair message that it left to do the rest, under the host.
func TestCreateIsRepairedByItsMessage(t *testing.T) {
	t.Parallel()
	a := startHosted(t, functiontest.Faults{})
	store := openAzure(t, a.env(), false)
	db := promptdb.New(promptdb.Config{
		Store: &doomed{DB: store.Tables}, Queues: openQueues(t, a.env(), false), Tables: promptdb.DefaultTables(),
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Background: func(func()) {}, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	id, err := prompt.NewID(time.Now(), rand.Reader)
	require.NoError(t, err)
	p := prompt.Prompt{
		ID: id, AuthorID: "ann", AuthorName: "ann", CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
		Draft: prompt.Draft{Title: "Cut short", Text: "t", Tags: []prompt.Tag{"text"}, Visibility: prompt.Public},
	}
	_, _, err = db.Add(t.Context(), p, nil)
	require.Error(t, err)
	reader := user{t: t, url: a.url(), name: "reader"}
	require.Empty(t, reader.walk("/prompts?limit=10", func() {}))
	require.Eventually(t, func() bool { return len(reader.walk("/prompts?limit=10", func() {})) == 1 }, cutShort,
		time.Second)
	repairs := func() []functiontest.Invocation {
		return slices.DeleteFunc(a.Invocations(), func(i functiontest.Invocation) bool {
			return i.Function != promptdb.QueueRepairs || !strings.Contains(i.Text, string(id))
		})
	}
	require.NotEmpty(t, repairs(), "it is listed before its message came")
	// A repair that failed, or still runs, has written rows too: that one is listed says nothing of
	// the others.
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(repairs(), func(i functiontest.Invocation) bool { return i.Done && i.Err == nil })
	}, cutShort, 100*time.Millisecond, "no repair ends well")
	require.Eventually(t, func() bool { return len(reader.walk("/prompts?q=cut&tag=text", func() {})) == 1 }, cutShort,
		time.Second)
	finish(t, a)
}

// TestPoisonIsSetAside puts a message on a queue that no job can read. It ends on the poison queue,
// and the others go on.
func TestPoisonIsSetAside(t *testing.T) {
	t.Parallel()
	a := startHosted(t, functiontest.Faults{Seed: 2, Duplicates: 1})
	raw := openQueues(t, a.env(), true)
	_, err := raw.Send(t.Context(), promptdb.QueueMoves, base64.StdEncoding.EncodeToString([]byte(`{"v":99}`)), 0)
	require.NoError(t, err)
	p := user{t: t, url: a.url(), name: "ann"}.create("Beside poison")
	// its message is delivered twice, as all are
	require.NoError(t, user{t: t, url: a.url(), name: "bob"}.insistOnVote(p.ID, "like"))
	reader := user{t: t, url: a.url(), name: "reader"}
	require.Eventually(t, func() bool { return reader.walk("/prompts?sort=most-liked", func() {})[0].Likes == 1 },
		cutShort, 100*time.Millisecond)
	require.Eventually(t, func() bool {
		n, err := raw.Len(t.Context(), queue.Poison(promptdb.QueueMoves))
		return err == nil && n > 0
	}, 3*time.Minute, time.Second, "the message does not become poison")
	code, out, errs := command(t, a.env(), "redrive")
	require.Equal(t, 0, code, "%s%s", out, errs)
	require.Contains(t, out, "1")
	finish(t, a)
}

// TestRestartsLeaveNothingBehind kills the whole application on its embedded store again and again.
func TestRestartsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	a := startLocal(t, "embedded")
	u := user{t: t, url: a.url(), name: "ann"}
	var kept []string
	for round := range 10 {
		for i := range 5 {
			kept = append(kept, u.create(fmt.Sprintf("Round %d number %d", round, i)).ID)
		}
		a.kill(t)
		all := u.walk("/me/prompts?limit=100", func() {})
		for _, id := range kept {
			require.True(t, slices.ContainsFunc(all, func(p shown) bool { return p.ID == id }), "%s is lost", id)
		}
	}
	require.FileExists(t, filepath.Join(a.data(), "prompthub.db"))
	finish(t, a)
}
