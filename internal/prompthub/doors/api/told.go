package api

import (
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
)

// A Known is what an access token without the scope read is told of what it changed.
type Known struct {
	ID       string `json:"id" doc:"Of what was changed" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Revision int64  `json:"revision,omitempty" doc:"Of a prompt: one more with every edit" example:"3"`
}

// knownType is the media type of a Known. It has one of its own, so that clients made from the
// document keep the type of the whole answer for JSON.
const knownType = "application/vnd.prompthub.known+json"

// ContentType returns the media type of a Known in place of another.
func (Known) ContentType(string) string { return knownType }

// A changedOutput is the answer to a change of a prompt: a Prompt or a Known.
type changedOutput struct {
	ETag string `header:"ETag" doc:"Revision, likes, dislikes and the caller's vote; the revision alone to a token without the scope read" example:"\"3-12-2-l\""`
	Body any
}

func (a *api) changed(c call, v library.View) *changedOutput {
	return &changedOutput{ETag: changedTag(c, v), Body: a.told(c, v)}
}

// told returns what the answer to a change says of a prompt.
func (a *api) told(c call, v library.View) any {
	return toldOf(c, a.encode(v), Known{string(v.ID), v.Revision})
}

// toldOf returns the whole answer to a change, or what a token may know that cannot read.
func toldOf(c call, whole any, known Known) any {
	if c.May(auth.ScopeRead) {
		return whole
	}
	return known
}

func changedTag(c call, v library.View) string {
	if c.May(auth.ScopeRead) {
		return etag(v)
	}
	return strconv.Quote(strconv.FormatInt(v.Revision, 10))
}

// answers says in the document that a change is answered with a T, or with a Known.
func answers[T any](a *api, status int, description string, op huma.Operation) huma.Operation {
	schema := func(t reflect.Type) *huma.Schema {
		return a.huma.OpenAPI().Components.Schemas.Schema(t, true, t.Name())
	}
	if op.Responses == nil {
		op.Responses = make(map[string]*huma.Response)
	}
	op.Responses[strconv.Itoa(status)] = &huma.Response{
		Description: description + "; to an access token without the scope read, id and revision alone, as " +
			knownType,
		Content: map[string]*huma.MediaType{
			jsonType: {Schema: schema(reflect.TypeFor[T]())}, knownType: {Schema: schema(reflect.TypeFor[Known]())},
		},
	}
	return op
}
