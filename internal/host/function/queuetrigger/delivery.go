package queuetrigger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/storage/queue"
)

// ErrUnreadable says that no try will ever succeed: the message goes to the poison queue at once.
var ErrUnreadable = errors.New("unreadable message")

// A delivery is one message that was taken. Its receipt changes with each renewal.
type delivery struct {
	*Listener
	queue.Message
}

// process works on the message and settles what becomes of it.
func (d *delivery) process(work context.Context) {
	// A handler that dies takes its host along before the try can be counted as failed.
	// This is what ends such a message.
	if d.Dequeued > d.Settings.MaxDequeue {
		d.settle(work, "poison", d.poison)
		return
	}
	err := d.run(work)
	switch {
	case err == nil:
		d.settle(work, "delete", d.remove)
	case errors.Is(err, ErrUnreadable) || d.Dequeued == d.Settings.MaxDequeue:
		d.settle(work, "poison", d.poison)
	default:
		d.settle(work, "hide", func(ctx context.Context) error { return d.hide(ctx, d.Settings.RetryDelay) })
	}
}

// run runs the listener's function and renews the lock at half time until it returns.
func (d *delivery) run(work context.Context) error {
	done, m := make(chan error, 1), d.Message // a copy: renewals change the receipt
	go func() { done <- d.Run(work, m) }()
	renew := time.NewTicker(d.Settings.Lock / 2)
	defer renew.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-renew.C:
			d.settle(work, "renew", func(ctx context.Context) error { return d.hide(ctx, d.Settings.Lock) })
		}
	}
}

// settle makes one change to the queue. It happens even after the end of work, as it decides
// when the next try is. Where it fails the lock runs out and the message comes back by itself.
func (d *delivery) settle(work context.Context, what string, change func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(work), storageTime)
	defer cancel()
	if err := change(ctx); err != nil {
		d.warn(ctx, what, err)
	}
}

func (d *delivery) remove(ctx context.Context) error {
	return d.Queues.Delete(ctx, d.Queue, d.Receipt)
}

func (d *delivery) hide(ctx context.Context, delay time.Duration) error {
	r, err := d.Queues.Hide(ctx, d.Queue, d.Receipt, delay)
	if err == nil {
		d.Receipt = r
	}
	return err
}

// poison copies the message before it deletes it: a crash in between leaves two, never none.
func (d *delivery) poison(ctx context.Context) error {
	name := queue.Poison(d.Queue)
	if err := d.Queues.Create(ctx, name); err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	if _, err := d.Queues.Send(ctx, name, d.Text, 0); err != nil {
		return fmt.Errorf("send to %s: %w", name, err)
	}
	return d.remove(ctx)
}
