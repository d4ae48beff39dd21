package api

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json"

	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub/door"
	"prompthub/internal/prompthub/transfer"
)

const (
	jsonType  = "application/json"
	mergeType = "application/merge-patch+json"
	fileType  = "application/octet-stream" // of a body that is taken as it is, whatever its type
)

// readBody reads the body of a request whose operation takes one, and lets it pass only as JSON
// that all readers understand alike: UTF-8 throughout, and no name twice in an object.
func (a *api) readBody(ctx huma.Context, next func(huma.Context)) {
	if ctx.Operation().RequestBody == nil {
		next(ctx)
		return
	}
	r, w := humago.Unwrap(ctx)
	if ctx.Operation().RequestBody.Content[fileType] != nil {
		c, _ := ctx.Context().Value(callKey{}).(call)
		if _, err := a.Admission.ReadBody(w, r, c.Key, transfer.MaxFile); err != nil {
			httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
			return
		}
		next(ctx)
		return
	}
	if !accepted(r.Header.Get("Content-Type"), ctx.Operation().RequestBody.Content) {
		httpjson.Refuse(w, r, httpjson.NewProblem(r.Context(), http.StatusUnsupportedMediaType, "send the body as "+jsonType+" in UTF-8"))
		return
	}
	c, _ := ctx.Context().Value(callKey{}).(call)
	b, err := a.Admission.ReadBody(w, r, c.Key, door.BodyLimit(a.MaxText))
	if err == nil {
		err = strict(r.Context(), b)
	}
	if err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
		return
	}
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", jsonType)
	next(ctx)
}

// strict reports what keeps a body from being JSON that all readers understand alike.
func strict(ctx context.Context, b []byte) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return httpjson.NewProblem(ctx, http.StatusBadRequest, "the body is empty; send a JSON object")
	}
	err := httpjson.CheckJSON(b)
	if err == nil {
		return nil
	}
	p := httpjson.NewProblem(ctx, http.StatusBadRequest, "the body is not valid JSON")
	p.Errors = []httpjson.Field{httpjson.BrokenJSON(err)}
	return p
}

// accepted reports whether a body of this type is one of types. None is taken for JSON.
func accepted(contentType string, types map[string]*huma.MediaType) bool {
	if contentType == "" {
		return true
	}
	name, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	return err == nil && types[name] != nil && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// unmarshal decodes a body that strict has let pass, for huma: once as it is, once into the type of
// the operation. Only a number can be of the wrong type in the second place: one with a fraction or
// exponent, or too large.
func unmarshal(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	var wrong *json.SemanticError
	if errors.As(err, &wrong) {
		return errors.New("expected a plain integer at " + httpjson.Location(wrong.JSONPointer))
	}
	return err
}

// An optional is a member of a merge patch. Null sets it to zero: no tags, or else a value that the
// domain refuses.
type optional[T any] struct {
	Set   bool
	Value T
}

// UnmarshalJSON notes that the member is there.
func (o *optional[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	return json.Unmarshal(b, &o.Value)
}

// pointer returns the value, and nil where the member is absent.
func (o *optional[T]) pointer() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// Schema returns the schema of the value.
func (o optional[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}
