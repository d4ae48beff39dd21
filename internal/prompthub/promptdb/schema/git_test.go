package schema_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// TestLines: rows of lines and snapshots say what was written, whatever the id of the owner is, and
// other rows are none.
func TestLines(t *testing.T) {
	t.Parallel()
	const id prompt.ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	for _, r := range []schema.Repository{
		{Kind: schema.OfPublic, Owner: "ann"},
		{Kind: schema.OfOwn, Owner: "w:01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{Kind: schema.OfCollection, Owner: "a|b/ж", Slug: "start-here"},
	} {
		parsed, ok := schema.ParseRepository(r.Partition())
		require.True(t, ok, r.Partition())
		require.Equal(t, r, parsed)
		at := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
		l := schema.Line{
			Epoch: 2, Seq: 3, Commit: "c", State: "s", Readers: "r", At: at, AskedAt: at,
			Shown: schema.Shown(nil).With(id, 2).With(id, 1).With(id, 2),
		}
		op := l.Op(r)
		require.Equal(t, table.Insert, op.Kind)
		read, err := schema.ParseLine(op.Row)
		require.NoError(t, err)
		require.Equal(t, l, read)
		require.Equal(t, schema.Gaps{1, 2}, read.Shown[id])
		require.True(t, schema.IsLine(op.Row))

		row := schema.SnapshotRow(r, 2, schema.Snapshot{Seq: 3, Commit: []byte("commit"), Change: []byte("{}")})
		require.False(t, schema.IsLine(row))
		s, epoch, err := schema.ParseSnapshot(row)
		require.NoError(t, err)
		require.Equal(t, schema.Snapshot{Seq: 3, Commit: []byte("commit"), Change: []byte("{}")}, s)
		require.EqualValues(t, 2, epoch)
		row.Row += "x"
		_, _, err = schema.ParseSnapshot(row)
		require.ErrorIs(t, err, schema.ErrUnreadable)
	}
	for _, partition := range []string{
		"", "g|", "g|pub", "g|other|ann", "g|pub|ann|x", "g|col|ann",
		"g|col|ann|No Slug", "u|ann",
	} {
		_, ok := schema.ParseRepository(partition)
		require.False(t, ok, partition)
	}
}
