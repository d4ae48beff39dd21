package e2e

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth/authtest"
	"prompthub/internal/testing/browsertest"
)

// The texts by which people know what to do.
const (
	askedToSignIn = "Sign in to use this page."
	refusedSignIn = "This sign-in has ended or is not of this browser: sign in again."
)

// People sign in with a real provider, in a real browser.
func TestBrowserSignIn(t *testing.T) {
	t.Parallel()
	work(t)
	b := startBrowser(t)
	a := newLocal(t, "embedded")
	provider := authtest.Start(t, authtest.Options{
		Redirects: []string{a.url() + "/app/signin/callback"}, Logouts: []string{a.url() + "/app"},
		TokenSeconds: 1, // so that sessions are renewed while the test looks
	})
	a.vars = append(oidcSettings(provider.Issuer, a.url()), "OIDC_SCOPES=openid,profile,groups",
		"OIDC_ADMIN=groups="+authtest.AdminGroup, "PUBLIC_READ=true")
	a.start(t)
	for _, v := range []browsertest.Variant{variants[0], variants[3]} {
		t.Run(v.Name, func(t *testing.T) {
			provider.Set(authtest.State{})
			signedIn(b.visit(t, a.url(), v), provider)
			foreignNonce(b.visit(t, a.url(), v), a)
			expiredCode(b.visit(t, a.url(), v), a, provider)
		})
	}
}

// oidcSettings are what a service needs to sign people in with a provider. It takes as many
// requests as come: each is charged for its time, so a slow machine would have some refused.
func oidcSettings(issuer, public string) []string {
	return []string{
		"AUTH_MODE=oidc", "OIDC_ISSUER=" + issuer, "OIDC_CLIENT_ID=" + authtest.ClientID,
		"OIDC_CLIENT_SECRET=" + authtest.ClientSecret,
		"PUBLIC_URL=" + public, "SESSION_KEYS=" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
		"LIMIT_WRITES=-1", "LIMIT_READS=-1",
	}
}

// signedIn is the story of Ann.
func signedIn(p *tab, provider *authtest.Provider) {
	p.T.Helper()
	p.goTo("/app/mine").reads(askedToSignIn)
	p.throughProvider("ann").sees("location.pathname == '/app/mine'").reads("Ann")
	page := write(p, "Signed in "+p.V.Name)
	p.goTo(page).reads("Signed in " + p.V.Name)
	renewed(p)

	// What the provider says now counts with the next renewal.
	provider.Set(authtest.State{Admins: []string{"ann"}})
	p.awaits("/app", "document.querySelector('a[href=\"/app/admin\"]')")
	p.goTo("/app/admin/tags").sees("document.querySelector('main form')")

	// An answer of the provider to somebody else, or to no user.
	p.goTo("/app/signin/callback?state=of-another&code=x").reads(refusedSignIn)
	p.goTo(page).reads("Ann")

	// Signed out here, and then there.
	p.click(".menu summary").click(".menu form button").reads("You are signed out here.")
	p.goTo("/app/mine").reads(askedToSignIn)
	p.throughProvider("").reads("Ann") // a user who is signed in at the provider is not asked again
	p.click(".menu summary").click(".menu form button").reads("You are signed out here.")
	p.click("main a[href*='/session/end']").sees("location.origin == '" + provider.Issuer + "'").click(
		"button[name=logout]")
	p.sees("location.pathname == '/app'").reads("Sign in")
	if p.V.Script {
		p.write("#q", "signed").sees("document.querySelector('[data-back]').search === '?back=%2Fapp%3Fq%3Dsigned'")
	}

	// A user whom the provider removed is none here.
	p.goTo("/app/mine").throughProvider("ann").reads("Ann")
	provider.Set(authtest.State{Gone: []string{"ann"}})
	p.awaits("/app/mine", "document.querySelector('main a[href^=\"/app/signin/start\"]')")
	provider.Set(authtest.State{})
}

// renewed uses pages until the token that Ann signed in with has ended, and the next one too: she
// is never asked who she is, and what she had begun to write can be saved.
func renewed(p *tab) {
	p.T.Helper()
	other := p.another().goTo("/app/prompts/new").write("#title", "Begun before").write("#text", "Saved after.")
	for range 2 {
		before := p.session()
		require.NotEmpty(p.T, before)
		p.Until("the session is renewed", func() bool {
			p.goTo("/app/mine").reads("Ann").sees("!document.querySelector('main a[href^=\"/app/signin\"]')")
			return p.session() != before
		})
	}
	other.click("form#write .primary").reads("The prompt is saved.").reads("Ann")
}

// session returns what the browser keeps of a session, which is new with each renewal; "" without a
// session.
func (p *tab) session() string {
	p.T.Helper()
	kept, err := chromedp.Call(p.Context, network.GetCookies, network.GetCookiesParams{URLs: []string{p.Base}})
	require.NoError(p.T, err)
	for _, c := range kept.Cookies {
		if c.Name == "prompthub-session" {
			return c.Value
		}
	}
	return ""
}

// foreignNonce brings the browser a token that was made for another sign-in.
func foreignNonce(p *tab, a *local) {
	p.T.Helper()
	p.goTo("/app/mine").toProvider().sees("document.querySelector('[name=login]')")
	address := regexp.MustCompile(`nonce=[^&]+`).ReplaceAllString(p.asked("nonce="), "nonce=of-another-sign-in")
	p.visitAddress(address).answer("eve").reads(refusedSignIn)
	require.Contains(p.T, a.printed(p.T), "the token is of another sign-in")
	p.refused("Eve")
}

// expiredCode comes back from the provider with a code, and finds the service away until it is too
// old.
func expiredCode(p *tab, a *local, provider *authtest.Provider) {
	p.T.Helper()
	p.goTo("/app/mine").toProvider().sees("document.querySelector('[name=login]')")
	a.stop()
	p.answer("olga").sees("location.protocol === 'chrome-error:'")
	provider.Set(authtest.State{Ahead: 120})
	a.start(p.T)
	p.visitAddress(p.asked("/app/signin/callback?")).reads(refusedSignIn)
	require.Contains(p.T, a.printed(p.T), "invalid_grant")
	provider.Set(authtest.State{})
	p.refused("Olga")
}

// refused requires that no user was signed in, and follows the page.
func (p *tab) refused(name string) {
	p.T.Helper()
	p.reads(refusedSignIn)
	require.Empty(p.T, p.session())
	p.shot("refused sign-in").throughProvider("").sees("location.pathname === '/app'").reads(name)
}

// toProvider follows the link to sign in.
func (p *tab) toProvider() *tab {
	p.T.Helper()
	return p.click("main a[href^='/app/signin/start']")
}

// throughProvider signs in. Where a name is given the provider asks for one.
func (p *tab) throughProvider(name string) *tab {
	p.T.Helper()
	p.toProvider()
	if name != "" {
		p.answer(name)
	}
	return p.sees("location.pathname.startsWith('/app')")
}

// answer tells the provider a name, and consents where it asks.
func (p *tab) answer(name string) *tab {
	p.T.Helper()
	p.write("[name=login]", name).write("[name=password]", "any")
	provider := eval[string](p, "location.origin")
	p.click("[type=submit]").sees("location.origin !== '" + provider +
		"' || document.querySelector('form input[value=consent]')")
	if eval[string](p, "location.origin") == provider {
		p.click("[type=submit]").sees("location.origin !== '" + provider + "'")
	}
	return p
}

// asked returns the last address that a tab asked for of which something is a part.
func (p *tab) asked(part string) string {
	p.T.Helper()
	p.Lock()
	defer p.Unlock()
	for _, address := range slices.Backward(p.Requests) {
		if strings.Contains(address, part) {
			return address
		}
	}
	require.Fail(p.T, "nothing was asked for", part)
	return ""
}

// awaits opens a page until an expression is true on it.
func (p *tab) awaits(path, expression string) {
	p.T.Helper()
	p.Until(expression, func() bool { return eval[bool](p.goTo(path), "!!("+expression+")") })
}
