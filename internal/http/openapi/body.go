package openapi

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

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// JSON is the media type of bodies.
const JSON = "application/json"

// ReadBody reads the JSON body of a request whose operation takes one, of at most n bytes,
// and refuses what not all readers understand alike: it must be UTF-8 throughout, with no name
// twice in an object. Where the operation can do without a body, an empty one is none. It reports
// whether the request goes on; otherwise it is answered.
func ReadBody(ctx huma.Context, admission *httpjson.Admission, most int64) bool {
	want := ctx.Operation().RequestBody
	r, w := humago.Unwrap(ctx)
	if !accepted(r.Header.Get("Content-Type"), want.Content) {
		httpjson.Refuse(w, r, httpjson.NewProblem(r.Context(), http.StatusUnsupportedMediaType,
			"send the body as "+JSON+" in UTF-8"))
		return false
	}
	b, err := admission.ReadBody(w, r, most)
	if err == nil && (want.Required || len(b) > 0) {
		err = strict(r.Context(), b)
	}
	if err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
		return false
	}
	r.Header = r.Header.Clone()
	r.Header.Set("Content-Type", JSON)
	return true
}

// strict reports what keeps a body from being JSON that all readers understand alike.
func strict(ctx context.Context, b []byte) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return httpjson.NewProblem(ctx, http.StatusBadRequest, "the body is empty; send a JSON object")
	}
	err := httpjson.CheckJSON(b)
	if err == nil || fault.CodeOf(err) != "" {
		return err
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
// the operation. Only a number can fail: in the first place one that no float64 holds, in the
// second one with a fraction or exponent, or too large for an integer.
func unmarshal(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	var wrong *json.SemanticError
	switch {
	case errors.As(err, &wrong) && wrong.GoType != nil && wrong.GoType.Kind() == reflect.Float64:
		return errors.New("write a number of at most 1.79e308 at " + httpjson.Location(wrong.JSONPointer))
	case wrong != nil:
		return errors.New("expected a plain integer at " + httpjson.Location(wrong.JSONPointer))
	}
	return err
}
