package people_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
)

// choose chooses a username.
func (w *world) choose(c people.Claim, name string) error {
	_, err := w.SetBasics(w.t.Context(), c, people.Basics{Username: &name})
	return err
}

// TestNames: set once, never changed, unique whatever the case, never given back.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann, bob := w.claim(w.enter(number(1))), w.claim(w.enter(number(2)))
	for _, bad := range []string{
		"", "ab", "1abc", "_abc", "a b c", "añb", "ann ",
		strings.Repeat("a", 101), "Admin", "SYSTEM", "me",
	} {
		require.Equal(t, fault.Invalid, fault.Of(w.choose(ann, bad)), bad)
		reason, err := w.NameAvailable(t.Context(), ann, bad)
		require.NoError(t, err)
		require.Contains(t, []string{people.ReasonInvalid, people.ReasonReserved}, reason, bad)
	}
	longest := "A" + strings.Repeat("b", 99)
	require.NoError(t, w.choose(w.claim(w.enter(number(3))), longest))
	reason, err := w.NameAvailable(t.Context(), ann, "Ann_1")
	require.NoError(t, err)
	require.Empty(t, reason)
	require.NoError(t, w.choose(ann, "Ann_1"))
	require.NoError(t, w.choose(ann, "Ann_1"), "the same again")
	requireCode(t, people.UsernameTaken, w.choose(ann, "Ann_2"))
	requireCode(t, people.UsernameTaken, w.choose(ann, "ann_1"))
	requireCode(t, people.UsernameTaken, w.choose(bob, "aNN_1"))
	reason, err = w.NameAvailable(t.Context(), bob, "ANN_1")
	require.NoError(t, err)
	require.Equal(t, people.ReasonTaken, reason)
	require.NoError(t, w.choose(bob, "Ann_2"), "a name that was refused stays free")
	p, err := w.ProfileByName(t.Context(), people.Claim{}, "ANN_1")
	require.NoError(t, err)
	require.Equal(t, "Ann_1", p.Username)
	require.Equal(t, []string{"name|" + strings.ToLower(longest) + " / r", "name|ann_1 / r", "name|ann_2 / r"},
		w.keys("Names", "name|"))
	for _, none := range []string{"nobody", "", "a|b", "x/y"} {
		_, err = w.ProfileByName(t.Context(), people.Claim{}, none)
		requireCode(t, people.UserNotFound, err)
	}
}

// TestOneNameForFifty: of fifty people who claim a name at once one has it, and the others can have
// others.
func TestOneNameForFifty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	var all []people.Claim
	for i := range 50 {
		all = append(all, w.claim(w.enter(number(i))))
	}
	errs := atOnce(50, func(i int) error { return w.choose(all[i], []string{"Star", "STAR", "star"}[i%3]) })
	require.Equal(t, 1, count(errs, isNil), errs)
	require.Equal(t, 49, count(errs, hasCode(people.UsernameTaken)), errs)
	named := 0
	for i, c := range all {
		me, err := w.Me(t.Context(), c)
		require.NoError(t, err)
		if me.Username != "" {
			named++
			require.NoError(t, errs[i])
		}
	}
	require.Equal(t, 1, named)
	errs = atOnce(50, func(i int) error {
		if errs[i] == nil {
			return nil
		}
		return w.choose(all[i], fmt.Sprintf("Star%d", i))
	})
	require.Equal(t, 50, count(errs, isNil), errs)
}

// TestTenNamesForOne: one person who claims ten names on ten devices at once has one, and the
// others are free.
func TestTenNamesForOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	var devices []people.Claim
	for range 10 {
		devices = append(devices, w.claim(w.enter(number(1))))
	}
	errs := atOnce(10, func(i int) error { return w.choose(devices[i], fmt.Sprintf("Name%d", i)) })
	require.Equal(t, 1, count(errs, isNil), errs)
	require.Equal(t, 9, count(errs, hasCode(people.UsernameTaken)), errs)
	me, err := w.Me(t.Context(), devices[0])
	require.NoError(t, err)
	require.NotEmpty(t, me.Username)
	require.Equal(t, []string{"name|" + strings.ToLower(me.Username) + " / r"}, w.keys("Names", "name|"))
	for i := range 10 {
		name := fmt.Sprintf("Name%d", i)
		if name != me.Username {
			require.NoError(t, w.choose(w.claim(w.enter(number(10+i))), name))
		}
	}
}

// TestReservationsThatCameToNothing: a process stops after it has reserved a name. Others can have
// the name ten minutes later, the same person at once.
func TestReservationsThatCameToNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann, bob := w.claim(w.enter(number(1))), w.claim(w.enter(number(2)))
	whole := w.Service
	w.Service = w.over(&stops{DB: w.db, at: "Users"}, unlimited)
	require.Equal(t, fault.Unavailable, fault.Of(w.choose(ann, "Star")))
	w.Service = whole
	require.Equal(t, []string{"name|star / r"}, w.keys("Names", "name|"))
	w.clock.Pass(people.NameLasts - 1)
	requireCode(t, people.UsernameTaken, w.choose(bob, "Star"))
	w.clock.Pass(1)
	require.NoError(t, w.choose(bob, "Star"))
	requireCode(t, people.UsernameTaken, w.choose(ann, "Star"))
	require.NoError(t, w.choose(ann, "Other"))
}

// TestReservationsAreSwept: a reservation that came to nothing is removed after ten minutes. If it
// is made anew, ten minutes begin again. A name that a person has, or had, is never removed.
func TestReservationsAreSwept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann, bob := w.claim(w.enter(number(1))), w.person(2)
	whole := w.Service
	reserve := func(name string) {
		w.Service = w.over(&stops{DB: w.db, at: "Users"}, unlimited)
		require.Equal(t, fault.Unavailable, fault.Of(w.choose(ann, name)))
		w.Service = whole
	}
	names := func(left time.Duration, want ...string) {
		t.Helper()
		w.clock.Pass(left)
		require.NoError(t, w.Expire(t.Context()))
		for i := range want {
			want[i] = "name|" + want[i] + " / r"
		}
		require.Equal(t, want, w.keys("Names", "name|"))
	}
	reserve("Star")
	reserve("Moon")
	require.NoError(t, w.Leave(t.Context(), bob))
	names(people.NameLasts-time.Second, "moon", "person2", "star")
	reserve("Moon")
	names(2*time.Second, "moon", "person2")
	require.NoError(t, w.choose(ann, "Ann"))
	names(0, "ann", "moon", "person2")
	names(people.NameLasts, "ann", "person2")
	names(people.NameLasts, "ann", "person2")
	require.Empty(t, w.keys("Admin", "due|name|"))
	require.Empty(t, w.differences())
}

// TestOnboarding: complete with username, name and terms, in any order.
func TestOnboarding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	ann := w.claim(w.enter(number(1)))
	_, err := w.Member(t.Context(), ann)
	requireCode(t, people.OnboardingRequired, err)
	u, err := w.Caller(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, []string{"username", "fullName", "terms"}, u.Missing())
	me, err := w.AcceptTerms(t.Context(), ann, "2026-11", "2026-10")
	require.NoError(t, err)
	require.Equal(t, people.StepTerms, me.Step())
	require.NoError(t, w.choose(ann, "Ann"))
	name, bio := "Ann\x00", strings.Repeat("𝄞", 251)
	_, err = w.SetBasics(t.Context(), ann, people.Basics{FullName: &name, Bio: &bio})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Len(t, f.Fields, 2)
	name, bio = strings.Repeat("𝄞", 50), "two\nlines "+strings.Repeat("𝄞", 245)
	me, err = w.SetBasics(t.Context(), ann, people.Basics{FullName: &name, Bio: &bio})
	require.NoError(t, err)
	require.True(t, me.Onboarded())
	_, err = w.Member(t.Context(), ann)
	require.NoError(t, err)
	me, err = w.Me(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, []string{name, bio, "2026-11", "2026-10"},
		[]string{me.FullName, me.Bio, me.TermsVersion, me.PrivacyVersion})
	require.Equal(t, began, me.AcceptedAt)
}
