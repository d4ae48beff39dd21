package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

const (
	healthPath = "/health"
	readyPath  = "/ready"
)

func (a *api) system() {
	route(a, open, huma.Operation{
		OperationID: "get-health", Method: http.MethodGet, Path: healthPath, Tags: []string{"system"},
		Summary:     "The process is up",
		Description: "Asks nothing of the storage, and nobody who is calling: for probes that restart a process. Nothing keeps the answer.",
	}, a.health)
	route(a, open, huma.Operation{
		OperationID: "get-ready", Method: http.MethodGet, Path: readyPath, Tags: []string{"system"},
		Summary: "The storage answers, or did within the last seconds", Errors: []int{http.StatusServiceUnavailable},
		Description: "For probes that send requests elsewhere: 503 means that no request that needs the storage can succeed. The storage is asked at most every 2 s, whoever calls.",
	}, a.isReady)
	route(a, open, huma.Operation{
		OperationID: "get-openapi", Method: http.MethodGet, Path: "/openapi.json", Tags: []string{"system"},
		Summary:     "This document",
		Description: "Derived from the code of the routes, so it is always of the version that answers. Clients can be generated from it; members may be added to answers with any version.",
		Responses:   map[string]*huma.Response{"200": {Description: "OpenAPI 3.1", Content: map[string]*huma.MediaType{openapiType: {Schema: &huma.Schema{Type: huma.TypeObject}}}}},
	}, a.openapi)
}

const (
	openapiType = "application/openapi+json"
	noStore     = "no-store"
)

type stateOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         State
}

func (a *api) state() *stateOutput {
	return &stateOutput{CacheControl: noStore, Body: State{Status: "ok", Version: a.Version}}
}

func (a *api) health(context.Context, call, *struct{}) (*stateOutput, error) { return a.state(), nil }

func (a *api) isReady(ctx context.Context, _ call, _ *struct{}) (*stateOutput, error) {
	if err := a.ready.check(ctx); err != nil {
		return nil, err
	}
	return a.state(), nil
}

const (
	readyFor    = 2 * time.Second
	readyWithin = 5 * time.Second
)

// A readiness asks whether the storage answers, and believes the answer for a while: probes
// come often and from many sides.
type readiness struct {
	ask func(context.Context) error
	now func() time.Time

	mu  sync.Mutex
	at  time.Time
	err error
}

// check returns the last answer, or asks. Who comes while another asks waits for that answer.
func (r *readiness) check(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && r.now().Sub(r.at) < readyFor {
		return r.err
	}
	// Others get the answer too, so it must not depend on whether this caller stays.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer cancel()
	r.err = r.ask(ctx)
	r.at = r.now()
	return r.err
}

type rawOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	CSP         string `header:"Content-Security-Policy" hidden:"true"`
	Body        []byte
}

func (a *api) openapi(context.Context, call, *struct{}) (*rawOutput, error) {
	return &rawOutput{ContentType: openapiType, Body: a.document}, nil
}
