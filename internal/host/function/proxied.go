package function

import (
	"net/http"
	neturl "net/url"
	"strings"
)

// Proxied reports whether the host sent a request in its proxying mode, which streams bodies and
// answers. Such a request has the id of its invocation twice. No client can make that: a host that
// forwards joins its own id to the one that a client sent, and a host that proxies replaces both.
func Proxied(r *http.Request) bool {
	id := r.Header.Get("X-Ms-Invocation-Id")
	return id != "" && id == r.Header.Get("X-Azure-Functions-Invocationid") && r.Header.Get("X-Forwarded-Host") != ""
}

// Bare reports whether a request is a change without a body, which the host sends again if it gets
// no answer.
func Bare(r *http.Request) bool {
	return r.ContentLength == 0 && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// AsSent gives a request that came by the proxying mode what the client sent, as the forwarding
// mode leaves it: the Host, slashes that were escaped in the path, and the address of the client.
// Every other request stays as it is.
//
// In that mode the host sends a request without a body again, to a handler that was started anew
// too, and always with the same id of the invocation: it becomes the Idempotency-Key of a change
// that has none.
//
// In that mode X-Forwarded-For is the peer of the host. On the platform, which is where onPlatform
// is true, this is the front end, the same for all clients. The front end writes the address of its
// own peer into Client-IP, over what a client sent there.
func AsSent(onPlatform bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Proxied(r) {
			r = asSent(onPlatform, r)
		}
		next.ServeHTTP(w, r)
	})
}

func asSent(onPlatform bool, r *http.Request) *http.Request {
	sent, url := r.WithContext(r.Context()), *r.URL
	sent.Header, sent.URL = r.Header.Clone(), &url
	sent.Host = r.Header.Get("X-Forwarded-Host")
	if Bare(r) && r.Header.Get("Idempotency-Key") == "" {
		sent.Header.Set("Idempotency-Key", r.Header.Get("X-Ms-Invocation-Id"))
	}
	if client := r.Header.Values("Client-Ip"); onPlatform && len(client) == 1 {
		sent.Header.Set("X-Forwarded-For", client[0])
	}
	raw := slashes.Replace(url.EscapedPath())
	if path, err := neturl.PathUnescape(raw); err == nil {
		url.Path, url.RawPath = path, raw
	}
	return sent
}

// slashes takes one of the two escapes away that a slash in a path has. A client that escapes a
// slash twice by itself cannot be told from one that does it once.
var slashes = strings.NewReplacer("%252F", "%2F", "%252f", "%2f")
