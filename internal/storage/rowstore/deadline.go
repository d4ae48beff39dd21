package rowstore

import (
	"context"
	"errors"
	"time"
)

// ErrTooLate is the error of a write that was not begun because the time of its change is over.
var ErrTooLate = errors.New("too late to begin a write of this change")

type writesEnd struct{}

// WriteBefore returns a context in which no write begins from a time on. A job that looks
// LandWithin and ClockSkew after that sees all that was written, so the change needs no other job.
// An earlier time of ctx stays.
func WriteBefore(ctx context.Context, end time.Time) context.Context {
	if earlier, ok := WritesEnd(ctx); ok && earlier.Before(end) {
		return ctx
	}
	return context.WithValue(ctx, writesEnd{}, end)
}

// WritesEnd returns from when on no write begins in a context, if there is such a time.
func WritesEnd(ctx context.Context) (end time.Time, ok bool) {
	end, ok = ctx.Value(writesEnd{}).(time.Time)
	return end, ok
}
