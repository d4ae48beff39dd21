package functiontest

import (
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"time"

	"prompthub/internal/function/queuetrigger"
	"prompthub/internal/queue"
)

// listen serves the queue triggers until poll ends.
func (h *Host) listen(poll, work context.Context) {
	settings := h.app.queues
	if h.options.Lock > 0 {
		settings.Lock = h.options.Lock
	}
	for _, f := range h.app.functions {
		if f.trigger.Type != queueTrigger || f.disabled {
			continue
		}
		l := &queuetrigger.Listener{
			Queues: h.queues, Queue: f.trigger.QueueName, Settings: settings, Log: slog.New(slog.NewTextHandler(&stream{logs: h.logs, level: stderr}, nil)),
			Run: func(ctx context.Context, m queue.Message) error { return h.deliver(ctx, f, m, settings.Lock) },
		}
		h.running.Go(func() { l.Listen(poll, work) })
	}
}

// deliver has the handler work on one message, with the faults that are asked for.
func (h *Host) deliver(ctx context.Context, f *function, m queue.Message, lock time.Duration) error {
	text, err := h.decode(m.Text)
	if err != nil {
		return err
	}
	in := Invocation{Text: text, Dequeued: m.Dequeued}
	e := message(f, m, text, time.Now().Add(lock))
	return h.faults.deliver(ctx, f.trigger.QueueName, text, func(duplicate bool) error {
		in := in
		in.Duplicate = duplicate
		return h.invoke(ctx, f, in, e)
	})
}

// decode reads a message from the wire. One that cannot be read never will be.
func (h *Host) decode(wire string) (string, error) {
	if !h.app.base64 {
		return wire, nil
	}
	text, err := base64.StdEncoding.DecodeString(wire)
	if err != nil {
		return "", fmt.Errorf("%w: %w", queuetrigger.ErrUnreadable, err)
	}
	return string(text), nil
}

// message returns the envelope of a message that is hidden until then.
func message(f *function, m queue.Message, text string, until time.Time) envelope {
	e := newEnvelope(f, twice(text))
	e.Metadata["DequeueCount"] = twice(m.Dequeued)
	e.Metadata["ExpirationTime"] = "9999-12-31T23:59:59+00:00" // never
	e.Metadata["Id"] = twice(m.ID)
	e.Metadata["InsertionTime"] = date(m.Inserted)
	e.Metadata["NextVisibleTime"] = date(until)
	e.Metadata["PopReceipt"] = twice(m.Pop)
	e.mergeProperties(text)
	return e
}
