package function

import (
	"net/http"
	"strings"
)

// outside are the header names, or their beginnings, that front ends and proxies put on requests of
// clients, and those that browsers put on requests of pages, which find the way here where the host
// and a browser share a machine. The host's own invocations never carry one.
var outside = []string{"forwarded", "x-forwarded", "x-arr-", "x-ms-", "x-original-", "origin", "sec-fetch-", "cookie"}

// fromHost reports whether r is an invocation by the host and not a request that it forwards.
// What it forwards keeps the client's Host, and came through a front end that marked it. A host
// without a front end marks nothing, and a client may guess addr: but the host forwards every body
// with its length, and cannot forward one in chunks, while it sends its own invocations in chunks.
// User agent and invocation id prove nothing: a client can send both.
func fromHost(r *http.Request, addr string) bool {
	if r.ContentLength >= 0 {
		return false
	}
	if r.Method != http.MethodPost || r.Host != addr || r.URL.RawQuery != "" || r.URL.ForceQuery {
		return false
	}
	for name := range r.Header {
		name = strings.ToLower(name)
		for _, mark := range outside {
			if strings.HasPrefix(name, mark) {
				return false
			}
		}
	}
	return true
}
