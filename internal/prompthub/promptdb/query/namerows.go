package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// PageTooLarge is the code of a page whose prompts are together too long for one answer.
const PageTooLarge fault.Code = "PAGE_TOO_LARGE"

// A NameRow is a prompt as the row of its name tells of it: enough for a list of the names that
// programs can ask for.
type NameRow struct {
	ID            prompt.ID
	Name          string
	Kind          prompt.Kind
	Tags          []string // those of the catalog, then others
	Version, Last int64
	UpdatedAt     time.Time
	labels        schema.LabelsRow
}

// Has reports whether there is a version of a number that programs may get.
func (n NameRow) Has(v int64) bool { return n.labels.Has(v) && !n.labels.Recalled.Have(v) }

// Labelled returns the version that has a label, and 0 for none.
func (n NameRow) Labelled(label string) int64 {
	return labelled(prompt.Prompt{Versions: prompt.Versions{Version: n.Version}}, &n.labels, label)
}

// Labels returns the labels of a version, in order, without latest.
func (n NameRow) Labels(v int64) []string { return n.labels.On(v) }

// nameRowProps is what a list by name needs of a row.
var nameRowProps = []string{
	"PromptId", "Name", "Kind", "Tags", "OwnTags", "Version", "LastVersion", "Labels", "Gaps",
	"Recalled", "UpdatedAt", "IsDeleted",
}

// NameRows returns an author's prompts that have names and are not deleted, by name; with a name,
// only the one that has it.
func (db *Queries) NameRows(ctx context.Context, author prompt.UserID, name string) ([]NameRow, error) {
	if name != "" {
		row, err := db.GetRow(ctx, db.T.Prompts, schema.NameKey(author, name))
		if err != nil || row == nil {
			return nil, err
		}
		return nameRowsIn(author, []table.Row{*row}), nil
	}
	r := table.Prefix(schema.AuthorPartition(author), schema.NamePrefix)
	r.Select = nameRowProps
	rows, more, err := db.Budget().Rows(ctx, db.T.Prompts, r, rowstore.MaxScan)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("you have too many prompts for a list by name: their names and slugs are more than %d; ask for one by its name", rowstore.MaxScan))
	}
	return nameRowsIn(author, rows), nil
}

// nameRowsIn returns the prompts whose names, and not only whose slugs, are among rows.
func nameRowsIn(author prompt.UserID, rows []table.Row) []NameRow {
	var list []NameRow
	for _, row := range rows {
		p := row.Props
		name := p.Get("Name").Str()
		c, err := schema.ParseLabelsRow(row)
		// verify reports what cannot be read
		if name == "" || schema.NameKey(author, name).Row != row.Row || c.Deleted || err != nil {
			continue
		}
		list = append(list, NameRow{
			ID: prompt.ID(p.Get("PromptId").Str()), Name: name, Kind: prompt.Kind(p.Get("Kind").Str()),
			Tags:    schema.AllTags(p),
			Version: p.Get("Version").Int(), Last: p.Get("LastVersion").Int(),
			UpdatedAt: p.Get("UpdatedAt").Time(), labels: c,
		})
	}
	slices.SortFunc(list, func(a, b NameRow) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// A Numbered names a version of a prompt.
type Numbered struct {
	ID     prompt.ID
	Number int64
}

// versionConfig is what a list by name shows of a version.
var versionConfig = []string{"Version", "CreatedAt", "Config", "Config1", "Config2"}

const (
	atOnce       = 16      // reads of a request that are under way at a time
	maxConfigs   = 1 << 20 // bytes of configs in one list
	maxDated     = 100     // prompts whose versions are looked through for one list, and
	maxDatedEach = 100     // versions of each of them
)

// Configs returns the times and configs of versions, each of which may be missing, in their order.
// Texts are not read.
func (db *Queries) Configs(ctx context.Context, author prompt.UserID, list []Numbered) ([]prompt.Version, error) {
	out := make([]prompt.Version, len(list))
	var size atomic.Int64
	return out, db.partsOf(ctx, author, list, atOnce, versionConfig, func(i int, row table.Row) error {
		if out[i] = schema.ParseVersionRow(row); size.Add(int64(len(out[i].Config))) > maxConfigs {
			return fault.Coded(fault.Invalid, PageTooLarge,
				"the configs of these prompts are too long for one page; ask for fewer at a time")
		}
		return nil
	})
}

// VersionHeads returns versions without their contents, each of which may be missing, in their
// order.
func (db *Queries) VersionHeads(ctx context.Context, author prompt.UserID, list []Numbered) ([]prompt.Version, error) {
	out := make([]prompt.Version, len(list))
	return out, db.partsOf(ctx, author, list, maxContents, versionHeadProps, func(i int, row table.Row) error {
		out[i] = schema.ParseVersionRow(row)
		return nil
	})
}

// VersionFiles returns the files of a version of a prompt, none if there is no such version.
func (db *Queries) VersionFiles(ctx context.Context, author prompt.UserID, id prompt.ID,
	n int64,
) (prompt.Files, error) {
	row, err := db.VersionAt(ctx, author, id, n, schema.FilesProps...)
	if err != nil || row == nil {
		return nil, err
	}
	return schema.FilesIn(*row)
}

// A VersionWithFiles is a version of a prompt by its number, with its files.
type VersionWithFiles struct {
	Number int64
	Files  prompt.Files
}

// FilesOfVersions returns the newest versions of a prompt with their files, of those that programs
// get.
func (db *Queries) FilesOfVersions(ctx context.Context, author prompt.UserID, id prompt.ID,
	most int,
) ([]VersionWithFiles, error) {
	r := table.Prefix(schema.AuthorPartition(author), schema.VersionsOf(id))
	r.Select = append(slices.Clone(schema.FilesProps), "Recall")
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, r, most)
	if err != nil {
		return nil, err
	}
	var all []VersionWithFiles
	for _, row := range rows {
		v := schema.ParseVersionRow(row)
		if v.Recall == nil {
			all = append(all, VersionWithFiles{v.Number, v.Files})
		}
	}
	return all, nil
}

// partsOf reads some columns of the rows of versions, up to atATime at once, and calls found for
// those that are there.
func (db *Queries) partsOf(
	ctx context.Context, author prompt.UserID, list []Numbered, atATime int, columns []string,
	found func(int, table.Row) error,
) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atATime)
	for i, x := range list {
		g.Go(func() error {
			key := schema.VersionKey(author, x.ID, x.Number)
			r := table.Range{Partition: key.Partition, From: key.Row, Select: columns}
			page, err := db.DB.List(ctx, db.T.Prompts, r, 1, "")
			if err != nil {
				return rowstore.Unavailable(err)
			}
			if len(page.Rows) == 0 || page.Rows[0].Key != key {
				return nil
			}
			return found(i, page.Rows[0])
		})
	}
	return g.Wait()
}

// Times returns when versions of prompts were made, by number: all that were made at from or later.
func (db *Queries) Times(ctx context.Context, author prompt.UserID, list []NameRow,
	from time.Time,
) ([]map[int64]time.Time, error) {
	if len(list) > maxDated {
		return nil, fault.New(fault.Invalid,
			fmt.Sprintf(
				"more than %d prompts may have versions of that time; ask for a later beginning, a tag or a name",
				maxDated))
	}
	out := make([]map[int64]time.Time, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, n := range list {
		g.Go(func() (err error) {
			out[i], err = db.timesOf(ctx, author, n, from)
			return err
		})
	}
	return out, g.Wait()
}

func (db *Queries) timesOf(ctx context.Context, author prompt.UserID, n NameRow,
	from time.Time,
) (map[int64]time.Time, error) {
	r := table.Prefix(schema.AuthorPartition(author), schema.VersionsOf(n.ID))
	r.Select = versionConfig[:2]
	rows, more, err := db.Budget().Rows(ctx, db.T.Prompts, r, maxDatedEach)
	if err != nil {
		return nil, err
	}
	times := make(map[int64]time.Time, len(rows))
	for _, row := range rows {
		v := schema.ParseVersionRow(row)
		if times[v.Number] = v.At; v.At.Before(from) {
			return times, nil // those after it are older
		}
	}
	if more {
		return nil, fault.New(fault.Invalid,
			fmt.Sprintf("%q has more than %d versions of that time; ask for a later beginning", n.Name, maxDatedEach))
	}
	return times, nil
}
