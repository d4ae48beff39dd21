package auth

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
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
	// DevGroupsHeader names groups of the directory, as DevRolesHeader names roles.
	DevGroupsHeader = "X-Dev-Groups"
)

const maxDevName = 100 // UTF-16 code units

// Dev believes who a request says it is from: the user in X-Dev-User, in UTF-8, with the roles in
// X-Dev-Roles and the groups in X-Dev-Groups, separated by commas. It is for a developer's own
// machine, so it refuses every request that was not sent to a loopback name: a page on a foreign
// site that has its name resolved to this machine cannot use it. Nor can another machine: Core
// Tools listen on all interfaces, and say for whom they forward.
func Dev() Identify {
	return func(r *http.Request) (User, error) {
		if !FromHere(r) {
			return User{}, fault.New(fault.Unauthenticated,
				"development sign-in works only on localhost, 127.0.0.1 and [::1]")
		}
		names := r.Header.Values(DevUserHeader)
		if len(names) == 0 {
			return User{}, nil
		}
		name := strings.TrimSpace(names[0])
		if len(names) > 1 || !devName(name) {
			return User{}, fault.New(fault.Unauthenticated, DevUserHeader+" must be one name of 1 to 100 characters, in UTF-8 and without control characters or separators of lines")
		}
		return User{
			ID: name, Name: name, Roles: devNames(r.Header.Values(DevRolesHeader)),
			Groups: GroupsOf(devNames(r.Header.Values(DevGroupsHeader))),
		}, nil
	}
}

// passedOn are headers that only a program which passes requests on adds.
var passedOn = []string{
	"Forwarded", "Via", "Cdn-Loop", "X-Arr-Log-Id", "X-Azure-Fdid", "X-Azure-Ref", "Cf-Ray",
	"X-Amz-Cf-Id", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context",
}

// FromHere reports whether a request was sent from this machine to one of its own names, as far as
// the programs that passed it on say so: a page of a foreign site that has its name resolved to
// this machine is elsewhere. The Functions host in its proxying mode drops Forwarded and replaces
// X-Forwarded-For, -Host and -Proto, so all other headers that proxies add count too.
func FromHere(r *http.Request) bool {
	if !loopback(r.Host) {
		return false
	}
	for name, values := range r.Header {
		if namesClient(name) {
			for host := range strings.SplitSeq(strings.Join(values, ","), ",") {
				if !loopback(strings.TrimSpace(host)) {
					return false
				}
			}
		} else if slices.Contains(passedOn, name) ||
			strings.HasPrefix(name, "X-Forwarded-") && name != "X-Forwarded-Proto" {
			return false
		}
	}
	return true
}

// namesClient reports whether a header says where a request came from or was sent to, as
// X-Forwarded-For, X-Real-Ip, True-Client-Ip and X-Azure-ClientIP do.
func namesClient(name string) bool {
	switch name {
	case "X-Forwarded-For", "X-Forwarded-Host", "X-Original-For", "X-Original-Host":
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"-ip", "clientip", "socketip", "-address", "-addr"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
}

func devName(s string) bool {
	return s != "" && utf8.ValidString(s) && len(utf16.Encode([]rune(s))) <= maxDevName &&
		!strings.ContainsFunc(s, unnameable)
}

// unnameable reports characters that no name has: controls, ends of lines and paragraphs, and the
// replacement for a broken one.
func unnameable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point) || r == utf8.RuneError
}

// devNames returns the names in a header, separated by commas.
func devNames(values []string) []string {
	var names []string
	for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
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
