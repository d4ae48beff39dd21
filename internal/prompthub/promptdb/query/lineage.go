package query

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Lineage is a prompt with all of its versions that programs of a viewer may get.
type Lineage struct {
	prompt.Prompt
	Labels   map[string]int64 // those on such a version
	Versions []prompt.Version // without their contents, the lowest first
	// whether programs that name no version get the one with the label production, or none
	Released bool
}

// MaxLineage is how many versions a lineage may have.
const MaxLineage = 2000

// TooManyVersions is the code of the refusal of a longer one.
const TooManyVersions fault.Code = "TOO_MANY_VERSIONS"

// lineageProps is what a lineage tells of a version.
var lineageProps = append([]string{"Described", "Description", "Includes", "FileHash"}, append(versionHeadProps, schema.FilesProps...)...)

// Lineage returns the versions of a prompt that programs of a viewer may get: it may see them, none
// was recalled, and none includes other prompts.
func (db *Queries) Lineage(ctx context.Context, viewer prompt.UserID, id prompt.ID) (Lineage, error) {
	var c *schema.LabelsRow
	var rows []table.Row
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			c, err = db.LabelsRow(ctx, author, id)
			return err
		}, func(ctx context.Context) (err error) {
			r := table.Prefix(schema.PromptKey(author, id).Partition, schema.VersionsOf(id))
			r.Select = lineageProps
			rows, _, err = db.Budget().Rows(ctx, db.T.Prompts, r, MaxLineage+1)
			return err
		})
	})
	if err != nil {
		return Lineage{}, err
	}
	if len(rows) > MaxLineage {
		return Lineage{}, fault.Coded(fault.Invalid, TooManyVersions, fmt.Sprintf("the prompt has more than %d versions: delete those that are not needed", MaxLineage))
	}
	if c == nil {
		c = &schema.LabelsRow{Last: rec.Last}
	}
	l := Lineage{Prompt: rec.Prompt, Labels: truth.ShownLabels(viewer, rec.Prompt, c)}
	there := make(map[int64]bool)
	for _, row := range slices.Backward(rows) {
		v := schema.ParseVersionRow(row)
		includes := len(schema.IncludesIn(row)) > 0
		if v.Recall != nil || includes || !c.Has(v.Number) || !truth.Shows(viewer, rec.Prompt, v.Number) || c.Recalled.Have(v.Number) {
			continue
		}
		l.Versions, there[v.Number] = append(l.Versions, v), true
	}
	_, l.Released = c.Labels[prompt.Production]
	if unruled, err := db.Unruled(ctx, rec.Prompt); err != nil {
		return Lineage{}, err
	} else if !unruled {
		l.Released = true
	}
	maps.DeleteFunc(l.Labels, func(_ string, n int64) bool { return !there[n] })
	return l, nil
}

// VersionsWith returns versions of a prompt of a viewer with their contents, some at once.
func (db *Queries) VersionsWith(ctx context.Context, l Lineage, of []int64, do func(prompt.Version) error) error {
	return rowstore.Each(ctx, len(of), contentsAtOnce, func(ctx context.Context, i int) error {
		row, err := db.VersionAt(ctx, l.AuthorID, l.ID, of[i])
		if err == nil && row == nil { // deleted since
			err = truth.ErrNoVersion()
		}
		if err != nil {
			return err
		}
		return do(schema.ParseVersionRow(*row))
	})
}

// contentsAtOnce is how many texts of versions one request reads at the same time.
const contentsAtOnce = 8
