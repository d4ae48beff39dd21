// Package search finds people and hubs by the beginnings of their words: those of a name, and a
// username as a whole.
//
//	w|{word}                           in the partition of the thing: it may be found by the word
//	{begin}{two letters}, {word}|{id}  of Lists: the same, in the order of words
//
// Both rows only say where to look: each search reads the thing, and leaves out one that does not
// have the word. They are written before a change that gives a thing a word, first those of the
// thing, so that the job that removes a thing knows all others. A word that a thing has no more, or
// never got because its change failed, is swept by a job when its rows are old: a change that needs
// them again has written them anew before. So a process may stop anywhere.
package search

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Rows begins the rows in the partition of a thing.
const Rows = "w|"

// A query has MinQuery to MaxQuery characters.
const (
	MinQuery = 2
	MaxQuery = 50
)

// A thing is found by up to mostWords words, of which the first maxWord characters count.
const (
	mostWords = 35
	maxWord   = 50
)

// foldText writes a text as all texts that are found together are written: in small letters,
// without accents.
func foldText(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
	return norm.NFKC.String(s)
}

// splitWords are the words of a text that is folded.
func splitWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Words returns the words by which a thing is found, in order: its username, "" if it has none, and
// those of its name.
func Words(username, name string) []string {
	all := splitWords(foldText(name))
	if username != "" {
		all = append([]string{strings.ToLower(username)}, all...)
	}
	var words []string
	for _, word := range all {
		if word = firstRunes(word, maxWord); isLong(word) && !slices.Contains(words, word) && len(words) < mostWords {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// firstRunes returns up to n characters of a text.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// isLong reports whether a text has two characters or more.
func isLong(s string) bool { return firstRunes(s, 1) != s }

// usernames are beginnings of usernames whose first part is a single letter.
var usernames = regexp.MustCompile(`^[a-z][._][a-z0-9._]*$`)

// A Query is what people type, and the beginning of a word by which rows are read.
type Query struct {
	tokens []string
	from   string
}

// beginningOf returns how a word begins that a token finds: its first part, with which a username
// begins too, or if that is a single letter the whole of a username, or else the longest part.
func beginningOf(token string) string {
	all := splitWords(token)
	switch {
	case len(all) == 0:
		return ""
	case isLong(all[0]):
		return all[0]
	case usernames.MatchString(token):
		return token
	}
	return slices.MaxFunc(all, func(a, b string) int { return len(a) - len(b) })
}

// Parse reads a query. One without two letters or digits in a row is refused.
func Parse(text string) (Query, error) {
	var b rules.Broken
	b.AddTo("query.q", rules.Len(text) <= MaxQuery, fmt.Sprintf("give %d to %d characters", MinQuery, MaxQuery))
	q := Query{tokens: strings.Fields(foldText(text))}
	for _, token := range q.tokens {
		if from := beginningOf(token); isLong(from) && len(from) > len(q.from) {
			q.from = from
		}
	}
	b.AddTo("query.q", q.from != "", "give two letters or digits in a row")
	return q, b.Err()
}

// bestWord returns the word by which a query finds a thing with some words: the first of those that
// begin as its rows do, "" if it does not find the thing.
func (q Query) bestWord(words []string) string {
	has := func(beginning string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, beginning) })
	}
	for _, token := range q.tokens {
		some := splitWords(token)
		if len(some) > 1 { // single letters next to others, as of O'Brien, are no words
			some = slices.DeleteFunc(some, func(part string) bool { return !isLong(part) })
		}
		if !has(token) && slices.ContainsFunc(some, func(part string) bool { return !has(part) }) {
			return ""
		}
	}
	for _, word := range words {
		if strings.HasPrefix(word, q.from) {
			return word
		}
	}
	return ""
}

// encodeWord writes a word for a key, so that one that begins as another does has a key that does,
// too, and ends in a character that table.After takes.
func encodeWord(word string) string {
	var b strings.Builder
	for _, r := range word {
		if r < unicode.MaxASCII {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "~%06x", r)
		}
	}
	return b.String()
}

// An Index finds things of one kind. Every field is required.
type Index struct {
	*rowstore.Store
	Lists     string // the table of the rows that are read
	Begin     string // of their partitions
	Own       string // the table of the things
	Partition func(id string) string
	Due       due.Rows
	Words     func(ctx context.Context, id string) ([]string, error) // that a thing has now
	Old       func(written time.Time) bool                           // whether a row that is of no use may go
}

func (x Index) rowKey(word, id string) table.Key {
	return table.Key{Partition: x.Begin + encodeWord(firstRunes(word, 2)), Row: encodeWord(word) + "|" + id}
}

// listRow is the row by which a thing is found.
func (x Index) listRow(id, word string, words []string, at time.Time) table.Row {
	return table.Row{Key: x.rowKey(word, id), Props: table.Props{
		{Name: "word", Value: table.String(word)},
		{Name: "words", Value: table.String(strings.Join(words, " "))},
		{Name: "at", Value: table.Time(at)},
	}}
}

func (x Index) ownRow(id, word string, at time.Time) table.Row {
	return table.Row{
		Key:   table.Key{Partition: x.Partition(id), Row: Rows + encodeWord(word)},
		Props: table.Props{{Name: "word", Value: table.String(word)}, {Name: "at", Value: table.Time(at)}},
	}
}

// Before writes the rows of the words that a change gives a thing. A thing that has words already
// may have others then.
func (x Index) Before(ctx context.Context, id string, has bool, words []string) error {
	now := x.Now().UTC()
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		if !has {
			return nil
		}
		return x.Due.Add(ctx, now, id+"|"+Rows)
	}, func(ctx context.Context) error {
		rows := make([]table.Row, len(words))
		for i, word := range words {
			rows[i] = x.ownRow(id, word, now)
		}
		return x.UpsertAll(ctx, x.Own, rows)
	})
	if err != nil {
		return err
	}
	return rowstore.Each(ctx, len(words), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		return x.Upsert(ctx, x.Lists, x.listRow(id, words[i], words, now))
	})
}

// Sweep removes old rows of words that a thing does not have.
func (x Index) Sweep(ctx context.Context, id string) error {
	old := func(row *table.Row) bool { return row != nil && x.Old(row.Props.Get("at").Time()) }
	for row, err := range table.All(ctx, x.DB, x.Own, table.Prefix(x.Partition(id), Rows)) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if !old(&row) {
			continue
		}
		word := row.Props.Get("word").Str()
		listed, err := x.GetRow(ctx, x.Lists, x.rowKey(word, id))
		if err != nil {
			return err
		}
		words, err := x.Words(ctx, id) // after both rows were read: a change that needs them writes them first
		if err != nil {
			return err
		}
		if slices.Contains(words, word) || listed != nil && !old(listed) {
			continue
		}
		if listed != nil {
			err = x.RemoveRow(ctx, x.Lists, *listed)
		}
		if err == nil {
			err = x.RemoveRow(ctx, x.Own, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Forget removes the row by which a thing is found that a row of the thing names. The thing goes,
// and that row with it.
func (x Index) Forget(ctx context.Context, id string, own table.Row) error {
	return x.RemoveKey(ctx, x.Lists, x.rowKey(own.Props.Get("word").Str(), id))
}

// Want calls do for each row that there must be of a thing with some words.
func (x Index) Want(id string, words []string, do func(name string, row table.Row) error) error {
	now := x.Now().UTC()
	for _, word := range words {
		if err := do(x.Own, x.ownRow(id, word, now)); err != nil {
			return err
		}
		if err := do(x.Lists, x.listRow(id, word, words, now)); err != nil {
			return err
		}
	}
	return nil
}

// Strays calls report for each row by which a thing would be found that does not know of it.
func (x Index) Strays(ctx context.Context, report func(id string)) error {
	for row, err := range table.All(ctx, x.DB, x.Lists,
		table.Range{FromPartition: x.Begin, ToPartition: table.After(x.Begin)}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		id, word := lists.ID(row), row.Props.Get("word").Str()
		own, err := x.GetRow(ctx, x.Own, x.ownRow(id, word, time.Time{}).Key)
		if err != nil {
			return err
		}
		if own == nil {
			report(id)
		}
	}
	return nil
}

// Find returns the ids of up to limit things after a position, in the order of the words by which a
// query finds them. see returns the words of those of some things that there are for the reader.
func (x Index) Find(ctx context.Context, q Query, after string, limit int,
	see func(ctx context.Context, ids []string) (map[string][]string, error),
) (ids []string, next string, err error) {
	l := lists.List{Table: x.Lists, Partition: x.Begin + encodeWord(firstRunes(q.from, 2)), Prefix: encodeWord(q.from)}
	rows, next, err := lists.Read(ctx, x.Store, l, after, limit,
		func(ctx context.Context, rows []table.Row) ([]table.Row, error) {
			found := func(row table.Row, words []string) bool {
				return q.bestWord(words) == row.Props.Get("word").Str()
			}
			rows = slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool {
				return !found(row, strings.Fields(row.Props.Get("words").Str()))
			})
			some := make([]string, len(rows))
			for i, row := range rows {
				some[i] = lists.ID(row)
			}
			there, err := see(ctx, some)
			return slices.DeleteFunc(rows, func(row table.Row) bool { return !found(row, there[lists.ID(row)]) }), err
		})
	for _, row := range rows {
		ids = append(ids, lists.ID(row))
	}
	return ids, next, err
}
