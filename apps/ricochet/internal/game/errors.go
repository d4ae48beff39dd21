package game

import (
	"errors"

	"prompthub/internal/fault"
	"prompthub/internal/table"
)

// A Code names what went wrong for programs.
type Code string

// The codes.
const (
	ValidationError    Code = "VALIDATION_ERROR"
	GameNotFound       Code = "GAME_NOT_FOUND"
	RoundNotFound      Code = "ROUND_NOT_FOUND"
	InvalidHostKey     Code = "INVALID_HOST_KEY"
	InvalidSolution    Code = "INVALID_SOLUTION"
	NameTaken          Code = "NAME_TAKEN"
	GameFull           Code = "GAME_FULL"
	TooManySolutions   Code = "TOO_MANY_SOLUTIONS"
	TooManyRounds      Code = "TOO_MANY_ROUNDS"
	RoundAlreadyActive Code = "ROUND_ALREADY_ACTIVE"
	RoundAlreadyEnded  Code = "ROUND_ALREADY_ENDED"
	RoundEnded         Code = "ROUND_ENDED"
	RoundActive        Code = "ROUND_ACTIVE"
	AllGoalsExhausted  Code = "ALL_GOALS_EXHAUSTED"
)

// An Error is a fault with a code.
type Error struct {
	Code  Code
	Fault *fault.Error
}

// Error returns the text.
func (e *Error) Error() string { return e.Fault.Error() }

// Unwrap returns the fault.
func (e *Error) Unwrap() error { return e.Fault }

func refuse(code Code, kind fault.Kind, text string) error {
	return &Error{code, fault.New(kind, text)}
}

// invalid reports one broken rule.
func invalid(code Code, field, message string, value any) error {
	return &Error{code, &fault.Error{
		Kind: fault.Invalid, Text: "the request breaks the rules named here",
		Fields: []fault.Field{{Name: field, Message: message, Value: value}},
	}}
}

func noGame() error  { return refuse(GameNotFound, fault.NotFound, "there is no such game") }
func noRound() error { return refuse(RoundNotFound, fault.NotFound, "the game has no such round") }

func ended() error {
	return refuse(RoundEnded, fault.Conflict, "the round has ended; it takes no solutions any more")
}

// StillActive is what asks for the results of a round too early.
func StillActive() error {
	return refuse(RoundActive, fault.Conflict, "the round is active; ask again once it is closed")
}

func alreadyEnded() error {
	return refuse(RoundAlreadyEnded, fault.Conflict, "the round has ended already")
}

// away makes an error of the storage one for callers.
func away(err error) error {
	return fault.Wrap(fault.Unavailable, "the storage does not answer at the moment; try again", err)
}

// refused reports whether a batch surely did nothing, as rows were not as it expected, and which of
// its operations found that. A caller reads them again.
func refused(err error) (int, bool) {
	var op *table.OpError
	if errors.As(err, &op) {
		return op.Index, true
	}
	return 0, false
}
