// Package cookie keeps the tokens of a session and of a device in a browser.
package cookie

import (
	"net/http"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/httpjson"
)

// The cookies: the tokens of a session, and the token of a device that has signed a member in,
// which stays when the session ends.
const (
	session = "session"
	device  = "device"
)

// full is the name of a cookie. Over https the browser holds it to be ours alone.
func full(r *http.Request, name string) string {
	if httpjson.Encrypted(r) {
		return "__Host-harmony-" + name
	}
	return "harmony-" + name
}

func read(r *http.Request, name string) string {
	c, err := r.Cookie(full(r, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// Read returns the tokens of a request, "" if it has none.
func Read(r *http.Request) (access, refresh string) {
	access, refresh, _ = strings.Cut(read(r, session), ".")
	return access, refresh
}

// Device returns the token of the device, "" if it has none.
func Device(r *http.Request) string { return read(r, device) }

// Keep has the browser send tokens from now on.
func Keep(w http.ResponseWriter, r *http.Request, t meet.Tokens) {
	set(w, r, session, t.Access+"."+t.Refresh, account.RefreshFor)
}

// KeepDevice has the browser send the token of the device from now on.
func KeepDevice(w http.ResponseWriter, r *http.Request, token string) {
	set(w, r, device, token, account.DeviceFor)
}

// Forget has it send the tokens of no session.
func Forget(w http.ResponseWriter, r *http.Request) { set(w, r, session, "", -time.Second) }

func set(w http.ResponseWriter, r *http.Request, name, value string, keep time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where it can be
		Name: full(r, name), Value: value, Path: "/", MaxAge: int(keep.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpjson.Encrypted(r),
	})
}
