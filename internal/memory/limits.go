package memory

import (
	"fmt"
	"time"

	"prompthub/internal/queue"
)

// The checks return errors that wrap queue.ErrInvalid.

func checkSend(text string, delay time.Duration) error {
	if len(text) > queue.MaxText {
		return fmt.Errorf("%w: a text of %d bytes, want at most %d", queue.ErrInvalid, len(text), queue.MaxText)
	}
	return checkDelay(delay)
}

func checkDelay(d time.Duration) error {
	if d < 0 || d > queue.MaxDelay {
		return fmt.Errorf("%w: a delay of %s, want 0 to %s", queue.ErrInvalid, d, queue.MaxDelay)
	}
	return nil
}

func checkReceive(limit int, lock time.Duration) error {
	if limit < 1 || limit > queue.MaxReceive {
		return fmt.Errorf("%w: %d messages, want 1 to %d", queue.ErrInvalid, limit, queue.MaxReceive)
	}
	if lock < time.Second || lock > queue.MaxDelay {
		return fmt.Errorf("%w: a lock of %s, want 1s to %s", queue.ErrInvalid, lock, queue.MaxDelay)
	}
	return nil
}
