package queue

import (
	"fmt"
	"time"
)

// The checks return an error that wraps ErrInvalid where a call breaks a limit of the contract.
// Implementations make them before anything else, so that none is more lenient than the service.

// CheckSend checks the arguments of Send.
func CheckSend(text string, delay time.Duration) error {
	if len(text) > MaxText {
		return fmt.Errorf("%w: a text of %d bytes, want at most %d", ErrInvalid, len(text), MaxText)
	}
	return CheckDelay(delay)
}

// CheckDelay checks a delay.
func CheckDelay(d time.Duration) error {
	if d < 0 || d > MaxDelay {
		return fmt.Errorf("%w: a delay of %s, want 0 to %s", ErrInvalid, d, MaxDelay)
	}
	return nil
}

// CheckReceive checks the arguments of Receive.
func CheckReceive(limit int, lock time.Duration) error {
	if limit < 1 || limit > MaxReceive {
		return fmt.Errorf("%w: %d messages, want 1 to %d", ErrInvalid, limit, MaxReceive)
	}
	if lock < time.Second || lock > MaxDelay {
		return fmt.Errorf("%w: a lock of %s, want 1s to %s", ErrInvalid, lock, MaxDelay)
	}
	return nil
}
