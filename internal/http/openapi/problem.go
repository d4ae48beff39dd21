package openapi

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// Problems turns what huma found wrong with a request into a problem like all others.
func Problems(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := httpjson.NewProblem(ctx.Context(), m.Status, m.Detail)
	if m.Status == http.StatusUnprocessableEntity {
		p.Detail = BrokenRules
	}
	for _, e := range m.Errors[:min(len(m.Errors), maxErrors)] {
		p.Errors = append(p.Errors, field(*e))
	}
	return p, nil
}

// maxErrors is how many broken rules one answer names: enough to see what is wrong, and no answer
// larger than the request.
const maxErrors = 20

// field locates a missing property at itself, where huma names the object around it.
func field(e huma.ErrorDetail) httpjson.Field {
	where, _ := httpjson.Short(e.Location).(string) // it may end with a name that the client made up
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	name, isMissing := strings.CutPrefix(e.Message, before)
	name, hasEnd := strings.CutSuffix(name, after)
	if isMissing && hasEnd {
		return httpjson.Field{Location: where + "." + name, Message: "is required"}
	}
	return httpjson.Field{Location: where, Message: e.Message, Value: httpjson.Short(e.Value)}
}

// BrokenRules is what a problem says whose errors say more.
const BrokenRules = "the request breaks the rules named here"

// Invalid reports one broken rule.
func Invalid(location, message string, value any) *fault.Error {
	return &fault.Error{
		Kind: fault.Invalid, Text: BrokenRules,
		Fields: []fault.Field{{Name: location, Message: message, Value: value}},
	}
}
