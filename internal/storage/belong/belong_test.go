package belong_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/storage/belong"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A side is the tables or the containers of a store.
type side struct {
	t *testing.T
	*memory.Tables
	blobs *memory.Blobs
}

func tables(t *testing.T) *memory.Tables {
	t.Helper()
	db := memory.NewTables()
	require.NoError(t, db.Create(t.Context(), "State", "Rows"))
	return db
}

func containers(t *testing.T, names ...string) *memory.Blobs {
	t.Helper()
	blobs := memory.NewBlobs(time.Now)
	require.NoError(t, blobs.Create(t.Context(), names...))
	return blobs
}

func (s side) store(adopt bool, names ...string) belong.Store {
	return belong.Store{
		Tables: s.Tables, Table: "State", Blobs: s.blobs, Containers: names, Adopt: adopt,
		Old: func(ctx context.Context) (bool, error) {
			page, err := s.List(ctx, "Rows", table.Range{}, 1, "")
			return len(page.Rows) > 0, err
		},
	}
}

func (s side) row() {
	s.t.Helper()
	_, err := s.Write(s.t.Context(), "Rows",
		table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: "p", Row: "r"}}})
	require.NoError(s.t, err)
}

func (s side) file(container string) {
	s.t.Helper()
	require.NoError(s.t, s.blobs.Put(s.t.Context(), container, "a.jpg", []byte("x")))
}

func (s side) starts(names ...string) {
	s.t.Helper()
	require.NoError(s.t, s.store(false, names...).Check(s.t.Context()))
}

func (s side) refused(names ...string) {
	s.t.Helper()
	for range 2 { // which changes nothing
		err := s.store(false, names...).Check(s.t.Context())
		require.Equal(s.t, belong.Foreign, fault.CodeOf(err), "%v", err)
		require.ErrorContains(s.t, err, "--adopt")
	}
}

// TestBelong: a store starts with its own files alone: not if it was made anew, if its files are
// gone, or if they are another's. It can adopt them.
func TestBelong(t *testing.T) {
	t.Parallel()
	one := side{t, tables(t), containers(t, "one", "two")}
	one.starts("one", "two")
	one.row()
	one.file("one")
	one.starts("one", "two")

	lost := side{t, tables(t), one.blobs}
	lost.refused("one", "two")
	away := side{t, one.Tables, containers(t, "one", "two")}
	away.refused("one", "two")
	other := side{t, tables(t), containers(t, "one", "two")}
	other.starts("one", "two")
	other.file("two")
	side{t, one.Tables, other.blobs}.refused("one", "two")
	one.starts("one", "two") // nothing was changed

	require.NoError(t, lost.store(true, "one", "two").Check(t.Context()))
	lost.starts("one", "two")
	one.starts("one", "two") // both are the store of these files
	require.NoError(t, other.store(true, "one", "two").Check(t.Context()))
	other.blobs = one.blobs
	other.refused("one", "two")
	require.NoError(t, other.store(true, "one", "two").Check(t.Context()))
	other.starts("one", "two")
	one.refused("one", "two") // the files are the other's now
	got, err := one.blobs.Get(t.Context(), "one", "a.jpg")
	require.NoError(t, err)
	require.Equal(t, "x", string(got.Body))
}

// TestDamagedSign: a store does not start with files whose sign cannot be read, until it adopts
// them.
func TestDamagedSign(t *testing.T) {
	t.Parallel()
	for _, damaged := range []string{"x", "{}", `{"store":1}`} {
		one := side{t, tables(t), containers(t, "one")}
		one.starts("one")
		one.row()
		one.file("one")
		require.NoError(t, one.blobs.Delete(t.Context(), "one", belong.Mark))
		require.NoError(t, one.blobs.Put(t.Context(), "one", belong.Mark, []byte(damaged)))
		one.refused("one")
		side{t, tables(t), one.blobs}.refused("one")
		require.NoError(t, one.store(true, "one").Check(t.Context()))
		one.starts("one")
		other := side{t, tables(t), containers(t, "one")}
		other.starts("one")
		side{t, other.Tables, one.blobs}.refused("one")
	}
}

// TestBefore: a store of an earlier version takes its files as they are; one that was made anew
// next to them is refused. A container that comes with a later version is one of the store.
func TestBefore(t *testing.T) {
	t.Parallel()
	old := side{t, tables(t), containers(t, "one")}
	old.row()
	old.file("one")
	side{t, tables(t), old.blobs}.refused("one")
	old.starts("one")
	require.NoError(t, old.blobs.Create(t.Context(), "more"))
	old.starts("one", "more")
	old.starts("one", "more")
	side{t, old.Tables, containers(t, "one", "more")}.refused("one", "more")
}

// stopped is a table whose n-th write does not come.
type stopped struct {
	*memory.Tables
	failing bool
}

func (s stopped) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if s.failing {
		return nil, context.Canceled
	}
	return s.Tables.Write(ctx, name, ops...)
}

// TestFirstStartStopped: a first start that was stopped after any of its writes is gone on with.
func TestFirstStartStopped(t *testing.T) {
	t.Parallel()
	for _, older := range []bool{false, true} {
		s := side{t, tables(t), containers(t, "one", "two")}
		if older {
			s.row()
			s.file("two")
		}
		half := s.store(false, "one", "two")
		half.Tables = stopped{s.Tables, true}
		require.Error(t, half.Check(t.Context()))
		require.NoError(t, s.blobs.Delete(t.Context(), "two", belong.Mark))
		s.starts("one", "two")
		s.starts("one", "two")
	}
}
