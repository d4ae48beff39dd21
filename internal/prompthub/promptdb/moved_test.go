package promptdb_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

func moveUser(from, to prompt.UserID) func(context.Context, *promptdb.DB, *ring, prompt.Prompt) error {
	return func(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
		_, err := db.MoveUser(ctx, from, to)
		return err
	}
}

func movedUser(r *ring, p *prompt.Prompt) {
	require.NoError(r.t, moveUser("ann", "new|ann")(context.Background(), r.truth, r, *p))
}

// signsInAs checks that ann signs in by one of two ids, and by the first after success.
func signsInAs(now, before prompt.UserID) func(*testing.T, *ring, prompt.Prompt, bool) {
	return func(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
		r.Advance(time.Minute)
		account, err := r.truth.AccountOf(context.Background(), now)
		former, formerErr := r.truth.AccountOf(context.Background(), before)
		if !ok && formerErr == nil {
			require.Equal(t, prompt.UserID("ann"), former)
			return
		}
		require.NoError(t, err)
		require.Equal(t, prompt.UserID("ann"), account)
		require.Equal(t, promptdb.UserMoved, fault.CodeOf(formerErr))
	}
}

func (w *world) moved(from, to prompt.UserID) {
	w.t.Helper()
	account, err := w.MoveUser(w.t.Context(), from, to)
	require.NoError(w.t, err)
	require.Equal(w.t, from, account)
}

// signIn returns the account of a sign-in, or the code by which it is refused.
func signIn(t *testing.T, db *promptdb.DB, id prompt.UserID) string {
	t.Helper()
	account, err := db.AccountOf(t.Context(), id)
	if err != nil {
		return string(fault.CodeOf(err))
	}
	return string(account)
}

// TestMoveUser: every instance knows of a move a minute later, and at once by an id that it has not
// met. A user may be moved on, and back.
func TestMoveUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("Ann's"))
	other := w.another()
	require.Equal(t, "ann", signIn(t, other, "ann"))
	w.moved("ann", "b")
	w.moved("ann", "b") // once more changes nothing
	require.Equal(t, "ann", signIn(t, other, "b"), "an id that is met for the first time")
	require.Equal(t, "ann", signIn(t, other, "ann"), "up to a minute late")
	w.clock.Advance(time.Minute)
	require.Equal(t, "USER_MOVED", signIn(t, other, "ann"))
	require.Equal(t, "c", signIn(t, other, "c"), "somebody else, until then")

	account, err := w.MoveUser(t.Context(), "b", "c") // by the id that the user has now
	require.NoError(t, err)
	require.Equal(t, prompt.UserID("ann"), account)
	w.clock.Advance(time.Minute)
	require.Equal(t, []string{"USER_MOVED", "USER_MOVED", "ann"},
		[]string{signIn(t, other, "ann"), signIn(t, other, "b"), signIn(t, other, "c")})
	w.moved("ann", "b")
	w.clock.Advance(time.Minute)
	require.Equal(t, []string{"USER_MOVED", "ann", "USER_MOVED"},
		[]string{signIn(t, other, "ann"), signIn(t, other, "b"), signIn(t, other, "c")})
	_, err = w.MoveUser(t.Context(), "ann", "ann")
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, err = w.MoveUser(t.Context(), "b", "ann")
	require.NoError(t, err)
	w.clock.Advance(time.Minute)
	require.Equal(t, []string{"ann", "USER_MOVED", "USER_MOVED"},
		[]string{signIn(t, other, "ann"), signIn(t, other, "b"), signIn(t, other, "c")})
	w.check()
}

// TestMoveUserRefused: an operator cannot move a user whom there is not, nor to an id that is
// somebody's.
func TestMoveUserRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("Ann's"))
	w.add("bob", draft("Bob's"))
	refused := func(kind fault.Kind, from, to prompt.UserID) {
		t.Helper()
		_, err := w.MoveUser(t.Context(), from, to)
		require.Equal(t, kind, fault.Of(err), "%v", err)
	}
	refused(fault.NotFound, "nobody", "x")
	refused(fault.Conflict, "ann", "bob")
	refused(fault.Invalid, "ann", "")
	w.moved("ann", "new")
	refused(fault.Conflict, "bob", "new")
	refused(fault.Conflict, "bob", "ann")
	w.moved("ann", "newer")
	refused(fault.Conflict, "bob", "new") // it was another user's
	require.Empty(t, w.found())
	account, err := w.SignsInTo(t.Context(), "newer")
	require.NoError(t, err)
	require.Equal(t, prompt.UserID("ann"), account)
	account, err = w.SignsInTo(t.Context(), "new")
	require.NoError(t, err)
	require.Equal(t, prompt.UserID("new"), account)
}

// TestMovedRows: verify reports a row that leads nowhere, and an id that leads to an account though
// its user wrote something before an instance knew.
func TestMovedRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("Ann's"))
	w.moved("ann", "new")
	require.Empty(t, w.found())
	w.add("new", draft("Written within the minute"))
	require.Len(t, w.found(), 1)
	w.userRow(table.Insert, table.Row{Key: table.Key{Partition: "moved", Row: "x"}})
	require.Len(t, w.found(), 2)
}

func TestMovedInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("Ann's"))
	w.moved("ann", "new|a/b")
	w.moved("ann", "newer")
	var first, second bytes.Buffer
	_, err := w.Backup(t.Context(), &first, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	other := newWorld(t)
	require.NoError(t, restore(t.Context(), other.DB, bytes.NewReader(first.Bytes())))
	require.Empty(t, other.found())
	other.clock.Advance(time.Minute)
	require.Equal(t, []string{"USER_MOVED", "USER_MOVED", "ann"},
		[]string{signIn(t, other.DB, "ann"), signIn(t, other.DB, "new|a/b"), signIn(t, other.DB, "newer")})
	_, err = other.Backup(t.Context(), &second, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, first.String(), second.String())
}
