package httpjson

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are those of whom it is believed where a request comes from, besides what is on this
// machine.
type Proxies struct {
	// FrontDoor is the id of the Azure Front Door profile in front of this service. Of requests that
	// name it the client is the one in X-Azure-ClientIP; the last address in X-Forwarded-For is that
	// of an edge.
	FrontDoor string `envconfig:"FRONT_DOOR_ID"`

	// Trusted are the networks of reverse proxies that are not on this machine, such as 10.0.0.0/8,
	// separated by commas: of their X-Forwarded-For the last address that is not theirs is the client.
	Trusted Networks `envconfig:"TRUSTED_PROXIES"`
}

// Networks are ranges of addresses.
type Networks []netip.Prefix

// Decode reads ranges, or single addresses, separated by commas.
func (n *Networks) Decode(value string) error {
	*n = nil
	for s := range strings.SplitSeq(value, ",") {
		s = strings.TrimSpace(s)
		p, err := netip.ParsePrefix(s)
		if a, single := netip.ParseAddr(s); single == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("network %q: want one like 10.0.0.0/8", s)
		}
		*n = append(*n, p.Masked())
	}
	return nil
}

func (n Networks) contain(a netip.Addr) bool {
	return slices.ContainsFunc(n, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Clients gives requests the address of the client, as far as a proxy that is believed tells it.
func (p Proxies) Clients(next http.Handler) http.Handler {
	if p.FrontDoor == "" && len(p.Trusted) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a := p.client(r); a.IsValid() {
			from := *r
			from.RemoteAddr = a.String()
			r = &from
		}
		next.ServeHTTP(w, r)
	})
}

// Traces takes away what a request says of the trace that it belongs to, unless a trusted proxy
// sent it: a stranger must not choose the ids in the log, nor which requests are sampled. A proxy
// on this machine passes on what its clients send, so it must be named too. Under the Functions
// host, which makes traces of its own, this is not needed.
func (p Proxies) Traces(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.Trusted.contain(address(r.RemoteAddr)) {
			from := *r
			from.Header = r.Header.Clone()
			from.Header.Del("Traceparent")
			from.Header.Del("Tracestate")
			r = &from
		}
		next.ServeHTTP(w, r)
	})
}

// client returns the address of the client; it is not valid where nothing better is known than
// r.RemoteAddr.
func (p Proxies) client(r *http.Request) netip.Addr {
	peer := address(r.RemoteAddr)
	if !p.believed(peer) {
		return netip.Addr{}
	}
	if p.fromFrontDoor(r.Header) {
		return address(r.Header.Get("X-Azure-Clientip"))
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		a := address(strings.TrimSpace(hop))
		if !a.IsValid() {
			break // no proxy wrote the entries before it
		}
		if peer = a; !p.believed(a) {
			break
		}
	}
	return peer
}

func (p Proxies) believed(a netip.Addr) bool { return a.IsLoopback() || p.Trusted.contain(a) }

// fromFrontDoor reports whether a request came through our profile. Front Door replaces what a
// client sends under this name; a caller that bypasses it is kept out by the address rules, or else
// does not know the id.
func (p Proxies) fromFrontDoor(h http.Header) bool {
	ids := h.Values("X-Azure-Fdid")
	return p.FrontDoor != "" && len(ids) == 1 &&
		subtle.ConstantTimeCompare([]byte(strings.ToLower(ids[0])), []byte(strings.ToLower(p.FrontDoor))) == 1
}
