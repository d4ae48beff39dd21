package schema

import (
	"slices"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A TextBacklog says which rows of the text index are still to be written or deleted.
type TextBacklog struct {
	Since time.Time `json:"s"`
	All   bool      `json:"a,omitempty"` // any row that the prompt has may be missing
	Write []string  `json:"w,omitempty"` // words whose rows may be missing
	Stale []string  `json:"d,omitempty"` // words whose rows may be there and should not
}

// Overdue reports whether the job should have been done, or is lost.
func (b *TextBacklog) Overdue(now time.Time) bool { return b != nil && now.Sub(b.Since) >= VoteSettled }

// textWords returns the words by which search finds a prompt in its text.
func textWords(p prompt.Prompt) []string {
	if !p.Listed() {
		return nil
	}
	return prompt.TextWords(p.Content().Words())
}

// BacklogAfter returns what the text index lacks once was has become now, at a time.
func BacklogAfter(was *Record, now Record, at time.Time) *TextBacklog {
	if was == nil || was.Backlog == nil && !was.Listed() {
		if !now.Listed() {
			return nil
		}
		return &TextBacklog{All: true, Since: at}
	}
	tagged := slices.Equal(was.Tags, now.Tags)
	same := was.Listed() == now.Listed() && tagged && was.Content().Words() == now.Content().Words()
	if same {
		return was.Backlog
	}
	before, after := textWords(was.Prompt), textWords(now.Prompt)
	b := &TextBacklog{Since: at, All: !tagged && now.Listed()}
	there := before
	if was.Backlog != nil {
		b.All = b.All || was.Backlog.All && now.Listed()
		before = slices.Concat(before, was.Backlog.Stale)
		there = minus(there, was.Backlog.Write)
	}
	if b.Stale = minus(before, after); !b.All {
		b.Write = minus(after, there)
	}
	if slices.Sort(b.Stale); !b.All && len(b.Write)+len(b.Stale) == 0 {
		return nil
	}
	b.Stale = slices.Compact(b.Stale)
	return b
}

// RewriteAll returns the backlog that writes every row, if nothing is known of the rows but that
// some may be stray.
func (b *TextBacklog) RewriteAll(now time.Time, stray []string) *TextBacklog {
	all := &TextBacklog{All: true, Since: now, Stale: stray}
	if b != nil {
		all.Stale = append(minus(b.Stale, stray), stray...)
	}
	return all
}

// textRows returns the rows of words in the text index, which have the same properties.
func (t Tables) textRows(words []string, p prompt.Prompt) []IndexRow {
	rows := make([]IndexRow, len(words))
	age, props := ByAge(p.ID), textIndex.props(nil, "", p)
	for i, word := range words {
		rows[i] = IndexRow{t.TextIndex, table.Row{Key: table.Key{Partition: TextPartition(word), Row: age}, Props: props}}
	}
	return rows
}

// TextRows returns all rows of a prompt in the text index.
func (t Tables) TextRows(p prompt.Prompt) []IndexRow { return t.textRows(textWords(p), p) }

// backlogRows returns the rows of the text index that a record says must be written and deleted.
func (t Tables) backlogRows(rec Record) (want, stale []IndexRow) {
	words := textWords(rec.Prompt)
	due := words
	if !rec.Backlog.All {
		due = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(rec.Backlog.Write, word) })
	}
	return t.textRows(due, rec.Prompt), t.Keys(Entries{CodeText: minus(rec.Backlog.Stale, words)}, rec.ID)
}

// textIndex is written after the answer. A row of it says only that a prompt is there, and has the
// properties that decide whether to look at it.
var textIndex = index{
	code:  CodeText,
	table: func(t Tables) string { return t.TextIndex },
	parts: textWords,
	key:   textKey,
	parse: byAgeUnder(textPrefix),
	props: func(_ table.Props, _ string, p prompt.Prompt) table.Props {
		return table.Props{
			{Name: "AuthorId", Value: table.String(string(p.AuthorID))},
			{Name: "Tags", Value: table.String(JoinTags(p.Tags))},
		}
	},
}

// CodeText names the text index, whose parts are words.
const CodeText = "x"

// allIndexes are those that an answer waits for, and that which it does not wait for.
func allIndexes() []index { return append(slices.Clip(indexes), textIndex) }

// signatureOf returns what rows of rankings tell of the words of a text: a search that walks them
// cannot look into the text index for each.
func signatureOf(words []string) table.Prop {
	return table.Prop{Name: "Words", Value: table.String(string(prompt.Sign(words)))}
}

// IsText reports whether a table holds rows of the text index.
func (t Tables) IsText(name string) bool { return name == t.TextIndex }

// CutText returns the words among entries, and the rest.
func (e Entries) CutText() (words []string, rest Entries) {
	rest = make(Entries, len(e))
	for code, parts := range e {
		if code == CodeText {
			words = parts
		} else {
			rest[code] = parts
		}
	}
	return words, rest
}

// TextDue reports whether the job that compares the truth with all that follows from it compares
// the rows of a prompt in the text index, too: once every TextEvery days, as these are more than
// all others.
func TextDue(id prompt.ID, now time.Time) bool {
	return (now.Unix()/int64((24*time.Hour).Seconds())+id.Time().UnixMilli())%TextEvery == 0
}

// TextEvery is after how many days the rows of a text are compared again.
const TextEvery = 30

// VoteSettled is after what time the jobs of a vote, or of a moved label, are done, or lost.
const VoteSettled = 5 * time.Minute
