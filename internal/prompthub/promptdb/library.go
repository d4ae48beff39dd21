package promptdb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The rows of names, labels and versions stand in the partition of their prompt and are written in
// one batch with its truth row, or, where only labels change, with the labels row. So no repair
// message is needed for them, and no crash leaves them half written. What follows here finds and
// repairs what a defect or a hand did to them.

// checkLibrary compares the side rows of a truth row with it.
func (db *DB) checkLibrary(ctx context.Context, rec record, differ func(name string, key table.Key, format string, args ...any)) error {
	key := labelsKey(rec.AuthorID, rec.ID)
	row, err := db.expected(ctx, key, differ)
	if err != nil || row == nil {
		return err
	}
	c, err := parseLabelsRow(*row)
	if err != nil {
		differ(db.t.Prompts, key, "cannot be read: %v", err)
		return nil
	}
	for label, n := range c.labels {
		if !c.has(n) {
			differ(db.t.Prompts, key, "has label %s on version %d, which does not exist", label, n)
		}
	}
	if want := c.of(rec.Prompt).row(rec.AuthorID, rec.ID); !row.Props.Equal(want.Props) {
		differ(db.t.Prompts, key, "does not follow the truth: %s", unlike(row.Props, want.Props))
	}
	if err := db.checkNames(ctx, rec, c, differ); err != nil {
		return err
	}
	return db.checkVersions(ctx, rec, c, differ)
}

// expected returns a row that must stand next to a truth row, or says that it is missing.
func (db *DB) expected(ctx context.Context, key table.Key, differ func(string, table.Key, string, ...any)) (*table.Row, error) {
	row, err := db.get(ctx, db.t.Prompts, key)
	if err == nil && row == nil {
		differ(db.t.Prompts, key, "is missing")
	}
	return row, err
}

// checkNames compares the rows of a prompt's name and slug. Those of a deleted prompt another one
// may have taken.
func (db *DB) checkNames(ctx context.Context, rec record, c labelsRow, differ func(string, table.Key, string, ...any)) error {
	for _, name := range ownNames(rec.Prompt) {
		key := nameKey(rec.AuthorID, name)
		row, err := db.get(ctx, db.t.Prompts, key)
		if err != nil {
			return err
		}
		mine := row != nil && prompt.ID(row.Props.Get("PromptId").Str()) == rec.ID
		switch {
		case mine && !row.Props.Equal(nameProps(rec.Prompt, c)):
			differ(db.t.Prompts, key, "is out of date: %s", unlike(row.Props, nameProps(rec.Prompt, c)))
		case !mine && !rec.Deleted() && row == nil:
			differ(db.t.Prompts, key, "is missing")
		case !mine && !rec.Deleted():
			differ(db.t.Prompts, key, "leads to another prompt")
		}
	}
	return nil
}

// ownNames returns the names that rows with copies lead from.
func ownNames(p prompt.Prompt) []string { return slices.Compact([]string{p.Name, p.Slug}) }

// checkVersions looks for each version that a prompt must have, and compares the latest with the
// truth row.
func (db *DB) checkVersions(ctx context.Context, rec record, c labelsRow, differ func(string, table.Key, string, ...any)) error {
	next, size := rec.Last, int64(0)
	missing := func(down int64) {
		for ; next > down; next-- {
			if !c.gaps.have(next) {
				differ(db.t.Prompts, versionKey(rec.AuthorID, rec.ID, next), "is missing")
			}
		}
	}
	r := table.Prefix(promptKey(rec.AuthorID, rec.ID).Partition, versionsOf(rec.ID))
	for row, err := range table.All(ctx, db.store, db.t.Prompts, r) {
		if err != nil {
			return err
		}
		id, n, ok := parseVersion(row.Row)
		if !ok || id != rec.ID || n > rec.Last {
			continue // checkLibraryRow reports it
		}
		missing(n)
		next, size = n-1, size+sizeIn(row)
		if c.gaps.have(n) {
			differ(db.t.Prompts, row.Key, "was deleted and is there")
		}
		v := parseVersionRow(row)
		if hash := v.Content.Hash(); v.Number != n || hash != v.Hash {
			differ(db.t.Prompts, row.Key, "does not hold the content that its hash names")
		} else if n == rec.Version && hash != rec.Content().Hash() {
			differ(db.t.Prompts, row.Key, "is the latest version, and the prompt has another content")
		}
		if err := db.checkSource(ctx, rec, v, differ); err != nil {
			return err
		}
		if err := db.checkUses(ctx, rec, v, row, differ); err != nil {
			return err
		}
	}
	missing(0)
	if size != c.bytes {
		differ(db.t.Prompts, labelsKey(rec.AuthorID, rec.ID), "says that its versions take %d bytes, which are %d", c.bytes, size)
	}
	return nil
}

// checkLibraryRow reports a row of a name, of labels or of a version that no prompt has.
func (db *DB) checkLibraryRow(ctx context.Context, row table.Row) ([]Difference, error) {
	author, okUser := parseUser(row.Partition)
	id, okID := parseID(row.Props.Get("PromptId").Str())
	d := Difference{Table: db.t.Prompts, Key: row.Key, author: author, id: id, stray: &row}
	if !okUser || !okID || !libraryKey(row.Row, id) {
		d.What, d.id = "is no row that this version writes", ""
		return []Difference{d}, nil
	}
	rec, ok, err := db.judge(ctx, author, id)
	switch {
	case err != nil || !ok:
		return nil, err
	case rec == nil:
		d.What = "belongs to a prompt that does not exist"
	case rec.purging || hasLibraryRow(*rec, row.Key):
		return nil, nil
	default:
		d.What = "should not be there"
	}
	if rec != nil {
		if wanted, err := db.wantedBeside(ctx, author, row.Key); err != nil || wanted {
			return nil, err // what differs in it is found with the version
		}
	}
	return []Difference{d}, nil
}

// isLibraryKey reports whether a row key of the table of truth rows is one of a name, of labels or
// of a version.
func isLibraryKey(row string) bool {
	return strings.HasPrefix(row, "!") && !strings.HasPrefix(row, minePrefix) && !strings.HasPrefix(row, idemPrefix)
}

// libraryKey reports whether a row key is one of those that stand next to a prompt.
func libraryKey(row string, id prompt.ID) bool {
	if strings.HasPrefix(row, namePrefix) {
		return true
	}
	labels, okLabels := parseLabels(row)
	version, _, okVersion := parseVersion(row)
	move, okMove := parseMove(row)
	user, _, okUses := parseUses(row)
	made, _, okSource := parseSource(row)
	return okLabels && labels == id || okVersion && version == id || okMove && move == id || okUses && user == id || okSource && made == id
}

// hasLibraryRow reports whether a prompt may have such a row.
func hasLibraryRow(rec record, key table.Key) bool {
	if _, n, ok := parseVersion(key.Row); ok {
		return n <= rec.Last
	}
	if _, _, ok := parseSource(key.Row); ok {
		return false // as its version says
	}
	if _, ok := parseMove(key.Row); ok {
		return true
	}
	is := func(name string) bool { return nameKey(rec.AuthorID, name) == key }
	return key == labelsKey(rec.AuthorID, rec.ID) || slices.ContainsFunc(ownNames(rec.Prompt), is) || slices.ContainsFunc(rec.OldNames, is)
}

// repairLibrary writes what follows from a prompt next to its truth row once more, and removes a
// row that should not be there. A version that is gone stays gone, unless it is the one that the
// prompt holds.
func (db *DB) repairLibrary(ctx context.Context, d Difference) error {
	w := db.writer(d.author, d.id)
	w.holding = true // what is written here needs no repair message
	rec, err := w.load(ctx)
	if err != nil || rec == nil || rec.purging || rec.lease != nil {
		return err
	}
	var c labelsRow
	var ops []table.Op
	if w.labels != nil {
		c = *w.labels
	} else { // then nothing but the truth row keeps a purge from being overtaken
		ops = append(ops, table.Op{Kind: table.Merge, Row: table.Row{
			Key: promptKey(d.author, d.id), ETag: rec.etag, Props: table.Props{{Name: "RowsVersion", Value: table.Int32(rec.rowsVersion)}},
		}})
	}
	labels := len(ops)
	ops = append(ops, c.of(rec.Prompt).op(d.author, d.id))
	if !rec.Deleted() {
		for _, name := range ownNames(rec.Prompt) {
			ops = append(ops, w.names.op(nameKey(d.author, name), nameProps(rec.Prompt, c), true))
		}
	}
	if d.stray == nil {
		again, ok, err := db.rowAgain(ctx, d, *rec, c)
		if err != nil || !ok {
			return err
		}
		ops = append(ops, again...)
	} else if !slices.ContainsFunc(ops, func(op table.Op) bool { return op.Row.Key == d.Key }) {
		ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: d.Key, ETag: d.stray.ETag}})
	}
	if c.bytes, err = db.versionsTake(ctx, d.author, d.id, ops); err != nil {
		return err
	}
	ops[labels] = c.of(rec.Prompt).op(d.author, d.id)
	err = db.write(ctx, db.t.Prompts, ops)
	if err != nil && !overtaken(err) { // who was faster wrote what is right
		return unavailable(err)
	}
	return nil
}

// rowAgain returns the writes after which a row of a version, or next to one, is as it should be.
// It reports false where the row needs none any more.
func (db *DB) rowAgain(ctx context.Context, d Difference, rec record, c labelsRow) (ops []table.Op, ok bool, err error) {
	if strings.HasPrefix(d.Key.Row, usesPrefix) {
		row, err := db.usesRow(ctx, d.author, d.Key)
		if err != nil || row == nil {
			return nil, false, err
		}
		return []table.Op{{Kind: table.Upsert, Row: *row}}, true, nil
	}
	if _, n, ok := parseSource(d.Key.Row); ok {
		ops, err := db.withoutSource(ctx, d, n)
		return ops, err == nil, err
	}
	_, n, isVersion := parseVersion(d.Key.Row)
	switch {
	case isVersion && c.gaps.have(n):
		ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: d.Key, ETag: table.Any}})
	case isVersion && n == rec.Version:
		for _, row := range append(usesRows(d.author, d.id, n, rec.Content().Includes()), versionRow(d.author, d.id, rec.Current(), 0)) {
			ops = append(ops, table.Op{Kind: table.Upsert, Row: row})
		}
	}
	return ops, true, nil
}

// purgeLibrary removes what stands next to a truth row that is being purged. The labels row goes
// first: no label moves after it.
func (db *DB) purgeLibrary(ctx context.Context, rec record) error {
	if err := db.remove(ctx, db.t.Prompts, labelsKey(rec.AuthorID, rec.ID)); err != nil {
		return err
	}
	partition := promptKey(rec.AuthorID, rec.ID).Partition
	if err := db.purgeVersions(ctx, rec.AuthorID, rec.ID); err != nil {
		return err
	}
	if err := db.removeAll(ctx, table.Prefix(partition, movesOf(rec.ID)), func([]table.Row) error { return nil }); err != nil {
		return err
	}
	for _, name := range slices.Concat(ownNames(rec.Prompt), rec.OldNames) {
		key := nameKey(rec.AuthorID, name)
		row, err := db.get(ctx, db.t.Prompts, key)
		if err != nil {
			return err
		}
		if row == nil || prompt.ID(row.Props.Get("PromptId").Str()) != rec.ID {
			continue // another prompt took it
		}
		err = db.write(ctx, db.t.Prompts, []table.Op{{Kind: table.Delete, Row: table.Row{Key: key, ETag: row.ETag}}})
		// it is being taken at this moment
		if err != nil && !errors.Is(err, table.ErrNotFound) && !errors.Is(err, table.ErrConflict) {
			return unavailable(err)
		}
	}
	return nil
}

// removeAll deletes the rows of a range of a partition of the truth table, batch by batch, and does
// something before each.
func (db *DB) removeAll(ctx context.Context, r table.Range, before func([]table.Row) error) error {
	for {
		rows, _, err := db.budget().rows(ctx, db.t.Prompts, r, table.MaxBatch)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := before(rows); err != nil {
			return err
		}
		ops := make([]table.Op, len(rows))
		for i, row := range rows {
			ops[i] = table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}}
		}
		if err := db.write(ctx, db.t.Prompts, ops); err != nil && !errors.Is(err, table.ErrNotFound) {
			return unavailable(err)
		}
	}
}
