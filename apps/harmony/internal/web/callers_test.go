package web_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/web"
	auth "prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/testing/callertest"
)

// TestCallers: see package callertest.
func TestCallers(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	session := func() string {
		in, err := w.Login(t.Context(), "anna@example.com", "tea under seven lamps", meet.Asker{Agent: "test"})
		require.NoError(t, err)
		return in.Tokens.Access + "." + in.Tokens.Refresh
	}
	over := session()
	w.Clock.Pass(account.AccessFor)
	in, err := w.Login(t.Context(), "anna@example.com", "tea under seven lamps", meet.Asker{Agent: "test"})
	require.NoError(t, err)
	claim, ok := auth.Parse[account.User](account.AccessForm, in.Tokens.Access)
	require.True(t, ok)
	ended := in.Tokens.Access + "." + in.Tokens.Refresh
	require.NoError(t, w.Logout(t.Context(), claim, false))
	var sessions []string
	for range 10 {
		sessions = append(sessions, session())
	}
	request := func(method, path string) func(io.Reader) *http.Request {
		return func(body io.Reader) *http.Request {
			r := httptest.NewRequestWithContext(t.Context(), method, web.Prefix+path, body)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			return r
		}
	}
	cookie := func(value string) func(*http.Request, int) {
		return func(r *http.Request, _ int) { r.AddCookie(&http.Cookie{Name: "harmony-session", Value: value}) }
	}
	madeUp := func(r *http.Request, i int) {
		ids := make([]byte, account.AccessForm.IDBytes)
		ids[0], ids[1] = byte(i), byte(i>>8)
		cookie(account.AccessForm.Format(ids, auth.Secret{})+"."+account.RefreshForm.Format(ids, auth.Secret{}))(r, i)
	}
	ids, _, _ := account.AccessForm.Bytes(in.Tokens.Access)
	l := httpjson.Limits{Reads: 1, ReadBurst: callertest.Burst, Writes: 1, WriteBurst: callertest.Burst}
	admission := httpjson.NewAdmission(l.Complete(false), func() time.Time { return time.Unix(0, 0) })
	callertest.Check(t, callertest.Door{
		Handler: web.New(web.Config{
			Service: w.Service, Admission: admission,
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
		}),
		Enter: func(person int) (func(), error) {
			return admission.Enter(t.Context(), httpjson.CallerOf(nil, fmt.Sprint("person ", person)))
		},
		Read: request("GET", "/me"), Write: request("POST", "/settings/preferences"), Body: 300 << 10,
		Entry: []func(io.Reader) *http.Request{
			request("POST", "/sign-up"), request("POST", "/sign-in"),
			request("POST", "/reset"), request("POST", "/restore"),
		},
		EntryBody: 300 << 10,
		Kinds: []callertest.Kind{
			{Name: "a guest", Sign: func(*http.Request, int) {}},
			{Name: "made-up tokens", Sign: madeUp},
			{Name: "no tokens", Sign: cookie("x.y")},
			{
				Name: "the right ids with a wrong secret",
				Sign: cookie(account.AccessForm.Format(ids, auth.Secret{1}) + ".x"),
			},
			{Name: "the cookie of a session that has ended", Sign: cookie(ended)},
			{Name: "the cookie of a session whose access token is over", Renews: true, Sign: cookie(over)},
			{Name: "ten sessions of a member", IsMember: true, Sign: func(r *http.Request, i int) {
				cookie(sessions[i%10])(r, i)
			}},
			{Name: "a member", IsMember: true, Sign: cookie(sessions[0])},
		},
	})
}
