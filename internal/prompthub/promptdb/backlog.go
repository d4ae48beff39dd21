package promptdb

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The rows of the text index are many, so no answer waits for them. A commit after which they
// differ says so in the truth row, and its repair message is brought forward: that job writes them,
// under a lease of its own like all index rows. Until then a search may miss the prompt or look at
// it in vain; it shows none without having read the truth.

// textJobs is how many texts an instance writes the rows of at once, and textParallel how many of
// their rows, which are all of a text. More jobs with fewer rows each have as many rows under way
// and take turns with the writes that somebody waits for (docs/performance.md has the figures).
// Where a text is one call, the storage sees to that, and more of them come to lie side by side.
const (
	textJobs      = 2
	textJobsWhole = 8
	textParallel  = prompt.MaxTextWords
)

// A textBacklog says which rows of the text index are still to be written or deleted.
type textBacklog struct {
	Since time.Time `json:"s"`
	All   bool      `json:"a,omitempty"` // any row that the prompt has may be missing
	Write []string  `json:"w,omitempty"` // words whose rows may be missing
	Stale []string  `json:"d,omitempty"` // words whose rows may be there and should not
}

// overdue reports whether the job should have been done, or is lost.
func (b *textBacklog) overdue(now time.Time) bool { return b != nil && now.Sub(b.Since) >= voteSettled }

// textWords returns the words by which search finds a prompt in its text.
func textWords(p prompt.Prompt) []string {
	if !p.Listed() {
		return nil
	}
	return prompt.TextWords(p.Content().Words())
}

// backlogAfter returns what the text index lacks once was has become now, at a time.
func backlogAfter(was *record, now record, at time.Time) *textBacklog {
	if was == nil || was.backlog == nil && !was.Listed() {
		if !now.Listed() {
			return nil
		}
		return &textBacklog{All: true, Since: at}
	}
	tagged := slices.Equal(was.Tags, now.Tags)
	same := was.Listed() == now.Listed() && tagged && was.Content().Words() == now.Content().Words()
	if same {
		return was.backlog
	}
	before, after := textWords(was.Prompt), textWords(now.Prompt)
	b := &textBacklog{Since: at, All: !tagged && now.Listed()}
	there := before
	if was.backlog != nil {
		b.All = b.All || was.backlog.All && now.Listed()
		before = slices.Concat(before, was.backlog.Stale)
		there = minus(there, was.backlog.Write)
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

// rewriteAll returns the backlog that writes every row, if nothing is known of the rows but that
// some may be stray.
func (b *textBacklog) rewriteAll(now time.Time, stray []string) *textBacklog {
	all := &textBacklog{All: true, Since: now, Stale: stray}
	if b != nil {
		all.Stale = append(minus(b.Stale, stray), stray...)
	}
	return all
}

// textRow returns the row of a word in the text index.
func (db *DB) textRow(word string, p prompt.Prompt) indexRow {
	return indexRow{db.t.TextIndex, table.Row{Key: textKey(word, p.ID), Props: textIndex.props(nil, word, p)}}
}

// textRows returns all rows of a prompt in the text index.
func (db *DB) textRows(p prompt.Prompt) []indexRow {
	words := textWords(p)
	rows := make([]indexRow, len(words))
	for i, word := range words {
		rows[i] = db.textRow(word, p)
	}
	return rows
}

// backlogRows returns the rows of the text index that a record says must be written and deleted.
func (db *DB) backlogRows(rec record) (want, stale []indexRow) {
	words := textWords(rec.Prompt)
	for _, word := range words {
		if rec.backlog.All || slices.Contains(rec.backlog.Write, word) {
			want = append(want, db.textRow(word, rec.Prompt))
		}
	}
	return want, db.keys(entries{codeText: minus(rec.backlog.Stale, words)}, rec.ID)
}

// purgeText removes what may be left of a prompt in the text index. Nobody else writes rows of one
// that is on its way out, and it has no lease.
func (db *DB) purgeText(ctx context.Context, rec record) error {
	if rec.backlog == nil {
		return nil
	}
	words := slices.Concat(rec.backlog.Stale, rec.backlog.Write, prompt.TextWords(rec.Content().Words()))
	slices.Sort(words)
	words = slices.Compact(words)
	var g errgroup.Group
	g.SetLimit(maxParallel)
	for _, r := range db.keys(entries{codeText: words}, rec.ID) {
		g.Go(func() error { return db.remove(ctx, r.table, r.row.Key) })
	}
	return g.Wait()
}

// textIndex is written after the answer. A row of it says no more than that a prompt is there, and
// what decides whether to look at it.
var textIndex = index{
	code:  codeText,
	table: func(t Tables) string { return t.TextIndex },
	parts: textWords,
	key:   textKey,
	parse: byAgeUnder(textPrefix),
	props: func(_ table.Props, _ string, p prompt.Prompt) table.Props {
		return table.Props{
			{Name: "AuthorId", Value: table.String(string(p.AuthorID))},
			{Name: "Tags", Value: table.String(joinTags(p.Tags))},
		}
	},
}

const codeText = "x" // of the text index, whose parts are words

// allIndexes are those that an answer waits for, and that which it does not wait for.
func allIndexes() []index { return append(slices.Clip(indexes), textIndex) }

// signatureOf returns what rows of rankings tell of the words of a text: a search that walks them
// cannot look into the text index for each.
func signatureOf(p prompt.Prompt) table.Prop {
	return table.Prop{Name: "Words", Value: table.String(string(prompt.Sign(textWords(p))))}
}

// isText reports whether a table holds rows of the text index.
func (db *DB) isText(name string) bool { return name == db.t.TextIndex }

// cutText returns the words among entries, and the rest.
func (e entries) cutText() (words []string, rest entries) {
	rest = make(entries, len(e))
	for code, parts := range e {
		if code == codeText {
			words = parts
		} else {
			rest[code] = parts
		}
	}
	return words, rest
}

// textDue reports whether the job that compares the truth with all that follows from it compares
// the rows of a prompt in the text index, too: once every textEvery days, as these are more than
// all others.
func textDue(id prompt.ID, now time.Time) bool {
	return (now.Unix()/int64((24*time.Hour).Seconds())+id.Time().UnixMilli())%textEvery == 0
}

const textEvery = 30
