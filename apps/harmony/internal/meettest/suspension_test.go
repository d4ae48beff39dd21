package meettest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/fault"
)

// TestSuspension: a suspended member may do nothing, and no other sees them, until it is over.
func TestSuspension(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	ctx, anna, bob, moderator, admin := t.Context(), w.Members["anna"], w.Members["bob"],
		w.Members["moderator"], w.Members["admin"]
	sees := func() bool {
		_, err := w.Person(ctx, anna, bob.UserID)
		return err == nil
	}
	meettest.RequireCode(t, meet.RoleRequired, w.Suspend(ctx, anna, bob.UserID, 1, "spam"))
	meettest.RequireCode(t, meet.RoleRequired, w.Suspend(ctx, moderator, admin.UserID, 1, "spam"))
	meettest.RequireCode(t, meet.NotYourself, w.Suspend(ctx, admin, admin.UserID, 1, "spam"))
	meettest.RequireCode(t, meet.UserNotFound, w.Suspend(ctx, admin, w.NewID(), 1, "spam"))
	for days, reason := range map[int]string{0: "spam", 3651: "spam", 1: " ", 2: strings.Repeat("x", 1001)} {
		require.Equal(t, fault.Invalid, fault.Of(w.Suspend(ctx, moderator, bob.UserID, days, reason)))
	}
	require.True(t, sees())
	require.NoError(t, w.Suspend(ctx, moderator, bob.UserID, 1, "spam"))
	require.False(t, sees())
	_, err := w.Settings(ctx, bob)
	meettest.RequireCode(t, meet.AccountSuspended, err)
	require.Contains(t, err.Error(), meettest.Began.Add(24*time.Hour).Format(time.RFC3339))
	_, err = w.Me(ctx, bob)
	require.NoError(t, err, "of all requests this is left")
	require.NoError(t, w.Unsuspend(ctx, moderator, bob.UserID))
	require.True(t, sees())
	require.NoError(t, w.Suspend(ctx, admin, moderator.UserID, 1, "spam"), "admins suspend staff")
	require.NoError(t, w.Suspend(ctx, admin, bob.UserID, 1, "spam"))
	in, err := w.Login(ctx, "bob@example.com", "tea under seven lamps", meet.Asker{Agent: "test"})
	require.NoError(t, err, "to sign in works")
	w.Clock.Pass(24 * time.Hour)
	in2, err := w.Refresh(ctx, in.Tokens.Refresh)
	require.NoError(t, err)
	again, err := meet.ParseAccess(in2.Access)
	require.NoError(t, err)
	_, err = w.Settings(ctx, again)
	require.NoError(t, err, "it is over")
}

// TestAccounts: staff find accounts by their address, and go through all of them.
func TestAccounts(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	ctx := t.Context()
	_, err := w.Accounts(ctx, w.Members["anna"], "", "", 10)
	meettest.RequireCode(t, meet.RoleRequired, err)
	p, err := w.Accounts(ctx, w.Members["moderator"], " Bob@Example.com ", "", 10)
	require.NoError(t, err)
	require.Len(t, p.Accounts, 1)
	require.Equal(t, w.Members["bob"].UserID, p.Accounts[0].ID)
	p, err = w.Accounts(ctx, w.Members["moderator"], "nobody@example.com", "", 10)
	require.NoError(t, err)
	require.Empty(t, p.Accounts)
	w.Crowd(20)
	var ids []string
	for after, more := "", true; more; more = after != "" {
		p, err := w.Accounts(ctx, w.Members["admin"], "", after, 3)
		require.NoError(t, err)
		for _, u := range p.Accounts {
			ids = append(ids, u.ID)
		}
		after = p.Next
	}
	require.Len(t, ids, 25)
	require.IsIncreasing(t, ids)
}
