package api_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/promptdb"
)

// withTokens has an API take access tokens, as the program does.
func withTokens(c *api.Config) {
	c.Claimed = true
	c.Identify = c.Service.WithTokens(c.Identify, c.Claimed, c.Admission.Guess)
}

// token makes an access token with scopes.
func (p person) token(scopes ...string) api.ShownToken {
	p.w.t.Helper()
	var shown api.ShownToken
	a := p.do(http.MethodPost, "/api/v1/me/tokens",
		fmt.Sprintf(`{"name":"CI","scopes":["%s"]}`, strings.Join(scopes, `","`))).is(http.StatusCreated)
	require.Equal(p.w.t, "no-store", a.header.Get("Cache-Control"))
	a.into(&shown)
	return shown
}

func (p person) tokens() []api.Token {
	p.w.t.Helper()
	var list api.TokenList
	p.get("/api/v1/me/tokens").is(http.StatusOK).into(&list)
	return list.Items
}

func bearerOf(t api.ShownToken) []string { return []string{"Authorization", "Bearer " + t.Secret} }

func TestTokenStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	ann, nobody := w.admin(), w.as("")
	require.Empty(t, ann.tokens())
	token := ann.token("read", "write")
	require.Equal(t, "2026-06-29T23:30:00.000Z", token.ExpiresAt)
	var me api.Me
	_, secret, _ := strings.Cut(strings.TrimPrefix(token.Secret, "ph_"), "_")
	basic := base64.StdEncoding.EncodeToString([]byte(token.ID + ":" + secret))
	whole := base64.StdEncoding.EncodeToString([]byte(token.ID + ":" + token.Secret))
	for _, header := range [][]string{
		bearerOf(token),
		{"Authorization", "basic " + basic},
		{"Authorization", "Basic " + whole},
		{"X-Api-Key", token.Secret},
		{"X-Api-Key", token.Secret, "Authorization", "Bearer x.y.z"},
	} {
		nobody.get("/api/v1/me", header...).is(http.StatusOK).into(&me)
		require.Equal(t, api.Me{
			ID: "Root", AuthorID: w.db.AuthorKey("Root"), Name: "Root", Roles: []string{},
			Scopes:  []string{"read", "write"},
			Storage: api.Storage{MaxFavorites: promptdb.MaxFavorites},
		}, me)
	}
	// Whatever else a request says, its token says who is calling, and how little he may.
	w.admin().get("/api/v1/moderation/hidden", bearerOf(token)...).problem(http.StatusForbidden)
	nobody.do(http.MethodPost, "/api/v1/prompts", `{"title":"T","text":"X"}`, bearerOf(token)...).is(http.StatusCreated)
	require.Equal(t, "2026-03-31", ann.tokens()[0].UsedOn)

	ann.do(http.MethodDelete, "/api/v1/me/tokens/"+token.ID, "").is(http.StatusNoContent)
	nobody.get("/api/v1/me", bearerOf(token)...).problem(http.StatusUnauthorized)
	require.Empty(t, ann.tokens())
	ann.do(http.MethodDelete, "/api/v1/me/tokens/"+token.ID, "").problem(http.StatusNotFound)
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	token := w.as("Ann").token("read")
	w.clock.Advance(90*24*time.Hour - time.Second)
	w.as("").get("/api/v1/me", bearerOf(token)...).is(http.StatusOK)
	w.clock.Advance(time.Second) // it is cached as it was, and yet it has ended
	w.as("").get("/api/v1/me", bearerOf(token)...).problem(http.StatusUnauthorized)
}

// Another instance believes a revoked token for less than ten seconds.
func TestTokenIsRevokedEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	ann := w.as("Ann")
	token := ann.token("read")
	other := w.instance(withTokens)
	other.as("").get("/api/v1/me", bearerOf(token)...).is(http.StatusOK)
	gets := w.store.count()
	for range 3 {
		other.as("").get("/api/v1/me", bearerOf(token)...).is(http.StatusOK)
	}
	require.Equal(t, gets, w.store.count(), "a token that was read a moment ago is not read again")
	ann.do(http.MethodDelete, "/api/v1/me/tokens/"+token.ID, "").is(http.StatusNoContent)
	w.clock.Advance(8 * time.Second)
	other.as("").get("/api/v1/me", bearerOf(token)...).problem(http.StatusUnauthorized)
	require.Empty(t, ann.tokens(), "its use brought a revoked token back")
}

func TestTokensAreTheOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	ann, bob, root := w.as("Ann"), w.as("Bob"), w.admin()
	token := ann.token("read", "write", "publish")
	unknown := bob.do(http.MethodDelete, "/api/v1/me/tokens/"+strings.Repeat("a", 16), "").problem(404)
	require.Equal(t, unknown.Detail, bob.do(http.MethodDelete, "/api/v1/me/tokens/"+token.ID, "").problem(404).Detail)
	bob.do(http.MethodDelete, "/api/v1/me/tokens/x%2Fy", "").problem(404)
	bob.get("/api/v1/me/tokens?owner=Ann").problem(403)
	require.Empty(t, bob.tokens())
	another := ann.token("read") // a token may end itself alone
	for method, path := range map[string]string{"GET": "", "POST": "", "DELETE": "/" + another.ID} {
		w.as("").do(method, "/api/v1/me/tokens"+path, `{"name":"x","scopes":["read"]}`, bearerOf(token)...).problem(403)
	}
	var list api.TokenList
	root.get("/api/v1/me/tokens?owner=nobody").problem(404)
	ann.profile(`{"handle":"ann-lee"}`)
	root.get("/api/v1/me/tokens?owner=ann-lee").is(200).into(&list)
	require.Len(t, list.Items, 2)
	root.do(http.MethodDelete, "/api/v1/me/tokens/"+token.ID, "").is(204)
	w.as("").get("/api/v1/me", bearerOf(token)...).problem(401)
}

func TestTokenRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	ann := w.as("Ann")
	for body, location := range map[string]string{
		`{"name":" ","scopes":["read"]}`:                                        "body.name",
		`{"name":"a\nb","scopes":["read"]}`:                                     "body.name",
		`{"name":"` + strings.Repeat("x", 101) + `","scopes":["read"]}`:         "body.name",
		`{"name":"x","scopes":[]}`:                                              "body.scopes",
		`{"name":"x","scopes":["admin"]}`:                                       "body.scopes[0]",
		`{"name":"x","scopes":["read"],"expiresAt":"2026-03-31T23:30:00.000Z"}`: "body.expiresAt",
		`{"name":"x","scopes":["read"],"expiresAt":"2027-04-02T00:00:00.000Z"}`: "body.expiresAt",
		`{"name":"x","scopes":["read"],"expiresAt":"tomorrow"}`:                 "body.expiresAt",
		`{"name":"x"}`: "body.scopes",
		`{"name":"x","scopes":["read"],"roles":["admin"]}`: "body",
	} {
		require.Contains(t, strings.Join(ann.do(http.MethodPost, "/api/v1/me/tokens", body).problem(422).locations(),
			" "), location, body)
	}
	for range 50 {
		ann.token("read", "read")
	}
	require.Equal(t, []string{"read"}, ann.tokens()[0].Scopes)
	ann.do(http.MethodPost, "/api/v1/me/tokens", `{"name":"x","scopes":["read"]}`).problem(422)
}

// A text that is no token, or not quite one, is refused, and costs no look into the storage unless
// its checksum is right.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	token := w.as("Ann").token("read")
	other, _, _ := library.Tokens.New()
	id, secret, _ := strings.Cut(strings.TrimPrefix(token.Secret, "ph_"), "_")
	otherID, otherSecret, _ := strings.Cut(strings.TrimPrefix(other, "ph_"), "_")
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	before := w.store.count()
	for _, header := range [][]string{
		{"Authorization", "Bearer ph_"},
		{"Authorization", "Bearer ph__"},
		{"Authorization", "Bearer " + token.Secret + "a"},
		{"Authorization", "Bearer"}, // a variable of a shell without a value
		{"Authorization", ""},
		{"Authorization", "Bearer ${input:prompthub}"},
		{"Authorization", "Bearer " + strings.TrimPrefix(token.Secret, "ph_")},
		{"Authorization", "Bearer ph_" + id + "_" + otherSecret},
		{"Authorization", "Bearer ph_" + id + "_" + strings.Repeat("a", len(secret))},
		{"Authorization", "Bearer ph_" + strings.Repeat("x", 20000)},
		{"Authorization", basic(id)},
		{"Authorization", basic(":" + secret)},
		{"Authorization", basic(id + ":")},
		{"Authorization", "Basic ÿ"},
		{"Authorization", basic(id + ":" + otherSecret)},
		{"Authorization", basic(strings.Repeat("x", 3000) + ":" + secret)},
		{"X-Api-Key", ""},
		{"X-Api-Key", secret},
		{"X-Api-Key", "ph_" + otherID + "_" + secret},
		{"X-Api-Key", token.Secret, "X-Api-Key", token.Secret},
	} {
		w.as("").get("/api/v1/me", header...).problem(401)
		// not taken for an anonymous caller
		require.Equal(t, 401, w.as("").get("/api/v1/prompts", header...).status, "%v", header)
	}
	require.Contains(t, w.as("").get("/api/v1/me", "Authorization", basic(id+":"+secret[1:])).problem(401).Detail,
		"the access token is not complete")
	require.Equal(t, before, w.store.count())
	w.as("").get("/api/v1/me", "Authorization", "Bearer "+other).problem(401)
	require.Equal(t, before+1, w.store.count())
	w.as("").get("/api/v1/me", "Authorization", basic(id+":"+other)).problem(401) // the name says nothing
	require.Equal(t, before+1, w.store.count())
	// The right id with a secret that somebody else made, checksum and all.
	w.as("").get("/api/v1/me", "Authorization", "Bearer "+forge(id, otherSecret)).problem(401)
	require.NotContains(t, w.logs.String(), secret)
}

// TestGuessedTokensAreLimited holds that invented access tokens cost a bounded number of looks into
// the storage for an address, and that callers with a right one keep their access.
func TestGuessedTokensAreLimited(t *testing.T) {
	t.Parallel()
	w := limited(t, withTokens)
	token, other := w.as("Ann").token("read"), w.as("Ann").token("read")
	me := func(secret, from string) answer {
		return w.as("").get("/api/v1/me", "Authorization", "Bearer "+secret, "X-Forwarded-For", from)
	}
	guess := func(n int) {
		for range n {
			secret, _, _ := library.Tokens.New()
			require.Contains(t, []int{401, 429}, me(secret, "203.0.113.7:1").status)
		}
	}
	before := w.store.count()
	me(token.Secret, "203.0.113.7:1").is(200)
	right := w.store.count() - before
	guess(100)
	require.Equal(t, before+right+20, w.store.count(), "one look for each token of the burst")

	me(token.Secret, "203.0.113.7:1").is(200) // it was used a moment ago
	refused := me(other.Secret, "203.0.113.7:1")
	require.Contains(t, refused.problem(429).Detail, "access tokens")
	require.Equal(t, "1", refused.header.Get("Retry-After"))
	me(other.Secret, "203.0.113.8:1").is(200)

	w.clock.Advance(time.Second)
	before = w.store.count()
	guess(100)
	require.Equal(t, before+10, w.store.count())
	w.clock.Advance(10 * time.Second) // the cached token is forgotten
	for range 100 {
		me(token.Secret, "203.0.113.7:1").is(200) // one that is right counts for nothing
		w.clock.Advance(10 * time.Second)
	}
}

// forge makes a token of an id and the secret of another, with the checksum that it has.
func forge(id, secret string) string {
	letters := base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	text := "ph_" + id + "_" + secret[:52]
	return text + letters.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(text))))
}

// A caller who claimed to be Ann in development mode is not Ann once users sign in.
func TestClaimedTokensStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	token := w.as("Ann").token("read")
	other := w.instance(func(c *api.Config) {
		c.Claimed, c.Identify = false, c.Service.WithTokens(c.Identify, false, c.Admission.Guess)
	})
	other.as("").get("/api/v1/me", bearerOf(token)...).problem(401)
	believed := other.as("Ann").token("read")
	w.as("").get("/api/v1/me", bearerOf(believed)...).problem(401)
	other.as("").get("/api/v1/me", bearerOf(believed)...).is(200)
}

// Public changes need the scope publish, and private ones do not.
func TestPublishScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	ann := w.as("Ann")
	write, publish := ann.token("write"), ann.token("write", "publish")
	send := func(token api.ShownToken, method, path, body string) int {
		return w.as("").do(method, "/api/v1/prompts"+path, body,
			append(bearerOf(token), "If-Match", "*", "Content-Type", "application/json")...).status
	}
	private := ann.do(http.MethodPost, "/api/v1/prompts", `{"title":"P","text":"X"}`).is(201).prompt().ID
	public := ann.create("Public").ID
	tests := []struct {
		method, path, body string
		with               int
	}{
		{"POST", "", `{"title":"T","text":"X","visibility":"public"}`, 201},
		{"PATCH", "/" + public, `{"title":"New"}`, 200},
		{"PUT", "/" + public, `{"title":"New","text":"X","visibility":"private"}`, 200},
		{"PATCH", "/" + private, `{"visibility":"public"}`, 200},
		{"DELETE", "/" + private, "", 204},
		{"POST", "/" + private + "/restore", "", 200},
		{"PUT", "/" + private + "/labels/production", `{"version":1}`, 200},
		{"POST", "/" + private + "/labels/production/undo", "", 204},
	}
	for _, tt := range tests {
		require.Equal(t, 403, send(write, tt.method, tt.path, tt.body), "%s %s", tt.method, tt.path)
		require.Equal(t, tt.with, send(publish, tt.method, tt.path, tt.body), "%s %s", tt.method, tt.path)
	}
	mine := ann.do(http.MethodPost, "/api/v1/prompts", `{"title":"P","text":"X"}`).is(201).prompt().ID
	require.Equal(t, 200, send(write, "PATCH", "/"+mine, `{"title":"New"}`))
	require.Equal(t, 403, send(write, "DELETE", "/"+mine+"/versions/1", ""))
	require.Contains(t, []int{200, 204}, send(write, "PUT", "/"+mine+"/labels/production", `{"version":1}`))
	require.Equal(t, 403, send(write, "DELETE", "/"+mine+"/labels/production", ""))
	require.Equal(t, 200, send(write, "PUT", "/"+mine+"/vote", `{"value":"like"}`))
	require.Equal(t, 403, send(write, "GET", "/"+mine, ""))
}
