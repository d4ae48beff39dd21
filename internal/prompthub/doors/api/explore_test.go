package api_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/openapi/openapitest"
)

// TestExploreAPI sends requests that it makes up from the OpenAPI document, good and bad ones, in
// sequences that use what earlier answers held. No answer may be a 5xx, or one that the document
// does not describe. API_EXPLORE says for how long (a Go duration), API_SEED repeats a run.
func TestExploreAPI(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	t.Parallel()
	length := 10 * time.Second
	if s := os.Getenv("API_EXPLORE"); s != "" {
		var err error
		length, err = time.ParseDuration(s)
		require.NoError(t, err)
	}
	seed := rand.Uint64()
	if s := os.Getenv("API_SEED"); s != "" {
		_, err := fmt.Sscan(s, &seed)
		require.NoError(t, err)
	}
	w := newWorld(t)
	e := &explorer{
		world: w, Rand: rand.New(rand.NewPCG(seed, 0)), contract: openapitest.New(t, w.api), seen: map[string]int{},
		ids: []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV"}, etags: []string{"*"}, cursors: []string{"x"},
	}
	operations := e.contract.Operations()
	from, steps := time.Now(), 0
	for ; !t.Failed(); steps++ {
		over, missing := time.Since(from) > length, e.missing()
		if over && (len(missing) == 0 || steps >= enough) {
			break
		}
		o := pick(e.Rand, operations)
		if over && e.chance(50) {
			o = e.named(operations, missing[0])
		}
		e.step(o)
		if steps%500 == 499 {
			w.drain()
		}
	}
	if t.Failed() {
		t.Fatalf("API_SEED=%d repeats this", seed)
	}
	t.Logf("%d requests: %v", steps, e.seen)
	require.Empty(t, e.missing(), "what was never answered")
}

// An explorer makes requests up and remembers what it saw.
type explorer struct {
	*world
	*rand.Rand
	contract            *openapitest.Contract
	ids, etags, cursors []string
	seen                map[string]int // by operation and status
}

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// chance reports true n times in a hundred.
func (e *explorer) chance(n int) bool { return e.IntN(100) < n }

func (e *explorer) step(o openapitest.Operation) {
	e.t.Helper()
	op := e.contract.At(o.Pointer)
	r := e.request(o, op)
	if rec := e.send(op, r); r.Method == http.MethodGet && rec.Code == http.StatusOK && rec.Header().Get("ETag") != "" {
		again := httptest.NewRequest(http.MethodGet, r.URL.String(), http.NoBody)
		again.Header = r.Header.Clone()
		again.Header.Set("If-None-Match", rec.Header().Get("ETag"))
		e.send(op, again)
	}
}

func (e *explorer) send(op map[string]any, r *http.Request) *httptest.ResponseRecorder {
	e.t.Helper()
	rec := httptest.NewRecorder()
	e.api.ServeHTTP(rec, r) // which holds the answer against the document
	e.seen[op["operationId"].(string)+" "+fmt.Sprint(rec.Code)]++
	if rec.Code >= http.StatusInternalServerError {
		e.t.Errorf("%s %s: %d %s", r.Method, r.URL, rec.Code, rec.Body)
	}
	e.learn(rec)
	return rec
}

func (e *explorer) request(o openapitest.Operation, op map[string]any) *http.Request {
	path, query, header := o.Path, url.Values{}, http.Header{}
	params, _ := op["parameters"].([]any)
	for _, p := range params {
		p := p.(map[string]any)
		name := p["name"].(string)
		value := e.param(name, p["schema"].(map[string]any))
		switch {
		case p["in"] == "path":
			path = strings.Replace(path, "{"+name+"}", url.PathEscape(value), 1)
		case e.chance(40): // not given
		case p["in"] == "query":
			query.Add(name, value)
		default:
			header.Set(name, strings.Map(printable, value))
		}
	}
	target := "/api/v1" + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if e.chance(2) {
		target += pick(e.Rand, []string{"?%zz", "?limit=%", "/", "?;", "?unknown=1&unknown=2"})
	}
	r := httptest.NewRequest(o.Method, "http://localhost"+target, strings.NewReader(e.body(op)))
	r.Header = header
	if e.chance(90) {
		header.Set("X-Dev-User", pick(e.Rand, []string{"Ann", "Bob", "Root"}))
		header.Set("X-Dev-Roles", pick(e.Rand, []string{"", "", "admin"}))
	}
	if e.chance(8) {
		header.Set("Content-Type", pick(e.Rand,
			[]string{
				"application/json", "application/merge-patch+json", "text/plain", ";",
				"application/json; charset=utf-8",
			}))
	}
	return r
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

// param makes a value for a parameter: one seen before, one of the schema, or anything.
func (e *explorer) param(name string, schema map[string]any) string {
	known := map[string][]string{
		"id": e.ids, "cursor": e.cursors, "If-Match": e.etags, "If-None-Match": e.etags,
		"tag": tags, "workspace": workspaces, "principal": principals,
	}[name]
	switch {
	case name == "If-Match" && e.chance(70):
		return "*"
	case known != nil && e.chance(85):
		return pick(e.Rand, known)
	case e.chance(75):
		if s, ok := e.value(schema).([]any); ok {
			return strings.Trim(fmt.Sprint(s), "[]")
		}
		return fmt.Sprint(e.value(schema))
	}
	return pick(e.Rand, strangeTexts)
}

var tags = []string{"text", "image", "development", "c++", "Text", "nosuch", "-", "text,image"}

// Of which the example of a new workspace makes the first.
var (
	workspaces = []string{"billing", "billing", "no-such"}
	principals = []string{"ann", "bob", "me", "cooks"}
)

var strangeTexts = []string{
	"", " ", "0", "-1", "99999999999999999999", "1e3", "null", "true", "\u0000", "a\u0000b", "é", "🚀",
	"\u202eabc", "שלום", "漢字", "\ufeff",
	"' or '1' eq '1", `"`, `\`, "/", "..", "../..", "%2F", "a|b", "#?", "c++", strings.Repeat("x", 300),
	strings.Repeat("🚀", 2000), strings.Repeat("a,", 500),
	"\u2028", "\r\n", "<script>", "\xff", "\xed\xa0\x80", "W/\"1\"", `"1-0-0-n", "2-0-0-n"`,
}

// value makes a value of a schema, now and then one that is not.
func (e *explorer) value(schema map[string]any) any {
	if ref, ok := schema["$ref"].(string); ok {
		return e.value(e.contract.At(ref[1:]))
	}
	switch {
	case e.chance(3):
		return pick(e.Rand, []any{nil, true, 1, -1.5, "text", []any{}, map[string]any{}, []any{nil, 1, "x"}})
	case schema["enum"] != nil && e.chance(90):
		return pick(e.Rand, schema["enum"].([]any))
	case schema["examples"] != nil && e.chance(30):
		return pick(e.Rand, schema["examples"].([]any))
	}
	switch kind := fmt.Sprint(schema["type"]); {
	case strings.Contains(kind, "array"):
		list := make([]any, e.IntN(4))
		for i := range list {
			list[i] = pick(e.Rand, tags)
		}
		return list
	case kind == "object":
		return e.object(schema)
	case kind == "integer":
		return pick(e.Rand, []any{0, 1, 2, 20, 100, 101, -1, 1000000, 1 << 40})
	case kind == "boolean":
		return e.chance(50)
	}
	return e.text()
}

func (e *explorer) text() string {
	switch {
	case e.chance(15):
		return pick(e.Rand, strangeTexts)
	case e.chance(3):
		return strings.Repeat(pick(e.Rand, []string{"x", "é", "🚀", " "}),
			pick(e.Rand, []int{199, 200, 201, 1500, 3000, 3001}))
	}
	return pick(e.Rand, []string{"Code", "review", "plain", "C++", "node.js"}) + fmt.Sprint(" ", e.IntN(50))
}

func (e *explorer) object(schema map[string]any) map[string]any {
	all := map[string]any{}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(keys(properties)) {
		isRequired := slices.Contains(required, any(name))
		if isRequired && !e.chance(3) || !isRequired && e.chance(25) {
			all[name] = e.value(properties[name].(map[string]any))
		}
	}
	if e.chance(3) {
		all[pick(e.Rand, []string{"unknown", "Title", "$schema", ""})] = e.value(map[string]any{})
	}
	return all
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// body makes a body, now and then one that is broken.
func (e *explorer) body(op map[string]any) string {
	request, ok := op["requestBody"].(map[string]any)
	if !ok {
		return ""
	}
	media, ok := request["content"].(map[string]any)["application/json"].(map[string]any)
	if !ok { // any file
		return pick(e.Rand, files)
	}
	value := media["example"]
	if value == nil || e.chance(50) {
		value = e.value(media["schema"].(map[string]any))
	}
	b, err := json.Marshal(value)
	require.NoError(e.t, err)
	if !e.chance(6) {
		return string(b)
	}
	broken := []string{
		"", "{", `{"title":"\ud800"}`, `{"title":1e999}`, strings.Repeat("[", 20000),
		strings.Repeat(" ", 300<<10), "\xff\xfe{}",
	}
	if e.chance(50) || len(b) == 0 {
		return pick(e.Rand, broken)
	}
	b[e.IntN(len(b))] = byte(e.IntN(256))
	return string(b)
}

var files = []string{
	"", "A text with {{name}}.", "Act,Prompt\nA,B\n", `[{"title":"A","text":"B"}]`, "---\nname: a\n---\nText\n",
	"PK\x03\x04", "\xff\xfe\x00", strings.Repeat("[", 20000),
}

var ulids = regexp.MustCompile(`"id":"([0-9A-Z]{26})"`)

const remembered = 40

// learn keeps ids, entity tags and cursors for later requests.
func (e *explorer) learn(rec *httptest.ResponseRecorder) {
	keep := func(list *[]string, s string) {
		if s == "" || slices.Contains(*list, s) {
			return
		}
		*list = append(*list, s)
		if len(*list) > remembered {
			*list = slices.Delete(*list, 1, 2)
		}
	}
	for _, m := range ulids.FindAllStringSubmatch(rec.Body.String(), 3) {
		keep(&e.ids, m[1])
	}
	keep(&e.etags, rec.Header().Get("ETag"))
	var page struct{ NextCursor string }
	if json.Unmarshal(rec.Body.Bytes(), &page) == nil {
		keep(&e.cursors, page.NextCursor)
	}
}

// enough steps meet all that must be met, where missing cases are drawn more often.
const enough = 200_000

// named is the operation that was not met.
func (e *explorer) named(operations []openapitest.Operation, what string) openapitest.Operation {
	i := slices.IndexFunc(operations, func(o openapitest.Operation) bool {
		return strings.HasPrefix(what, e.contract.At(o.Pointer)["operationId"].(string)+" ")
	})
	return operations[i]
}

// missing is what the requests have not met yet: they must not all be refused at the first door.
func (e *explorer) missing() (missing []string) {
	for _, want := range []string{
		"create-prompt 201", "create-prompt 400", "create-prompt 422", "create-prompt 401", "get-prompt 200",
		"get-prompt 304", "get-prompt 404",
		"patch-prompt 200", "patch-prompt 403", "patch-prompt 412", "patch-prompt 428", "replace-prompt 200",
		"delete-prompt 204", "restore-prompt 200",
		"set-vote 200", "hide-prompt 204", "hide-prompt 403", "put-tag 200", "list-prompts 200", "list-prompts 400",
		"list-prompts 422", "list-my-prompts 200",
		"create-workspace 201", "get-workspace 200", "get-workspace 404", "patch-workspace 200", "put-member 200",
		"list-workspace-prompts 200", "create-workspace-token 201",
		"create-invite 201", "create-invite 422", "create-invite 404", "list-invites 200",
		"accept-invite 404", "sign-in 409",
	} {
		if e.seen[want] == 0 {
			missing = append(missing, want)
		}
	}
	return missing
}
