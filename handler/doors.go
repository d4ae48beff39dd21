package main

import (
	"net/http"
	"time"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/web"
)

// doors returns the pages and the API: the path says which one is asked.
func (a *app) doors(identify auth.Identify) http.Handler {
	return a.settings.Clients(web.Beside(a.api(identify), a.pages(identify)))
}

// pages returns what people see in a browser.
func (a *app) pages(identify auth.Identify) http.Handler {
	return web.New(web.Config{
		Service:  prompthub.New(a.db, prompt.Rules{MaxText: a.settings.MaxText}, time.Now),
		Identify: identify, SignIn: a.settings.signIn(), PublicRead: a.settings.PublicRead, MaxText: a.settings.MaxText,
		Limits: a.settings.Complete(a.settings.Dev()),
		Log:    a.log, Now: time.Now, Telemetry: a.telemetry,
	})
}

// signIn returns how browsers sign in.
func (s settings) signIn() web.SignIn {
	switch {
	case s.Dev():
		return web.Dev
	case s.Mode == "easyauth":
		return web.Platform
	}
	return web.Nowhere
}
