package verify

import (
	"context"
	"errors"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	// filesKept is for how long the bytes of a file stay that no version names: longer than any save
	// takes from its first write to its commit.
	filesKept = 24 * time.Hour

	// filesOverdue is after what time the bytes of a prompt that does not exist are a finding:
	// anti-entropy should have removed them. Those of a version may have been old when it was deleted.
	filesOverdue = 7 * 24 * time.Hour
)

// filesPart is the table of files. Anti-entropy reads no bytes; Verify reads all.
func (db *Verifier) filesPart() part {
	p := db.rowByRow(db.T.Files, db.checkFileKey)
	p.only = []string{"PromptId", "AuthorId", "Size", "PutAt"}
	p.whole = func(ctx context.Context, rows []table.Row, _ bool) ([]Difference, rowstore.Failures) {
		found, failed := db.checkRows(ctx, db.T.Files, rows, db.checkFile)
		left, err := db.ofNoPrompt(ctx, rows)
		failed.Record(err)
		return append(found, left...), failed
	}
	return p
}

// ofNoPrompt reports bytes of prompts that do not exist, which anti-entropy should have removed.
func (db *Verifier) ofNoPrompt(ctx context.Context, rows []table.Row) (found []Difference, err error) {
	gone := make(map[prompt.ID]bool)
	for _, row := range rows {
		id, ok := schema.ParseFilesPartition(row.Partition)
		if !ok || db.Now().Sub(row.Props.Get("PutAt").Time()) < filesOverdue {
			continue
		}
		if _, known := gone[id]; !known {
			rec, judged, err := db.judge(ctx, schema.UserIn(row.Props, "AuthorId"), id)
			if err != nil {
				return found, err
			}
			gone[id] = judged && rec == nil
		}
		if gone[id] {
			found = append(found, Difference{
				Table: db.T.Files, Key: row.Key,
				What: "has bytes of a prompt that does not exist, for longer than they are kept",
			})
		}
	}
	return found, nil
}

// checkFileKey reports a row of the table of files with a key that is none of ours.
func (db *Verifier) checkFileKey(_ context.Context, row table.Row) ([]Difference, error) {
	id, ok := schema.ParseFilesPartition(row.Partition)
	_, n, okRow := schema.ParseFileRow(row.Row)
	if ok && okRow && prompt.ID(row.Props.Get("PromptId").Str()) == id &&
		n < len(schema.FileKeys(id, "", int(row.Props.Get("Size").Int()))) {
		return nil, nil
	}
	return []Difference{{Table: db.T.Files, Key: row.Key, What: "is no row that this version writes"}}, nil
}

// checkFile reports the bytes of a file that are not those that its name says, at the first of its
// rows.
func (db *Verifier) checkFile(ctx context.Context, row table.Row) ([]Difference, error) {
	ds, err := db.checkFileKey(ctx, row)
	sha, n, _ := schema.ParseFileRow(row.Row)
	if err != nil || len(ds) > 0 || n > 0 {
		return ds, err
	}
	id, _ := schema.ParseFilesPartition(row.Partition)
	_, err = db.FileBytes(ctx, id, prompt.Files{{SHA256: sha, Size: int(row.Props.Get("Size").Int())}})
	if schema.Unreadable(err) {
		return []Difference{{Table: db.T.Files, Key: row.Key, What: err.Error()}}, nil
	}
	return nil, err
}

// checkFiles reports the rows of files that a prompt must have and has not.
func (db *Verifier) checkFiles(ctx context.Context, id prompt.ID, named map[string]prompt.File,
	differ func(string, table.Key, string, ...any),
) error {
	if len(named) == 0 {
		return nil
	}
	has := make(map[table.Key]bool)
	r := table.Range{Partition: schema.FilesPartition(id), Select: []string{"Size"}}
	for row, err := range table.All(ctx, db.DB, db.T.Files, r) {
		if err != nil {
			return err
		}
		has[row.Key] = true
	}
	for _, f := range named {
		for _, key := range schema.FileKeys(id, f.SHA256, f.Size) {
			if !has[key] {
				differ(db.T.Files, key, "is missing, with bytes of the file %q", f.Path)
			}
		}
	}
	return nil
}

// unnamed returns those of some rows of files that are older than a day and that no version names.
// The rows were read before the versions are. A commit names bytes only if the version before names
// them, or if it has just written their rows: then the row has another ETag.
func (db *Verifier) unnamed(ctx context.Context, rows []table.Row) ([]table.Row, error) {
	var left []table.Row
	names := make(map[prompt.ID]map[string]bool)
	for _, row := range rows {
		id, ok := schema.ParseFilesPartition(row.Partition)
		sha, _, okRow := schema.ParseFileRow(row.Row)
		if !ok || !okRow || db.Now().Sub(row.Props.Get("PutAt").Time()) < filesKept {
			continue
		}
		if names[id] == nil {
			named, judged, err := db.namedFiles(ctx, schema.UserIn(row.Props, "AuthorId"), id)
			if err != nil {
				return nil, err
			}
			if !judged {
				named = nil
			}
			names[id] = named
		}
		if names[id] != nil && !names[id][sha] {
			left = append(left, row)
		}
	}
	return left, nil
}

// namedFiles returns the SHA-256 of all files that versions of a prompt name. It is not judged if
// the prompt cannot be read, or is of a newer version of the application.
func (db *Verifier) namedFiles(ctx context.Context, author prompt.UserID,
	id prompt.ID,
) (named map[string]bool, judged bool, err error) {
	named = make(map[string]bool)
	rec, ok, err := db.judge(ctx, author, id)
	if err != nil || !ok {
		return nil, false, err
	}
	if rec != nil {
		for _, f := range rec.Files {
			named[f.SHA256] = true
		}
	}
	r := table.Prefix(schema.AuthorPartition(author), schema.VersionsOf(id))
	r.Select = schema.FilesProps
	for row, err := range table.All(ctx, db.DB, db.T.Prompts, r) {
		if errors.Is(err, table.ErrDamaged) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, rowstore.Unavailable(err)
		}
		files, err := schema.FilesIn(row)
		if err != nil {
			return nil, false, nil // a finding of the check of the version
		}
		for _, f := range files {
			named[f.SHA256] = true
		}
	}
	return named, true, nil
}

// sweepFiles removes those of some rows of files that no version names, each under its ETag, and
// before that counts anew what the files of all these prompts will take: a save counts what it
// sends, be it stored or not. If that is cut short, rows are left by which the next sweep finds the
// prompt.
func (db *Verifier) sweepFiles(ctx context.Context, rows []table.Row) error {
	left, err := db.unnamed(ctx, rows)
	if err != nil {
		return err
	}
	goes := make(map[table.Key]bool)
	for _, row := range left {
		goes[row.Key] = true
	}
	prompts := make(map[prompt.ID]prompt.UserID)
	for _, row := range rows {
		if id, ok := schema.ParseFilesPartition(row.Partition); ok {
			prompts[id] = schema.UserIn(row.Props, "AuthorId")
		}
	}
	counted := make(map[prompt.ID]bool)
	for id, author := range prompts {
		if counted[id], err = db.recountFiles(ctx, author, id, goes); err != nil {
			return err
		}
	}
	for _, row := range left {
		if id, _ := schema.ParseFilesPartition(row.Partition); !counted[id] {
			continue
		}
		if err := db.RemoveRow(ctx, db.T.Files, row); err != nil {
			return err
		}
	}
	return nil
}

// recountFiles writes how many bytes the files of a prompt have, but for those that go, into its
// labels row. It reports false if a command changes that row at this moment.
func (db *Verifier) recountFiles(ctx context.Context, author prompt.UserID, id prompt.ID,
	goes map[table.Key]bool,
) (bool, error) {
	c, err := db.LabelsRow(ctx, author, id)
	if err != nil || c == nil {
		return err == nil, err
	}
	sum := int64(0)
	r := table.Range{Partition: schema.FilesPartition(id), Select: []string{"Size"}}
	for row, err := range table.All(ctx, db.DB, db.T.Files, r) {
		if err != nil {
			return false, rowstore.Unavailable(err)
		}
		if _, n, ok := schema.ParseFileRow(row.Row); ok && n == 0 && !goes[row.Key] {
			sum += row.Props.Get("Size").Int()
		}
	}
	if sum == c.Files {
		return true, nil
	}
	c.Files = sum
	err = db.Write(ctx, db.T.Prompts, []table.Op{c.Op(author, id)})
	if rowstore.Overtaken(err) || errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, rowstore.Unavailable(err)
	}
	return true, nil
}
