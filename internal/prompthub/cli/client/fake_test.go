package client_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/cli/client"
)

// A service answers without a network, so that time can be that of a synctest bubble. Like the
// Functions host it takes no body in chunks.
type service func(r *http.Request, body string) (*http.Response, error)

func (s service) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	if r.ContentLength != int64(len(body)) {
		return reply(http.StatusInternalServerError, "")
	}
	return s(r, string(body))
}

// reply makes an answer out of a status, a body and headers by name and value.
func reply(status int, body string, header ...string) (*http.Response, error) {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r, nil
}

// newClient returns a client of a service.
func newClient(t *testing.T, s service) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: "http://service.example/", User: "ann", HTTP: &http.Client{Transport: s}})
	require.NoError(t, err)
	return c
}

// A log collects what several goroutines see.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *log) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}
