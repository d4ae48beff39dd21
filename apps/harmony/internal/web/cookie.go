package web

import (
	"net/http"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/httpjson"
)

// cookieName is that of the cookie with the tokens of a session. Over https the browser holds its
// name to be ours alone.
func cookieName(r *http.Request) string {
	if httpjson.Encrypted(r) {
		return "__Host-harmony-session"
	}
	return "harmony-session"
}

// tokens are those of a session, as the cookie has them.
type tokens struct{ access, refresh string }

// cookie reads the tokens of a request, and the claim that is in them.
func cookie(r *request) tokens {
	c, err := r.Cookie(cookieName(r.Request))
	if err != nil {
		return tokens{}
	}
	access, refresh, _ := strings.Cut(c.Value, ".")
	claim, err := meet.ParseAccess(access)
	if err != nil {
		forget(r) // it is no cookie of ours
		return tokens{}
	}
	r.claim = claim
	return tokens{access, refresh}
}

// remember keeps the tokens of a session in the browser.
func remember(r *request, t meet.Tokens) {
	set(r, t.Access+"."+t.Refresh, int(meet.RefreshFor.Seconds()))
}

// forget takes them away.
func forget(r *request) { set(r, "", -1) }

func set(r *request, value string, age int) {
	http.SetCookie(r.w, &http.Cookie{ //nolint:gosec // Secure where it can be
		Name: cookieName(r.Request), Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpjson.Encrypted(r.Request),
	})
}
