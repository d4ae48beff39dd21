package format

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
)

// defaultJSON returns the default of a variable as the type of its values has it.
func defaultJSON(v prompt.Variable) jsontext.Value {
	typed := v.Type == prompt.Number && jsonNumber.MatchString(*v.Default) ||
		v.Type == prompt.Boolean && (*v.Default == "true" || *v.Default == "false")
	if typed {
		return jsontext.Value(*v.Default)
	}
	b, _ := json.Marshal(*v.Default) // a text cannot fail
	return b
}

// scalarText returns a scalar as a text, nil for anything else.
func scalarText(v jsontext.Value) *string {
	var s string
	switch v.Kind() {
	case '"':
		if json.Unmarshal(v, &s) != nil {
			return nil
		}
	case '0', 't', 'f':
		s = string(v)
	default:
		return nil
	}
	return &s
}
