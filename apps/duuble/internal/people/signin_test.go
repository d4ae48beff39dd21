package people_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// TestSignIn: a number that is new gets an account, and the same one at the next sign-in. Neither
// the number nor the code is in the rows.
func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := w.request(number(1))
	require.NoError(t, err)
	require.Equal(t, began.Add(5*time.Minute), c.ExpiresAt)
	code := w.phone.code(number(1))
	require.Len(t, code, 6)
	plain := func() {
		t.Helper()
		for _, name := range duubletest.Tables.All() {
			for row, err := range table.All(t.Context(), w.db, name, table.Range{}) {
				require.NoError(t, err)
				require.NotContains(t, fmt.Sprint(row), number(1)[1:])
				for _, p := range row.Props {
					require.NotEqual(t, code, p.Value.Str())
				}
			}
		}
	}
	plain()
	in, err := w.Verify(t.Context(), c.ID, code, "phone")
	require.NoError(t, err)
	require.True(t, in.IsNew)
	require.Equal(t, "verified_identity", in.User.Step())
	plain()
	me, err := w.Me(t.Context(), w.claim(in))
	require.NoError(t, err)
	require.Equal(t, "+34•••••01", me.Phone)
	w.clock.Pass(time.Hour)
	again := w.enter(number(1))
	require.False(t, again.IsNew)
	require.Equal(t, in.User.ID, again.User.ID)
	require.NotEqual(t, in.User.ID, w.enter(number(2)).User.ID)
	all, err := w.Sessions(t.Context(), w.claim(again))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.True(t, all[0].Current)
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, bad := range []string{
		"", "600000001", "+", "+0600000001", "0600000001", "+346000000001234567",
		"+34600000001x", "+34+600000001", "+٣٤٦٠٠٠٠٠٠٠١x", "+一二三四五六七八九",
	} {
		_, err := w.request(bad)
		require.Equal(t, fault.Invalid, fault.Of(err), bad)
	}
	for _, other := range [][2]string{{"mail", "sign_in"}, {"sms", "other"}} {
		_, err := w.RequestCode(t.Context(), other[0], number(1), other[1], people.Asker{Site: "x"})
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	require.Empty(t, w.keys("Sessions", ""))
	w.phone.fail = errors.New("no signal")
	_, err := w.request(number(1))
	requireCode(t, people.SMSFailed, err)
}

// wrong returns a code that is not one.
func wrong(code string) string {
	if code[0] == '9' {
		return "0" + code[1:]
	}
	return string(code[0]+1) + code[1:]
}

// TestCodes: a code is good for a while and one use. The newest three are good together, with five
// attempts.
func TestCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	verify := func(id, code string) error {
		_, err := w.Verify(t.Context(), id, code, "")
		return err
	}
	ask := func(to string) (id, code string) {
		t.Helper()
		c, err := w.request(to)
		require.NoError(t, err)
		return c.ID, w.phone.code(to)
	}
	first, code := ask(number(1))
	for range 4 {
		requireCode(t, people.OTPWrong, verify(first, wrong(code)))
	}
	require.NoError(t, verify(first, code), "the fifth attempt")
	requireCode(t, people.OTPExpired, verify(first, code))

	first, code = ask(number(1))
	for range 5 {
		requireCode(t, people.OTPWrong, verify(first, wrong(code)))
	}
	requireCode(t, people.OTPExpired, verify(first, code))
	second, code2 := ask(number(1))
	requireCode(t, people.OTPExpired, verify(first, code), "one that ended stays so")
	require.NoError(t, verify(second, code2))

	// The four codes of a person who asked four times, in every order.
	for typed := range 4 {
		for of := range 4 {
			to := number(10*typed + of + 10)
			var ids, codes [4]string
			for i := range ids {
				ids[i], codes[i] = ask(to)
			}
			if slices.Index(codes[:], codes[0]) != slices.Index(codes[1:], codes[0])+1 {
				continue // two are equal
			}
			err := verify(ids[of], codes[typed])
			switch {
			case of == 0:
				requireCode(t, people.OTPExpired, err)
			case typed == 0:
				requireCode(t, people.OTPWrong, err)
			default:
				require.NoError(t, err, "any of the newest three, for any of them")
				requireCode(t, people.OTPExpired, verify(ids[1+of%3], codes[1+typed%3]))
			}
		}
	}

	third, code := ask(number(1))
	for _, attempts := range []int{2, 2, 1} {
		for range attempts {
			requireCode(t, people.OTPWrong, verify(third, wrong(code)))
		}
		if attempts == 2 {
			third, code = ask(number(1))
			if code == wrong(code) {
				t.FailNow()
			}
		}
	}
	requireCode(t, people.OTPExpired, verify(third, code), "five attempts together")

	other, otherCode := ask(number(2))
	third, code = ask(number(1))
	if code != otherCode {
		requireCode(t, people.OTPWrong, verify(other, code))
	}
	w.clock.Pass(5*time.Minute - time.Second)
	require.NoError(t, verify(third, code))
	w.clock.Pass(time.Second)
	requireCode(t, people.OTPExpired, verify(other, otherCode))
	for _, unknown := range []string{"", "x", "a/b", strings.Repeat("x", 400), "01KA0000000000000000000000"} {
		requireCode(t, people.OTPExpired, verify(unknown, code))
	}
}

// TestAsPhonesWriteThem: numbers and codes are taken in all forms in which people and phones write
// them, and are the same in each.
func TestAsPhonesWriteThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	between := []string{
		"", " ", "-", ".", "/", "(", ")", "\u00a0", "\u202f", "\u2009", "\u2011", "\u2013", "\u200e",
		"\u202a", "\u202c", "\ufeff", "\t",
	}
	rapid.Check(t, func(t *rapid.T) {
		zero := rapid.SampledFrom([]rune{
			'0', '0', '٠', '۰', '०', '０', '\U0001d7ce', '\U0001d7f6',
			'\U0001e950',
		}).Draw(t, "zero")
		spread := func(s string) string {
			var b strings.Builder
			for _, r := range s {
				if '0' <= r && r <= '9' {
					r += zero - '0'
				} else if zero == '０' {
					r = '＋'
				}
				b.WriteRune(r)
				b.WriteString(rapid.SampledFrom(between).Draw(t, "between"))
			}
			return b.String()
		}
		to := number(rapid.IntRange(0, 9).Draw(t, "number"))
		prefix := rapid.SampledFrom([]string{"+", "00"}).Draw(t, "prefix")
		c, err := w.request(spread(prefix + to[1:]))
		require.NoError(t, err)
		in, err := w.Verify(context.Background(), c.ID, spread(w.phone.code(to)), "")
		require.NoError(t, err)
		require.Equal(t, to, w.phoneOf(in.User.ID))
	})
}

// TestCodesAreLimited: by number, of each asker, and by address, over two windows; 30 seconds lie
// between two.
func TestCodesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		_, err := w.request(number(1))
		require.NoError(t, err)
		_, err = w.request(number(1))
		requireCode(t, people.OTPLimited, err)
		w.clock.Pass(30 * time.Second)
	}
	_, err := w.request(number(1))
	requireCode(t, people.OTPLimited, err)
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Positive(t, f.RetryAfter)
	w.clock.Pass(f.RetryAfter - 2*time.Second)
	_, err = w.request(number(1))
	requireCode(t, people.OTPLimited, err)
	w.clock.Pass(2 * time.Second)
	_, err = w.request(number(1))
	require.NoError(t, err, "as long as it said")

	w = newWorld(t)
	for i := range 30 {
		_, err := w.request(number(i))
		require.NoError(t, err)
	}
	_, err = w.request(number(30))
	requireCode(t, people.OTPLimited, err)
	_, err = w.requestFrom(number(30), "192.0.2.2")
	require.NoError(t, err, "another address")

	w = newWorld(t)
	errs := atOnce(20, func(int) error { _, err := w.request(number(1)); return err })
	require.Equal(t, 1, count(errs, isNil), "of many at once one is sent")
	require.Equal(t, 19, count(errs, hasCode(people.OTPLimited)))
}

// TestStrangersKeepNoOneOut has strangers at many addresses ask for codes of a number and type
// wrong ones, as often as they can. Its owner signs in, on a new device while there are few of
// them, and always on a device that has signed in before.
func TestStrangersKeepNoOneOut(t *testing.T) {
	t.Parallel()
	for _, strangers := range []int{1, 16, 120} {
		t.Run(fmt.Sprint(strangers), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			device := w.enter(number(1)).Device
			w.clock.Pass(time.Hour)
			mine, err := w.request(number(1))
			require.NoError(t, err)
			code := w.phone.code(number(1))
			attack := func() (wrongs int) {
				for i := range strangers {
					c, err := w.requestFrom(number(1), fmt.Sprintf("198.51.%d.%d", i/200, i%200))
					if err != nil {
						continue
					}
					for range 6 {
						_, err := w.Verify(t.Context(), c.ID, wrong(code), "")
						if fault.CodeOf(err) == people.OTPWrong {
							wrongs++
						}
					}
				}
				return wrongs
			}
			wrongs := attack()
			require.LessOrEqual(t, wrongs, 500)
			_, err = w.Verify(t.Context(), mine.ID, code, "")
			if strangers < 100 {
				require.NoError(t, err)
			} else {
				requireCode(t, people.OTPLimited, err)
			}
			for range 20/strangers + 2 {
				w.clock.Pass(31 * time.Second)
				attack()
			}
			again, err := w.RequestCode(t.Context(), "sms", number(1), "sign_in",
				people.Asker{Site: "198.51.0.0", Device: device})
			require.NoError(t, err, "a device that has signed in before, next to a stranger")
			_, err = w.Verify(t.Context(), again.ID, w.phone.code(number(1)), "")
			require.NoError(t, err)
			if strangers < 16 {
				_, err := w.requestFrom(number(1), "203.0.113.1")
				require.NoError(t, err, "a new device")
			}
		})
	}
}

// TestDevices: the token of a device is good for its number and for 90 days, and shares no limit
// with others; its own is that of an address.
func TestDevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *people.Config) { c.PerHour = 1 })
	ask := func(i int, device string) error {
		_, err := w.RequestCode(t.Context(), "sms", number(i), "sign_in",
			people.Asker{Site: "192.0.2.9", Device: device})
		return err
	}
	device := w.enter(number(1)).Device
	requireCode(t, people.OTPFull, ask(1, ""))
	requireCode(t, people.OTPFull, ask(2, device), "of another number")
	last := device[len(device)-1:]
	for _, bad := range []string{
		"", "x", device[1:], device[:len(device)-1],
		strings.TrimSuffix(device, last) + string('a'+(last[0]-'a'+1)%26), strings.ToUpper(device),
		strings.Repeat("d", 10_000),
	} {
		requireCode(t, people.OTPFull, ask(1, bad))
	}
	for range 5 {
		require.NoError(t, ask(1, device))
		requireCode(t, people.OTPLimited, ask(1, device))
		w.clock.Pass(30 * time.Second)
	}
	requireCode(t, people.OTPLimited, ask(1, device))
	w.clock.Pass(people.DeviceFor - time.Hour)
	require.NoError(t, ask(1, device))
	w.clock.Pass(time.Hour)
	require.NoError(t, ask(2, ""))
	requireCode(t, people.OTPFull, ask(1, device), "after 90 days it is as any other")
}

// TestCodesOfAllAreLimited: of a network of IPv6, of a country, and of all numbers; the log says
// once a minute that a limit over all is reached.
func TestCodesOfAllAreLimited(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w := newWorld(t, func(c *people.Config) {
		c.PerNetwork, c.PerCountry, c.PerHour = 3, 10, 25
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	n := 0
	ask := func(country, network string) fault.Code {
		n++
		_, err := w.RequestCode(t.Context(), "sms", fmt.Sprintf("+%s600%06d", country, n), "sign_in",
			people.Asker{Site: fmt.Sprint(n), Network: network})
		return fault.CodeOf(err)
	}
	sent := func(times int, country, network string) (sent int) {
		for range times {
			if ask(country, network) == "" {
				sent++
			}
		}
		return sent
	}
	require.Equal(t, 3, sent(20, "34", "2001:db8:1::/48"))
	require.Equal(t, people.OTPLimited, ask("34", "2001:db8:1::/48"))
	require.Equal(t, 7, sent(20, "34", ""))
	require.Equal(t, people.OTPFull, ask("34", ""))
	require.Equal(t, 10, sent(20, "351", ""), "Portugal is not Spain")
	require.Equal(t, 5, sent(20, "1", ""))
	require.Equal(t, people.OTPFull, ask("49", ""))
	require.Equal(t, 1, strings.Count(log.String(), people.LimitReached))
	w.clock.Pass(time.Minute)
	require.Equal(t, people.OTPFull, ask("49", ""))
	require.Equal(t, 2, strings.Count(log.String(), people.LimitReached))
	w.clock.Pass(2 * time.Hour)
	require.Empty(t, ask("34", "2001:db8:1::/48"))
}

// TestSignInAtOnce: of many requests with one right code one gets a session; of two codes for one
// new number, whose owner uses both at once, one account comes.
func TestSignInAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	c, err := w.request(number(1))
	require.NoError(t, err)
	code := w.phone.code(number(1))
	errs := atOnce(5, func(int) error { _, err := w.Verify(t.Context(), c.ID, code, ""); return err })
	require.Equal(t, 1, count(errs, isNil), errs)
	require.Equal(t, 4, count(errs, hasCode(people.OTPExpired)), errs)
	require.Len(t, w.keys("Sessions", "s|"), 1)
	require.Len(t, w.keys("Users", "u|"), 2)

	// Two codes of one new number, each for an asker of its own.
	var challenges [2][2]string
	for i := range challenges {
		c, err := w.requestFrom(number(2), fmt.Sprintf("192.0.2.%d", i))
		require.NoError(t, err)
		challenges[i] = [2]string{c.ID, w.phone.code(number(2))}
	}
	var ids [2]string
	errs = atOnce(2, func(i int) error {
		in, err := w.Verify(t.Context(), challenges[i][0], challenges[i][1], "")
		ids[i] = in.User.ID
		return err
	})
	require.Equal(t, 2, count(errs, isNil), errs)
	require.Equal(t, ids[0], ids[1], "one account")
	require.Len(t, w.keys("Names", "phone|"), 2)
	require.Len(t, w.keys("Users", "u|"), 4)
}

// A rival signs in by the same code before the first attempt is counted.
type rival struct {
	table.DB
	verify func()
}

func (r *rival) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if verify := r.verify; verify != nil && ops[0].Kind == table.Merge &&
		strings.HasPrefix(ops[0].Row.Partition, "rl|") {
		r.verify = nil
		verify()
	}
	return r.DB.Write(ctx, name, ops...)
}

// TestSignInOvertaken: both requests have found the code right; the one whose attempt is counted
// first signs in.
func TestSignInOvertaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	c, err := w.request(number(1))
	require.NoError(t, err)
	code, won := w.phone.code(number(1)), false
	other := w.over(&rival{w.db, func() {
		_, err := w.Verify(t.Context(), c.ID, code, "")
		won = err == nil
	}}, unlimited)
	_, err = other.Verify(t.Context(), c.ID, code, "")
	requireCode(t, people.OTPExpired, err)
	require.True(t, won)
	require.Len(t, w.keys("Sessions", "s|"), 1)
}

// TestRefresh: a refresh token works once; one that was replaced ends the session, unless the same
// request comes again within a minute.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	in := w.enter(number(1))
	w.clock.Pass(people.AccessFor)
	_, err := w.ParseAccess(in.Tokens.Access)
	requireCode(t, people.InvalidToken, err)
	const id = "0123456789abcdef"
	next, err := w.Refresh(t.Context(), in.Tokens.Refresh, id)
	require.NoError(t, err)
	w.clock.Pass(59 * time.Second)
	again, err := w.Refresh(t.Context(), in.Tokens.Refresh, id)
	require.NoError(t, err)
	require.Equal(t, next.Tokens, again.Tokens)
	_, err = w.Refresh(t.Context(), in.Tokens.Refresh, "")
	requireCode(t, people.RefreshReused, err)
	_, err = w.Me(t.Context(), w.claim(next))
	requireCode(t, people.SessionEnded, err)
	_, err = w.Refresh(t.Context(), next.Tokens.Refresh, "")
	requireCode(t, people.SessionEnded, err)
	_, err = w.Refresh(t.Context(), in.Tokens.Refresh, "short")
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, err = w.Refresh(t.Context(), in.Tokens.Refresh+"x", "")
	requireCode(t, people.InvalidToken, err)

	in = w.enter(number(1))
	_, err = w.Refresh(t.Context(), in.Tokens.Refresh, id)
	require.NoError(t, err)
	w.clock.Pass(time.Minute)
	_, err = w.Refresh(t.Context(), in.Tokens.Refresh, id)
	requireCode(t, people.RefreshReused, err)
}

// TestStoredSession: a session goes on as the row of an earlier version has it, and the request
// that was its last may come again.
func TestStoredSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	user := w.enter(number(1)).User.ID
	const old, id = "01KA0000000000000000000009", "0123456789abcdef"
	before := session.Secret{1}
	mac := hmac.New(sha256.New, before[:])
	mac.Write([]byte("refresh" + "0a0b"))
	secret := session.Secret(mac.Sum(nil))
	text := func(name, value string) table.Prop { return table.Prop{Name: name, Value: table.String(value)} }
	at := func(name string, after time.Duration) table.Prop {
		return table.Prop{Name: name, Value: table.Time(began.Add(after))}
	}
	require.NoError(t, w.Upsert(t.Context(), "Sessions",
		table.Row{Key: table.Key{Partition: "s|" + user, Row: old}, Props: table.Props{
			text("refresh_hash", session.Hash(secret[:])), text("previous_hash", session.Hash(before[:])),
			text("request_hash", session.Hash([]byte(id))), text("salt", "0a0b"),
			at("rotated_at", 0), text("device", "an old phone"), at("issued_at", -time.Hour),
			at("last_used_at", 0), at("expires_at", time.Hour),
		}}))
	form := session.NewForm("dr_", session.IDs{Bytes: func(id string) [16]byte { return ulid.MustParse(id) }})
	x := session.Session{User: user, ID: old}
	again, err := w.Refresh(t.Context(), form.Token(x, before), id)
	require.NoError(t, err)
	require.Equal(t, form.Token(x, secret), again.Tokens.Refresh)
	require.Equal(t, began.Add(people.AccessFor), again.Tokens.AccessExpires)
	sessions, err := w.Sessions(t.Context(), w.claim(again))
	require.NoError(t, err)
	require.Contains(t, sessions, session.Info{
		ID: old, Device: "an old phone", IssuedAt: began.Add(-time.Hour),
		UsedAt: began, Current: true,
	})
	next, err := w.Refresh(t.Context(), again.Tokens.Refresh, "")
	require.NoError(t, err)
	_, err = w.Me(t.Context(), w.claim(next))
	require.NoError(t, err)
}

// TestSessionsEnd: 30 days after the last refresh, and 180 after the sign-in.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	in := w.enter(number(1))
	require.Equal(t, began.Add(30*24*time.Hour), in.Tokens.RefreshEnds)
	var err error
	for range 7 {
		w.clock.Pass(25 * 24 * time.Hour)
		in, err = w.Refresh(t.Context(), in.Tokens.Refresh, "")
		require.NoError(t, err)
	}
	require.Equal(t, began.Add(180*24*time.Hour), in.Tokens.RefreshEnds)
	w.clock.Pass(5*24*time.Hour - time.Minute)
	in, err = w.Refresh(t.Context(), in.Tokens.Refresh, "")
	require.NoError(t, err)
	_, err = w.Me(t.Context(), w.claim(in))
	require.NoError(t, err)
	w.clock.Pass(time.Minute)
	_, err = w.Me(t.Context(), w.claim(in))
	requireCode(t, people.SessionEnded, err)
	_, err = w.Refresh(t.Context(), in.Tokens.Refresh, "")
	requireCode(t, people.SessionEnded, err)
	in = w.enter(number(1))
	w.clock.Pass(30 * 24 * time.Hour)
	_, err = w.Refresh(t.Context(), in.Tokens.Refresh, "")
	requireCode(t, people.SessionEnded, err)
	for range 55 {
		w.enter(number(1))
		w.clock.Pass(time.Second)
	}
	require.Len(t, w.keys("Sessions", "s|"), 50, "the oldest ended")
}

// TestLogout: from the next request on, of one session, of another of one's own, or of all.
func TestLogout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	first, second, third := w.enter(number(1)), w.enter(number(1)), w.enter(number(1))
	stranger := w.enter(number(2))
	alive := func(in people.SignedIn) bool {
		_, err := w.Me(t.Context(), w.claim(in))
		if err != nil {
			requireCode(t, people.SessionEnded, err)
		}
		return err == nil
	}
	require.NoError(t, w.Logout(t.Context(), w.claim(first), false))
	require.False(t, alive(first))
	_, err := w.Refresh(t.Context(), first.Tokens.Refresh, "")
	requireCode(t, people.SessionEnded, err)
	require.True(t, alive(second))
	require.NoError(t, w.EndSession(t.Context(), w.claim(stranger), w.claim(second).SessionID))
	require.True(t, alive(second), "of a stranger")
	require.NoError(t, w.EndSession(t.Context(), w.claim(third), w.claim(second).SessionID))
	require.False(t, alive(second))
	fourth := w.enter(number(1))
	require.NoError(t, w.Logout(t.Context(), w.claim(third), true))
	require.False(t, alive(third))
	require.False(t, alive(fourth))
	require.True(t, alive(stranger))
	requireCode(t, people.SessionEnded, w.Logout(t.Context(), w.claim(third), true))
}

// TestForgedTokens: only what our keys have signed by HS256 is believed.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	in := w.enter(number(1))
	parts := strings.Split(in.Tokens.Access, ".")
	require.Len(t, parts, 3)
	other := w.over(w.db, func(c *people.Config) { c.Keys = keyring.Ring{[]byte(strings.Repeat("x", 32))} })
	signed, err := jwt.ParseSigned(in.Tokens.Access, []jose.SignatureAlgorithm{jose.HS256})
	require.NoError(t, err)
	ours := keyring.Ring{make([]byte, 32)}.Derive("access")[0]
	forge := func(alg jose.SignatureAlgorithm, key []byte, kid string, lasts time.Duration) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key},
			(&jose.SignerOptions{}).WithHeader("kid", kid))
		require.NoError(t, err)
		token, err := jwt.Signed(signer).Claims(
			map[string]any{"sub": in.User.ID, "sid": w.claim(in).SessionID, "exp": began.Add(lasts).Unix()}).Serialize()
		require.NoError(t, err)
		return token
	}
	kid, theirs := signed.Headers[0].KeyID, []byte(strings.Repeat("k", 64))
	claim, err := w.ParseAccess(forge(jose.HS256, ours, kid, time.Hour))
	require.NoError(t, err, "what follows differs in one thing")
	require.Equal(t, in.User.ID, claim.UserID)
	for name, token := range map[string]string{
		"empty": "", "no signature": parts[0] + "." + parts[1] + ".",
		"alg none": "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"other claims": parts[0] + "." + strings.Split(forge(jose.HS256, theirs, kid, time.Hour), ".")[1] +
			"." + parts[2],
		"another key": forge(jose.HS256, theirs, kid, time.Hour),
		"unknown key": forge(jose.HS256, ours, "x", time.Hour), "no key": forge(jose.HS256, ours, "", time.Hour),
		"HS512":         forge(jose.HS512, append(ours, ours...), kid, time.Hour),
		"over":          forge(jose.HS256, ours, kid, -time.Second),
		"refresh token": in.Tokens.Refresh, "cut": in.Tokens.Access[:len(in.Tokens.Access)-2],
	} {
		_, err := w.ParseAccess(token)
		requireCode(t, people.InvalidToken, err)
		require.NotEmpty(t, name)
	}
	_, err = other.ParseAccess(in.Tokens.Access)
	requireCode(t, people.InvalidToken, err)
	rotated := w.over(w.db, func(c *people.Config) {
		c.Keys = keyring.Ring{[]byte(strings.Repeat("x", 32)), make([]byte, 32)}
	})
	_, err = rotated.ParseAccess(in.Tokens.Access)
	require.NoError(t, err, "an older key still opens")
}

// TestKeysOfTheData: keys that do not name numbers as the stored rows do are refused.
func TestKeysOfTheData(t *testing.T) {
	t.Parallel()
	w := newWorld(t, unlimited)
	require.NoError(t, w.CheckKeys(t.Context()))
	require.NoError(t, w.CheckKeys(t.Context()))
	in := w.enter(number(1))
	next := []byte(strings.Repeat("x", 32))
	requireCode(t, people.KeysDoNotMatch,
		w.over(w.db, func(c *people.Config) { c.Keys = keyring.Ring{next} }).CheckKeys(t.Context()))
	rotated := w.over(w.db, unlimited, func(c *people.Config) { c.Keys = keyring.Ring{next, make([]byte, 32)} })
	require.NoError(t, rotated.CheckKeys(t.Context()))
	w.Service = rotated
	again := w.enter(number(1))
	require.Equal(t, in.User.ID, again.User.ID, "a number keeps its account")
	me, err := w.Me(t.Context(), w.claim(again))
	require.NoError(t, err)
	require.Equal(t, "+34•••••01", me.Phone)
}

// TestExpire removes what is over, and nothing else.
func TestExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.request(number(1))
	require.NoError(t, err)
	w.clock.Pass(4 * time.Minute)
	_, err = w.request(number(2))
	require.NoError(t, err)
	w.clock.Pass(time.Minute)
	require.NoError(t, w.Expire(t.Context()))
	require.Len(t, w.keys("Sessions", "otp|"), 1)
	require.Len(t, w.keys("Sessions", "rl|"), 5)
	w.clock.Pass(3 * time.Hour)
	require.NoError(t, w.Expire(t.Context()))
	require.Empty(t, w.keys("Sessions", ""))
}

// TestRekey: after rekey the newest of SECRET_KEYS is enough. Stopped at any call, nothing starts
// until it was run again with the same keys.
func TestRekey(t *testing.T) {
	t.Parallel()
	with := func(w *world, db table.DB, keys ...byte) *people.Service {
		return w.over(db, unlimited, func(c *people.Config) {
			c.Keys = nil
			for _, b := range keys {
				c.Keys = append(c.Keys, bytes.Repeat([]byte{b}, 32))
			}
		})
	}
	for _, lands := range []bool{false, true} {
		for n := 1; ; n++ {
			w := newWorld(t)
			w.Service = with(w, w.db, 1)
			require.NoError(t, w.CheckKeys(t.Context()))
			ann, bob := w.enter(number(1)), w.enter(number(2))
			w.Service = with(w, w.db, 2, 1)
			require.NoError(t, w.CheckKeys(t.Context()), "before, the last key names")
			_, err := w.request(number(3))
			require.NoError(t, err)
			c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: lands}}
			_, err = with(w, calls.Tables(w.db, c.Make), 2, 1).Rekey(t.Context())
			over := c.Left > 0
			what := fmt.Sprintf("call %d, lands %v: %v", n, lands, err)
			if !over {
				starts := with(w, w.db, 2).CheckKeys(t.Context()) == nil &&
					with(w, w.db, 2, 1).CheckKeys(t.Context()) == nil
				require.False(t, starts, what)
				_, err = with(w, w.db, 3).Rekey(t.Context())
				requireCode(t, people.KeysDoNotMatch, err)
				users, err := with(w, w.db, 2, 1).Rekey(t.Context())
				require.NoError(t, err, what)
				require.Equal(t, 2, users, what)
			}
			require.Error(t, with(w, w.db, 2, 1).CheckKeys(t.Context()), what)
			require.Error(t, with(w, w.db, 1).CheckKeys(t.Context()), what)
			w.Service = with(w, w.db, 2)
			require.NoError(t, w.CheckKeys(t.Context()), what)
			require.Empty(t, w.keys("Sessions", "otp|"), what)
			require.Len(t, w.keys("Names", "phone|"), 2, what)
			for i, was := range []people.SignedIn{ann, bob} {
				in := w.enter(number(1 + i))
				require.False(t, in.IsNew, what)
				require.Equal(t, was.User.ID, in.User.ID, what)
				me, err := w.Me(t.Context(), w.claim(in))
				require.NoError(t, err, what)
				require.Equal(t, fmt.Sprintf("+34•••••0%d", 1+i), me.Phone, what)
			}
			if over {
				require.Greater(t, n, 10, "accidents never happened")
				break
			}
		}
	}
}
