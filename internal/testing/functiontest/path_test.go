package functiontest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathMangling(t *testing.T) {
	t.Parallel()
	tests := []struct{ sent, received, forwarded string }{
		{"/api/prompts", "/api/prompts", "/api/prompts"},
		{"/", "/", "/"},
		{"/api/a/", "/api/a/", "/api/a/"},
		{"/api//a", "/api//a", "/api//a"},
		{"//api", "//api", "//api"},
		{"/api/a%20b", "/api/a b", "/api/a%20b"},
		{"/api/gr%C3%BC%C3%9F", "/api/grüß", "/api/gr%C3%BC%C3%9F"},
		{"/api/%F0%9F%98%80", "/api/😀", "/api/%F0%9F%98%80"},
		{"/api/%FF", "/api/%FF", "/api/%FF"},
		{"/api/a%2Fb", "/api/a%2Fb", "/api/a%2Fb"},
		{"/api/a%3Fb", "/api/a?b", "/api/a"},
		{"/api/a%23b", "/api/a#b", "/api/a"},
		{"/api/a%25", "/api/a%", "/api/a%25"},
		{"/api/a%2541", "/api/a%41", "/api/aA"},
		{"/api/a%255Cb", "/api/a%5Cb", "/api/a%5Cb"},
		{"/api/a%5Cb", `/api/a\b`, "/api/a/b"},
		{"/api/../job", "/job", "/job"},
		{"/api/%2e%2e/job", "/job", "/job"},
		{"/api/..%5Cjob", `/api/..\job`, "/job"},
		{"/api/%252e%252e/job", "/api/%2e%2e/job", "/job"},
		{"/api/..%2Fjob", "/api/..%2Fjob", "/api/..%2Fjob"},
		{"/../../job", "/job", "/job"},
		{"/api/x/..", "/api/", "/api/"},
		{"/api/./x/.", "/api/x/", "/api/x/"},
		{"/api/a+b;c=d,e", "/api/a+b;c=d,e", "/api/a+b;c=d,e"},
		{"/api/a%5Bb%5D", "/api/a[b]", "/api/a[b]"},
		{"/api/[b]", "/api/[b]", "/api/[b]"},
		{"/api/a%20", "/api/a ", "/api/a"},
		{"/api/a%20%09%0D%0A", "/api/a \t\r\n", "/api/a"},
		{"/api/..%0A", "/api/..\n", "/"},
		{"/api/%20", "/api/ ", "/api/"},
		{"/api/%25zz", "/api/%zz", "/api/%25zz"},
		{"/api/%22%3C%7C", `/api/"<|`, "/api/%22%3C%7C"},
	}
	for _, tt := range tests {
		t.Run(tt.sent, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.received, received(tt.sent))
			require.Equal(t, tt.forwarded, forwarded(tt.received))
		})
	}
}

func FuzzPath(f *testing.F) {
	f.Add("/api/%2e%2e%5C%")
	f.Fuzz(func(t *testing.T, path string) {
		got := forwarded(received(path))
		require.Equal(t, byte('/'), got[0])
		require.NotContains(t, got, "?")
		require.NotContains(t, got, "#")
		require.NotContains(t, got, `\`)
		require.NotContains(t, got+"/", "/../")
	})
}
