package backup_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// names returns the names of all blobs of exports.
func names(t *testing.T, blobs blob.Store) (all []string) {
	t.Helper()
	page, err := blobs.List(t.Context(), backup.Container, "", blob.MaxPage, "")
	require.NoError(t, err)
	for _, item := range page.Items {
		all = append(all, item.Name)
	}
	return all
}

// failing is a store of blobs of which the n-th Put fails, and lands or does not.
type failing struct {
	blob.Store
	left  int
	lands bool
}

func (f *failing) Put(ctx context.Context, container, name string, body []byte) error {
	if f.left--; f.left == 0 {
		if f.lands {
			_ = f.Store.Put(ctx, container, name, body) // no caller hears of it
		}
		return errors.New("no answer in time")
	}
	return f.Store.Put(ctx, container, name, body)
}

// TestExport: an export has all rows in its parts, each as the manifest says, and a restore reads
// them one after the other. There is another one after its time, and no part is enough by itself.
func TestExport(t *testing.T) {
	t.Parallel()
	for _, f := range []failing{{}, {left: 2, lands: true}, {left: 2}, {left: 1}} {
		db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 1, time.UTC)
		for i := range 200 {
			insert(t, db, "PreA", "p", fmt.Sprintf("%03d", i), table.Prop{Name: "s", Value: table.String(strings.Repeat("x", i))})
		}
		f.Store = memory.NewBlobs(func() time.Time { return now })
		e := backup.Exporter{Blobs: &f, Every: 24 * time.Hour, MaxPart: 4000, Now: func() time.Time { return now }}
		export := func() string {
			folder, rows, err := e.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
			require.NoError(t, err)
			if folder != "" {
				require.Equal(t, 200, rows)
			}
			return folder
		}
		folder := export()
		require.Equal(t, "20261101t125000z", folder)
		read := func(name string) []byte {
			b, err := f.Get(t.Context(), backup.Container, folder+"/"+name)
			require.NoError(t, err)
			return b.Body
		}
		var m parts.Manifest
		require.NoError(t, json.Unmarshal(read("manifest.json"), &m))
		require.Equal(t, 200, m.Rows)
		require.Greater(t, len(m.Parts), 3)
		require.Len(t, names(t, &f), len(m.Parts)+1)
		var bodies [][]byte
		for _, p := range m.Parts {
			body := read(p.Name)
			sum := sha256.Sum256(body)
			require.Equal(t, parts.Part{Name: p.Name, Bytes: len(body), SHA256: hex.EncodeToString(sum[:])}, p)
			bodies = append(bodies, body)
		}
		restore := func(bodies [][]byte) ([]table.Row, error) {
			z, err := gzip.NewReader(bytes.NewReader(bytes.Join(bodies, nil))) // as cat and gunzip do it
			require.NoError(t, err)
			lines, err := io.ReadAll(z)
			require.NoError(t, err)
			other := store(t)
			_, err = backup.Read(t.Context(), other, "test", tables, bytes.NewReader(lines))
			return all(t, other), err
		}
		rows, err := restore(bodies)
		require.NoError(t, err)
		require.Equal(t, all(t, db), rows)
		for i := range bodies {
			_, err := restore(append(append([][]byte{}, bodies[:i]...), bodies[i+1:]...))
			require.Error(t, err, "part %d is missing", i+1)
		}

		now = now.Add(23 * time.Hour)
		require.Empty(t, export(), "there is one of today")
		now = now.Add(time.Hour - time.Millisecond) // timers are early
		require.Equal(t, "20261102t124959z", export())
	}
}

// TestExportBegunAnew: an export that was stopped has no manifest, and does not keep the next run
// from another one.
func TestExportBegunAnew(t *testing.T) {
	t.Parallel()
	db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 0, time.UTC)
	insert(t, db, "PreA", "p", "row")
	blobs := memory.NewBlobs(func() time.Time { return now })
	e := backup.Exporter{Blobs: blobs, Every: 24 * time.Hour, Now: func() time.Time { return now }}
	stopped := e
	stopped.Blobs = stopping{blobs}
	folder, _, err := stopped.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
	require.Error(t, err)
	require.Equal(t, []string{folder + "/0001.jsonl.gz"}, names(t, blobs))
	now = now.Add(time.Hour)
	folder, _, err = e.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
	require.NoError(t, err)
	require.Equal(t, "20261101t135000z", folder)
}

// stopping is a store of blobs that takes no manifest.
type stopping struct{ blob.Store }

func (s stopping) Put(ctx context.Context, container, name string, body []byte) error {
	if strings.HasSuffix(name, "manifest.json") {
		return errors.New("no answer in time")
	}
	return s.Store.Put(ctx, container, name, body)
}
