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
	"slices"
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

// cut is a store of blobs at whose n-th change a run ends: the change lands or does not.
type cut struct {
	blob.Store
	left  int
	lands bool
	end   context.CancelFunc
}

func (c *cut) change(do func() error) error {
	if c.left--; c.left > 0 {
		return do()
	}
	if c.left == 0 && c.lands {
		_ = do() // no caller hears of it
	}
	c.end()
	return context.Canceled
}

func (c *cut) Put(ctx context.Context, container, name string, body []byte) error {
	return c.change(func() error { return c.Store.Put(ctx, container, name, body) })
}

func (c *cut) Delete(ctx context.Context, container, name string) error {
	return c.change(func() error { return c.Store.Delete(ctx, container, name) })
}

// TestExportGoesOn: a run that ends at any change, or two that do, are gone on with by the next one.
// The export is one backup, with nothing of the parts that were not good, and what came into tables
// that were still to be read is in it.
func TestExportGoesOn(t *testing.T) {
	t.Parallel()
	wentOn := 0
	for _, lands := range []bool{false, true} {
		for n := 1; ; n += 1 + n/10 {
			what := fmt.Sprintf("change %d, lands %v", n, lands)
			db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 0, time.UTC)
			for i := range 60 {
				for j := range 1 + i%5*i%7 { // also partitions that are larger than a part
					insert(t, db, []string{"PreA", "PreB"}[i/40], fmt.Sprintf("p%02d", i), fmt.Sprintf("%03d", j), table.Prop{Name: "s", Value: table.String(strings.Repeat("x", 10*i))})
				}
			}
			blobs := memory.NewBlobs(func() time.Time { return now })
			e := backup.Exporter{Every: 24 * time.Hour, MaxPart: 4000, Now: func() time.Time { return now }}
			ended := 0
			for range 2 {
				ctx, end := context.WithCancel(t.Context())
				c := &cut{blobs, n, lands, end}
				e.Blobs = c
				_, _, err := e.Export(ctx, db, "test", tables, backup.IsSum("k|"))
				if c.left > 0 {
					require.NoError(t, err, what)
					break
				}
				ended++
				now = now.Add(time.Hour)
				insert(t, db, "PreB", "q", fmt.Sprint(ended))
			}
			const never = 1 << 30
			last := &cut{blobs, never, lands, func() {}}
			e.Blobs = last
			_, _, err := e.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
			require.NoError(t, err, what)
			now = now.Add(time.Hour)
			folder, _, err := e.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
			require.NoError(t, err, what)
			require.Empty(t, folder, "there is one of today")

			var folders []string
			text := map[string][]byte{}
			for _, name := range names(t, blobs) {
				b, err := blobs.Get(t.Context(), backup.Container, name)
				require.NoError(t, err)
				folder, file, _ := strings.Cut(name, "/")
				if file == "manifest.json" {
					folders = append(folders, folder)
				}
				text[name] = b.Body
			}
			require.Len(t, folders, 1, what)
			var m parts.Manifest
			require.NoError(t, json.Unmarshal(text[folders[0]+"/manifest.json"], &m))
			var bodies bytes.Buffer
			for _, p := range m.Parts {
				sum := sha256.Sum256(text[folders[0]+"/"+p.Name])
				require.Equal(t, hex.EncodeToString(sum[:]), p.SHA256, what)
				bodies.Write(text[folders[0]+"/"+p.Name])
			}
			if never-last.left < len(m.Parts) {
				wentOn++
			}
			for name := range text {
				if folder, file, _ := strings.Cut(name, "/"); folder == folders[0] && strings.HasSuffix(file, ".jsonl.gz") {
					require.True(t, slices.ContainsFunc(m.Parts, func(p parts.Part) bool { return p.Name == file }), "%s: %s is in the folder", what, file)
				}
			}
			z, err := gzip.NewReader(&bodies)
			require.NoError(t, err)
			other := store(t)
			rows, err := backup.Read(t.Context(), other, "test", tables, z)
			require.NoError(t, err, what)
			require.Equal(t, m.Rows, rows, what)
			require.Equal(t, all(t, db)[:rows], all(t, other), what) // but for what came after the last run had passed
			if ended == 0 {
				require.Greater(t, n, 10, "accidents never happened")
				break
			}
		}
	}
	require.Greater(t, wentOn, 20)
}

// TestExportInRuns: a run whose time is up leaves the rest to the next one.
func TestExportInRuns(t *testing.T) {
	t.Parallel()
	db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 0, time.UTC)
	for i := range 30 {
		insert(t, db, "PreA", fmt.Sprintf("p%02d", i), "row")
	}
	e := backup.Exporter{Blobs: memory.NewBlobs(func() time.Time { return now }), Every: 24 * time.Hour, Now: func() time.Time {
		now = now.Add(20 * time.Second) // for each partition, nearly
		return now
	}}
	first, rows, err := e.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
	require.ErrorIs(t, err, backup.ErrUnfinished)
	for runs := 1; err != nil; runs++ {
		require.ErrorIs(t, err, backup.ErrUnfinished)
		require.Less(t, runs, 10)
		before := rows
		var folder string
		folder, rows, err = e.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
		require.Equal(t, first, folder)
		require.Greater(t, rows, before)
	}
	require.Equal(t, 30, rows)
}

// TestExportBegunAnew: an export that was stopped has no manifest, and does not keep the next run
// from another one. One that was stopped long ago is not gone on with.
func TestExportBegunAnew(t *testing.T) {
	t.Parallel()
	db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 0, time.UTC)
	insert(t, db, "PreA", "p", "row")
	blobs := memory.NewBlobs(func() time.Time { return now })
	for _, most := range []int{0, 1} { // with parts that are not good, and with good ones
		e := backup.Exporter{Blobs: blobs, Every: 24 * time.Hour, Now: func() time.Time { return now }, MaxPart: most}
		stopped := e
		stopped.Blobs = stopping{blobs}
		folder, _, err := stopped.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
		require.Error(t, err)
		require.NotErrorIs(t, err, backup.ErrUnfinished)
		require.Contains(t, names(t, blobs), folder+"/0001.jsonl.gz")
		now = now.Add(24 * time.Hour)
		again, _, err := e.Export(t.Context(), db, "test", tables, backup.IsSum("k|"))
		require.NoError(t, err)
		require.Greater(t, again, folder)
		now = now.Add(24 * time.Hour)
	}
}

// stopping is a store of blobs that takes no manifest.
type stopping struct{ blob.Store }

func (s stopping) Put(ctx context.Context, container, name string, body []byte) error {
	if strings.HasSuffix(name, "manifest.json") {
		return errors.New("no answer in time")
	}
	return s.Store.Put(ctx, container, name, body)
}
