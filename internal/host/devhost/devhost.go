// Package devhost runs queue and timer triggers inside the process, as the Azure Functions host
// would run them from outside: for work on a machine of one's own, without host and cloud.
package devhost

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"prompthub/internal/host/function"
	"prompthub/internal/host/function/queuetrigger"
	"prompthub/internal/storage/queue"
)

// ErrUnfinished is what Run returns where invocations were still running when the grace
// period was over. They have been told to give up, and their messages come back.
var ErrUnfinished = errors.New("invocations were still running")

// Options adjust a host. Zero values are fit for use.
type Options struct {
	Log *slog.Logger // one line for each invocation; nil stands for slog.Default
	// nothing set stands for the host's defaults with a poll each second
	Queues queuetrigger.Settings
	// how long invocations of queue triggers may go on after the end; 10 seconds
	Grace       time.Duration
	TimersFirst bool // run each timer once at the start
}

func (o Options) withDefaults() Options {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
	if o.Queues == (queuetrigger.Settings{}) {
		o.Queues = queuetrigger.Defaults()
		o.Queues.MaxPoll = time.Second
	}
	return o
}

// Run creates the queues of the triggers that do not exist yet and serves all triggers until ctx
// ends, then waits for running triggers. It returns an error where it could not start, or
// ErrUnfinished.
func Run(ctx context.Context, queues queue.Queues, triggers []function.Trigger, o Options) error {
	o = o.withDefaults()
	if err := function.Check(triggers); err != nil {
		return err
	}
	work, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	serve, err := prepare(queues, triggers, o)
	if err != nil {
		return err
	}
	if err := create(ctx, queues, triggers); err != nil {
		if ctx.Err() != nil {
			return nil // the end came before anything ran
		}
		return err
	}
	var running sync.WaitGroup
	for _, s := range serve {
		running.Go(func() { s(ctx, work) })
	}
	<-ctx.Done()
	return await(&running, o.Grace)
}

// A server serves one trigger. It starts nothing after the end of poll and returns when what
// runs has ended; that must give up at the end of work.
type server func(poll, work context.Context)

func prepare(queues queue.Queues, triggers []function.Trigger, o Options) ([]server, error) {
	var all []server
	for _, t := range triggers {
		if t.Queue != "" {
			all = append(all, listener(queues, t, o).Listen)
			continue
		}
		timer, err := newTimer(t, o)
		if err != nil {
			return nil, err
		}
		all = append(all, timer.serve)
	}
	return all, nil
}

// create makes the queues that a deployment would have made.
func create(ctx context.Context, queues queue.Queues, triggers []function.Trigger) error {
	var names []string
	for _, t := range triggers {
		if t.Queue != "" {
			names = append(names, t.Queue)
		}
	}
	if err := queues.Create(ctx, names...); err != nil {
		return fmt.Errorf("create queues: %w", err)
	}
	return nil
}

func listener(queues queue.Queues, t function.Trigger, o Options) *queuetrigger.Listener {
	return &queuetrigger.Listener{
		Queues: queues, Queue: t.Queue, Settings: o.Queues, Log: o.Log,
		Run: func(ctx context.Context, m queue.Message) error {
			return t.Invoke(ctx, o.Log,
				function.Invocation{ID: rand.Text(), Text: m.Text, Dequeued: m.Dequeued, Inserted: m.Inserted})
		},
	}
}

func await(running *sync.WaitGroup, grace time.Duration) error {
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(grace):
		return ErrUnfinished
	}
}
