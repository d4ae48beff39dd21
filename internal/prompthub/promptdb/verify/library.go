package verify

import (
	"context"
	"errors"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The rows of names, labels and versions stand in the partition of their prompt and are written in
// one batch with its truth row, or, where only labels change, with the labels row. So no repair
// message is needed for them, and no crash leaves them half written. This file finds and repairs
// damage by a defect or by hand.

// checkLibrary compares the side rows of a truth row with it.
func (db *Verifier) checkLibrary(ctx context.Context, rec schema.Record,
	differ func(name string, key table.Key, format string, args ...any),
) error {
	key := schema.LabelsKey(rec.AuthorID, rec.ID)
	row, err := db.expected(ctx, key, differ)
	if err != nil || row == nil {
		return err
	}
	c, err := schema.ParseLabelsRow(*row)
	if err != nil {
		differ(db.T.Prompts, key, "cannot be read: %v", err)
		return nil
	}
	for label, n := range c.Labels {
		if !c.Has(n) && (n != 0 || label != prompt.Production) {
			differ(db.T.Prompts, key, "has label %s on version %d, which does not exist", label, n)
		}
	}
	if want := c.Of(rec.Prompt).Row(rec.AuthorID, rec.ID); !row.Props.Equal(want.Props) {
		differ(db.T.Prompts, key, "does not follow the truth: %s", unlike(row.Props, want.Props))
	}
	if err := db.checkNames(ctx, rec, c, differ); err != nil {
		return err
	}
	if prompt.IsWorkspace(rec.AuthorID) {
		if err := errors.Join(db.checkOpen(ctx, rec, c, differ), db.checkRuled(ctx, rec, c, differ)); err != nil {
			return err
		}
	}
	return db.checkVersions(ctx, rec, c, differ)
}

// expected returns a row that must stand next to a truth row, or says that it is missing.
func (db *Verifier) expected(ctx context.Context, key table.Key,
	differ func(string, table.Key, string, ...any),
) (*table.Row, error) {
	row, err := db.GetRow(ctx, db.T.Prompts, key)
	if err == nil && row == nil {
		differ(db.T.Prompts, key, "is missing")
	}
	return row, err
}

// checkNames compares the rows of a prompt's name and slug. Those of a deleted prompt another one
// may have taken.
func (db *Verifier) checkNames(ctx context.Context, rec schema.Record, c schema.LabelsRow,
	differ func(string, table.Key, string, ...any),
) error {
	for _, name := range rec.OwnNames() {
		key := schema.NameKey(rec.AuthorID, name)
		row, err := db.GetRow(ctx, db.T.Prompts, key)
		if err != nil {
			return err
		}
		mine := row != nil && prompt.ID(row.Props.Get("PromptId").Str()) == rec.ID
		switch {
		case mine && !row.Props.Equal(schema.NameProps(rec.Prompt, c)):
			differ(db.T.Prompts, key, "is out of date: %s", unlike(row.Props, schema.NameProps(rec.Prompt, c)))
		case !mine && !rec.Deleted() && row == nil:
			differ(db.T.Prompts, key, "is missing")
		case !mine && !rec.Deleted():
			differ(db.T.Prompts, key, "leads to another prompt")
		}
	}
	return nil
}

// checkVersions looks for each version that a prompt must have, and compares the latest with the
// truth row.
func (db *Verifier) checkVersions(ctx context.Context, rec schema.Record, c schema.LabelsRow,
	differ func(string, table.Key, string, ...any),
) error {
	next, size := rec.Last, int64(0)
	named := make(map[string]prompt.File)
	missing := func(down int64) {
		for ; next > down; next-- {
			if !c.Gaps.Have(next) {
				differ(db.T.Prompts, schema.VersionKey(rec.AuthorID, rec.ID, next), "is missing")
			}
		}
	}
	r := table.Prefix(schema.PromptKey(rec.AuthorID, rec.ID).Partition, schema.VersionsOf(rec.ID))
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, r) {
		if err != nil {
			return err
		}
		id, n, ok := schema.ParseVersion(row.Row)
		if !ok || id != rec.ID || n > rec.Last {
			continue // checkLibraryRow reports it
		}
		missing(n)
		next, size = n-1, size+schema.SizeIn(row)
		if c.Gaps.Have(n) {
			differ(db.T.Prompts, row.Key, "was deleted and is there")
		}
		v := schema.ParseVersionRow(row)
		if (v.Recall != nil) != c.Recalled.Have(n) {
			differ(db.T.Prompts, row.Key,
				"was recalled as the labels row says, or as the version does, and not as both")
		}
		if hash := v.Digest(); v.Number != n || hash != v.Hash {
			differ(db.T.Prompts, row.Key, "does not hold the content that its hash names")
		} else if n == rec.Version && hash != rec.Current().Hash {
			differ(db.T.Prompts, row.Key, "is the latest version, and the prompt says something else")
		}
		for _, f := range v.Files {
			named[f.SHA256] = f
		}
		if err := db.checkSource(ctx, rec, v, differ); err != nil {
			return err
		}
		if err := db.checkUses(ctx, rec, v, row, differ); err != nil {
			return err
		}
	}
	missing(0)
	if err := db.checkFiles(ctx, rec.ID, named, differ); err != nil {
		return err
	}
	if size != c.Bytes {
		differ(db.T.Prompts, schema.LabelsKey(rec.AuthorID, rec.ID),
			"says that its versions take %d bytes, which are %d", c.Bytes, size)
	}
	return nil
}

// checkLibraryRow reports a row of a name, of labels or of a version that no prompt has.
func (db *Verifier) checkLibraryRow(ctx context.Context, row table.Row) ([]Difference, error) {
	author, okUser := schema.ParseUser(row.Partition)
	id, okID := schema.ParseID(row.Props.Get("PromptId").Str())
	d := Difference{Table: db.T.Prompts, Key: row.Key, author: author, id: id, stray: &row}
	if !okUser || !okID || !schema.LibraryKey(row.Row, id) {
		d.What, d.id = "is no row that this version writes", ""
		return []Difference{d}, nil
	}
	rec, ok, err := db.judge(ctx, author, id)
	switch {
	case err != nil || !ok:
		return nil, err
	case rec == nil:
		d.What = "belongs to a prompt that does not exist"
	case rec.Purging || schema.HasLibraryRow(*rec, row.Key):
		return nil, nil
	default:
		d.What = "should not be there"
	}
	if rec != nil {
		if wanted, err := db.wantedBeside(ctx, author, row.Key); err != nil || wanted {
			return nil, err // a difference in it is found with the version
		}
	}
	return []Difference{d}, nil
}

// repairLibrary writes what follows from a prompt next to its truth row once more, and removes a
// row that should not be there. A version that is gone stays gone, unless it is the one that the
// prompt holds.
func (db *Verifier) repairLibrary(ctx context.Context, d Difference) error {
	w := db.commit.Writer(d.author, d.id)
	w.Holding = true // these writes need no repair message
	rec, err := w.Load(ctx)
	if err != nil || rec == nil || rec.Purging || rec.Lease != nil {
		return err
	}
	var c schema.LabelsRow
	var ops []table.Op
	if w.Labels != nil {
		c = *w.Labels
	} else { // then nothing but the truth row keeps a purge from being overtaken
		ops = append(ops, table.Op{Kind: table.Merge, Row: table.Row{
			Key: schema.PromptKey(d.author, d.id), ETag: rec.ETag,
			Props: table.Props{{Name: "RowsVersion", Value: table.Int32(rec.RowsVersion)}},
		}})
	}
	if c.Recalled, err = db.recalled(ctx, d, c.Recalled); err != nil {
		return err
	}
	labels := len(ops)
	ops = append(ops, c.Of(rec.Prompt).Op(d.author, d.id))
	if !rec.Deleted() {
		for _, name := range rec.OwnNames() {
			ops = append(ops, w.Names.Op(schema.NameKey(d.author, name), schema.NameProps(rec.Prompt, c), true))
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
	if c.Bytes, err = db.VersionsTake(ctx, d.author, d.id, ops); err != nil {
		return err
	}
	ops[labels] = c.Of(rec.Prompt).Op(d.author, d.id)
	err = db.Write(ctx, db.T.Prompts, ops)
	if err != nil && !rowstore.Overtaken(err) { // a faster writer wrote the right rows
		return rowstore.Unavailable(err)
	}
	return nil
}

// recalled returns the numbers of the versions of a prompt whose rows say that they were recalled,
// and of those that a labels row says were, where the row of the version is not there.
func (db *Verifier) recalled(ctx context.Context, d Difference, said schema.Gaps) (schema.Gaps, error) {
	r := table.Prefix(schema.PromptKey(d.author, d.id).Partition, schema.VersionsOf(d.id))
	r.Select = []string{"Recall"}
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, r) {
		if errors.Is(err, table.ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		_, n, _ := schema.ParseVersion(row.Row)
		switch has := said.Have(n); {
		case schema.RecallIn(row) != nil && !has:
			said = said.And(n)
		case schema.RecallIn(row) == nil && has:
			said = said.Without(n)
		}
	}
	return said, nil
}

// rowAgain returns the writes after which a row of a version, or next to one, is as it should be.
// It reports false where the row needs none any more.
func (db *Verifier) rowAgain(ctx context.Context, d Difference, rec schema.Record,
	c schema.LabelsRow,
) (ops []table.Op, ok bool, err error) {
	if strings.HasPrefix(d.Key.Row, schema.UsesPrefix) {
		row, err := db.usesRow(ctx, d.author, d.Key)
		if err != nil || row == nil {
			return nil, false, err
		}
		return []table.Op{{Kind: table.Upsert, Row: *row}}, true, nil
	}
	if _, n, ok := schema.ParseSource(d.Key.Row); ok {
		ops, err := db.withoutSource(ctx, d, n)
		return ops, err == nil, err
	}
	_, n, isVersion := schema.ParseVersion(d.Key.Row)
	switch {
	case isVersion && c.Gaps.Have(n):
		ops = append(ops, rowstore.Removal(d.Key))
	case isVersion && n == rec.Version:
		v, kept, err := db.withSource(ctx, rec)
		if err != nil {
			return nil, false, err
		}
		row, err := db.VersionAt(ctx, d.author, d.id, n, "Recall", "MadeThereBy", "MadeThereAt")
		switch {
		case err != nil && !errors.Is(err, table.ErrDamaged):
			return nil, false, err
		case row != nil:
			v.Recall, v.Made = schema.RecallIn(*row), schema.MadeIn(*row)
		case c.Recalled.Have(n): // why is lost
			v.Recall = new(prompt.Recall)
		}
		for _, row := range append(schema.UsesRows(d.author, d.id, n, rec.Content().Includes()),
			schema.VersionRow(d.author, d.id, v, kept)) {
			ops = append(ops, table.Op{Kind: table.Upsert, Row: row})
		}
	}
	return ops, true, nil
}

// withSource returns the version that a prompt holds, with the file that stands next to it if that
// is the one of the version, and how much it takes.
func (db *Verifier) withSource(ctx context.Context, rec schema.Record) (v prompt.Version, kept int, err error) {
	v = rec.Current()
	row, err := db.GetRow(ctx, db.T.Prompts, schema.SourceKey(rec.AuthorID, rec.ID, v.Number))
	if errors.Is(err, table.ErrDamaged) || err == nil && row == nil {
		return v, 0, nil
	}
	if err != nil {
		return v, 0, err
	}
	s, unreadable := schema.ParseSourceRow(*row)
	if unreadable == nil && (v.Undescribed || s.Hash() == v.FileHash) {
		v.Source, kept = s.Format, len(schema.JoinedText(*row, "Packed"))
	}
	return v, kept, nil
}

// checkSource looks for the file that a version was made of.
func (db *Verifier) checkSource(ctx context.Context, rec schema.Record, v prompt.Version,
	differ func(string, table.Key, string, ...any),
) error {
	if v.Source == "" {
		return nil
	}
	key := schema.SourceKey(rec.AuthorID, rec.ID, v.Number)
	row, err := db.expected(ctx, key, differ)
	if err != nil || row == nil {
		return err
	}
	s, err := schema.ParseSourceRow(*row)
	if err != nil {
		differ(db.T.Prompts, key, "cannot be read: %v", err)
	} else if s.Format != v.Source || !v.Undescribed && s.Hash() != v.FileHash {
		differ(db.T.Prompts, key, "is not what its version names")
	}
	return nil
}

// wantedBeside reports whether a row is one that the row of a version, or of a proposal, says is
// next to it.
func (db *Verifier) wantedBeside(ctx context.Context, author prompt.UserID, key table.Key) (bool, error) {
	if strings.HasPrefix(key.Row, schema.UsesPrefix) {
		want, err := db.usesRow(ctx, author, key)
		return want != nil, err
	}
	if id, n, ok := schema.ParseOpen(key.Row); ok {
		p, err := db.commit.Proposal(ctx, author, id, n)
		if fault.Of(err) == fault.NotFound {
			return false, nil
		}
		return p.State == prompt.ProposalOpen && schema.OpenKey(author, p.At, id, n) == key, err
	}
	id, n, ok := schema.ParseSource(key.Row)
	if !ok {
		return false, nil
	}
	row, err := db.VersionSideProps(ctx, author, id, n)
	return row != nil && row.Props.Get("Source").Str() != "", err
}

// withoutSource returns the writes by which a version is without a file that is lost.
func (db *Verifier) withoutSource(ctx context.Context, d Difference, n int64) ([]table.Op, error) {
	var ops []table.Op
	version, err := db.VersionSideProps(ctx, d.author, d.id, n)
	if version != nil {
		ops = append(ops, table.Op{Kind: table.Merge, Row: table.Row{
			Key: version.Key, ETag: version.ETag, Props: table.Props{{Name: "Source", Value: table.String("")}},
		}})
	}
	if err != nil {
		return nil, err
	}
	row, err := db.GetRow(ctx, db.T.Prompts, d.Key)
	if row != nil {
		ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}})
	}
	return ops, err
}

// checkUses compares the rows of what a version includes with the version.
func (db *Verifier) checkUses(ctx context.Context, rec schema.Record, v prompt.Version, row table.Row,
	differ func(string, table.Key, string, ...any),
) error {
	includes := v.Includes()
	if schema.IncludesProps(includes).Get("Includes") != row.Props.Get("Includes") {
		differ(db.T.Prompts, row.Key, "does not say what its text includes")
	}
	for _, want := range schema.UsesRows(rec.AuthorID, rec.ID, v.Number, includes) {
		got, err := db.GetRow(ctx, db.T.Prompts, want.Key)
		switch {
		case err != nil:
			return err
		case got == nil:
			differ(db.T.Prompts, want.Key, "is missing")
		case !got.Props.Equal(want.Props):
			differ(db.T.Prompts, want.Key, "is out of date: %s", unlike(got.Props, want.Props))
		}
	}
	return nil
}

// usesRow returns the row that must be at a key, and nil where there must be none.
func (db *Verifier) usesRow(ctx context.Context, author prompt.UserID, key table.Key) (*table.Row, error) {
	id, n, ok := schema.ParseUses(key.Row)
	if !ok {
		return nil, nil
	}
	version, err := db.VersionSideProps(ctx, author, id, n)
	if err != nil || version == nil {
		return nil, err
	}
	for _, row := range schema.UsesRows(author, id, n, schema.IncludesIn(*version)) {
		if row.Key == key {
			return &row, nil
		}
	}
	return nil, nil
}
