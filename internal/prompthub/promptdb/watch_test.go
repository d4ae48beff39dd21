package promptdb_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/chaos"
)

// A watch looks over the stores that processes write to: by any clock a repair message comes when
// the lease has ended that the commit took which it was sent for.
type watch struct {
	e     *explorer
	mu    sync.Mutex           // processes write one at a time, but not on one goroutine
	sent  map[string]wakeUp    // by process and prompt: the last one
	until map[string]time.Time // by id of a repair message
}

type wakeUp struct {
	id string
	at time.Time
}

func newWatch(e *explorer) *watch {
	return &watch{e: e, sent: map[string]wakeUp{}, until: map[string]time.Time{}}
}

func (w *watch) tables(p *chaos.Process) table.DB     { return watchedTables{w.e.store, w, p} }
func (w *watch) queues(p *chaos.Process) queue.Queues { return watchedQueues{w.e.queues, w, p} }

type watchedTables struct {
	table.DB
	w *watch
	p *chaos.Process
}

// Write takes down until when a commit that landed has the index rows of its prompt.
func (s watchedTables) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := s.DB.Write(ctx, name, ops...)
	row := ops[0].Row
	if err != nil || name != promptdb.DefaultTables().Prompts || strings.HasPrefix(row.Row, "!") ||
		ops[0].Kind == table.Delete {
		return etags, err
	}
	var mark struct {
		Until time.Time `json:"u"`
	}
	if text := row.Props.Get("Pending").Str(); text != "" && json.Unmarshal([]byte(text), &mark) == nil {
		s.w.mu.Lock()
		defer s.w.mu.Unlock()
		t := s.w.e.times()
		looked := mark.Until.Add(-t.Lease - s.p.Skew) // at the clock, before it was sent
		if wake := s.w.sent[s.p.Name+row.Row]; wake.id != "" && looked.Sub(wake.at) <= t.Fresh {
			s.w.until[wake.id] = mark.Until
		}
	}
	return etags, err
}

type watchedQueues struct {
	queue.Queues
	w *watch
	p *chaos.Process
}

// Send takes down which repair message a process has sent last.
func (q watchedQueues) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	r, err := q.Queues.Send(ctx, name, text, delay)
	var m struct {
		Prompt string `json:"prompt"`
	}
	if err == nil && name == promptdb.QueueRepairs && delay == q.w.e.times().Wake &&
		json.Unmarshal([]byte(text), &m) == nil {
		q.w.mu.Lock()
		defer q.w.mu.Unlock()
		q.w.sent[q.p.Name+m.Prompt] = wakeUp{r.ID, q.w.e.Now()}
	}
	return r, err
}

// Hide takes down that a process brought a repair message forward, for the work after a moved
// label: the lease that the message was for is given back.
func (q watchedQueues) Hide(ctx context.Context, name string, r queue.Receipt,
	delay time.Duration,
) (queue.Receipt, error) {
	q.w.mu.Lock()
	delete(q.w.until, r.ID)
	maps.DeleteFunc(q.w.sent, func(_ string, wake wakeUp) bool { return wake.id == r.ID })
	q.w.mu.Unlock()
	return q.Queues.Hide(ctx, name, r, delay)
}

// delivered looks at a message that a process is about to work on.
func (w *watch) delivered(p *chaos.Process, m queue.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if until, ok := w.until[m.ID]; ok && m.Dequeued == 1 && p.Now().Before(until) {
		w.e.problem = fmt.Sprintf("a repair message came %s before the lease of its commit ended", until.Sub(p.Now()))
	}
}
