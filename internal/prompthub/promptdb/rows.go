package promptdb

import (
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// An indexRow is a row of one of the index tables.
type indexRow struct {
	table string
	row   table.Row
}

// rows lists every index row that p must have when an answer says so: its locator, and what indexes
// say.
func (db *DB) rows(p prompt.Prompt) []indexRow {
	rows := []indexRow{{db.t.Votes, table.Row{Key: locatorKey(p.ID), Props: locatorProps(p)}}}
	plain := summary(p)
	summed := plain
	if p.Listed() {
		summed = with(plain, summaryProps(p)...)
	}
	signed := signatureOf(p)
	for _, x := range indexes {
		for _, part := range x.parts(p) {
			of := plain
			if x.programs {
				of = summed
			}
			if x.signed {
				of = with(of, signed)
			}
			rows = append(rows, indexRow{x.table(db.t), table.Row{Key: x.key(part, p.ID), Props: x.props(of, part, p)}})
		}
	}
	return rows
}

// of reports whether a prompt has all that is in e.
func (e entries) of(p prompt.Prompt) bool {
	words, rest := e.cutText()
	return len(rest.without(entriesOf(p))) == 0 && (words == nil || len(minus(words, textWords(p))) == 0)
}

// keys returns the rows of e for one prompt, without their contents.
func (db *DB) keys(e entries, id prompt.ID) []indexRow {
	var rows []indexRow
	for _, x := range allIndexes() {
		for _, part := range e[x.code] {
			rows = append(rows, indexRow{x.table(db.t), table.Row{Key: x.key(part, id)}})
		}
	}
	return rows
}

// entry reads the key of an index row: which prompt it belongs to, and which of its entries it is.
func (db *DB) entry(name string, key table.Key) (entries, prompt.ID, bool) {
	for _, x := range allIndexes() {
		if x.table(db.t) != name {
			continue
		}
		part, id, ok := x.parse(key)
		if !ok || x.key(part, id) != key {
			return nil, "", false
		}
		return entries{x.code: {part}}, id, true
	}
	return nil, "", false
}

// indexTables are the tables that hold nothing but index rows of prompts.
func (db *DB) indexTables() []string {
	var names []string
	for _, x := range allIndexes() {
		names = append(names, x.table(db.t))
	}
	return names
}

// locatorProps says where the truth row of a prompt is and who may know of it. It is the one index
// row that every prompt has, at a key that never changes; so it is no entry of indexes.
func locatorProps(p prompt.Prompt) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(p.ID))},
		{Name: "AuthorId", Value: table.String(string(p.AuthorID))},
		{Name: "Visibility", Value: table.String(string(p.Visibility))},
		{Name: "IsDeleted", Value: table.Bool(p.Deleted())},
		{Name: "IsHidden", Value: table.Bool(p.Hidden())},
	}
}

// entries says which index rows a prompt has, by the code of the index, without their contents:
// small enough to be kept in the truth row while they change.
type entries map[string][]string

// entriesOf returns what a prompt has but for the text index.
func entriesOf(p prompt.Prompt) entries {
	e := make(entries, len(indexes))
	for _, x := range indexes {
		e.add(x.code, x.parts(p))
	}
	return e
}

func (e entries) add(code string, parts []string) {
	if len(parts) > 0 {
		e[code] = parts
	}
}

// without returns what is in e and not in f.
func (e entries) without(f entries) entries {
	rest := make(entries, len(e))
	for code, parts := range e {
		rest.add(code, minus(parts, f[code]))
	}
	return rest
}

// and returns what is in e or in f.
func (e entries) and(f entries) entries {
	all := make(entries, len(e))
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
