package session_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
	"prompthub/internal/testing/repeatable"
)

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

const (
	user    = "3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"
	request = "0123456789abcdef"
	name    = "Sessions"
)

// The errors of the tests' application.
const (
	ended  fault.Code = "ENDED"
	barred fault.Code = "BARRED"
)

var (
	ids = session.IDs{
		Text:  func(id [16]byte) string { return uuid.UUID(id).String() },
		Bytes: func(id string) [16]byte { return uuid.MustParse(id) },
	}
	accessForm, refreshForm, resetForm = session.NewForm("ta_", ids),
		session.NewForm("tr_", ids), session.NewForm("tx_", ids)
)

// An account is one of the tests' application.
type account struct {
	since  time.Time // sessions that are older have ended
	barred bool
}

type claim = session.Claim[account]

// A world is sessions of one account over a store in memory.
type world struct {
	*session.Sessions[account]
	t     *testing.T
	db    *memory.Tables
	clock *repeatable.Clock
	of    *account
}

func fails(code fault.Code) func() error {
	return func() error { return fault.Coded(fault.Unauthenticated, code, "no") }
}

// lenient lets any request come again, strict those with an id for a minute, once none.
var (
	lenient = session.Policy{
		AccessFor: 15 * time.Minute, RefreshFor: 30 * 24 * time.Hour,
		AgainFor: session.UntilUsed, Most: 20,
	}
	once   = session.Policy{AccessFor: 15 * time.Minute, RefreshFor: 30 * 24 * time.Hour, Most: 20}
	strict = session.Policy{
		AccessFor: 15 * time.Minute, RefreshFor: 30 * 24 * time.Hour,
		SessionFor: 180 * 24 * time.Hour, AgainFor: time.Minute, Most: 20,
	}
)

func newWorld(t *testing.T, p session.Policy) *world {
	t.Helper()
	w := &world{t: t, db: memory.NewTables(), clock: repeatable.NewClock(began), of: &account{}}
	require.NoError(t, w.db.Create(t.Context(), name))
	w.Sessions = w.over(w.db, p)
	return w
}

// over returns the sessions over another store, as another process.
func (w *world) over(db table.DB, p session.Policy) *session.Sessions[account] {
	luck := repeatable.Seeded(1)
	return &session.Sessions[account]{
		Store: &rowstore.Store{
			DB: db, Now: w.clock.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Policy: p, Table: name, Prefix: "s|", Columns: session.Columns, Entropy: luck,
		NewID: func() string { return uuid.Must(uuid.NewRandomFromReader(luck)).String() },
		Account: func(_ context.Context, id string) (*account, error) {
			if id != user {
				return nil, nil
			}
			return w.of, nil
		},
		Holds: func(x session.Session, of account) bool { return !x.CreatedAt.Before(of.since) },
		Ended: fails(ended),
	}
}

// Tokens are those that a client has.
type tokens struct{ access, refresh string }

func write(g session.Grant) tokens {
	return tokens{accessForm.Token(g.Session, g.Access), refreshForm.Token(g.Session, g.Refresh)}
}

// enter signs in.
func (w *world) enter() tokens {
	w.t.Helper()
	all, err := w.All(w.t.Context(), user)
	require.NoError(w.t, err)
	g := w.New(user, "test", w.of.since)
	require.NoError(w.t, w.Insert(w.t.Context(), name, w.Row(g.Session)))
	w.Trim(w.t.Context(), all, *w.of)
	return write(g)
}

func allow(of account) error {
	if of.barred {
		return fails(barred)()
	}
	return nil
}

func refresh(ctx context.Context, s *session.Sessions[account], token, request string) (tokens, error) {
	c, ok := session.Parse[account](refreshForm, token)
	if !ok {
		return tokens{}, fails(ended)()
	}
	_, g, err := s.Refresh(ctx, c, request, allow)
	if err != nil {
		return tokens{}, err
	}
	return write(g), nil
}

func (w *world) next(token, request string) tokens {
	w.t.Helper()
	got, err := refresh(w.t.Context(), w.Sessions, token, request)
	require.NoError(w.t, err)
	return got
}

// refused requires that a refresh fails with a code.
func (w *world) refused(code fault.Code, token, request string) {
	w.t.Helper()
	_, err := refresh(w.t.Context(), w.Sessions, token, request)
	require.Equal(w.t, code, fault.CodeOf(err), "%v", err)
}

func claimOf(t *testing.T, token string) claim {
	t.Helper()
	c, ok := session.Parse[account](accessForm, token)
	require.True(t, ok)
	return c
}

// opens reports whether an access token opens the account.
func (w *world) opens(token string) bool {
	w.t.Helper()
	_, err := w.Identify(w.t.Context(), claimOf(w.t, token), allow)
	if err != nil {
		require.Equal(w.t, ended, fault.CodeOf(err))
	}
	return err == nil
}

func (w *world) rows() (all []table.Row) {
	for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
		require.NoError(w.t, err)
		all = append(all, row)
	}
	return all
}

// TestRotation: where any refresh may come again, a token gets the same answer until the next one
// is used, and then ends the session.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lenient)
	first := w.enter()
	require.True(t, w.opens(first.access))
	w.clock.Pass(10 * time.Minute)
	second := w.next(first.refresh, "")
	require.NotEqual(t, first, second)
	require.False(t, w.opens(first.access))
	require.True(t, w.opens(second.access))
	w.clock.Pass(10 * time.Minute)
	require.Equal(t, second, w.next(first.refresh, ""), "the answer was lost: the same one again")
	w.clock.Pass(5 * time.Minute)
	require.False(t, w.opens(second.access))
	third := w.next(second.refresh, "")
	w.refused(session.ReusedCode, first.refresh, "")
	w.refused(ended, third.refresh, "")
	require.False(t, w.opens(third.access))
	require.Empty(t, w.rows())
}

// TestAgain: where a request must have an id to come again, one that was replaced ends the session
// but for the same request within a minute.
func TestAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strict)
	first := w.enter()
	next := w.next(first.refresh, "")
	w.refused(session.ReusedCode, first.refresh, "")
	w.refused(ended, next.refresh, "")

	for _, other := range []string{"", "another request!!"} {
		first = w.enter()
		w.next(first.refresh, request)
		w.refused(session.ReusedCode, first.refresh, other)
	}
	first = w.enter()
	w.next(first.refresh, "")
	w.refused(session.ReusedCode, first.refresh, request)

	first = w.enter()
	next = w.next(first.refresh, request)
	w.clock.Pass(59 * time.Second)
	require.Equal(t, next, w.next(first.refresh, request))
	w.clock.Pass(time.Second)
	w.refused(session.ReusedCode, first.refresh, request)
}

// TestRefreshAtOnce: requests that may come again all get the same tokens, of others one does.
func TestRefreshAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		policy  session.Policy
		request string
		all     bool
	}{{lenient, "", true}, {strict, request, true}, {strict, "", false}, {once, request, false}} {
		w := newWorld(t, tt.policy)
		first := w.enter()
		var got [20]tokens
		var errs [20]error
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i], errs[i] = refresh(t.Context(), w.Sessions, first.refresh, tt.request) })
		}
		wg.Wait()
		won := 0
		for i, err := range errs {
			if err == nil {
				won++
			}
			if tt.all {
				require.Equal(t, got[0], got[i])
			}
		}
		if tt.all {
			require.NoError(t, errors.Join(errs[:]...))
		} else {
			require.LessOrEqual(t, won, 1)
		}
	}
}

// TestRefreshOvertaken: a refresh that another one overtakes gives the tokens of that one.
func TestRefreshOvertaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strict)
	first := w.enter()
	var theirs tokens
	rival := &calls.Rival{DB: w.db, Before: calls.WritesTo(name), Do: func() {
		theirs = w.next(first.refresh, request)
	}}
	mine, err := refresh(t.Context(), w.over(rival, strict), first.refresh, request)
	require.NoError(t, err)
	require.Equal(t, theirs, mine)
	require.True(t, w.opens(mine.access))
}

// TestCrashesOfRefresh: after any accident to any call of a refresh the same request works again,
// and the tokens that it gives do. One that may not come again ends the session at most.
func TestCrashesOfRefresh(t *testing.T) {
	t.Parallel()
	for _, p := range []session.Policy{lenient, strict} {
		calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
			w := newWorld(t, p)
			first := w.enter()
			w.clock.Pass(p.AccessFor)
			told, err := refresh(t.Context(), w.over(calls.Tables(w.db, c.Make), p), first.refresh, request)
			c.Land(w.clock.Pass, w.clock.Pass)
			if err == nil {
				require.True(t, w.opens(told.access))
			} else {
				require.Equal(t, fault.Unavailable, fault.Of(err))
			}
			again := w.next(first.refresh, request)
			require.True(t, w.opens(again.access))
			next := w.next(again.refresh, request)
			w.refused(session.ReusedCode, first.refresh, request)
			require.False(t, w.opens(next.access))
		})
	}
	for request, p := range map[string]session.Policy{"": strict, request: once} {
		calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
			w := newWorld(t, p)
			first := w.enter()
			told, err := refresh(t.Context(), w.over(calls.Tables(w.db, c.Make), p), first.refresh, request)
			c.Land(w.clock.Pass, w.clock.Pass)
			if err != nil {
				require.Equal(t, fault.Unavailable, fault.Of(err), "this request has not used the token twice")
				// the first has landed
				if told, err = refresh(t.Context(), w.Sessions, first.refresh, request); err != nil {
					require.Equal(t, session.ReusedCode, fault.CodeOf(err))
					require.Empty(t, w.rows())
					return
				}
			}
			require.True(t, w.opens(told.access))
		})
	}
}

// TestSessionsEnd: some time after the last refresh, and in any case some time after the sign-in.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, p := range []session.Policy{lenient, strict} {
		w := newWorld(t, p)
		in := w.enter()
		for range 7 {
			w.clock.Pass(25 * day)
			in = w.next(in.refresh, "")
		}
		w.clock.Pass(5*day - time.Minute)
		in = w.next(in.refresh, "")
		require.True(t, w.opens(in.access))
		w.clock.Pass(time.Minute)
		require.Equal(t, p.SessionFor == 0, w.opens(in.access))
		in = w.enter()
		w.clock.Pass(30*day - time.Second)
		in = w.next(in.refresh, "")
		w.clock.Pass(30 * day)
		w.refused(ended, in.refresh, "")
	}
}

// TestMost: of too many sessions the one ends that was not used for longest, and those that have
// ended go with it.
func TestMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lenient)
	first := w.enter()
	second := first
	for i := range lenient.Most - 1 {
		w.clock.Pass(time.Minute)
		if in := w.enter(); i == 0 {
			second = in
		}
	}
	first = w.next(first.refresh, "")
	w.clock.Pass(time.Minute)
	last := w.enter()
	require.Len(t, w.rows(), lenient.Most)
	require.True(t, w.opens(first.access))
	w.refused(ended, second.refresh, "")
	infos, err := w.List(t.Context(), claimOf(t, last.access), allow)
	require.NoError(t, err)
	require.Len(t, infos, lenient.Most)
	require.True(t, infos[0].Current)
	require.False(t, infos[1].Current)
	require.False(t, infos[0].UsedAt.Before(infos[1].UsedAt))
	w.clock.Pass(lenient.RefreshFor)
	w.enter()
	require.Len(t, w.rows(), 1)
}

// TestAccountsEndSessions: an account ends its sessions by one change, and a session that begins
// after that is good at once.
func TestAccountsEndSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lenient)
	first := w.enter()
	w.of.since = w.EndBefore()
	require.False(t, w.opens(first.access))
	w.refused(ended, first.refresh, "")
	require.True(t, w.opens(w.enter().access))
	w.of.barred = true
	w.refused(ended, first.refresh, "")
	second := w.enter()
	w.refused(barred, second.refresh, "")
	w.of.barred = false
	w.next(second.refresh, "")
	w.of = nil
	w.refused(ended, second.refresh, "")
}

// TestTokensForSomethingElse: a token that is no sign-in opens no account in any form, and no token
// is good as one of another kind.
func TestTokensForSomethingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lenient)
	in := w.enter()
	x, secret := w.NewToken(user, "reset", w.of.since, 30*time.Minute)
	require.NoError(t, w.Insert(t.Context(), name, w.Row(x)))
	c, ok := session.Parse[account](resetForm, resetForm.Token(x, secret))
	require.True(t, ok)
	of, found, err := w.Find(t.Context(), c)
	require.NoError(t, err)
	require.True(t, c.Proves(found.RefreshHash) && w.Lives(*found, *of) && !w.IsSignIn(*found))
	require.False(t, w.opens(accessForm.Token(x, secret)))
	require.False(t, w.opens(accessForm.Token(x, session.Secret{})))
	w.refused(ended, refreshForm.Token(x, secret), "")

	_, ok = session.Parse[account](accessForm, in.refresh)
	require.False(t, ok)
	refreshing, _ := session.Parse[account](refreshForm, in.refresh)
	_, err = w.Identify(t.Context(), refreshing, nil)
	require.Equal(t, ended, fault.CodeOf(err), "a refresh token does not open an account")
	w.refused(ended, in.refresh[:len(in.refresh)-1], "")

	w.SignedAccess = true
	_, err = w.Identify(t.Context(), refreshing, nil)
	require.Equal(t, ended, fault.CodeOf(err), "nor where access tokens are signed")
	_, err = w.Identify(t.Context(), session.SignedClaim[account](refreshing.UserID, refreshing.SessionID), nil)
	require.NoError(t, err)
	w.SignedAccess = false
	w.clock.Pass(30 * time.Minute)
	require.False(t, w.Lives(*found, *of))
}

// TestSecretsAreNotStored: rows have hashes alone.
func TestSecretsAreNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strict)
	first := w.enter()
	next := w.next(first.refresh, request)
	for _, row := range w.rows() {
		for _, p := range row.Props {
			for _, token := range []string{first.access, first.refresh, next.access, next.refresh} {
				_, secret, _ := strings.Cut(token[3:], "_")
				require.NotContains(t, p.Value.Str(), secret[:20])
			}
			require.NotContains(t, p.Value.Str(), request)
		}
	}
}

// TestRecognize: the rows of a claim serve one action within a second, and not one after the end of
// the access token.
func TestRecognize(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lenient)
	in := w.enter()
	reads := 0
	s := w.over(calls.Tables(w.db, func(ctx context.Context, c calls.Call) error {
		reads++
		_, err := c.Do(ctx)
		return err
	}), lenient)
	ask := func(c claim) bool {
		caller, err := s.Identify(t.Context(), c, nil)
		require.NoError(t, err)
		return caller.IsKnown
	}
	for _, pass := range []time.Duration{0, time.Second - 1, time.Second} {
		c, caller, err := s.Recognize(t.Context(), claimOf(t, in.access))
		require.NoError(t, err)
		require.False(t, caller.IsKnown)
		reads = 0
		w.clock.Pass(pass)
		is := pass < time.Second
		require.Equal(t, is, ask(c))
		require.Equal(t, is, reads == 0)
		require.False(t, ask(c), "once")
	}
	w.clock.Pass(lenient.AccessFor - 2*time.Second - time.Millisecond)
	c, _, err := s.Recognize(t.Context(), claimOf(t, in.access))
	require.NoError(t, err)
	w.clock.Pass(500 * time.Millisecond)
	_, err = s.Identify(t.Context(), c, nil)
	require.Equal(t, ended, fault.CodeOf(err))
}

// TestIdentify: a claim that is not true and an account that is refused come before what reads say,
// and all reads are done.
func TestIdentify(t *testing.T) {
	t.Parallel()
	w := newWorld(t, lenient)
	in := w.enter()
	missing := fault.Coded(fault.NotFound, "MISSING", "no")
	did := 0
	read := func(context.Context) error { did++; return missing }
	for _, tt := range []struct {
		c      claim
		barred bool
		code   fault.Code
		did    int
	}{
		{claim{}, false, session.GuestCode, 0},
		{claimOf(t, in.access), false, "MISSING", 1},
		{claimOf(t, in.access), true, barred, 1},
		{claimOf(t, accessForm.Token(session.Session{User: user, ID: user}, session.Secret{})), false, ended, 1},
	} {
		did, w.of.barred = 0, tt.barred
		_, err := w.Identify(t.Context(), tt.c, allow, read)
		require.Equal(t, tt.code, fault.CodeOf(err))
		require.Equal(t, tt.did, did)
	}
	did, w.of.barred = 0, false
	_, err := w.Visit(t.Context(), claim{}, allow, read)
	require.ErrorIs(t, err, missing)
	require.Equal(t, 1, did)
	_, err = w.Visit(t.Context(), claim{}, allow)
	require.NoError(t, err)
	_, err = w.Visit(t.Context(),
		claimOf(t, accessForm.Token(session.Session{User: user, ID: user}, session.Secret{})), allow)
	require.Equal(t, ended, fault.CodeOf(err), "a made-up token makes no guest")
}

// TestDevice: browsers have the names that people know, and programs their own.
func TestDevice(t *testing.T) {
	t.Parallel()
	const webkit, blink = " AppleWebKit/605.1.15 (KHTML, like Gecko) ",
		" AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 "
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + blink +
			"Safari/537.36": "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + blink +
			"Safari/537.36 Edg/143.0.0.0": "Edge on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0": "Firefox on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + blink +
			"YaBrowser/25.4.0.0 Safari/537.36": "Yandex Browser on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + webkit +
			"Version/26.0 Safari/605.1.15": "Safari on Mac",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)" + blink +
			"Safari/537.36 OPR/125.0.0.0": "Opera on Mac",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X)" + webkit +
			"Version/26.0 Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X)" + webkit +
			"CriOS/143.0 Mobile/15E148 Safari/604.1": "Chrome on iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X)" + webkit +
			"FxiOS/145.0 Mobile/15E148 Safari/605.1": "Firefox on iPhone",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X)" + webkit +
			"EdgiOS/143.0 Version/26.0 Safari/604.1": "Edge on iPhone",
		"Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X)" + webkit +
			"Version/26.0 Mobile/15E148 Safari/604.1": "Safari on iPad",
		"Mozilla/5.0 (Linux; Android 10; K)" + blink +
			"Mobile Safari/537.36": "Chrome on Android",
		"Mozilla/5.0 (Linux; Android 10; K)" + blink +
			"Mobile Safari/537.36 EdgA/143.0.0.0": "Edge on Android",
		"Mozilla/5.0 (Linux; arm_64; Android 14; SM-G965F)" + blink +
			"YaBrowser/25.4.0 SA/3 Mobile Safari/537.36": "Yandex Browser on Android",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 SamsungBrowser/29.0 Chrome/136.0 Mobile Safari/537.36": "Samsung Internet on Android",
		"Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0":                                        "Firefox on Android",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0)" + blink +
			"Safari/537.36": "Chrome on ChromeOS",
		"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0": "Firefox on Linux",

		"":                       "",
		"curl/8.5.0":             "curl/8.5.0",
		"Ann's phone":            "Ann's phone",
		"My Chrome/1 on Android": "My Chrome/1 on Android",
		"Mozilla/5.0 (<b>Android</b>) Chrome/1\r\nSet-Cookie: x":   "Chrome on Android",
		"Mozilla/5.0 (compatible; Some bot; +https://example.com)": "Mozilla/5.0 (compatible; Some bot; +https://example.com)",
		"Mozilla/5.0 (": "Mozilla/5.0 (",
		"Mozilla/5.0 (" + strings.Repeat("Linux; ", 100_000) + "Safari/1": "Safari on Linux",
		"a\x00 \xffb\n\u202e":    "a b",
		strings.Repeat("я", 300): strings.Repeat("я", 100),
		strings.Repeat("𝄞", 51):  strings.Repeat("𝄞", 50),
	} {
		require.Equal(t, want, session.Device(agent), "%.200q", agent)
	}
}

func TestLogKey(t *testing.T) {
	t.Parallel()
	require.Equal(t, "c745e3bbecd8", session.LogKey(user))
}

// TestSignedAndNot: an application takes access tokens of its own kind alone. If it signs them, a
// token without a secret opens nothing; if it does not, no claim without a secret does.
func TestSignedAndNot(t *testing.T) {
	w := newWorld(t, strict)
	in := w.enter()
	c := claimOf(t, in.access)
	_, err := w.Identify(t.Context(), session.SignedClaim[account](c.UserID, c.SessionID), nil)
	require.Error(t, err)

	w.SignedAccess = true
	g := w.New(user, "test", time.Time{})
	require.Empty(t, g.AccessHash)
	require.NoError(t, w.Insert(t.Context(), name, w.Row(g.Session)))
	_, err = w.Identify(t.Context(), claimOf(t, accessForm.Token(g.Session, session.Secret{})), nil)
	require.Error(t, err)
	_, err = w.Identify(t.Context(), session.SignedClaim[account](g.User, g.ID), nil)
	require.NoError(t, err)
	require.Panics(t, func() { w.NewToken(user, "reset", time.Time{}, time.Minute) })
}

// TestUsedSessionsStay: a session that is used between the read of a sign-in and the end of those
// that are too many does not end.
func TestUsedSessionsStay(t *testing.T) {
	w := newWorld(t, strict)
	first := w.enter()
	for range strict.Most - 1 {
		w.clock.Pass(time.Minute)
		w.enter()
	}
	w.clock.Pass(time.Minute)
	all, err := w.All(t.Context(), user)
	require.NoError(t, err)
	now := w.next(first.refresh, request) // at another instance
	g := w.New(user, "test", w.of.since)
	require.NoError(t, w.Insert(t.Context(), name, w.Row(g.Session)))
	w.Trim(t.Context(), all, *w.of)
	require.True(t, w.opens(now.access), "it was used a moment ago")
}

// TestLateSignIn: a sign-in that gets no answer opens another session. The first one may land after
// the user has signed out, but no client has its secrets.
func TestLateSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strict)
	var late func()
	s := w.over(calls.Tables(w.db, func(ctx context.Context, c calls.Call) error {
		if c.Write && late == nil {
			ctx := context.WithoutCancel(ctx)
			late = func() { _, _ = c.Do(ctx) }
			return calls.ErrLost
		}
		_, err := c.Do(ctx)
		return err
	}), strict)
	first := s.New(user, "test", w.of.since)
	g, err := s.Open(t.Context(), first)
	require.NoError(t, err)
	require.True(t, w.opens(write(g).access))
	require.NoError(t, w.End(t.Context(), user, g.ID))
	late()
	require.False(t, w.opens(write(g).access), "signed out")
	require.NotEqual(t, first.Refresh, g.Refresh)

	s = w.over(calls.Tables(w.db, func(context.Context, calls.Call) error { return calls.ErrLost }), strict)
	_, err = s.Open(t.Context(), s.New(user, "test", w.of.since))
	require.Equal(t, fault.Unavailable, fault.Of(err))
}
