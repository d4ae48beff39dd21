package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/testing/callertest"
)

// TestCallers: see package callertest.
func TestCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, anna, refresh := w.account("anna")
	enter := func() string {
		status, s := w.ask("POST", "/auth/login", "", `{"email":"anna@example.com","password":"tea under seven lamps"}`)
		require.Equal(t, 200, status, s)
		return s["accessToken"].(string)
	}
	sessions := []string{anna}
	for range 9 {
		sessions = append(sessions, enter())
	}
	ended := enter()
	status, _ := w.ask("POST", "/auth/logout", ended, "")
	require.Equal(t, 204, status)
	_, left, _ := w.account("bob")
	status, _ = w.ask("DELETE", "/auth/me", left, `{"password":"tea under seven lamps"}`)
	require.Equal(t, 202, status)
	request := func(method, path string) func(io.Reader) *http.Request {
		return func(body io.Reader) *http.Request {
			r := httptest.NewRequestWithContext(t.Context(), method, api.Prefix+path, body)
			r.Header.Set("Content-Type", "application/json")
			return r
		}
	}
	bearer := func(token string) func(*http.Request, int) {
		return func(r *http.Request, _ int) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	admission := standing()
	callertest.Check(t, callertest.Door{
		Handler: w.over(admission),
		Enter: func(person int) (func(), error) {
			return admission.Enter(t.Context(), httpjson.CallerOf(nil, fmt.Sprint("person ", person)))
		},
		Read: request("GET", "/auth/me"), Write: request("POST", "/forum/topics"), Body: 300 << 10,
		Entry: []func(io.Reader) *http.Request{
			request("POST", "/auth/register"), request("POST", "/auth/login"), request("POST", "/auth/refresh"),
			request("POST", "/auth/reset"), request("POST", "/auth/restore"),
		},
		EntryBody: 300 << 10,
		Kinds: []callertest.Kind{
			{Name: "a guest", Sign: func(*http.Request, int) {}},
			{Name: "no token", Sign: bearer("ha_x")},
			{Name: "a made-up token", Sign: func(r *http.Request, i int) { bearer(madeUp(byte(i), byte(i>>8)))(r, i) }},
			{Name: "the right ids with a wrong secret", Sign: bearer(withSecret(t, anna))},
			{Name: "a refresh token", Sign: bearer(refresh)},
			{Name: "a session that has ended", Sign: bearer(ended)},
			{Name: "a session of a member who has left", Sign: bearer(left)},
			{Name: "another scheme", Sign: func(r *http.Request, _ int) {
				r.Header.Set("Authorization", "Basic "+anna)
			}},
			{Name: "a cookie", Sign: func(r *http.Request, _ int) {
				r.AddCookie(&http.Cookie{Name: "harmony-session", Value: anna + "." + refresh})
			}},
			{Name: "ten sessions of a member", IsMember: true, Sign: func(r *http.Request, i int) {
				bearer(sessions[i%10])(r, i)
			}},
			{Name: "a member", IsMember: true, Sign: bearer(anna)},
		},
	})
}

// standing is an admission whose clock stands still.
func standing() *httpjson.Admission {
	l := httpjson.Limits{Reads: 1, ReadBurst: callertest.Burst, Writes: 1, WriteBurst: callertest.Burst}
	return httpjson.NewAdmission(l.Complete(false), func() time.Time { return time.Unix(0, 0) })
}

// madeUp is a token as anybody can write one.
func madeUp(of ...byte) string {
	ids := make([]byte, account.AccessForm.IDBytes)
	copy(ids, of)
	return account.AccessForm.Format(ids, session.Secret{1})
}

// withSecret is a token with the ids of another one, and a secret of its own.
func withSecret(t *testing.T, token string) string {
	ids, _, ok := account.AccessForm.Bytes(token)
	require.True(t, ok)
	return account.AccessForm.Format(ids, session.Secret{1})
}

// TestCallersOfPictures: a caller who sees more by a cookie counts as any other. So does a caller
// with a picture to upload.
func TestCallersOfPictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, anna, _ := w.account("anna")
	request := func(method, path string) func(io.Reader) *http.Request {
		return func(body io.Reader) *http.Request {
			r := httptest.NewRequestWithContext(t.Context(), method, api.Prefix+path, body)
			r.Header.Set("Content-Type", "image/png")
			return r
		}
	}
	cookie := func(value string) func(*http.Request, int) {
		return func(r *http.Request, _ int) {
			r.AddCookie(&http.Cookie{Name: "harmony-session", Value: value})
			if r.Method == http.MethodPost {
				access, _, _ := strings.Cut(value, ".")
				r.Header.Set("Authorization", "Bearer "+access)
			}
		}
	}
	admission := standing()
	callertest.Check(t, callertest.Door{
		Handler: w.over(admission),
		Enter: func(person int) (func(), error) {
			return admission.Enter(t.Context(), httpjson.CallerOf(nil, fmt.Sprint("person ", person)))
		},
		Read: request("GET", "/images/profile/"+id+"/"+id+".jpg"), Write: request("POST", "/users/"+id+"/images"),
		Body: 3 << 20,
		Kinds: []callertest.Kind{
			{Name: "a guest", Sign: func(*http.Request, int) {}},
			{Name: "made-up tokens", Sign: func(r *http.Request, i int) {
				cookie(madeUp(byte(i), byte(i>>8))+".x")(r, i)
			}},
			{Name: "the right ids with a wrong secret", Sign: cookie(withSecret(t, anna) + ".x")},
			{Name: "a member", IsMember: true, Sign: cookie(anna + ".x")},
		},
	})
}
