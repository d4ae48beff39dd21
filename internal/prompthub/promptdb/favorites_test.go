package promptdb_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// favorites returns the titles of a user's favorites, page by page.
func favorites(t *testing.T, db *promptdb.DB, user prompt.UserID, limit int) (titles []string) {
	t.Helper()
	for after := ""; ; {
		page, err := db.Favorites(context.WithoutCancel(t.Context()), user, promptdb.Filter{}, after, limit)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Items), limit)
		for _, v := range page.Items {
			titles = append(titles, v.Title)
		}
		if after = page.After; after == "" {
			return titles
		}
	}
}

func TestFavorites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	var all []prompt.Prompt
	for i := range 5 {
		all = append(all, w.add("ann", draft(fmt.Sprintf("Prompt %d", i))))
		w.clock.Advance(time.Second)
	}
	own := w.made("bob", prompt.Draft{Title: "Own", Text: "text", Visibility: prompt.Private})
	_, _, err := w.Add(ctx, own, nil)
	require.NoError(t, err)
	for _, i := range []int{3, 0, 4, 1} {
		require.NoError(t, w.Favorite(ctx, "bob", all[i].ID))
	}
	require.NoError(t, w.Favorite(ctx, "bob", own.ID))
	require.NoError(t, w.Favorite(ctx, "bob", own.ID), "again")
	require.Equal(t, fault.NotFound, fault.Of(w.Favorite(ctx, "carl", own.ID)), "it is bob's alone")
	want := []string{"Own", "Prompt 4", "Prompt 3", "Prompt 1", "Prompt 0"}
	for limit := 1; limit <= 6; limit++ {
		require.Equal(t, want, favorites(t, w.DB, "bob", limit))
	}
	require.Empty(t, favorites(t, w.DB, "carl", 5))

	is, err := w.IsFavorite(ctx, "bob", all[4].ID)
	require.NoError(t, err)
	require.True(t, is)
	require.NoError(t, w.Unfavorite(ctx, "bob", all[4].ID))
	require.NoError(t, w.Unfavorite(ctx, "bob", all[4].ID), "again")
	is, err = w.IsFavorite(ctx, "bob", all[4].ID)
	require.NoError(t, err)
	require.False(t, is)

	// what cannot be seen is left out, and is back when it can
	w.edit("ann", all[3].ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	require.Equal(t, []string{"Own", "Prompt 1", "Prompt 0"}, favorites(t, w.DB, "bob", 2))
	w.edit("ann", all[3].ID, func(p *prompt.Prompt) { p.Visibility = prompt.Public })
	require.Equal(t, []string{"Own", "Prompt 3", "Prompt 1", "Prompt 0"}, favorites(t, w.DB, "bob", 2))
	w.check()
}

// TestFavoritesInABackup: a backup has the favorites of the prompts in it, and is itself again when
// it was restored.
func TestFavoritesInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.add("ann", draft("Kept"))
	require.NoError(t, w.Favorite(t.Context(), "bob|x", p.ID))
	require.NoError(t, w.Favorite(t.Context(), "ann", p.ID))
	var first, second bytes.Buffer
	_, err := w.Backup(t.Context(), &first, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	other := newWorld(t)
	err = restore(t.Context(), other.DB, bytes.NewReader(first.Bytes()))
	require.NoError(t, err)
	require.Equal(t, []string{"Kept"}, favorites(t, other.DB, "bob|x", 5))
	require.Equal(t, []string{"Kept"}, favorites(t, other.DB, "ann", 5))
	_, err = other.Backup(t.Context(), &second, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, first.String(), second.String())
}

// TestFavoriteOfAPurgedPrompt: purging leaves it, though it is not shown, and anti-entropy removes
// it without calling it a difference.
func TestFavoriteOfAPurgedPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	gone, stays := w.add("ann", draft("Gone")), w.add("ann", draft("Stays"))
	require.NoError(t, w.Favorite(ctx, "bob", gone.ID))
	require.NoError(t, w.Favorite(ctx, "bob", stays.ID))
	w.edit("ann", gone.ID, func(p *prompt.Prompt) { p.DeletedAt = w.clock.Now() })
	w.run()
	w.clock.Advance(40 * 24 * time.Hour)
	_, err := w.Purge(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"Stays"}, favorites(t, w.DB, "bob", 5))
	w.check()
	_, differences, err := w.Sweep(ctx)
	require.NoError(t, err)
	require.Zero(t, differences)
	is, err := w.IsFavorite(ctx, "bob", gone.ID)
	require.NoError(t, err)
	require.False(t, is)
	is, err = w.IsFavorite(ctx, "bob", stays.ID)
	require.NoError(t, err)
	require.True(t, is)
}

// TestFavoriteOfANewPrompt: an author may keep a new prompt before any row leads to it, which
// anti-entropy must not take for the rest of a purged one.
func TestFavoriteOfANewPrompt(t *testing.T) {
	t.Parallel()
	store := &afterPage{DB: memory.NewTables(), table: promptdb.DefaultTables().VotesByVoter}
	w := newWorldOn(t, store)
	var p prompt.Prompt
	store.do = func() {
		p = w.add("ann", draft("New"))
		locator := table.Key{Partition: "p|" + string(p.ID), Row: "!prompt"}
		_, err := store.Write(t.Context(), promptdb.DefaultTables().Votes,
			table.Op{Kind: table.Delete, Row: table.Row{Key: locator, ETag: table.Any}})
		require.NoError(t, err, "as if its writer had stopped behind the commit")
		require.NoError(t, w.Favorite(t.Context(), "ann", p.ID))
	}
	_, _, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, p.ID)
	is, err := w.IsFavorite(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.True(t, is)
}
