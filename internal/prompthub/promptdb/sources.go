package promptdb

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The file that a version was made of stands in a row of its own, which is written with that of the
// version and goes with it. The row of the version says whether there is one.

func sourceProp(format string) table.Props {
	if format == "" {
		return nil
	}
	return table.Props{{Name: "Source", Value: table.String(format)}}
}

func sourceRow(author prompt.UserID, id prompt.ID, n int64, s prompt.Source) table.Row {
	props := table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Format", Value: table.String(s.Format)},
		{Name: "File", Value: table.String(s.File)},
		{Name: "State", Value: table.String(s.State)},
	}
	if s.Syntax != "" {
		props = append(props, table.Prop{Name: "Syntax", Value: table.String(s.Syntax)})
	}
	if len(s.Extra) > 0 {
		props = append(props, table.Prop{Name: "Extra", Value: table.String(strings.Join(s.Extra, "\n"))})
	}
	return table.Row{Key: sourceKey(author, id, n), Props: append(props, parts("Packed", pack(s.Bytes))...)}
}

func parseSourceRow(row table.Row) (prompt.Source, error) {
	b, err := unpack(joinedText(row, "Packed"))
	if err != nil {
		err = fmt.Errorf("the file at %s: %w", row.Key, err)
	}
	var extra []string
	if names := row.Props.Get("Extra").Str(); names != "" {
		extra = strings.Split(names, "\n")
	}
	return prompt.Source{
		Format: row.Props.Get("Format").Str(), File: row.Props.Get("File").Str(), State: row.Props.Get("State").Str(), Bytes: b,
		Syntax: row.Props.Get("Syntax").Str(), Extra: extra,
	}, err
}

// pack returns bytes compressed, as a text.
func pack(b []byte) string {
	var packed bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &packed)
	w, err := flate.NewWriter(text, flate.DefaultCompression)
	if err != nil {
		panic(err) // unreachable: the level is one
	}
	_, err = w.Write(b)
	if err := errors.Join(err, w.Close(), text.Close()); err != nil {
		panic(err) // unreachable: a buffer takes all
	}
	return packed.String()
}

func unpack(text string) ([]byte, error) {
	r := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	return io.ReadAll(io.LimitReader(r, prompt.MaxSource))
}

// A SourceOf is the file that a version was made of.
type SourceOf struct {
	prompt.Source
	Version int64
}

// Source returns the file that a version of a prompt was made of, or else the newest one before it
// that was made of any, as far as a viewer may see that; nil for none.
func (db *DB) Source(ctx context.Context, viewer prompt.UserID, p prompt.Prompt, n int64) (*SourceOf, error) {
	if n >= maxVersion {
		return nil, nil //nolint:nilnil // as documented
	}
	r := table.Prefix(authorPartition(p.AuthorID), sourcesOf(p.ID))
	r.From = sourceKey(p.AuthorID, p.ID, n).Row
	rows, _, err := db.budget().rows(ctx, db.t.Prompts, r, 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	_, made, ok := parseSource(rows[0].Row)
	if !ok || !shows(viewer, p, made) {
		return nil, nil //nolint:nilnil // as documented
	}
	s, err := parseSourceRow(rows[0])
	return &SourceOf{s, made}, err
}

// sources returns the files that versions were made of, by the numbers of the versions, which
// follow one another.
func (db *DB) sources(ctx context.Context, author prompt.UserID, id prompt.ID, versions []prompt.Version) (map[int64]prompt.Source, error) {
	made := slices.DeleteFunc(slices.Clone(versions), func(v prompt.Version) bool { return v.Source == "" })
	if len(made) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	rows, _, err := db.budget().rows(ctx, db.t.Prompts, table.Range{
		Partition: authorPartition(author), From: sourceKey(author, id, made[len(made)-1].Number).Row, To: sourceKey(author, id, made[0].Number-1).Row,
	}, len(versions))
	all := make(map[int64]prompt.Source)
	for _, row := range rows {
		_, n, _ := parseSource(row.Row)
		s, err := parseSourceRow(row)
		if err != nil {
			return nil, err
		}
		all[n] = s
	}
	return all, err
}

// checkSource looks for the file that a version was made of.
func (db *DB) checkSource(ctx context.Context, rec record, v prompt.Version, differ func(string, table.Key, string, ...any)) error {
	if v.Source == "" {
		return nil
	}
	key := sourceKey(rec.AuthorID, rec.ID, v.Number)
	row, err := db.expected(ctx, key, differ)
	if err != nil || row == nil {
		return err
	}
	s, err := parseSourceRow(*row)
	if err != nil {
		differ(db.t.Prompts, key, "cannot be read: %v", err)
	} else if s.Format != v.Source {
		differ(db.t.Prompts, key, "is not what its version names")
	}
	return nil
}

// wantedBeside reports whether a row is one that the row of a version says is next to it.
func (db *DB) wantedBeside(ctx context.Context, author prompt.UserID, key table.Key) (bool, error) {
	if strings.HasPrefix(key.Row, usesPrefix) {
		want, err := db.usesRow(ctx, author, key)
		return want != nil, err
	}
	id, n, ok := parseSource(key.Row)
	if !ok {
		return false, nil
	}
	row, err := db.versionSideProps(ctx, author, id, n)
	return row != nil && row.Props.Get("Source").Str() != "", err
}

// withoutSource returns the writes by which a version is without a file that is lost.
func (db *DB) withoutSource(ctx context.Context, d Difference, n int64) ([]table.Op, error) {
	var ops []table.Op
	version, err := db.versionSideProps(ctx, d.author, d.id, n)
	if version != nil {
		ops = append(ops, table.Op{Kind: table.Merge, Row: table.Row{
			Key: version.Key, ETag: version.ETag, Props: table.Props{{Name: "Source", Value: table.String("")}},
		}})
	}
	if err != nil {
		return nil, err
	}
	row, err := db.get(ctx, db.t.Prompts, d.Key)
	if row != nil {
		ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}})
	}
	return ops, err
}
