package meet_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/table"
)

// deckOf walks through the whole deck of a member, and does something between two parts.
func (w *world) deckOf(c meet.Claim, limit int, between func()) (ids []string) {
	w.t.Helper()
	for after, more, parts := "", true, 0; more; more, parts = after != "", parts+1 {
		require.Less(w.t, parts, 5000, "a walk that never ends")
		p, err := w.Deck(w.t.Context(), c, after, limit)
		require.NoError(w.t, err)
		require.LessOrEqual(w.t, len(p.Cards), limit)
		for _, card := range p.Cards {
			ids = append(ids, card.ID)
		}
		after = p.Next
		between()
	}
	return ids
}

// A crowd is made-up members, with the likes, passes and blocks between them.
type crowd struct {
	rnd     *rand.Rand
	members []meet.MadeUp
	claims  []meet.Claim
	between map[[2]int]string // what the first did to the second
}

// towns are where members live: some near one another, some at the edges of the map.
var towns = []rules.Position{
	{Lat: 557, Lon: 376},
	{Lat: 558, Lon: 379},
	{Lat: 599, Lon: 303},
	{Lat: -420, Lon: 1795},
	{Lat: -421, Lon: -1799},
	{Lat: 895, Lon: 100},
	{Lat: 0, Lon: 0},
	{Lat: -1, Lon: -1},
}

func (c *crowd) makeUp() meet.MadeUp {
	r := c.rnd
	m := meet.MadeUp{
		Gender:    rules.Genders[min(r.IntN(9)/3, 2+r.IntN(2))],
		BirthDate: time.Date(1950+r.IntN(58), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC),
		Looks:     rules.NewPreferences(), Shows: "public", Deleted: r.IntN(30) == 0, Suspended: r.IntN(30) == 0,
	}
	if r.IntN(3) > 0 {
		at := towns[r.IntN(len(towns))]
		m.Position = &rules.Position{Lat: at.Lat + r.IntN(5), Lon: max(min(at.Lon+r.IntN(9)-4, 1800), -1800)}
	}
	if r.IntN(2) == 0 {
		m.Looks.ShowMe = rules.ShowMe[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		m.Looks.AgeMin = 18 + r.IntN(20)
		m.Looks.AgeMax = m.Looks.AgeMin + 10 + r.IntN(99-m.Looks.AgeMin-9)
	}
	if r.IntN(4) == 0 {
		m.Looks.MaxDistance = []int{10, 60, 700, 19000}[r.IntN(4)]
	}
	if r.IntN(12) == 0 {
		m.Shows = rules.Visibilities[r.IntN(3)]
	}
	return m
}

// fits says by the rule alone whether a finds b.
func (c *crowd) fits(a, b int, now time.Time) bool {
	wants := func(m, of meet.MadeUp) bool {
		age := now.Year() - of.BirthDate.Year()
		if of.BirthDate.AddDate(age, 0, 0).After(now) {
			age--
		}
		far := func() bool { return !rules.Within(*m.Position, *of.Position, m.Looks.MaxDistance) }
		switch {
		case age < m.Looks.AgeMin, m.Looks.AgeMax < 99 && age > m.Looks.AgeMax:
			return false
		case m.Looks.MaxDistance > 0 && (m.Position == nil || of.Position == nil || far()):
			return false
		}
		return m.Looks.ShowMe == "everyone" ||
			map[string]string{"men": "male", "women": "female", "non-binary": "non-binary"}[m.Looks.ShowMe] == of.Gender
	}
	of, done, theirs := c.members[b], c.between[[2]int{a, b}], c.between[[2]int{b, a}]
	return a != b && of.Shows == "public" && !of.Deleted && !of.Suspended &&
		wants(c.members[a], of) && wants(of, c.members[a]) &&
		done == "" && theirs != "block"
}

// TestDeckOfMany holds the decks of 50 members against a scan of all 500: members who fit both
// ways, each once. While they walk others change what they look for and show, like, pass and block;
// then everybody who was in the deck all the while is shown once, and none who never was.
func TestDeckOfMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.LikesADay = -1
	ctx := t.Context()
	c := &crowd{rnd: rand.New(rand.NewPCG(42, 1)), between: map[[2]int]string{}}
	for n := range 500 {
		m := c.makeUp()
		if n < 50 {
			m.Deleted, m.Suspended = false, false
		}
		claim, err := w.MakeUp(ctx, fmt.Sprint("m", n), m)
		require.NoError(t, err)
		c.members, c.claims = append(c.members, m), append(c.claims, claim)
	}
	act := func(a, b int, what string) {
		if a == b || c.members[a].Suspended || c.members[a].Deleted {
			return
		}
		var err error
		switch what {
		case "like":
			_, _, err = w.Like(ctx, c.claims[a], c.claims[b].UserID, nil)
		case "pass":
			err = w.Pass(ctx, c.claims[a], c.claims[b].UserID)
		case "block":
			err = w.Block(ctx, c.claims[a], c.claims[b].UserID)
			delete(c.between, [2]int{b, a})
			if err == nil && c.between[[2]int{b, a}] == "" {
				c.between[[2]int{a, b}] = what
			}
		}
		if err == nil && what != "block" {
			c.between[[2]int{a, b}] = what
		}
	}
	for range 1500 {
		a, b := c.rnd.IntN(80), c.rnd.IntN(500)
		if c.rnd.IntN(2) == 0 {
			a, b = b, a
		}
		if c.between[[2]int{b, a}] != "block" { // a block by both is the same to the deck
			act(a, b, []string{"like", "like", "pass", "block"}[c.rnd.IntN(4)])
		}
	}
	found := 0
	number := map[string]int{}
	for n, claim := range c.claims {
		number[claim.UserID] = n
	}
	scan := func(a int) map[string]bool {
		all := map[string]bool{}
		for b := range c.members {
			if c.fits(a, b, w.clock.Now()) {
				all[c.claims[b].UserID] = true
			}
		}
		return all
	}
	for a := range 50 {
		ids := w.deckOf(c.claims[a], 1+c.rnd.IntN(20), func() {})
		require.ElementsMatch(t, slices.Collect(maps.Keys(scan(a))), ids, "member %d: %+v", a, c.members[a])
		found += len(ids)
	}
	require.Greater(t, found, 1000, "nobody is found")

	changed := map[int]bool{}
	for a := range 20 {
		always, ever := scan(a), scan(a)
		ids := w.deckOf(c.claims[a], 3, func() {
			b := 50 + c.rnd.IntN(450)
			if c.members[b].Suspended || c.members[b].Deleted || c.rnd.IntN(3) == 0 {
				act(a, c.rnd.IntN(500), "pass")
			} else {
				m := c.makeUp()
				m.Deleted, m.Suspended, m.BirthDate = false, false, c.members[b].BirthDate
				if changed[b] { // a gender can be changed once
					m.Gender = c.members[b].Gender
				}
				changed[b] = changed[b] || m.Gender != c.members[b].Gender
				p := meet.Profile{Name: "x", Gender: m.Gender}
				if m.Position != nil {
					p.Lat, p.Lon = m.Position.Degrees()
					p.Located = true
				}
				_, err := w.SetProfile(ctx, c.claims[b], c.claims[b].UserID, p, func(string) bool { return true })
				require.NoError(t, err)
				require.NoError(t, w.SetPreferences(ctx, c.claims[b], m.Looks))
				shows := rules.NewPrivacy("en")
				shows.Visibility = m.Shows
				require.NoError(t, w.SetPrivacy(ctx, c.claims[b], shows))
				c.members[b] = m
			}
			now := scan(a)
			maps.DeleteFunc(always, func(id string, _ bool) bool { return !now[id] })
			maps.Copy(ever, now)
		})
		times := map[string]int{}
		for _, id := range ids {
			times[id]++
			require.Equal(t, 1, times[id], "shown twice")
			require.True(t, ever[id], "member %d was never in the deck of %d", number[id], a)
		}
		for id := range always {
			require.Equal(t, 1, times[id], "member %d was in the deck of %d all the while", number[id], a)
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(scan(a))), w.deckOf(c.claims[a], 20, func() {}))
	}
}

// TestDeckFollows: what a member decides or changes holds from the next request on, and the deck of
// one who comes back begins where they were.
func TestDeckFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.enter("a")
	others := map[string]meet.Claim{}
	for n := range 8 {
		c := w.enter(fmt.Sprint("b", n))
		others[c.UserID] = c
	}
	all := w.deckOf(a, 10, func() {})
	require.ElementsMatch(t, slices.Collect(maps.Keys(others)), all)
	require.Equal(t, all, w.deckOf(a, 10, func() {}), "the same order")
	_, _, err := w.Like(ctx, a, all[0], nil)
	require.NoError(t, err)
	require.NoError(t, w.Pass(ctx, a, all[1]))
	require.NoError(t, w.Block(ctx, others[all[2]], a.UserID))
	require.NoError(t, w.SetPreferences(ctx, others[all[3]],
		rules.Preferences{AgeMin: 18, AgeMax: 25, ShowMe: "everyone"}))
	private := rules.NewPrivacy("en")
	private.Visibility = "private"
	require.NoError(t, w.SetPrivacy(ctx, others[all[4]], private))
	require.Equal(t, all[5:], w.deckOf(a, 10, func() {}))
	require.NoError(t, w.SetPreferences(ctx, others[all[3]], rules.NewPreferences()))
	require.NoError(t, w.SetPrivacy(ctx, others[all[4]], rules.NewPrivacy("en")))
	w.clock.Pass(account.AccessFor)
	require.NoError(t, w.KeepSession(ctx, a))
	require.Equal(t, append(slices.Clone(all[3:]), []string{}...), w.deckOf(a, 10, func() {}))
	require.NoError(t, w.SetPreferences(ctx, a, rules.Preferences{AgeMin: 18, AgeMax: 99, ShowMe: "men"}))
	require.Empty(t, w.deckOf(a, 10, func() {}))
	require.NoError(t, w.SetPreferences(ctx, a, rules.NewPreferences()))
	w.clock.Pass(90 * 24 * time.Hour)
	require.NoError(t, w.KeepSession(ctx, a))
	require.ElementsMatch(t, append([]string{all[1]}, all[3:]...), w.deckOf(a, 10, func() {}),
		"a pass is over after 90 days")
	p, err := w.Deck(ctx, a, "", 1)
	require.NoError(t, err)
	require.Len(t, p.Cards, 1)
	for _, wrong := range []string{
		"x", p.Next + "x", "0123456789abcdef 7 ",
		"0123456789abcdef/ 0 ", "0123456789abcdef 0 x",
	} {
		_, err = w.Deck(ctx, a, wrong, 1)
		require.Error(t, err, wrong)
	}
}

// TestDeckOfStaleRows: a row that differs from the truth shows no member, and two rows of one
// member show them once.
func TestDeckOfStaleRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a, b := w.enter("a"), w.enter("b")
	male := func(u *meet.User) { u.Gender = "male" }
	women := rules.Preferences{AgeMin: 18, AgeMax: 99, ShowMe: "women"}
	require.NoError(t, w.SetPreferences(ctx, a, women))
	require.NoError(t, w.Drift(ctx, b.UserID, false, male))
	require.Empty(t, w.deckOf(a, 10, func() {}))
	require.NoError(t, w.Drift(ctx, b.UserID, true, male))
	require.NoError(t, w.SetPreferences(ctx, a, rules.NewPreferences()))
	require.Equal(t, []string{b.UserID}, w.deckOf(a, 10, func() {}))

	// Within 700 km by the row, and further by the truth.
	for _, c := range []meet.Claim{a, b} {
		require.NoError(t, w.Drift(ctx, c.UserID, true, func(u *meet.User) {
			u.Position = &rules.Position{Lat: 557, Lon: 376}
		}))
	}
	require.NoError(t, w.SetPreferences(ctx, a,
		rules.Preferences{AgeMin: 18, AgeMax: 99, ShowMe: "everyone", MaxDistance: 700}))
	require.Equal(t, []string{b.UserID}, w.deckOf(a, 10, func() {}))
	require.NoError(t, w.Drift(ctx, b.UserID, false, func(u *meet.User) {
		u.Position = &rules.Position{Lat: 0, Lon: 0}
	}))
	require.Empty(t, w.deckOf(a, 10, func() {}))
}

// TestCrashesOfTheDeck: after any accident to any call of a change the rows of decks follow it, and
// no row of before shows the member.
func TestCrashesOfTheDeck(t *testing.T) {
	t.Parallel()
	var a, b meet.Claim
	female := rules.Preferences{AgeMin: 18, AgeMax: 99, ShowMe: "women"}
	private := rules.Privacy{Visibility: "private", Language: "en"}
	for name, do := range map[string]func(context.Context, *meet.Service) error{
		"public again": func(ctx context.Context, s *meet.Service) error {
			return s.SetPrivacy(ctx, b, rules.NewPrivacy("en"))
		},
		"profile": func(ctx context.Context, s *meet.Service) error {
			_, err := s.SetProfile(ctx, b, b.UserID,
				meet.Profile{Name: "b", Gender: "male", Lat: 55.7, Lon: 37.6, Located: true},
				func(string) bool { return true })
			return err
		},
		"preferences": func(ctx context.Context, s *meet.Service) error {
			return s.SetPreferences(ctx, b, rules.Preferences{AgeMin: 18, AgeMax: 99, ShowMe: "men"})
		},
		"privacy": func(ctx context.Context, s *meet.Service) error {
			return s.SetPrivacy(ctx, b, rules.Privacy{Visibility: "friends", Language: "en"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			crashes(t, func(w *world) table.DB {
				a, b = w.enter("a"), w.enter("b")
				require.NoError(w.t, w.SetPreferences(w.t.Context(), a, female))
				if name == "public again" {
					require.NoError(w.t, w.SetPrivacy(w.t.Context(), b, private))
				}
				return w.db
			}, func(w *world, s *meet.Service) error { return do(w.t.Context(), s) }, func(w *world, err error) {
				if err == nil {
					require.Equal(w.t, name == "public again", len(w.deckOf(a, 10, func() {})) == 1,
						"what was answered holds")
				}
				w.settle()
				first := w.deckOf(a, 10, func() {})
				all, err := w.Settings(w.t.Context(), b)
				require.NoError(w.t, err)
				if name == "public again" {
					require.Equal(w.t, all.Privacy.Visibility == "public", len(first) == 1)
				}
				if len(first) == 0 {
					require.NoError(w.t, w.SetPreferences(w.t.Context(), a,
						rules.Preferences{
							AgeMin: 18, AgeMax: 99,
							ShowMe: map[bool]string{true: "men", false: "women"}[name == "profile"],
						}))
					require.NoError(w.t, w.Drift(w.t.Context(), b.UserID, false, func(u *meet.User) {
						u.GenderChangedAt = time.Time{}
					}))
					_, err := w.SetProfile(w.t.Context(), b, b.UserID, meet.Profile{Name: "b", Gender: "female"},
						func(string) bool { return true })
					require.NoError(w.t, err)
					require.NoError(w.t, w.SetPreferences(w.t.Context(), b, female))
					require.NoError(w.t, w.SetPrivacy(w.t.Context(), b, rules.NewPrivacy("en")))
					require.NoError(w.t, w.SetPreferences(w.t.Context(), a, female))
				}
				require.Equal(w.t, []string{b.UserID}, w.deckOf(a, 10, func() {}))
				w.settle()
				want, err := w.DeckKeys(w.t.Context(), b.UserID)
				require.NoError(w.t, err)
				got := 0
				for row, err := range table.All(w.t.Context(), w.db, "Deck", table.Range{}) {
					require.NoError(w.t, err)
					if slices.Contains(want, row.Key) {
						require.False(w.t, row.Props.Get("IsOut").Bool())
						got++
					}
				}
				require.Equal(w.t, len(want), got)
			})
		})
	}
}
