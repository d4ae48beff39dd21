package httpjson

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Origins are the origins, as browsers spell them, whose pages may use an API from elsewhere.
type Origins []string

// Decode reads origins separated by commas. Each must be exact: a scheme, a host and perhaps a
// port.
func (o *Origins) Decode(value string) error {
	*o = nil
	for s := range strings.SplitSeq(value, ",") {
		s = strings.TrimSpace(s)
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
			s != u.Scheme+"://"+strings.ToLower(u.Host) || strings.Contains(u.Host, "*") {
			return fmt.Errorf("origin %q: want one like https://app.example.com, without a path", s)
		}
		*o = append(*o, s)
	}
	return nil
}

const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsHeaders = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, traceparent, X-Api-Key, X-Dev-Groups, X-Dev-Roles, X-Dev-User, X-Langfuse-Public-Key, X-Langfuse-Sdk-Name, X-Langfuse-Sdk-Version"
	corsExposed = "ETag, Link, Location, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Request-Id"
	corsMaxAge  = "600" // seconds
)

// platform begins the names of the headers in which a platform says who has signed in, by a cookie.
const platform = "X-Ms-Client-Principal"

// CORS lets pages of these origins use an API, with what they send themselves and without the
// user's cookies: where they send no Authorization, neither cookies count nor what a platform made
// of them. Of all other origins it refuses what a browser would send with cookies and without
// asking first: a form or a simple request that changes something.
func CORS(origins Origins, next http.Handler) http.Handler {
	foreign := http.NewCrossOriginProtection()
	for _, o := range origins {
		if err := foreign.AddTrustedOrigin(o); err != nil {
			panic("httpjson: " + err.Error()) // Decode lets no such origin pass
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, origin := w.Header(), r.Header.Get("Origin")
		if len(origins) > 0 {
			h.Add("Vary", "Origin")
		}
		if origin != "" && slices.Contains(origins, origin) {
			h.Set("Access-Control-Allow-Origin", origin)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", corsMethods)
				h.Set("Access-Control-Allow-Headers", corsHeaders)
				h.Set("Access-Control-Max-Age", corsMaxAge)
				w.WriteHeader(http.StatusNoContent)
				return
			}
			h.Set("Access-Control-Expose-Headers", corsExposed)
			if r.Header.Get("Authorization") == "" && !own(r) {
				r = withoutCookies(r)
			}
		}
		if foreign.Check(r) != nil {
			Refuse(w, r, NewProblem(r.Context(), http.StatusForbidden,
				"a page of another site may not change anything here"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// own reports whether a request with an origin comes from a page of ours.
func own(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "none"
	}
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Host == r.Host
}

// withoutCookies returns a request as it would be without what a browser sends by itself.
func withoutCookies(r *http.Request) *http.Request {
	r = r.WithContext(r.Context()) // a copy: the caller's request stays as it is
	r.Header = r.Header.Clone()
	for name := range r.Header {
		if name == "Cookie" || strings.HasPrefix(name, platform) {
			delete(r.Header, name)
		}
	}
	return r
}
