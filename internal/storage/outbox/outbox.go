// Package outbox sends the messages by which a change is finished whose process stops. A message is
// sent before the change and is seen a minute later, unless all that follows from the change is
// done before. Its job looks at what was written, and may find that nothing is left to do.
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

// After is when a message is seen. By then its change has landed or never will.
const After = time.Minute

// Ups are the messages of a queue.
type Ups struct {
	*rowstore.Store
	Queues queue.Queues
	Queue  string
}

// Send sends the message of a change, before the change is made.
func (u Ups) Send(ctx context.Context, change any) (queue.Receipt, error) {
	return u.send(ctx, change, After)
}

// Tell sends the message of a change that was made, to be seen now.
func (u Ups) Tell(ctx context.Context, change any) error {
	_, err := u.send(ctx, change, 0)
	return err
}

func (u Ups) send(ctx context.Context, change any, delay time.Duration) (queue.Receipt, error) {
	text, err := json.Marshal(change)
	if err != nil {
		return queue.Receipt{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	r, err := u.Queues.Send(ctx, u.Queue, string(text), delay)
	if err != nil {
		return queue.Receipt{}, rowstore.Unavailable(fmt.Errorf("send to %s: %w", u.Queue, err))
	}
	return r, nil
}

// Cancel takes back the message of a change, when all that follows from it is done.
func (u Ups) Cancel(ctx context.Context, r queue.Receipt) {
	if err := u.Queues.Delete(ctx, u.Queue, r); err != nil && !errors.Is(err, queue.ErrGone) {
		u.Log.WarnContext(ctx, "a message stays that is not needed any more", slog.String("error", err.Error()))
	}
}

// Forward makes the message of a change that was made come now. It comes later by itself.
func (u Ups) Forward(ctx context.Context, r queue.Receipt) {
	if _, err := u.Queues.Hide(ctx, u.Queue, r, 0); err != nil && !errors.Is(err, queue.ErrGone) {
		u.Log.WarnContext(ctx, "a message was not brought forward; it comes a minute later", slog.String("error", err.Error()))
	}
}
