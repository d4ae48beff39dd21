package schema

import (
	"fmt"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// What a user takes is kept with each prompt: the row of a version says how long it and its file
// are, and the labels row, which every new version writes under its ETag, the sum of these. So no
// write costs more, writers of two prompts of a user do not meet, and a sum is exact. What all
// prompts of a user take is read from their labels rows, and remembered for a while.

// A Quota is what one user may store. Zero is no limit.
type Quota struct {
	Bytes   int64 // of versions, their files, files that were kept with them, and moves of labels
	Prompts int64 // deleted ones too, until they are purged
}

// The codes of refusals by a quota.
const (
	QuotaBytes     fault.Code = "QUOTA_BYTES"
	QuotaPrompts   fault.Code = "QUOTA_PROMPTS"
	QuotaFavorites fault.Code = "QUOTA_FAVORITES"
)

const (
	// MaxFavorites is how many favorites a user may have.
	MaxFavorites = 5000

	// versionBytes is the size of a version without its content: its row and its index rows.
	versionBytes = 1 << 10
	moveBytes    = 256 // of the row that tells of a label

	// MaxCounted is how many prompts of a user are counted. Without a limit of prompts, a limit of
	// bytes counts up to here.
	MaxCounted = 100_000
)

// Usage is what a user takes.
type Usage struct{ Bytes, Prompts, Favorites int64 }

// Near reports whether nine tenths of a quota are used.
func (q Quota) Near(u Usage) bool {
	return q.Bytes > 0 && u.Bytes >= q.Bytes/10*9 || q.Prompts > 0 && u.Prompts >= q.Prompts/10*9
}

// Check reports that a user has no room for more.
func (q Quota) Check(u, more Usage) error {
	switch {
	case q.Prompts > 0 && more.Prompts > 0 && u.Prompts+more.Prompts > q.Prompts:
		return fault.Coded(fault.Invalid, QuotaPrompts, fmt.Sprintf(
			"you have %d prompts of the %d that a user may have; delete some, which count until they are gone for good %d days later", u.Prompts, q.Prompts, prompt.RestoreDays))
	case q.Bytes > 0 && more.Bytes > 0 && u.Bytes+more.Bytes > q.Bytes:
		return fault.Coded(fault.Invalid, QuotaBytes, fmt.Sprintf(
			"your prompts take %d of the %d bytes that a user may store; delete versions, or prompts, which count until they are gone for good %d days later",
			u.Bytes, q.Bytes, prompt.RestoreDays))
	}
	return nil
}

// VersionTakes returns what a labels row says that its prompt takes.
func VersionTakes(row table.Row) int64 {
	return row.Props.Get("Bytes").Int() + row.Props.Get("FileBytes").Int() + moveBytes*row.Props.Get("Moves").Int()
}

// Takes returns what a prompt takes.
func (c LabelsRow) Takes() int64 { return c.Bytes + c.Files + moveBytes*c.Moves }

// sizeProp is the property of the row of a version that has its size, together with the size of the
// file that it was made of.
func sizeProp(v prompt.Version, content table.Props, kept int) table.Prop {
	n := versionBytes + len(v.Message) + kept
	for _, p := range content {
		n += len(p.Value.Str())
	}
	return table.Prop{Name: "Size", Value: table.Int64(int64(n))}
}

// SizeIn returns it.
func SizeIn(row table.Row) int64 { return row.Props.Get("Size").Int() }
