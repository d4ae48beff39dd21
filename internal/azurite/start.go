package azurite

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"
)

// startTimeout is ample: a service starts in a second or two.
const startTimeout = time.Minute

// shared is the server of this process, started for the first test that asks and ended with
// the process, since no test can know that it is the last.
var shared = sync.OnceValues(func() (*Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return Run(ctx, Options{})
})

// Start returns the connection string of an Azurite that all tests of the process share:
// name tables and queues so that they do not meet. Where Azurite is not installed
// the test is skipped, or fails if the environment says CI=true.
func Start(tb testing.TB) string {
	tb.Helper()
	installed(tb)
	server, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return server.ConnectionString()
}

// installed skips or fails a test that cannot run.
func installed(tb testing.TB) {
	tb.Helper()
	_, err := find()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
}

// StartOwn returns an Azurite of the test's own, for tests whose queues others must not touch. It ends
// with the test. The options and the rule for skipping are those of Run and Start.
func StartOwn(tb testing.TB, opts Options) *Server {
	tb.Helper()
	installed(tb)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	server, err := Run(ctx, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := server.Stop(); err != nil {
			tb.Errorf("stop Azurite: %v", err)
		}
	})
	return server
}
