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

	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// exported are contents without files and prefix.
var exported = backup.Contents{
	Application: "test", Sums: backup.IsSum("k|"),
	Tables: []backup.Table{{Name: "A", Stored: "PreA"}, {Name: "B", Stored: "PreB"}},
}

func untold(string) {}

// restored reads lines into a new store.
func restored(t *testing.T, lines []byte) ([]table.Row, error) {
	t.Helper()
	other := store(t)
	checked, err := exported.Check(bytes.NewReader(lines), false)
	if err == nil {
		err = exported.Load(t.Context(), bytes.NewReader(lines), checked,
			backup.To{Tables: other}, func(backup.Count) {})
	}
	return all(t, other), err
}

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
			insert(t, db, "PreA", "p", fmt.Sprintf("%03d", i),
				table.Prop{Name: "s", Value: table.String(strings.Repeat("x", i))})
		}
		f.Store = memory.NewBlobs(func() time.Time { return now })
		e := backup.Exporter{
			Contents: exported, Blobs: &f, Every: 24 * time.Hour, MaxPart: 4000,
			Now: func() time.Time { return now },
		}
		export := func() string {
			x, err := e.Export(t.Context(), backup.From{Tables: db}, untold)
			require.NoError(t, err)
			if x.Name != "" {
				require.Equal(t, 200, x.Rows)
			}
			return x.Name
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
			return restored(t, lines)
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

// slow is a store of blobs of which each change takes some time. A run ends at the n-th one, which
// lands or does not.
type slow struct {
	blob.Store
	now   *time.Time
	left  int
	lands bool
}

func (s *slow) change(do func() error) error {
	*s.now = s.now.Add(20 * time.Second)
	if s.left--; s.left > 0 {
		return do()
	}
	if s.left == 0 && s.lands {
		_ = do() // no caller hears of it
	}
	return errors.New("no answer in time")
}

func (s *slow) Put(ctx context.Context, container, name string, body []byte) error {
	return s.change(func() error { return s.Store.Put(ctx, container, name, body) })
}

func (s *slow) Delete(ctx context.Context, container, name string) error {
	return s.change(func() error { return s.Store.Delete(ctx, container, name) })
}

// TestExportGoesOn: the time of a run is up, or it ends at any change, and the next ones go on. The
// export is one backup, with what came meanwhile into partitions that were still to be read.
func TestExportGoesOn(t *testing.T) {
	t.Parallel()
	paused := 0
	for _, lands := range []bool{false, true} {
		for n := 1; ; n += 1 + n/10 {
			what := fmt.Sprintf("change %d, lands %v", n, lands)
			db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 0, time.UTC)
			for i := range 60 {
				for j := range 1 + i%5*i%7 { // also partitions that are larger than a part
					insert(t, db, []string{"PreA", "PreB"}[i/40], fmt.Sprintf("p%02d", i), fmt.Sprintf("%03d", j),
						table.Prop{Name: "s", Value: table.String(strings.Repeat("x", 10*i))})
				}
			}
			blobs := memory.NewBlobs(func() time.Time { return now })
			e := backup.Exporter{
				Contents: exported, Every: 24 * time.Hour, MaxPart: 4000,
				Now: func() time.Time { return now },
			}
			done, runs, failed := backup.Exported{}, 0, 0
			for ; !done.Done; runs++ {
				require.Less(t, runs, 23, "it does not end")
				begun := now
				e.Blobs = &slow{blobs, &now, n, lands}
				if runs > 1 {
					e.Blobs = &slow{blobs, &now, 1000, false}
				}
				x, err := e.Export(t.Context(), backup.From{Tables: db}, untold)
				switch done = x; {
				case err != nil:
					failed++
				case !x.Done:
					paused++
					require.Less(t, now.Sub(begun), 4*time.Minute, what)
				}
				insert(t, db, "PreB", "q", fmt.Sprint(runs))
				now = begun.Add(time.Hour)
			}
			x, err := e.Export(t.Context(), backup.From{Tables: db}, untold)
			require.NoError(t, err, what)
			require.Empty(t, x.Name, "there is one of today")
			lines, err := parts.Open(func(name string) ([]byte, error) {
				b, err := blobs.Get(t.Context(), backup.Container, done.Name+"/"+name)
				return b.Body, err
			})
			require.NoError(t, err)
			text, err := io.ReadAll(lines)
			require.NoError(t, err)
			rows, err := restored(t, text)
			require.NoError(t, err, what)
			require.Len(t, rows, done.Rows, what)
			require.Equal(t, all(t, db)[:done.Rows], rows, "%s: but for the row that came after it", what)
			require.Len(t, all(t, db), done.Rows+1, what)
			if failed == 0 {
				require.Greater(t, n, 5, "accidents never happened")
				break // there is no such change
			}
		}
	}
	require.Greater(t, paused, 10)
}

// TestExportBegunAnew: an export that was stopped before a part was there, or that was stopped long
// ago, does not keep the next run from another one.
func TestExportBegunAnew(t *testing.T) {
	t.Parallel()
	db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 0, time.UTC)
	insert(t, db, "PreA", "p", "row")
	blobs := memory.NewBlobs(func() time.Time { return now })
	e := backup.Exporter{Contents: exported, Blobs: blobs, Every: 24 * time.Hour, Now: func() time.Time { return now }}
	stopped := e
	stopped.Blobs = stopping{blobs}
	x, err := stopped.Export(t.Context(), backup.From{Tables: db}, untold)
	require.Error(t, err)
	require.Equal(t, []string{x.Name + "/0001.jsonl.gz"}, names(t, blobs))
	now = now.Add(24 * time.Hour)
	x, err = e.Export(t.Context(), backup.From{Tables: db}, untold)
	require.NoError(t, err)
	require.Equal(t, backup.Exported{Name: "20261102t125000z", Count: backup.Count{Rows: 1}, Done: true}, x)
}

// stopping is a store of blobs that takes no manifest.
type stopping struct{ blob.Store }

func (s stopping) Put(ctx context.Context, container, name string, body []byte) error {
	if strings.HasSuffix(name, "manifest.json") {
		return errors.New("no answer in time")
	}
	return s.Store.Put(ctx, container, name, body)
}

// TestDamagedExport: a bit that is changed in any part of an export, or in its manifest, is refused
// with the part's name.
func TestDamagedExport(t *testing.T) {
	t.Parallel()
	db, now := store(t), time.Date(2026, 11, 1, 12, 50, 0, 0, time.UTC)
	for i := range 100 {
		insert(t, db, "PreA", fmt.Sprintf("%03d", i), "r",
			table.Prop{Name: "s", Value: table.String(strings.Repeat("x", i))})
	}
	blobs := memory.NewBlobs(func() time.Time { return now })
	x, err := backup.Exporter{
		Contents: exported, Blobs: blobs, Every: 24 * time.Hour, MaxPart: 4000,
		Now: func() time.Time { return now },
	}.Export(t.Context(), backup.From{Tables: db}, untold)
	require.NoError(t, err)
	all := map[string][]byte{}
	for _, name := range names(t, blobs) {
		got, err := blobs.Get(t.Context(), backup.Container, name)
		require.NoError(t, err)
		all[strings.TrimPrefix(name, x.Name+"/")] = got.Body
	}
	require.Greater(t, len(all), 3)
	read := func(bad string, at int) error {
		lines, err := parts.Open(func(name string) ([]byte, error) {
			body := bytes.Clone(all[name])
			if name == bad {
				body[at] ^= 1 << (at % 8)
			}
			return body, nil
		})
		if err == nil {
			_, err = io.Copy(io.Discard, lines)
		}
		return err
	}
	require.NoError(t, read("", 0))
	for name, body := range all {
		for at := 0; at < len(body); at += 7 {
			err := read(name, at)
			require.Error(t, err, "%s %d", name, at)
			if name != "manifest.json" || !strings.Contains(err.Error(), "newer than this program") {
				require.ErrorContains(t, err, "part "+name+" of the backup is damaged", at)
			}
		}
	}
}
