package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFavorites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("ann"), w.as("bob")
	public, private := ann.create("Public").ID,
		ann.do(http.MethodPost, prompts, `{"title":"Private","text":"x"}`).is(201).prompt().ID
	const mine = "/api/v1/me/favorites"
	for range 2 { // again changes nothing
		bob.do(http.MethodPut, prompts+"/"+public+"/favorite", "").is(204)
	}
	bob.do(http.MethodPut, prompts+"/"+private+"/favorite", "").problem(404)
	require.Equal(t, []string{"Public"}, bob.get(mine).is(200).titles())
	require.Empty(t, ann.get(mine).is(200).titles(), "they are bob's alone")
	bob.get(mine + "?cursor=x").problem(400)

	// an export of the account has them, and an import of it brings them back
	file, _ := bob.exported()
	require.Contains(t, file, `{"favored":{"on":"@a_`)
	bob.do(http.MethodDelete, prompts+"/"+public+"/favorite", "").is(204)
	require.Empty(t, bob.get(mine).titles())
	items, _ := bob.imported(file, "file=account.jsonl")
	require.Equal(t, 1, outcomes(items)["updated"])
	require.Equal(t, []string{"Public"}, bob.get(mine).titles())
	items, _ = bob.imported(file, "file=account.jsonl")
	require.Zero(t, outcomes(items)["updated"])
}
