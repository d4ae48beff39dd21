// Package cookie keeps the tokens of a session and of a device, and a language, in a browser.
package cookie

import (
	"net/http"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/pages"
)

// The cookies: the tokens of a session, and the token of a device that has signed a member in,
// which stays when the session ends. And the language that the reader has chosen.
const (
	cookies  = pages.Cookies("harmony")
	session  = "session"
	device   = "device"
	language = "language"
)

// Read returns the tokens of a request, "" if it has none.
func Read(r *http.Request) (access, refresh string) {
	access, refresh, _ = strings.Cut(cookies.Read(r, session), ".")
	return access, refresh
}

// Device returns the token of the device, "" if it has none.
func Device(r *http.Request) string { return cookies.Read(r, device) }

// Keep has the browser send tokens from now on.
func Keep(w http.ResponseWriter, r *http.Request, t meet.Tokens) {
	cookies.Keep(w, r, session, t.Access+"."+t.Refresh, account.RefreshFor)
}

// KeepDevice has the browser send the token of the device from now on.
func KeepDevice(w http.ResponseWriter, r *http.Request, token string) {
	cookies.Keep(w, r, device, token, account.DeviceFor)
}

// Forget has it send the tokens of no session.
func Forget(w http.ResponseWriter, r *http.Request) { cookies.Forget(w, r, session) }

// Language returns the language that the reader has chosen, "" if they have not.
func Language(r *http.Request) string { return cookies.Read(r, language) }

// Speak has the browser send a language from now on.
func Speak(w http.ResponseWriter, r *http.Request, lang string) {
	cookies.Keep(w, r, language, lang, 365*24*time.Hour)
}
