package meet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
)

// slept has a world tell how long its requests slept.
func slept(w *world) *time.Duration {
	var most time.Duration
	w.Store.Sleep = func(ctx context.Context, d time.Duration) error {
		most = max(most, d)
		return ctx.Err()
	}
	return &most
}

// TestStrangersKeepNoMemberOut: after any wrong passwords of strangers, from one address or many, a
// member signs in from another one and can do all that a password is needed for. From a device that
// has signed in before she does not even wait.
func TestStrangersKeepNoMemberOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waited := slept(w)
	ctx := t.Context()
	in := w.register("anna")
	c := claim(t, in.Tokens)
	login := func(by meet.Asker, password string) (meet.SignedIn, error) {
		*waited = 0
		return w.Login(ctx, "anna@example.com", password, by)
	}
	for site := range 30 {
		for range 10 {
			_, err := login(meet.Asker{Site: fmt.Sprint("192.0.2.", site)}, "not this one")
			requireCode(t, meet.InvalidCredentials, err)
			require.LessOrEqual(t, *waited, 8*time.Second)
		}
		_, err := login(meet.Asker{Site: fmt.Sprint("192.0.2.", site)}, secret)
		requireCode(t, meet.TooManyAttempts, err)
		require.Zero(t, *waited)
	}
	elsewhere, err := login(meet.Asker{Site: "203.0.113.1"}, secret)
	require.NoError(t, err)
	require.Equal(t, 8*time.Second, *waited, "she waits for what others got wrong")
	_, err = login(meet.Asker{Site: "203.0.113.2", Device: in.Device}, secret)
	require.NoError(t, err)
	require.Zero(t, *waited)
	require.NoError(t, w.Logout(ctx, claim(t, elsewhere.Tokens), false))
	_, err = login(meet.Asker{Site: "192.0.2.1", Device: elsewhere.Device}, secret)
	require.NoError(t, err, "a device is known when its session has ended, at a stranger's address too")
	require.Zero(t, *waited)

	// A device has ten wrong passwords of its own, and so has a session.
	for range 10 {
		_, err = login(meet.Asker{Site: "203.0.113.3", Device: in.Device}, "not this one")
		requireCode(t, meet.InvalidCredentials, err)
		requireCode(t, meet.InvalidCredentials, w.ChangePassword(ctx, c, "not this one", "eleven lamps over tea"))
	}
	_, err = login(meet.Asker{Site: "203.0.113.3", Device: in.Device}, secret)
	requireCode(t, meet.TooManyAttempts, err)
	requireCode(t, meet.TooManyAttempts, w.ChangePassword(ctx, c, secret, "eleven lamps over tea"))
	again, err := login(meet.Asker{Site: "203.0.113.3", Device: elsewhere.Device}, secret)
	require.NoError(t, err)
	require.NoError(t, w.ChangePassword(ctx, claim(t, again.Tokens), secret, "eleven lamps over tea"))
	_, err = w.DeleteMe(ctx, claim(t, again.Tokens), "eleven lamps over tea")
	require.NoError(t, err)
}

// TestDevices: a token says that a device has signed this member in, for 90 days and until there is
// a new password, and anything else says nothing.
func TestDevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	in, other := w.register("anna"), w.register("bob")
	u, err := w.Account(ctx, in.Me.ID)
	require.NoError(t, err)
	known := func(token string) bool {
		_, ok := u.Device(token, w.clock.Now())
		return ok
	}
	require.True(t, known(in.Device))
	id, secretOf, ok := account.DeviceForm.Bytes(in.Device)
	require.True(t, ok)
	later := append([]byte{}, id...)
	later[len(later)-6]++ // more than 90 days
	for name, token := range map[string]string{
		"none": "", "of another member": other.Device, "an access token": in.Tokens.Access,
		"a secret of zeros": account.DeviceForm.Format(id, session.Secret{}),
		"a later time":      account.DeviceForm.Format(later, secretOf), "cut": in.Device[:len(in.Device)-1],
	} {
		require.False(t, known(token), name)
	}
	w.clock.Pass(account.DeviceFor - time.Second)
	require.True(t, known(in.Device))
	w.clock.Pass(time.Second)
	require.False(t, known(in.Device))
	u.PasswordHash += "x"
	w.clock.Pass(-time.Hour)
	require.False(t, known(in.Device), "a new password")
}

// TestWrongPasswordsOfAnAddress: forty from one address, for any accounts, and eighty from a
// network of IPv6.
func TestWrongPasswordsOfAnAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("anna")
	for site := range 3 {
		by := meet.Asker{Site: fmt.Sprint("2001:db8:0:", site), Network: "2001:db8::/48"}
		for n := range 40 {
			_, err := w.Login(t.Context(), fmt.Sprint(n, "@example.com"), secret, by)
			if site == 2 {
				requireCode(t, meet.TooManyAttempts, err)
				continue
			}
			requireCode(t, meet.InvalidCredentials, err)
		}
		_, err := w.Login(t.Context(), "anna@example.com", secret, by)
		requireCode(t, meet.TooManyAttempts, err)
	}
	w.clock.Pass(15 * time.Minute)
	_, err := w.Login(t.Context(), "anna@example.com", secret,
		meet.Asker{Site: "2001:db8:0:0", Network: "2001:db8::/48"})
	require.NoError(t, err)
}

// TestSignUps: an address makes five accounts an hour, and is told of five addresses of e-mail at
// most whether they have an account. A network of IPv6 makes ten. A registration that
// breaks a rule counts for nothing.
func TestSignUps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SignUpsAnHour = 5
	n := 0
	register := func(by meet.Asker, name string) error {
		n++
		_, err := w.Register(t.Context(),
			meet.Registration{
				Email: fmt.Sprint("fan", n, "@example.com"), Password: secret, Name: name,
				BirthDate: "2000-02-29", Gender: "female", Language: "en", By: by,
			})
		return err
	}
	by := meet.Asker{Site: "192.0.2.1"}
	for range 10 {
		requireCode(t, "VALIDATION_ERROR", register(by, "\u200b"))
	}
	for range 3 {
		require.NoError(t, register(by, "Fan"))
	}
	for range 2 {
		n = 10 // which has an account
		requireCode(t, meet.EmailTaken, register(by, "Fan"))
	}
	n = 100
	err := register(by, "Fan")
	requireCode(t, meet.TooManySignUps, err)
	var limited *fault.Error
	require.ErrorAs(t, err, &limited)
	require.Equal(t, time.Hour, limited.RetryAfter)
	require.NoError(t, register(meet.Asker{Site: "192.0.2.2"}, "Fan"))
	made := 0
	for site := range 20 {
		if register(meet.Asker{Site: fmt.Sprint("2001:db8:0:", site), Network: "2001:db8::/48"}, "Fan") == nil {
			made++
		}
	}
	require.Equal(t, 10, made)
	w.clock.Pass(time.Hour)
	require.NoError(t, register(by, "Fan"))
}
