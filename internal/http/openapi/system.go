package openapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// The paths by which a platform asks whether an application is up.
const (
	HealthPath = "/health"
	ReadyPath  = "/ready"
)

// IsProbe reports whether a platform asks for a path to know that an application is up.
func IsProbe(path string) bool { return path == HealthPath || path == ReadyPath }

// DocumentType is the media type of an OpenAPI document.
const DocumentType = "application/openapi+json"

// A System answers the requests about an application itself. Each application registers its three
// routes with the access and the bounds that it gives them.
type System struct {
	Version  string
	Ready    Readiness
	Rendered func() []byte // the document, once Render has made it
}

// State says that the process is up.
type State struct {
	Status  string `json:"status" enum:"ok" doc:"ok; anything else is an error" example:"ok"`
	Version string `json:"version" doc:"Of the program" example:"1.4.0"`
}

// A StateOutput is an answer with the state.
type StateOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         State
}

// A DocumentOutput is an answer with the document.
type DocumentOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        json.RawMessage
}

// HealthRoute is the route of Health.
func HealthRoute() huma.Operation {
	return huma.Operation{
		OperationID: "get-health", Method: http.MethodGet, Path: HealthPath, Tags: []string{"system"},
		Summary: "The process is up", Description: "Asks nothing of the storage.",
	}
}

// ReadyRoute is the route of IsReady.
func ReadyRoute() huma.Operation {
	return huma.Operation{
		OperationID: "get-ready", Method: http.MethodGet, Path: ReadyPath, Tags: []string{"system"},
		Summary:     "The storage answers, or did within the last seconds",
		Description: "An answer 503 means that no request that needs the storage can succeed.",
	}
}

// DocumentRoute is the route of Document.
func DocumentRoute() huma.Operation {
	return huma.Operation{
		OperationID: "get-openapi", Method: http.MethodGet, Path: "/openapi.json", Tags: []string{"system"},
		Summary:     "This document",
		Description: "Derived from the code of the routes, so it is always of the version that answers.",
		Responses: map[string]*huma.Response{
			"200": {
				Description: "OpenAPI 3.1",
				Content:     map[string]*huma.MediaType{DocumentType: {Schema: &huma.Schema{Type: huma.TypeObject}}},
			},
		},
	}
}

// Health answers HealthRoute.
func (s *System) Health(context.Context, *struct{}) (*StateOutput, error) { return s.state(), nil }

// IsReady answers ReadyRoute.
func (s *System) IsReady(ctx context.Context, _ *struct{}) (*StateOutput, error) {
	return s.state(), s.Ready.Check(ctx)
}

// Document answers DocumentRoute.
func (s *System) Document(context.Context, *struct{}) (*DocumentOutput, error) {
	return &DocumentOutput{DocumentType, s.Rendered()}, nil
}

func (s *System) state() *StateOutput {
	return &StateOutput{CacheControl: "no-store", Body: State{"ok", s.Version}}
}
