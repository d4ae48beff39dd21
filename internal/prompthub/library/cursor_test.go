package library_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// TestCursorsBelongToTheirQuery gives the cursor of every query to every other one.
func TestCursorsBelongToTheirQuery(t *testing.T) {
	s, db := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	ann, bob := auth.User{ID: "ann"}, auth.User{ID: "bob"}
	for i := range 5 {
		for _, who := range []auth.User{ann, bob} {
			id, err := prompt.NewID(time.Now(), rand.Reader)
			require.NoError(t, err)
			_, _, err = db.Add(t.Context(),
				prompt.Prompt{
					ID: id, AuthorID: library.IDOf(who), CreatedAt: id.Time(), UpdatedAt: id.Time(),
					Revision: 1, Draft: prompt.Draft{
						Title: fmt.Sprint("same words ", i), Text: "t", Tags: []prompt.Tag{"text", "data"},
						Visibility: prompt.Public,
					},
				}, nil)
			require.NoError(t, err)
			for _, voter := range []auth.User{ann, bob} {
				_, err = s.Vote(t.Context(), voter, id, prompt.Like)
				require.NoError(t, err)
			}
		}
	}
	words := func(q string) prompt.Query {
		parsed, err := prompt.ParseQuery(q)
		require.NoError(t, err)
		return parsed
	}
	search := func(q library.Search) func(string) (library.Page, error) {
		return func(cursor string) (library.Page, error) {
			q.Limit, q.Cursor = 2, cursor
			return s.Search(t.Context(), ann, q)
		}
	}
	mine := func(who auth.User, q library.MineQuery) func(string) (library.Page, error) {
		return func(cursor string) (library.Page, error) {
			q.Limit, q.Cursor = 2, cursor
			return s.Mine(t.Context(), who, q)
		}
	}
	votes := func(who auth.User, v prompt.Vote) func(string) (library.Page, error) {
		return func(cursor string) (library.Page, error) { return s.MyVotes(t.Context(), who, v, 2, cursor) }
	}
	queries := []func(string) (library.Page, error){
		search(library.Search{Order: library.Newest}),
		search(library.Search{Order: library.MostLiked}),
		search(library.Search{Order: library.Newest, Tags: []prompt.Tag{"text"}}),
		search(library.Search{Order: library.Newest, Tags: []prompt.Tag{"data"}}),
		search(library.Search{Order: library.Newest, Tags: []prompt.Tag{"data", "text"}}),
		search(library.Search{Order: library.MostLiked, Tags: []prompt.Tag{"text"}}),
		search(library.Search{Order: library.Newest, Words: words("same")}),
		search(library.Search{Order: library.Newest, Words: words("words")}),
		search(library.Search{Order: library.Newest, Words: words("same"), Tags: []prompt.Tag{"text"}}),
		mine(ann, library.MineQuery{Sort: promptdb.ByNewest}),
		mine(bob, library.MineQuery{Sort: promptdb.ByNewest}),
		mine(ann, library.MineQuery{Sort: promptdb.ByTitle}),
		mine(ann, library.MineQuery{Sort: promptdb.ByUpdated}),
		mine(ann, library.MineQuery{Sort: promptdb.ByNewest, Filter: promptdb.Filter{Visibility: prompt.Public}}),
		mine(ann, library.MineQuery{Sort: promptdb.ByNewest, Filter: promptdb.Filter{Tags: []prompt.Tag{"text"}}}),
		mine(ann, library.MineQuery{Sort: promptdb.ByNewest, Filter: promptdb.Filter{Words: words("same")}}),
		votes(ann, prompt.None), votes(ann, prompt.Like), votes(bob, prompt.None),
	}
	for i, from := range queries {
		page, err := from("")
		require.NoError(t, err)
		require.NotEmpty(t, page.Next, "query %d", i)
		for j, to := range queries {
			_, err := to(page.Next)
			if i == j {
				require.NoError(t, err)
			} else {
				require.Equal(t, fault.Malformed, fault.Of(err), "the cursor of query %d in query %d", i, j)
			}
		}
	}
	one, err := search(library.Search{Order: library.Newest, Tags: []prompt.Tag{"data", "text"}})("")
	require.NoError(t, err)
	_, err = search(library.Search{Order: library.Newest, Tags: []prompt.Tag{"text", "data", "text"}})(one.Next)
	require.NoError(t, err, "the same query in other words")
}
