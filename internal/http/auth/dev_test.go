package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
)

func request(host string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func TestDevHosts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host string
		ok   bool
	}{
		{"localhost", true},
		{"localhost:7071", true},
		{"LocalHost:1", true},
		{"127.0.0.1", true},
		{"127.0.0.1:80", true},
		{"127.255.3.4:80", true},
		{"[::1]", true},
		{"[::1]:7071", true},
		{"", false},
		{"example.com", false},
		{"localhost.example.com", false},
		{"localhost.", false},
		{"127.0.0.1.example.com", false},
		{"128.0.0.1", false},
		{"10.0.0.1:7071", false},
		{"0.0.0.0:7071", false},
		{"[::2]:80", false},
		{"[::1%25eth0]:80", false},
		{"127.1", false},
		{"localhost@example.com", false},
	}
	for _, tt := range tests {
		t.Run(tt.host, func(t *testing.T) {
			t.Parallel()
			u, err := auth.Dev()(request(tt.host, "X-Dev-User", "ann"))
			require.Equal(t, tt.ok, err == nil)
			if !tt.ok {
				require.Equal(t, fault.Unauthenticated, fault.Of(err))
				require.False(t, u.Known())
			}
		})
	}
}

func TestDevNobody(t *testing.T) {
	t.Parallel()
	u, err := auth.Dev()(request("localhost", "X-Dev-Roles", "admin"))
	require.NoError(t, err)
	require.Equal(t, auth.User{}, u)
	_, err = auth.Dev()(request("example.com"))
	require.Equal(t, fault.Unauthenticated, fault.Of(err), "nobody is told apart on a foreign name")
}

func TestDevUsers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header []string
		want   auth.User // zero: refused
	}{
		{"plain", []string{"X-Dev-User", "ann"}, auth.User{ID: "ann", Name: "ann"}},
		{"trimmed", []string{"X-Dev-User", "  Ann B  "}, auth.User{ID: "Ann B", Name: "Ann B"}},
		{"UTF-8", []string{"X-Dev-User", "Zoë 李"}, auth.User{ID: "Zoë 李", Name: "Zoë 李"}},
		{
			"100 characters",
			[]string{"X-Dev-User", strings.Repeat("é", 100)},
			auth.User{ID: strings.Repeat("é", 100), Name: strings.Repeat("é", 100)},
		},
		{
			"roles",
			[]string{"X-Dev-User", "ann", "X-Dev-Roles", "admin, editor,,"},
			auth.User{ID: "ann", Name: "ann", Roles: []string{"admin", "editor"}},
		},
		{"101 characters", []string{"X-Dev-User", strings.Repeat("é", 101)}, auth.User{}},
		{"102 code units", []string{"X-Dev-User", strings.Repeat("🚀", 51)}, auth.User{}},
		{"Latin-1", []string{"X-Dev-User", "Zo\xeb"}, auth.User{}},
		{"empty", []string{"X-Dev-User", " "}, auth.User{}},
		{"control character", []string{"X-Dev-User", "a\u0085b"}, auth.User{}},
		{"separator of lines", []string{"X-Dev-User", "a\u2028b"}, auth.User{}},
		{"noncharacter", []string{"X-Dev-User", "a\uffffb"}, auth.User{}},
		{"broken once before", []string{"X-Dev-User", "a\ufffdb"}, auth.User{}},
		{"two", []string{"X-Dev-User", "ann", "X-Dev-User", "bob"}, auth.User{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u, err := auth.Dev()(request("localhost:7071", tt.header...))
			require.Equal(t, tt.want, u)
			if !tt.want.Known() {
				require.Equal(t, fault.Unauthenticated, fault.Of(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, len(tt.want.Roles) > 0, u.Admin())
		})
	}
}

// TestDevFromElsewhere holds that another machine cannot say who it is, though a host that listens
// on all interfaces forwards what it sends.
func TestDevFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		known       bool
	}{
		{"X-Forwarded-For", "127.0.0.1", true},
		{"X-Forwarded-For", "[::1]:5123, 127.0.0.1:80", true},
		{"X-Forwarded-For", "192.168.1.7", false},
		{"X-Forwarded-For", "127.0.0.1, 192.168.1.7:4711", false},
		{"X-Forwarded-For", "192.168.1.7, 127.0.0.1", false},
		{"X-Forwarded-Host", "localhost:7071", true},
		{"X-Forwarded-Host", "laptop.lan:7071", false},
		{"Forwarded", "for=192.168.1.7", false},
		{"X-Forwarded-Proto", "http", true}, // of the Functions host itself
		{"X-Forwarded-Port", "443", false},
		{"X-Forwarded-Ssl", "on", false},
		{"X-Original-Host", "laptop.lan", false},
		{"X-Original-For", "192.168.1.7", false},
		{"Client-IP", "192.168.1.7:4711", false},
		{"Client-IP", "127.0.0.1:4711", true},
		{"X-Real-IP", "192.168.1.7", false},
		{"X-Azure-ClientIP", "192.168.1.7", false},
		{"X-Azure-ClientIP", "::1", true},
		{"X-Azure-SocketIP", "192.168.1.7", false},
		{"True-Client-IP", "192.168.1.7", false},
		{"X-Cluster-Client-IP", "192.168.1.7", false},
		{"CF-Connecting-IP", "192.168.1.7", false},
		{"Fly-Client-IP", "192.168.1.7", false},
		{"X-Envoy-External-Address", "192.168.1.7", false},
		{"Remote-Addr", "192.168.1.7", false},
		{"Via", "1.1 proxy", false},
		{"X-Azure-Ref", "0abc", false},
		{"X-Arr-Log-Id", "0abc", false},
		{"CDN-Loop", "cdn.example", false},
		{"X-Amzn-Trace-Id", "Root=1", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:7071/", nil)
		r.Header.Set(auth.DevUserHeader, "ann")
		r.Header.Set(tt.name, tt.value)
		u, err := auth.Dev()(r)
		require.Equal(t, tt.known, err == nil && u.Known(), "%s: %s", tt.name, tt.value)
	}
}
