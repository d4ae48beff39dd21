package library_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// finds returns the titles of what a caller's search of everything finds.
func finds(t *testing.T, s *library.Service, who auth.User, words string) (titles []string, someLeftOut bool) {
	t.Helper()
	q, err := prompt.ParseQuery(words)
	require.NoError(t, err)
	page, err := s.Search(t.Context(), who, library.Search{Scope: library.ScopeAll, Words: q, Limit: 50})
	require.NoError(t, err)
	require.False(t, page.Partial)
	for _, v := range page.Items {
		require.Equal(t, prompt.IsWorkspace(v.AuthorID), v.IsOwn(), "a member sees it as one of the workspace's")
		titles = append(titles, v.Title)
	}
	return titles, page.SomeLeftOut
}

// TestSearchOfEverything: it finds the private prompts of workspaces for their members, whatever
// their role and however they got it, and for no one else. A member who was removed finds nothing,
// after ten seconds on an instance that believed them one.
func TestSearchOfEverything(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, admin := t.Context(), s.members[prompt.RoleAdministrator]
	_, err := s.Patch(ctx, admin, s.prompt.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Title, d.Text = "Dunning letter", "Pay zephyrs."
	})
	require.NoError(t, err)
	among := func(who auth.User, want ...string) {
		t.Helper()
		for _, words := range []string{"dunning", "zephyrs", "author:shelf letter", "dunning paid"} {
			titles, someLeftOut := finds(t, s.Service, who, words)
			require.Equal(t, want, titles, words)
			require.False(t, someLeftOut)
		}
	}
	for _, who := range s.members {
		among(who, "Dunning letter")
	}
	among(s.cook(prompt.RoleReader), "Dunning letter")
	among(auth.User{ID: "cook", Name: "Cook"})
	among(auth.User{ID: "eve", Name: "Eve"})
	among(auth.User{})
	own, err := s.In(ctx, admin, "shelf")
	require.NoError(t, err)
	among(own, "Dunning letter")

	rea := s.members[prompt.RoleReader]
	mine, err := s.Search(ctx, rea, library.Search{Scope: library.ScopeMine, Limit: 50})
	require.NoError(t, err)
	require.Empty(t, mine.Items, "which is the reader's own alone")

	other := s.instance(t)
	titles, _ := finds(t, other, rea, "dunning")
	require.Len(t, titles, 1)
	require.NoError(t, s.RemoveMember(ctx, admin, "shelf", prompt.Person, s.AuthorKey(library.IDOf(rea))))
	among(rea)
	s.pass(10 * time.Second)
	titles, _ = finds(t, other, rea, "dunning")
	require.Empty(t, titles)
	require.NoError(t, s.DeleteWorkspace(ctx, admin, "shelf"))
	among(admin)
}

// TestSearchOfManyWorkspaces: of a member of many, those that were made last are searched, and the
// answer says so. Those that were deleted take no place.
func TestSearchOfManyWorkspaces(t *testing.T) {
	t.Parallel()
	s, ann := newTimed(t), auth.User{ID: "ann", Name: "Ann"}
	ctx := t.Context()
	var want []string
	for n := range library.MaxSearched + 3 {
		s.pass(time.Second)
		handle := fmt.Sprintf("team-%d", n)
		_, err := s.CreateWorkspace(ctx, ann, prompt.Profile{Handle: handle})
		require.NoError(t, err)
		as, err := s.In(ctx, ann, handle)
		require.NoError(t, err)
		_, _, err = s.Create(ctx, as,
			prompt.Draft{Title: "Letter of " + handle, Text: "Pay.", Visibility: prompt.Private}, "")
		require.NoError(t, err)
		want = append([]string{"Letter of " + handle}, want...)
	}
	titles, someLeftOut := finds(t, s.Service, ann, "letter")
	require.ElementsMatch(t, want[:library.MaxSearched], titles)
	require.True(t, someLeftOut)
	for n := 1; n < 4; n++ {
		require.NoError(t, s.DeleteWorkspace(ctx, ann, fmt.Sprintf("team-%d", library.MaxSearched+3-n)))
	}
	titles, someLeftOut = finds(t, s.Service, ann, "letter")
	require.ElementsMatch(t, want[3:], titles)
	require.False(t, someLeftOut)
}
