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

// Alike is what many rows of a record have alike. Most of their time goes into making it.
type Alike struct{ summary, programs table.Props }

// Alike makes it, once for all rows of a commit.
func (r Record) Alike() Alike { return Alike{SummaryProps(r.Prompt), ProgramProps(r.Prompt)} }

// Rows lists every index row that a prompt must have when an answer says so: its locator, and its
// rows in the indexes.
func (t Tables) Rows(r Record) []IndexRow {
	of := Alike{summary: SummaryProps(r.Prompt)}
	if r.Listed() {
		of.programs = ProgramProps(r.Prompt)
	}
	return t.rows(r, of)
}

// AllRows lists the truth row of a record and every row that follows from it.
func (t Tables) AllRows(r Record) ([]IndexRow, error) {
	of := r.Alike()
	truth, err := r.row(of)
	if err != nil {
		return nil, err
	}
	rows := []IndexRow{{t.Prompts, truth}, {t.Prompts, r.mineRow(of)}}
	return append(rows, t.rows(r, of)...), nil
}

// rows is Rows with what other rows of r have, too. Without a list, r needs no programs.
func (t Tables) rows(r Record, of Alike) []IndexRow {
	rows := []IndexRow{{t.Votes, table.Row{Key: LocatorKey(r.ID), Props: locatorProps(r.Prompt)}}}
	plain := listedProps(r.Prompt, of.summary)
	summed := with(plain, of.programs...)
	for _, x := range indexes {
		for _, part := range x.parts(r) {
			props := plain
			if x.programs {
				props = summed
			}
			rows = append(rows, IndexRow{x.table(t), table.Row{Key: x.key(part, r.ID), Props: x.props(props, part, r)}})
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
func (e Entries) Of(r Record) bool {
	return len(e.Without(EntriesOf(r))) == 0
}

// Keys returns the rows of e for one prompt, without their contents.
func (t Tables) Keys(e Entries, id prompt.ID) []IndexRow {
	var rows []IndexRow
	for _, x := range indexes {
		for _, part := range e[x.code] {
			rows = append(rows, IndexRow{x.table(t), table.Row{Key: x.key(part, id)}})
		}
	}
	return rows
}

// Logged returns the rows of a record in logs, without their contents.
func (t Tables) Logged(r Record) []IndexRow {
	return t.Keys(Entries{CodeLog: logParts(r)}, r.ID)
}

// Entry reads the key of an index row: which prompt it belongs to, and which of its entries it is.
func (t Tables) Entry(name string, key table.Key) (Entries, prompt.ID, bool) {
	for _, x := range indexes {
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
	for _, x := range indexes {
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

// EntriesOf returns what a prompt has.
func EntriesOf(r Record) Entries {
	e := make(Entries, len(indexes))
	for _, x := range indexes {
		e.add(x.code, x.parts(r))
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
