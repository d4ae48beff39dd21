package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
)

// withPasswords has people sign in with passwords alone.
func withPasswords(c *api.Config) {
	sleep := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	c.Service = c.Service.WithPasswords(library.NewPasswords(password.NewTestHasher(), c.Now, sleep))
	guess := httpjson.NewAdmission(httpjson.Limits{}, c.Now).Guess
	nobody := func(*http.Request) (auth.User, error) { return auth.User{}, nil }
	c.Identify = c.Service.WithTokens(c.Service.WithSessions(nobody, guess), false, guess)
}

// bearer is a client with a session.
func (w *world) bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// TestInvited is the story of a team: the first administrator, a workspace, a colleague, a new
// password. Nothing of it needs a provider.
func TestInvited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withPasswords)
	secret, err := w.config.Service.AdminInvite(t.Context(), false)
	require.NoError(t, err)
	nobody := w.as("")
	post := func(path, body string, header ...string) answer {
		return nobody.do(http.MethodPost, "/api/v1"+path, body, header...)
	}
	accept := func(secret, handle string, header ...string) answer {
		return post("/invites/accept", `{"secret":"`+secret+`","handle":"`+handle+
			`","password":"correct horse battery"}`, header...)
	}
	var in struct{ Handle, Session string }
	var token struct{ Token string }
	accept(secret, "chief").is(200).into(&in)
	require.Equal(t, "chief", in.Handle)
	chief := w.bearer(in.Session)
	post("/workspaces", `{"handle":"billing"}`, chief...).is(201)
	var made struct{ ID, Secret, URL, ExpiresAt string }
	post("/invites", `{"workspaces":[{"handle":"billing","role":"author"}],"uses":2}`, chief...).is(201).into(&made)
	require.True(t, strings.HasSuffix(made.URL, "/app/join#"+made.Secret), made.URL)
	require.Equal(t, httpjson.FormatTime(w.clock.Now().AddDate(0, 0, 7)), made.ExpiresAt)
	accept(made.Secret, "bob").is(200).into(&in)
	bob := w.bearer(in.Session)
	nobody.do(http.MethodGet, "/api/v1/workspaces/billing", "", bob...).is(200)
	require.Contains(t, accept(made.Secret, "", bob...).is(409).body, `"ALREADY_MEMBER"`)
	require.Contains(t, accept(made.Secret, "chief").is(422).body, "somebody has this one")
	listed := nobody.do(http.MethodGet, "/api/v1/invites?workspace=billing", "", chief...).is(200).body
	require.Contains(t, listed, `"left":1`)
	require.NotContains(t, listed, made.Secret[20:])
	require.Contains(t, nobody.do(http.MethodGet, "/api/v1/invites?workspace=billing", "", bob...).is(403).body,
		`"NEEDS_ROLE"`)
	nobody.do(http.MethodDelete, "/api/v1/invites/"+made.ID, "", bob...).is(404)
	nobody.do(http.MethodDelete, "/api/v1/invites/"+made.ID, "", chief...).is(204)
	require.Contains(t, accept(made.Secret, "eve").is(404).body, `"NO_SUCH_INVITE"`)
	post("/invites", `{}`, bob...).is(403)
	post("/invites", `{}`, chief...).is(201)

	// the session stands for bob until it ends, and his password is set anew by a link
	post("/prompts", `{"title":"T","text":"x"}`, bob...).is(201)
	post("/resets", `{"name":"bob"}`, bob...).is(403)
	require.Contains(t, post("/resets", `{"name":"eve"}`, chief...).is(404).body, `"NO_ACCOUNT"`)
	post("/resets", `{"name":"bob"}`, chief...).is(201).into(&made)
	post("/resets/accept", `{"secret":"`+made.Secret+`","password":"short"}`).is(422)
	post("/resets/accept", `{"secret":"`+made.Secret+`","password":"another horse battery"}`).is(204)
	require.Contains(t, post("/resets/accept", `{"secret":"`+made.Secret+`","password":"another horse battery"}`).is(
		404).body, `"NO_SUCH_RESET"`)
	require.Contains(t, nobody.do(http.MethodGet, "/api/v1/me", "", bob...).is(401).body, `"SESSION_ENDED"`)
	post("/session", `{"name":"bob","password":"another horse battery"}`).is(201).into(&in)
	bob = w.bearer(in.Session)
	change := func(current, password string, header ...string) answer {
		return nobody.do(http.MethodPut, "/api/v1/me/password", `{"current":"`+current+`","password":"`+password+`"}`,
			append(header, "Content-Type", "application/json")...)
	}
	post("/me/tokens", `{"name":"CI","scopes":["read"]}`, bob...).is(201).into(&token)
	require.Contains(t, change("correct horse battery", "a third horse battery", bob...).is(422).body, `"body.current"`)
	require.Contains(t, change("another horse battery", "short", bob...).is(422).body, `"body.password"`)
	change("another horse battery", "a third horse battery", w.bearer(token.Token)...).is(403)
	old := bob
	change("another horse battery", "a third horse battery", bob...).is(200).into(&in)
	require.Contains(t, nobody.do(http.MethodGet, "/api/v1/me", "", old...).is(401).body, `"SESSION_ENDED"`)
	bob = w.bearer(in.Session)
	nobody.do(http.MethodGet, "/api/v1/me", "", bob...).is(200)
	nobody.do(http.MethodGet, "/api/v1/me", "", w.bearer(token.Token)...).is(200) // it stays
	post("/session", `{"name":"bob","password":"another horse battery"}`).is(401)
	change("a third horse battery", "another horse battery", bob...).is(200).into(&in)
	wrong := post("/session", `{"name":"bob","password":"correct horse battery"}`).is(401)
	require.Equal(t, anonymous(wrong),
		anonymous(post("/session", `{"name":"nobody","password":"correct horse battery"}`).is(401)))
	post("/session", `{"name":"bob","password":"another horse battery"}`).is(201).into(&in)
	bob = w.bearer(in.Session)
	nobody.do(http.MethodDelete, "/api/v1/session", "", bob...).is(204)
	nobody.do(http.MethodGet, "/api/v1/me", "", bob...).is(401)
	for _, secret := range []string{"phi_", "phr_", "phs_"} {
		require.NotContains(t, w.logs.String(), secret, "secrets are in no line of the log")
	}
}
