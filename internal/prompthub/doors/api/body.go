package api

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

const (
	jsonType  = "application/json"
	mergeType = "application/merge-patch+json"
	fileType  = "application/octet-stream" // of a body that is taken as it is, of any type
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
		if _, err := a.Admission.ReadBody(w, r, transfer.MaxFile); err != nil {
			httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
			return
		}
		next(ctx)
		return
	}
	limit := doors.BodyLimit(a.MaxText)
	switch op := ctx.Operation(); {
	case op.RequestBody.Content[zipType] != nil && isZIP(r):
		a.readZIP(ctx, next)
		return
	case slices.Contains(withFiles, op.OperationID):
		limit = doors.MaxFilesBody
	case op.OperationID == replacePrompt:
		limit += maxFile
	}
	if openapi.ReadBody(ctx, a.Admission, limit) {
		next(ctx)
	}
}

// withFiles are the operations whose body may have the files of a version.
var withFiles = []string{"create-prompt", "patch-prompt", "replace-files"}

// replacePrompt is the operation whose body may have a file that is kept with the prompt.
const replacePrompt = "replace-prompt"

// maxFile is how many bytes of a body such a file may take, as base64.
const maxFile = (prompt.MaxSource + 2) / 3 * 4

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
