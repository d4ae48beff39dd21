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

	"prompthub/apps/duuble/internal/api"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/testing/callertest"
)

// TestCallers: see package callertest.
func TestCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, ann, _ := w.person(number(1), "Ann")
	sessions := []string{ann}
	for range 9 {
		sessions = append(sessions, w.enter(number(1))["accessToken"].(string))
	}
	ended := w.enter(number(1))["accessToken"].(string)
	status, _ := w.ask("POST", "/auth/logout", ended, "")
	require.Equal(t, 204, status)
	left := w.enter(number(2))["accessToken"].(string)
	status, _ = w.ask("DELETE", "/users/me", left, "")
	require.Equal(t, 204, status)
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
	head, payload, _ := strings.Cut(ann, ".")
	payload, signature, _ := strings.Cut(payload, ".")
	_, other, _ := strings.Cut(ended, ".")
	other, _, _ = strings.Cut(other, ".")
	none := "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0" // {"alg":"none","typ":"JWT"}
	l := httpjson.Limits{Reads: 1, ReadBurst: callertest.Burst, Writes: 1, WriteBurst: callertest.Burst}
	admission := httpjson.NewAdmission(l.Complete(false), func() time.Time { return time.Unix(0, 0) })
	callertest.Check(t, callertest.Door{
		Handler: w.over(admission),
		Enter: func(person int) (func(), error) {
			return admission.Enter(t.Context(), httpjson.CallerOf(nil, fmt.Sprint("person ", person)))
		},
		Read: request("GET", "/users/me"), Write: request("POST", "/posts"), Body: 512 << 10,
		Entry: []func(io.Reader) *http.Request{
			request("POST", "/auth/otp/request"),
			request("POST", "/auth/otp/verify"), request("POST", "/auth/refresh"),
		},
		EntryBody: 64 << 10,
		Kinds: []callertest.Kind{
			{Name: "a guest", Sign: func(*http.Request, int) {}},
			{Name: "a made-up token", Sign: bearer("made.up.token")},
			{Name: "a token without a signature", Sign: bearer(none + "." + payload + ".")},
			{
				Name: "the right ids with a wrong signature",
				Sign: bearer(head + "." + payload + "." + strings.Repeat("A", len(signature))),
			},
			{Name: "the signature of another session", Sign: bearer(head + "." + other + "." + signature)},
			{Name: "a session that has ended", Sign: bearer(ended)},
			{Name: "a session of somebody who has left", Sign: bearer(left)},
			{Name: "another scheme", Sign: func(r *http.Request, _ int) {
				r.Header.Set("Authorization", "Basic "+ann)
			}},
			{Name: "ten sessions of a member", IsMember: true, Sign: func(r *http.Request, i int) {
				bearer(sessions[i%10])(r, i)
			}},
			{Name: "a member", IsMember: true, Sign: bearer(ann)},
		},
	})
}

// TestCodesForThisMachineAlone: a code that is kept for development is told to a program on this
// machine, and to none for which a proxy asks.
func TestCodesForThisMachineAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	challenge, _ := w.code(number(1))
	for _, mark := range [][]string{
		{"X-Forwarded-For", "192.0.2.1"},
		{"X-Real-Ip", "192.0.2.1"},
		{"X-Azure-ClientIP", "192.0.2.1"},
		{"Forwarded", "for=192.0.2.1"},
		{"Via", "1.1 proxy"},
	} {
		status, answer := w.ask("GET", "/dev/otp/"+challenge, "", "", mark...)
		require.Equal(t, 404, status, "%v: %v", mark, answer)
	}
	status, answer := w.ask("GET", "/dev/otp/"+challenge, "", "")
	require.Equal(t, 200, status, answer)
}
