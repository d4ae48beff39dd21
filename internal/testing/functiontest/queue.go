package functiontest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"time"
	"unicode/utf8"

	"prompthub/internal/host/function/queuetrigger"
	"prompthub/internal/storage/queue"
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
			Queues: h.queues, Queue: f.trigger.QueueName, Settings: settings,
			Log: slog.New(slog.NewTextHandler(&stream{logs: h.logs, level: stderr}, nil)),
			Run: func(ctx context.Context, m queue.Message) error { return h.deliver(ctx, f, m, settings.Lock) },
		}
		h.running.Go(func() { l.Listen(poll, work) })
	}
}

// deliver has the handler work on one message, with the faults that are asked for.
func (h *Host) deliver(ctx context.Context, f *function, m queue.Message, lock time.Duration) error {
	text, err := h.decode(f, m.Text)
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

// decode reads a message from the wire. One that is no base64 never will be read; one that is no
// UTF-8 is tried again all the same.
func (h *Host) decode(f *function, wire string) (string, error) {
	if !h.app.base64 {
		return wire, nil
	}
	text, err := base64.StdEncoding.DecodeString(wire)
	if err != nil {
		return "", fmt.Errorf("%w: %w", queuetrigger.ErrUnreadable, err)
	}
	if !utf8.Valid(text) && !f.binary() {
		return "", errors.New("the message is no UTF-8, which the binding needs")
	}
	return string(text), nil
}

// message returns the envelope of a message that is hidden until then.
func message(f *function, m queue.Message, text string, until time.Time) envelope {
	value := twice(text)
	if f.binary() {
		value = base64.StdEncoding.EncodeToString([]byte(text))
	}
	e := newEnvelope(f, value)
	e.Metadata["DequeueCount"] = twice(m.Dequeued)
	e.Metadata["ExpirationTime"] = never
	e.Metadata["Id"] = twice(m.ID)
	e.Metadata["InsertionTime"] = date(m.Inserted)
	e.Metadata["NextVisibleTime"] = date(until)
	e.Metadata["PopReceipt"] = twice(m.Pop)
	if !f.binary() {
		e.mergeProperties(text)
	}
	return e
}

// never is when a message expires that this repository sends.
const never = "9999-12-31T23:59:59+00:00"

// TestRun runs a queue or timer function as the portal's "Test/Run" does, with an input in place of
// a message.
func (h *Host) TestRun(ctx context.Context, name, input string) error {
	f := h.app.find(name)
	if f == nil || f.trigger.Type == httpTrigger || f.disabled {
		return fmt.Errorf("no queue or timer function %s", name)
	}
	value := any(twice(input))
	if f.schedule != nil {
		value = h.timerInfo(f)
	}
	e := newEnvelope(f, value)
	if f.schedule == nil {
		e.Metadata["DequeueCount"] = twice(0)
		e.Metadata["ExpirationTime"], e.Metadata["NextVisibleTime"] = never, never
		e.Metadata["InsertionTime"] = date(time.Now())
	}
	e.Metadata[f.trigger.Name] = twice(input)
	return h.invoke(ctx, f, Invocation{Text: input}, e)
}
