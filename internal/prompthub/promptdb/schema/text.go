package schema

import (
	"strconv"
	"strings"

	"prompthub/internal/storage/table"
)

// maxPart is how much of a text one property has, in UTF-16 code units. It is below
// table.MaxString: Azure's limit of a property is told as 64 KiB in one place and as 32,000
// characters in another.
const maxPart = 32_000

// TextParts returns a text as properties that each hold what one property may. The first has the
// name alone, the others the name and a number.
func TextParts(name, text string) table.Props {
	props := table.Props{{Name: name}}
	for i := 0; ; i++ {
		part := head(text)
		if i > 0 {
			props = append(props, table.Prop{Name: name + strconv.Itoa(i)})
		}
		props[i].Value = table.String(part)
		if text = text[len(part):]; text == "" {
			return props
		}
	}
}

// head returns as much of a text as fits into one property. No character is cut in two.
func head(text string) string {
	if len(text) <= maxPart {
		return text
	}
	units := 0
	for i, r := range text {
		if units++; r > 0xffff {
			units++
		}
		if units > maxPart {
			return text[:i]
		}
	}
	return text
}

// JoinedText puts together what parts made.
func JoinedText(row table.Row, name string) string {
	first := row.Props.Get(name).Str()
	second := row.Props.Get(name + "1").Str()
	if second == "" {
		return first
	}
	var b strings.Builder
	b.WriteString(first)
	for i := 1; second != ""; {
		b.WriteString(second)
		i++
		second = row.Props.Get(name + strconv.Itoa(i)).Str()
	}
	return b.String()
}

// IncludedProps are the properties that are read of an included prompt: its name, its visibility
// and its text, however many properties a row needs for that. Its config and variables, which are
// not included, may be a hundred times as long.
var IncludedProps = func() []string {
	props := []string{
		"PromptId", "AuthorId", "Name", "Slug", "OldNames", "Version", "LastVersion",
		"PublicFrom", "Kind", "PromptText",
		"Visibility", "DeletedAt", "HiddenAt", "IsPurging", "RowsVersion", "Recall",
	}
	for i := range 15 { // Table Storage takes rows of 1 MiB, and 64 KiB in a property
		props = append(props, "PromptText"+strconv.Itoa(i+1))
	}
	return props
}()
