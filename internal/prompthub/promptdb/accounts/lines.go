package accounts

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// notedEvery is how often it is noted at most that a client asked for a line.
const notedEvery = 7 * 24 * time.Hour

// Line returns the line of a repository, a zero one if there is none or it cannot be read.
func (db *Accounts) Line(ctx context.Context, r schema.Repository) (schema.Line, error) {
	row, err := db.GetRow(ctx, db.T.Git, schema.LineKey(r))
	if err != nil || row == nil {
		return schema.Line{}, err
	}
	l, err := schema.ParseLine(*row)
	if err != nil { // nothing follows from it: it begins anew
		l.Readers = ""
	}
	return l, nil
}

// Snapshots returns the snapshots of the epoch of a line, the first of them first.
func (db *Accounts) Snapshots(ctx context.Context, r schema.Repository,
	l schema.Line,
) (all []schema.Snapshot, err error) {
	for row, err := range table.All(ctx, db.DB, db.T.Git, schema.SnapshotsOf(r, l.Epoch, l.Seq)) {
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		s, _, err := schema.ParseSnapshot(row)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.Reverse(all)
	return all, nil
}

// PutLine writes a line as it has become of the one that was read, with its last snapshot if that
// is new. It reports false if another one came first.
func (db *Accounts) PutLine(ctx context.Context, r schema.Repository, l schema.Line, s *schema.Snapshot) (bool, error) {
	ops := []table.Op{l.Op(r)}
	if s != nil {
		ops = append(ops, table.Op{Kind: table.Upsert, Row: schema.SnapshotRow(r, l.Epoch, *s)})
	}
	err := db.Write(ctx, db.T.Git, ops)
	switch {
	case err == nil:
		return true, nil
	case rowstore.Overtaken(err):
		return false, nil
	}
	return false, rowstore.Unavailable(err)
}

// Asked notes, after the answer, that a client asked for a line.
func (db *Accounts) Asked(ctx context.Context, r schema.Repository, l schema.Line) {
	now := db.Now().UTC().Truncate(time.Millisecond)
	if l.Epoch == 0 || now.Sub(l.AskedAt) < notedEvery {
		return
	}
	ctx = context.WithoutCancel(ctx)
	db.Background(func() {
		err := db.Write(ctx, db.T.Git, []table.Op{l.AskedOp(r, now)})
		if err != nil && !rowstore.Overtaken(err) && !errors.Is(err, table.ErrNotFound) {
			db.Log.DebugContext(ctx, "it was not noted that a client asked for a repository", slog.Any("error", err))
		}
	})
}
