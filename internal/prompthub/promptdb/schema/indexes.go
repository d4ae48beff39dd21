package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// An index is a table of rows that follow from prompts. A prompt has one row in it for each of
// its parts: what of the row's key does not follow from the id of the prompt.
type index struct {
	code  string              // names the index in the property Pending, which is stored: never reused
	table func(Tables) string // the name of the table
	parts func(Record) []string
	key   func(part string, id prompt.ID) table.Key
	// the inverse of key; it may accept more
	parse func(table.Key) (part string, id prompt.ID, ok bool)
	props func(summaryProps table.Props, part string, p Record) table.Props
	// whether programs are shown lists of it: its rows have summaries for programs
	programs bool
}

// indexes are all indexes of prompts. A new one is an entry here, its key in keys.go
// and its table in Tables; projection, repair, anti-entropy, verify and reindex follow.
var indexes = slices.Concat([]index{{
	code:  "n",
	table: func(t Tables) string { return t.Newest },
	parts: func(p Record) []string { return one(p.Listed()) },
	key:   func(_ string, id prompt.ID) table.Key { return NewestKey(id) },
	parse: byAgeAlone,
	props: func(summaryProps table.Props, _ string, _ Record) table.Props { return summaryProps },
}}, indexesOfRankings(), []index{
	{
		code:  "t",
		table: func(t Tables) string { return t.TagIndex },
		parts: func(p Record) []string { return listed(p.Prompt, tagParts) },
		key:   func(part string, id prompt.ID) table.Key { return tagKey(prompt.Tag(part), id) },
		parse: byAgeUnder(tagPrefix),
		props: func(summaryProps table.Props, part string, _ Record) table.Props {
			return with(summaryProps, table.Prop{Name: "Tag", Value: table.String(part)})
		},
		programs: true,
	},
	{
		code:  codeTitle,
		table: func(t Tables) string { return t.TitleIndex },
		parts: func(p Record) []string { return listed(p.Prompt, tokenParts) },
		key:   tokenKey,
		parse: byAgeUnder(tokenPrefix),
		props: func(summaryProps table.Props, part string, _ Record) table.Props {
			return with(lean(summaryProps), table.Prop{Name: "Token", Value: table.String(part)})
		},
	},
	{
		code:  "d",
		table: func(t Tables) string { return t.DeletedIndex },
		parts: func(p Record) []string {
			if !p.Deleted() {
				return nil
			}
			return []string{Day(p.DeletedAt)}
		},
		key:   DeletedKey,
		parse: ParseDeleted,
		props: func(_ table.Props, _ string, p Record) table.Props {
			return table.Props{
				{Name: "PromptId", Value: table.String(string(p.ID))},
				{Name: "AuthorId", Value: table.String(string(p.AuthorID))},
				{Name: "DeletedAt", Value: table.Time(p.DeletedAt)},
			}
		},
	},
	{
		code:  "h",
		table: func(t Tables) string { return t.HiddenIndex },
		// Moderators do not read private titles.
		parts: func(p Record) []string {
			return one(p.Hidden() && !p.Deleted() && p.Visibility == prompt.Public)
		},
		key:   func(_ string, id prompt.ID) table.Key { return hiddenKey(id) },
		parse: byAgeAlone,
		props: func(summaryProps table.Props, _ string, p Record) table.Props {
			return with(summaryProps, marks(p.Prompt)...)
		},
	},
	logIndex,
})

const (
	codeLiked = "s" // of the most-liked index, whose parts are scores
	codeTitle = "q" // of the title index, whose parts are tokens
)

// listed returns the parts of a prompt in an index of the public lists.
func listed(p prompt.Prompt, parts func(prompt.Prompt) []string) []string {
	if !p.Listed() {
		return nil
	}
	return parts(p)
}

// ranked returns the part of a prompt in an order of the public lists.
func ranked(p prompt.Prompt, part func(prompt.Prompt) string) []string {
	if !p.Listed() {
		return nil
	}
	return []string{part(p)}
}

// lean returns a summary without its long texts, for the index that has most rows of a prompt: who
// shows what it finds reads the truth.
func lean(summaryProps table.Props) table.Props {
	return slices.DeleteFunc(slices.Clone(summaryProps), func(p table.Prop) bool {
		return p.Name == "Excerpt" || p.Name == "Description"
	})
}

// one is the part of an index that has one row for a prompt, at a key that follows from its id.
func one(has bool) []string {
	if !has {
		return nil
	}
	return []string{""}
}

func tagParts(p prompt.Prompt) []string {
	parts := make([]string, len(p.Tags))
	for i, tag := range p.Tags {
		parts[i] = string(tag)
	}
	return parts
}

func tokenParts(p prompt.Prompt) []string {
	return tokensByKey(prompt.Tokens(prompt.NormalizeTitle(p.Title)))
}

// scoreOf returns the score that is the part of a prompt in the most-liked index.
func scoreOf(part string) int32 {
	score, _ := strconv.ParseInt(part, 10, 32)
	return int32(score)
}

// with returns the properties of a summary and further ones; the summary stays as it is.
func with(p table.Props, more ...table.Prop) table.Props {
	return append(p[:len(p):len(p)], more...)
}

// MarshalJSON writes entries as they are stored in Pending: true for an index of one row, scores as
// numbers.
func (e Entries) MarshalJSON() ([]byte, error) {
	stored := make(map[string]any, len(e))
	for code, parts := range e {
		switch {
		case code == codeLiked:
			scores := make([]json.Number, len(parts))
			for i, part := range parts {
				scores[i] = json.Number(part)
			}
			stored[code] = scores
		case parts[0] == "":
			stored[code] = true
		default:
			stored[code] = parts
		}
	}
	return json.Marshal(stored)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entries) UnmarshalJSON(b []byte) error {
	var stored map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&stored); err != nil {
		return err
	}
	*e = make(Entries, len(stored))
	for code, v := range stored {
		switch v := v.(type) {
		case bool:
			e.add(code, one(v))
		case []any:
			parts := make([]string, len(v))
			for i := range v {
				parts[i] = fmt.Sprint(v[i])
			}
			e.add(code, parts)
		default:
			return fmt.Errorf("entries of index %q are %T", code, v)
		}
	}
	return nil
}
