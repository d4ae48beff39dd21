package auth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"prompthub/internal/fault"
)

// The headers of Dev.
const (
	DevUserHeader  = "X-Dev-User"
	DevRolesHeader = "X-Dev-Roles"
)

const maxDevName = 100 // UTF-16 code units

// Dev believes who a request says it is from: the user in X-Dev-User, in UTF-8, with the roles in
// X-Dev-Roles, separated by commas. It is for a developer's own machine, so it refuses every
// request that was not sent to a loopback name: a page on a foreign site that has its name resolved
// to this machine cannot use it. Nor can another machine: Core Tools listen on all interfaces, and
// say for whom they forward.
func Dev() Identify {
	return func(r *http.Request) (User, error) {
		if !loopback(r.Host) || !fromHere(r) {
			return User{}, fault.New(fault.Unauthenticated, "development sign-in works only on localhost, 127.0.0.1 and [::1]")
		}
		names := r.Header.Values(DevUserHeader)
		if len(names) == 0 {
			return User{}, nil
		}
		name := strings.TrimSpace(names[0])
		if len(names) > 1 || !devName(name) {
			return User{}, fault.New(fault.Unauthenticated, DevUserHeader+" must be one name of 1 to 100 characters, in UTF-8 and without control characters or separators of lines")
		}
		return User{ID: name, Name: name, Roles: devRoles(r.Header.Values(DevRolesHeader))}, nil
	}
}

// fromHere reports whether a request was sent from this machine, as far as the programs that passed
// it on say so. The Functions host in its proxying mode drops Forwarded and replaces
// X-Forwarded-For and -Host, so other headers that proxies add count too.
func fromHere(r *http.Request) bool {
	for _, mark := range []string{"Forwarded", "Via", "X-Forwarded-Port", "X-Forwarded-Server", "X-Arr-Log-Id", "X-Azure-Fdid", "Cf-Ray"} {
		if len(r.Header.Values(mark)) > 0 {
			return false
		}
	}
	for _, forwarded := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "X-Client-Ip", "Client-Ip", "X-Original-Host", "X-Original-For"} {
		for _, list := range r.Header.Values(forwarded) {
			for host := range strings.SplitSeq(list, ",") {
				if !loopback(strings.TrimSpace(host)) {
					return false
				}
			}
		}
	}
	return true
}

func devName(s string) bool {
	return s != "" && utf8.ValidString(s) && len(utf16.Encode([]rune(s))) <= maxDevName && !strings.ContainsFunc(s, unnameable)
}

// unnameable reports characters that no name has: controls, ends of lines and paragraphs, and the
// replacement for a broken one.
func unnameable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point) || r == utf8.RuneError
}

func devRoles(values []string) []string {
	var roles []string
	for role := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if role = strings.TrimSpace(role); role != "" {
			roles = append(roles, role)
		}
	}
	return roles
}

// loopback reports whether a Host header names this machine to itself.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() && ip.Zone() == ""
}
