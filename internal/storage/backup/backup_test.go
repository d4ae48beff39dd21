package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// contents are those of an application whose rows in B name files, and whose table C is in no
// backup.
var contents = backup.Contents{
	Application: "test", Sums: backup.IsSum("k|"), Prefix: "pre-", Containers: []string{"files"},
	Tables: []backup.Table{
		{Name: "A", Stored: "PreA", Without: []string{"place"}},
		{Name: "C", Stored: "PreC", Out: "it opens accounts"},
		{Name: "B", Stored: "PreB", Names: func(row table.Row) (files []backup.Blob) {
			if name := row.Props.Get("file").Str(); name != "" {
				files = append(files, backup.Blob{Container: "files", Name: name})
			}
			return files
		}},
	},
}

func store(t *testing.T) *memory.Tables {
	t.Helper()
	db := memory.NewTables()
	require.NoError(t, db.Create(t.Context(), "PreA", "PreB", "PreC"))
	return db
}

func insert(t *testing.T, db table.DB, name, partition, row string, props ...table.Prop) {
	t.Helper()
	_, err := db.Write(t.Context(), name,
		table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: partition, Row: row}, Props: props}})
	require.NoError(t, err)
}

func all(t *testing.T, db table.DB) (rows []table.Row) {
	t.Helper()
	for _, one := range contents.Tables {
		for row, err := range table.All(t.Context(), db, one.Stored, table.Range{}) {
			require.NoError(t, err)
			row.ETag = ""
			rows = append(rows, row)
		}
	}
	return rows
}

// files returns an empty container.
func files(t *testing.T) blob.Store {
	t.Helper()
	blobs := memory.NewBlobs(time.Now)
	require.NoError(t, blobs.Create(t.Context(), "pre-files"))
	return blobs
}

func quiet(t *testing.T) backup.Reports {
	t.Helper()
	return backup.Reports{Progress: func(backup.Count) {}, Left: func(what string) { t.Error(what) }}
}

func write(t *testing.T, db table.DB, blobs blob.Store) string {
	t.Helper()
	var b bytes.Buffer
	n, err := contents.Write(t.Context(), backup.From{Tables: db, Blobs: blobs}, &b, quiet(t))
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(b.String()), "\n"), n.Rows+n.Blobs+2)
	return b.String()
}

// load reads a backup into a new store.
func load(t *testing.T, text string) (*memory.Tables, blob.Store) {
	t.Helper()
	db, blobs := store(t), files(t)
	checked, err := contents.Check(strings.NewReader(text), false)
	require.NoError(t, err)
	require.NoError(t, contents.Load(t.Context(), strings.NewReader(text), checked,
		backup.To{Tables: db, Blobs: blobs}, func(backup.Count) {}))
	return db, blobs
}

// TestRoundTrip: every type, many rows of a partition and long texts come back as they were.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	db := store(t)
	insert(t, db, "PreA", "p", "every", table.Prop{Name: "s", Value: table.String("<a>\n\"\u2028𝄞")},
		table.Prop{Name: "e", Value: table.String("")},
		table.Prop{Name: "b", Value: table.Bool(true)}, table.Prop{Name: "f", Value: table.Bool(false)},
		table.Prop{Name: "i", Value: table.Int32(-7)},
		table.Prop{Name: "l", Value: table.Int64(1<<62 + 1)},
		table.Prop{Name: "t", Value: table.Time(time.Date(2026, 11, 1, 12, 0, 0, 123456700, time.UTC))})
	for i := range 250 {
		insert(t, db, "PreB", "many", strings.Repeat("x", i+1),
			table.Prop{Name: "text", Value: table.String(strings.Repeat("y", 30_000))})
	}
	insert(t, db, "PreB", "more", "x", table.Prop{Name: "file", Value: table.String("some/a.jpg")})
	blobs := files(t)
	require.NoError(t, blobs.Put(t.Context(), "pre-files", "some/a.jpg", []byte{0, 1, 255}))
	require.NoError(t, blobs.Put(t.Context(), "pre-files", "some/of-no-row.jpg", nil))
	insert(t, db, "PreC", "p", "secret")
	insert(t, db, "PreA", "place", "timer")
	text := write(t, db, blobs)
	require.Equal(t, `{"backup":"test","version":2,"without":["C"]}`, strings.SplitN(text, "\n", 2)[0])
	require.NotContains(t, text, "secret")
	require.NotContains(t, text, "timer")
	other, restored := load(t, text)
	require.Equal(t, text, write(t, other, restored), "the same to the letter")
	got, err := restored.Get(t.Context(), "pre-files", "some/a.jpg")
	require.NoError(t, err)
	require.Equal(t, []byte{0, 1, 255}, got.Body)
	page, err := restored.List(t.Context(), "pre-files", "", 10, "")
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.ErrorContains(t, contents.Empty(t.Context(), backup.To{Tables: other, Blobs: restored}, ""),
		"the table PreA has rows")
}

// TestEmpty: rows that no backup has are none, but files without rows are another store's.
func TestEmpty(t *testing.T) {
	t.Parallel()
	db, blobs := store(t), files(t)
	to := backup.To{Tables: db, Blobs: blobs}
	insert(t, db, "PreC", "p", "secret")
	insert(t, db, "PreA", "place", "timer")
	require.NoError(t, blobs.Put(t.Context(), "pre-files", "mark.json", nil))
	require.NoError(t, contents.Empty(t.Context(), to, "mark.json"))
	require.NoError(t, blobs.Put(t.Context(), "pre-files", "a.jpg", nil))
	require.ErrorContains(t, contents.Empty(t.Context(), to, "mark.json"), "files in pre-files")
	require.NoError(t, contents.Empty(t.Context(),
		backup.To{Tables: memory.NewTables(), Blobs: memory.NewBlobs(time.Now)}, ""), "a store before its first start")
}

// TestRefused: Check refuses a text that is no whole backup of this application, and says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	db, blobs := store(t), files(t)
	insert(t, db, "PreA", "p", "r", table.Prop{Name: "n", Value: table.Int32(1)})
	insert(t, db, "PreB", "p", "r", table.Prop{Name: "file", Value: table.String("a.jpg")})
	require.NoError(t, blobs.Put(t.Context(), "pre-files", "a.jpg", []byte("x")))
	lines := strings.SplitAfter(strings.TrimSuffix(write(t, db, blobs), "\n"), "\n")
	head, a, b, file, end := lines[0], lines[1], lines[2], lines[3], lines[4]+"\n"
	for bad, why := range map[string]string{
		"":                               "cut short",
		head:                             "cut short",
		head + a + b + file:              "cut short",
		a + b + file + end:               "line 1 of the backup: it does not begin a backup of test",
		"x\n":                            "line 1 of the backup: it does not begin",
		head + a + end:                   "line 3 of the backup: it says that there are 2 rows",
		head + a + a + b + file + end:    "it says that there are 2 rows and 1 files, and there are 3 and 1",
		head + a + b + file + end + a:    "something follows",
		head + a + b + end:               "line 4 of the backup: before it, a row of B p names the file files/a.jpg, which the backup does not have",
		head + a + file + b + end:        "line 3 of the backup: the file files/a.jpg belongs to no row",
		head + a + b + file + file + end: "line 5 of the backup: the file files/a.jpg belongs to no row",
		head + "x\n" + end:               "line 2 of the backup: it is none of a backup",
		strings.Replace(head, "test", "other", 1) + a: "it begins a backup of other, and this is test",
		strings.Replace(head, ":2", ":3", 1) + a:      "newer than this program",
		strings.Replace(head, ":2", ":1", 1) + a:      "of version 1, and this program reads 2",
		head + strings.Replace(a, `"A"`, `"D"`, 1):    `it is of a table "D"`,
		head + strings.Replace(a, `"A"`, `"C"`, 1):    `it is of a table "C"`,
		head + strings.Replace(a, `"p"`, `"place"`,
			1): `it is of a table "A" or a partition of it that no backup`,
		head + strings.Replace(a, "int32", "int16", 1):                 "a property without a value",
		head + a + `{"table":"A","partition":"q","again":true}` + "\n": "repeats a partition",
	} {
		_, err := contents.Check(strings.NewReader(bad), false)
		require.ErrorContains(t, err, why, bad)
	}
	_, err := contents.Check(strings.NewReader(head+a+b+strings.Replace(end, `"blobs":1`, `"blobs":0`, 1)), true)
	require.NoError(t, err, "it may be incomplete")
}

// TestSealed: a bit that is changed anywhere in a file is refused with the part that it is in, and
// so is a file that is cut anywhere.
func TestSealed(t *testing.T) {
	t.Parallel()
	var text, sealed bytes.Buffer
	seal := backup.NewSealer(&sealed).WithParts(1000)
	for i := range 40 {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("x", i*i))
	}
	_, err := io.Copy(seal, iotest.HalfReader(bytes.NewReader(text.Bytes())))
	require.NoError(t, err)
	require.NoError(t, seal.Close())
	unsealed := func(b []byte) error {
		_, err := io.Copy(io.Discard, backup.Unseal(bytes.NewReader(b)))
		return err
	}
	whole := sealed.Bytes()
	lines, err := io.ReadAll(backup.Unseal(bytes.NewReader(whole)))
	require.NoError(t, err)
	require.Equal(t, text.String(), string(lines))
	sums := 0
	part := func(at int) string {
		return fmt.Sprintf("part %04d", bytes.Count(whole[:at], []byte("\n"+`{"part":`))+1)
	}
	for _, l := range bytes.Split(whole, []byte("\n")) {
		if bytes.HasPrefix(l, []byte(`{"part":`)) {
			sums++
		}
	}
	require.Greater(t, sums, 10)
	for at := 0; at < len(whole); at += 1 + at/40 {
		for back := range 2 { // from either end
			at := []int{at, len(whole) - 1 - at}[back]
			bad := bytes.Clone(whole)
			bad[at] ^= 1 << (at % 8)
			err := unsealed(bad)
			require.Error(t, err, at)
			name := part(at)
			// its sum is of it
			if begin := bytes.LastIndexByte(whole[:at], '\n') + 1; bytes.HasPrefix(whole[begin:], []byte(`{"part":`)) {
				name = part(begin - 1)
			}
			require.ErrorContains(t, err, name, at)
			require.ErrorContains(t, unsealed(whole[:at]), "cut short", at)
		}
	}
	require.ErrorContains(t, unsealed(append(bytes.Clone(whole), 'x')), "follows")
}

// A busy store changes a sum and a row the first time that its rows are read.
type busy struct {
	table.DB
	left int
}

func (b *busy) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := b.DB.List(ctx, name, r, limit, next)
	if name == "PreA" && b.left > 0 {
		b.left--
		if _, err := b.DB.Write(ctx, name,
			table.Op{
				Kind: table.Upsert,
				Row: table.Row{
					Key:   table.Key{Partition: "p", Row: "k|00"},
					Props: table.Props{{Name: "n", Value: table.Int32(int32(2 + b.left))}},
				},
			},
			table.Op{
				Kind: table.Upsert,
				Row:  table.Row{Key: table.Key{Partition: "p", Row: "v|" + string('a'+rune(b.left))}},
			}); err != nil {
			return page, err
		}
	}
	return page, err
}

// TestOneState: a partition that changes while it is read is written as it was at one moment.
func TestOneState(t *testing.T) {
	t.Parallel()
	db := store(t)
	insert(t, db, "PreA", "p", "k|00", table.Prop{Name: "n", Value: table.Int32(1)})
	var b bytes.Buffer
	n, err := contents.Write(t.Context(), backup.From{Tables: &busy{db, 2}, Blobs: files(t)}, &b, quiet(t))
	require.NoError(t, err)
	require.Equal(t, 3, n.Rows, "the sum, and both rows that it counts")
	_, err = contents.Write(t.Context(), backup.From{Tables: &busy{db, 1000}, Blobs: files(t)}, &b, quiet(t))
	require.ErrorContains(t, err, "changes all the time")
}

// A deleting store has a row and its file deleted, or the row replaced, before the file is read.
type deleting struct {
	blob.Store
	first func()
}

func (d *deleting) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	if first := d.first; first != nil {
		d.first = nil
		first()
	}
	return d.Store.Get(ctx, container, name)
}

// TestFileDeletedMeanwhile: a file that is deleted with its row while a store is read that others
// change is not missing in the backup; one that is lost is told of, and its row is kept.
func TestFileDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	named := func(file string) table.Prop { return table.Prop{Name: "file", Value: table.String(file)} }
	for name, tt := range map[string]struct {
		ops  []table.Op
		rows []string
		left int
	}{
		"deleted": {
			[]table.Op{{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "p", Row: "a"}, ETag: table.Any}}},
			[]string{"b"},
			0,
		},
		"replaced": {
			[]table.Op{{
				Kind: table.Upsert,
				Row:  table.Row{Key: table.Key{Partition: "p", Row: "a"}, Props: table.Props{named("c.jpg")}},
			}},
			[]string{"a", "b"},
			0,
		},
		"all gone": {
			[]table.Op{
				{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "p", Row: "a"}, ETag: table.Any}},
				{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "p", Row: "b"}, ETag: table.Any}},
			},
			nil,
			0,
		},
		"lost": {nil, []string{"a", "b"}, 1},
	} {
		db, blobs := store(t), files(t)
		insert(t, db, "PreB", "p", "a", named("a.jpg"))
		insert(t, db, "PreB", "p", "b", named("b.jpg"))
		for _, file := range []string{"a.jpg", "b.jpg", "c.jpg"} {
			require.NoError(t, blobs.Put(t.Context(), "pre-files", file, []byte(file)))
		}
		d := &deleting{blobs, func() {
			if tt.ops != nil {
				_, err := db.Write(t.Context(), "PreB", tt.ops...)
				require.NoError(t, err)
			}
			require.NoError(t, blobs.Delete(t.Context(), "pre-files", "a.jpg"))
		}}
		var b bytes.Buffer
		left := 0
		_, err := contents.Write(t.Context(), backup.From{Tables: db, Blobs: d}, &b,
			backup.Reports{Progress: func(backup.Count) {}, Left: func(string) { left++ }})
		require.NoError(t, err, name)
		require.Equal(t, tt.left, left, name)
		checked, err := contents.Check(bytes.NewReader(b.Bytes()), tt.left > 0)
		require.NoError(t, err, name)
		other, restored := store(t), files(t)
		require.NoError(t, contents.Load(t.Context(), &b, checked, backup.To{Tables: other, Blobs: restored},
			func(backup.Count) {}))
		var rows []string
		for _, row := range all(t, other) {
			rows = append(rows, row.Row)
			if got, err := restored.Get(t.Context(), "pre-files", row.Props.Get("file").Str()); tt.left == 0 {
				require.NoError(t, err, name)
				require.Equal(t, row.Props.Get("file").Str(), string(got.Body))
			}
		}
		require.Equal(t, tt.rows, rows, name)
	}
}

// TestUnload: Unload removes the rows and files that were written of a backup, and no others.
func TestUnload(t *testing.T) {
	t.Parallel()
	db, blobs := store(t), files(t)
	insert(t, db, "PreA", "p", "r")
	insert(t, db, "PreB", "p", "r", table.Prop{Name: "file", Value: table.String("a.jpg")})
	require.NoError(t, blobs.Put(t.Context(), "pre-files", "a.jpg", []byte("x")))
	text := write(t, db, blobs)
	other, restored := load(t, text)
	insert(t, other, "PreA", "q", "of another")
	_, err := other.Write(t.Context(), "PreA",
		table.Op{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "p", Row: "r"}, ETag: table.Any}})
	require.NoError(t, err, "it was not written yet")
	checked, err := contents.Check(strings.NewReader(text), false)
	require.NoError(t, err)
	require.NoError(t, contents.Unload(t.Context(), strings.NewReader(text), checked,
		backup.To{Tables: other, Blobs: restored}))
	left := all(t, other)
	require.Len(t, left, 1)
	require.Equal(t, "of another", left[0].Row)
	page, err := restored.List(t.Context(), "pre-files", "", 10, "")
	require.NoError(t, err)
	require.Empty(t, page.Items)
}

// A lateStore lands writes only after their senders have given up.
type lateStore struct {
	table.DB
	late  int // how many
	sent  int
	after time.Duration
}

func (s *lateStore) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	s.sent++
	if s.sent > s.late {
		return s.DB.Write(ctx, name, ops...)
	}
	time.AfterFunc(s.after, func() { _, _ = s.DB.Write(context.WithoutCancel(ctx), name, ops...) })
	time.Sleep(rowstore.CallWithin)
	return nil, context.DeadlineExceeded
}

// TestLateWrites: a restore sends a batch again that the service did not answer, and no write of it
// lands after it has returned.
func TestLateWrites(t *testing.T) {
	t.Parallel()
	db, blobs := store(t), files(t)
	insert(t, db, "PreA", "p", "r", table.Prop{Name: "is", Value: table.String("of the backup")})
	text := write(t, db, blobs)
	checked, err := contents.Check(strings.NewReader(text), false)
	require.NoError(t, err)
	key := table.Key{Partition: "p", Row: "r"}
	after := rowstore.CallWithin + rowstore.WriteEnd - time.Nanosecond
	for name, late := range map[string]int{"one": 1, "some": 4} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				to := store(t)
				loaded := &lateStore{DB: to, late: late, after: after}
				require.NoError(t, contents.Load(t.Context(), strings.NewReader(text), checked,
					backup.To{Tables: loaded, Blobs: blobs}, func(backup.Count) {}))
				require.Equal(t, late+1, loaded.sent)
				changed := table.Row{
					Key: key, ETag: table.Any,
					Props: table.Props{{Name: "is", Value: table.String("repaired")}},
				}
				_, err := to.Write(t.Context(), "PreA", table.Op{Kind: table.Replace, Row: changed})
				require.NoError(t, err)
				time.Sleep(time.Hour)
				row, err := to.Get(t.Context(), "PreA", key)
				require.NoError(t, err)
				require.Equal(t, "repaired", row.Props.Get("is").Str())
			})
		})
	}
	t.Run("none answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			to := store(t)
			loaded := backup.To{Tables: &lateStore{DB: to, late: 5, after: after}, Blobs: blobs}
			require.ErrorIs(t, contents.Load(t.Context(), strings.NewReader(text), checked, loaded,
				func(backup.Count) {}), context.DeadlineExceeded)
			require.NoError(t, contents.Unload(t.Context(), strings.NewReader(text), checked, loaded))
			time.Sleep(time.Hour)
			require.Empty(t, all(t, to))
		})
	})
	t.Run("refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			refusing := &lateStore{DB: memory.NewTables()} // which has no tables
			require.Error(t, contents.Load(t.Context(), strings.NewReader(text), checked,
				backup.To{Tables: refusing, Blobs: blobs}, func(backup.Count) {}))
			require.Equal(t, 1, refusing.sent)
		})
	})
}
