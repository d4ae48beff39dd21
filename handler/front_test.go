package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// inBothModes runs a test with a host that proxies and with an older one that forwards.
func inBothModes(t *testing.T, test func(t *testing.T, older bool)) {
	t.Setenv("OLDER_HOST", "")
	for _, older := range []bool{false, true} {
		t.Run(map[bool]string{true: "older host", false: "host"}[older], func(t *testing.T) { test(t, older) })
	}
}

// says sends a request as it stands, from an address of this machine or from any, and returns the
// status and the body of the answer.
func says(t *testing.T, h *functiontest.Host, from, request string) (int, string) {
	t.Helper()
	d := net.Dialer{}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(h.URL(), "http://"))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n"))
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err, request)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// TestTwoClientsAreTwoAddresses: on the platform each client has a limit of its own, and none can
// have that of another address.
func TestTwoClientsAreTwoAddresses(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := behindHost(t, functiontest.Options{Older: older, FrontEnd: true}, "AzureWebJobsStorage="+nowhere,
			"WEBSITE_SITE_NAME=prompthub", "WEBSITE_AUTH_ENABLED=true", "AUTH_MODE=easyauth", "LIMIT_READS=1")
		ask := func(from, more string) int {
			status, _ := says(t, h, from, "GET /api/v1/me HTTP/1.1\nHost: app.example\n"+more+"\n")
			return status
		}
		for range 5 { // at once, as much as a caller may in five seconds
			require.Equal(t, http.StatusUnauthorized, ask("127.0.0.2", ""))
		}
		require.Equal(t, http.StatusTooManyRequests, ask("127.0.0.2", ""))
		for i, name := range []string{
			"Client-IP", "client-ip", "X-Forwarded-For", "X-Client-IP", "X-Real-IP",
			"X-Azure-ClientIP", "X-Azure-SocketIP", "Forwarded", "X-Original-For", "Disguised-Host",
		} {
			claim := fmt.Sprintf("%s: 203.0.113.%d\n", name, i)
			require.Equal(t, http.StatusTooManyRequests, ask("127.0.0.2", claim), name)
			require.Equal(t, http.StatusTooManyRequests, ask("127.0.0.2", claim+claim), "two of %s", name)
		}
		require.Equal(t, http.StatusUnauthorized, ask("127.0.0.3", ""), "another client has its own")
	})
}

// TestTwoIdentitiesAreRefused: a request that names two users is from neither, in whatever way they
// are named, and one that claims to be signed in by the platform is no user without it.
func TestTwoIdentitiesAreRefused(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := behindHost(t, functiontest.Options{Older: older, FrontEnd: true}, "AzureWebJobsStorage="+nowhere,
			"WEBSITE_SITE_NAME=prompthub", "WEBSITE_AUTH_ENABLED=true", "AUTH_MODE=easyauth")
		for _, name := range []string{
			"X-MS-CLIENT-PRINCIPAL", "X-MS-CLIENT-PRINCIPAL-ID", "X-MS-CLIENT-PRINCIPAL-IDP",
			"Authorization", "X-Api-Key", "x-ms-client-principal-id",
		} {
			for _, both := range []string{
				name + ": ann\n" + name + ": bob\n", name + ": ann, bob\n",
				name + ": ann\n" + strings.ToUpper(name) + ": ann\n",
			} {
				status, body := says(t, h, "", "GET /api/v1/me HTTP/1.1\nHost: app.example\n"+both+"\n")
				require.Equal(t, http.StatusUnauthorized, status, both)
				require.Contains(t, body, "REPEATED_HEADER", both)
			}
		}
	})
}

// TestAddressesNameTheHostOfTheClient: an address that the program gives away is the one by which
// the client came, and no other that it claims (P6.4).
func TestAddressesNameTheHostOfTheClient(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := behindHost(t, functiontest.Options{Older: older, FrontEnd: true}, "AzureWebJobsStorage="+nowhere,
			"WEBSITE_SITE_NAME=prompthub", "WEBSITE_AUTH_ENABLED=true", "AUTH_MODE=easyauth", "PUBLIC_READ=true")
		for _, claim := range []string{"", "X-Forwarded-Host: evil.example\n", "X-Original-Host: evil.example\nForwarded: host=evil.example\nX-Forwarded-Prefix: /evil\nX-Forwarded-Proto: http\n"} {
			status, body := says(t, h, "", "GET /robots.txt HTTP/1.1\nHost: prompts.example\n"+claim+"\n")
			require.Equal(t, http.StatusOK, status)
			require.Contains(t, body, "Sitemap: https://prompts.example/", claim)
			require.NotContains(t, body, "evil")
		}
	})
}

// TestFormsOfOldBrowsers: a form of this site is taken of a browser that sends no Sec-Fetch-Site,
// and one of any other site is not (P6.1).
func TestFormsOfOldBrowsers(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := onAzurite(t, functiontest.Options{Older: older})
		at := strings.Replace(as(t, h, "ann").made(1), "/api/v1", "/app", 1)
		for origin, want := range map[string]int{
			"": 303, "Origin: " + h.URL() + "\n": 303, "Origin: null\n": 403, "Origin: https://evil.example\n": 403,
			"Origin: " + h.Handler() + "\n": 403, "Origin: " + h.URL() + ".evil.example\n": 403,
			"Origin: " + h.URL() + "\nX-Forwarded-Host: evil.example\n":      303,
			"Origin: https://evil.example\nX-Forwarded-Host: evil.example\n": 403,
			"Origin: https://evil.example\nX-Original-Host: evil.example\n":  403,
		} {
			body := "favorite=yes"
			request := fmt.Sprintf("POST %s/favorite HTTP/1.1\nHost: %s\nX-Dev-User: bob\nContent-Type: application/x-www-form-urlencoded\nContent-Length: %d\n%s\n%s",
				at, strings.TrimPrefix(h.URL(), "http://"), len(body), origin, body)
			status, answer := says(t, h, "", request)
			if older && want == 303 && strings.Contains(origin, "X-Forwarded-Host") {
				want = 401 // developer mode sees it
			}
			require.Equal(t, want, status, "%q: %s", origin, answer)
		}
	})
}

// TestCutUploadsDoNothing: a body in chunks that is whole but for its end, and one whose length
// never comes, change nothing.
func TestCutUploadsDoNothing(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := onAzurite(t, functiontest.Options{Older: older})
		ann := as(t, h, "uploader")
		body := `{"title":"Cut","text":"x","tags":["text"],"visibility":"public"}`
		for _, rest := range []string{
			fmt.Sprintf("Transfer-Encoding: chunked\n\n%x\n%s\n", len(body), body),
			fmt.Sprintf("Transfer-Encoding: chunked\n\n%x\n%s\n0", len(body), body),
			fmt.Sprintf("Transfer-Encoding: chunked\n\n%x\n%s\nzz\n", len(body), body),
			fmt.Sprintf("Content-Length: %d\n\n%s", len(body)+1, body),
		} {
			c, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
			require.NoError(t, err)
			_, err = io.WriteString(c, strings.ReplaceAll(
				"POST "+promptsPath+
					" HTTP/1.1\nHost: 127.0.0.1\nX-Dev-User: uploader\nContent-Type: application/json\n"+rest,
				"\n", "\r\n"))
			require.NoError(t, err)
			require.NoError(t, c.(*net.TCPConn).CloseWrite())
			_, _ = io.ReadAll(c) // until the host has ended it
			require.NoError(t, c.Close())
		}
		refused := func() (n int) {
			for _, l := range h.Logs() {
				if strings.Contains(l.Text, `"route":"POST /api/v1/prompts","status":400`) {
					n++
				}
			}
			return n
		}
		if !older { // to which no chunk comes through
			require.Eventually(t, func() bool { return refused() == 3 }, time.Minute, 5*time.Millisecond,
				"a body that has no end is refused")
		}
		require.Empty(t, ann.did("GET", "/api/v1/me/prompts", "")["items"])
		made := ann.made(1) // and the way is free
		require.Len(t, ann.did("GET", "/api/v1/me/prompts", "")["items"], 1, made)
	})
}

// TestClientThatGoesAwayStopsItsWork: with a host that proxies, the work for a client ends when it
// goes. An older host does not see it.
func TestClientThatGoesAwayStopsItsWork(t *testing.T) {
	t.Setenv("OLDER_HOST", "")
	h := behindHost(t, functiontest.Options{}, "AzureWebJobsStorage="+nowhere)
	said := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(h.Logs(), func(l functiontest.Line) bool { return l.Text == text })
		}
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
	require.NoError(t, err)
	_, err = io.WriteString(c, "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"+streamHeader+": wait\r\n\r\n")
	require.NoError(t, err)
	require.Eventually(t, said("it waits"), time.Minute, 5*time.Millisecond)
	require.NoError(t, c.Close())
	require.Eventually(t, said("it is left"), time.Minute, 5*time.Millisecond)
}

// streamHeader asks for an answer that is too long to be held, and that ends when the client has
// sent another request.
const streamHeader = "X-Test-Stream"

// TestLongAnswersStream: with a host that proxies the beginning of a long answer comes while the
// rest is made. An older host has all of it first.
func TestLongAnswersStream(t *testing.T) {
	t.Setenv("OLDER_HOST", "")
	h := behindHost(t, functiontest.Options{}, "AzureWebJobsStorage="+nowhere)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL()+"/api/v1/health", nil)
	require.NoError(t, err)
	r.Header.Set(streamHeader, "begin")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	beginning := make([]byte, 256<<10)
	_, err = io.ReadFull(res.Body, beginning)
	require.NoError(t, err, "while the handler waits for the next request")
	r.Header.Set(streamHeader, "end")
	end, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, end.Body.Close())
	rest, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, streamed, len(beginning)+len(rest))
}

// TestForgedTriggers: no client runs a job by any spelling of its path and any marks of the host,
// also with a body in chunks, as the host's own calls have it.
func TestForgedTriggers(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := behindHost(t, functiontest.Options{Older: older}, "AzureWebJobsStorage="+nowhere)
		inside, err := url.Parse(h.Handler())
		require.NoError(t, err)
		const envelope = `{"Data":{"message":"\"{}\""},"Metadata":{}}`
		for _, target := range []string{
			"/index-repairs", "//index-repairs", "/./index-repairs", "/app/..%5Cindex-repairs",
			"/app/%2e%2e/index-repairs", "/app/..%2Findex-repairs", "/app/..%252Findex-repairs",
			`/app/..\index-repairs`, "/app/../index-repairs", "/lf/..%5cindex-repairs", "/ls/%2e%2e%5Cindex-repairs",
			"/mcp/..%5Cindex-repairs", "/index%2Drepairs", "/Index-Repairs", "/index-repairs?", "/index-repairs#x",
		} {
			for _, more := range []string{
				"", "Connection: X-Forwarded-Host, X-Forwarded-For, X-Forwarded-Proto, x-ms-invocation-id\n",
				"User-Agent: Azure-Functions-Host/4.1037.0.0\n",
				"X-Azure-Functions-InvocationId: 00000000-0000-0000-0000-000000000000\nX-Azure-Functions-HostVersion: 4\n",
			} {
				for _, body := range []string{
					fmt.Sprintf("Transfer-Encoding: chunked\n\n%x\n%s\n0\n\n", len(envelope), envelope),
					fmt.Sprintf("Content-Length: %d\n\n%s", len(envelope), envelope),
				} {
					_, answer := says(t, h, "", fmt.Sprintf("POST %s HTTP/1.1\nHost: %s\nContent-Type: application/json; charset=utf-8\nX-Dev-User: ann\n%s%s", target, inside.Host, more, body))
					require.NotContains(t, answer, "ReturnValue", target)
				}
			}
		}
		for _, line := range h.Logs() {
			require.NotContains(t, line.Text, `"msg":"invocation"`)
		}
	})
}

// TestConnectionHeaders: what a client says of its connection changes no answer, and none waits for
// what the client announces (P3).
func TestConnectionHeaders(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := onAzurite(t, functiontest.Options{Older: older})
		const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		post := "POST /mcp HTTP/1.1\nHost: localhost\nContent-Type: application/json\nAccept: application/json, text/event-stream\n"
		length, chunks := fmt.Sprintf("Content-Length: %d\n\n", len(ping)),
			fmt.Sprintf("Transfer-Encoding: chunked\n\n%x\n%s\n0\n", len(ping), ping)
		const user, upgrade = "X-Dev-User: ann\n", "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n"
		inChunks := http.StatusOK
		if older {
			inChunks = http.StatusInternalServerError
		}
		for name, tt := range map[string]struct {
			first, rest string
			want        int
		}{
			"expectation":              {post + user + "Expect: 100-continue\n" + length, ping, 200},
			"expectation of a refused": {post + "Expect: 100-continue\n" + length, ping, 401},
			"body in two parts": {
				post + user + "Transfer-Encoding: chunked\n\n9\n" + ping[:9] + "\n",
				fmt.Sprintf("%x\n%s\n0\n\n", len(ping)-9, ping[9:]), inChunks,
			},
			"announced trailer": {post + user + "Trailer: X-Dev-User\n" + length, ping, 200},
			"trailer": {
				post + user + "Trailer: X-Dev-User\n" + chunks,
				"X-Dev-User: bob\n\n", inChunks,
			},
			"user in a trailer": {
				post + "Trailer: X-Dev-User\n" + chunks, "X-Dev-User: bob\n\n",
				map[bool]int{true: 500, false: 401}[older],
			},
			"headers of a connection": {post + user + "Connection: X-Dev-User, close\nKeep-Alive: timeout=1\nTE: trailers\nProxy-Authorization: Bearer x\nProxy-Connection: close\n" + length, ping, 200},
			"WebSocket":               {"GET /api/v1/health HTTP/1.1\nHost: localhost\n" + upgrade + "\n", "", 200},
			"WebSocket to a page":     {"GET /app HTTP/1.1\nHost: localhost\n" + user + upgrade + "\n", "", 200},
		} {
			t.Run(name, func(t *testing.T) {
				c, err := net.Dial("tcp", strings.TrimPrefix(h.URL(), "http://"))
				require.NoError(t, err)
				defer c.Close()
				require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
				_, err = io.WriteString(c, strings.ReplaceAll(tt.first, "\n", "\r\n"))
				require.NoError(t, err)
				if tt.rest != "" { // over which no other request waits
					status, _ := says(t, h, "", "GET /api/v1/health HTTP/1.1\nHost: localhost\n\n")
					require.Equal(t, http.StatusOK, status)
				}
				_, err = io.WriteString(c, strings.ReplaceAll(tt.rest, "\n", "\r\n"))
				require.NoError(t, err)
				in := bufio.NewReader(c)
				res, err := http.ReadResponse(in, nil)
				for err == nil && res.StatusCode == http.StatusContinue {
					res, err = http.ReadResponse(in, nil)
				}
				require.NoError(t, err)
				defer res.Body.Close()
				body, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				require.Equal(t, tt.want, res.StatusCode, "%s", body)
				if tt.want == http.StatusOK && tt.rest != "" {
					require.Contains(t, string(body), `"result"`)
				}
			})
		}
	})
}
