package truth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// VersionSideProps returns what the row of a version says of those next to it; nil where there is
// none.
func (db *Reader) VersionSideProps(ctx context.Context, author prompt.UserID, id prompt.ID,
	n int64,
) (*table.Row, error) {
	return db.GetRow(ctx, db.T.Prompts, schema.VersionKey(author, id, n), schema.SideProps...)
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
func (db *Reader) UsedBy(ctx context.Context, p prompt.Prompt) (uses []Use, more bool, err error) {
	return db.usedBy(ctx, p, maxUses, func(prompt.Include) bool { return true })
}

// Unused returns an error that names prompts which include a prompt, where there are any.
func (db *Reader) Unused(ctx context.Context, p prompt.Prompt) error {
	return db.CheckUses(ctx, p, "this prompt", func(prompt.Include) bool { return true })
}

// Unlabelled returns an error that names prompts which include a prompt by one of some labels,
// where there are any.
func (db *Reader) Unlabelled(ctx context.Context, p prompt.Prompt, labels []string) error {
	return db.CheckUses(ctx, p, "the label "+strings.Join(labels, " or "), func(i prompt.Include) bool {
		return slices.Contains(labels, i.Label)
	})
}

// CheckUses refuses a change while prompts include p in a way that counts. The change is called
// what.
func (db *Reader) CheckUses(ctx context.Context, p prompt.Prompt, what string, counts func(prompt.Include) bool) error {
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
func (db *Reader) usedBy(ctx context.Context, p prompt.Prompt, most int,
	counts func(prompt.Include) bool,
) (uses []Use, more bool, err error) {
	names := p.Names()
	found := make([][]table.Row, len(names))
	truncated := make([]bool, len(names))
	g, gctx := errgroup.WithContext(ctx)
	for i, name := range names {
		g.Go(func() (err error) {
			r := table.Prefix(schema.AuthorPartition(p.AuthorID), schema.UsesOf(name))
			found[i], truncated[i], err = db.Budget().Rows(gctx, db.T.Prompts, r, maxUsesRead)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, false, err
	}
	candidates := map[prompt.ID]*Use{}
	for i, rows := range found {
		more = more || truncated[i]
		if len(rows) == 0 || i >= len(p.OwnNames()) && !db.isNameOf(ctx, p, names[i]) {
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
func (db *Reader) isNameOf(ctx context.Context, p prompt.Prompt, name string) bool {
	row, err := db.GetRow(ctx, db.T.Prompts, schema.NameKey(p.AuthorID, name))
	return err != nil || row != nil && prompt.ID(row.Props.Get("PromptId").Str()) == p.ID
}

// collect adds what a row says to those who include a prompt. The hash of another name may be the
// same.
func collect(uses map[prompt.ID]*Use, row table.Row, of prompt.ID, name string, counts func(prompt.Include) bool) {
	id, n, ok := schema.ParseUses(row.Row)
	includes := slices.DeleteFunc(schema.IncludesIn(row), func(i prompt.Include) bool {
		return i.Name != name || !counts(i)
	})
	if !ok || id == of || len(includes) == 0 {
		return
	}
	if u := uses[id]; u == nil || n > u.Version {
		uses[id] = &Use{ID: id, Version: n, Includes: includes}
	}
}

// living returns the first of those that are not deleted, the newest first, with their names.
func (db *Reader) living(ctx context.Context, author prompt.UserID, candidates map[prompt.ID]*Use,
	most int,
) ([]Use, bool, error) {
	all := make([]*Use, 0, len(candidates))
	for _, u := range candidates {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b *Use) int { return -cmp.Compare(a.ID, b.ID) })
	var uses []Use
	more := len(all) > maxUses
	for page := range slices.Chunk(all[:min(len(all), maxUses)], rowstore.MaxParallel) {
		g, gctx := errgroup.WithContext(ctx)
		for i, u := range page {
			g.Go(func() error {
				row, err := db.GetRow(gctx, db.T.Prompts, schema.MineKey(author, u.ID))
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
