package prompt

import (
	"fmt"
	"strings"
	"time"

	"prompthub/internal/fault"
)

// A Recall withdraws a version from programs. The JSON is that of stored rows.
type Recall struct {
	By     UserID           `json:"by"` // as in Change
	At     time.Time        `json:"at"`
	Reason string           `json:"reason"`
	Labels map[string]int64 `json:"labels,omitempty"` // which were on it, and where each went; 0 is nowhere
}

// MaxReason is how long the reason of a recall may be, which is one line.
const MaxReason = 500

// CheckReason returns the reason of a recall as it is kept.
func CheckReason(s string) (string, error) {
	var c checker
	if c.line("reason", s, MaxReason); strings.TrimSpace(s) == "" {
		c.broken("reason", s, "say why the version is recalled")
	}
	c.readable("reason", strings.TrimSpace(s)) // programs print it
	if len(c.fields) > 0 {
		return "", &fault.Error{Kind: fault.Invalid, Text: "the recall breaks a rule", Fields: c.fields}
	}
	return strings.TrimSpace(s), nil
}

// Recalled is the code of refusals because of a version that was recalled.
const Recalled fault.Code = "VERSION_RECALLED"

// ErrRecalled answers a program that asks for a version that was recalled.
func ErrRecalled(n int64, r Recall) error {
	return fault.Coded(fault.Gone, Recalled, fmt.Sprintf("version %d was recalled: %s", n, r.Reason))
}

// ErrNoneLeft answers a program that names no version, where recalls left it none.
func ErrNoneLeft() error {
	return fault.Coded(fault.NotFound, Recalled,
		"the version that programs got was recalled, and there was none before it; wait for another one")
}

// ErrStaysRecalled refuses to put a label on a version that was recalled.
func ErrStaysRecalled(n int64) error {
	return fault.Coded(fault.Conflict, Recalled,
		fmt.Sprintf("version %d was recalled, so it gets no label; take the recall back first, or save another version",
			n))
}
