package mcp_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/prompt"
)

// Tokens of an identity provider say who is calling, if they are for this service and not over; a
// development header or a cookie says nothing.
func TestTokensOfAnIssuer(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	provider := &oidctest.Server{
		PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}},
	}
	issuer := httptest.NewServer(provider)
	defer issuer.Close()
	provider.SetIssuer(issuer.URL)
	w := newWorld(t, func(c *mcp.Config) {
		c.Issuers = []string{issuer.URL}
		c.Door.PublicRead = false
		c.Door.Identify = c.Service.WithTokens(
			auth.JWT(t.Context(), auth.JWTOptions{
				Issuers: c.Issuers, Audiences: []string{"api://prompts"},
				Now: c.Now,
			}), false, c.Door.Admission.Guess)
	})
	w.write("ann", prompt.Draft{Title: "Private", Text: "Private.", Visibility: prompt.Private})
	token := func(audience string, end time.Time) caller {
		claims := fmt.Sprintf(`{"iss":%q,"aud":%q,"sub":"x","oid":"ann","name":"Ann","exp":%d}`,
			issuer.URL, audience, end.Unix())
		return w.as("", "Authorization",
			"Bearer "+oidctest.SignIDToken(crypto.PrivateKey(key), "k", oidc.RS256, claims))
	}
	later := w.now.Add(time.Hour)
	good := token("api://prompts", later)
	require.Equal(t, []string{"private"}, good.list(object{}).names())
	var p mcp.FullPrompt
	good.tool("update_prompt", object{"id": "private", "visibility": "public"}).gives(&p)
	require.Equal(t, "public", p.Visibility, "who signed in himself may publish")

	metadata := `resource_metadata="` + w.url + `/.well-known/oauth-protected-resource/mcp"`
	for name, c := range map[string]caller{
		"nobody": w.as(""), "another audience": token("api://other", later),
		"expired":              token("api://prompts", w.now.Add(-time.Hour)),
		"a development header": w.as("ann"), "a cookie": w.as("", "Cookie", "prompthub-session=x"),
		"a broken token": w.as("", "Authorization", "Bearer x.y.z"),
	} {
		a := c.call("prompts/list", object{})
		require.Equal(t, http.StatusUnauthorized, a.status, name)
		require.Contains(t, a.header.Get("WWW-Authenticate"), metadata, name)
	}
}
