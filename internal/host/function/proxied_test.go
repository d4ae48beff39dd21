package function_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/function"
)

// TestAsSent: a request that the host proxied becomes what the client sent, and no client can make
// another request pass for one.
func TestAsSent(t *testing.T) {
	t.Parallel()
	const id = "f0e1"
	proxied := []string{
		"X-Ms-Invocation-Id", id, "X-Azure-Functions-Invocationid", id, "X-Forwarded-Host",
		"prompts.example", "X-Forwarded-For", "169.254.130.1", "Client-Ip", "192.0.2.7:51234",
	}
	for name, tt := range map[string]struct {
		target     string
		headers    []string
		onPlatform bool
		host, path string
		client     string
	}{
		"proxied": {
			"/a%252Fb/c%2520d", proxied, true, "prompts.example",
			"/a%2Fb/c%2520d", "192.0.2.7:51234",
		},
		"a slash escaped three times": {
			"/a%25252Fb", proxied, true, "prompts.example",
			"/a%25252Fb", "192.0.2.7:51234",
		},
		"an escape in lower case":     {"/a%252fb", proxied, true, "prompts.example", "/a%2fb", "192.0.2.7:51234"},
		"proxied without a front end": {"/x", proxied, false, "prompts.example", "/x", "169.254.130.1"},
		"two Client-IP": {
			"/x", append([]string{"Client-Ip", "192.0.2.8"}, proxied...), true,
			"prompts.example", "/x", "169.254.130.1",
		},
		"no Client-IP": {"/x", proxied[:8], true, "prompts.example", "/x", "169.254.130.1"},
		"forwarded, with all that": {
			"/a%252Fb", append([]string{"X-Azure-Functions-Invocationid", id + ", 77"},
				append(proxied[:2:2], proxied[4:]...)...), true, "127.0.0.1:7071", "/a%252Fb", "169.254.130.1",
		},
		"forwarded, with an id alone": {
			"/x", []string{
				"X-Azure-Functions-Invocationid", "77", "X-Ms-Invocation-Id", id, "X-Forwarded-Host",
				"evil.example",
			}, true, "127.0.0.1:7071", "/x", "",
		},
		"without the host": {
			"/a%252Fb",
			[]string{"X-Forwarded-Host", "evil.example", "Client-Ip", "192.0.2.7"},
			true,
			"127.0.0.1:7071", "/a%252Fb", "",
		},
		"two empty ids": {
			"/x", []string{
				"X-Azure-Functions-Invocationid", "", "X-Ms-Invocation-Id", "", "X-Forwarded-Host",
				"evil.example",
			}, true, "127.0.0.1:7071", "/x", "",
		},
		"proxied without a Host (none)": {"/x", append([]string{}, proxied[:4]...), true, "127.0.0.1:7071", "/x", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:7071"+tt.target, nil)
		for i := 0; i < len(tt.headers); i += 2 {
			r.Header.Add(tt.headers[i], tt.headers[i+1])
		}
		before := r.Header.Clone()
		var got *http.Request
		function.AsSent(tt.onPlatform, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = r
		})).ServeHTTP(httptest.NewRecorder(), r)
		require.Equal(t, tt.host, got.Host, name)
		require.Equal(t, tt.path, got.URL.EscapedPath(), name)
		decoded, err := url.PathUnescape(tt.path)
		require.NoError(t, err)
		require.Equal(t, decoded, got.URL.Path, name)
		require.Equal(t, tt.client, got.Header.Get("X-Forwarded-For"), name)
		require.Equal(t, before, r.Header, "%s: the request of the caller stays as it is", name)
	}
}

// TestInvocationIsTheKey: the host sends a change without a body again under the same id of the
// invocation, which becomes its Idempotency-Key.
func TestInvocationIsTheKey(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ method, body, given, want string }{
		"a change without a body": {http.MethodPost, "", "", "f0e1"},
		"one with a key":          {http.MethodPost, "", "mine", "mine"},
		"a change with a body":    {http.MethodPost, "{}", "", ""},
		"a read":                  {http.MethodGet, "", "", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method,
			"http://127.0.0.1:7071/x", strings.NewReader(tt.body))
		for header, value := range map[string]string{
			"X-Ms-Invocation-Id":             "f0e1",
			"X-Azure-Functions-Invocationid": "f0e1", "X-Forwarded-Host": "h", "Idempotency-Key": tt.given,
		} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		function.AsSent(true, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			require.Equal(t, tt.want, r.Header.Get("Idempotency-Key"), name)
		})).ServeHTTP(httptest.NewRecorder(), r)
	}
}
