package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/testing/callertest"
)

// TestCallers: see package callertest.
func TestCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.enter()
	session := func() string {
		i := 0
		for w.cookies[i].Name != "duuble-session" {
			i++
		}
		return w.cookies[i].Value
	}
	ended := session()
	require.Equal(t, 303, w.visit("POST", "/app/sign-out", "").Code)
	w.signIn()
	over := session()
	w.pass(people.AccessFor)
	var sessions []string
	for range 10 {
		w.signIn()
		sessions = append(sessions, session())
	}
	request := func(method, path string) func(io.Reader) *http.Request {
		return func(body io.Reader) *http.Request {
			r := httptest.NewRequestWithContext(t.Context(), method, path, body)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			return r
		}
	}
	cookie := func(value string) func(*http.Request, int) {
		return func(r *http.Request, _ int) { r.AddCookie(&http.Cookie{Name: "duuble-session", Value: value}) }
	}
	access, refresh, _ := strings.Cut(sessions[0], "~")
	l := httpjson.Limits{Reads: 1, ReadBurst: callertest.Burst, Writes: 1, WriteBurst: callertest.Burst}
	admission := httpjson.NewAdmission(l.Complete(false), func() time.Time { return time.Unix(0, 0) })
	callertest.Check(t, callertest.Door{
		Handler: w.over(admission),
		Enter: func(person int) (func(), error) {
			return admission.Enter(t.Context(), httpjson.CallerOf(nil, fmt.Sprint("person ", person)))
		},
		Read: request("GET", "/app/me"), Write: request("POST", "/app/compose"), Body: 640 << 10,
		Entry: []func(io.Reader) *http.Request{
			request("POST", "/app/sign-in"),
			request("POST", "/app/sign-in/code"),
		},
		EntryBody: 640 << 10,
		Kinds: []callertest.Kind{
			{Name: "a guest", Sign: func(*http.Request, int) {}},
			{Name: "made-up tokens", Sign: cookie("made.up.token~dr_x")},
			{
				Name: "an access token with a wrong signature",
				Sign: cookie(access[:len(access)-4] + "AAAA~" + refresh[:len(refresh)-4] + "aaaa"),
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
