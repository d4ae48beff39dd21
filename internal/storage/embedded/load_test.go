package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// TestLoad: rows of some runs are all there, with ETags of their own, and can be written again.
// TestRowsShareTexts has loads among other writes.
func TestLoad(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	require.NoError(t, s.Tables.Create(t.Context(), "A", "B"))
	const n = 1000
	row := func(i int) table.Row {
		return table.Row{
			Key:   table.Key{Partition: fmt.Sprint("p", i*7%10), Row: fmt.Sprint(i * 7 % n)},
			Props: table.Props{{Name: "N", Value: table.Int32(int32(i))}},
		}
	}
	require.NoError(t, s.load(t.Context(), 1000, func(put func(transact.Row) error) error {
		for i := range n {
			for _, name := range []string{"B", "A"} {
				if err := put(transact.Row{Table: name, Row: row(i)}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	etags := map[string]bool{}
	for _, name := range []string{"A", "B"} {
		for i := range n {
			want := row(i)
			got, err := s.Tables.Get(t.Context(), name, want.Key)
			require.NoError(t, err)
			require.Equal(t, want.Props, got.Props)
			etags[got.ETag] = true
		}
	}
	require.Len(t, etags, 2*n)
	again := row(0)
	again.ETag = table.Any
	_, err := s.Tables.Write(t.Context(), "A", table.Op{Kind: table.Replace, Row: again})
	require.NoError(t, err)
}

// TestLoadThatFails leaves no file, and neither does one that a kill has stopped.
func TestLoadThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path)
	require.NoError(t, s.Tables.Create(t.Context(), "A"))
	row := transact.Row{Table: "A", Row: table.Row{Key: table.Key{Partition: "p", Row: "r"}}}
	wrong := errors.New("no more input")
	for _, c := range []struct {
		name string
		do   func(put func(transact.Row) error) error
		want error
	}{
		{"its input", func(put func(transact.Row) error) error { return errors.Join(put(row), wrong) }, wrong},
		{"a row twice", func(put func(transact.Row) error) error {
			return errors.Join(put(row), put(row))
		}, table.ErrInvalid},
		{"a key", func(put func(transact.Row) error) error {
			return put(transact.Row{Table: "A", Row: table.Row{Key: table.Key{Partition: "/", Row: "r"}}})
		}, table.ErrInvalid},
		{"no table", func(put func(transact.Row) error) error {
			return put(transact.Row{Table: "none", Row: row.Row})
		}, table.NoTableError("none")},
	} {
		for _, run := range []int{1, loadBytes} {
			require.ErrorIs(t, s.load(t.Context(), run, c.do), c.want, c.name)
		}
	}
	alone := func() {
		t.Helper()
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, left, 1)
	}
	alone()
	require.NoError(t, s.Close())
	for _, temp := range []string{loadTemp, rebuildTemp + loadTemp} {
		require.NoError(t, os.WriteFile(path+temp, []byte("what a kill has left"), 0o600))
	}
	reopened, err := Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, reopened.Close())
	alone()
}
