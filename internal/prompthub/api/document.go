package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

// What the document says beyond what huma derives from the Go types: limits that only the
// domain enforces, headers that all answers have, and examples of whole bodies.

// describe completes the document and renders it.
func (a *api) describe() {
	doc := a.huma.OpenAPI()
	delete(doc.Components.Schemas.Map(), "ErrorModel") // huma's own, which no answer has
	delete(doc.Components.Schemas.Map(), "ErrorDetail")
	doc.Components.Schemas.Map()["Problem"].Properties["current"] = &huma.Schema{
		Ref: schemas + "Prompt", Description: "With the status 412: the prompt as it is now",
	}
	a.limits()
	a.openAnswers()
	for _, op := range a.operations() {
		a.complete(op)
	}
	var err error
	if a.document, err = json.MarshalIndent(doc, "", "  "); err != nil {
		// unreachable: the routes are the same in every process
		panic(fmt.Errorf("render the OpenAPI document: %w", err))
	}
}

// openAnswers lets answers have further members some day: only what callers send is closed. What is
// sent and answered too is described twice.
func (a *api) openAnswers() {
	all := a.huma.OpenAPI().Components.Schemas.Map()
	sent, answered := map[string]bool{}, map[string]bool{}
	responses := slices.Collect(maps.Values(a.huma.OpenAPI().Components.Responses))
	for _, op := range a.operations() {
		if op.RequestBody != nil {
			a.reach(op.RequestBody.Content, sent)
		}
		responses = slices.AppendSeq(responses, maps.Values(op.Responses))
	}
	for _, r := range responses {
		a.reach(r.Content, answered)
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
func (a *api) reach(content map[string]*huma.MediaType, names map[string]bool) {
	var visit func(*huma.Schema)
	visit = func(s *huma.Schema) {
		name, isRef := strings.CutPrefix(s.Ref, schemas)
		if isRef && !names[name] {
			names[name] = true
			visit(a.huma.OpenAPI().Components.Schemas.Map()[name])
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
	if name, isRef := strings.CutPrefix(s.Ref, schemas); isRef && sent[name] {
		s.Ref = schemas + answeredPrefix + name
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
func (a *api) operations() (all []*huma.Operation) {
	for _, path := range a.huma.OpenAPI().Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Put, path.Patch, path.Delete} {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}

// limits documents limits that only the domain enforces: it counts UTF-16 code units, after
// trimming, where huma would count code points before.
func (a *api) limits() {
	all := a.huma.OpenAPI().Components.Schemas.Map()
	for _, name := range []string{"Prompt", "NewPrompt", "PromptDraft", "PromptPatch"} {
		limit(all[name].Properties["title"], "maxLength", prompt.MaxTitle)
		limit(all[name].Properties["tags"], "maxItems", prompt.MaxTags)
		limit(all[name].Properties["ownTags"], "maxItems", prompt.MaxOwnTags)
		limit(all[name].Properties["name"], "maxLength", prompt.MaxName)
		limit(all[name].Properties["description"], "maxLength", prompt.MaxDescription)
		limit(all[name].Properties["message"], "maxLength", prompt.MaxMessage)
		if name != "Prompt" { // the limit was another when an old one was written
			limit(all[name].Properties["text"], "maxLength", a.MaxText)
		}
	}
	limit(all["Reason"].Properties["reason"], "maxLength", prompthub.MaxReason)
	limit(all["TagEntry"].Properties["displayName"], "maxLength", prompthub.MaxDisplayName)
}

func limit(s *huma.Schema, keyword string, n int) {
	s.Extensions = map[string]any{keyword: n}
}

// complete adds the headers that all answers have, and examples.
func (a *api) complete(op *huma.Operation) {
	if op.RequestBody != nil {
		a.exemplify(op.RequestBody.Content)
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
			r.Headers["ETag"] = header(true, "Changes with the answer; send it in If-None-Match", `"3-12-2-l"`)
		}
		for name, h := range r.Headers {
			h.Required = name != "Link" && name != lossHeader // the last page, and all is held
		}
		maps.Copy(r.Headers, common())
		if len(op.Security) > 0 {
			maps.Copy(r.Headers, limitHeaders())
		}
		for _, h := range r.Headers {
			h.Description = h.Schema.Description // where readers look for it
		}
		a.exemplify(r.Content)
	}
}

func header(required bool, doc, example string) *huma.Header {
	return &huma.Header{Required: required, Schema: &huma.Schema{Type: huma.TypeString, Description: doc, Examples: []any{example}}}
}

func number(required bool, doc string, example int) *huma.Header {
	zero := 0.0
	return &huma.Header{Required: required, Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &zero, Description: doc, Examples: []any{example}}}
}

// common are the headers of every answer.
func common() map[string]*huma.Header {
	return map[string]*huma.Header{
		"X-Request-Id":  header(true, "Names the request in the log of the server", "8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f"),
		"Cache-Control": header(true, "private, no-cache: a client may keep the answer for itself and asks each time whether it still holds; no-store: it may not", "private, no-cache"),
	}
}

// limitHeaders are the headers of answers that count against a limit, where one is set.
func limitHeaders() map[string]*huma.Header {
	return map[string]*huma.Header{
		"RateLimit-Limit":     number(false, "How many requests of this kind, reads or writes, the caller may send at once", 500),
		"RateLimit-Remaining": number(false, "How many of them are left", 499),
		"RateLimit-Reset":     number(false, "In how many seconds all of them are back; in a refusal, the first", 1),
	}
}

// errorResponse returns the reference to the answer with a status that reports an error.
func (a *api) errorResponse(status int) string {
	components := a.huma.OpenAPI().Components
	if components.Responses == nil {
		components.Responses = map[string]*huma.Response{}
	}
	name := "Error" + strconv.Itoa(status)
	if components.Responses[name] == nil {
		components.Responses[name] = a.describeError(status)
	}
	return "#/components/responses/" + name
}

func (a *api) describeError(status int) *huma.Response {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[httpjson.Problem](), true, "Problem")
	headers := common()
	maps.Copy(headers, limitHeaders())
	switch status {
	case http.StatusUnauthorized:
		headers["WWW-Authenticate"] = header(true, "How to sign in", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		headers["Retry-After"] = number(true, "In how many seconds to try again", 2)
	case http.StatusPreconditionFailed:
		headers["ETag"] = header(false, "That of the prompt as it is now", `"3-12-2-l"`)
	}
	meaning := meanings[status]
	example := httpjson.Problem{
		Title: http.StatusText(status), Status: status, Detail: meaning.detail, RequestID: "8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f",
		Errors: meaning.fields,
	}
	return &huma.Response{
		Description: meaning.doc, Headers: headers,
		Content: map[string]*huma.MediaType{httpjson.ProblemType: {Schema: schema, Example: example}},
	}
}

// meanings says what each status that reports an error means here, with an example.
var meanings = map[int]struct {
	doc, detail string
	fields      []httpjson.Field
}{
	400: {"The query, the cursor or the body cannot be read", "the body is not valid JSON", []httpjson.Field{{Location: "body.title", Message: "the JSON ends early"}}},
	401: {"Nobody, or nobody who is believed, is calling", "sign in to use this", nil},
	403: {"The caller may see this and may not do that to it", "only its author may change a prompt", nil},
	409: {"What the request asks for is taken, or cannot be as things are", "another prompt of yours has this name", []httpjson.Field{{Location: "body.name", Message: "choose a name that none of your prompts has, nor has as its slug"}}},
	404: {"There is no such thing, or the caller may not know of it", "there is no such prompt", nil},
	408: {"The body took too long to arrive", "the body took too long to arrive", nil},
	412: {"The prompt was changed since; the answer holds the current one", "the prompt was changed since you read it; merge your change into the current one and send its ETag in If-Match", nil},
	413: {"The body is too large", "the body is larger than 256 KiB", nil},
	415: {"The body is not JSON in UTF-8", "send the body as application/json in UTF-8", nil},
	422: {"The request can be read and breaks rules, which are named: a parameter that the route does not have is one", "the request breaks the rules named here", []httpjson.Field{{Location: "body.title", Message: "is required"}}},
	428: {"If-Match is missing", "send the ETag of the prompt that your change is based on in If-Match", nil},
	429: {"The caller sends more than one caller may, or too much at once", "you send more requests than this service takes from one caller; wait and send it again", nil},
	500: {"Something went wrong here", "something went wrong here; if it happens again, tell the operator the request id", nil},
	503: {"The storage is slow or away, or too much is at work: try again", "the storage does not answer at the moment; try again", nil},
}

// exemplify gives bodies an example made of those of their members.
func (a *api) exemplify(content map[string]*huma.MediaType) {
	for name, m := range content {
		if m.Example == nil && name == fileType {
			m.Example = "A text with {{name}}."
		}
		if m.Example == nil && m.Schema != nil && (name == jsonType || name == mergeType) {
			m.Example = a.example(m.Schema)
		}
	}
}

// rare are members that only few prompts have.
var rare = []string{"formerName", "deletedAt", "purgeAt", "hidden", "messages"}

func (a *api) example(s *huma.Schema) any {
	if s.Ref != "" {
		s = a.huma.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Type == huma.TypeArray:
		return []any{a.example(s.Items)}
	case s.Type == huma.TypeObject:
		all := map[string]any{}
		for name, property := range s.Properties {
			if !slices.Contains(rare, name) {
				all[name] = a.example(property)
			}
		}
		return all
	}
	return nil
}
