package prompt

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/fault"
)

// An ID names a prompt: a ULID of 26 upper-case characters. Ids order by the
// time they were made, to the millisecond.
type ID string

// maxMillis is the last millisecond of the year 9999. Keys that order by time
// descending count down from there.
const maxMillis = 253402300799999

// NewID makes the id of a prompt that is created now. It fails where entropy
// does, and for a time that an id cannot hold.
func NewID(now time.Time, entropy io.Reader) (ID, error) {
	ms := now.UnixMilli()
	if ms < 0 || ms > maxMillis {
		return "", fmt.Errorf("no prompt id for the time %v", now)
	}
	u, err := ulid.New(uint64(ms), entropy)
	if err != nil {
		return "", fmt.Errorf("make a prompt id: %w", err)
	}
	return ID(u.String()), nil
}

// ParseID reads an id in either case. It reports false where s is none, or one
// whose time lies after the year 9999: no prompt has such an id.
func ParseID(s string) (ID, bool) {
	u, err := ulid.ParseStrict(s)
	if err != nil || u.Time() > maxMillis {
		return "", false
	}
	return ID(u.String()), true
}

// FindID reads an id from an address. Any other text names nothing, like an id that is not in use.
func FindID(s string) (ID, error) {
	id, ok := ParseID(s)
	if !ok {
		return "", ErrUnknown()
	}
	return id, nil
}

// ErrUnknown is the answer for a prompt that is not there, and for one that the caller may not know
// of.
func ErrUnknown() error { return fault.New(fault.NotFound, "there is no such prompt") }

// Time returns when the prompt was created: milliseconds, UTC. It is zero for
// an ID that ParseID would refuse.
func (id ID) Time() time.Time {
	u, err := ulid.ParseStrict(string(id))
	if err != nil || u.Time() > maxMillis {
		return time.Time{}
	}
	return u.Timestamp().UTC()
}

// FirstID returns the least id of the millisecond of another.
func FirstID(id ID) ID {
	const stamp = 10 // characters of the time
	return id[:stamp] + ID(strings.Repeat("0", len(id)-stamp))
}
