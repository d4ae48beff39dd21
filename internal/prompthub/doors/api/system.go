package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/openapi"
)

func (a *api) system() {
	route(a, open, huma.Operation{
		OperationID: "get-health", Method: http.MethodGet, Path: openapi.HealthPath, Tags: []string{"system"},
		Summary:     "The process is up",
		Description: "Reads no storage and needs no sign-in: for probes that restart a process. The answer is not cached.",
	}, a.health)
	route(a, open, huma.Operation{
		OperationID: "get-ready", Method: http.MethodGet, Path: openapi.ReadyPath, Tags: []string{"system"},
		Summary: "The storage answers, or did within the last seconds", Errors: []int{http.StatusServiceUnavailable},
		Description: "For probes that send requests elsewhere: 503 means that no request that needs the storage can succeed. The storage is asked at most every 2 s, however many call.",
	}, a.isReady)
	route(a, open, huma.Operation{
		OperationID: "get-openapi", Method: http.MethodGet, Path: "/openapi.json", Tags: []string{"system"},
		Summary:     "This document",
		Description: "Derived from the code of the routes, so it is always of the version that answers. Clients can be generated from it; members may be added to answers with any version.",
		Responses:   map[string]*huma.Response{"200": {Description: "OpenAPI 3.1", Content: map[string]*huma.MediaType{openapi.DocumentType: {Schema: &huma.Schema{Type: huma.TypeObject}}}}},
	}, a.openapi)
}

const noStore = "no-store"

type stateOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         State
}

func (a *api) state() *stateOutput {
	return &stateOutput{CacheControl: noStore, Body: State{Status: "ok", Version: a.Version}}
}

func (a *api) health(context.Context, call, *struct{}) (*stateOutput, error) { return a.state(), nil }

func (a *api) isReady(ctx context.Context, _ call, _ *struct{}) (*stateOutput, error) {
	if err := a.ready.Check(ctx); err != nil {
		return nil, err
	}
	return a.state(), nil
}

type rawOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	CSP         string `header:"Content-Security-Policy" hidden:"true"`
	Body        []byte
}

func (a *api) openapi(context.Context, call, *struct{}) (*rawOutput, error) {
	return &rawOutput{ContentType: openapi.DocumentType, Body: a.rendered()}, nil
}
