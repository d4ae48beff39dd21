package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub/api"
)

func limited(t *testing.T) *world {
	return newWorld(t, func(c *api.Config) {
		c.Limits = httpjson.Limits{Writes: 2, WriteBurst: 5, Reads: 10, ReadBurst: 20}.Complete(false)
	})
}

func TestLimitsPerUser(t *testing.T) {
	t.Parallel()
	w := limited(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	for left := 4; left >= 0; left-- {
		a := ann.do(http.MethodPut, "/api/v1/tags/x", `{}`) // a refused write is a write
		a.problem(422)
		require.Equal(t, "5", a.header.Get("RateLimit-Limit"))
		require.Equal(t, strconv.Itoa(left), a.header.Get("RateLimit-Remaining"))
		require.Equal(t, strconv.Itoa((5-left+1)/2), a.header.Get("RateLimit-Reset"))
	}
	a := ann.do(http.MethodPost, prompts, draft("A"))
	require.Contains(t, a.problem(429).Detail, "more requests than")
	require.Equal(t, "1", a.header.Get("Retry-After"))
	require.Equal(t, "1", a.header.Get("RateLimit-Reset"))
	require.Equal(t, "0", a.header.Get("RateLimit-Remaining"))

	for range 20 {
		require.Equal(t, "20", ann.get(prompts).is(200).header.Get("RateLimit-Limit"), "reads have a bucket of their own")
	}
	ann.get(prompts).problem(429)
	ann.get("/api/v1/health").is(200)
	bob.do(http.MethodPost, prompts, draft("B")).is(201)
	bob.get(prompts).is(200)

	w.clock.Advance(499 * time.Millisecond)
	ann.do(http.MethodPost, prompts, draft("A")).problem(429)
	w.clock.Advance(time.Millisecond)
	ann.do(http.MethodPost, prompts, draft("A")).is(201)
	ann.do(http.MethodPost, prompts, draft("A")).problem(429)
}

func TestLimitsOfNobody(t *testing.T) {
	t.Parallel()
	w := limited(t)
	get := func(from string) answer {
		return w.as("").get(prompts, "X-Forwarded-For", "198.51.100."+strconv.Itoa(len(from))+", "+from)
	}
	for range 20 {
		get("203.0.113.7:5123").is(200)
	}
	get("203.0.113.7:9").problem(429)
	get("203.0.113.8:5123").is(200)
	w.as("Ann").get(prompts, "X-Forwarded-For", "203.0.113.7:1").is(200) // who is known is not limited by where he is
	// Guessing at identities counts for the place that it comes from.
	for range 19 {
		w.as("").get(prompts, "X-Dev-User", "a", "X-Dev-User", "b", "X-Forwarded-For", "203.0.113.8:5123").problem(401)
	}
	w.as("").get(prompts, "X-Dev-User", "a", "X-Dev-User", "b", "X-Forwarded-For", "203.0.113.8:5123").problem(429)
}

func TestNoLimitsUnlessSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits = httpjson.Limits{}.Complete(true) })
	for range 30 {
		require.Empty(t, w.as("Ann").get("/api/v1/me").is(200).header.Get("RateLimit-Limit"))
	}
}

func TestTooManyAtWork(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{}, 2)
	defer func() { leave <- struct{}{}; leave <- struct{}{} }() // whatever fails, nobody waits for ever
	w := newWorld(t, func(c *api.Config) {
		c.Limits.AtWork = 2
		identify := c.Identify
		c.Identify = func(r *http.Request) (auth.User, error) {
			if r.Header.Get("X-Dev-User") == "Slow" {
				entered <- struct{}{}
				<-leave
			}
			return identify(r)
		}
	})
	done := make(chan int, 2)
	for range 2 {
		go func() { done <- w.as("Slow").get("/api/v1/me").status }()
		<-entered
	}
	a := w.as("Ann").get(prompts)
	a.problem(503)
	require.Equal(t, "1", a.header.Get("Retry-After"))
	for _, path := range []string{"/api/v1/health", "/api/v1/ready", "/api/v1/docs"} {
		w.as("").get(path).is(200)
	}
	leave <- struct{}{}
	require.Equal(t, 200, <-done)
	w.as("Ann").get(prompts).is(200)
}

func TestCORS(t *testing.T) {
	t.Parallel()
	const site = "https://app.example.com"
	w := newWorld(t, func(c *api.Config) { c.Origins = httpjson.Origins{site} })
	preflight := []string{"Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers", "if-match"}
	a := w.as("").do(http.MethodOptions, prompts+"/x", "", append(preflight, "Origin", site)...).is(204)
	require.Equal(t, site, a.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, a.header.Get("Access-Control-Allow-Methods"), "PUT")
	require.Contains(t, a.header.Get("Access-Control-Allow-Headers"), "If-Match")
	require.Empty(t, a.header.Get("Access-Control-Allow-Credentials"))
	require.Equal(t, "Origin", a.header.Get("Vary"))

	a = w.as("Ann").do(http.MethodPost, prompts, draft("A"), "Origin", site, "Sec-Fetch-Site", "cross-site").is(201)
	require.Equal(t, site, a.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, a.header.Get("Access-Control-Expose-Headers"), "ETag")
	for _, origin := range []string{"https://evil.example.com", "https://app.example.com.evil.com", "http://app.example.com", "null", site + ":444"} {
		a = w.as("").do(http.MethodOptions, prompts+"/x", "", append(preflight, "Origin", origin)...)
		a.problem(405)
		require.Empty(t, a.header.Get("Access-Control-Allow-Origin"), origin)
		require.Equal(t, "Origin", a.header.Get("Vary"))
		w.as("Ann").do(http.MethodPost, prompts, draft("A"), "Origin", origin).problem(403)
		require.Empty(t, w.as("Ann").get(prompts, "Origin", origin).is(200).header.Get("Access-Control-Allow-Origin"))
	}
	plain := newWorld(t).as("").do(http.MethodOptions, prompts, "", append(preflight, "Origin", site)...)
	plain.problem(405)
	require.Empty(t, plain.header.Get("Vary"), "no origin is known, so no answer depends on it")
}

// TestForeignPages holds that a page of another site changes nothing with what a browser adds by itself.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.as("Ann").create("A")
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example.com"}, {"Origin", "null"},
	} {
		w.as("Ann").do(http.MethodPost, prompts, draft("A"), header...).problem(403)
		w.as("Ann").do(http.MethodPost, prompts+"/"+p.ID+"/restore", "", header...).problem(403)
		w.as("Ann").do(http.MethodDelete, prompts+"/"+p.ID, "", header...).problem(403)
		w.as("Ann").get(prompts, header...).is(200)
	}
	w.as("Ann").do(http.MethodPost, prompts, draft("A"), "Origin", w.url).is(201)
	w.as("Ann").do(http.MethodPost, prompts, draft("A"), "Sec-Fetch-Site", "same-origin").is(201)
}
