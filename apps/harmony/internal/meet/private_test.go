package meet_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
)

// fans are 100 members who gave a position, some around Augsburg and others all over Europe, and
// look for one of some kinds of people.
func fans(t *testing.T, w *world, showMe ...string) (all []meet.MadeUp, ids []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(60, 1))
	for n := range 100 {
		reach := []int{2, 10, 60, 150}[r.IntN(4)]
		m := meet.MadeUp{
			Gender: "female", BirthDate: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), Shows: "public",
			Looks:    rules.NewPreferences(),
			Position: &rules.Position{Lat: 483 + r.IntN(2*reach) - reach, Lon: 108 + r.IntN(4*reach) - 2*reach},
		}
		m.Looks.ShowMe = showMe[r.IntN(len(showMe))]
		claim, err := w.MakeUp(t.Context(), fmt.Sprint("fan", n), m)
		require.NoError(t, err)
		all, ids = append(all, m), append(ids, claim.UserID)
	}
	return all, ids
}

// asker is a member who asks, and gave a position.
func asker(t *testing.T, w *world, gender string, at rules.Position) meet.Claim {
	t.Helper()
	c, err := w.MakeUp(t.Context(), "asker "+gender,
		meet.MadeUp{
			Gender: gender, BirthDate: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), Shows: "private",
			Looks: rules.NewPreferences(), Position: &at,
		})
	require.NoError(t, err)
	return c
}

func (w *world) inDeck(c meet.Claim) map[string]bool {
	w.t.Helper()
	all := map[string]bool{}
	for _, id := range w.deckOf(c, 50, func() {}) {
		all[id] = true
	}
	return all
}

// TestPlacesAreNotFound does what found the place of each member: for each of three positions it
// halves the limit of the deck until the distance of every member is known, without any limit of
// changes. It learns the classes that the cards tell, from each position, and nothing more.
func TestPlacesAreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.LikesADay = -1
	members, ids := fans(t, w, "everyone") // so decks tell of places alone
	from := []rules.Position{{Lat: 483, Lon: 108}, {Lat: 500, Lon: 90}, {Lat: 460, Lon: 130}}
	c := asker(t, w, "male", from[0])
	type bounds struct{ low, high int } // a limit that leaves the member out, and one that does not
	var learned [3][]bounds
	var told [3][]int
	for i, at := range from {
		require.NoError(t, w.Drift(t.Context(), c.UserID, true, func(u *meet.User) {
			u.Position, u.Moves = &at, account.Daily{}
		}))
		learned[i], told[i] = make([]bounds, len(ids)), make([]int, len(ids))
		for n := range ids {
			learned[i][n] = bounds{0, 20_001}
			p, err := w.Person(t.Context(), c, ids[n])
			require.NoError(t, err)
			if p.Distance != nil {
				told[i][n] = *p.Distance
			}
		}
		decks := map[int]map[string]bool{}
		within := func(limit int) map[string]bool {
			if decks[limit] == nil {
				looks := rules.NewPreferences()
				looks.MaxDistance = limit
				require.NoError(t, w.SetPreferences(t.Context(), c, looks))
				require.NoError(t, w.Forget(t.Context(), c.UserID))
				decks[limit] = w.inDeck(c)
			}
			return decks[limit]
		}
		for n, id := range ids {
			for range 14 {
				b := &learned[i][n]
				if middle := (b.low + b.high) / 2; middle > b.low && within(middle)[id] {
					b.high = middle
				} else {
					b.low = middle
				}
			}
		}
	}
	for n, m := range members {
		least := 1000
		for i := range from {
			if class := told[i][n]; class > 0 {
				require.Equal(t, class, classOver(learned[i][n].high), "the deck tells more than the card")
				least = min(least, class)
			}
		}
		// The places that remain, of which each would have had the same answers, are as wide as the
		// class below the least that was told.
		finer := 10
		for _, class := range []int{10, 25, 50, 100, 250, 500} {
			if class < least {
				finer = class
			}
		}
		north, south, west, east := -900, 900, 3600, -3600
		reach := max(finer/3, 4)
		step := max(reach/16, 1)
		for lat := -reach; lat <= reach; lat += step {
			for lon := -2 * reach; lon <= 2*reach; lon += step {
				q, same := rules.Position{Lat: m.Position.Lat + lat, Lon: m.Position.Lon + lon}, true
				for i, at := range from {
					if same {
						class, _ := rules.Near(at, q)
						same = told[i][n] == class
					}
				}
				if same {
					north, south, west, east = max(north, q.Lat), min(south, q.Lat), min(west, q.Lon), max(east, q.Lon)
				}
			}
		}
		const km = 11.12 // of a tenth of a degree
		wide := km * math.Cos(float64(m.Position.Lat)/10*math.Pi/180)
		require.GreaterOrEqual(t, float64(north-south+2*step)*km, float64(finer),
			"%v: places from %d to %d", m.Position, south, north)
		require.GreaterOrEqual(t, float64(east-west+2*step)*wide*1.1, float64(finer),
			"%v: places from %d to %d", m.Position, west, east)
	}
}

// classOver returns the least class that is told for a limit.
func classOver(limit int) int {
	for _, class := range []int{10, 25, 50, 100, 250, 500, 1000} {
		if limit <= class {
			return class
		}
	}
	return 0
}

// TestTastesAreNotFound does what found whom each member looks for: it reads the deck as a man, as
// a woman and as neither. Two of the three are refused, and the deck does not follow the first
// change for 30 days. Whom the members in the deck look for is guessed no better than by the deck
// alone.
func TestTastesAreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	members, ids := fans(t, w, rules.ShowMe...)
	c := asker(t, w, "male", rules.Position{Lat: 483, Lon: 108})
	first := w.inDeck(c)
	answers := []map[string]bool{first}
	for _, gender := range []string{"female", "non-binary", "male"} {
		_, err := w.SetProfile(t.Context(), c, c.UserID, meet.Profile{Name: "asker", Gender: gender},
			func(string) bool { return true })
		if gender != "female" {
			requireCode(t, account.GenderTooOften, err)
			require.Equal(t, fault.Limited, fault.Of(err))
			continue
		}
		require.NoError(t, err)
		answers = append(answers, w.inDeck(c))
	}
	require.NotEmpty(t, first)
	right, guess := 0, 0
	for n, id := range ids {
		looks := members[n].Looks.ShowMe
		require.Equal(t, looks == "everyone" || looks == "men", first[id])
		for _, again := range answers {
			require.Equal(t, first[id], again[id], "another gender is another question")
		}
		// The best guess from all answers, and that from the deck of a member who asks nothing.
		best := map[bool]string{true: "men", false: "women"}
		if looks == best[answers[len(answers)-1][id]] {
			right++
		}
		if looks == best[first[id]] {
			guess++
		}
	}
	require.LessOrEqual(t, right, guess)
	w.clock.Pass(account.GenderFor)
	u, err := w.Account(t.Context(), c.UserID)
	require.NoError(t, err)
	require.Equal(t, "female", u.DeckGender(w.clock.Now()), "then it follows")
}

// TestChangesAreCounted: a position changes 5 times a day and preferences 20 times, whatever
// requests come at the same time; one that stays as it was counts for nothing, and a position can
// be taken away at any time.
func TestChangesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.enter("anna")
	move := func(lat float64, located bool) error {
		_, err := w.SetProfile(t.Context(), c, c.UserID,
			meet.Profile{Name: "anna", Gender: "female", Lat: lat, Located: located}, func(string) bool { return true })
		return err
	}
	for i := range 5 {
		require.NoError(t, move(float64(i), true))
		require.NoError(t, move(float64(i), true), "the same")
	}
	err := move(40, true)
	requireCode(t, account.PositionTooOften, err)
	var limited *fault.Error
	require.ErrorAs(t, err, &limited)
	require.Equal(t, 12*time.Hour, limited.RetryAfter, "until midnight")
	require.NoError(t, move(0, false))
	requireCode(t, account.PositionTooOften, move(4, true))
	errs := make(chan error, 60)
	for i := range 60 {
		go func() {
			errs <- w.SetPreferences(t.Context(), c, rules.Preferences{AgeMin: 18 + i, AgeMax: 99, ShowMe: "everyone"})
		}()
	}
	changed := 0
	for range 60 {
		if err := <-errs; err == nil {
			changed++
		}
	}
	require.Positive(t, changed)
	require.LessOrEqual(t, changed, 21) // one of the 60 is as it was
	for range 40 {
		err = w.SetPreferences(t.Context(), c,
			rules.Preferences{AgeMin: 18 + changed, AgeMax: 80 + changed%19, ShowMe: "everyone"})
		changed++
	}
	requireCode(t, account.LooksTooOften, err)
}

// TestSecretLikesAreANumber: blocks, unblocks, suspensions and deletions of those who may have sent
// one, by whichever of the two, change the number of secret likes of no member.
func TestSecretLikesAreANumber(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		w := newWorld(t)
		if whole {
			w.unite()
		}
		ctx := t.Context()
		anna := w.enter("anna")
		var crowd []meet.Claim
		yes := true
		for i := range 16 {
			crowd = append(crowd, w.enter(fmt.Sprint("fan", i)))
			if i%3 == 0 {
				_, _, err := w.Like(ctx, crowd[i], anna.UserID, &yes)
				require.NoError(t, err)
			}
		}
		number := func() int {
			page, err := w.LikesReceived(ctx, anna, "", 50)
			require.NoError(t, err)
			return page.Anonymous
		}
		require.Equal(t, 6, number())
		for i, c := range crowd {
			for what, do := range map[string]func() error{
				"blocks":     func() error { return w.Block(ctx, anna, c.UserID) },
				"unblocks":   func() error { return w.Unblock(ctx, anna, c.UserID) },
				"is blocked": func() error { return w.Block(ctx, c, anna.UserID) },
			} {
				require.NoError(t, do())
				require.Equal(t, 6, number(), "%s %d", what, i)
			}
			require.NoError(t, w.Unblock(ctx, anna, c.UserID))
			require.NoError(t, w.Unblock(ctx, c, anna.UserID))
			require.Equal(t, 6, number())
			if i%2 == 0 { // the likes came back, and count once
				_, _, err := w.Like(ctx, c, anna.UserID, &yes)
				require.NoError(t, err)
				want := 6
				if i%3 != 0 {
					require.NoError(t, w.Unlike(ctx, c, anna.UserID))
				}
				require.Equal(t, want, number())
			}
			require.NoError(t, w.Drift(ctx, c.UserID, true, func(u *meet.User) {
				u.SuspendedUntil = w.clock.Now().Add(time.Hour)
			}))
			require.Equal(t, 6, number(), "suspended %d", i)
			require.NoError(t, w.Drift(ctx, c.UserID, true, func(u *meet.User) {
				u.SuspendedUntil = time.Time{}
				u.DeletedAt = w.clock.Now()
			}))
			require.Equal(t, 6, number(), "deleted %d", i)
			require.NoError(t, w.Drift(ctx, c.UserID, true, func(u *meet.User) { u.DeletedAt = time.Time{} }))
		}
		// An answer uses a secret like up, as it did before the block.
		_, _, err := w.Like(ctx, anna, crowd[0].UserID, nil)
		require.NoError(t, err)
		require.Equal(t, 5, number())
	}
}

// TestPagesHaveNoGaps: the pages of lists are as if members that cannot be seen were in no row. A
// block of the reader leaves the same pages as a deletion or a suspension.
func TestPagesHaveNoGaps(t *testing.T) {
	t.Parallel()
	for what, hide := range map[string]func(w *world, reader, c meet.Claim) error{
		"a block": func(w *world, reader, c meet.Claim) error { return w.Block(w.t.Context(), c, reader.UserID) },
		"a deletion": func(w *world, _, c meet.Claim) error {
			return w.Drift(w.t.Context(), c.UserID, true, func(u *meet.User) { u.DeletedAt = w.clock.Now() })
		},
		"a suspension": func(w *world, _, c meet.Claim) error {
			return w.Drift(w.t.Context(), c.UserID, true, func(u *meet.User) {
				u.SuspendedUntil = w.clock.Now().Add(time.Hour)
			})
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, anna, no := t.Context(), w.enter("anna"), false
			lists := map[string]func(after string, limit int) (meet.Page, error){
				"received": func(after string, limit int) (meet.Page, error) {
					return w.LikesReceived(ctx, anna, after, limit)
				},
				"sent": func(after string, limit int) (meet.Page, error) {
					return w.LikesSent(ctx, anna, after, limit)
				},
				"matches": func(after string, limit int) (meet.Page, error) {
					return w.Matches(ctx, anna, after, limit)
				},
				"blocks": func(after string, limit int) (meet.Page, error) {
					return w.Blocked(ctx, anna, after, limit)
				},
			}
			want := map[string][]string{}
			for i := range 12 {
				for name := range lists {
					c := w.enter(fmt.Sprint(name, i))
					if name != "blocks" && name != "sent" {
						_, _, err := w.Like(ctx, c, anna.UserID, &no)
						require.NoError(t, err)
					}
					if name == "sent" || name == "matches" {
						_, _, err := w.Like(ctx, anna, c.UserID, &no)
						require.NoError(t, err)
					}
					if name == "blocks" {
						require.NoError(t, w.Block(ctx, anna, c.UserID))
					}
					if i%3 != 1 || i > 9 {
						require.NoError(t, hide(w, anna, c))
					} else {
						want[name] = append([]string{c.UserID}, want[name]...)
						if name == "matches" {
							want["sent"] = append([]string{c.UserID}, want["sent"]...)
						}
					}
				}
				w.clock.Pass(time.Second)
			}
			for name, list := range lists {
				for _, limit := range []int{1, 2, 3, 50} {
					var got []string
					pages := 0
					for after, more := "", true; more; more = after != "" {
						p, err := list(after, limit)
						require.NoError(t, err)
						require.NotEmpty(t, p.Entries, "%s, pages of %d", name, limit)
						for _, e := range p.Entries {
							got = append(got, e.ID)
						}
						after = p.Next
						pages++
					}
					require.ElementsMatch(t, want[name], got, "%s, pages of %d", name, limit)
					require.Equal(t, (len(got)+limit-1)/limit, pages, "%s, pages of %d", name, limit)
				}
			}
			// A block of a hidden member is in the list as little as one of an id that never was.
			gone := w.enter("gone")
			require.NoError(t, hide(w, anna, gone))
			require.NoError(t, w.Block(ctx, anna, gone.UserID))
			require.NoError(t, w.Block(ctx, anna, "00000000-0000-0000-0000-000000000000"))
			p, err := w.Blocked(ctx, anna, "", 50)
			require.NoError(t, err)
			require.Len(t, p.Entries, len(want["blocks"]))
		})
	}
}

// TestPlacesInTheDeckAreCovered: where a deck goes on tells nothing of members, and is good for its
// reader alone.
func TestPlacesInTheDeckAreCovered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob := t.Context(), w.enter("anna"), w.enter("bob")
	var known []string
	for i := range 20 {
		c := w.enter(fmt.Sprint("fan", i))
		u, err := w.Account(ctx, c.UserID)
		require.NoError(t, err)
		known = append(known, c.UserID, u.Shuffle)
	}
	for after, more := "", true; more; more = after != "" {
		p, err := w.Deck(ctx, anna, after, 1)
		require.NoError(t, err)
		text, err := base64.RawURLEncoding.DecodeString(p.Next)
		require.NoError(t, err)
		for _, word := range known {
			require.NotContains(t, p.Next, word)
			require.NotContains(t, string(text), word)
		}
		if p.Next != "" {
			_, err = w.Deck(ctx, bob, p.Next, 1)
			require.Equal(t, fault.Malformed, fault.Of(err))
			text[len(text)-1] ^= 1
			_, err = w.Deck(ctx, anna, base64.RawURLEncoding.EncodeToString(text), 1)
			require.Equal(t, fault.Malformed, fault.Of(err))
		}
		after = p.Next
	}
}
