package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"prompthub/internal/testing/doubling"
	"prompthub/internal/testing/load"
)

// What no request may go beyond.
const (
	mostTimes    = 1000 // times the processor time of a plain GET
	timesOfEntry = 30   // more for each entry that an import creates
	mostHeld     = 16   // MiB one second after the answer
)

// A try is what the search does: to store something, and to ask a route for it.
type try struct {
	hostile
	Route    string `json:"route"`
	SignedIn bool   `json:"signedIn"`
	Callers  int    `json:"callers"` // at once
}

// An outlay is what came of a try, for one of its callers.
type outlay struct {
	try
	took    time.Duration // of a processor
	times   float64       // a plain GET
	in, out int64         // bytes
	entries int           // that an import created
	held    int           // MiB, by all callers
	status  int
}

// share is how much of what it may take the try takes.
func (c outlay) share() float64 {
	return max(c.times/float64(mostTimes+timesOfEntry*c.entries), float64(c.held)/mostHeld)
}

const (
	attacker       = "Mallory"
	attackerHandle = "mallory-x"
	manyCallers    = 16
)

// A hunt looks for the request that costs most, by trying and changing what cost most so far.
type hunt struct {
	*program
	r       *rand.Rand
	client  *http.Client
	heap    *heapLog
	routes  []route
	token   string
	filler  string // id of a long prompt that is harmless
	plain   time.Duration
	live    int // MiB, when last looked at
	stored  int
	kept    int // costs
	tried   int
	top     []outlay
	outcome map[int]int // answers by status
}

// heaviest searches for so long, or makes one try, and prints what cost most. It is an error if
// that is beyond the bounds.
func heaviest(ctx context.Context, o options, binary string, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "heaviest")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &hunt{
		r: rand.New(rand.NewPCG(o.seed, 37)), client: load.NewClient(manyCallers), heap: new(heapLog),
		kept: o.kept, outcome: map[int]int{},
	}
	s.client.Timeout = 2 * time.Minute
	env := []string{
		"MAX_TEXT=" + strconv.Itoa(longestText), "QUOTA_BYTES=-1", "QUOTA_PROMPTS=-1", "LOG_LEVEL=error",
		"GODEBUG=gctrace=1", "GOGC=100",
	}
	if s.program, err = startWith(ctx, binary, store{data: dir}, s.heap, env); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if o.try != "" {
		var t try
		if err := json.Unmarshal([]byte(o.try), &t); err != nil {
			return fmt.Errorf("-try: %w", err)
		}
		return errors.Join(s.again(ctx, t), s.report(out))
	}
	for end, n := time.Now().Add(o.heaviest), 0; time.Now().Before(end) && ctx.Err() == nil; n++ {
		if n%20 == 0 && n > 0 {
			load.Progress("%d tries of %d texts, %.0f %% of what one may take", s.tried, n, 100*s.top[0].share())
		}
		if err := s.step(ctx, n, end); err != nil {
			return err
		}
	}
	highest := s.top
	s.top = nil
	for _, c := range highest { // what else was at work meanwhile counted too: the least of three is right
		if err := s.again(ctx, c.try); err != nil {
			return err
		}
	}
	return s.report(out)
}

func (s *hunt) prepare(ctx context.Context) error {
	made := func(c call) (id string, err error) {
		body, status := s.ask(ctx, c)
		var v struct{ ID, Token string }
		if status/100 != 2 {
			return "", fmt.Errorf("%s %s: %d %s", c.method, c.path, status, first(string(body), 300))
		}
		err = json.Unmarshal(body, &v)
		return cmp.Or(v.Token, v.ID), err
	}
	post := func(path, body string) call {
		return call{method: http.MethodPost, path: path, user: attacker, body: body}
	}
	var err, errs error
	_, err = made(call{
		method: http.MethodPut, path: "/me/profile", user: attacker,
		body: jsonOf(map[string]any{"handle": attackerHandle}),
	})
	errs = errors.Join(errs, err)
	s.token, err = made(post("/me/tokens", `{"name":"x","scopes":["read","write","publish"]}`))
	errs = errors.Join(errs, err)
	plain, err := made(post("/prompts",
		jsonOf(map[string]any{
			"title": "Plain", "text": strings.Repeat("Write a short poem. ", 25),
			"visibility": "public",
		})))
	errs = errors.Join(errs, err)
	s.filler, err = made(post("/prompts",
		jsonOf(map[string]any{
			"title": "Long", "text": strings.Repeat("A harmless line of a text.\n", 4000),
			"visibility": "public",
		})))
	if errs = errors.Join(errs, err); errs != nil {
		return errs
	}
	document, status := s.ask(ctx, call{method: http.MethodGet, path: "/openapi.json"})
	if status != http.StatusOK {
		return fmt.Errorf("the OpenAPI document: %d", status)
	}
	if s.routes, err = documented(document); err != nil {
		return err
	}
	s.routes = append(s.routes, otherRoutes()...)
	s.settle()
	const gets = 1000
	get := func() {
		for range gets {
			s.ask(ctx, call{method: http.MethodGet, path: "/prompts/" + plain, user: attacker})
		}
	}
	get() // things made once do not count
	before, err := s.CPU()
	if err != nil {
		return err
	}
	get()
	after, err := s.CPU()
	s.plain = max(after-before, load.ClockTick) / gets
	s.live = s.collected(ctx)
	load.Progress("a plain GET takes %v of a processor, and the program holds %d MiB", s.plain, s.live)
	return err
}

// step stores something of the next shape and asks every route for it; every other time, something
// that is like one of those that cost most, and asks the same route and a few others.
func (s *hunt) step(ctx context.Context, n int, end time.Time) error {
	t := try{
		hostile:  hostile{Shape: shapes[n/2%len(shapes)], Motifs: []int{s.motif()}, Size: 1 << (8 + s.r.IntN(10))},
		SignedIn: true, Callers: 1,
	}
	if t.file() != "" {
		t.Size = 1 << (8 + s.r.IntN(15))
	}
	routes := s.routes
	if n%2 == 1 && len(s.top) > 0 {
		t = s.top[s.r.IntN(min(len(s.top), 1+s.r.IntN(s.kept)))].try
		same := slices.IndexFunc(s.routes, func(r route) bool { return r.String() == t.Route })
		routes = nil
		if same >= 0 {
			routes = []route{s.routes[same]}
		}
		for range 4 {
			routes = append(routes, s.routes[s.r.IntN(len(s.routes))])
		}
		s.mutate(&t)
	}
	c, at, err := s.store(ctx, t)
	if err != nil {
		return err
	}
	s.keep(c)
	for _, last := range []bool{false, true} { // deletions come last
		for _, r := range routes {
			if r.last() != last || time.Now().After(end) || ctx.Err() != nil {
				continue
			}
			t.Route, t.SignedIn, t.Callers = r.String(), s.r.IntN(4) > 0, 1
			if s.r.IntN(12) == 0 {
				t.Callers = manyCallers
			}
			c, err := s.measure(ctx, t, at.call(t, r))
			if err != nil {
				return err
			}
			s.keep(c)
		}
	}
	return nil
}

func (s *hunt) motif() int { return s.r.IntN(len(doubling.Motifs(true))) }

func (s *hunt) mutate(t *try) {
	t.Motifs = slices.Clone(t.Motifs)
	switch s.r.IntN(5) {
	case 0, 1:
		most := longestText
		switch {
		case t.file() != "":
			most = longestFile
		case t.Shape == "list":
			most = longestBody
		}
		t.Size = min(2*t.Size, most)
	case 2:
		if len(t.Motifs) < 4 {
			t.Motifs = append(t.Motifs, s.motif())
		}
	case 3:
		t.Motifs[s.r.IntN(len(t.Motifs))] = s.motif()
	case 4:
		t.Shape = shapes[s.r.IntN(len(shapes))]
	}
}

// A place is where something hostile was stored.
type place struct {
	id, name, token string
}

// storing is the route that stores.
const storing = "store"

// store stores what a try has, in two versions, and says what the first took.
func (s *hunt) store(ctx context.Context, t try) (c outlay, at place, err error) {
	s.stored++
	at = place{name: fmt.Sprintf("hostile-%d", s.stored), token: s.token}
	t.Route, t.SignedIn, t.Callers = storing, true, 1
	if t.Shape == "includes" {
		part := hostile{Shape: "text", Motifs: t.Motifs, Size: t.Size}
		for i := range included20 {
			s.ask(ctx, call{
				method: http.MethodPost, path: "/prompts", user: attacker,
				body: part.draft(includedName(at.name, i)),
			})
		}
		s.settle()
	}
	made := call{method: http.MethodPost, path: "/prompts", user: attacker, body: t.draft(at.name)}
	if ext := t.file(); ext != "" {
		made = call{
			method: http.MethodPost, path: "/import?update=true&file=x" + ext, user: attacker,
			body: t.upload(ext), header: http.Header{"Content-Type": {"application/octet-stream"}},
		}
	}
	var answer []byte
	if c, err = s.measured(ctx, t, made, &answer); err != nil {
		return c, at, err
	}
	var v struct {
		ID    string
		Items []struct{ ID, Name string }
	}
	_ = json.Unmarshal(answer, &v) // a refusal has neither
	if at.id = v.ID; len(v.Items) > 0 {
		at.id, at.name = v.Items[0].ID, cmp.Or(v.Items[0].Name, at.name)
	}
	if at.id == "" { // a refused body is sent to all routes all the same
		at.id = s.filler
		return c, at, nil
	}
	s.ask(ctx, call{
		method: http.MethodPatch, path: "/prompts/" + at.id, user: attacker, body: t.body("PromptPatch", at.name),
		header: http.Header{"If-Match": {"*"}, "Content-Type": {"application/merge-patch+json"}},
	})
	s.settle()
	return c, at, nil
}

// call returns the request of a try.
func (at place) call(t try, r route) call {
	text := t.text()
	q := url.QueryEscape(first(text, 190))
	c := call{method: r.method, header: http.Header{}, path: strings.NewReplacer(
		"{id}", at.id, "{version}", "1", "{other}", "2", "{label}", "production", "{handle}", attackerHandle,
		"{slug}", url.PathEscape(at.name),
		"{name}", url.PathEscape(at.name), "{tag}", "text", "{file}",
		"swagger-ui-bundle.js", "{token}", "none", "{q}", q,
	).Replace(r.path)}
	if t.SignedIn {
		c.user = attacker
	}
	if t.SignedIn && (strings.HasPrefix(r.path, "/lf/") || strings.HasPrefix(r.path, "/ls/")) {
		c.user = ""
		c.header.Set("Authorization", "Bearer "+at.token)
	}
	if c.body = t.body(r.schema, at.name); r.ext != "" {
		c.body = t.upload(r.ext)
		c.header.Set("Content-Type", "application/octet-stream")
	}
	switch {
	case strings.HasPrefix(r.schema, "form"):
		c.header.Set("Content-Type", "application/x-www-form-urlencoded")
		c.header.Set("Sec-Fetch-Site", "same-origin")
	case strings.HasPrefix(r.schema, "mcp "):
		c.header.Set("Accept", "application/json, text/event-stream")
		if r.schema != "mcp prompts/get" {
			c.body = t.body(r.schema, at.id)
		}
	case r.schema == "PromptPatch":
		c.header.Set("Content-Type", "application/merge-patch+json")
	}
	if r.method == http.MethodPut || r.method == http.MethodPatch || r.method == http.MethodDelete {
		c.header.Set("If-Match", "*")
	}
	if strings.Contains(r.path, "/moderation") || strings.Contains(r.path, "/hidden") ||
		strings.Contains(r.path, "/admin") || strings.HasPrefix(r.path, "/tags/") {
		c.header["X-Dev-Roles"] = admin["X-Dev-Roles"]
	}
	return c
}

func (s *hunt) measure(ctx context.Context, t try, c call) (outlay, error) {
	return s.measured(ctx, t, c, new([]byte))
}

// measured asks with all callers of a try at once, and measures.
func (s *hunt) measured(ctx context.Context, t try, c call, answer *[]byte) (outlay, error) {
	s.tried++
	held, err := s.Memory()
	if err != nil {
		return outlay{}, err
	}
	before, err := s.CPU()
	if err != nil {
		return outlay{}, err
	}
	answers, statuses := make([][]byte, t.Callers), make([]int, t.Callers)
	var all sync.WaitGroup
	for i := range t.Callers {
		all.Go(func() { answers[i], statuses[i] = s.ask(ctx, c) })
	}
	all.Wait()
	after, err := s.CPU()
	if err != nil {
		return outlay{}, fmt.Errorf("the program ended at %s: %w", t.line(), err)
	}
	*answer = answers[0]
	took := (after - before) / time.Duration(t.Callers)
	one := outlay{
		try: t, took: took, times: float64(took) / float64(s.plain), in: int64(len(c.body) + len(c.path)),
		out: int64(len(answers[0])), status: statuses[0],
	}
	s.outcome[one.status]++
	if strings.HasPrefix(c.path, "/import?") {
		one.entries = strings.Count(string(answers[0]), `"outcome":"created"`) +
			strings.Count(string(answers[0]), `"outcome":"updated"`)
		if strings.Contains(c.path, "dryRun=true") {
			one.entries = 0
		}
	}
	if c.method != http.MethodGet {
		s.settle()
	}
	const grown = 8 // MB that make it worth looking
	now, err := s.Memory()
	if err == nil && now.Own > held.Own+grown {
		time.Sleep(time.Second) // the bound is on what is held then
		live := s.collected(ctx)
		one.held, s.live = max(0, live-s.live), live
	}
	return one, err
}

// again makes a try three times and keeps the cheapest.
func (s *hunt) again(ctx context.Context, t try) error {
	var least outlay
	for i := range 3 {
		c, at, err := s.store(ctx, t)
		if err != nil {
			return err
		}
		if t.Route != storing {
			n := slices.IndexFunc(s.routes, func(r route) bool { return r.String() == t.Route })
			if n < 0 {
				return fmt.Errorf("there is no route %q", t.Route)
			}
			s.live = s.collected(ctx)
			if c, err = s.measure(ctx, t, at.call(t, s.routes[n])); err != nil {
				return err
			}
		}
		if i == 0 || c.share() < least.share() {
			least = c
		}
	}
	s.keep(least)
	return nil
}

// keep keeps a cost if it is one of the highest, and of each route and shape the highest only.
func (s *hunt) keep(c outlay) {
	same := slices.IndexFunc(s.top, func(k outlay) bool { return k.Route == c.Route && k.Shape == c.Shape })
	switch {
	case same < 0:
		s.top = append(s.top, c)
	case s.top[same].share() < c.share():
		s.top[same] = c
	}
	slices.SortStableFunc(s.top, func(a, b outlay) int { return cmp.Compare(b.share(), a.share()) })
	s.top = s.top[:min(len(s.top), s.kept)]
}

// ask sends a request and returns the answer; status 0 if there was none.
func (s *hunt) ask(ctx context.Context, c call) (body []byte, status int) {
	req, err := c.request(ctx, s.URL)
	if err != nil {
		return nil, 0
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, 0
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		return body, 0
	}
	return body, resp.StatusCode
}

// settle waits until the program has done the jobs of the changes, for a while.
func (s *hunt) settle() {
	last, err := s.CPU()
	for end := time.Now().Add(3 * time.Second); err == nil && time.Now().Before(end); {
		time.Sleep(4 * load.ClockTick)
		now, nextErr := s.CPU()
		if now == last {
			return
		}
		last, err = now, nextErr
	}
}

// collected has the program collect its garbage, by asking for harmless answers until it does so
// twice, and returns what is left in MiB.
func (s *hunt) collected(ctx context.Context) int {
	const asks = 5000
	began, live := s.heap.last()
	for n, i := began, 0; n < began+2 && i < asks && ctx.Err() == nil; i++ {
		s.ask(ctx, call{method: http.MethodGet, path: "/prompts/" + s.filler, user: attacker})
		n, live = s.heap.last()
	}
	return live
}

// A heapLog reads what the runtime says of each collection.
type heapLog struct {
	mu   sync.Mutex
	rest string
	n    int
	live int
}

var collection = regexp.MustCompile(`->(\d+) MB, `)

func (h *heapLog) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rest += string(p)
	for {
		line, rest, whole := strings.Cut(h.rest, "\n")
		if !whole {
			return len(p), nil
		}
		h.rest = rest
		if found := collection.FindStringSubmatch(line); found != nil && strings.HasPrefix(line, "gc ") {
			h.n++
			h.live, _ = strconv.Atoi(found[1]) // the expression has digits only
		}
	}
}

func (h *heapLog) last() (n, live int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n, h.live
}

// line is what makes the try once more.
func (t try) line() string { return "-try '" + strings.ReplaceAll(jsonOf(t), `\u0026`, "&") + "'" }

func (s *hunt) report(out io.Writer) error {
	fmt.Fprintf(out, "%d tries; answers by status %v; a plain GET takes %v of a processor.\n\n", s.tried,
		s.outcome, s.plain)
	fmt.Fprintln(out, "| x | ms | bytes in | bytes out | entries | held MiB | status | request |\n|---|---|---|---|---|---|---|---|")
	var errs error
	all := doubling.Motifs(true)
	for _, c := range s.top {
		var of []string
		for _, i := range c.Motifs {
			of = append(of, all[i].Name)
		}
		fmt.Fprintf(out, "| %.0f | %d | %d | %d | %d | %d | %d | `%s` (%s) |\n", c.times, c.took.Milliseconds(), c.in,
			c.out, c.entries, c.held, c.status, c.line(), strings.ReplaceAll(strings.Join(of, ", "), "|", `\|`))
		if c.times > float64(mostTimes+timesOfEntry*c.entries) {
			errs = errors.Join(errs, fmt.Errorf("x %.0f with %d entries: %s", c.times, c.entries, c.line()))
		}
		if c.held > mostHeld {
			errs = errors.Join(errs, fmt.Errorf("%d MiB held: %s", c.held, c.line()))
		}
	}
	return errs
}
