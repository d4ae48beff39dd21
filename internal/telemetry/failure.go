package telemetry

import (
	"context"
	"errors"
	"net/url"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A failure is a storage call that failed. Its text names the call and what went wrong but no key:
// keys hold user ids and words of titles, and the text ends in a log. The cause stays for errors.Is
// and As.
type failure struct {
	call  string
	cause error
}

func (f *failure) Error() string { return f.call + ": " + reason(f.cause) }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

// reason returns the text of a cause without the keys that two kinds of errors repeat: a condition
// that failed, and a request that found no server, which names its URL.
func reason(err error) string {
	var op *table.OpError
	var sent *url.Error
	switch {
	case errors.As(err, &op):
		return op.Err.Error()
	case errors.As(err, &sent):
		return sent.Op + ": " + sent.Err.Error()
	}
	return err.Error()
}

// outcomes are the errors that callers branch on, as metrics name them.
var outcomes = []struct {
	err  error
	name string
}{
	{table.ErrNotFound, "not_found"},
	{table.ErrExists, "exists"},
	{table.ErrConflict, "conflict"},
	{table.ErrBusy, "busy"},
	{table.ErrInvalid, "invalid"},
	{queue.ErrGone, "gone"},
	{queue.ErrInvalid, "invalid"},
	{blob.ErrNotFound, "not_found"},
	{blob.ErrExists, "exists"},
	{blob.ErrBusy, "busy"},
	{blob.ErrInvalid, "invalid"},
	{context.DeadlineExceeded, "timeout"},
	{context.Canceled, "canceled"},
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.name
		}
	}
	return "error"
}

// expected reports whether an outcome is part of how storage is used: conditional writes fail.
func expected(outcome string) bool {
	switch outcome {
	case "ok", "not_found", "exists", "conflict", "gone":
		return true
	}
	return false
}
