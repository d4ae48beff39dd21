// Package outbox sends the messages by which a change is finished whose process stops. A message is
// sent before the change and is seen a while later, unless all that follows from the change is done
// before. Its job looks at the rows, and may find that nothing is left to do.
package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
)

// An Outbox is the messages of a queue.
type Outbox struct {
	*rowstore.Store
	Queues queue.Queues
	Queue  string
	After  time.Duration // when a message is seen that was sent before its change

	// WriteWithin is how long after Begin a write of the change may begin. If it is 0, all writes have
	// landed when the message is seen, so it need not come again.
	WriteWithin time.Duration
}

// Within returns how long after Begin a write of the change may begin.
func (o Outbox) Within() time.Duration {
	if o.WriteWithin > 0 {
		return o.WriteWithin
	}
	return o.After - landed
}

// landed is how long after the last moment to begin a write all of them have landed, or never will,
// by the clock of any instance.
const landed = rowstore.LandWithin + rowstore.ClockSkew

// Begin returns the context of a change: of its message, and of its writes. None of them begins
// after the time that the job of the message counts on.
func (o Outbox) Begin(ctx context.Context) context.Context {
	return rowstore.WriteBefore(ctx, o.Now().Add(o.Within()))
}

// Landed returns by when all writes of a change have landed, or never will. ctx is of Begin.
func (o Outbox) Landed(ctx context.Context) time.Time {
	end, ok := rowstore.WritesEnd(ctx)
	if !ok {
		panic("outbox: a change that was not begun")
	}
	return end.Add(landed)
}

// Send sends the message of a change, before the change is made. ctx is of Begin.
func (o Outbox) Send(ctx context.Context, change any) (queue.Receipt, error) {
	if _, ok := rowstore.WritesEnd(ctx); !ok || o.After <= 0 {
		panic("outbox: a message that may come before its change")
	}
	return o.send(ctx, change, o.After)
}

// Tell sends the message of a change that was made, to be seen now.
func (o Outbox) Tell(ctx context.Context, change any) error {
	_, err := o.send(ctx, change, 0)
	return err
}

// Again has the message of a change come again once no write of the change can land any more,
// unless its job has looked at the rows after that.
func (o Outbox) Again(ctx context.Context, change any, until, looked time.Time) error {
	if looked.After(until) {
		return nil
	}
	_, err := o.send(ctx, change, max(until.Sub(o.Now()), 0)+time.Second)
	return err
}

func (o Outbox) send(ctx context.Context, change any, delay time.Duration) (queue.Receipt, error) {
	text, err := json.Marshal(change)
	if err != nil {
		return queue.Receipt{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	r, err := o.Queues.Send(ctx, o.Queue, string(text), delay)
	if err != nil {
		return queue.Receipt{}, rowstore.Unavailable(fmt.Errorf("send to %s: %w", o.Queue, err))
	}
	return r, nil
}

// Cancel takes back the message of a change, after the answer, when all that follows from the
// change is done, or it was not made. There may be no message.
func (o Outbox) Cancel(ctx context.Context, r queue.Receipt) {
	o.later(ctx, r, "a message stays that is not needed any more", func(ctx context.Context) error {
		return o.Queues.Delete(ctx, o.Queue, r)
	})
}

// Forward makes the message of a change that was made come now, after the answer. If it fails, the
// message comes by itself.
func (o Outbox) Forward(ctx context.Context, r queue.Receipt) {
	o.later(ctx, r, "a message was not brought forward; it comes by itself", func(ctx context.Context) error {
		_, err := o.Queues.Hide(ctx, o.Queue, r, 0)
		return err
	})
}

func (o Outbox) later(ctx context.Context, r queue.Receipt, failed string, do func(context.Context) error) {
	if r.ID == "" {
		return
	}
	ctx = context.WithoutCancel(ctx)
	o.Background(func() {
		ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
		defer cancel()
		if err := do(ctx); err != nil && !errors.Is(err, queue.ErrGone) {
			o.Log.WarnContext(ctx, failed, slog.String("queue", o.Queue), slog.String("error", err.Error()))
		}
	})
}

// Finish cancels the message of a change unless there is an error, and returns the error.
func (o Outbox) Finish(ctx context.Context, r queue.Receipt, err error) error {
	if err == nil {
		o.Cancel(ctx, r)
	}
	return err
}
