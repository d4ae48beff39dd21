package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/memory"
)

// TestCommunity: a community that is made up is as one that has come to be: verify finds nothing,
// and the home of each has what the people did whom it follows.
func TestCommunity(t *testing.T) {
	t.Parallel()
	r, err := over(memory.NewTables(), memory.NewQueues(time.Now), nil)
	require.NoError(t, err)
	c, err := r.fill(t.Context(), 100, 5, 4)
	require.NoError(t, err)
	report := func(what string) { t.Error(what) }
	_, err = r.People.VerifyRows(t.Context(), func(what string) {
		// People who were copied have the name of another one, and no search finds them.
		require.Regexp(t, "the username does not lead to the account|a row by which a search finds them is missing",
			what)
	})
	require.NoError(t, err)
	_, err = r.VerifyRows(t.Context(), report)
	require.NoError(t, err)
	for i, m := range c.posters {
		page, err := r.Home(t.Context(), m.Claim, "", 20)
		require.NoError(t, err)
		require.False(t, page.Default)
		require.Len(t, page.Items, 20, i)
	}
	for i, m := range c.voters {
		_, err := r.Vote(t.Context(), m.Claim, c.hot[0], ballot.Position(i%5))
		require.NoError(t, err)
	}
	result, _, err := r.Result(t.Context(), c.posters[0].Claim, c.hot[0])
	require.NoError(t, err)
	require.EqualValues(t, 5, result.Total)
}
