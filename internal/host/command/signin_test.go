package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/telemetry"
)

// answersAnn runs "local" of an application that answers who is calling, and asks it as X-Dev-User
// ann.
func answersAnn(t *testing.T, s Service) string {
	t.Helper()
	t.Setenv("AUTH_MODE", "dev")
	t.Setenv("AzureWebJobsStorage", "")
	s.Name, s.Title, s.Ready = "signs", "Signs", "/ready"
	s.Read = func() (Settings, Build, error) {
		var set struct{ Settings }
		err := ReadSettings(&set)
		return set.Settings, func(set Settings, _ Store, _ *slog.Logger, _ *telemetry.Telemetry) App {
			doors := func(served Serving) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					u, err := served.Identify(r)
					fmt.Fprintf(w, "%q dev=%t %v", u.ID, set.Dev(), err)
				})
			}
			return App{Create: func(context.Context) error { return nil }, Doors: doors, Wait: func() {}}
		}, err
	}
	url := make(chan string, 1)
	s.Try = func(_ Settings, at string) string { url <- at; return "" }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		args := []string{"local", "--addr", "127.0.0.1:0", "--data", t.TempDir()}
		ended <- Program{Service: s, Commands: []Command{s.Local()}}.Run(ctx, args,
			Streams{Out: io.Discard, Err: io.Discard})
	}()
	var at string
	select {
	case at = <-url:
	case code := <-ended:
		require.FailNow(t, "it ended", "%d", code)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/who", http.NoBody)
	require.NoError(t, err)
	r.Header.Set(auth.DevUserHeader, "ann")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	stop()
	require.Equal(t, OK, <-ended)
	return string(answer)
}

func TestSignIn(t *testing.T) {
	require.Equal(t, `"ann" dev=true <nil>`, answersAnn(t, Service{}))
	require.Equal(t, `"" dev=true <nil>`, answersAnn(t, Service{SignIn: NoSignIn}),
		"its limits are those of one machine")
	require.Equal(t, `"" dev=false <nil>`, answersAnn(t, Service{SignIn: OwnAccounts}),
		"neither AUTH_MODE nor the header means a thing")
}
