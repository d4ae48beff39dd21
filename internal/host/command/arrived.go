package command

import (
	"encoding/json"
	"net/http"
	"net/netip"
	neturl "net/url"

	"prompthub/internal/host/function"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/loopback"
)

const (
	// askArrived is the header by which the doctor asks the route of health about the request itself.
	askArrived = "X-Doctor"
	// notMine is an address for documents, which no machine has.
	notMine = "192.0.2.1"
)

// An arrived tells a caller of its request as it came: its own address, and the host.
type arrived struct {
	Host    string `json:"hostVersion"`
	Mode    string `json:"mode"`    // proxies or forwards
	Address string `json:"address"` // of the caller, as limits count it
	From    string `json:"from"`    // the header that had it
}

// tellArrived answers the doctor, in front of the doors of an application that the host runs.
func (s Service) tellArrived(onPlatform bool, clients httpjson.Proxies, doors http.Handler) http.Handler {
	tell := clients.Clients(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := arrived{Host: r.Header.Get("X-Azure-Functions-Hostversion"), Mode: "forwards", From: "X-Forwarded-For"}
		if function.Proxied(r) {
			a.Mode = "proxies"
			if onPlatform && len(r.Header.Values("Client-Ip")) == 1 {
				a.From = "Client-IP"
			}
		}
		a.Address, _ = httpjson.AddressClass(r)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(a) // a client that is gone needs no answer
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == s.Health && r.Method == http.MethodGet && r.Header.Get(askArrived) != "" {
			tell.ServeHTTP(w, r)
			return
		}
		doors.ServeHTTP(w, r)
	})
}

// address tells whether limits can count by the address of a caller. The other request claimed to
// come from notMine.
func (a arrived) address(claimed arrived, url string) Fact {
	f := Fact{Name: "Address of a caller", Value: a.Address + ", from " + a.From}
	address, err := netip.ParseAddr(a.Address)
	at, urlErr := neturl.Parse(url)
	here := urlErr == nil && loopback.IsHost(at.Hostname())
	switch {
	case claimed.Address == notMine:
		f.Value += ", and that which a caller claims is believed"
		f.Alert = "Let nobody reach the function app but by Front Door (FRONT_DOOR_ID) or from networks of yours (ALLOWED_IP_RANGES): anybody can choose an address, so the limits on addresses hold nobody."
	case !here && err == nil && (address.IsLoopback() || address.IsLinkLocalUnicast()):
		f.Value += ", which is not of this machine but of the platform"
		f.Alert = "Raise LIMIT_READS and LIMIT_WRITES until it is mended: all anonymous callers are counted as one."
	}
	return f
}
