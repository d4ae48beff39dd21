package query

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/cursor"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/table"
)

// namesFor is what a walk by name needs of a row.
var namesFor = []string{"PromptId", "Name", "Labels", "Gaps", "IsDeleted"}

// A NameAt is a prompt and where the row of its name is among those of its author.
type NameAt struct {
	ID prompt.ID
	At string
}

// NamesFrom returns an author's prompts that are not deleted, by their names as keys have them,
// from a position on. The last result is the position after all rows that were read, "" at the end.
func (db *Queries) NamesFrom(ctx context.Context, author prompt.UserID, from string,
	limit int,
) ([]NameAt, string, error) {
	r := table.Prefix(schema.AuthorPartition(author), schema.NamePrefix)
	if r.Select = namesFor; from != "" {
		if from < schema.NamePrefix {
			return nil, "", cursor.Refuse()
		}
		r.From = from
	}
	// slugs and old names stand between
	rows, more, err := db.Budget().Rows(ctx, db.T.Prompts, r, 3*limit)
	if err != nil {
		return nil, "", err
	}
	behind := ""
	if more {
		behind = rows[len(rows)-1].Row + "!"
	}
	var list []NameAt
	for _, row := range rows {
		name := row.Props.Get("Name").Str()
		if c, err := schema.ParseLabelsRow(row); name == "" || schema.NameKey(author, name).Row != row.Row ||
			err != nil || c.Deleted {
			continue // another name of it, or what verify reports
		}
		if list = append(list, NameAt{prompt.ID(row.Props.Get("PromptId").Str()), row.Row}); len(list) > limit {
			return list[:limit], list[limit].At, nil
		}
	}
	return list, behind, nil
}

const (
	// versionsAPage is how many numbers of versions one look at a history spans: their contents may be
	// long.
	versionsAPage = 20

	// filesAPage is how many bytes of files a look at a history has, or those of one version.
	filesAPage = 1 << 20
)

// A ExportedPrompt is a prompt with a part of its history.
type ExportedPrompt struct {
	truth.View
	Versions []prompt.Version        // the oldest first, with their contents
	Sources  map[int64]prompt.Source // that versions were made of, by their numbers, but those that are damaged
	// the bytes of files, by their SHA-256, that the version before this part does not have
	FileBytes map[string][]byte
	Withdrawn bool  // whether a recall left the label production on no version
	Begin     int64 // the number at which this part begins
	Next      int64 // that at which the rest begins; 0 where there is none
	// while it is public, the first version that others see
	PublicFrom int64
}

// ExportPrompt returns an author's prompt with its labels and what he voted on it, and versions
// from a number on; nil where there is none.
func (db *Queries) ExportPrompt(ctx context.Context, author prompt.UserID, id prompt.ID,
	from int64,
) (*ExportedPrompt, error) {
	var rec *schema.Record
	var c *schema.LabelsRow
	var vote *table.Row
	var w ExportedPrompt
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		rec, c, err = db.readWithLabels(gctx, author, id, true)
		return err
	})
	g.Go(func() (err error) {
		vote, err = db.GetRow(gctx, db.T.Votes, schema.VoteKey(author, id))
		return err
	})
	g.Go(func() (err error) {
		w.Versions, err = db.someVersions(gctx, author, id, from)
		return err
	})
	err := g.Wait()
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Purging || rec.Deleted() || c == nil {
		return nil, nil //nolint:nilnil // as documented
	}
	next := from + versionsAPage
	files, n, err := db.newFiles(ctx, author, id, w.Versions)
	if err != nil {
		return nil, err
	}
	if n < len(w.Versions) {
		next, w.Versions = w.Versions[n].Number, w.Versions[:n]
	}
	if w.FileBytes, err = db.FileBytes(ctx, id, files); err != nil {
		return nil, err
	}
	if w.Sources, err = db.sources(ctx, author, id, w.Versions); err != nil {
		return nil, err
	}
	w.Prompt, w.Labels, w.MyVote = rec.Prompt, truth.ShownLabels(author, rec.Prompt, c),
		schema.VoteRows{Vote: vote}.Value()
	onVersion, isSet := c.Labels[prompt.Production]
	w.Withdrawn = isSet && onVersion == 0
	if w.Begin = from; w.Visibility == prompt.Public {
		for w.PublicFrom = max(rec.From, 1); c.Gaps.Have(w.PublicFrom); {
			w.PublicFrom++
		}
	}
	if next <= rec.Last {
		w.Next = next
	}
	return &w, nil
}

// newFiles returns those files of some versions that the version before all of them does not have,
// and of how many versions, the first ones, they are: those that fit into filesAPage. A SKILL.md
// that is made is not among them.
func (db *Queries) newFiles(ctx context.Context, author prompt.UserID, id prompt.ID,
	versions []prompt.Version,
) (files prompt.Files, n int, err error) {
	if !slices.ContainsFunc(versions, func(v prompt.Version) bool { return len(v.Files) > 0 }) {
		return nil, len(versions), nil
	}
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, table.Range{
		Partition: schema.AuthorPartition(author), From: schema.VersionKey(author, id, versions[0].Number-1).Row,
		To:     schema.VersionKey(author, id, 0).Row,
		Select: schema.FilesProps,
	}, 1)
	if err != nil {
		return nil, 0, err
	}
	has := make(map[string]bool)
	for _, row := range rows {
		before, err := schema.FilesIn(row)
		if err != nil {
			return nil, 0, err
		}
		for _, f := range before {
			has[f.SHA256] = true
		}
	}
	for n, v := range versions {
		var more prompt.Files
		for _, f := range v.Files.Written() {
			if !has[f.SHA256] {
				has[f.SHA256], more = true, append(more, f)
			}
		}
		if n > 0 && files.Size()+more.Size() > filesAPage {
			return files, n, nil
		}
		files = append(files, more...)
	}
	return files, len(versions), nil
}

func (db *Queries) someVersions(ctx context.Context, author prompt.UserID, id prompt.ID,
	from int64,
) ([]prompt.Version, error) {
	r := table.Range{ // the newest stands first
		Partition: schema.AuthorPartition(author), From: schema.VersionKey(author, id, from+versionsAPage-1).Row,
		To: schema.VersionKey(author, id, from-1).Row,
	}
	rows, _, err := db.Budget().Rows(ctx, db.T.Prompts, r, versionsAPage)
	if err != nil {
		return nil, err
	}
	var list []prompt.Version
	for _, row := range slices.Backward(rows) {
		list = append(list, schema.ParseVersionRow(row))
	}
	return list, nil
}
