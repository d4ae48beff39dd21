// Package fault says what went wrong in terms a caller can act on: a kind, a
// sentence that is safe to show to the user, and the cause for the operator.
package fault

import (
	"errors"
	"time"
)

// A Kind classifies an error. Doors map kinds to their own protocol; nothing
// else may depend on the text of an error.
type Kind int

// The kinds. An error that carries none is Internal.
const (
	Internal             Kind = iota // a defect of ours or of the storage; the text is generic
	Malformed                        // the request cannot be read at all
	Invalid                          // it can be read and breaks a rule
	Unauthenticated                  // the caller is not signed in
	Forbidden                        // the caller may see the thing and may not do this to it
	NotFound                         // there is no such thing, or the caller may not know of it
	PreconditionRequired             // the request must name the version that it changes
	Stale                            // the version it names is not the current one
	// what it asks for is taken, or cannot be while something else is as it is
	Conflict
	Gone    // it was there, and was withdrawn
	Limited // the caller asks for too much at a time
	// the storage is slow, throttled or away, or somebody else is at work: try again
	Unavailable
)

// A Code names what went wrong for programs, in SCREAMING_SNAKE. It is stable: clients decide by it
// and by no sentence.
type Code string

// A Field is one rule that a request broke.
type Field struct {
	// which, such as "title", "tags[0]" or "cursor"; a door says where in its request that is
	Name    string
	Message string // what the rule asks for
	Code    Code   // which rule; empty if the code of the Error says enough
	Value   any    // the value that was sent; nil leaves it out
}

// An Error is an error with a Kind.
type Error struct {
	Kind       Kind
	Code       Code          // empty stands for the kind's own
	Text       string        // safe for the user, says what to do
	Fields     []Field       // for Invalid and Malformed
	RetryAfter time.Duration // for Limited and Unavailable; zero lets the door choose
	Current    any           // for Stale: the thing as it is now
	Cause      error         // for the operator, never shown
}

// Error returns the text and, for the log, the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Text + ": " + e.Cause.Error()
	}
	return e.Text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New returns an error of a kind with a text for the user.
func New(kind Kind, text string) *Error { return &Error{Kind: kind, Text: text} }

// Coded returns an error of a kind with a code and a text for the user.
func Coded(kind Kind, code Code, text string) *Error {
	return &Error{Kind: kind, Code: code, Text: text}
}

// Wrap returns an error of a kind with a text for the user and a cause.
func Wrap(kind Kind, text string, cause error) *Error {
	return &Error{Kind: kind, Text: text, Cause: cause}
}

// CodeOf returns the code of the outermost Error in the chain of err, empty if it has none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Of returns the kind of err: that of the outermost Error in its chain,
// Internal where there is none.
func Of(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}
