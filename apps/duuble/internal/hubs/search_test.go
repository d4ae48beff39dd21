package hubs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// found returns the names of the hubs that a person finds by a query.
func (w *world) found(c people.Claim, query string) (names []string) {
	w.t.Helper()
	for after := ""; ; {
		page, err := w.Search(w.t.Context(), c, query, after, 1)
		require.NoError(w.t, err)
		for _, h := range page.Items {
			names = append(names, h.Name)
		}
		if after = page.Next; after == "" {
			return names
		}
	}
}

// TestSearch: hubs are found by the beginnings of the words of their names, and by a new name from
// its change on; a member sees the own role.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann, bob := w.enter(1), w.enter(2)
	tea := w.make(ann)
	for _, name := range []string{"Café für alle", "Coffee & Tea", "t"} {
		w.Pass(time.Second) // so that their order is known
		duubletest.NewHub(t, w.Service, ann, hubs.Draft{Name: name})
	}
	require.Equal(t, []string{"Tea", "Coffee & Tea"}, w.found(bob, "te"))
	require.Equal(t, []string{"Coffee & Tea"}, w.found(bob, "tea & cof"))
	require.Equal(t, []string{"Café für alle"}, w.found(bob, "CAFE FÜR"))
	require.Empty(t, w.found(bob, "ea"))
	_, err := w.Search(ctx, bob, "t", "", 20)
	require.Equal(t, fault.Invalid, fault.Of(err))
	page, err := w.Search(ctx, ann, "tea", "", 1)
	require.NoError(t, err)
	require.Equal(t, hubs.SuperAdmin, page.Items[0].Mine.Role)
	page, err = w.Search(ctx, bob, "tea", "", 1)
	require.NoError(t, err)
	require.Nil(t, page.Items[0].Mine)
	require.EqualValues(t, 1, page.Items[0].Members)

	name := "Mate"
	_, err = w.Edit(ctx, ann, tea, hubs.Change{Name: &name})
	require.NoError(t, err)
	require.Equal(t, []string{"Mate"}, w.found(bob, "mate"))
	require.Equal(t, []string{"Coffee & Tea"}, w.found(bob, "tea"))
	require.Empty(t, w.differences())
	key := table.Key{Partition: "hn|te", Row: "tea|" + tea}
	row, err := w.db.Get(ctx, "Lists", key)
	require.NoError(t, err)
	require.Equal(t, "tea", row.Props.Get("word").Str())
	w.Pass(31 * 24 * time.Hour)
	require.NoError(t, w.Purge(ctx))
	_, err = w.db.Get(ctx, "Lists", key)
	require.ErrorIs(t, err, table.ErrNotFound)
	ann = w.enter(1)
	require.Equal(t, []string{"Mate"}, w.found(ann, "mate"))
	require.Empty(t, w.differences())
}

// TestCrashesOfSearch: after any accident to any call of making a hub and of a change of its name,
// it is found by the name that it has, or is not there.
func TestCrashesOfSearch(t *testing.T) {
	t.Parallel()
	for _, lands := range []bool{false, true} {
		for _, goesOn := range []bool{false, true} {
			for n := 1; ; n++ {
				w := newWorld(t)
				ann := w.enter(1)
				picture := duubletest.Picture(t, w.People.Assets, ann, assets.Hub)
				c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
				other := w.over(calls.Tables(w.db, c.Make))
				h, err := other.Create(t.Context(), ann, hubs.Draft{Name: "Green Tea", Picture: picture})
				name := "Mate"
				if err == nil {
					_, err = other.Edit(t.Context(), ann, h.ID, hubs.Change{Name: &name})
				}
				what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
				mine, unread := w.Mine(t.Context(), ann, "", 10)
				require.NoError(t, unread)
				want := map[string][]string{"Green Tea": nil, "Mate": nil}
				for _, there := range mine.Items {
					want[there.Name] = []string{there.Name}
				}
				require.Equal(t, want["Green Tea"], w.found(ann, "tea"), what)
				require.Equal(t, want["Mate"], w.found(ann, "mate"), what)
				require.Empty(t, w.differences(), what)
				w.Pass(31 * 24 * time.Hour)
				require.NoError(t, w.Purge(t.Context()), what)
				ann = w.enter(1)
				require.Equal(t, want["Green Tea"], w.found(ann, "tea"), what)
				require.Equal(t, want["Mate"], w.found(ann, "mate"), what)
				require.Empty(t, w.differences(), what)
				if c.Left > 0 {
					require.Greater(t, n, 15, "accidents never happened")
					break
				}
			}
		}
	}
}
