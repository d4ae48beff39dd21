package meet_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/table"
)

func requireCode(t *testing.T, code fault.Code, err error) {
	t.Helper()
	require.Equal(t, code, fault.CodeOf(err), "%v", err)
}

// TestRegisterAtOnce: of twenty who register one address at once, one gets it, and nothing is left
// of the others.
func TestRegisterAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 20
	errs := make([]error, n)
	password := func(i int) string { return fmt.Sprintf("tea under %d lamps", 10+i) }
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r := someone("anna")
			r.Password, r.By.Site = password(i), fmt.Sprint("address ", i) // one address waits for four hashes at most
			if i%2 == 0 {
				r.Email = " ANNA@Example.com "
			}
			_, errs[i] = w.Register(t.Context(), r)
		})
	}
	wg.Wait()
	winner := -1
	for i, err := range errs {
		if err == nil {
			require.Equal(t, -1, winner, "two have the address")
			winner = i
			continue
		}
		requireCode(t, meet.EmailTaken, err)
	}
	require.NotEqual(t, -1, winner)
	require.Equal(t, "1 1 1 1", w.counts())
	require.Len(t, w.rows("Sessions"), 1)
	left, err := w.queues.Len(t.Context(), meet.QueueLists)
	require.NoError(t, err)
	require.Zero(t, left)
	for i := range n {
		if i == winner || i == (winner+1)%n { // another's password, once: ten would be too many
			_, err := w.login("anna", password(i))
			require.Equal(t, i == winner, err == nil)
		}
	}
	w.settle()
	require.Equal(t, "1 1 1 1", w.counts())
}

// TestRegisterRefusals: a registration that breaks a rule makes no account.
func TestRegisterRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tt := range map[string]struct {
		change func(*meet.Registration)
		code   fault.Code
	}{
		"address":   {func(r *meet.Registration) { r.Email = "anna" }, rules.ValidationError},
		"young":     {func(r *meet.Registration) { r.BirthDate = "2008-11-02" }, rules.Underage},
		"no day":    {func(r *meet.Registration) { r.BirthDate = "1999-02-29" }, rules.ValidationError},
		"weak":      {func(r *meet.Registration) { r.Password = "someone else" }, rules.WeakPassword},
		"short":     {func(r *meet.Registration) { r.Password = "nine char" }, rules.ValidationError},
		"gender":    {func(r *meet.Registration) { r.Gender = "" }, rules.ValidationError},
		"language":  {func(r *meet.Registration) { r.Language = "de" }, rules.ValidationError},
		"long name": {func(r *meet.Registration) { r.Name = strings.Repeat("𝄞", 26) }, rules.ValidationError},
	} {
		r := someone("anna")
		tt.change(&r)
		_, err := w.Register(t.Context(), r)
		require.Equal(t, tt.code, fault.CodeOf(err), name)
	}
	require.Equal(t, "0 0 0 0", w.counts())
	r := someone("anna")
	r.BirthDate = "2008-11-01" // eighteen today
	_, err := w.Register(t.Context(), r)
	require.NoError(t, err)
}

// TestRotation: any refresh may come again until the next token is used, and after that ends the
// session.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	first := w.register("anna").Tokens
	w.clock.Pass(10 * time.Minute)
	second, err := w.Refresh(ctx, first.Refresh)
	require.NoError(t, err)
	_, err = w.Me(ctx, claim(t, first))
	requireCode(t, meet.InvalidToken, err)
	again, err := w.Refresh(ctx, first.Refresh)
	require.NoError(t, err)
	require.Equal(t, second, again)
	third, err := w.Refresh(ctx, second.Refresh)
	require.NoError(t, err)
	_, err = w.Refresh(ctx, first.Refresh)
	requireCode(t, meet.RefreshReused, err)
	_, err = w.Me(ctx, claim(t, third))
	requireCode(t, meet.InvalidToken, err)
	require.Empty(t, w.rows("Sessions"))
}

// TestStoredSession: a session goes on as the row of an earlier version has it.
func TestStoredSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.register("anna").Me.ID
	const old = "11111111-2222-4333-8444-555555555555"
	refresh, access := session.Secret{1}, session.Secret{2}
	text := func(name, value string) table.Prop { return table.Prop{Name: name, Value: table.String(value)} }
	at := func(name string, after time.Duration) table.Prop {
		return table.Prop{Name: name, Value: table.Time(began.Add(after))}
	}
	require.NoError(t, w.Upsert(t.Context(), "Sessions",
		table.Row{Key: table.Key{Partition: id, Row: old}, Props: table.Props{
			text("RefreshHash", session.Hash(refresh[:])), text("PreviousHash", ""), text("Salt", ""),
			text("AccessHash", session.Hash(access[:])),
			at("AccessEndsAt", time.Minute), at("EndsAt", time.Hour), at("CreatedAt", 0), at("UsedAt", 0),
			text("Device", "an old browser"),
		}}))
	x := session.Session{User: id, ID: old}
	in := meet.Tokens{Access: account.AccessForm.Token(x, access), Refresh: account.RefreshForm.Token(x, refresh)}
	sessions, err := w.Sessions(t.Context(), claim(t, in))
	require.NoError(t, err)
	require.Contains(t, sessions,
		session.Info{ID: old, Device: "an old browser", IssuedAt: began, UsedAt: began, Current: true})
	next, err := w.Refresh(t.Context(), in.Refresh)
	require.NoError(t, err)
	_, err = w.Me(t.Context(), claim(t, next))
	require.NoError(t, err)
}

func TestTokensEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	in := w.register("anna")
	_, err := w.Refresh(ctx, in.Tokens.Refresh[:len(in.Tokens.Refresh)-1])
	requireCode(t, meet.InvalidToken, err)
	_, err = w.Refresh(ctx, in.Tokens.Access)
	requireCode(t, meet.InvalidToken, err)
	_, err = meet.ParseAccess(in.Tokens.Refresh)
	requireCode(t, meet.InvalidToken, err)
	w.clock.Pass(account.RefreshFor)
	_, err = w.Refresh(ctx, in.Tokens.Refresh)
	requireCode(t, meet.InvalidToken, err)
}

func TestLogout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	here := w.register("anna").Tokens
	there, err := w.login("anna", secret)
	require.NoError(t, err)
	require.NoError(t, w.Logout(ctx, claim(t, here), false))
	_, err = w.Me(ctx, claim(t, here))
	requireCode(t, meet.InvalidToken, err)
	_, err = w.Refresh(ctx, here.Refresh)
	requireCode(t, meet.InvalidToken, err)
	_, err = w.Me(ctx, claim(t, there.Tokens))
	require.NoError(t, err)

	another, err := w.login("anna", secret)
	require.NoError(t, err)
	require.NoError(t, w.Logout(ctx, claim(t, there.Tokens), true))
	for _, tokens := range []meet.Tokens{there.Tokens, another.Tokens} {
		_, err = w.Me(ctx, claim(t, tokens))
		requireCode(t, meet.InvalidToken, err)
		_, err = w.Refresh(ctx, tokens.Refresh)
		requireCode(t, meet.InvalidToken, err)
	}
	later, err := w.login("anna", secret)
	require.NoError(t, err)
	_, err = w.Me(ctx, claim(t, later.Tokens))
	require.NoError(t, err, "a session after that is good at once")
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	here := w.register("anna").Tokens
	there, err := w.login("anna", secret)
	require.NoError(t, err)
	requireCode(t, meet.InvalidCredentials,
		w.ChangePassword(ctx, claim(t, here), "not this one", "eleven lamps over tea"))
	requireCode(t, rules.ValidationError, w.ChangePassword(ctx, claim(t, here), secret, "short"))
	require.NoError(t, w.ChangePassword(ctx, claim(t, here), secret, "eleven lamps over tea"))
	_, err = w.Me(ctx, claim(t, here))
	require.NoError(t, err, "the session that asked goes on")
	_, err = w.Refresh(ctx, here.Refresh)
	require.NoError(t, err)
	_, err = w.Me(ctx, claim(t, there.Tokens))
	requireCode(t, meet.InvalidToken, err)
	_, err = w.login("anna", secret)
	requireCode(t, meet.InvalidCredentials, err)
	later, err := w.login("anna", "eleven lamps over tea")
	require.NoError(t, err)
	_, err = w.Me(ctx, claim(t, later.Tokens))
	require.NoError(t, err)
}

// TestReset: a token of an operator sets a password once, within half an hour, and is no session.
func TestReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	here := w.register("anna").Tokens
	_, err := w.NewReset(ctx, "bob@example.com")
	requireCode(t, meet.UserNotFound, err)
	token, err := w.NewReset(ctx, "Anna@example.com")
	require.NoError(t, err)
	late, err := w.NewReset(ctx, "anna@example.com")
	require.NoError(t, err)
	_, err = w.Refresh(ctx, "hr"+token[2:])
	requireCode(t, meet.InvalidToken, err)
	sessions, err := w.Sessions(ctx, claim(t, here))
	require.NoError(t, err)
	require.Len(t, sessions, 1)

	requireCode(t, rules.ValidationError, w.Reset(ctx, token, "short"))
	require.NoError(t, w.Reset(ctx, token, "eleven lamps over tea"))
	requireCode(t, meet.InvalidToken, w.Reset(ctx, token, "another one of twelve"))
	requireCode(t, meet.InvalidToken, w.Reset(ctx, late, "another one of twelve"))
	_, err = w.Me(ctx, claim(t, here))
	requireCode(t, meet.InvalidToken, err)
	_, err = w.login("anna", "eleven lamps over tea")
	require.NoError(t, err)

	w.clock.Pass(2 * time.Minute)
	token, err = w.NewReset(ctx, "anna@example.com")
	require.NoError(t, err)
	w.clock.Pass(31 * time.Minute)
	requireCode(t, meet.InvalidToken, w.Reset(ctx, token, "another one of twelve"))
}

// TestTenWrongPasswords: after ten failures for one address it is refused, the right password too,
// until 15 minutes are over; unknown addresses alike.
func TestTenWrongPasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.register("anna")
	for _, name := range []string{"anna", "unknown"} {
		for range 10 {
			_, err := w.login(name, "not this one")
			requireCode(t, meet.InvalidCredentials, err)
		}
		_, err := w.login(name, secret)
		requireCode(t, meet.TooManyAttempts, err)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, 15*time.Minute, f.RetryAfter)
	}
	_, err := w.Me(t.Context(), claim(t, in.Tokens))
	require.NoError(t, err, "sessions go on")
	w.clock.Pass(15*time.Minute - time.Second)
	_, err = w.login("anna", secret)
	requireCode(t, meet.TooManyAttempts, err)
	w.clock.Pass(time.Second)
	_, err = w.login("anna", secret)
	require.NoError(t, err)
}

// TestTwentySessions: of more the one ends that was not used for longest.
func TestTwentySessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.register("anna").Tokens
	for range 20 {
		w.clock.Pass(time.Minute)
		_, err := w.login("anna", secret)
		require.NoError(t, err)
	}
	require.Len(t, w.rows("Sessions"), 20)
	_, err := w.Refresh(t.Context(), first.Refresh)
	requireCode(t, meet.InvalidToken, err)
}

// TestRoles: an operator makes the first admin, admins give roles but never their own.
func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	anna, bob := w.register("anna"), w.register("bob")
	a, b := claim(t, anna.Tokens), claim(t, bob.Tokens)
	requireCode(t, meet.RoleRequired, w.SetRoleOf(ctx, a, bob.Me.ID, meet.Moderator))
	_, err := w.SetRole(ctx, "anna@example.com", meet.Admin)
	require.NoError(t, err)
	me, err := w.Me(ctx, a)
	require.NoError(t, err)
	require.Equal(t, meet.Admin, me.Role, "from the next request on")
	requireCode(t, meet.NotYourself, w.SetRoleOf(ctx, a, anna.Me.ID, meet.Member))
	requireCode(t, meet.UserNotFound, w.SetRoleOf(ctx, a, "0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925", meet.Member))
	requireCode(t, meet.UserNotFound, w.SetRoleOf(ctx, a, "bob", meet.Member))
	require.NoError(t, w.SetRoleOf(ctx, a, bob.Me.ID, meet.Moderator))
	requireCode(t, meet.RoleRequired, w.SetRoleOf(ctx, b, anna.Me.ID, meet.Member))
	_, err = w.SetRole(ctx, "carol@example.com", meet.Admin)
	requireCode(t, meet.UserNotFound, err)
}

// TestProfiles: only its owner changes a profile, and one that a member may not see is not there.
func TestProfiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	anna, bob := w.register("anna"), w.register("bob")
	a, b := claim(t, anna.Tokens), claim(t, bob.Tokens)
	p := meet.Profile{
		Name: " Анна ", About: account.About{Bio: "a\r\nb", Location: "Москва"}, Gender: "female",
		Lat: 55.75, Lon: -0.05, Located: true,
	}
	always := func(string) bool { return true }
	me, err := w.SetProfile(ctx, a, anna.Me.ID, p, always)
	require.NoError(t, err)
	require.Equal(t, "Анна", me.Name)
	require.Equal(t, "a\nb", me.Bio)
	require.Equal(t, rules.Position{Lat: 557, Lon: -1}, *me.Position)
	_, err = w.SetProfile(ctx, a, anna.Me.ID, p, func(etag string) bool { return etag != me.ETag() })
	require.Equal(t, fault.Stale, fault.Of(err))
	_, err = w.SetProfile(ctx, b, anna.Me.ID, p, always)
	requireCode(t, meet.NotYours, err)

	seen, err := w.Person(ctx, b, anna.Me.ID)
	require.NoError(t, err)
	require.Equal(t, "Анна", seen.Name)
	require.Nil(t, seen.Distance)
	require.Nil(t, seen.Online, "told to matches alone")

	require.NoError(t, w.SetPrivacy(ctx, a, rules.Privacy{Visibility: "private", Language: "en"}))
	for _, id := range []string{anna.Me.ID, "0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925", strings.ToUpper(bob.Me.ID), "x"} {
		_, err = w.Person(ctx, b, id)
		requireCode(t, meet.UserNotFound, err)
		_, err = w.SetProfile(ctx, b, id, p, always)
		requireCode(t, meet.UserNotFound, err)
	}
	_, err = w.Person(ctx, a, anna.Me.ID)
	require.NoError(t, err)
	_, err = w.SetRole(ctx, "bob@example.com", meet.Moderator)
	require.NoError(t, err)
	_, err = w.Person(ctx, b, anna.Me.ID)
	require.NoError(t, err, "staff see everybody")
}

// TestSettings: a new member has the defaults, and changes hold.
func TestSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	c := claim(t, w.register("anna").Tokens)
	s, err := w.Settings(ctx, c)
	require.NoError(t, err)
	require.Equal(t, rules.NewPreferences(), s.Preferences)
	require.Equal(t, rules.NewPrivacy("ru"), s.Privacy)
	p := rules.Preferences{AgeMin: 30, AgeMax: 40, MaxDistance: 100, ShowMe: "men"}
	require.NoError(t, w.SetPreferences(ctx, c, p))
	v := rules.Privacy{Visibility: "friends", AnonymousLikes: true, Language: "en"}
	require.NoError(t, w.SetPrivacy(ctx, c, v))
	s, err = w.Settings(ctx, c)
	require.NoError(t, err)
	require.Equal(t, p, s.Preferences)
	require.Equal(t, v, s.Privacy)
	p.AgeMin = 41
	requireCode(t, rules.ValidationError, w.SetPreferences(ctx, c, p))
	v.Visibility = "all"
	requireCode(t, rules.ValidationError, w.SetPrivacy(ctx, c, v))
}
