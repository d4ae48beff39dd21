package httpjson

import (
	"net/http"
	"net/netip"
	"strings"
)

// ipv6Site is how much of an IPv6 address stands for one client: who has one address has all of its
// /64.
const ipv6Site = 64

// AddressClass names where a request comes from, for callers of whom nothing else is known: an IPv4
// address, or the /64 around an IPv6 address.
//
// Requests that the Functions host forwards come from this machine. The platform's front end has
// added the client's address at the end of X-Forwarded-For; what stands before it is the client's
// own claim. Other requests are from who is connected.
func AddressClass(r *http.Request) string {
	peer := address(r.RemoteAddr)
	if peer.IsLoopback() {
		if all := r.Header.Values("X-Forwarded-For"); len(all) > 0 {
			last := all[len(all)-1]
			if a := address(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); a.IsValid() {
				peer = a
			}
		}
	}
	if peer.Is6() {
		if site, err := peer.WithZone("").Prefix(ipv6Site); err == nil {
			return site.String()
		}
	}
	return peer.String()
}

// address reads an address with or without port; it is not valid where s holds none.
func address(s string) netip.Addr {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(strings.Trim(s, "[]")) // the zero address is the answer to an error
	return a.Unmap()
}
