package scopes

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Loading a large public scope takes seconds of a processor. So a job keeps a snapshot of its
// index, in rows of SystemState: parts, and a head that names those that count. Loading takes the
// snapshot and the log after it. One that is damaged, foreign or too old is as none. An erasure
// removes it, and keeps one that is being made meanwhile from counting.

const (
	// SnapshotFrom is how many public prompts there must be for a snapshot.
	SnapshotFrom = 20_000

	snapshotEvery = keepFor / 2 // and it is used for keepFor: the log still says what is gone
	snapshotPart  = 300 << 10   // bytes in a row, which may have 1 MiB with two bytes for a character
	snapshots     = "search-snapshot"
)

var (
	headKey = table.Key{Partition: snapshots, Row: "head"}
	// the row that each erasure writes anew
	erasedKey = table.Key{Partition: snapshots, Row: "erased"}
)

// snapshotLabel says what a snapshot is of. It is another one for each form of rows.
var snapshotLabel = fmt.Sprintf("public %d", schema.RowsVersion)

func partKey(made string, n int) table.Key {
	return table.Key{Partition: snapshots, Row: fmt.Sprintf("part|%s|%06d", made, n)}
}

// KeepSnapshot is the job that makes a snapshot if there are many public prompts and the last one
// is some hours old. It returns how many prompts it has, 0 if it was not time yet.
func (s *Scopes) KeepSnapshot(ctx context.Context) (int, error) {
	return s.KeepSnapshotFrom(ctx, SnapshotFrom)
}

// KeepSnapshotFrom does it for at least n prompts.
func (s *Scopes) KeepSnapshotFrom(ctx context.Context, n int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	head, err := s.GetRow(ctx, s.T.SystemState, headKey)
	if err != nil || head != nil && s.Now().Sub(head.Props.Get("At").Time()) < snapshotEvery {
		return 0, err
	}
	erased, err := s.erased(ctx)
	if err != nil {
		return 0, err
	}
	// The job waits for an index that is being loaded: an instance without searches gives it up before
	// the job comes again.
	c, err := s.loaded(ctx, schema.Public, rowstore.JobEnds)
	if err != nil || c == nil || c.index.Load().Len() < n {
		return 0, err
	}
	// After the look at erased: an erasure before that is in the log, and leaves the index here.
	done, late, err := c.catchUp(ctx)
	if err != nil {
		return 0, rowstore.Unavailable(fmt.Errorf("read the log of searches: %w", err))
	}
	if !done {
		return 0, nil
	}
	index := c.index.Load()
	made := ulid.Make().String()
	parts := 0
	for part := range slices.Chunk(index.Encode(snapshotLabel), snapshotPart) {
		row := table.Row{
			Key:   partKey(made, parts),
			Props: schema.TextParts("Bytes", base64.StdEncoding.EncodeToString(part)),
		}
		if err := s.Write(ctx, s.T.SystemState, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
			return 0, rowstore.Unavailable(fmt.Errorf("write a snapshot: %w", err))
		}
		parts++
	}
	err = s.Write(ctx, s.T.SystemState, []table.Op{
		{Kind: table.Replace, Row: *erased}, // as it was: or else a user was erased meanwhile
		{Kind: table.Upsert, Row: table.Row{Key: headKey, Props: table.Props{
			{Name: "Made", Value: table.String(made)},
			{Name: "Parts", Value: table.Int32(int32(parts))},
			{Name: "At", Value: table.Time(late.Add(lateWithin))},
		}}},
	})
	if errors.Is(err, table.ErrConflict) {
		return 0, s.removeParts(ctx, "")
	}
	if err != nil {
		return 0, rowstore.Unavailable(fmt.Errorf("write a snapshot: %w", err))
	}
	return index.Len(), s.removeParts(ctx, made)
}

// erased returns the row that each erasure writes anew, and makes it if there is none.
func (s *Scopes) erased(ctx context.Context) (*table.Row, error) {
	for range rowstore.MaxTries {
		row, err := s.GetRow(ctx, s.T.SystemState, erasedKey)
		if err != nil || row != nil {
			return row, err
		}
		err = s.Write(ctx, s.T.SystemState, []table.Op{{Kind: table.Insert, Row: erasedRow()}})
		if err != nil && !errors.Is(err, table.ErrExists) {
			return nil, rowstore.Unavailable(err)
		}
	}
	return nil, errors.New("a row comes and goes")
}

func erasedRow() table.Row {
	return table.Row{Key: erasedKey, Props: table.Props{{Name: "Mark", Value: table.String(ulid.Make().String())}}}
}

// ForgetSnapshot removes the snapshot, and keeps one that is being made from counting: it may have
// words of a user who is being erased.
func (s *Scopes) ForgetSnapshot(ctx context.Context) error {
	err := s.Write(ctx, s.T.SystemState, []table.Op{{Kind: table.Upsert, Row: erasedRow()}})
	if err != nil {
		return rowstore.Unavailable(err)
	}
	if err := s.RemoveKey(ctx, s.T.SystemState, headKey); err != nil {
		return err
	}
	return s.removeParts(ctx, "")
}

// removeParts removes the parts of snapshots but for one.
func (s *Scopes) removeParts(ctx context.Context, but string) error {
	r := table.Prefix(snapshots, "part|")
	r.Select = []string{"Made"}
	for row, err := range table.All(ctx, s.DB, s.T.SystemState, r) {
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			row.Key = d.Key
		} else if err != nil {
			return rowstore.Unavailable(err)
		}
		if but != "" && strings.HasPrefix(row.Row, partKey(but, 0).Row[:len("part||")+len(but)]) {
			continue
		}
		if err := s.RemoveKey(ctx, s.T.SystemState, row.Key); err != nil {
			return err
		}
	}
	return nil
}

// snapshot returns the index of the snapshot and the time as of which it is, nil if there is none
// to use. It has each row of the log that is lateWithin older.
func (s *Scopes) snapshot(ctx context.Context) (*searchindex.Index, time.Time, error) {
	head, err := s.GetRow(ctx, s.T.SystemState, headKey)
	if err != nil || head == nil {
		return nil, time.Time{}, err
	}
	at := head.Props.Get("At").Time()
	if age := s.Now().Sub(at); age < 0 || age >= keepFor {
		return nil, time.Time{}, nil
	}
	var all []byte
	parts := 0
	r := table.Prefix(snapshots, "part|"+head.Props.Get("Made").Str()+"|")
	for row, err := range table.All(ctx, s.DB, s.T.SystemState, r) {
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			return nil, time.Time{}, nil
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		part, err := base64.StdEncoding.DecodeString(schema.JoinedText(row, "Bytes"))
		if err != nil {
			return nil, time.Time{}, nil // it is damaged
		}
		all, parts = append(all, part...), parts+1
	}
	if parts != int(head.Props.Get("Parts").Int()) {
		return nil, time.Time{}, nil
	}
	index, err := searchindex.Decode(all, snapshotLabel)
	if err != nil {
		return nil, time.Time{}, nil // damaged or foreign: the log has all
	}
	return index, at, nil
}
