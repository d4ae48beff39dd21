package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

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

// LabelIsNumber is the code of a label of digits alone, which no reference would reach: NAME@3 is
// version 3.
const LabelIsNumber fault.Code = "LABEL_IS_NUMBER"

// ValidLabel reports whether a prompt can have the label s. Some labels of before are digits alone:
// they can be read and taken away.
func ValidLabel(s string) bool { return s != Latest && labels.MatchString(s) }

// CheckLabel returns an error that says what a label must be, if s cannot be set as one.
func CheckLabel(s string) error {
	code, wrong := wrongLabel(s)
	if wrong == "" {
		return nil
	}
	return &fault.Error{
		Kind: fault.Invalid, Code: code, Text: "this is no label that can be set",
		Fields: []fault.Field{
			{Name: "label", Message: wrong, Code: code, Value: short(s)},
		},
	}
}

// wrongLabel returns which rule a label that a caller wants to set breaks, and "" if it breaks
// none.
func wrongLabel(s string) (fault.Code, string) {
	switch {
	case !ValidLabel(s):
		return "", "must be 1 to 36 of a-z 0-9 _ . -, and not latest"
	case strings.Trim(s, "0123456789") == "":
		return LabelIsNumber, "must not be digits alone, which would name a version: add a letter, as in v" + s
	}
	return "", ""
}

// labels returns the labels that a version must get, each once.
func (c *checker) labels(list []string) []string {
	if len(list) > MaxLabels {
		c.broken("labels", fmt.Sprintf("%d labels", len(list)), "name at most %d labels", MaxLabels)
		return nil
	}
	for i, s := range list {
		if code, wrong := wrongLabel(s); wrong != "" {
			c.coded(code, fmt.Sprintf("labels[%d]", i), s, "a label %s", wrong)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// A Move is what once became of a label.
type Move struct {
	Label    string
	From, To int64 // versions; 0 for none
	Proposal int64 // that was merged; 0 for none
	Followed bool  // an import made it, as another service did
	Change
	Undone Change // zero: it was not undone
}
