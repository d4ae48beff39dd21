package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/functiontest"
)

// TestSoak runs a mixed load under the host on Azurite for as long as SOAK says (make soak: 5
// minutes), kills the handler every 5 to 10 seconds, and stops Azurite twice. Afterwards nothing
// that was acknowledged is missing, verify finds nothing, the queues drain, and what became poison
// is explained by the time the storage was away. Backups that were made meanwhile restore to
// libraries that verify and have every prompt of before.
func TestSoak(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("takes minutes: run it with make soak")
	}
	lasting, err := time.ParseDuration(os.Getenv("SOAK"))
	require.NoError(t, err)
	dir := t.TempDir()
	server, err := azurite.Run(t.Context(), azurite.Options{Dir: dir})
	require.NoError(t, err)
	stop := func() { require.NoError(t, server.Stop()) }
	defer func() { stop() }()
	a := hostOn(t, []string{"AzureWebJobsStorage=" + server.ConnectionString(), "QUEUE_PREFIX=" + queuePrefix},
		functiontest.Options{Faults: functiontest.Faults{Seed: 3, Duplicates: 0.02, Hold: 200 * time.Millisecond}})

	ctx, cancel := context.WithTimeout(t.Context(), lasting)
	defer cancel()
	workers := make([]*worker, 12)
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = &worker{
			user: user{t: t, url: a.url(), name: fmt.Sprintf("worker %d", i)},
			rnd:  rand.New(rand.NewPCG(uint64(i), 5)), all: workers,
		}
		wg.Go(func() { workers[i].work(ctx) })
	}
	var backups []*soakBackup
	begun, stops, kills := time.Now(), 0, 0
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-time.After(5*time.Second + rand.N(5*time.Second)):
		}
		if time.Since(begun) > lasting/3*time.Duration(stops+1) && stops < 2 {
			stops++
			require.NoError(t, server.Stop())
			time.Sleep(3 * time.Second) // the storage is away for a while
			server, err = azurite.Run(context.Background(), azurite.Options{Dir: dir, Ports: server.Ports})
			require.NoError(t, err)
		}
		kills++
		a.kill(t)
		if kills%5 == 2 {
			if b := backUp(t, a, workers); b != nil {
				backups = append(backups, b)
			}
		}
	}
	wg.Wait()
	acked, unclear := 0, 0
	for _, w := range workers {
		acked += w.acked
		unclear += w.unclear
	}
	t.Logf("%s: %d requests acknowledged, %d without a clear answer, %d kills of the handler, %d stops of Azurite",
		lasting, acked, unclear, kills, stops)
	poison := redrive(t, a)
	require.Eventually(t, func() bool { return depth(t, a) == 0 }, 15*time.Minute,
		2*time.Second, "the queues do not drain")
	t.Logf("%d messages had become poison while the storage was away and were put back", poison)
	finish(t, a)
	for _, w := range workers {
		w.check(t)
	}
	require.NotEmpty(t, backups)
	for _, b := range backups {
		b.check(t)
	}
}

// redrive puts poison back and returns how much there was.
func redrive(t *testing.T, a app) int {
	n := 0
	queues := openQueues(t, a.env(), true)
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} {
		if k, err := queues.Len(t.Context(), queue.Poison(name)); err == nil {
			n += k
		}
	}
	code, out, errs := command(t, a.env(), "redrive")
	require.Equal(t, 0, code, "%s%s", out, errs)
	return n
}

// depth returns how many messages there are on the queues.
func depth(t *testing.T, a app) int {
	n := 0
	queues := openQueues(t, a.env(), true)
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} {
		k, err := queues.Len(t.Context(), name)
		require.NoError(t, err)
		n += k
	}
	return n
}

// A worker writes prompts of its own, votes on everybody's, and remembers what was acknowledged.
type worker struct {
	user
	rnd *rand.Rand
	all []*worker

	mu      sync.Mutex
	own     []*written
	votes   map[string]string // by prompt: the value acknowledged last; "?" where the answer was lost
	acked   int
	unclear int
}

// A written prompt is one that was acknowledged.
type written struct {
	id            string
	acked, tried  int // edits
	deleted, gone bool
}

func (w *worker) work(ctx context.Context) {
	w.votes = map[string]string{}
	for n := 0; ctx.Err() == nil; n++ {
		switch k := w.rnd.IntN(20); {
		case k < 3 || len(w.own) == 0:
			w.makeOne(n)
		case k < 6:
			w.editOne()
		case k < 7:
			w.deleteOne()
		case k < 16:
			w.voteOne()
		default:
			w.note(w.get("/prompts?sort=most-liked&limit=20"))
		}
	}
}

// note counts an answer and reports whether it was a success.
func (w *worker) note(status int, err error) bool {
	if err == nil && status < 300 {
		w.acked++
		return true
	}
	w.unclear++
	time.Sleep(20 * time.Millisecond) // a client that is refused does not come back at once
	return false
}

func (w *worker) get(path string) (int, error) {
	status, _, err := w.try("GET", path, nil, nil)
	return status, err
}

func (w *worker) makeOne(n int) {
	var p shown
	status, _, err := w.try("POST", "/prompts",
		map[string]any{
			"title": fmt.Sprintf("Soak %s %d", w.name, n), "text": "0",
			"tags": []string{"text"}, "visibility": "public",
		}, &p)
	if w.note(status, err) {
		w.mu.Lock()
		w.own = append(w.own, &written{id: p.ID})
		w.mu.Unlock()
	}
}

func (w *worker) any() *written { return w.own[w.rnd.IntN(len(w.own))] }

func (w *worker) editOne() {
	p := w.any()
	if p.deleted {
		return
	}
	p.tried++
	status, _, err := w.try("PATCH", "/prompts/"+p.id, map[string]any{"text": fmt.Sprint(p.tried)}, nil,
		"If-Match", "*")
	if w.note(status, err) {
		p.acked = p.tried
	}
}

func (w *worker) deleteOne() {
	p := w.any()
	p.deleted = true
	status, _, err := w.try("DELETE", "/prompts/"+p.id, nil, nil)
	p.gone = w.note(status, err) || p.gone
}

func (w *worker) voteOne() {
	other := w.all[w.rnd.IntN(len(w.all))]
	other.mu.Lock()
	var id string
	if len(other.own) > 0 {
		id = other.own[w.rnd.IntN(len(other.own))].id
	}
	other.mu.Unlock()
	if id == "" {
		return
	}
	value := []string{"like", "dislike", "none"}[w.rnd.IntN(3)]
	status, _, err := w.try("PUT", "/prompts/"+id+"/vote", map[string]string{"value": value}, nil)
	switch {
	case w.note(status, err):
		w.votes[id] = value
	case status != 404:
		w.votes[id] = "?"
	}
}

// check compares the acknowledged changes with the store.
func (w *worker) check(t *testing.T) {
	t.Helper()
	deleted := w.walk("/me/prompts?deleted=true&limit=100", func() {})
	for _, p := range w.own {
		var got shown
		status, _, err := w.try("GET", "/prompts/"+p.id, nil, &got)
		require.NoError(t, err)
		if status == 404 {
			require.True(t, p.deleted, "%s is lost", p.id)
			require.True(t, slices.ContainsFunc(deleted, func(d shown) bool { return d.ID == p.id }),
				"%s is not among the deleted", p.id)
			continue
		}
		require.False(t, p.gone, "%s was deleted", p.id)
		var n int
		_, err = fmt.Sscan(got.Text, &n)
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, p.acked, "an edit of %s is lost", p.id)
	}
	for id, value := range w.votes {
		var got struct{ Value string }
		status, _, err := w.try("GET", "/prompts/"+id+"/vote", nil, &got)
		require.NoError(t, err)
		if value != "?" && status == 200 {
			require.Equal(t, value, got.Value, "the vote of %s on %s", w.name, id)
		}
	}
}
