package schema

import (
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// An IndexRow is a row of one of the index tables.
type IndexRow struct {
	Table string
	Row   table.Row
}

// Rows lists every index row that p must have when an answer says so: its locator, and its rows in
// the indexes.
func (t Tables) Rows(p prompt.Prompt) []IndexRow {
	var programs table.Props
	if p.Listed() {
		programs = ProgramProps(p)
	}
	return t.rows(p, SummaryProps(p), programs, textWords(p))
}

// AllRows lists the truth row of a record and every row that follows from it, in the text index
// too. It makes once what many of these rows have alike, which takes most of the time.
func (t Tables) AllRows(r Record) ([]IndexRow, error) {
	summary, programs, words := SummaryProps(r.Prompt), ProgramProps(r.Prompt), textWords(r.Prompt)
	truth, err := r.row(summary)
	if err != nil {
		return nil, err
	}
	rows := []IndexRow{{t.Prompts, truth}, {t.Prompts, r.mineRow(summary, programs)}}
	return slices.Concat(rows, t.rows(r.Prompt, summary, programs, words), t.textRows(words, r.Prompt)), nil
}

// rows is Rows with what other rows of p have, too. Without a list, p needs no programs.
func (t Tables) rows(p prompt.Prompt, summary, programs table.Props, words []string) []IndexRow {
	rows := []IndexRow{{t.Votes, table.Row{Key: LocatorKey(p.ID), Props: locatorProps(p)}}}
	plain := listedProps(p, summary)
	summed := with(plain, programs...)
	signed := signatureOf(words)
	for _, x := range indexes {
		for _, part := range x.parts(p) {
			of := plain
			if x.programs {
				of = summed
			}
			if x.signed {
				of = with(of, signed)
			}
			rows = append(rows, IndexRow{x.table(t), table.Row{Key: x.key(part, p.ID), Props: x.props(of, part, p)}})
		}
	}
	return rows
}

// CompareRows orders rows by tables and keys, so that those lie side by side that a storage keeps
// so.
func CompareRows(a, b IndexRow) int {
	if c := strings.Compare(a.Table, b.Table); c != 0 {
		return c
	}
	if c := strings.Compare(a.Row.Partition, b.Row.Partition); c != 0 {
		return c
	}
	return strings.Compare(a.Row.Row, b.Row.Row)
}

// Of reports whether a prompt has all that is in e.
func (e Entries) Of(p prompt.Prompt) bool {
	words, rest := e.CutText()
	return len(rest.Without(EntriesOf(p))) == 0 && (words == nil || len(minus(words, textWords(p))) == 0)
}

// Keys returns the rows of e for one prompt, without their contents.
func (t Tables) Keys(e Entries, id prompt.ID) []IndexRow {
	var rows []IndexRow
	for _, x := range allIndexes() {
		for _, part := range e[x.code] {
			rows = append(rows, IndexRow{x.table(t), table.Row{Key: x.key(part, id)}})
		}
	}
	return rows
}

// Entry reads the key of an index row: which prompt it belongs to, and which of its entries it is.
func (t Tables) Entry(name string, key table.Key) (Entries, prompt.ID, bool) {
	for _, x := range allIndexes() {
		if x.table(t) != name {
			continue
		}
		part, id, ok := x.parse(key)
		if !ok || x.key(part, id) != key {
			return nil, "", false
		}
		return Entries{x.code: {part}}, id, true
	}
	return nil, "", false
}

// IndexTables are the tables that hold nothing but index rows of prompts.
func (t Tables) IndexTables() []string {
	var names []string
	for _, x := range allIndexes() {
		names = append(names, x.table(t))
	}
	return names
}

// locatorProps names the author of a prompt, and so its truth row, and says whether it is public.
// It is the one index row that every prompt has, at a key that never changes; so it is no entry of
// indexes.
func locatorProps(p prompt.Prompt) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(p.ID))},
		{Name: "AuthorId", Value: table.String(string(p.AuthorID))},
		{Name: "Visibility", Value: table.String(string(p.Visibility))},
		{Name: "IsDeleted", Value: table.Bool(p.Deleted())},
		{Name: "IsHidden", Value: table.Bool(p.Hidden())},
	}
}

// Entries says which index rows a prompt has, by the code of the index, without their contents:
// small enough to be kept in the truth row while they change.
type Entries map[string][]string

// EntriesOf returns what a prompt has but for the text index.
func EntriesOf(p prompt.Prompt) Entries {
	e := make(Entries, len(indexes))
	for _, x := range indexes {
		e.add(x.code, x.parts(p))
	}
	return e
}

func (e Entries) add(code string, parts []string) {
	if len(parts) > 0 {
		e[code] = parts
	}
}

// Without returns what is in e and not in f.
func (e Entries) Without(f Entries) Entries {
	rest := make(Entries, len(e))
	for code, parts := range e {
		rest.add(code, minus(parts, f[code]))
	}
	return rest
}

// And returns what is in e or in f.
func (e Entries) And(f Entries) Entries {
	all := make(Entries, len(e))
	for _, x := range indexes {
		all.add(x.code, slices.Concat(e[x.code], minus(f[x.code], e[x.code])))
	}
	return all
}

func minus(a, b []string) []string {
	var rest []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			rest = append(rest, x)
		}
	}
	return rest
}
