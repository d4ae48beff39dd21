package query

import (
	"context"
	"errors"
	"fmt"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Standing is what decides which versions of a prompt a reader gets, without any content.
type Standing struct {
	prompt.Prompt
	Viewer prompt.UserID // the reader
	labels schema.LabelsRow
	ruled  bool // whether a rule is for the label production
}

// Shows reports whether programs of the reader may get a version.
func (s Standing) Shows(n int64) bool {
	return s.visible() && s.labels.Has(n) && !s.labels.Recalled.Have(n) && truth.Shows(s.Viewer, s.Prompt, n)
}

func (s Standing) visible() bool { return schema.LocatorOf(s.Prompt).VisibleTo(s.Viewer) }

// Served returns the version that programs of the reader get who name none, 0 for none.
func (s Standing) Served() int64 {
	want := ForPrograms
	if s.ruled {
		want = WantedVersion{Label: prompt.Production}
	}
	n := want.in(s.Viewer, s.Prompt, &s.labels)
	if !s.Shows(n) {
		return 0
	}
	return n
}

// MaxStandings is how many prompts an owner may have for Standings.
const MaxStandings = 20_000

// TooManyPrompts is the code of its refusal of an owner with more.
const TooManyPrompts fault.Code = "TOO_MANY_PROMPTS"

// standingProps is what is read of a truth row.
var standingProps = []string{
	"PromptId", "AuthorId", "Title", "Name", "Slug", "OldNames", "Description", "Version",
	"LastVersion", "PublicFrom", "Visibility",
	"DeletedAt", "HiddenAt", "IsPurging", "Undescribed", "RowsVersion",
}

// Standings returns the prompts of an owner that a viewer may know of, the oldest first. Prompts
// with rows that cannot be read are left out.
func (db *Queries) Standings(ctx context.Context, viewer, owner prompt.UserID) ([]Standing, error) {
	rules, err := db.Rules(ctx, owner)
	if err != nil {
		return nil, err
	}
	var recs []schema.Record
	labels, unreadable := make(map[prompt.ID]schema.LabelsRow), make(map[prompt.ID]bool)
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		return db.eachStanding(ctx, table.Prefix(schema.AuthorPartition(owner), schema.LabelsPrefix),
			func(row table.Row) error {
				c, err := schema.ParseLabelsRow(row)
				id := prompt.ID(row.Props.Get("PromptId").Str())
				if labels[id] = c; err != nil {
					unreadable[id] = true
				}
				return nil
			})
	}, func(ctx context.Context) error {
		r := table.Range{Partition: schema.AuthorPartition(owner), From: "0", Select: standingProps}
		return db.eachStanding(ctx, r, func(row table.Row) error {
			rec, err := schema.ParseRecord(row)
			if !errors.Is(err, schema.ErrUnreadable) {
				recs = append(recs, rec)
				return err
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	var all []Standing
	for _, rec := range recs {
		c, has := labels[rec.ID]
		if !has {
			c = schema.LabelsRow{Last: rec.Last}
		}
		s := Standing{
			Prompt: rec.Prompt, Viewer: viewer, labels: c,
			ruled: rules.ForPrompt(prompt.Production, rec.Prompt) != nil,
		}
		if s.visible() && !rec.Purging && !unreadable[rec.ID] {
			all = append(all, s)
		}
	}
	return all, nil
}

func (db *Queries) eachStanding(ctx context.Context, r table.Range, do func(table.Row) error) error {
	n := 0
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, r) {
		if errors.Is(err, table.ErrDamaged) { // verify reports it
			continue
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if n++; n > MaxStandings {
			return fault.Coded(fault.Invalid, TooManyPrompts,
				fmt.Sprintf("the owner has more than %d prompts: take single ones, or a collection", MaxStandings))
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// Standing returns that of one prompt, which the viewer may know of.
func (db *Queries) Standing(ctx context.Context, viewer prompt.UserID, id prompt.ID) (Standing, error) {
	var c *schema.LabelsRow
	rec, err := db.shown(ctx, viewer, id, standingProps, func(ctx context.Context, author prompt.UserID) (err error) {
		c, err = db.LabelsRow(ctx, author, id)
		return err
	})
	if err != nil {
		return Standing{}, err
	}
	if c == nil {
		c = &schema.LabelsRow{Last: rec.Last}
	}
	unruled, err := db.Unruled(ctx, rec.Prompt)
	return Standing{Prompt: rec.Prompt, Viewer: viewer, labels: *c, ruled: !unruled}, err
}
