package people_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// found returns the usernames that a person finds by a query, and requires that no page of any size
// leaves one out or has it twice.
func (w *world) found(c people.Claim, query string) []string {
	w.t.Helper()
	var whole []string
	for _, limit := range []int{100, 2, 1} {
		var names []string
		for after := ""; ; {
			page, err := w.Search(w.t.Context(), c, query, after, limit)
			require.NoError(w.t, err)
			require.LessOrEqual(w.t, len(page.Items), limit)
			for _, p := range page.Items {
				names = append(names, p.Username)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if whole == nil {
			whole = names
		}
		require.Equal(w.t, whole, names, "pages of %d", limit)
	}
	return whole
}

// rename gives a person another name.
func (w *world) rename(c people.Claim, name string) error {
	_, err := w.SetBasics(w.t.Context(), c, people.Basics{FullName: &name})
	return err
}

// TestSearch: people are found by the beginnings of their usernames and of the words of their
// names, whatever the case and the accents, once each; those who are hidden from the reader, and
// those who have left, are not, until they are back.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ctx := t.Context()
	var all []people.Claim
	for i, name := range []string{
		"Ann Marie", "José María O'Brien", "person two", "安倍 晋三",
		"Ann Annabel Annette", "İpek Öz",
	} {
		c := w.person(i + 1)
		require.NoError(t, w.rename(c, name))
		all = append(all, c)
	}
	ann := all[0]
	for query, want := range map[string][]string{
		"person":  {"Person1", "Person2", "Person3", "Person4", "Person5", "Person6"},
		"PERSON1": {"Person1"}, "person11": nil, "on": nil,
		"jose": {"Person2"}, "JOSÉ": {"Person2"}, "mar": {"Person2", "Person1"},
		"o'brien": {"Person2"}, "bri": {"Person2"},
		"ann": {"Person1", "Person5"}, "annet": {"Person5"}, "mar ann": {"Person1"}, "annab an": {"Person5"},
		"marie  ANN per": {"Person1"}, "ann jose": nil,
		"安倍": {"Person4"}, "晋三": {"Person4"}, "ipe": {"Person6"}, "oz": {"Person6"},
		"person3 two": {"Person3"}, "zz": nil, "~00": nil,
	} {
		if query == "person" || query == "mar" || query == "ann" { // by the words, then by ids
			require.ElementsMatch(t, want, w.found(ann, query), query)
		} else {
			require.Equal(t, want, w.found(ann, query), query)
		}
	}
	for _, query := range []string{"", "a", " ", "a b", "!!", "%_", "é", strings.Repeat("a", 51)} {
		_, err := w.Search(ctx, ann, query, "", 20)
		require.Equal(t, fault.Invalid, fault.Of(err), query)
	}
	require.Empty(t, w.found(ann, strings.Repeat("a", 50)))
	_, err := w.Search(ctx, people.Claim{}, "ann", "", 20)
	require.Equal(t, fault.Unauthenticated, fault.Of(err))

	for _, pair := range [][2]people.Claim{{ann, all[4]}, {all[4], ann}} { // whoever of the two blocks
		_, err := w.Block(ctx, pair[0], pair[1].UserID, true)
		require.NoError(t, err)
		require.Equal(t, []string{"Person1"}, w.found(ann, "ann"))
		require.Equal(t, []string{"Person5"}, w.found(all[4], "ann"))
		require.Len(t, w.found(all[1], "ann"), 2)
		_, err = w.Block(ctx, pair[0], pair[1].UserID, false)
		require.NoError(t, err)
	}
	require.NoError(t, w.Leave(ctx, all[4]))
	require.Equal(t, []string{"Person1"}, w.found(ann, "ann"))
	_, err = w.Return(ctx, w.claim(w.enter(number(5))))
	require.NoError(t, err)
	require.Len(t, w.found(ann, "ann"), 2)

	bare := w.claim(w.enter(number(90)))
	name := "Annika"
	_, err = w.SetBasics(ctx, bare, people.Basics{FullName: &name})
	require.NoError(t, err)
	require.Len(t, w.found(ann, "ann"), 2, "a person without a username is not there")
	require.NoError(t, w.choose(bare, "x_y.z"))
	require.Equal(t, []string{"x_y.z"}, w.found(ann, "annika"))
	require.Equal(t, []string{"x_y.z"}, w.found(ann, "X_Y"))
	require.Empty(t, w.differences())
}

// TestSearchFollowsNames: a person with a new name is found by it at once, and by the old one no
// more; rows that are of no use go after Keep, and not before, unless the name has come back.
func TestSearchFollowsNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann := w.person(1)
	const keep = 30 * 24 * time.Hour
	words := func() []string { return w.keys("Lists", "pn|") }
	require.Equal(t, []string{"pn|pe / person1|" + ann.UserID}, words())
	for _, name := range []string{"Tea", "Coffee", "Coffee", "Tea Tea"} {
		require.NoError(t, w.rename(ann, name))
		w.clock.Pass(time.Minute)
	}
	require.Equal(t, []string{"Person1"}, w.found(ann, "tea"))
	require.Empty(t, w.found(ann, "coffee"))
	require.Len(t, words(), 3)
	w.clock.Pass(keep - 4*time.Minute)
	require.NoError(t, w.PurgeTies(t.Context()))
	require.Len(t, words(), 3, "the rows of the old name are not old enough")
	w.clock.Pass(2 * time.Minute)
	require.NoError(t, w.PurgeTies(t.Context()))
	require.Equal(t, []string{"pn|pe / person1|" + ann.UserID, "pn|te / tea|" + ann.UserID}, words())
	require.Len(t, slices.DeleteFunc(w.keys("Users", "u|"+ann.UserID), func(key string) bool {
		return !strings.Contains(key, " / w|")
	}), 2)
	require.Empty(t, w.differences())
}

// TestSweepAgainstReturn: a person takes the old name again while the job removes its rows: they
// are found by it.
func TestSweepAgainstReturn(t *testing.T) {
	t.Parallel()
	for range 30 {
		w := newWorld(t, unlimited)
		ann := w.person(1)
		for _, name := range []string{"Tea", "Coffee"} {
			require.NoError(t, w.rename(ann, name))
		}
		w.clock.Pass(31 * 24 * time.Hour)
		ann = w.claim(w.enter(number(1)))
		errs := atOnce(2, func(i int) error {
			if i == 0 {
				return w.PurgeTies(t.Context())
			}
			return w.rename(ann, "Tea")
		})
		require.Equal(t, 2, count(errs, isNil), errs)
		require.Equal(t, []string{"Person1"}, w.found(ann, "tea"))
		require.Empty(t, w.differences())
	}
}

// TestCrashesOfSearch: after any accident to any call of a change of a name, or of the job that
// removes rows of the old one, a person is found by the name that they have, and verify is silent.
func TestCrashesOfSearch(t *testing.T) {
	t.Parallel()
	for _, lands := range []bool{false, true} {
		for _, goesOn := range []bool{false, true} {
			for n := 1; ; n++ {
				w := newWorld(t, unlimited)
				ann := w.person(1)
				require.NoError(t, w.rename(ann, "Tea"))
				c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands, GoesOn: goesOn}}
				other := w.over(calls.Tables(w.db, c.Make), unlimited)
				name := "Coffee House"
				_, err := other.SetBasics(t.Context(), ann, people.Basics{FullName: &name})
				what := fmt.Sprintf("call %d, lands %v, goes on %v: %v", n, lands, goesOn, err)
				me, unread := w.Me(t.Context(), w.claim(w.enter(number(1))))
				require.NoError(t, unread)
				ann = w.claim(w.enter(number(1)))
				has := map[bool][]string{true: {"Person1"}}
				require.Equal(t, has[me.FullName == "Tea"], w.found(ann, "tea"), what)
				require.Equal(t, has[me.FullName != "Tea"], w.found(ann, "house coffee"), what)
				require.Empty(t, w.differences(), what)
				w.clock.Pass(31 * 24 * time.Hour)
				err = other.PurgeTies(t.Context())
				require.NoError(t, w.PurgeTies(t.Context()), "%s: %v", what, err)
				ann = w.claim(w.enter(number(1)))
				require.Equal(t, has[me.FullName == "Tea"], w.found(ann, "tea"), what)
				require.Equal(t, has[me.FullName != "Tea"], w.found(ann, "coffee"), what)
				require.Len(t, w.keys("Lists", "pn|"), map[bool]int{true: 2, false: 3}[me.FullName == "Tea"], what)
				require.Empty(t, w.differences(), what)
				require.Empty(t, w.keys("Admin", "due|tie|"), what)
				if c.Left > 0 {
					require.Greater(t, n, 10, "accidents never happened")
					break
				}
			}
		}
	}
}

// TestVerifyFindsWords: rows by which people are found that are missing are told of and written
// again, and those of nothing are told of.
func TestVerifyFindsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann := w.person(1)
	require.NoError(t, w.rename(ann, "Tea"))
	for _, name := range []string{"Lists", "Users"} {
		gone := 0
		for _, key := range w.keys(name, "") {
			if strings.HasPrefix(key, "pn|") || strings.Contains(key, " / w|") {
				gone++
				partition, row, _ := strings.Cut(key, " / ")
				_, err := w.db.Write(t.Context(), name, rowstore.Removal(table.Key{Partition: partition, Row: row}))
				require.NoError(t, err)
				require.NotEmpty(t, w.differences(), key)
				require.NoError(t, w.Repair(t.Context()))
				require.Empty(t, w.differences(), key)
				require.Equal(t, []string{"Person1"}, w.found(ann, "tea"))
			}
		}
		require.Equal(t, 2, gone)
	}
}
