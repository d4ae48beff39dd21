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
	Versions []LineageVersion // the lowest first
	// whether programs that name no version get the one with the label production, or none
	Released bool
}

// A LineageVersion is what a lineage tells of a version.
type LineageVersion struct {
	Number  int64
	Message string // why it was made
	prompt.Change
	Hash        string // as that of a prompt.Version
	Undescribed bool   // as there
	Tree        string // as that of its files; "" for a text alone, of which SKILL.md is made
	Digest      string // of its files
}

// MaxLineage is how many versions a lineage may have.
const MaxLineage = 2000

// lineagePage is how many of them are read at once: each may tell of 256 files.
const lineagePage = 100

// TooManyVersions is the code of the refusal of a longer one.
const TooManyVersions fault.Code = "TOO_MANY_VERSIONS"

// lineageProps is what is read of a version.
var lineageProps = slices.Concat([]string{"Includes", "Described"}, versionHeadProps, schema.FilesProps)

// Lineage returns the versions of a prompt that programs of a viewer may get: it may see them, none
// was recalled, and none includes other prompts.
func (db *Queries) Lineage(ctx context.Context, viewer prompt.UserID, id prompt.ID) (Lineage, error) {
	var c *schema.LabelsRow
	var all []LineageVersion
	rec, err := db.shown(ctx, viewer, id, nil, func(ctx context.Context, author prompt.UserID) error {
		return rowstore.Both(ctx, func(ctx context.Context) (err error) {
			c, err = db.LabelsRow(ctx, author, id)
			return err
		}, func(ctx context.Context) (err error) {
			all, err = db.lineageOf(ctx, author, id)
			return err
		})
	})
	if err != nil {
		return Lineage{}, err
	}
	if c == nil {
		c = &schema.LabelsRow{Last: rec.Last}
	}
	unruled, err := db.Unruled(ctx, rec.Prompt)
	if err != nil {
		return Lineage{}, err
	}
	standing := Standing{Prompt: rec.Prompt, Viewer: viewer, labels: *c, ruled: !unruled}
	l := Lineage{Prompt: rec.Prompt, Labels: truth.ShownLabels(viewer, rec.Prompt, c)}
	there := make(map[int64]bool)
	for _, v := range all {
		if c.Has(v.Number) && !c.Recalled.Have(v.Number) && truth.Shows(viewer, rec.Prompt, v.Number) {
			l.Versions, there[v.Number] = append(l.Versions, v), true
		}
	}
	slices.Reverse(l.Versions)
	maps.DeleteFunc(l.Labels, func(_ string, n int64) bool { return !there[n] })
	l.Released = l.Labels[prompt.Production] > 0 || standing.Served() == 0
	return l, nil
}

// lineageOf returns the versions of a prompt, the highest first, without recalled versions and
// versions that include other prompts.
func (db *Queries) lineageOf(ctx context.Context, author prompt.UserID,
	id prompt.ID,
) (all []LineageVersion, err error) {
	r := table.Prefix(schema.AuthorPartition(author), schema.VersionsOf(id))
	r.Select = lineageProps
	for {
		rows, more, err := db.Budget().Rows(ctx, db.T.Prompts, r, lineagePage)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			r.From, r.After = "", row.Row
			v := schema.ParseVersionRow(row)
			if v.Recall != nil || len(schema.IncludesIn(row)) > 0 {
				continue
			}
			if len(all) == MaxLineage {
				return nil, fault.Coded(fault.Invalid, TooManyVersions,
					fmt.Sprintf("the prompt has more than %d versions: delete those that are not needed", MaxLineage))
			}
			one := LineageVersion{
				Number: v.Number, Message: v.Message, Change: v.Change,
				Hash: v.Hash, Undescribed: v.Undescribed,
			}
			if len(v.Files) > 0 {
				one.Tree, one.Digest = v.Files.Tree(), v.Files.Digest()
			}
			all = append(all, one)
		}
		if !more {
			return all, nil
		}
	}
}

// VersionOf returns a version of a prompt with its content.
func (db *Queries) VersionOf(ctx context.Context, author prompt.UserID, id prompt.ID, n int64) (prompt.Version, error) {
	row, err := db.VersionAt(ctx, author, id, n)
	if err == nil && row == nil { // deleted since
		err = truth.ErrNoVersion()
	}
	if err != nil {
		return prompt.Version{}, err
	}
	return schema.ParseVersionRow(*row), nil
}
