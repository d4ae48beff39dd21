package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A user calls the API under a name.
type user struct {
	t    testing.TB
	url  string
	name string
	see  func(status int, h http.Header) // if set, is told every answer
}

// A shown is a prompt as the API shows it.
type shown struct {
	ID       string   `json:"id"`
	AuthorID string   `json:"authorId"`
	Title    string   `json:"title"`
	Text     string   `json:"text"`
	Tags     []string `json:"tags"`
	Likes    int      `json:"likes"`
	Dislikes int      `json:"dislikes"`
	Score    int      `json:"score"`
	Revision int      `json:"revision"`
	MyVote   string   `json:"myVote"`
}

var httpClient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// try sends a request and returns the status, or an error where there was no answer.
func (u user) try(method, path string, body, answer any, header ...string) (int, http.Header, error) {
	var buf bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&buf).Encode(body); err != nil {
			return 0, nil, err
		}
	}
	r, err := http.NewRequestWithContext(u.t.Context(), method, u.url+"/api/v1"+path, &buf)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("X-Dev-User", u.name)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := httpClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text := readAll(resp.Body)
	if u.see != nil {
		u.see(resp.StatusCode, resp.Header)
	}
	if answer != nil && resp.StatusCode < 300 {
		if err := json.Unmarshal([]byte(text), answer); err != nil {
			return resp.StatusCode, resp.Header, fmt.Errorf("%s %s: %w in %q", method, path, err, text)
		}
	}
	if resp.StatusCode >= 500 {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, text)
	}
	return resp.StatusCode, resp.Header, err
}

// do sends a request that must be answered with the status.
func (u user) do(want int, method, path string, body, answer any, header ...string) http.Header {
	u.t.Helper()
	got, h, err := u.insist(want, method, path, body, answer, header...)
	require.NoError(u.t, err)
	require.Equal(u.t, want, got, "%s %s", method, path)
	return h
}

// insist sends a request as clients are told to: a request that can be repeated without harm is
// repeated after a 503, which a disk or an emulator of storage that stands still for seconds leads
// to.
func (u user) insist(want int, method, path string, body, answer any, header ...string) (int, http.Header, error) {
	repeatable := method == http.MethodGet || method == http.MethodPut || method == http.MethodDelete
	if method == http.MethodPost && path == "/prompts" && !slices.Contains(header, "Idempotency-Key") {
		header, repeatable = append(slices.Clone(header), "Idempotency-Key", rand.Text()), true
	}
	got, h, err := u.try(method, path, body, answer, header...)
	for again := 0; again < 3 && repeatable && got == http.StatusServiceUnavailable && want != got; again++ {
		u.t.Logf("once more: %v", err)
		time.Sleep(time.Second)
		got, h, err = u.try(method, path, body, answer, header...)
	}
	return got, h, err
}

func (u user) create(title string) shown {
	u.t.Helper()
	var p shown
	u.do(201, "POST", "/prompts",
		map[string]any{"title": title, "text": "Text of " + title, "tags": []string{"text"}, "visibility": "public"},
		&p)
	return p
}

// vote votes once: a test that kills the program meanwhile must know how that one request ended.
func (u user) vote(id, value string) error {
	status, _, err := u.try("PUT", "/prompts/"+id+"/vote", map[string]string{"value": value}, nil)
	return voted(status, err)
}

// insistOnVote votes until that is answered, and may be called from any goroutine.
func (u user) insistOnVote(id, value string) error {
	status, _, err := u.insist(200, "PUT", "/prompts/"+id+"/vote", map[string]string{"value": value}, nil)
	return voted(status, err)
}

func voted(status int, err error) error {
	if err == nil && status != 200 {
		err = fmt.Errorf("vote: status %d", status)
	}
	return err
}

// walk reads a list to its end, page by page, and calls between after each page.
func (u user) walk(path string, between func()) []shown {
	u.t.Helper()
	var all []shown
	cursor := ""
	for range 10_000 {
		var page struct {
			Items      []shown `json:"items"`
			NextCursor string  `json:"nextCursor"`
		}
		p := path
		if cursor != "" {
			p += "&cursor=" + cursor
		}
		h := u.do(200, "GET", p, nil, &page)
		all = append(all, page.Items...)
		if page.NextCursor != "" {
			require.Contains(u.t, h.Get("Link"), `rel="next"`)
		}
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
		between()
	}
	u.t.Fatalf("%s does not end", path)
	return nil
}
