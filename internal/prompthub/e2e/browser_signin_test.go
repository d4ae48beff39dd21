package e2e

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth/authtest"
)

// People sign in with a real provider, in a real browser.
func TestBrowserSignIn(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	a := newLocal(t, "embedded")
	provider := authtest.Start(t, authtest.Options{
		Redirects: []string{a.url() + "/app/signin/callback"}, Logouts: []string{a.url() + "/app"},
		TokenSeconds: 1, // so that sessions are renewed while the test looks
	})
	a.vars = []string{
		"AUTH_MODE=oidc", "OIDC_ISSUER=" + provider.Issuer, "OIDC_CLIENT_ID=" + authtest.ClientID, "OIDC_CLIENT_SECRET=" + authtest.ClientSecret,
		"OIDC_SCOPES=openid,profile,groups", "OIDC_ADMIN=groups=" + authtest.AdminGroup, "PUBLIC_URL=" + a.url(),
		"SESSION_KEYS=" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}
	a.start(t)
	for _, v := range []variant{variants[0], variants[3]} {
		t.Run(v.name, func(t *testing.T) {
			provider.Set(authtest.State{})
			signedIn(b.visit(t, a.url(), v), provider)
		})
	}
}

// signedIn is the story of Ann.
func signedIn(p *tab, provider *authtest.Provider) {
	p.t.Helper()
	p.goTo("/app/mine").reads("Sign in to use this page.")
	p.throughProvider("ann").sees("location.pathname == '/app/mine'").reads("Ann")
	page := write(p, "Signed in "+p.v.name)
	p.goTo(page).reads("Signed in " + p.v.name)

	// What the provider says now counts with the next renewal.
	provider.Set(authtest.State{Admins: []string{"ann"}})
	p.awaits("/app", "document.querySelector('a[href=\"/app/admin/tags\"]')")
	p.goTo("/app/admin/tags").sees("document.querySelector('main form')")

	// An answer of the provider to somebody else, or to nobody.
	p.goTo("/app/signin/callback?state=of-another&code=x").reads("This sign-in has ended or is not of this browser")
	p.goTo(page).reads("Ann")

	// Signed out here, and then there.
	p.click(".who form button").reads("You are signed out here.")
	p.goTo("/app/mine").reads("Sign in to use this page.")
	p.throughProvider("").reads("Ann") // who is signed in at the provider is not asked again
	p.click(".who form button").reads("You are signed out here.")
	p.click("main a[href*='/session/end']").sees("location.origin == '" + provider.Issuer + "'").click("button[name=logout]")
	p.sees("location.pathname == '/app'").reads("Sign in")

	// Who is no user of the provider any more is none here.
	p.goTo("/app/mine").throughProvider("ann").reads("Ann")
	provider.Set(authtest.State{Gone: []string{"ann"}})
	p.awaits("/app/mine", "document.querySelector('main a[href^=\"/app/signin/start\"]')")
}

// throughProvider follows the link to sign in. Where a name is given the provider asks for one, and
// for consent.
func (p *tab) throughProvider(name string) *tab {
	p.t.Helper()
	p.click("main a[href^='/app/signin/start']")
	if name != "" {
		p.write("[name=login]", name).write("[name=password]", "any").click("[type=submit]")
		p.sees("location.pathname.startsWith('/app') || document.querySelector('form input[value=consent]')")
		if !eval[bool](p, "location.pathname.startsWith('/app')") {
			p.click("[type=submit]")
		}
	}
	return p.sees("location.pathname.startsWith('/app')")
}

// awaits opens a page until an expression is true on it.
func (p *tab) awaits(path, expression string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		return eval[bool](p.goTo(path), "!!("+expression+")")
	}, patience, 100*time.Millisecond, expression)
}
