package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/storage/table"
)

// limited returns a world whose callers have limits.
func limited(t *testing.T, change ...func(*api.Config)) *world {
	return newWorld(t, append([]func(*api.Config){func(c *api.Config) {
		dev := c.Identify
		c.Identify = func(r *http.Request) (auth.User, error) { // from any proxy
			r = r.Clone(r.Context())
			r.Header.Del("X-Forwarded-For")
			return dev(r)
		}
		c.Admission = httpjson.NewAdmission(
			httpjson.Limits{Writes: 2, WriteBurst: 5, Reads: 10, ReadBurst: 20}.Complete(false), c.Now)
	}}, change...)...)
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
		require.Equal(t, "20", ann.get(prompts).is(200).header.Get("RateLimit-Limit"),
			"reads have a bucket of their own")
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

// TestLimitsOfAnImport: what an import changes is counted as if each change had been a request.
func TestLimitsOfAnImport(t *testing.T) {
	t.Parallel()
	w := limited(t)
	ann := w.as("Ann")
	file := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`{"title":"T","text":"` + strconv.Itoa(i) + `"}` + "\n")
		}
		return b.String()
	}
	send := func(query, file string) answer {
		return ann.do(http.MethodPost, "/api/v1/import"+query, file, "Content-Type", "application/octet-stream")
	}
	require.Equal(t, "4", send("?dryRun=true", file(3)).is(200).header.Get("RateLimit-Remaining"))
	send("", file(3)).is(200)
	a := ann.do(http.MethodPut, "/api/v1/tags/x", `{}`)
	a.problem(422)
	require.Equal(t, "0", a.header.Get("RateLimit-Remaining"), "looked, three changes, and this")
	w.clock.Advance(3 * time.Second)
	send("", file(8)).is(200) // of which three are there, and five cost as much as there may be at once
	require.Equal(t, "1", send("", file(8)).header.Get("Retry-After"))
	w.clock.Advance(500 * time.Millisecond)
	send("", file(8)).is(200)
}

// TestOneFileAtATime: the content of a file takes many times its size, so a caller may have one
// taken in at a time.
func TestOneFileAtATime(t *testing.T) {
	t.Parallel()
	admission := httpjson.NewAdmission(httpjson.Limits{}, time.Now)
	w := newWorld(t, func(c *api.Config) { c.Admission = admission })
	send := func(who string) answer {
		return w.as(who).do(http.MethodPost, "/api/v1/import?dryRun=true", `{"title":"T","text":"x"}`,
			"Content-Type", "application/octet-stream")
	}
	leave, err := admission.EnterFile(httpjson.CallerOf(httptest.NewRequest(http.MethodGet, "/", nil), "Ann"))
	require.NoError(t, err)
	require.Equal(t, "1", send("Ann").header.Get("Retry-After"))
	send("Ann").problem(429)
	send("Bob").is(200)
	for i := range 7 {
		_, err := admission.EnterFile(httpjson.CallerOf(httptest.NewRequest(http.MethodGet, "/", nil), strconv.Itoa(i)))
		require.NoError(t, err)
	}
	send("Bob").problem(503)
	leave()
	send("Ann").is(200)
	send("Bob").is(200)
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
	// an identified caller is not limited by address
	w.as("Ann").get(prompts, "X-Forwarded-For", "203.0.113.7:1").is(200)
	// Guessing at identities counts for the place that it comes from.
	for range 19 {
		w.as("").get(prompts, "X-Dev-User", " ", "X-Forwarded-For", "203.0.113.8:5123").problem(401)
	}
	w.as("").get(prompts, "X-Dev-User", " ", "X-Forwarded-For", "203.0.113.8:5123").problem(429)
}

func TestNoLimitsUnlessSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) {
		c.Admission = httpjson.NewAdmission(httpjson.Limits{}.Complete(true), c.Now)
	})
	for range 30 {
		require.Empty(t, w.as("Ann").get("/api/v1/me").is(200).header.Get("RateLimit-Limit"))
	}
}

func TestTooManyAtWork(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{}, 2)
	// no failure makes a caller wait for ever
	defer func() { leave <- struct{}{}; leave <- struct{}{} }()
	w := newWorld(t, func(c *api.Config) { c.Admission = httpjson.NewAdmission(httpjson.Limits{AtWork: 2}, c.Now) })
	p := w.as("Ann").create("A")
	vote := prompts + "/" + p.ID + "/vote"
	w.store.hold = func(key table.Key) {
		if strings.HasPrefix(key.Row, "u|Slow") {
			entered <- struct{}{}
			<-leave
		}
	}
	done := make(chan int, 2)
	for _, who := range []string{"Slow 1", "Slow 2"} {
		go func() { done <- w.as(who).get(vote).status }()
		<-entered
	}
	w.as("Slow 1").get(prompts).problem(429) // one caller has at most one place of two
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
	for _, name := range []string{"If-Match", "X-Api-Key", "X-Langfuse-Public-Key"} {
		require.Contains(t, a.header.Get("Access-Control-Allow-Headers"), name)
	}
	require.Empty(t, a.header.Get("Access-Control-Allow-Credentials"))
	require.Equal(t, "Origin", a.header.Get("Vary"))

	a = w.as("Ann").do(http.MethodPost, prompts, draft("A"), "Origin", site, "Sec-Fetch-Site", "cross-site").is(201)
	require.Equal(t, site, a.header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, a.header.Get("Access-Control-Expose-Headers"), "ETag")
	for _, origin := range []string{
		"https://evil.example.com", "https://app.example.com.evil.com",
		"http://app.example.com", "null", site + ":444",
	} {
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

// TestForeignPages holds that a page of another site changes nothing with what a browser adds by
// itself.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.as("Ann").create("A")
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example.com"},
		{"Origin", "null"},
	} {
		w.as("Ann").do(http.MethodPost, prompts, draft("A"), header...).problem(403)
		w.as("Ann").do(http.MethodPost, prompts+"/"+p.ID+"/restore", "", header...).problem(403)
		w.as("Ann").do(http.MethodDelete, prompts+"/"+p.ID, "", header...).problem(403)
		w.as("Ann").get(prompts, header...).is(200)
	}
	w.as("Ann").do(http.MethodPost, prompts, draft("A"), "Origin", w.url).is(201)
	w.as("Ann").do(http.MethodPost, prompts, draft("A"), "Sec-Fetch-Site", "same-origin").is(201)
}

// TestCookiesOfOtherOrigins holds that the page of another origin that may use the API sends what
// it sends itself: neither the user's cookie nor what the platform made of it counts, unless there
// is a token.
func TestCookiesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	const site = "https://app.example.com"
	w := newWorld(t, func(c *api.Config) {
		c.Origins = httpjson.Origins{site}
		// as the platform does, of a cookie or a token
		c.Identify = func(r *http.Request) (auth.User, error) {
			return auth.User{ID: r.Header.Get("X-Ms-Client-Principal-Id") + r.Header.Get("Cookie")}, nil
		}
	})
	principal := []string{"X-Ms-Client-Principal-Id", "ann"}
	for _, who := range [][]string{principal, {"Cookie", "AppServiceAuthSession=x"}} {
		w.as("").do(http.MethodPost, prompts, draft("A"),
			append(who, "Origin", site, "Content-Type", "")...).problem(401)
		w.as("").do(http.MethodPost, prompts, draft("A"),
			append(who, "Origin", site, "Sec-Fetch-Site", "same-site")...).problem(401)
		w.as("").get("/api/v1/me", append(who, "Origin", site)...).problem(401)
		w.as("").do(http.MethodPost, prompts, draft("A"), append(who, "Origin", w.url)...).is(201)
		w.as("").do(http.MethodPost, prompts, draft("A"),
			append(who, "Origin", site, "Sec-Fetch-Site", "same-origin")...).is(201)
		w.as("").do(http.MethodPost, prompts, draft("A"), who...).is(201)
	}
	w.as("").do(http.MethodPost, prompts, draft("A"),
		append(principal, "Origin", site, "Authorization", "Bearer x")...).is(201)
}

// TestUnknownParameters holds that a parameter which a route does not have is not taken for none.
func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.as("Ann").create("A")
	tests := []struct{ path, location, message string }{
		{prompts + "?tags=data", "query.tags", "is tag meant?"},
		{
			prompts + "?author=f", "query.author",
			"the parameters are sort, scope, verbatim, tag, q, in, fields, limit, cursor",
		},
		{prompts + "?page=2", "query.page", "there is no such parameter"},
		{prompts + "?Limit=2", "query.Limit", "is limit meant?"},
		{prompts + "?q=a&srot=newest", "query.srot", "is sort meant?"},
		{prompts + "?" + strings.Repeat("x", 300) + "=1", "query." + strings.Repeat("x", 100) + "…", "there is no"},
		{prompts + "/" + p.ID + "/vote?tag=x", "query.tag", "takes no parameters"},
		{"/api/v1/me/prompts?delete=true", "query.delete", "is deleted meant?"},
		{"/api/v1/tags?All=true", "query.All", "is all meant?"},
	}
	for _, tt := range tests {
		problem := w.as("Ann").get(tt.path).problem(422)
		require.Len(t, problem.Errors, 1, tt.path)
		require.Equal(t, tt.location, problem.Errors[0].Location)
		require.Contains(t, problem.Errors[0].Message, tt.message)
	}
	require.Equal(t, "give one of relevance, newest, most-liked, hot, best, trending",
		w.as("Ann").get(prompts + "?sort=top").problem(422).Errors[0].Message)
	w.as("Ann").do(http.MethodDelete, prompts+"/"+p.ID+"?force=1", "").problem(422)
	w.as("Ann").get(prompts + "/" + p.ID).is(200)
	many := w.as("Ann").get(prompts +
		"?a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k=&l=&m=&n=&o=&p=&r=&s=&t=&u=&v=&w=&x=&y=&z=").problem(422)
	require.Len(t, many.Errors, 20)
	w.as("Ann").get("/api/v1/health?probe=1").is(200)
}

// TestOpenRoutesCount holds that what everybody may have counts by address, apart from what a
// caller may ask otherwise, and that the machine itself can always ask whether the service is up.
func TestOpenRoutesCount(t *testing.T) {
	t.Parallel()
	w := limited(t)
	get := func(path, from string) answer { return w.as("").get(path, "X-Forwarded-For", from) }
	for i := range 20 {
		get([]string{"/api/v1/docs", "/api/v1/docs/page.css", "/api/v1/openapi.json"}[i%3], "203.0.113.7").is(200)
		get("/api/v1/ready", "203.0.113.7").is(200)
	}
	for _, path := range []string{
		"/api/v1/docs", "/api/v1/docs/swagger-ui-bundle.js", "/api/v1/openapi.json",
		"/api/v1/health", "/api/v1/ready",
	} {
		get(path, "203.0.113.7").problem(429)
		get(path, "203.0.113.8").is(200)
	}
	get(prompts, "203.0.113.7").is(200)
	for range 30 {
		w.as("").get("/api/v1/ready").is(200)
	}
}

// TestRefusedIsCheap holds that a request which is refused reads nothing of the storage, and that
// the program allocates less for it than for a plain GET. The handler is called without a
// connection: a client in this process allocates more than the program, most of all where it sends
// a body. A body whose length the client does not tell has to be read up to the limit, and is not
// among these.
func TestRefusedIsCheap(t *testing.T) {
	admission := func(c *api.Config) {
		c.Admission = httpjson.NewAdmission(
			httpjson.Limits{Writes: 100, WriteBurst: 500, Reads: 100, ReadBurst: 500, AtWork: 2}, c.Now)
	}
	w := newWorld(t, admission)
	h := api.New(w.config)
	one := prompts + "/" + w.as("Ann").create("A", "text").ID
	// What all requests of one kind have allocated, by each of them.
	allocated := func(who, method, path string, body func() io.Reader, status int) int {
		const times = 50
		var rs []*http.Request
		var ws []*unkept
		for range times + 1 {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, body())
			r.RemoteAddr = "127.0.0.1:1"
			if who != "" {
				r.Header.Set("X-Dev-User", who)
			}
			r.Header.Set("Content-Type", "application/json")
			rs, ws = append(rs, r), append(ws, &unkept{header: http.Header{}})
		}
		h.ServeHTTP(ws[0], rs[0])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range times {
			h.ServeHTTP(ws[i+1], rs[i+1])
		}
		runtime.ReadMemStats(&after)
		for _, a := range ws {
			require.Equal(t, status, a.status, "%s %s", method, path)
		}
		return int(after.TotalAlloc-before.TotalAlloc) / times
	}
	none := func() io.Reader { return nil }
	for _, who := range []string{"Cid", "Dan"} { // the first request of a user looks whether he was moved
		w.as(who).get("/api/v1/me").is(200)
	}
	plain := allocated("Ann", http.MethodGet, one, none, 200)
	refused := func(name, who, method, path string, body func() io.Reader, status int) {
		t.Helper()
		gets := w.store.count()
		got := allocated(who, method, path, body, status)
		t.Logf("%s: %d bytes, a plain GET %d", name, got, plain)
		require.Equal(t, gets, w.store.count(), name)
		require.Less(t, got, plain, name)
	}
	refused("nobody", "", http.MethodGet, "/api/v1/me", none, 401)
	refused("no route", "Ann", http.MethodGet, "/api/v1/nothing", none, 404)
	refused("no method", "Ann", http.MethodPut, "/api/v1/me", none, 405)
	large := strings.Repeat("x", 13<<20)
	refused("a body that is too large", "Ann", http.MethodPost, prompts, func() io.Reader {
		return strings.NewReader(large)
	}, 413)
	refused("a body that stops", "Cid", http.MethodPost, prompts, func() io.Reader {
		return io.MultiReader(strings.NewReader("{"), iotest.ErrReader(os.ErrDeadlineExceeded))
	}, 408)

	entered, leave := make(chan struct{}), make(chan struct{})
	w.store.mu.Lock()
	w.store.hold = func(key table.Key) {
		if strings.HasPrefix(key.Row, "u|Slow") {
			entered <- struct{}{}
			<-leave
		}
	}
	w.store.mu.Unlock()
	var slow sync.WaitGroup
	for _, who := range []string{"Slow 1", "Slow 2"} {
		slow.Go(func() { w.as(who).get(one + "/vote").is(200) })
		<-entered
	}
	refused("no place at work", "Dan", http.MethodGet, one, none, 503)
	close(leave)
	slow.Wait()
	for range 500 {
		w.as("").get("/api/v1/me")
	}
	refused("too many", "", http.MethodGet, "/api/v1/me", none, 429)
}

// An unkept answer is not kept.
type unkept struct {
	header http.Header
	status int
}

func (u *unkept) Header() http.Header         { return u.header }
func (u *unkept) WriteHeader(status int)      { u.status = status }
func (u *unkept) Write(p []byte) (int, error) { return len(p), nil }
