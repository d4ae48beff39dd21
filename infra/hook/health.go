package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// An answer is what a URL was answered with.
type answer struct {
	status int
	body   string
}

// A problem is what PromptHub says of what went wrong.
type problem struct {
	Code   fault.Code
	Detail string
}

// problem returns what the body says, and whether it is PromptHub's.
func (a answer) problem() (p problem, ours bool) {
	err := json.Unmarshal([]byte(a.body), &p)
	return p, err == nil && p.Code != ""
}

// healthy waits until the application answers, and its storage, as App Service calls a deployment
// done before the handler has started.
func (h hook) healthy(ctx context.Context) error {
	url := h.getenv("FUNCTION_APP_URL")
	if url == "" {
		return errors.New("FUNCTION_APP_URL is not set: run azd provision first")
	}
	if h.getenv("ALLOWED_IP_RANGES") != "" {
		if a, err := h.get(ctx, url, ""); err == nil && a.status == http.StatusForbidden {
			fmt.Fprintln(h.out, "Whether the application answers cannot be seen from here: ALLOWED_IP_RANGES keeps this machine out.")
			return nil
		}
	}
	for _, path := range []string{"/api/v1/health", "/api/v1/ready"} {
		err := h.retry(ctx, path, func() error { return h.answers(ctx, url+path) })
		if err != nil {
			return fmt.Errorf("%w\nThe package is deployed, but the application does not answer as it should. Its log is in the workspace %s, "+
				"in the Azure portal under Logs: AppTraces | where SeverityLevel >= 2 | order by TimeGenerated desc. "+
				"docs/deploy.md says more under Errors", err, h.getenv("LOG_ANALYTICS_WORKSPACE"))
		}
	}
	if err := h.tokens(ctx, url+"/api/v1/me"); err != nil {
		return err
	}
	fmt.Fprintln(h.out, "PromptHub answers at", url)
	return nil
}

// errNotConfigured is a setting that the application refuses: it stays refused however long one
// waits.
var errNotConfigured = errors.New(
	"the application is not configured; correct the variable with azd env set, then run azd provision")

func (h hook) answers(ctx context.Context, url string) error {
	a, err := h.get(ctx, url, "")
	if err != nil {
		return err
	}
	if a.status == http.StatusOK {
		fmt.Fprintln(h.out, "GET", url, "was answered", strings.TrimSpace(a.body))
		return nil
	}
	p, ours := a.problem()
	switch {
	case !ours:
		return fmt.Errorf("GET %s was answered %d: %.300s", url, a.status, a.body)
	case p.Code == httpjson.NotConfigured:
		return fmt.Errorf("GET %s was answered %d: %s: %w", url, a.status, p.Detail, errNotConfigured)
	}
	return fmt.Errorf("GET %s was answered %d: %s", url, a.status, p.Detail)
}

// tokens sees whether access tokens of PromptHub come to it. App Service authentication looks at
// bearer tokens before, and what it does with one that is none of its own is documented nowhere.
func (h hook) tokens(ctx context.Context, url string) error {
	a, err := h.get(ctx, url, "ph_wrong")
	if err != nil {
		return err
	}
	if _, ours := a.problem(); a.status == http.StatusUnauthorized && ours {
		fmt.Fprintln(h.out, "An access token in the header Authorization reaches the application.")
		return nil
	}
	fmt.Fprintf(h.out, "WARNING: a wrong access token in the header Authorization was answered %d by the platform, not by PromptHub: %.300s\n"+
		"Programs must send their access tokens in the header X-Api-Key instead. Please report this.\n",
		a.status, a.body)
	return nil
}
