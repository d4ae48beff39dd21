package function

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Invoke runs the function for one invocation and writes the one log line about it. A panic
// is returned as an error. The name in the invocation is set from the trigger.
func (t Trigger) Invoke(ctx context.Context, log *slog.Logger, in Invocation) error {
	in.Function = t.Name
	start := time.Now()
	err := t.run(ctx, in)
	report(ctx, log, in, time.Since(start), err)
	return err
}

func (t Trigger) run(ctx context.Context, in Invocation) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return t.Run(ctx, in)
}

// report writes the line of one invocation. It never holds the text of a message.
func report(ctx context.Context, log *slog.Logger, in Invocation, took time.Duration, err error) {
	level, status := slog.LevelInfo, "ok"
	if err != nil {
		level, status = slog.LevelError, "failed"
	}
	attrs := []slog.Attr{
		slog.String("function", in.Function),
		slog.String("invocation", in.ID),
		slog.String("status", status),
		slog.Int64("duration_ms", took.Milliseconds()),
	}
	if in.Dequeued > 0 {
		attrs = append(attrs, slog.Int("dequeued", in.Dequeued))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	log.LogAttrs(ctx, level, "invocation", attrs...)
}
