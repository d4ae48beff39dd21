package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A shelf is a store whose rows share texts, in addition to what it must hold.
type shelf struct {
	*Store
	path string
	want map[string]map[table.Key]table.Row // by the table
}

var shelfTables = []string{"Rows", "Others"}

func newShelf(t *rapid.T, dir string) *shelf {
	f := &shelf{path: filepath.Join(dir, "data.db"), want: map[string]map[table.Key]table.Row{"Rows": {}, "Others": {}}}
	f.open(t)
	return f
}

func (f *shelf) open(t *rapid.T, shared ...string) {
	var err error
	f.Store, err = Open(f.path, time.Now, shared...)
	require.NoError(t, err)
	f.db.NoSync = true
}

func (f *shelf) close(t *rapid.T) { require.NoError(t, f.Close()) }

// shelfKeys are of two prompts in lists of several kinds, and of rows that share nothing.
var shelfKeys = func() (keys []table.Key) {
	for _, id := range []string{listID, listID[:25] + "C"} {
		for _, row := range []string{listKey[:20] + id, "0123456789|" + listKey[:20] + id, id} {
			keys = append(keys, table.Key{Partition: "a", Row: row}, table.Key{Partition: "b|" + id, Row: row})
		}
	}
	return append(keys, table.Key{Partition: "a", Row: "row"}, table.Key{Partition: "a", Row: listKey + "|x"})
}()

// sharedLike makes texts, some of which are too short to be shared.
func sharedLike() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "few") {
			return rapid.SampledFrom([]string{
				"", "short", strings.Repeat("a", sharedBytes),
				strings.Repeat("long ", 100), listID,
			}).Draw(t, "text")
		}
		return fmt.Sprint("one of many texts, with number ", rapid.IntRange(0, 9).Draw(t, "number"))
	})
}

func shelfProps() *rapid.Generator[table.Props] {
	return rapid.Custom(func(t *rapid.T) table.Props {
		var props table.Props
		for _, name := range []string{"Title", "Excerpt", "Note", "Outline"} {
			if rapid.IntRange(0, 3).Draw(t, "has") > 0 {
				props = append(props, table.Prop{Name: name, Value: table.String(sharedLike().Draw(t, name))})
			}
		}
		return append(props, table.Prop{Name: "N", Value: table.Int32(rapid.Int32().Draw(t, "n"))})
	})
}

// ops draws changes of rows of one partition of a table, which may be refused.
func (f *shelf) ops(t *rapid.T, name string) (ops []table.Op, good bool) {
	keys := slices.DeleteFunc(someKeys(t), func(k table.Key) bool { return k.Partition != "a" })
	if len(keys) == 0 {
		keys = append(keys, shelfKeys[1])
	}
	good = true
	for _, key := range keys {
		kind := rapid.SampledFrom([]table.Kind{
			table.Insert, table.Replace, table.Merge, table.Upsert, table.Upsert,
			table.Delete,
		}).Draw(t, "kind")
		op := table.Op{Kind: kind, Row: table.Row{Key: key}}
		if kind != table.Delete {
			op.Row.Props = shelfProps().Draw(t, "props")
		}
		_, there := f.want[name][key]
		switch kind {
		case table.Insert:
			good = good && !there
		case table.Replace, table.Merge, table.Delete:
			good = good && there
			op.Row.ETag = table.Any
		}
		ops = append(ops, op)
	}
	return ops, good
}

func someKeys(t *rapid.T) []table.Key {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(shelfKeys), 1, 6, func(k table.Key) table.Key {
		return k
	}).Draw(t, "keys")
}

// change carries out a transaction, which is applied or refused as it must be: of rows of one table
// under conditions, and of others of another one without any.
func (f *shelf) change(t *rapid.T) {
	names := rapid.Permutation(shelfTables).Draw(t, "tables")
	c := transact.Transaction{Table: names[0]}
	var good bool
	c.Ops, good = f.ops(t, names[0])
	for _, key := range someKeys(t) {
		if rapid.Bool().Draw(t, "put") {
			c.Put = append(c.Put, transact.Row{
				Table: names[1],
				Row:   table.Row{Key: key, Props: shelfProps().Draw(t, "props")},
			})
		} else {
			c.Drop = append(c.Drop, transact.Key{Table: names[1], Key: key})
		}
	}
	_, err := f.Transact(t.Context(), c)
	require.Equal(t, good, err == nil, "%v", err)
	if err != nil {
		return
	}
	rows := f.want[names[0]]
	for _, op := range c.Ops {
		row := op.Row
		switch row.ETag = ""; op.Kind {
		case table.Delete:
			delete(rows, row.Key)
			continue
		case table.Merge:
			row.Props = merge(rows[row.Key].Props, row.Props)
		}
		rows[row.Key] = row
	}
	for _, r := range c.Put {
		f.want[r.Table][r.Key] = r.Row
	}
	for _, k := range c.Drop {
		delete(f.want[k.Table], k.Key)
	}
}

// fill loads rows, in runs of a few, in place of some that are there.
func (f *shelf) fill(t *rapid.T) {
	require.NoError(t, f.load(t.Context(), rapid.IntRange(1, 500).Draw(t, "run"),
		func(put func(transact.Row) error) error {
			for _, name := range shelfTables {
				for _, key := range someKeys(t) {
					row := table.Row{Key: key, Props: shelfProps().Draw(t, "props")}
					if err := put(transact.Row{Table: name, Row: row}); err != nil {
						return err
					}
					f.want[name][key] = row
				}
			}
			return nil
		}))
}

// check compares all rows, however they are read, and counts the references anew.
func (f *shelf) check(t *rapid.T) {
	counts := make(map[string]uint64)
	for _, name := range shelfTables {
		page, err := f.Tables.List(t.Context(), name, table.Range{}, table.MaxPage, "")
		require.NoError(t, err)
		require.Len(t, page.Rows, len(f.want[name]))
		for _, row := range page.Rows {
			want := f.want[name][row.Key]
			require.True(t, want.Props.Equal(row.Props), "%s: %v, want %v", row.Key, row.Props, want.Props)
			got, err := f.Tables.Get(t.Context(), name, row.Key)
			require.NoError(t, err)
			require.Equal(t, row, got)
		}
		some := []string{"Outline", "Title"}
		page, err = f.Tables.List(t.Context(), name, table.Range{Select: some}, table.MaxPage, "")
		require.NoError(t, err)
		for _, row := range page.Rows {
			want := slices.DeleteFunc(slices.Clone(f.want[name][row.Key].Props), func(p table.Prop) bool {
				return !slices.Contains(some, p.Name)
			})
			require.True(t, want.Equal(row.Props), "%s: %v, want %v", row.Key, row.Props, want)
		}
		require.NoError(t, f.db.View(func(tx *bbolt.Tx) error {
			b, err := rowsOf(tx, name)
			require.NoError(t, err)
			return b.ForEach(func(k, v []byte) error {
				at, ok := appendPlain(nil, k)
				require.True(t, ok)
				key := keyOf(string(at))
				for _, at := range f.names.Load().referred(key, v) {
					counts[ownerOf(key)+string(rune(at.number()))]++
				}
				return nil
			})
		}))
	}
	require.NoError(t, f.db.View(func(tx *bbolt.Tx) error {
		stored := make(map[string]uint64)
		texts := make(map[string]bool)
		require.NoError(t, tx.Bucket(sharedBucket).ForEach(func(k, v []byte) error {
			rows, text, ok := sharedText(v)
			require.True(t, ok)
			stored[string(k[:len(k)-1])+string(rune(k[len(k)-1]))] = rows
			of := string(k[:len(k)-1]) + string(text)
			require.False(t, texts[of], "a text stands twice")
			texts[of] = true
			return nil
		}))
		require.Equal(t, stored, counts)
		return nil
	}))
}

// TestRowsShareTexts: after any writes, rows are as if each had its texts, and as many refer to
// a text as it counts, through all that may become of a file: a program wrote it that shares
// other texts; it is compacted; all rows go.
func TestRowsShareTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		f := newShelf(rt, t.TempDir())
		require.NoError(rt, f.Tables.Create(rt.Context(), shelfTables...))
		for range rapid.IntRange(1, 4).Draw(rt, "times") {
			for range rapid.IntRange(0, 12).Draw(rt, "changes") {
				f.change(rt)
			}
			if rapid.Bool().Draw(rt, "load") {
				f.fill(rt)
			}
			f.check(rt)
			f.close(rt)
			if rapid.Bool().Draw(rt, "compact") {
				require.NoError(rt, Compact(f.path, func(int) {}))
			}
			shared := []string{"Excerpt", "Outline"}
			if rapid.IntRange(0, 3).Draw(rt, "other") == 0 {
				shared = []string{"Title", "Excerpt"}
			}
			f.open(rt, shared...)
			f.check(rt)
		}
		for name, rows := range f.want {
			for key := range rows {
				_, err := f.Tables.Write(rt.Context(), name,
					table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: table.Any}})
				require.NoError(rt, err)
				delete(rows, key)
			}
		}
		f.check(rt)
		f.close(rt)
	})
}

// sharers makes a store with two rows that share an excerpt, and have other texts in addition to
// it.
func sharers(t *testing.T) (s *Store, keys []table.Key, props table.Props) {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "data.db"), time.Now, "Excerpt")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	props = table.Props{
		{Name: "Excerpt", Value: table.String(strings.Repeat("as it begins ", 20))},
		{Name: "Title", Value: table.String("a title")},
	}
	for _, partition := range []string{"p", "q"} {
		keys = append(keys, table.Key{Partition: partition, Row: listKey})
		mustWrite(t, s, table.Op{Kind: table.Insert, Row: table.Row{Key: keys[len(keys)-1], Props: props}})
	}
	return s, keys, props
}

// TestTextIsSharedOnce: a text is not in the rows, and not looked up for a query that does not ask
// for it.
func TestTextIsSharedOnce(t *testing.T) {
	t.Parallel()
	s, keys, props := sharers(t)
	require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
		for _, key := range keys {
			require.Less(t, len(tx.Bucket(rowsBucket("Rows")).Get(packedKey(key))), 40)
			alone, refs := s.names.Load().encode(table.Key{Partition: key.Partition, Row: listID}, props)
			require.Empty(t, refs)
			require.Equal(t, byte(rowVersion), alone[0])
		}
		b := tx.Bucket(sharedBucket)
		k, v := b.Cursor().First()
		require.Equal(t, listID+"\x00", string(k))
		require.Equal(t, "\x02"+props[0].Value.Str(), string(v))
		return b.Delete(k)
	}))
	asked := 0
	r := table.Range{FilterProps: []string{"Title"}, Filter: func(p table.Props) bool {
		require.Equal(t, props[1:], p)
		asked++
		return false
	}}
	page, err := s.Tables.List(t.Context(), "Rows", r, 10, "")
	require.NoError(t, err)
	require.Equal(t, []table.Row{{Key: keys[0]}, {Key: keys[1]}}, page.Rows)
	require.Equal(t, 2, asked)
	page, err = s.Tables.List(t.Context(), "Rows", table.Range{Select: []string{"Title"}}, 10, "")
	require.NoError(t, err)
	require.Equal(t, props[1:], page.Rows[1].Props)
}

// TestTextLikeASharedOne: a text that is also a shared one of its row is read by a query that does
// not ask for that one, whose text is not looked up.
func TestTextLikeASharedOne(t *testing.T) {
	t.Parallel()
	s, keys, props := sharers(t)
	with := append(slices.Clone(props), table.Prop{Name: "Copy", Value: props[0].Value})
	mustWrite(t, s, table.Op{Kind: table.Upsert, Row: table.Row{Key: keys[0], Props: with}})
	page, err := s.Tables.List(t.Context(), "Rows",
		table.Range{Partition: keys[0].Partition, Select: []string{"Copy"}}, 10, "")
	require.NoError(t, err)
	require.Equal(t, with[2:], page.Rows[0].Props)
	filter := func(p table.Props) bool { return p.Get("Copy") == props[0].Value }
	page, err = s.Tables.List(t.Context(), "Rows",
		table.Range{Partition: keys[0].Partition, Filter: filter, FilterProps: []string{"Copy"}}, 10, "")
	require.NoError(t, err)
	require.Equal(t, with, page.Rows[0].Props)
}

// TestTextsWithoutNumber: rows of one ULID that have more texts than there are numbers have those
// that find none themselves, and a number that is free again is taken.
func TestTextsWithoutNumber(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "data.db"), time.Now, "Excerpt", "Outline")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	rowOf := func(i int, text string) table.Row {
		return table.Row{Key: table.Key{Partition: fmt.Sprint(i), Row: listKey}, Props: table.Props{
			{Name: "Title", Value: table.String("a title")},
			{Name: "Excerpt", Value: table.String(fmt.Sprint(text, " excerpt with number ", i))},
			{Name: "Note", Value: table.String(fmt.Sprint(text, " excerpt with number ", i))},
			{Name: "Outline", Value: table.String(fmt.Sprint(text, " outline with number ", i))},
			{Name: "N", Value: table.Int32(int32(i))},
		}}
	}
	write := func(kind table.Kind, row table.Row) {
		if kind == table.Delete {
			row.ETag = table.Any
		}
		mustWrite(t, s, table.Op{Kind: kind, Row: row})
	}
	const rows = maxShared // each with two texts
	for _, text := range []string{"the first", "the second"} {
		for i := range rows {
			write(table.Upsert, rowOf(i, text))
		}
		for i := range rows {
			got, err := s.Tables.Get(t.Context(), "Rows", rowOf(i, "").Key)
			require.NoError(t, err)
			require.Equal(t, rowOf(i, text).Props, got.Props)
		}
		require.Equal(t, maxShared, s.texts(t))
	}
	for i := range rows - 1 {
		write(table.Delete, rowOf(i, ""))
	}
	write(table.Upsert, rowOf(rows-1, "the third"))
	require.Equal(t, 2, s.texts(t))
	write(table.Delete, rowOf(rows-1, ""))
	require.Zero(t, s.texts(t))
}

// texts returns how many texts stand for several rows.
func (s *Store) texts(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(sharedBucket).ForEach(func(_, _ []byte) error { n++; return nil })
	}))
	return n
}

// TestSharedTextIsGone: rows whose text is gone, damaged or another one are damaged until they are
// written again. Then each has its text, and keeps it when the other goes.
func TestSharedTextIsGone(t *testing.T) {
	t.Parallel()
	first := sharedKey(nil, listID, 0)
	for name, damage := range map[string]func(b *bbolt.Bucket) error{
		"gone":      func(b *bbolt.Bucket) error { return b.Delete(first) },
		"damaged":   func(b *bbolt.Bucket) error { return b.Put(first, bytes.Repeat([]byte{0xff}, 20)) },
		"empty":     func(b *bbolt.Bucket) error { return b.Put(first, nil) },
		"of no row": func(b *bbolt.Bucket) error { return b.Put(first, []byte("\x00text")) },
		"as a whole, of no row": func(b *bbolt.Bucket) error {
			whole := bytes.Clone(b.Get(first))
			whole[0] = 0
			return b.Put(first, whole)
		},
		"another":      func(b *bbolt.Bucket) error { return b.Put(first, []byte("\x02as it begins elsewhere")) },
		"of many rows": func(b *bbolt.Bucket) error { return b.Put(first, append(bytes.Repeat([]byte{0xff}, 9), 1)) },
		"under no digit": func(b *bbolt.Bucket) error {
			return errors.Join(b.Put(append(first[:26:26], 200), b.Get(first)), b.Delete(first))
		},
	} {
		for _, third := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, third row: %t", name, third), func(t *testing.T) {
				t.Parallel()
				s, keys, props := sharers(t)
				require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error { return damage(tx.Bucket(sharedBucket)) }))
				for _, key := range keys {
					_, err := s.Tables.Get(t.Context(), "Rows", key)
					require.ErrorIs(t, err, table.ErrDamaged)
				}
				want := map[table.Key]table.Props{}
				write := func(key table.Key, props table.Props) {
					mustWrite(t, s, table.Op{Kind: table.Upsert, Row: table.Row{Key: key, Props: props}})
					want[key] = props
				}
				check := func() {
					for key, props := range want {
						row, err := s.Tables.Get(t.Context(), "Rows", key)
						require.NoError(t, err)
						require.Equal(t, props, row.Props)
					}
				}
				if third { // which may get the number of the text
					write(table.Key{Partition: "r", Row: listKey},
						table.Props{{Name: "Excerpt", Value: table.String("as the third begins")}})
					_, err := s.Tables.Get(t.Context(), "Rows", keys[0])
					require.ErrorIs(t, err, table.ErrDamaged)
				}
				for _, key := range keys {
					write(key, props)
				}
				check()
				mustWrite(t, s, table.Op{Kind: table.Delete, Row: table.Row{Key: keys[1], ETag: table.Any}})
				delete(want, keys[1])
				check()
			})
		}
	}
}

// TestSharingAnyDamage flips each bit of the texts, their keys and the rows that share them. Rows
// that it did not touch have their texts or are damaged, after any writes.
func TestSharingAnyDamage(t *testing.T) {
	t.Parallel()
	s, keys, props := sharers(t)
	s.db.NoSync = true
	other := table.Props{{Name: "Excerpt", Value: table.String("as something else begins")}}
	rows := rowsBucket("Rows")
	bucketsOf := func(tx *bbolt.Tx) []*bbolt.Bucket { return []*bbolt.Bucket{tx.Bucket(sharedBucket), tx.Bucket(rows)} }
	held := make([]map[string]string, 2)
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		for i, b := range bucketsOf(tx) {
			held[i] = make(map[string]string)
			require.NoError(t, b.ForEach(func(k, v []byte) error { held[i][string(k)] = string(v); return nil }))
		}
		return nil
	}))
	flipped := func(in int, k, v string, at, bit int) (key, value []byte) {
		all := []byte(k + v)
		all[at] ^= 1 << bit
		if in == 1 { // a row elsewhere is TestDamagedKey
			return []byte(k), all[len(k):]
		}
		return all[:len(k)], all[len(k):]
	}
	tried := 0
	for in, all := range held {
		for k, v := range all {
			start := in * len(k) // of rows, the value alone
			for at := start; at < len(k)+len(v); at += 1 + at/(len(k)+40)*7 {
				for bit := range 8 {
					tried++
					require.NoError(t, s.db.Update(func(tx *bbolt.Tx) error {
						for i, b := range bucketsOf(tx) {
							require.NoError(t, b.ForEach(func(k, _ []byte) error { return b.Delete(k) }))
							for k, v := range held[i] {
								require.NoError(t, b.Put([]byte(k), []byte(v)))
							}
						}
						b := bucketsOf(tx)[in]
						require.NoError(t, b.Delete([]byte(k)))
						return b.Put(flipped(in, k, v, at, bit))
					}))
					mustWrite(t, s, table.Op{Kind: table.Upsert, Row: table.Row{Key: keys[0], Props: other}})
					got, err := s.Tables.Get(t.Context(), "Rows", keys[0])
					require.NoError(t, err)
					require.Equal(t, other, got.Props)
					if got, err := s.Tables.Get(t.Context(), "Rows", keys[1]); err != nil {
						require.ErrorIs(t, err, table.ErrDamaged)
					} else if in == 0 || k == string(packedKey(keys[0])) {
						require.Equal(t, props, got.Props)
					}
				}
			}
		}
	}
	require.Greater(t, tried, 500)
}
