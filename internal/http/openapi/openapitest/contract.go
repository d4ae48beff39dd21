// Package openapitest holds the answers of an API against its OpenAPI document, and the document
// against itself.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/golden"
)

// A Contract is the OpenAPI document as answers are held against it.
type Contract struct {
	doc map[string]any
	// muxes find operations, by what their paths begin with before the first parameter. One mux
	// cannot have /users/{id}/posts next to /users/by-name/{name}, as a document can.
	muxes      map[string]*http.ServeMux
	operations []Operation
	byPattern  map[string]Operation // of the muxes
	compiler   *jsonschema.Compiler

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema // by pointer
}

// contracts are those of the documents that were met, by their text: to compile the schemas again
// for each of hundreds of tests would take longer than the tests.
var contracts = struct {
	sync.Mutex
	of map[string]*Contract
}{of: map[string]*Contract{}}

// New returns the contract of an API, which it asks for its document.
func New(t testing.TB, h http.Handler) *Contract {
	t.Helper()
	text := document(t, h)
	contracts.Lock()
	defer contracts.Unlock()
	if contracts.of[text] == nil {
		contracts.of[text] = parse(t, text)
	}
	return contracts.of[text]
}

// document returns the document of an API, which it asks for it.
func document(t testing.TB, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/openapi+json", w.Header().Get("Content-Type"))
	return w.Body.String()
}

// Golden compares the document of an API with testdata/openapi.json, which -update writes. An
// object or a list that fits in a line is one; any other has a line for each member.
func Golden(t testing.TB, h http.Handler) {
	t.Helper()
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(document(t, h))))
	var lines strings.Builder
	require.NoError(t, fold(&lines, compact.Bytes()))
	golden.Check(t, filepath.Join("testdata", "openapi.json"), lines.String()+"\n")
}

// fold writes a compact value of JSON in lines. Depth is not indented: the file must stay small.
func fold(to *strings.Builder, value []byte) error {
	if len(value) < 300 || value[0] != '{' && value[0] != '[' {
		to.Write(value)
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	_, err := d.Token() // of the beginning
	to.WriteByte(value[0])
	for between := ""; err == nil && d.More(); between = "," {
		to.WriteString(between + "\n")
		if value[0] == '{' {
			var name json.Token
			name, err = d.Token()
			fmt.Fprintf(to, "%q: ", name)
		}
		var member json.RawMessage
		if err == nil {
			err = d.Decode(&member)
		}
		if err == nil {
			err = fold(to, member)
		}
	}
	to.WriteString("\n" + string(value[len(value)-1]))
	return err
}

// parse returns the contract that a document states.
func parse(t testing.TB, text string) *Contract {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	c := &Contract{
		doc: doc.(map[string]any), muxes: map[string]*http.ServeMux{}, byPattern: map[string]Operation{},
		compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{},
	}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	for _, s := range c.doc["components"].(map[string]any)["schemas"].(map[string]any) {
		// clients take more; these tests take what is documented
		s.(map[string]any)["additionalProperties"] = false
	}
	require.NoError(t, c.compiler.AddResource("openapi.json", doc))
	for p, methods := range c.doc["paths"].(map[string]any) {
		for method := range methods.(map[string]any) {
			o := Operation{strings.ToUpper(method), p, "/paths/" + Escape(p) + "/" + method}
			pattern := o.Method + " /api/v1" + o.Path
			begin, _, _ := strings.Cut("/api/v1"+o.Path, "{")
			if c.muxes[begin] == nil {
				c.muxes[begin] = http.NewServeMux()
			}
			c.muxes[begin].HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
			c.operations, c.byPattern[pattern] = append(c.operations, o), o
		}
	}
	slices.SortFunc(c.operations, func(a, b Operation) int { return strings.Compare(a.Pointer, b.Pointer) })
	return c
}

// An Operation is a method of a path.
type Operation struct{ Method, Path, Pointer string }

// Operations returns all operations, in order.
func (c *Contract) Operations() []Operation { return slices.Clone(c.operations) }

// Bare returns the ids of the operations that change something and need no body.
func (c *Contract) Bare() (ids []string) {
	for _, o := range c.operations {
		op := c.At(o.Pointer)
		body, _ := op["requestBody"].(map[string]any)
		if o.Method != http.MethodGet && o.Method != http.MethodHead && (body == nil || body["required"] != true) {
			ids = append(ids, op["operationId"].(string))
		}
	}
	return ids
}

// Between tokens of pointers and what they stand for.
var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Escape writes a token of a pointer.
func Escape(s string) string { return escape.Replace(s) }

// At returns a copy of the object that a pointer leads to, through references: tests that run side
// by side hold the same document.
func (c *Contract) At(pointer string) map[string]any {
	v, _ := c.at(pointer)
	return clone(v).(map[string]any)
}

// clone copies a part of a document.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, member := range v {
			m[name] = clone(member)
		}
		return m
	case []any:
		s := make([]any, len(v))
		for i, item := range v {
			s[i] = clone(item)
		}
		return s
	}
	return v
}

// at returns what a pointer leads to, through references, and the pointer to that; nil where
// there is nothing.
func (c *Contract) at(pointer string) (any, string) {
	var v any = c.doc
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[unescape.Replace(token)]
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
func (c *Contract) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[pointer]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile("openapi.json#" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer))
	c.schemas[pointer] = s
	return s, err
}

// find returns the operation that a request asks for, of several the one with the most of its path
// without parameters; HEAD asks for what GET does.
func (c *Contract) find(r *http.Request) (Operation, bool) {
	pattern, begin := "", ""
	for b, mux := range c.muxes {
		if len(b) > len(begin) && strings.HasPrefix(r.URL.Path, b) {
			if _, p := mux.Handler(r); p != "" {
				pattern, begin = p, b
			}
		}
	}
	if pattern == "" || path.Clean(r.URL.EscapedPath()) != r.URL.EscapedPath() {
		return Operation{}, false
	}
	o, ok := c.byPattern[pattern]
	return o, ok
}

// Enforce fails the test for every answer that the document does not describe.
func (c *Contract) Enforce(t testing.TB, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &copier{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		if err := c.Check(r, rec.status, w.Header(), rec.body.Bytes()); err != nil {
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

// WriteHeader keeps the status.
func (w *copier) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write keeps a part of the body.
func (w *copier) Write(b []byte) (int, error) {
	w.body.Write(b)
	return w.ResponseWriter.Write(b)
}

// Unwrap returns what is copied.
func (w *copier) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Check says what of an answer the document does not describe.
func (c *Contract) Check(r *http.Request, status int, h http.Header, body []byte) error {
	o, ok := c.find(r)
	if !ok {
		return c.checkNoRoute(r, status, body)
	}
	response, pointer := c.at(o.Pointer + "/responses/" + strconv.Itoa(status))
	if response == nil {
		return fmt.Errorf("status %d of %s is undocumented: %.200s", status, o.Pointer, body)
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

func (c *Contract) checkNoRoute(r *http.Request, status int, body []byte) error {
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

func (c *Contract) checkHeaders(described map[string]any, pointer string, h http.Header) error {
	headers, _ := described["headers"].(map[string]any)
	for name, v := range headers {
		values := h.Values(name)
		if len(values) == 0 && v.(map[string]any)["required"] == true {
			return fmt.Errorf("the header %s is missing", name)
		}
		for _, value := range values {
			if err := c.validText(pointer+"/headers/"+Escape(name)+"/schema", value); err != nil {
				return fmt.Errorf("header %s: %w", name, err)
			}
		}
	}
	return nil
}

// validText holds a text against a schema, as a number where it asks for one.
func (c *Contract) validText(pointer, text string) error {
	if s, _ := c.at(pointer); s.(map[string]any)["type"] == "integer" {
		return c.valid(pointer, []byte(text))
	}
	b, err := json.Marshal(text)
	if err != nil {
		return err
	}
	return c.valid(pointer, b)
}

func (c *Contract) checkBody(described map[string]any, pointer string, h http.Header, body []byte) error {
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
	return c.valid(pointer+"/content/"+Escape(name)+"/schema", body)
}

func (c *Contract) valid(pointer string, body []byte) error {
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

// Examples holds every example in the document against its schema, and that nothing that a person
// would try has none. It returns how many there are.
func (c *Contract) Examples(t *testing.T) int {
	t.Helper()
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
					walk(pointer+"/"+Escape(name), member)
				}
			}
		case []any:
			for i, item := range v {
				walk(pointer+"/"+strconv.Itoa(i), item)
			}
		}
	}
	walk("", c.doc)
	for _, o := range c.Operations() {
		c.requireExamples(t, o)
	}
	return checked
}

func (c *Contract) requireExamples(t *testing.T, o Operation) {
	t.Helper()
	v, _ := c.at(o.Pointer)
	op := v.(map[string]any)
	bodies := map[string]any{}
	if b, ok := op["requestBody"].(map[string]any); ok {
		bodies["request"] = b
	}
	for status := range op["responses"].(map[string]any) {
		bodies[status], _ = c.at(o.Pointer + "/responses/" + status)
	}
	for name, b := range bodies {
		content, _ := b.(map[string]any)["content"].(map[string]any)
		for media, m := range content {
			if media == "text/html" || media == "application/openapi+json" {
				continue
			}
			require.Contains(t, m, "example", "%s %s %s", o.Pointer, name, media)
		}
	}
}
