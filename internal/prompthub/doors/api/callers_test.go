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

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/testing/callertest"
)

// TestCallers: see package callertest. What PromptHub has of sessions are access tokens.
func TestCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := auth.User{ID: "ann", Name: "ann"}
	token := func() (id, text string) {
		made, text, err := w.config.Service.CreateToken(t.Context(), ann,
			library.TokenDraft{Name: "CI", Scopes: auth.Scopes()})
		require.NoError(t, err)
		return made.ID, text
	}
	revoked, ended := token()
	require.NoError(t, w.config.Service.RevokeToken(t.Context(), ann, revoked))
	_, expired := token()
	w.clock.Advance(100 * 24 * time.Hour)
	var tokens []string
	for range 10 {
		_, text := token()
		tokens = append(tokens, text)
	}
	madeUp, _, _ := library.Tokens.New()
	id, _, _ := library.Tokens.Parse(tokens[0])
	secretOf, _, _ := library.Tokens.Bytes(tokens[0])
	wrongSecret := library.Tokens.Format(secretOf, [auth.SecretBytes]byte{1})
	require.Contains(t, wrongSecret, id)
	bearer := func(token string) func(*http.Request, int) {
		return func(r *http.Request, _ int) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	request := func(method, path string) func(io.Reader) *http.Request {
		return func(body io.Reader) *http.Request {
			r := httptest.NewRequestWithContext(t.Context(), method, path, body)
			r.Header.Set("Content-Type", "application/json")
			return r
		}
	}
	config := w.config
	l := httpjson.Limits{Reads: 1, ReadBurst: callertest.Burst, Writes: 1, WriteBurst: callertest.Burst}
	config.Admission = httpjson.NewAdmission(l.Complete(false), func() time.Time { return time.Unix(0, 0) })
	config.Identify = config.Service.WithTokens(func(*http.Request) (auth.User, error) {
		return auth.User{}, nil
	}, false, config.Admission.Guess)
	callertest.Check(t, callertest.Door{
		Handler: api.New(config),
		Enter: func(person int) (func(), error) {
			return config.Admission.Enter(t.Context(), httpjson.CallerOf(nil, fmt.Sprint("person ", person)))
		},
		Read: request("GET", "/api/v1/me"), Write: request("POST", prompts), Body: 256 << 10,
		Kinds: []callertest.Kind{
			{Name: "a guest", Sign: func(*http.Request, int) {}},
			{Name: "a made-up token", Sign: bearer(madeUp)},
			{Name: "the right id with a wrong secret", Sign: bearer(wrongSecret)},
			{Name: "a token that is cut", Sign: bearer(tokens[0][:len(tokens[0])-1])},
			{Name: "a token that was revoked", Sign: bearer(ended)},
			{Name: "a token that has expired", Sign: bearer(expired)},
			{Name: "the password of Basic under another name", IsMember: true, Sign: func(r *http.Request, _ int) {
				r.SetBasicAuth(strings.Repeat("a", len(id)), tokens[0])
			}},
			{Name: "ten tokens of a member", IsMember: true, Sign: func(r *http.Request, i int) {
				bearer(tokens[i%10])(r, i)
			}},
			{Name: "a member", IsMember: true, Sign: bearer(tokens[0])},
		},
	})
}
