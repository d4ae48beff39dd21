package game

import (
	"errors"

	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

// The codes.
const (
	ValidationError    fault.Code = "VALIDATION_ERROR"
	GameNotFound       fault.Code = "GAME_NOT_FOUND"
	RoundNotFound      fault.Code = "ROUND_NOT_FOUND"
	InvalidHostKey     fault.Code = "INVALID_HOST_KEY"
	InvalidSolution    fault.Code = "INVALID_SOLUTION"
	NameTaken          fault.Code = "NAME_TAKEN"
	GameFull           fault.Code = "GAME_FULL"
	TooManySolutions   fault.Code = "TOO_MANY_SOLUTIONS"
	TooManyRounds      fault.Code = "TOO_MANY_ROUNDS"
	RoundAlreadyActive fault.Code = "ROUND_ALREADY_ACTIVE"
	RoundAlreadyEnded  fault.Code = "ROUND_ALREADY_ENDED"
	RoundEnded         fault.Code = "ROUND_ENDED"
	RoundActive        fault.Code = "ROUND_ACTIVE"
	AllGoalsExhausted  fault.Code = "ALL_GOALS_EXHAUSTED"
)

// invalid reports one broken rule.
func invalid(code fault.Code, field, message string, value any) error {
	return &fault.Error{
		Kind: fault.Invalid, Code: code, Text: "the request breaks the rules named here",
		Fields: []fault.Field{{Name: field, Message: message, Value: value}},
	}
}

func noGame() error  { return fault.Coded(fault.NotFound, GameNotFound, "there is no such game") }
func noRound() error { return fault.Coded(fault.NotFound, RoundNotFound, "the game has no such round") }

func ended() error {
	return fault.Coded(fault.Conflict, RoundEnded, "the round has ended; it takes no solutions any more")
}

// StillActive is what asks for the results of a round too early.
func StillActive() error {
	return fault.Coded(fault.Conflict, RoundActive, "the round is active; ask again once it is closed")
}

func alreadyEnded() error {
	return fault.Coded(fault.Conflict, RoundAlreadyEnded, "the round has ended already")
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
