// Package cookie keeps the tokens of a session in a browser.
package cookie

import (
	"net/http"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/httpjson"
)

// name is that of the cookie. Over https the browser holds its name to be ours alone.
func name(r *http.Request) string {
	if httpjson.Encrypted(r) {
		return "__Host-harmony-session"
	}
	return "harmony-session"
}

// Read returns the tokens of a request, "" if it has none.
func Read(r *http.Request) (access, refresh string) {
	c, err := r.Cookie(name(r))
	if err != nil {
		return "", ""
	}
	access, refresh, _ = strings.Cut(c.Value, ".")
	return access, refresh
}

// Keep has the browser send tokens from now on.
func Keep(w http.ResponseWriter, r *http.Request, t meet.Tokens) {
	set(w, r, t.Access+"."+t.Refresh, int(account.RefreshFor.Seconds()))
}

// Forget has it send none.
func Forget(w http.ResponseWriter, r *http.Request) { set(w, r, "", -1) }

func set(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where it can be
		Name: name(r), Value: value, Path: "/", MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpjson.Encrypted(r),
	})
}
