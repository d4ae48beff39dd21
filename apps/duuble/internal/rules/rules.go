// Package rules checks texts that people write.
package rules

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"prompthub/internal/fault"
	"prompthub/internal/legible"
)

// Broken collects the rules that a request breaks.
type Broken struct{ fields []fault.Field }

// Add notes that a member of the body breaks a rule, unless ok.
func (b *Broken) Add(ok bool, member, message string) { b.AddTo("body."+member, ok, message) }

// AddTo is Add of any part of a request, by its whole name.
func (b *Broken) AddTo(part string, ok bool, message string) {
	if !ok {
		b.fields = append(b.fields, fault.Field{Name: part, Message: message})
	}
}

// Err returns the rules that were broken as one error, or nil.
func (b *Broken) Err() error {
	if b.fields == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Text: "the request breaks the rules named here", Fields: b.fields}
}

// Len returns how long a text is, in UTF-16 code units, as browsers and phones count.
func Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// Name holds the name of a person or a hub to 1 to most characters that its readers see.
func (b *Broken) Name(member, s string, most int) {
	b.text(member, s, 1, most, legible.Breaks, legible.Name)
}

// Line holds a text to least to most characters of one line, which says what its readers see.
func (b *Broken) Line(member, s string, least, most int) {
	b.text(member, s, least, most, legible.Breaks, legible.Line)
}

// Lines holds a text to most characters, of which readers see some. It may have line breaks.
func (b *Broken) Lines(member, s string, least, most int) {
	b.text(member, s, least, most, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	}, func(s string) (fault.Code, string) {
		if s == "" || legible.Visible(s) {
			return "", ""
		}
		return legible.NothingVisible, "write at least one character that can be seen"
	})
}

func (b *Broken) text(member, s string, least, most int, bad func(rune) bool,
	hidden func(string) (fault.Code, string),
) {
	n := Len(s)
	switch {
	case least > 0 && strings.TrimSpace(s) == "" || n > most:
		b.Add(false, member, fmt.Sprintf("give %d to %d characters", least, most))
	case strings.ContainsFunc(s, bad):
		b.Add(false, member, "take out the control characters")
	default:
		_, message := hidden(s)
		b.Add(message == "", member, message)
	}
}

// OneOf holds a text to a list.
func (b *Broken) OneOf(member, s string, list []string) {
	b.Add(slices.Contains(list, s), member, "give one of "+strings.Join(list, ", "))
}

// NewKey returns a text that was never chosen before.
func NewKey() string { return rand.Text() }
