package main

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub/web"
)

func TestDoors(t *testing.T) {
	doors := withFront(testApp().doors(auth.Dev(), nil))
	tests := []struct {
		path, accept, contentType string
		status                    int
	}{
		{"/", "", "text/plain; charset=utf-8", 200}, // the host asks whether the handler is up
		{"/", "text/html,*/*", "text/html; charset=utf-8", 302},
		{"/app", "text/html", "text/html; charset=utf-8", 401},
		{"/app/prompts/x", "", "text/html; charset=utf-8", 401},
		{"/application", "", "application/problem+json", 404},
		{"/api/v1/health", "", "application/json", 200},
		{"/mcp", "", "application/problem+json", 405},
		{"/.well-known/agent-skills/index.json", "", "application/problem+json", 401},
		{"/u/ann/.well-known/agent-skills/index.json", "", "application/problem+json", 401},
		{"/.well-known/oauth-protected-resource", "", "application/problem+json", 404},
	}
	for _, tt := range tests {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost"+tt.path, nil)
		r.Header.Set("Accept", tt.accept)
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, tt.path)
		require.Equal(t, tt.contentType, w.Header().Get("Content-Type"), tt.path)
		if tt.status == 302 {
			require.Equal(t, web.Prefix, w.Header().Get("Location"))
		}
	}
}

func TestSignIn(t *testing.T) {
	for mode, want := range map[string]web.SignIn{"dev": web.Dev, "easyauth": web.Platform, "jwt": web.Nowhere, "": web.Nowhere} {
		require.Equal(t, want, settings{Config: auth.Config{Mode: mode}}.signIn(), mode)
	}
	require.Equal(t, web.Dev, settings{Config: auth.Config{Local: true}}.signIn())
}
