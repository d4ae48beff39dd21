package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// healthy waits until the application answers, and its storage, as App Service calls a deployment
// done before the handler has started.
func (h hook) healthy(ctx context.Context) error {
	url := h.getenv("FUNCTION_APP_URL")
	if url == "" {
		return errors.New("FUNCTION_APP_URL is not set: run azd provision first")
	}
	if h.getenv("ALLOWED_IP_RANGES") != "" {
		if status, err := h.get(ctx, url); err == nil && status == http.StatusForbidden {
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
	fmt.Fprintln(h.out, "PromptHub answers at", url)
	return nil
}

func (h hook) answers(ctx context.Context, url string) error {
	status, err := h.get(ctx, url)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s was answered %d", url, status)
	}
	return nil
}
