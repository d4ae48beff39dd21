package httpjson

import (
	"net/http"
	"net/netip"
	"strings"
)

// A client that has one IPv6 address has all of its /64, and many get a /48.
const (
	ipv6Site    = 64
	ipv6Network = 48
)

// AddressClass names where a request comes from, for callers about whom nothing else is known: an
// IPv4 address, or the /64 around an IPv6 address, and then the /48 around it too.
//
// Requests that the Functions host forwards come from this machine. The platform's front end has
// added the client's address at the end of X-Forwarded-For; the addresses before it are the
// client's own claim. Other requests are from the peer of the connection.
func AddressClass(r *http.Request) (site, network string) {
	peer, _ := clientAddress(r)
	if peer.Is6() {
		peer = peer.WithZone("")
		if p, err := peer.Prefix(ipv6Network); err == nil {
			network = p.String()
		}
		if p, err := peer.Prefix(ipv6Site); err == nil {
			return p.String(), network
		}
	}
	return peer.String(), ""
}

// clientAddress returns the address that a request comes from, and whether that is this machine.
func clientAddress(r *http.Request) (peer netip.Addr, local bool) {
	peer = address(r.RemoteAddr)
	if !peer.IsLoopback() {
		return peer, false
	}
	all := r.Header.Values("X-Forwarded-For")
	if len(all) == 0 {
		return peer, true
	}
	last := all[len(all)-1]
	if a := address(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])); a.IsValid() {
		return a, false
	}
	return peer, false
}

// address reads an address with or without port; it is not valid where s holds none.
func address(s string) netip.Addr {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a.Addr().Unmap()
	}
	a, _ := netip.ParseAddr(strings.Trim(s, "[]")) // the zero address is the answer to an error
	return a.Unmap()
}

// A Caller is the sender of a request, as the limits know it: a user, or the address of one that is
// not signed in.
type Caller struct {
	name    string
	network string // around the address, "" of users and of IPv4
	known   bool   // is signed in
}

// CallerOf returns the caller of a request; user is the id of the user who is signed in, or "". It
// must be known to be theirs: what a token says of itself anybody can write. Requests to sign in or
// up, for a code, and to renew or restore a session have no user, whatever else they bring.
func CallerOf(r *http.Request, user string) Caller {
	if user != "" {
		return Caller{name: "user " + user, known: true}
	}
	return atAddress(r, "address ")
}

// atAddress returns the address of a request as the caller of one kind of requests.
func atAddress(r *http.Request, kind string) Caller {
	site, network := AddressClass(r)
	if network != "" {
		network = kind + network
	}
	return Caller{name: kind + site, network: network}
}

// perNetwork is how many times as much as one address a network of IPv6 may have.
const perNetwork = 2

// names returns the names under which a caller is counted, with how many times as much as one
// caller may have all may have that share it: the wider name first.
func (c Caller) names() []counted {
	if c.network == "" {
		return []counted{{c.name, 1}}
	}
	return []counted{{c.network, perNetwork}, {c.name, 1}}
}

type counted struct {
	name  string
	times int
}
