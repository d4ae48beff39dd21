package promptdb_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// Ids of users are of a type of their own, so a swap with the id of a prompt, a title or the name
// of an author does not compile.
func TestUserIDsAreNoOtherStrings(t *testing.T) {
	t.Parallel()
	user := reflect.TypeFor[prompt.UserID]()
	for _, other := range []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[prompt.ID](),
		reflect.TypeFor[prompt.Tag](),
	} {
		require.False(t, user.AssignableTo(other), "%s as %s", user, other)
		require.False(t, other.AssignableTo(user), "%s as %s", other, user)
	}
	for _, field := range []string{"AuthorID", "HiddenBy"} {
		f, ok := reflect.TypeFor[prompt.Prompt]().FieldByName(field)
		require.True(t, ok)
		require.Equal(t, user, f.Type, field)
	}
}

// The caller comes before all else, in each method that knows users.
func TestUsersComeFirst(t *testing.T) {
	t.Parallel()
	ctx, user := reflect.TypeFor[context.Context](), reflect.TypeFor[prompt.UserID]()
	found := 0
	for m := range reflect.TypeFor[*promptdb.DB]().Methods() {
		var params []reflect.Type
		for p := range m.Type.Ins() {
			params = append(params, p)
		}
		params = params[1:] // without the receiver
		if len(params) > 0 && params[0] == ctx {
			params = params[1:]
		}
		for i, p := range params {
			if p == user {
				found++
				require.Equal(t, user, params[0], "%s has a user as its parameter %d", m.Name, i)
			}
		}
	}
	require.Greater(t, found, 40)
}
