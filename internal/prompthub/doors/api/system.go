package api

import (
	"context"

	"prompthub/internal/http/openapi"
)

func (a *api) system() {
	health, ready, document := openapi.HealthRoute(), openapi.ReadyRoute(), openapi.DocumentRoute()
	health.Description = "Reads no storage and needs no sign-in: for probes that restart a process. The answer is not cached."
	ready.Description = "For probes that send requests elsewhere: 503 means that no request that needs the storage can succeed. The storage is asked at most every 2 s, however many call."
	document.Description = "Derived from the code of the routes, so it is always of the version that answers. Clients can be generated from it; members may be added to answers with any version."
	route(a, open, health, openapi.Unclaimed[call](a.about.Health))
	route(a, open, ready, openapi.Unclaimed[call](a.about.IsReady))
	route(a, open, document, a.openapi)
}

type rawOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	CSP         string `header:"Content-Security-Policy" hidden:"true"`
	Body        []byte
}

func (a *api) openapi(context.Context, call, *struct{}) (*rawOutput, error) {
	return &rawOutput{ContentType: openapi.DocumentType, Body: a.about.Rendered()}, nil
}
