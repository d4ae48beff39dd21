package main

import (
	"context"
	"net/http"
	"time"

	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/gitdoor"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/doors/marketplace"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/doors/web"
)

// doors returns the pages, the API, the door for assistants and those that stand in for other
// services: the path chooses. They share the limits of callers.
func (a *app) doors(s command.Serving) http.Handler {
	admission := httpjson.NewAdmission(a.settings.Complete(a.settings.Dev()), time.Now)
	programs := doors.Door{
		Identify: a.service().WithTokens(a.service().WithSessions(s.Identify, admission.Guess), a.settings.Dev(),
			admission.Guess), PublicRead: a.settings.PublicRead, Admission: admission, Service: a.service(),
	}
	all := web.Mount(a.api(programs), a.pages(s, admission))
	all = mcp.Mount(all, a.assistants(programs))
	all = httpjson.Mount(marketplace.Prefix, all, marketplace.New(marketplace.Config{
		Door: programs, Claimed: a.settings.Dev(), Public: a.settings.Public, Log: a.log,
		Now: time.Now, Telemetry: a.telemetry,
	}))
	all = httpjson.Mount(gitdoor.Prefix, all, gitdoor.New(gitdoor.Config{
		Door: programs, Public: a.settings.Public, Log: a.log, Now: time.Now, Telemetry: a.telemetry,
	}))
	foreign := doors.Foreign{
		Door: programs, MaxText: a.settings.MaxText, Origins: a.settings.Origins, Log: a.log,
		Now: time.Now, Telemetry: a.telemetry,
	}
	all = httpjson.Mount(langfuse.Prefix, all, langfuse.New(foreign))
	all = httpjson.Mount(langsmith.Prefix, all, langsmith.New(foreign))
	return a.settings.Clients(all)
}

// assistants returns what assistants see.
func (a *app) assistants(d doors.Door) http.Handler {
	version, _ := command.Built()
	issuers, scopes := a.settings.Issued()
	return mcp.New(mcp.Config{
		Door: d, MaxText: a.settings.MaxText, Issuers: issuers, Scopes: scopes, Public: a.settings.Public,
		Origins: a.settings.Origins, Log: a.log, Now: time.Now, Telemetry: a.telemetry, Version: version,
	})
}

// pages returns what people see in a browser.
func (a *app) pages(s command.Serving, admission *httpjson.Admission) http.Handler {
	return web.New(web.Config{
		Service:  a.service(),
		Identify: s.Identify, SignIn: a.settings.signIn(), User: a.proposed(), Sessions: s.Sessions, Status: status(s),
		PublicRead: a.settings.PublicRead, Public: a.settings.Public, MaxText: a.settings.MaxText,
		Admission: admission, Log: a.log, Now: time.Now, Telemetry: a.telemetry,
	})
}

// proposed is the name that the page to sign in proposes, in dev mode alone.
func (a *app) proposed() string {
	if a.settings.Dev() {
		return defaultUser()
	}
	return ""
}

// status returns what the page of the state shows.
func status(s command.Serving) func(context.Context) ([]web.Fact, error) {
	return func(ctx context.Context) ([]web.Fact, error) {
		facts, err := s.Status(ctx)
		shown := make([]web.Fact, len(facts))
		for i, f := range facts {
			shown[i] = web.Fact(f)
		}
		return shown, err
	}
}

// signIn returns how browsers sign in.
func (s settings) signIn() web.SignIn {
	switch {
	case s.Dev():
		return web.Dev
	case s.Mode == "easyauth":
		return web.Platform
	case s.Mode == "oidc":
		return web.Provider
	case s.Invited():
		return web.Password
	}
	return web.Nowhere
}
