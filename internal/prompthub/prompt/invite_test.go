package prompt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// TestInviteEnds: an invitation is taken before its end alone, and a use that was begun goes on for
// an hour.
func TestInviteEnds(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	code := func(i prompt.Invite, key prompt.UserID, at time.Time) fault.Code {
		_, err := i.Take(key, at)
		return fault.CodeOf(err)
	}
	i := prompt.Invite{Uses: 2, ExpiresAt: end}
	require.Equal(t, prompt.InviteExpired, code(i, "a_bob", end))
	require.Equal(t, prompt.InviteExpired, fault.CodeOf(i.Open(end)))
	i, err := i.Take("a_bob", end.Add(-time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, prompt.InviteExpired, code(i, "a_eve", end))
	require.Empty(t, code(i, "a_bob", end))
	require.Equal(t, prompt.InviteUsed, code(i, "a_bob", end.Add(time.Hour)))
	require.Equal(t, prompt.InviteUsed, code(i.Took("a_bob"), "a_bob", end.Add(-time.Millisecond)))
}
