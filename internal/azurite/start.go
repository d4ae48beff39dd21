package azurite

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
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
	return Run(ctx, Options{Accounts: sharedAccounts})
})

// sharedAccounts are more than the tests of a process ask for.
const sharedAccounts = 100

// taken counts the accounts of the shared server that tests have.
var taken atomic.Int32

// Start returns the connection string of an Azurite that all tests of the process share:
// name tables and queues so that they do not meet. Where Azurite is not installed
// the test is skipped, or fails if the environment says CI=true. With -short it is skipped.
func Start(tb testing.TB) string {
	tb.Helper()
	installed(tb)
	server, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return server.ConnectionString()
}

// Account returns the connection string of a storage account of the test's own, on the Azurite that all
// tests of the process share: no other test meets its tables and queues. The rule for skipping is Start's.
func Account(tb testing.TB) string {
	tb.Helper()
	Start(tb)
	server, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	i := int(taken.Add(1))
	if i > sharedAccounts {
		tb.Fatalf("more than %d tests want an account of their own", sharedAccounts)
	}
	return server.connection(accountName(i))
}

// installed skips or fails a test that cannot run.
func installed(tb testing.TB) {
	tb.Helper()
	_, err := find()
	switch {
	case testing.Short():
		tb.Skip("starts Azurite")
	case err == nil:
	case os.Getenv("CI") == "true":
		tb.Fatal(err)
	default:
		tb.Skip(err)
	}
}
