package httpjson_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
)

// Who the client is decides whose share of the limits a request takes.
func TestProxies(t *testing.T) {
	t.Parallel()
	const xff, fdid, ip = "X-Forwarded-For", "X-Azure-FDID", "X-Azure-ClientIP"
	door := httpjson.Proxies{FrontDoor: "4a1b-ID"}
	var near httpjson.Proxies
	require.NoError(t, near.Trusted.Decode("10.0.0.0/8, fd00::/8,192.0.2.7"))
	tests := []struct {
		name    string
		proxies httpjson.Proxies
		peer    string
		header  []string
		want    string
	}{
		{
			"through Front Door", door, "127.0.0.1:1",
			[]string{fdid, "4a1b-id", ip, "203.0.113.9", xff, "203.0.113.9, 147.243.0.1"},
			"203.0.113.9",
		},
		{
			"through Front Door by IPv6", door, "127.0.0.1:1",
			[]string{fdid, "4a1b-ID", ip, "2001:db8:1:2::3", xff, "147.243.0.1"},
			"2001:db8:1:2::/64",
		},
		{
			"through another Front Door", door, "127.0.0.1:1",
			[]string{fdid, "other", ip, "203.0.113.9", xff, "147.243.0.1"},
			"147.243.0.1",
		},
		{"no Front Door", door, "127.0.0.1:1", []string{ip, "203.0.113.9", xff, "198.51.100.1"}, "198.51.100.1"},
		{
			"an id twice", door, "127.0.0.1:1",
			[]string{fdid, "4a1b-ID", fdid, "4a1b-ID", ip, "203.0.113.9", xff, "198.51.100.1"},
			"198.51.100.1",
		},
		{"past the host", door, "198.51.100.1:5", []string{fdid, "4a1b-ID", ip, "203.0.113.9"}, "198.51.100.1"},
		{
			"no id is set",
			httpjson.Proxies{},
			"127.0.0.1:1",
			[]string{fdid, "", ip, "203.0.113.9", xff, "198.51.100.1"},
			"198.51.100.1",
		},
		{"a proxy elsewhere", near, "10.1.2.3:80", []string{xff, "198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		{
			"two proxies", near, "[fd00::1]:80",
			[]string{xff, "198.51.100.1", xff, "203.0.113.9, 10.9.9.9,192.0.2.7"},
			"203.0.113.9",
		},
		{"a proxy of nobody", near, "10.1.2.3:80", nil, "10.1.2.3"},
		{"nonsense before the proxy", near, "10.1.2.3:80", []string{xff, "203.0.113.9, x, 10.2.2.2"}, "10.2.2.2"},
		{"a stranger", near, "203.0.113.1:80", []string{xff, "198.51.100.1"}, "203.0.113.1"},
		{"a neighbour of the single address", near, "192.0.2.8:80", []string{xff, "198.51.100.1"}, "192.0.2.8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := get("/")
			r.RemoteAddr = tt.peer
			for i := 0; i < len(tt.header); i += 2 {
				r.Header.Add(tt.header[i], tt.header[i+1])
			}
			got := ""
			tt.proxies.Clients(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got, _ = httpjson.AddressClass(r)
			})).
				ServeHTTP(httptest.NewRecorder(), r)
			require.Equal(t, tt.want, got)
		})
	}
	require.ErrorContains(t, near.Trusted.Decode("10.0.0.0/33"), "want one like")
	require.Error(t, near.Trusted.Decode(""))
}

// TestTracesOfStrangers: what a client says of its trace is believed if a trusted proxy sent it.
func TestTracesOfStrangers(t *testing.T) {
	t.Parallel()
	const trace = "00-abababababababababababababababab-cdcdcdcdcdcdcdcd-01"
	var p httpjson.Proxies
	require.NoError(t, p.Trusted.Decode("10.0.0.0/8"))
	for peer, want := range map[string]string{"10.1.2.3:1": trace, "192.0.2.1:1": "", "127.0.0.1:1": ""} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = peer
		r.Header.Set("Traceparent", trace)
		r.Header.Set("Tracestate", "a=b")
		p.Traces(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			require.Equal(t, want, r.Header.Get("Traceparent"), peer)
			require.Equal(t, want != "", r.Header.Get("Tracestate") != "", peer)
		})).ServeHTTP(httptest.NewRecorder(), r)
		require.Equal(t, trace, r.Header.Get("Traceparent"), "the request of others stays as it is")
	}
}
