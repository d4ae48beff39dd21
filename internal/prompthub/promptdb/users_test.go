package promptdb_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

func chooseHandle(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	_, err := db.PutProfile(ctx, "ann", prompt.Profile{Handle: "ann-lee", Name: "Ann"})
	return err
}

// handleChosen checks that a handle that is shown leads to its user, and that no one else can have
// it any more.
func handleChosen(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	p, err := r.truth.Profile(context.Background(), "ann")
	require.NoError(t, err)
	id, err := r.truth.UserID(context.Background(), "ann-lee")
	require.NoError(t, err)
	if ok || p.Handle != "" {
		require.Equal(t, "ann-lee", p.Handle)
		require.Equal(t, prompt.UserID("ann"), id)
	}
	if id != "" {
		_, err = r.truth.PutProfile(context.Background(), "bob", prompt.Profile{Handle: "ann-lee"})
		require.Error(t, err)
	}
}

func TestUsersInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.PutProfile(t.Context(), "ann|a/b", prompt.Profile{Handle: "ann-lee", Name: "Ann", About: "x\ny"})
	require.NoError(t, err)
	w.TouchUser(t.Context(), "bob")
	// A handle that a writer has reserved and not come to show stays its user's.
	reserved := table.Row{Key: table.Key{Partition: "h|bobby", Row: "r"}, Props: table.Props{{Name: "UserId", Value: table.String("bob")}}}
	w.userRow(table.Insert, reserved)
	require.Empty(t, w.found())
	var first, second bytes.Buffer
	_, err = w.Backup(t.Context(), &first, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	other := newWorld(t)
	err = restore(t.Context(), other.DB, bytes.NewReader(first.Bytes()))
	require.NoError(t, err)
	require.Empty(t, other.found())
	p, err := other.Profile(t.Context(), "ann|a/b")
	require.NoError(t, err)
	require.Equal(t, prompt.Profile{Handle: "ann-lee", Name: "Ann", About: "x\ny"}, p)
	for name, want := range map[string]prompt.UserID{"ann-lee": "ann|a/b", "bobby": "bob", w.AuthorKey("bob"): "bob", w.AuthorKey("ann|a/b"): "ann|a/b"} {
		id, err := other.UserID(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, id)
	}
	_, err = other.Backup(t.Context(), &second, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, first.String(), second.String())
}

func (w *world) userRow(kind table.Kind, row table.Row) {
	w.t.Helper()
	_, err := w.store.Write(w.t.Context(), promptdb.DefaultTables().Users, table.Op{Kind: kind, Row: row})
	require.NoError(w.t, err)
}

func TestVerifyUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.PutProfile(t.Context(), "ann", prompt.Profile{Handle: "ann-lee", Name: "Ann"})
	require.NoError(t, err)
	require.Empty(t, w.found())
	w.userRow(table.Replace, table.Row{
		Key: table.Key{Partition: "h|ann-lee", Row: "r"}, ETag: table.Any, Props: table.Props{{Name: "UserId", Value: table.String("bob")}},
	})
	require.Len(t, w.found(), 1, "the handle leads to another")
	w.userRow(table.Insert, table.Row{
		Key: table.Key{Partition: "k|a_x", Row: "r"}, Props: table.Props{{Name: "UserId", Value: table.String("bob")}},
	})
	require.Len(t, w.found(), 2, "a key that is another's")
}

// TestAuthorsOfBefore: whoever wrote before there were keys has one after anti-entropy.
func TestAuthorsOfBefore(t *testing.T) {
	w := newWorld(t)
	_, _, err := w.Add(t.Context(), w.made("ann", draft("T")), nil)
	require.NoError(t, err)
	leads := func() prompt.UserID {
		user, err := w.UserID(t.Context(), w.AuthorKey("ann"))
		require.NoError(t, err)
		return user
	}
	require.Empty(t, leads())
	_, differences, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.Zero(t, differences)
	require.EqualValues(t, "ann", leads())
	w.check()
}
