package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// HealthCheck asks a service that runs.
func (s Service) HealthCheck() Command {
	return Command{
		Name: "health", Short: "ask a running " + s.Title + " whether it and its store answer",
		Long: "Asks GET " + s.Ready +
			" and fails where the answer is not 200, or takes more than 5 seconds. For health checks of containers.",
		Setup: func(flags *flag.FlagSet) Action {
			url := flags.String("url", "http://127.0.0.1:7071", "`address` of the service")
			asJSON := flags.Bool("json", false, "print the answer, which is JSON")
			return func(ctx context.Context, std Streams, _ []string) error {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				return healthy(ctx, strings.TrimRight(*url, "/")+s.Ready, func(answer io.Reader) error {
					if !*asJSON {
						fmt.Fprintln(std.Out, *url+" answers, and so does its store")
						return nil
					}
					_, err := io.Copy(std.Out, io.LimitReader(answer, maxAnswer))
					return err
				})
			}
		},
	}
}

// maxAnswer is how many bytes of an answer are printed.
const maxAnswer = 64 << 10

// healthy asks a service, and reads its answer if that says that it is well.
func healthy(ctx context.Context, url string, read func(io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("nothing listens at %s: is the service running there?", req.URL.Host)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s was answered %s", url, resp.Status)
	}
	return read(resp.Body)
}
