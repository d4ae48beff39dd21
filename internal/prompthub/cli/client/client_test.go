package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
)

var draft = format.Document{Title: "T", Text: "<a> & ü\r\n", Tags: []string{"text"}, Visibility: "public"}

func TestNewRefusesAddresses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "127.0.0.1:7071", "ftp://host", "http://", "http://[::1"} {
		_, err := client.New(client.Config{URL: url})
		require.ErrorContains(t, err, "is not an http or https address", url)
	}
	_, err := client.New(client.Config{URL: "127.0.0.1:7071"})
	require.ErrorContains(t, err, "such as http://127.0.0.1:7071")
	_, err = client.New(client.Config{URL: "ftp://host"})
	require.ErrorContains(t, err, "such as https://")
}

func TestAddressMayHaveThePathOfTheAPI(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://x", "http://x/", "http://x/api/v1", "http://x/api/v1/"} {
		c, err := client.New(client.Config{URL: url})
		require.NoError(t, err)
		require.Equal(t, "http://x", c.URL())
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	status := http.StatusCreated
	var keys []string
	c := newClient(t, func(r *http.Request, body string) (*http.Response, error) {
		require.Equal(t, "http://service.example/api/v1/prompts", r.URL.String())
		require.Equal(t, "bob", r.Header.Get("X-Dev-User"))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		require.JSONEq(t, `{"title":"T","text":"<a> & ü\r\n","tags":["text"],"visibility":"public"}`, body)
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		return reply(status, `{"id":"1"}`)
	})
	isNew, err := c.Create(t.Context(), "bob", draft)
	require.NoError(t, err)
	require.True(t, isNew)
	status = http.StatusOK
	isNew, err = c.Create(t.Context(), "bob", draft)
	require.NoError(t, err)
	require.False(t, isNew)
	require.Regexp(t, "^import-[0-9a-f]{64}$", keys[0])
	require.Equal(t, keys[0], keys[1])
}

// An empty file stays here, or else the service would speak of its base64 and not of the text that
// is missing.
func TestCreateOfAnEmptyFile(t *testing.T) {
	t.Parallel()
	c := newClient(t, func(_ *http.Request, body string) (*http.Response, error) {
		require.NotContains(t, body, "source")
		return reply(http.StatusUnprocessableEntity, `{}`)
	})
	for row, err := range format.Rows("a.md", []byte{}, "") {
		require.NoError(t, err)
		_, err = c.Create(t.Context(), "bob", row.Document)
		require.Error(t, err)
	}
}

func TestKeyNamesTheContent(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	c := newClient(t, func(r *http.Request, _ string) (*http.Response, error) {
		seen[r.Header.Get("Idempotency-Key")] = true
		return reply(http.StatusCreated, `{}`)
	})
	other := []func(*format.Document){
		func(*format.Document) {},
		func(d *format.Document) { d.Title = "U" },
		func(d *format.Document) { d.Text += " " },
		func(d *format.Document) { d.Tags = nil },
		func(d *format.Document) { d.Message = "why" },
	}
	for _, change := range other {
		for _, user := range []string{"ann", "bob"} {
			d := draft
			change(&d)
			_, err := c.Create(t.Context(), user, d)
			require.NoError(t, err)
		}
	}
	require.Len(t, seen, len(other), "the service keeps the keys of users apart")
}

func TestTokenInPlaceOfUser(t *testing.T) {
	t.Parallel()
	transport := service(func(r *http.Request, _ string) (*http.Response, error) {
		require.Equal(t, "Bearer secret", r.Header.Get("Authorization"))
		require.NotContains(t, r.Header, "X-Dev-User")
		return reply(http.StatusOK, `{"id":"oid-1"}`)
	})
	c, err := client.New(client.Config{
		URL: "https://service.example", Token: "secret",
		HTTP: &http.Client{Transport: transport},
	})
	require.NoError(t, err)
	id, err := c.Me(t.Context())
	require.NoError(t, err)
	require.Equal(t, "oid-1", id)
}

func TestBusyServiceIsAskedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		header []string
		least  time.Duration // until the second request
	}{
		{"seconds", http.StatusTooManyRequests, []string{"Retry-After", "7"}, 7 * time.Second},
		{
			"a date", http.StatusServiceUnavailable,
			[]string{"Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT"},
			9 * time.Second,
		},
		{"nothing said", http.StatusServiceUnavailable, nil, 200 * time.Millisecond},
		{"nonsense", http.StatusBadGateway, []string{"Retry-After", "soon"}, 200 * time.Millisecond},
		{
			"in the past", http.StatusGatewayTimeout,
			[]string{"Retry-After", "Sat, 01 Jan 1999 00:00:09 GMT"},
			200 * time.Millisecond,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, calls := time.Now(), 0 // a bubble begins with the year 2000
				c := newClient(t, func(_ *http.Request, body string) (*http.Response, error) {
					require.Contains(t, body, `"title":"T"`)
					if calls++; calls == 1 {
						return reply(tt.status, `{}`, tt.header...)
					}
					return reply(http.StatusCreated, `{}`)
				})
				isNew, err := c.Create(t.Context(), "", draft)
				require.NoError(t, err)
				require.True(t, isNew)
				require.GreaterOrEqual(t, time.Since(start), tt.least)
				require.Less(t, time.Since(start), tt.least+time.Second)
			})
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	for _, tt := range []struct {
		name    string
		service service
		least   time.Duration
		most    time.Duration
		want    string
	}{
		{"always busy", func(*http.Request, string) (*http.Response, error) {
			return reply(http.StatusServiceUnavailable,
				`{"title":"Service Unavailable","detail":"busy","requestId":"R1"}`)
		}, time.Minute, 2 * time.Minute, "busy (status 503, request R1)"},
		{"asks for too long", func(*http.Request, string) (*http.Response, error) {
			return reply(http.StatusTooManyRequests, `{}`, "Retry-After", "3600")
		}, 0, time.Second, "Too Many Requests (status 429)"},
		{"unreachable", func(*http.Request, string) (*http.Response, error) {
			return nil, refused
		}, 2 * time.Second, 10 * time.Second, "GET http://service.example/api/v1/me: connection refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := newClient(t, tt.service).Me(t.Context())
				require.EqualError(t, err, tt.want)
				require.GreaterOrEqual(t, time.Since(start), tt.least)
				require.LessOrEqual(t, time.Since(start), tt.most)
			})
		})
	}
}

func TestUnreachableAfterLongBusyGetsItsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := newClient(t, func(*http.Request, string) (*http.Response, error) {
			switch gone := time.Since(start); {
			case gone < 30*time.Second:
				return reply(http.StatusServiceUnavailable, `{}`)
			case gone < time.Hour:
				return nil, errors.New("connection refused")
			}
			return reply(http.StatusOK, `{"id":"x"}`)
		})
		_, err := c.Me(t.Context())
		require.ErrorContains(t, err, "connection refused")
		require.Greater(t, time.Since(start), 32*time.Second)
	})
}

func TestCancelEndsWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := newClient(t, func(*http.Request, string) (*http.Response, error) {
			return reply(http.StatusTooManyRequests, `{}`, "Retry-After", "60")
		}).Me(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		body   string
		header []string
		want   string
	}{
		{"rules", 422, `{"title":"Unprocessable Entity","detail":"d","errors":[{"location":"body.title","message":"too long","value":"x"},{"message":"odd"}]}`, nil, "title: too long; odd"},
		{
			"detail", 401, `{"title":"Unauthorized","detail":"who are you?","requestId":"R"}`, nil,
			"who are you? (status 401)",
		},
		{"title", 403, `{"title":"Forbidden"}`, nil, "Forbidden (status 403)"},
		{"not a problem", 500, `<html>`, nil, "Internal Server Error (status 500)"},
		{"nothing", 418, ``, nil, "I'm a teapot (status 418)"},
		{"unknown status", 499, ``, nil, "refused (status 499)"},
		{"another service", 404, "not here", nil, "there is no PromptHub at http://x: give the address of the service alone, without a page's path (status 404)"},
		{
			"the path of a page", 404, `{"title":"Not Found","code":"NO_SUCH_ROUTE","detail":"there is no such page"}`,
			nil, "there is no PromptHub at http://x: give the address of the service alone, without a page's path (status 404)",
		},
		{"a path too many", 404, `{"title":"Not Found","code":"NO_SUCH_ROUTE","detail":"there is no such route"}`, nil, "there is no PromptHub at http://x: give the address of the service alone, without a page's path (status 404)"},
		{
			"no such prompt", 404, `{"title":"Not Found","detail":"there is no such prompt"}`, nil,
			"there is no such prompt (status 404)",
		},
		{
			"redirect", 301, ``,
			[]string{"Location", "https://elsewhere.example"},
			"the service is elsewhere: https://elsewhere.example (status 301)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			transport := service(func(*http.Request, string) (*http.Response, error) {
				return reply(tt.status, tt.body, tt.header...)
			})
			c, err := client.New(client.Config{URL: "http://x", HTTP: &http.Client{
				Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
					return http.ErrUseLastResponse
				},
			}})
			require.NoError(t, err)
			_, err = c.Me(t.Context())
			var p *client.Problem
			require.ErrorAs(t, err, &p)
			require.Equal(t, tt.status, p.Status)
			require.EqualError(t, p, tt.want)
		})
	}
}

func TestAnswerOfAnotherService(t *testing.T) {
	t.Parallel()
	_, err := newClient(t, func(*http.Request, string) (*http.Response, error) {
		return reply(200, "<html>")
	}).Me(t.Context())
	require.ErrorContains(t, err, "the answer is not PromptHub's")
}

// pages is a service with prompts 0 to n-1, of which number 3 is deleted while it is exported.
func pages(t *testing.T, n, size int) service {
	return func(r *http.Request, _ string) (*http.Response, error) {
		if id, ok := strings.CutPrefix(r.URL.Path, "/api/v1/prompts/"); ok {
			if id == "3" {
				return reply(http.StatusNotFound, `{"title":"Not Found"}`)
			}
			return reply(200, fmt.Sprintf(`{"id":%q,"title":"t%[1]s","text":"text %[1]s","likes":2}`, id))
		}
		require.Equal(t, "/api/v1/me/prompts", r.URL.Path)
		require.Equal(t, "100", r.URL.Query().Get("limit"))
		from := 0
		if cursor := r.URL.Query().Get("cursor"); cursor != "" {
			_, err := fmt.Sscanf(cursor, "after+%d", &from)
			require.NoError(t, err)
		}
		var items []string
		for i := from; i < min(n, from+size); i++ {
			items = append(items, fmt.Sprintf(`{"id":"%d"}`, i))
		}
		next := ""
		if from+size < n {
			next = fmt.Sprintf(`,"nextCursor":"after+%d"`, from+size)
		}
		return reply(200, `{"items":[`+strings.Join(items, ",")+`]`+next+`}`)
	}
}

func TestMine(t *testing.T) {
	t.Parallel()
	var got []string
	for p, err := range newClient(t, pages(t, 25, 10)).Mine(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, "text "+p.ID, p.Text)
		require.Equal(t, 2, p.Likes)
		got = append(got, p.ID)
	}
	require.Len(t, got, 24)
	require.Equal(t, []string{"0", "1", "2", "4", "5"}, got[:5])
	require.Equal(t, "24", got[23])
}

// TestSearchWhileReading: a search that was answered by titles at first has each prompt once.
func TestSearchWhileReading(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"":      `{"items":[{"id":"1"},{"id":"2"}],"partial":true,"nextCursor":"still"}`,
		"still": `{"items":[],"partial":true,"nextCursor":"read"}`,
		"read":  `{"items":[{"id":"3"},{"id":"2"},{"id":"4"}],"nextCursor":"more"}`,
	}
	found, err := newClient(t, func(r *http.Request, _ string) (*http.Response, error) {
		return reply(200, answers[r.URL.Query().Get("cursor")])
	}).Search(t.Context(), client.Search{Words: "a", Limit: 4})
	require.NoError(t, err)
	var got []string
	for _, f := range found.Items {
		got = append(got, f.ID)
	}
	require.Equal(t, []string{"1", "2", "3", "4"}, got)
	require.True(t, found.Partial)
}

func TestMineEndsWithItsError(t *testing.T) {
	t.Parallel()
	working := pages(t, 25, 10)
	c := newClient(t, func(r *http.Request, body string) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/12") {
			return reply(http.StatusInternalServerError, `{"title":"broken"}`)
		}
		return working(r, body)
	})
	n := 0
	var last error
	for _, err := range c.Mine(t.Context()) {
		require.NoError(t, last, "nothing follows an error")
		if last = err; err == nil {
			n++
		}
	}
	require.ErrorContains(t, last, "broken")
	require.Equal(t, 9, n)
}

func TestMineStops(t *testing.T) {
	t.Parallel()
	n := 0
	for range newClient(t, pages(t, 25, 10)).Mine(t.Context()) {
		if n++; n == 2 {
			break
		}
	}
	require.Equal(t, 2, n)
}
