package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"time"

	"prompthub/internal/prompthub/api"
)

func healthCommand() command {
	return command{
		name: "health", short: "ask a running PromptHub whether it and its store answer",
		long: "Asks GET " + api.Prefix + "/ready and fails where the answer is not 200, or takes more than 5 seconds. For health checks of containers.",
		setup: func(flags *flag.FlagSet) action {
			url := flags.String("url", "http://127.0.0.1:7071", "`address` of the service")
			return func(ctx context.Context, _ streams, _ []string) error {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				return healthy(ctx, *url+api.Prefix+"/ready")
			}
		},
	}
}

func healthy(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s was answered %s", url, resp.Status)
	}
	return nil
}
