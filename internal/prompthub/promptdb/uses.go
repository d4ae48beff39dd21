package promptdb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// What a version includes stands in its own row, in a property that is read without the texts, and
// in a row for each name that it includes, under that name: so a prompt knows who includes it.

// includesProps returns what the row of a version says of what it includes.
func includesProps(includes []prompt.Include) table.Props {
	if len(includes) == 0 {
		return nil
	}
	texts := make([]string, 0, prompt.MaxIncludes)
	// one stored before there was a limit may have more
	for _, i := range includes[:min(len(includes), prompt.MaxIncludes)] {
		texts = append(texts, i.String())
	}
	// no name has a line break
	return table.Props{{Name: "Includes", Value: table.String(strings.Join(texts, "\n"))}}
}

// includesIn reads it, and the same of a row of usesRows.
func includesIn(row table.Row) []prompt.Include {
	var all []prompt.Include
	for text := range strings.SplitSeq(row.Props.Get("Includes").Str(), "\n") {
		if i, ok := prompt.ParseInclude(text); ok {
			all = append(all, i)
		}
	}
	return all
}

// usesRows returns the rows of a version by which those whom it includes know of it: one for each
// name.
func usesRows(author prompt.UserID, id prompt.ID, n int64, includes []prompt.Include) []table.Row {
	var rows []table.Row
	var names []string
	includes = includes[:min(len(includes), prompt.MaxIncludes)]
	for _, i := range includes {
		if slices.Contains(names, i.Name) {
			continue
		}
		names = append(names, i.Name)
		ofName := slices.DeleteFunc(slices.Clone(includes), func(other prompt.Include) bool { return other.Name != i.Name })
		rows = append(rows, table.Row{Key: usesKey(author, i.Name, id, n), Props: append(table.Props{
			{Name: "PromptId", Value: table.String(string(id))},
			{Name: "Version", Value: table.Int64(n)},
		}, includesProps(ofName)...)})
	}
	return rows
}

// sideProps is what the row of a version says of other rows that stand next to it.
var sideProps = []string{"Version", "Includes", "Source", "Size"}

// sideKeys returns the rows that go with that of a version, without what is in them.
func sideKeys(author prompt.UserID, id prompt.ID, row table.Row) (keys []table.Key) {
	n := row.Props.Get("Version").Int()
	for _, row := range usesRows(author, id, n, includesIn(row)) {
		keys = append(keys, row.Key)
	}
	if row.Props.Get("Source").Str() != "" {
		keys = append(keys, sourceKey(author, id, n))
	}
	return keys
}

// versionSideProps returns what the row of a version says of those next to it; nil where there is
// none.
func (db *DB) versionSideProps(ctx context.Context, author prompt.UserID, id prompt.ID, n int64) (*table.Row, error) {
	return db.get(ctx, db.t.Prompts, versionKey(author, id, n), sideProps...)
}

// forgetSideOps returns the writes that remove the rows next to that of a version and what they all
// take, and refuses if others include it.
func (w *writer) forgetSideOps(ctx context.Context, p prompt.Prompt, c labelsRow, n int64) ([]table.Op, int64, error) {
	labels := c.on(n)
	var row *table.Row
	err := both(ctx, func(ctx context.Context) error {
		return w.db.unused(ctx, p, fmt.Sprintf("version %d of this prompt", n), func(i prompt.Include) bool {
			return i.Version == n || slices.Contains(labels, i.Label)
		})
	}, func(ctx context.Context) (err error) {
		row, err = w.db.versionSideProps(ctx, w.author, w.id, n)
		return err
	})
	if err != nil || row == nil {
		return nil, 0, err
	}
	var ops []table.Op
	for _, key := range sideKeys(w.author, w.id, *row) {
		ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: table.Any}})
	}
	return ops, sizeIn(*row), nil
}

// A Use is a version of a prompt that includes another one.
type Use struct {
	ID       prompt.ID // of the prompt that includes the other
	Name     string
	Title    string
	Version  int64            // the highest that does
	Includes []prompt.Include // what it includes of the other
}

const (
	maxUses     = 100 // prompts that UsedBy looks at
	maxNamed    = 5   // that an error names
	maxUsesRead = 400 // rows of one name: a prompt has one for each of its versions
)

// UsedBy returns which prompts of the same author include a prompt, by any name that leads to it,
// and whether there are more.
func (db *DB) UsedBy(ctx context.Context, p prompt.Prompt) (uses []Use, more bool, err error) {
	return db.usedBy(ctx, p, maxUses, func(prompt.Include) bool { return true })
}

// Unused returns an error that names prompts which include a prompt, where there are any.
func (db *DB) Unused(ctx context.Context, p prompt.Prompt) error {
	return db.unused(ctx, p, "this prompt", func(prompt.Include) bool { return true })
}

// unlabelled returns an error that names prompts which include a prompt by one of some labels,
// where there are any.
func (db *DB) unlabelled(ctx context.Context, p prompt.Prompt, labels []string) error {
	return db.unused(ctx, p, "the label "+strings.Join(labels, " or "), func(i prompt.Include) bool { return slices.Contains(labels, i.Label) })
}

func (db *DB) unused(ctx context.Context, p prompt.Prompt, what string, counts func(prompt.Include) bool) error {
	uses, more, err := db.usedBy(ctx, p, maxNamed, counts)
	if err != nil || len(uses) == 0 {
		return err
	}
	names := make([]string, len(uses))
	for i, u := range uses {
		names[i] = fmt.Sprintf("%q in version %d", u.Name, u.Version)
	}
	text := strings.Join(names, ", ")
	if more {
		text += " and others"
	}
	return fault.New(fault.Conflict, what+" is included by "+text+"; change or delete those first")
}

// usedBy returns the first prompts that include a prompt in a way that counts. Those that are
// deleted do not.
func (db *DB) usedBy(ctx context.Context, p prompt.Prompt, most int, counts func(prompt.Include) bool) (uses []Use, more bool, err error) {
	names := slices.Concat(ownNames(p), p.OldNames)
	found := make([][]table.Row, len(names))
	truncated := make([]bool, len(names))
	g, gctx := errgroup.WithContext(ctx)
	for i, name := range names {
		g.Go(func() (err error) {
			r := table.Prefix(authorPartition(p.AuthorID), usesOf(name))
			found[i], truncated[i], err = db.budget().rows(gctx, db.t.Prompts, r, maxUsesRead)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, false, err
	}
	candidates := map[prompt.ID]*Use{}
	for i, rows := range found {
		more = more || truncated[i]
		if len(rows) == 0 || i >= len(ownNames(p)) && !db.isNameOf(ctx, p, names[i]) {
			continue
		}
		for _, row := range rows {
			collect(candidates, row, p.ID, names[i], counts)
		}
	}
	living, more2, err := db.living(ctx, p.AuthorID, candidates, most)
	return living, more || more2, err
}

// isNameOf reports whether an old name of a prompt still leads to it, or may.
func (db *DB) isNameOf(ctx context.Context, p prompt.Prompt, name string) bool {
	row, err := db.get(ctx, db.t.Prompts, nameKey(p.AuthorID, name))
	return err != nil || row != nil && prompt.ID(row.Props.Get("PromptId").Str()) == p.ID
}

// collect adds what a row says to those who include a prompt. The hash of another name may be the
// same.
func collect(uses map[prompt.ID]*Use, row table.Row, of prompt.ID, name string, counts func(prompt.Include) bool) {
	id, n, ok := parseUses(row.Row)
	includes := slices.DeleteFunc(includesIn(row), func(i prompt.Include) bool { return i.Name != name || !counts(i) })
	if !ok || id == of || len(includes) == 0 {
		return
	}
	if u := uses[id]; u == nil || n > u.Version {
		uses[id] = &Use{ID: id, Version: n, Includes: includes}
	}
}

// living returns the first of those that are not deleted, the newest first, with their names.
func (db *DB) living(ctx context.Context, author prompt.UserID, candidates map[prompt.ID]*Use, most int) ([]Use, bool, error) {
	all := make([]*Use, 0, len(candidates))
	for _, u := range candidates {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *Use) int { return -cmp.Compare(a.ID, b.ID) })
	var uses []Use
	more := len(all) > maxUses
	for page := range slices.Chunk(all[:min(len(all), maxUses)], maxParallel) {
		g, gctx := errgroup.WithContext(ctx)
		for i, u := range page {
			g.Go(func() error {
				row, err := db.get(gctx, db.t.Prompts, mineKey(author, u.ID))
				if err != nil {
					return err
				}
				if row == nil || row.Props.Get("IsDeleted").Bool() {
					page[i] = nil
					return nil
				}
				u.Name, u.Title = row.Props.Get("Name").Str(), row.Props.Get("Title").Str()
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return nil, false, err
		}
		for _, u := range page {
			if u != nil && len(uses) == most {
				return uses, true, nil
			}
			if u != nil {
				uses = append(uses, *u)
			}
		}
	}
	return uses, more, nil
}

// checkUses compares the rows of what a version includes with the version.
func (db *DB) checkUses(ctx context.Context, rec record, v prompt.Version, row table.Row, differ func(string, table.Key, string, ...any)) error {
	includes := v.Includes()
	if includesProps(includes).Get("Includes") != row.Props.Get("Includes") {
		differ(db.t.Prompts, row.Key, "does not say what its text includes")
	}
	for _, want := range usesRows(rec.AuthorID, rec.ID, v.Number, includes) {
		got, err := db.get(ctx, db.t.Prompts, want.Key)
		switch {
		case err != nil:
			return err
		case got == nil:
			differ(db.t.Prompts, want.Key, "is missing")
		case !got.Props.Equal(want.Props):
			differ(db.t.Prompts, want.Key, "is out of date: %s", unlike(got.Props, want.Props))
		}
	}
	return nil
}

// usesRow returns the row that must be at a key, and nil where there must be none.
func (db *DB) usesRow(ctx context.Context, author prompt.UserID, key table.Key) (*table.Row, error) {
	id, n, ok := parseUses(key.Row)
	if !ok {
		return nil, nil
	}
	version, err := db.versionSideProps(ctx, author, id, n)
	if err != nil || version == nil {
		return nil, err
	}
	for _, row := range usesRows(author, id, n, includesIn(*version)) {
		if row.Key == key {
			return &row, nil
		}
	}
	return nil, nil
}

// purgeVersions removes the versions of a prompt, and the rows that go with them before them.
func (db *DB) purgeVersions(ctx context.Context, author prompt.UserID, id prompt.ID) error {
	r := table.Prefix(promptKey(author, id).Partition, versionsOf(id))
	r.Select = sideProps
	return db.removeAll(ctx, r, func(rows []table.Row) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(maxParallel)
		for _, row := range rows {
			for _, key := range sideKeys(author, id, row) {
				g.Go(func() error { return db.remove(ctx, db.t.Prompts, key) })
			}
		}
		return g.Wait()
	})
}
