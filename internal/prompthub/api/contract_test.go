package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// A contract is the OpenAPI document as answers are held against it.
type contract struct {
	doc      map[string]any
	mux      *http.ServeMux // finds operations
	compiler *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by pointer
}

func newContract(t testing.TB, h http.Handler) *contract {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	require.Equal(t, http.StatusOK, w.Code)
	doc, err := jsonschema.UnmarshalJSON(w.Body)
	require.NoError(t, err)
	c := &contract{doc: doc.(map[string]any), mux: http.NewServeMux(), compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	for _, s := range c.doc["components"].(map[string]any)["schemas"].(map[string]any) {
		// clients take more; these tests take what is documented
		s.(map[string]any)["additionalProperties"] = false
	}
	require.NoError(t, c.compiler.AddResource("openapi.json", doc))
	for _, o := range c.operations() {
		c.mux.HandleFunc(o.method+" /api/v1"+o.path, func(http.ResponseWriter, *http.Request) {})
	}
	return c
}

// An operation is a method of a path.
type operation struct{ method, path, pointer string }

func (c *contract) operations() []operation {
	var all []operation
	for p, methods := range c.doc["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			all = append(all, operation{strings.ToUpper(method), p, "/paths/" + escape(p) + "/" + method})
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.pointer, b.pointer) })
	return all
}

func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// at returns what a pointer leads to, through references, and the pointer to that; nil where there
// is nothing.
func (c *contract) at(pointer string) (any, string) {
	var v any = c.doc
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		case []any:
			i, _ := strconv.Atoi(token)
			v = in[i]
		default:
			return nil, pointer
		}
	}
	if m, ok := v.(map[string]any); ok && strings.HasPrefix(fmt.Sprint(m["$ref"]), "#/components/responses/") {
		return c.at(m["$ref"].(string)[1:])
	}
	return v, pointer
}

// schema returns the schema that a pointer leads to.
func (c *contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile("openapi.json#" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer))
	c.schemas[pointer] = s
	return s, err
}

// find returns the operation that a request asks for; HEAD asks for what GET does.
func (c *contract) find(r *http.Request) (operation, bool) {
	_, pattern := c.mux.Handler(r)
	if pattern == "" || path.Clean(r.URL.EscapedPath()) != r.URL.EscapedPath() {
		return operation{}, false
	}
	for _, o := range c.operations() {
		if o.method+" /api/v1"+o.path == pattern {
			return o, true
		}
	}
	return operation{}, false
}

// enforce fails the test for every answer that the document does not describe.
func (c *contract) enforce(t testing.TB, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &copier{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		if err := c.check(r, rec.status, w.Header(), rec.body.Bytes()); err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
	})
}

// A copier keeps what it passes on.
type copier struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *copier) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *copier) Write(b []byte) (int, error) {
	w.body.Write(b)
	return w.ResponseWriter.Write(b)
}

func (w *copier) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// check says what of an answer the document does not describe.
func (c *contract) check(r *http.Request, status int, h http.Header, body []byte) error {
	o, ok := c.find(r)
	if !ok {
		return c.checkNoRoute(r, status, body)
	}
	response, pointer := c.at(o.pointer + "/responses/" + strconv.Itoa(status))
	if response == nil {
		return fmt.Errorf("status %d of %s is undocumented: %.200s", status, o.pointer, body)
	}
	described := response.(map[string]any)
	if err := c.checkHeaders(described, pointer, h); err != nil {
		return fmt.Errorf("status %d: %w", status, err)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	return c.checkBody(described, pointer, h, body)
}

func (c *contract) checkNoRoute(r *http.Request, status int, body []byte) error {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest, http.StatusForbidden:
	case http.StatusNoContent:
		if r.Method == http.MethodOptions {
			return nil
		}
		fallthrough
	default:
		return fmt.Errorf("status %d where there is no operation", status)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	return c.valid("/components/schemas/Problem", body)
}

func (c *contract) checkHeaders(described map[string]any, pointer string, h http.Header) error {
	headers, _ := described["headers"].(map[string]any)
	for name, v := range headers {
		values := h.Values(name)
		if len(values) == 0 && v.(map[string]any)["required"] == true {
			return fmt.Errorf("the header %s is missing", name)
		}
		for _, value := range values {
			if err := c.validText(pointer+"/headers/"+escape(name)+"/schema", value); err != nil {
				return fmt.Errorf("header %s: %w", name, err)
			}
		}
	}
	return nil
}

// validText holds a text against a schema, as a number where it asks for one.
func (c *contract) validText(pointer, text string) error {
	if s, _ := c.at(pointer); s.(map[string]any)["type"] == "integer" {
		return c.valid(pointer, []byte(text))
	}
	b, err := json.Marshal(text)
	if err != nil {
		return err
	}
	return c.valid(pointer, b)
}

func (c *contract) checkBody(described map[string]any, pointer string, h http.Header, body []byte) error {
	content, _ := described["content"].(map[string]any)
	if len(content) == 0 {
		if len(body) > 0 || h.Get("Content-Type") != "" {
			return fmt.Errorf("a body where none is documented: %q", body)
		}
		return nil
	}
	name, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || content[name] == nil {
		return fmt.Errorf("the content type %q is undocumented", h.Get("Content-Type"))
	}
	if !strings.HasSuffix(name, "json") {
		return nil
	}
	return c.valid(pointer+"/content/"+escape(name)+"/schema", body)
}

func (c *contract) valid(pointer string, body []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %q", err, body)
	}
	s, err := c.schema(pointer)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// TestExamples holds every example in the document against its schema.
func TestExamples(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newContract(t, w.api)
	checked := 0
	check := func(pointer string, example any) {
		s, err := c.schema(pointer)
		require.NoError(t, err, pointer)
		require.NoError(t, s.Validate(example), "%s: %v", pointer, example)
		checked++
	}
	var walk func(pointer string, v any)
	walk = func(pointer string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if examples, ok := v["examples"].([]any); ok {
				for _, e := range examples {
					check(pointer, e)
				}
			}
			if e, ok := v["example"]; ok {
				check(pointer+"/schema", e)
			}
			for name, member := range v {
				if name != "examples" && name != "example" {
					walk(pointer+"/"+escape(name), member)
				}
			}
		case []any:
			for i, item := range v {
				walk(pointer+"/"+strconv.Itoa(i), item)
			}
		}
	}
	walk("", c.doc)
	require.Greater(t, checked, 200)
	for _, o := range c.operations() { // nothing that a person would try has no example
		requireExamples(t, c, o)
	}
}

func requireExamples(t *testing.T, c *contract, o operation) {
	t.Helper()
	v, _ := c.at(o.pointer)
	op := v.(map[string]any)
	bodies := map[string]any{}
	if b, ok := op["requestBody"].(map[string]any); ok {
		bodies["request"] = b
	}
	for status := range op["responses"].(map[string]any) {
		bodies[status], _ = c.at(o.pointer + "/responses/" + status)
	}
	for name, b := range bodies {
		content, _ := b.(map[string]any)["content"].(map[string]any)
		for media, m := range content {
			if media == "text/html" || media == "application/openapi+json" {
				continue
			}
			require.Contains(t, m, "example", "%s %s %s", o.pointer, name, media)
		}
	}
}

// TestDocumentGrows holds that clients which check answers against the document take one with a
// further member, and that a request with one is documented as wrong.
func TestDocumentGrows(t *testing.T) {
	t.Parallel()
	var doc struct {
		Info       struct{ Version string }
		Components struct {
			Schemas map[string]struct{ AdditionalProperties any }
		}
		Paths map[string]map[string]struct{ OperationID, Summary, Description string }
	}
	require.NoError(t, json.Unmarshal([]byte(newWorld(t).as("").get("/api/v1/openapi.json").is(200).body), &doc))
	sent := []string{"Filling", "LabelTarget", "Message", "NewPrompt", "NewToken", "Profile", "PromptDraft", "PromptPatch", "Reason", "TagEntry", "Variable", "Vote"}
	for name, s := range doc.Components.Schemas {
		if slices.Contains(sent, name) {
			require.Equal(t, false, s.AdditionalProperties, name)
		} else {
			require.Nil(t, s.AdditionalProperties, name)
		}
	}
	for _, name := range append(sent, "AnsweredMessage", "AnsweredVariable", "Prompt", "Problem") {
		require.Contains(t, doc.Components.Schemas, name)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			require.Regexp(t, `^[A-Z].*\.$`, op.Description, "%s %s", method, path)
			require.Regexp(t, `^[A-Z]`, op.Summary, "%s %s", method, path)
		}
	}
}

// The contract itself must notice what is wrong.
func TestContractNotices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newContract(t, w.api)
	r := httptest.NewRequest(http.MethodGet, "/api/v1/me", nil)
	good := http.Header{
		"Content-Type": {"application/json"}, "X-Request-Id": {"x"}, "Etag": {`"x"`}, "Cache-Control": {"private"}, "Ratelimit-Limit": {"1"},
	}
	body := `{"id":"Ann","authorId":"a_x","name":"Ann","roles":[]}`
	require.NoError(t, c.check(r, 200, good, []byte(body)))
	for name, change := range map[string]func(h http.Header) (int, string){
		"status":        func(http.Header) (int, string) { return 418, body },
		"header":        func(h http.Header) (int, string) { h.Del("Etag"); return 200, body },
		"header number": func(h http.Header) (int, string) { h.Set("RateLimit-Limit", "x"); return 200, body },
		"content type":  func(h http.Header) (int, string) { h.Set("Content-Type", "text/plain"); return 200, body },
		"body":          func(http.Header) (int, string) { return 200, `{"id":"Ann","name":"Ann"}` },
		"member":        func(http.Header) (int, string) { return 200, `{"id":"Ann","name":"Ann","roles":[],"mail":"x"}` },
		"304 with body": func(http.Header) (int, string) { return 304, body },
	} {
		h := good.Clone()
		status, text := change(h)
		require.Error(t, c.check(r, status, h, []byte(text)), name)
	}
	require.Error(t, c.check(httptest.NewRequest(http.MethodGet, "/nosuch", nil), 200, good, []byte(body)))
}
