package promptdb_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// TestToolsOnImperfectData damages a library in many seeded ways: rows that cannot be read, foreign
// rows, rows of a newer version, rows that are gone. No tool stops at them: verify reports and goes
// to the end, a backup that succeeds restores to a library that verifies, reindex and anti-entropy
// mend what can be mended, and neither makes anything worse.
func TestToolsOnImperfectData(t *testing.T) {
	t.Parallel()
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorldOn(t, memory.NewTables())
			mixed(w)
			rnd := rand.New(rand.NewPCG(seed, 14))
			for range 1 + rnd.IntN(6) {
				w.damage(rnd)
			}
			w.clock.Advance(2 * time.Minute)
			_, err := w.Verify(t.Context(), func(promptdb.Difference) {}, func(int) {})
			require.NoError(t, err, "verify stops")
			before := len(w.verified())
			require.NotZero(t, before, "the damage is not seen")

			var out bytes.Buffer
			// else it is none, and says so
			if _, err := w.Backup(t.Context(), &out, func(promptdb.Difference) {}, func(int) {}); err == nil {
				to := newWorldOn(t, memory.NewTables())
				err = restore(context.Background(), to.DB, bytes.NewReader(out.Bytes()))
				require.NoError(t, err, "the backup does not restore")
				to.run()
				require.Empty(t, to.verified(), "the restored library")
				require.Empty(t, bySchema(to.store), "the restored library")
			}

			_, _ = w.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {})
			w.run()
			mended := len(w.verified())
			require.LessOrEqual(t, mended, before, "reindex makes it worse")
			w.clock.Advance(25 * time.Hour)
			_, _, _ = w.Sweep(t.Context())
			w.run()
			require.LessOrEqual(t, len(w.verified()), mended, "anti-entropy makes it worse")
		})
	}
}

// TestHalfABackup: a backup that lost its end, or a line between, does not pass for a whole one.
func TestHalfABackup(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	mixed(w)
	var out bytes.Buffer
	_, err := w.Backup(t.Context(), &out, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	lines := bytes.SplitAfter(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	for name, half := range map[string][][]byte{
		"without its end":  lines[:len(lines)-1],
		"without its half": lines[:len(lines)/2],
		"without a vote":   slices.Delete(slices.Clone(lines), len(lines)-2, len(lines)-1),
		"without its head": lines[1:],
	} {
		err := restore(t.Context(), newWorldOn(t, memory.NewTables()).DB, bytes.NewReader(bytes.Join(half, nil)))
		require.Error(t, err, name)
	}
}

// damage does something to a row that no command does.
func (w *world) damage(rnd *rand.Rand) {
	names := append(slices.Clone(indexNames), "Prompts", "Prompts", "PromptVotes", "PromptVotesByVoter")
	name := names[rnd.IntN(len(names))]
	var rows []table.Row
	for row, err := range table.All(w.t.Context(), w.store, name, table.Range{}) {
		require.NoError(w.t, err)
		rows = append(rows, row)
	}
	row := rows[rnd.IntN(len(rows))]
	merge := func(p table.Prop) {
		w.must(name, table.Op{Kind: table.Merge, Row: table.Row{Key: row.Key, ETag: table.Any, Props: table.Props{p}}})
	}
	switch rnd.IntN(5) {
	case 0:
		w.must(name, table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
	case 1: // unreadable
		merge(table.Prop{Name: "Pending", Value: table.String("{")})
	case 2: // of somebody else's program
		key := table.Key{Partition: "foreign", Row: fmt.Sprint("row ", rnd.IntN(100))}
		w.must(name, table.Op{
			Kind: table.Upsert,
			Row:  table.Row{Key: key, Props: table.Props{{Name: "What", Value: table.String("ever")}}},
		})
	case 3:
		merge(table.Prop{Name: "RowsVersion", Value: table.Int32(promptdb.RowsVersion + 1)})
	default:
		p := row.Props[rnd.IntN(len(row.Props))]
		merge(table.Prop{Name: p.Name, Value: other(p.Value)})
	}
}
