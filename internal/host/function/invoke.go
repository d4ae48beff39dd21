package function

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"prompthub/internal/telemetry"
)

// Invoke runs the function for one invocation and writes the one log line about it. A panic
// is returned as an error. The name in the invocation is set from the trigger.
func (t Trigger) Invoke(ctx context.Context, log *slog.Logger, in Invocation) error {
	in.Function = t.Name
	start := time.Now()
	ctx, operations := telemetry.WithOperations(ctx)
	err := t.run(ctx, in)
	report(ctx, log, in, outcome{time.Since(start), operations.Count(), err})
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

// An outcome is how an invocation went.
type outcome struct {
	took       time.Duration
	operations int64 // of the storage
	err        error
}

// report writes the line of one invocation. It never holds the text of a message.
func report(ctx context.Context, log *slog.Logger, in Invocation, o outcome) {
	level, status := slog.LevelInfo, "ok"
	if o.err != nil {
		level, status = slog.LevelError, "failed"
	}
	attrs := []slog.Attr{
		slog.String("function", in.Function),
		slog.String("invocation", in.ID),
		slog.String("status", status),
		slog.Int64("duration_ms", o.took.Milliseconds()),
		slog.Int64("storage_ops", o.operations),
	}
	if in.Dequeued > 0 {
		attrs = append(attrs, slog.Int("dequeued", in.Dequeued))
	}
	if o.err != nil {
		attrs = append(attrs, slog.String("error", o.err.Error()))
	}
	log.LogAttrs(ctx, level, "invocation", attrs...)
}
