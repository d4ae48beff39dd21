package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// names are the rows of names that stood in the way of a write, by row key; nil for one that is
// gone since.
type names map[string]*table.Row

// free reports whether a prompt may take a name: as far as is known no prompt has it, or none any
// more.
func (n names) free(key table.Key, id prompt.ID) bool {
	row := n[key.Row]
	return row == nil || prompt.ID(row.Props.Get("PromptId").Str()) == id || schema.IsRedirect(*row) ||
		row.Props.Get("IsDeleted").Bool()
}

// Op returns the write of a row of a name that the prompt takes, or has where mine says so. The
// insert is the reservation.
func (n names) Op(key table.Key, props table.Props, mine bool) table.Op {
	row := n[key.Row]
	switch {
	case row != nil:
		return table.Op{Kind: table.Replace, Row: table.Row{Key: key, ETag: row.ETag, Props: props}}
	case mine:
		return table.Op{Kind: table.Upsert, Row: table.Row{Key: key, Props: props}}
	}
	return table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: props}}
}

// look reads the row of a name into n.
func (n names) look(ctx context.Context, db *Committer, key table.Key) error {
	row, err := db.GetRow(ctx, db.T.Prompts, key)
	if err == nil {
		n[key.Row] = row
	}
	return err
}

// lookAll reads the rows of two names, which may be the same, at once.
func (n names) lookAll(ctx context.Context, db *Committer, a, b table.Key) error {
	other := names{}
	err := rowstore.Both(ctx, func(ctx context.Context) error { return n.look(ctx, db, a) },
		func(ctx context.Context) error {
			if a == b {
				return nil
			}
			return other.look(ctx, db, b)
		})
	maps.Copy(n, other)
	return err
}

// inTheWay reports whether a batch failed at a row of a name, and reads that row: the next batch
// knows of it. Only a name that was chosen is worth the read; every other makes way for the name
// that is there.
func (w *Writer) inTheWay(ctx context.Context, err error, chosen string) (bool, error) {
	var failed *table.OpError
	if !errors.As(err, &failed) || !strings.HasPrefix(failed.Key.Row, schema.NamePrefix) {
		return false, nil
	}
	if failed.Key == schema.NameKey(w.author, chosen) || errors.Is(err, table.ErrConflict) {
		return true, w.Names.look(ctx, w.db, failed.Key)
	}
	w.Names[failed.Key.Row] = &table.Row{
		Key:   failed.Key,
		Props: table.Props{{Name: "Name", Value: table.String("of another prompt")}},
	}
	return true, nil
}

// name gives a prompt its name and slug as far as the names that are known to be taken allow it. A
// name that its author did not choose makes way for another's.
func (w *Writer) name(was *schema.Record, p *prompt.Prompt) error {
	free := func(name string) bool { return w.Names.free(schema.NameKey(p.AuthorID, name), p.ID) }
	if was == nil {
		chosen := p.Name
		slug, other := prompt.Slugs(cmp.Or(chosen, p.Title), p.ID)
		switch {
		case p.Slug != "" && free(p.Slug): // which it had elsewhere
		case free(slug):
			p.Slug = slug
		default:
			p.Slug = other
		}
		if chosen == "" {
			p.Name = p.Slug
		}
		if !free(p.Name) {
			return nameTaken(p.Name)
		}
		return nil
	}
	restored := was.Deleted() && !p.Deleted()
	_, other := prompt.Slugs(p.Name, p.ID)
	switch {
	case p.Name == "":
		p.Name = was.Name
	case free(p.Name):
	case restored && p.Name == was.Name:
		p.Name = other
	default:
		return nameTaken(p.Name)
	}
	if restored && !free(p.Slug) {
		p.Slug = other
	}
	return nil
}

func nameTaken(name string) error {
	return &fault.Error{
		Kind: fault.Conflict, Code: prompt.NameTaken,
		Text: "another prompt of yours has this name", Fields: []fault.Field{
			{Name: "name", Message: "choose a name that none of your prompts has, nor has as its slug", Value: name},
		},
	}
}

// sideOps returns the writes of a change in the partition of its prompt in addition to those of
// truth row and summary, and completes now, which will be committed in place of was, or for the
// first time where that is nil.
func (w *Writer) sideOps(ctx context.Context, was *schema.Record, now *schema.Record) ([]table.Op, error) {
	restored := was != nil && was.Deleted() && !now.Deleted()
	if restored { // others may have taken what it was called
		if err := w.Names.lookAll(ctx, w.db, schema.NameKey(w.author, was.Name),
			schema.NameKey(w.author, was.Slug)); err != nil {
			return nil, err
		}
	}
	if err := w.name(was, &now.Prompt); err != nil {
		return nil, err
	}
	files, err := w.putFiles(ctx, was, &now.Prompt)
	if err != nil {
		return nil, err
	}
	var c schema.LabelsRow
	if w.Labels != nil {
		c = *w.Labels
	}
	before, by, ruled := c, now.By, named(was, now.Prompt)
	if err := w.mayMove(ctx, ruled, c, now.Labels, now.Version, by); err != nil {
		return nil, err
	}
	by.Follows = now.Follows
	c, ops := w.moveOps(c, now.Labels, now.Version, by, 0)
	now.Labels, now.By, w.more = nil, prompt.Actor{}, schema.Usage{}
	left, err := w.renamed(ctx, was, ruled, &c, by)
	if err != nil {
		return nil, err
	}
	ops = append(ops, left...)
	if err := c.TooMany(); err != nil {
		return nil, err
	}
	if now.InProduction, err = w.db.Released(ctx, was, now.Prompt, c); err != nil {
		return nil, err
	}
	if was != nil && !prompt.IsWorkspace(w.author) &&
		schema.NameProps(was.Prompt, before).Equal(schema.NameProps(now.Prompt, c)) {
		return nil, nil
	}
	if now.Source != nil && now.Source.State == "" {
		now.Source.State = now.State(c.On(now.Version))
	}
	ops = append(ops, w.changeOps(was, now.Prompt, by, before, c)...)
	if was != nil && !was.Deleted() && now.Deleted() {
		ops = append(ops, w.closeAll(&c, now.Prompt, by)...)
	}
	versions, size := w.versionOps(was, *now)
	now.Source, now.Made, now.Follows = nil, prompt.Made{}, false
	c.Bytes += size
	c.Files += files
	if err := w.grows(before, c, was == nil); err != nil {
		return nil, err
	}
	ops = append(append(ops, c.Of(now.Prompt).Op(w.author, w.id)), versions...)
	old, err := w.renameOps(ctx, was, now)
	if err != nil {
		return nil, err
	}
	ops = append(ops, old...)
	return append(ops, w.nameOps(was, *now, c)...), w.sendFiles(ctx)
}

// nameOps returns the writes of the rows of a prompt's name and slug.
func (w *Writer) nameOps(was *schema.Record, now schema.Record, c schema.LabelsRow) []table.Op {
	props := schema.NameProps(now.Prompt, c)
	var ops []table.Op
	for _, name := range now.OwnNames() {
		mine := was != nil && !was.Deleted() && (name == was.Name || name == was.Slug)
		ops = append(ops, w.Names.Op(schema.NameKey(w.author, name), props, mine))
	}
	return ops
}

// versionOps returns the inserts of the versions that have no rows yet, and what they take.
func (w *Writer) versionOps(was *schema.Record, now schema.Record) (ops []table.Op, size int64) {
	insert := func(v prompt.Version, kept int) {
		row := schema.VersionRow(w.author, w.id, v, kept)
		size += schema.SizeIn(row)
		ops = append(ops, table.Op{Kind: table.Insert, Row: row})
		for _, row := range schema.UsesRows(w.author, w.id, v.Number, v.Includes()) {
			ops = append(ops, table.Op{Kind: table.Upsert, Row: row}) // the number is taken by the other
		}
	}
	if was == nil || now.Last > was.Last {
		v, kept := now.Current(), 0
		if now.Source != nil {
			v.Source = now.Source.Format
			row := schema.SourceRow(w.author, w.id, v.Number, *now.Source)
			kept = len(schema.JoinedText(row, "Packed"))
			// the number is taken by the other here too
			ops = append(ops, table.Op{Kind: table.Upsert, Row: row})
		}
		insert(v, kept)
	}
	return ops, size
}

// formerOps makes names that a new prompt had elsewhere lead to it, where they lead to nothing.
func (w *Writer) formerOps(ctx context.Context, now *schema.Record) ([]table.Op, error) {
	now.OldNames = slices.DeleteFunc(slices.Clone(now.OldNames), func(name string) bool {
		return slices.Contains(now.OwnNames(), name)
	})
	var ops []table.Op
	for _, name := range now.OldNames {
		key := schema.NameKey(w.author, name)
		if _, known := w.Names[key.Row]; !known {
			if err := w.Names.look(ctx, w.db, key); err != nil {
				return nil, err
			}
		}
		if w.Names[key.Row] == nil {
			ops = append(ops, w.Names.Op(key, schema.Redirect(w.id), false))
		}
	}
	return ops, nil
}

// renameOps makes a name that the prompt had until now lead to it, and lets the oldest such name go
// where they are too many.
func (w *Writer) renameOps(ctx context.Context, was *schema.Record, now *schema.Record) ([]table.Op, error) {
	if was == nil {
		return w.formerOps(ctx, now)
	}
	if now.Name == was.Name {
		return nil, nil
	}
	now.OldNames = slices.DeleteFunc(slices.Clone(was.OldNames), func(name string) bool { return name == now.Name })
	var ops []table.Op
	if was.Name != now.Slug && w.Names.free(schema.NameKey(w.author, was.Name), w.id) {
		now.OldNames = append(now.OldNames, was.Name)
		ops = append(ops, w.Names.Op(schema.NameKey(w.author, was.Name), schema.Redirect(w.id), true))
	}
	for len(now.OldNames) > prompt.MaxOldNames {
		key := schema.NameKey(w.author, now.OldNames[0])
		now.OldNames = now.OldNames[1:]
		row, err := w.db.GetRow(ctx, w.db.T.Prompts, key)
		if err != nil {
			return nil, err
		}
		if row != nil && schema.IsRedirect(*row) && prompt.ID(row.Props.Get("PromptId").Str()) == w.id {
			ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: row.ETag}})
		}
	}
	return ops, nil
}

// forgetSideOps returns the writes that remove the rows next to that of a version and what they all
// take, and refuses if others include it.
func (w *Writer) forgetSideOps(ctx context.Context, p prompt.Prompt, c schema.LabelsRow,
	n int64,
) ([]table.Op, int64, error) {
	labels := c.On(n)
	var row *table.Row
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		return w.db.CheckUses(ctx, p, fmt.Sprintf("version %d of this prompt", n), func(i prompt.Include) bool {
			return i.Version == n || slices.Contains(labels, i.Label)
		})
	}, func(ctx context.Context) (err error) {
		row, err = w.db.VersionSideProps(ctx, w.author, w.id, n)
		return err
	})
	if err != nil || row == nil {
		return nil, 0, err
	}
	var ops []table.Op
	for _, key := range schema.SideKeys(w.author, w.id, *row) {
		ops = append(ops, rowstore.Removal(key))
	}
	return ops, schema.SizeIn(*row), nil
}
