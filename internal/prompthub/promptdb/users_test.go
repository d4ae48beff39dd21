package promptdb_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
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

func giveHandle(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	db.TouchUser(ctx, "ann", "Ann Lee")
	return nil
}

// handleGiven checks that a handle that is shown leads to its user.
func handleGiven(t *testing.T, r *ring, _ prompt.Prompt, _ bool) {
	p, err := r.truth.Profile(context.Background(), "ann")
	require.NoError(t, err)
	if p.Handle != "" {
		require.Equal(t, prompt.Profile{Handle: "ann-lee", Given: true}, p)
		id, err := r.truth.UserID(context.Background(), "ann-lee")
		require.NoError(t, err)
		require.Equal(t, prompt.UserID("ann"), id)
	}
}

func TestUsersInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.PutProfile(t.Context(), "ann|a/b", prompt.Profile{Handle: "ann-lee", Name: "Ann", About: "x\ny"})
	require.NoError(t, err)
	w.TouchUser(t.Context(), "bob", "")
	// A handle that a writer has reserved and not come to show stays its user's.
	reserved := table.Row{
		Key:   table.Key{Partition: "h|bobby", Row: "r"},
		Props: table.Props{{Name: "UserId", Value: table.String("bob")}},
	}
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
	for name, want := range map[string]prompt.UserID{
		"ann-lee": "ann|a/b", "bobby": "bob", w.AuthorKey("bob"): "bob",
		w.AuthorKey("ann|a/b"): "ann|a/b",
	} {
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
		Key: table.Key{Partition: "h|ann-lee", Row: "r"}, ETag: table.Any,
		Props: table.Props{{Name: "UserId", Value: table.String("bob")}},
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

// TestGivenHandles: a user gets a handle that is made of their name and is theirs alone. They can
// choose another once; then both lead to them, after a restore too, and neither to anybody else.
func TestGivenHandles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	given := func(user prompt.UserID, name string) string {
		w.TouchUser(t.Context(), user, name)
		p, err := w.Profile(t.Context(), user)
		require.NoError(t, err)
		require.Equal(t, p.Handle != "", p.Given)
		return p.Handle
	}
	require.Equal(t, "ann-lee", given("ann", "Ann Lee"))
	require.Equal(t, "ann-lee-2", given("bob", "Ann Lée"))
	require.Equal(t, "user-"+tail(w, "cal"), given("cal", "🎲"))
	require.Equal(t, "admin-"+tail(w, "dee"), given("dee", "Admin"))
	require.Equal(t, "prompthub-support-"+tail(w, "gus"), given("gus", "PromptHub Support"))
	require.Empty(t, given("eve", ""))
	require.NoError(t, w.TouchAuthor(t.Context(), "hal"))
	require.Equal(t, "hal", given("hal", "Hal"), "also after a sweep has met the author")
	_, err := w.PutProfile(t.Context(), "ida", prompt.Profile{Name: "I", About: "Writes."})
	require.NoError(t, err)
	require.Equal(t, "ida", given("ida", "Ida"))
	ida, err := w.Profile(t.Context(), "ida")
	require.NoError(t, err)
	require.Equal(t, prompt.Profile{Handle: "ida", Name: "I", About: "Writes.", Given: true}, ida)
	for i := range 8 {
		given(prompt.UserID(fmt.Sprint("more", i)), "Ann Lee")
	}
	require.Equal(t, "ann-lee-"+tail(w, "fay"), given("fay", "Ann Lee"))

	_, err = w.PutProfile(t.Context(), "bob", prompt.Profile{Handle: "ann-lee", Name: "B"})
	require.Equal(t, fault.Invalid, fault.Of(err))
	p, err := w.PutProfile(t.Context(), "ann", prompt.Profile{Name: "Ann", Handle: "ann-lee"})
	require.NoError(t, err)
	require.True(t, p.Given, "it is not another one")
	p, err = w.PutProfile(t.Context(), "ann", prompt.Profile{Name: "Ann", Handle: "ann"})
	require.NoError(t, err)
	require.Equal(t, prompt.Profile{Name: "Ann", Handle: "ann", Former: "ann-lee"}, p)
	_, err = w.PutProfile(t.Context(), "ann", prompt.Profile{Name: "Ann", Handle: "ann-lee"})
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Equal(t, "ann", func() string { p, _ := w.another().Profile(t.Context(), "ann"); return p.Handle }())
	w.another().TouchUser(t.Context(), "ann", "Another Name")

	require.Empty(t, w.found())
	other := newWorld(t)
	require.NoError(t, restore(t.Context(), other.DB, strings.NewReader(w.backup())))
	require.Empty(t, other.found())
	for _, db := range []*promptdb.DB{w.DB, other.DB} {
		got, err := db.Profile(t.Context(), "ann")
		require.NoError(t, err)
		require.Equal(t, p, got)
		for _, handle := range []string{"ann", "ann-lee"} {
			id, err := db.UserID(t.Context(), handle)
			require.NoError(t, err)
			require.Equal(t, prompt.UserID("ann"), id)
		}
	}
	w.must(promptdb.DefaultTables().Users,
		table.Op{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "h|ann-lee", Row: "r"}, ETag: table.Any}})
	require.Len(t, w.found(), 1, "the former handle must lead to its user")
}

// tail returns the end of the key of a user.
func tail(w *world, user prompt.UserID) string {
	key := w.AuthorKey(user)
	return key[len(key)-6:]
}

// TestGivenAtOnce: of users of one name who come at the same moment each gets a handle of their
// own, and one whom several instances meet gets one.
func TestGivenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var wg sync.WaitGroup
	users := []prompt.UserID{"a", "b", "c"}
	for _, user := range users {
		for range 3 {
			wg.Go(func() { w.another().TouchUser(t.Context(), user, "Ann") })
		}
	}
	wg.Wait()
	var handles []string
	for _, user := range users {
		w.another().TouchUser(t.Context(), user, "Ann") // who lost a race gets theirs the next time
		p, err := w.Profile(t.Context(), user)
		require.NoError(t, err)
		handles = append(handles, p.Handle)
	}
	slices.Sort(handles)
	require.Len(t, slices.Compact(handles), 3)
	require.Empty(t, w.found())
}
