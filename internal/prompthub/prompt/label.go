package prompt

import (
	"fmt"
	"regexp"
	"slices"

	"prompthub/internal/fault"
)

const (
	// Latest is the label that every prompt has, on the version that it holds. It cannot be set.
	Latest = "latest"
	// Production is the label that programs get where they ask for none.
	Production = "production"

	// MaxLabels is how many labels a prompt can have.
	MaxLabels = 50
)

var labels = regexp.MustCompile(`^[a-z0-9_.-]{1,36}$`)

const labelRule = "1 to 36 of a-z 0-9 _ . -, and not latest"

// ValidLabel reports whether s can be set as a label.
func ValidLabel(s string) bool { return s != Latest && labels.MatchString(s) }

// CheckLabel returns an error that says what a label must be, where s is none.
func CheckLabel(s string) error {
	if ValidLabel(s) {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Text: "this is no label that can be set", Fields: []fault.Field{
		{Name: "label", Message: "must be " + labelRule, Value: short(s)},
	}}
}

// labels returns the labels that a version must get, each once.
func (c *checker) labels(list []string) []string {
	if len(list) > MaxLabels {
		c.broken("labels", fmt.Sprintf("%d labels", len(list)), "name at most %d labels", MaxLabels)
		return nil
	}
	for i, s := range list {
		if !ValidLabel(s) {
			c.broken(fmt.Sprintf("labels[%d]", i), s, "change the label: %s", labelRule)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// A Move is what once became of a label.
type Move struct {
	Label    string
	From, To int64 // versions; 0 for none
	Change
	Undone Change // zero: it was not undone
}
