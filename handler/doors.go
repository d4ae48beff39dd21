package main

import (
	"context"
	"net/http"
	"time"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/web"
)

// doors returns the pages and the API: the path says which one is asked.
func (a *app) doors(identify auth.Identify, sessions *auth.Sessions) http.Handler {
	return a.settings.Clients(web.Beside(a.api(identify), a.pages(identify, sessions)))
}

// pages returns what people see in a browser.
func (a *app) pages(identify auth.Identify, sessions *auth.Sessions) http.Handler {
	return web.New(web.Config{
		Service:  prompthub.New(a.db, prompt.Rules{MaxText: a.settings.MaxText}, time.Now),
		Identify: identify, SignIn: a.settings.signIn(), Sessions: sessions, PublicRead: a.settings.PublicRead, MaxText: a.settings.MaxText,
		Limits: a.settings.Complete(a.settings.Dev()),
		Log:    a.log, Now: time.Now, Telemetry: a.telemetry,
	})
}

// signing returns how callers are identified, and the sessions of browsers where there are some. The error is an *auth.Refusal.
func signing(ctx context.Context, s settings) (auth.Identify, *auth.Sessions, error) {
	identify, err := auth.New(ctx, s.Config)
	if err != nil {
		return nil, nil, err
	}
	sessions, err := s.Sessions(ctx, web.Prefix, web.Callback)
	return identify, sessions, err
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
	}
	return web.Nowhere
}
