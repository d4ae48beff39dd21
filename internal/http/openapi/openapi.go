// Package openapi is what the JSON APIs of all applications have in common that are made with huma:
// how it is set, bodies and queries that all readers understand alike, problems in the place of
// huma's errors, and an OpenAPI document that says all of it.
package openapi

import (
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// exactNames makes huma tell "Title" from "title", as the decoder does, and say what it takes. Both
// are settings of the whole process, so they are made once.
var exactNames = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	validation.MsgExpectedOneOf = "give one of %s" // huma quotes the list as if it were one value
})

// Config returns the settings of an API, which serves its document by routes of its own.
func Config(title, version string) huma.Config {
	exactNames()
	c := huma.DefaultConfig(title, version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", ""
	c.CreateHooks = nil // no links to schemas in answers
	c.Transformers = []huma.Transformer{Problems}
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}
	c.Formats = map[string]huma.Format{JSON: format, "json": format}
	return c
}
