package promptdb

import (
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/table"
)

// entries says which index rows a prompt has, without their contents: small enough to be
// kept in the truth row while they change. The locator is not among them: every prompt has it.
type entries struct {
	Newest bool         `json:"n,omitempty"`
	Hidden bool         `json:"h,omitempty"`
	Scores []int32      `json:"s,omitempty"`
	Tags   []prompt.Tag `json:"t,omitempty"`
	Tokens []string     `json:"q,omitempty"`
	Days   []string     `json:"d,omitempty"`
}

// entriesOf returns what a prompt has. Only a listed prompt has public rows.
func entriesOf(p prompt.Prompt) entries {
	var e entries
	if p.Listed() {
		e.Newest = true
		e.Scores = []int32{p.Score()}
		e.Tags = p.Tags
		e.Tokens = prompt.Tokens(prompt.NormalizeTitle(p.Title))
	}
	if p.Deleted() {
		e.Days = []string{day(p.DeletedAt)}
	}
	e.Hidden = p.Hidden() && !p.Deleted() && p.Visibility == prompt.Public // moderators do not read private titles
	return e
}

// without returns what is in e and not in f.
func (e entries) without(f entries) entries {
	return entries{
		Newest: e.Newest && !f.Newest,
		Hidden: e.Hidden && !f.Hidden,
		Scores: minus(e.Scores, f.Scores),
		Tags:   minus(e.Tags, f.Tags),
		Tokens: minus(e.Tokens, f.Tokens),
		Days:   minus(e.Days, f.Days),
	}
}

// and returns what is in e or in f.
func (e entries) and(f entries) entries {
	return entries{
		Newest: e.Newest || f.Newest,
		Hidden: e.Hidden || f.Hidden,
		Scores: slices.Concat(e.Scores, minus(f.Scores, e.Scores)),
		Tags:   slices.Concat(e.Tags, minus(f.Tags, e.Tags)),
		Tokens: slices.Concat(e.Tokens, minus(f.Tokens, e.Tokens)),
		Days:   slices.Concat(e.Days, minus(f.Days, e.Days)),
	}
}

func minus[T comparable](a, b []T) []T {
	var rest []T
	for _, x := range a {
		if !slices.Contains(b, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// An indexRow is a row of one of the index tables.
type indexRow struct {
	table string
	row   table.Row
}

// rows lists every index row that p must have. No other function knows the indexes.
func (db *DB) rows(p prompt.Prompt) []indexRow {
	rows := []indexRow{{db.t.Votes, table.Row{Key: locatorKey(p.ID), Props: locator(p)}}}
	e := entriesOf(p)
	card := summary(p)
	add := func(name string, key table.Key, extra ...table.Prop) {
		rows = append(rows, indexRow{name, table.Row{Key: key, Props: slices.Concat(card, extra)}})
	}
	if e.Newest {
		add(db.t.Newest, newestKey(p.ID))
	}
	for _, s := range e.Scores {
		add(db.t.MostLiked, likedKey(s, p.ID), table.Prop{Name: "Score", Value: table.Int32(s)})
	}
	for _, tag := range e.Tags {
		add(db.t.TagIndex, tagKey(tag, p.ID), table.Prop{Name: "Tag", Value: table.String(string(tag))})
	}
	for _, token := range tokensByKey(e.Tokens) {
		add(db.t.TitleIndex, tokenKey(token, p.ID), table.Prop{Name: "Token", Value: table.String(token)})
	}
	for _, d := range e.Days {
		rows = append(rows, indexRow{db.t.DeletedIndex, table.Row{Key: deletedKey(d, p.ID), Props: table.Props{
			{Name: "PromptId", Value: table.String(string(p.ID))},
			{Name: "AuthorId", Value: table.String(p.AuthorID)},
			{Name: "DeletedAt", Value: table.Time(p.DeletedAt)},
		}}})
	}
	if e.Hidden {
		add(db.t.HiddenIndex, hiddenKey(p.ID), marks(p)...)
	}
	return rows
}

// locator says where the truth row of a prompt is and who may know of it.
func locator(p prompt.Prompt) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(p.ID))},
		{Name: "AuthorId", Value: table.String(p.AuthorID)},
		{Name: "Visibility", Value: table.String(string(p.Visibility))},
		{Name: "IsDeleted", Value: table.Bool(p.Deleted())},
		{Name: "IsHidden", Value: table.Bool(p.Hidden())},
	}
}

// tokensByKey drops tokens whose key another one has already: very long ones are cut.
func tokensByKey(tokens []string) []string {
	long := func(t string) bool { return cutToken(t) != t }
	if !slices.ContainsFunc(tokens, long) {
		return tokens
	}
	var kept []string
	for _, t := range tokens {
		if !slices.ContainsFunc(kept, func(k string) bool { return cutToken(k) == cutToken(t) }) {
			kept = append(kept, t)
		}
	}
	return kept
}

// keys returns the rows of e for one prompt, by table.
func (db *DB) keys(e entries, id prompt.ID) []indexRow {
	var rows []indexRow
	add := func(name string, key table.Key) { rows = append(rows, indexRow{name, table.Row{Key: key}}) }
	if e.Newest {
		add(db.t.Newest, newestKey(id))
	}
	for _, s := range e.Scores {
		add(db.t.MostLiked, likedKey(s, id))
	}
	for _, tag := range e.Tags {
		add(db.t.TagIndex, tagKey(tag, id))
	}
	for _, token := range e.Tokens {
		add(db.t.TitleIndex, tokenKey(token, id))
	}
	for _, d := range e.Days {
		add(db.t.DeletedIndex, deletedKey(d, id))
	}
	if e.Hidden {
		add(db.t.HiddenIndex, hiddenKey(id))
	}
	return rows
}
