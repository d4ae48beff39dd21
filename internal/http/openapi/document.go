package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/httpjson"
)

// Schemas is how references to schemas begin.
const Schemas = "#/components/schemas/"

// MergePatch is the media type of changes of some members.
const MergePatch = "application/merge-patch+json"

// A Document is the OpenAPI document of an API. It says what huma cannot derive from the Go types:
// headers that all answers have, what the statuses mean that report errors, and examples of whole
// bodies.
type Document struct {
	API      huma.API
	Problem  any             // the type of errors: httpjson.Problem, or one that embeds it
	Meanings map[int]Meaning // of statuses, where they have one of their own here
	ETag     string          // an example of one
	Optional []string        // the headers of answers that not every such answer has
	Rare     []string        // members that examples do without
	Examples map[string]any  // of whole bodies, by media type
}

// A Meaning is what a status that reports an error means, with an example.
type Meaning struct {
	Doc, Detail string
	Fields      []httpjson.Field
}

// everywhere are the statuses that mean the same in each application.
var everywhere = map[int]Meaning{
	408: {Doc: "The body took too long to arrive", Detail: "the body took too long to arrive"},
	415: {Doc: "The body is not JSON in UTF-8", Detail: "send the body as application/json in UTF-8"},
	429: {
		Doc:    "The caller sends more than one caller may, or too much at once",
		Detail: "you send more requests than this service takes from one caller; wait and send it again",
	},
	500: {
		Doc:    "Something went wrong here",
		Detail: "something went wrong here; if it happens again, tell the operator the request id",
	},
	503: {
		Doc:    "The storage is slow or away, or too much is at work: try again",
		Detail: "the storage does not answer at the moment; try again",
	},
}

// Render completes the document once all routes are registered, and returns what writes it for the
// first who asks: to write it takes as long as to register the routes several times over, and few
// processes are asked. More may be said of schemas before.
func (d *Document) Render() func() []byte {
	schemas := d.API.OpenAPI().Components.Schemas.Map()
	delete(schemas, "ErrorModel") // huma's own, which no answer has
	delete(schemas, "ErrorDetail")
	d.openAnswers()
	for _, op := range d.operations() {
		d.complete(op)
	}
	return sync.OnceValue(func() []byte {
		text, err := json.MarshalIndent(d.API.OpenAPI(), "", "  ")
		if err != nil {
			// unreachable: the routes are the same in every process
			panic(fmt.Errorf("render the OpenAPI document: %w", err))
		}
		return text
	})
}

// Limit documents a limit that only the domain enforces, in units of its own.
func Limit(s *huma.Schema, keyword string, n int) {
	s.Extensions = map[string]any{keyword: n}
}

// openAnswers lets answers have further members some day: only bodies that callers send are closed.
// A type that is sent and answered is described twice.
func (d *Document) openAnswers() {
	all := d.API.OpenAPI().Components.Schemas.Map()
	sent, answered := map[string]bool{}, map[string]bool{}
	responses := slices.Collect(maps.Values(d.API.OpenAPI().Components.Responses))
	for _, op := range d.operations() {
		if op.RequestBody != nil {
			d.reach(op.RequestBody.Content, sent)
		}
		responses = slices.AppendSeq(responses, maps.Values(op.Responses))
	}
	for _, r := range responses {
		d.reach(r.Content, answered)
	}
	for _, r := range responses {
		for _, m := range r.Content {
			answers(m.Schema, sent)
		}
	}
	for name := range answered {
		s := all[name]
		if sent[name] {
			s = clone(s)
			all[answeredPrefix+name] = s
		}
		answers(s, sent)
	}
}

func clone(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	same := *s
	same.Properties = maps.Clone(s.Properties)
	for name, p := range same.Properties {
		same.Properties[name] = clone(p)
	}
	same.Items = clone(s.Items)
	return &same
}

// answeredPrefix is how the names of schemas begin that are those of members of answers, where
// callers send the like too.
const answeredPrefix = "Answered"

// reach adds the schemas that bodies are made of.
func (d *Document) reach(content map[string]*huma.MediaType, names map[string]bool) {
	var visit func(*huma.Schema)
	visit = func(s *huma.Schema) {
		name, isRef := strings.CutPrefix(s.Ref, Schemas)
		if isRef && !names[name] {
			names[name] = true
			visit(d.API.OpenAPI().Components.Schemas.Map()[name])
		}
		each(s, visit)
	}
	for _, m := range content {
		visit(m.Schema)
	}
}

// answers makes a schema one of answers. Those that callers send, too, have others in their place.
func answers(s *huma.Schema, sent map[string]bool) {
	if s.AdditionalProperties == false {
		s.AdditionalProperties = nil
	}
	if name, isRef := strings.CutPrefix(s.Ref, Schemas); isRef && sent[name] {
		s.Ref = Schemas + answeredPrefix + name
	}
	each(s, func(part *huma.Schema) { answers(part, sent) })
}

// each visits the parts of a schema.
func each(s *huma.Schema, visit func(*huma.Schema)) {
	for _, p := range s.Properties {
		visit(p)
	}
	if s.Items != nil {
		visit(s.Items)
	}
	for _, o := range s.OneOf {
		visit(o)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		visit(values)
	}
}

// operations returns all operations.
func (d *Document) operations() (all []*huma.Operation) {
	for _, path := range d.API.OpenAPI().Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Put, path.Patch, path.Delete} {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}

// complete adds the headers that all answers have, and examples.
func (d *Document) complete(op *huma.Operation) {
	if op.RequestBody != nil {
		d.exemplify(op.RequestBody.Content)
	}
	for _, p := range op.Parameters {
		if p.Schema != nil && p.Schema.Description == p.Description {
			p.Schema.Description = "" // which huma repeats
		}
	}
	// answered as the first time
	if made, again := op.Responses["201"], op.Responses["200"]; made != nil && again != nil {
		again.Headers = maps.Clone(made.Headers)
	}
	for status, r := range op.Responses {
		if r.Ref != "" {
			continue
		}
		if r.Headers == nil {
			r.Headers = map[string]*huma.Header{}
		}
		if op.Responses["304"] != nil && (status == "200" || status == "304") {
			r.Headers["ETag"] = textHeader(true, "Changes with the answer; send it in If-None-Match", d.ETag)
		}
		for name, h := range r.Headers {
			h.Required = !slices.Contains(d.Optional, name)
		}
		maps.Copy(r.Headers, common())
		if len(op.Security) > 0 {
			maps.Copy(r.Headers, limitHeaders())
		}
		for _, h := range r.Headers {
			// where readers look for it, and once: a document has thousands of headers
			h.Description, h.Schema.Description = cmp.Or(h.Description, h.Schema.Description), ""
		}
		d.exemplify(r.Content)
	}
}

func textHeader(required bool, doc, example string) *huma.Header {
	return &huma.Header{
		Required: required,
		Schema:   &huma.Schema{Type: huma.TypeString, Description: doc, Examples: []any{example}},
	}
}

func number(required bool, doc string, example int) *huma.Header {
	zero := 0.0
	return &huma.Header{
		Required: required,
		Schema:   &huma.Schema{Type: huma.TypeInteger, Minimum: &zero, Description: doc, Examples: []any{example}},
	}
}

// common are the headers of every answer.
func common() map[string]*huma.Header {
	return map[string]*huma.Header{
		"X-Request-Id": textHeader(true, "Names the request in the log of the server",
			"8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f"),
		"Cache-Control": textHeader(true, "private, no-cache: a client may keep the answer for itself and asks each time whether it still holds; no-store: it may not", "private, no-cache"),
	}
}

// limitHeaders are the headers of answers that count against a limit, where one is set.
func limitHeaders() map[string]*huma.Header {
	return map[string]*huma.Header{
		"RateLimit-Limit": number(false,
			"How many requests of this kind, reads or writes, the caller may send at once", 500),
		"RateLimit-Remaining": number(false, "How many of them are left", 499),
		"RateLimit-Reset":     number(false, "In how many seconds all of them are back; in a refusal, the first", 1),
	}
}

// AddErrors gives an operation the answers with the statuses that report its errors.
func (d *Document) AddErrors(op *huma.Operation, statuses ...int) {
	responses := map[string]*huma.Response{}
	maps.Copy(responses, op.Responses)
	for _, s := range statuses {
		responses[strconv.Itoa(s)] = &huma.Response{Ref: d.errorResponse(s)}
	}
	op.Responses, op.Errors = responses, nil
}

// errorResponse returns the reference to the answer with a status that reports an error.
func (d *Document) errorResponse(status int) string {
	components := d.API.OpenAPI().Components
	if components.Responses == nil {
		components.Responses = map[string]*huma.Response{}
	}
	name := "Error" + strconv.Itoa(status)
	if components.Responses[name] == nil {
		components.Responses[name] = d.describeError(status)
	}
	return "#/components/responses/" + name
}

func (d *Document) describeError(status int) *huma.Response {
	schema := d.API.OpenAPI().Components.Schemas.Schema(reflect.TypeOf(d.Problem), true, "Problem")
	headers := common()
	maps.Copy(headers, limitHeaders())
	switch status {
	case http.StatusUnauthorized:
		headers["WWW-Authenticate"] = textHeader(true, "How to sign in", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers["Retry-After"] = number(true, "In how many seconds to try again", 2)
	case http.StatusPreconditionFailed:
		headers["ETag"] = textHeader(false, "That of the thing as it is now", d.ETag)
	}
	meaning, ok := d.Meanings[status]
	if !ok {
		meaning = everywhere[status]
	}
	example := httpjson.Problem{
		Title: http.StatusText(status), Status: status,
		Code: httpjson.NewProblem(context.Background(), status, "").Code, Detail: meaning.Detail,
		RequestID: "8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f",
		Errors:    meaning.Fields,
	}
	return &huma.Response{
		Description: meaning.Doc, Headers: headers,
		Content: map[string]*huma.MediaType{httpjson.ProblemType: {Schema: schema, Example: example}},
	}
}

// exemplify gives bodies an example made of those of their members.
func (d *Document) exemplify(content map[string]*huma.MediaType) {
	for name, m := range content {
		if m.Example == nil {
			m.Example = d.Examples[name]
		}
		if m.Example == nil && m.Schema != nil && strings.HasSuffix(name, "json") {
			m.Example = d.example(m.Schema)
		}
	}
}

func (d *Document) example(s *huma.Schema) any {
	if s.Ref != "" {
		s = d.API.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Type == huma.TypeArray:
		return []any{d.example(s.Items)}
	case s.Type == huma.TypeObject:
		all := map[string]any{}
		for name, property := range s.Properties {
			if !slices.Contains(d.Rare, name) {
				all[name] = d.example(property)
			}
		}
		return all
	}
	return nil
}

// Conditional documents what httpjson.ETags does for every GET.
func Conditional(op *huma.Operation) {
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: "If-None-Match", In: "header", Description: "ETags of answers that the caller has",
		Schema: &huma.Schema{Type: huma.TypeString},
	})
	op.Responses["304"] = &huma.Response{Description: "The caller has the answer"}
}
