package azurite

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// startTimeout is ample: a service starts in a second or two.
const startTimeout = time.Minute

// sharedAccounts are more than the tests of a process ask for.
const sharedAccounts = 100

// together is how many accounts the tests of a process take of one server before they take one of
// the next: a server costs as much as a hundred tests, and most packages have fewer.
const together = 4

// shared are the servers of this process, each started for the first test that asks and ended with
// the process, since no test can know that it is the last. A service is one thread: where there are
// many tests a few servers keep one that asks much from holding up all others.
var shared = [3]func() (*Server, error){once(), once(), once()}

func once() func() (*Server, error) {
	return sync.OnceValues(func() (*Server, error) {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		return Run(ctx, Options{Accounts: sharedAccounts})
	})
}

// Start returns the connection string of an Azurite that all tests of the process share:
// name tables and queues so that they do not meet. Where Azurite is not installed
// the test is skipped, or fails if the environment says CI=true. With -short it is skipped.
func Start(tb testing.TB) string {
	tb.Helper()
	return start(tb, 0).ConnectionString()
}

func start(tb testing.TB, i int) *Server {
	tb.Helper()
	installed(tb)
	server, err := shared[i]()
	if err != nil {
		tb.Fatal(err)
	}
	return server
}

// sharedBlobs is the blob service of this process, for the accounts of all servers: few tests need
// it.
var sharedBlobs = sync.OnceValues(func() (*Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	inst, err := find()
	if err != nil {
		return nil, err
	}
	s := &Server{accounts: sharedAccounts}
	return s, s.start(ctx, inst, "blob", "", 0, &s.Ports.Blob)
})

// WithBlobs returns a connection string of Start or Account with the blob service in it, which
// those of the tests of the process share that want it: name containers so that they do not meet.
func WithBlobs(tb testing.TB, connection string) string {
	tb.Helper()
	blobs, err := sharedBlobs()
	if err != nil {
		tb.Fatal(err)
	}
	return connection + fmt.Sprintf("BlobEndpoint=http://127.0.0.1:%d/%s;", blobs.Ports.Blob, accountOf(connection))
}

// taken counts the accounts that tests have.
var taken atomic.Int32

// Account returns the connection string of a storage account of the test's own, on one of the
// servers that the tests of the process share: no other test meets its tables and queues. The rule
// for skipping is Start's.
func Account(tb testing.TB) string {
	tb.Helper()
	i := int(taken.Add(1))
	if i > sharedAccounts {
		tb.Fatalf("more than %d tests want an account of their own", sharedAccounts)
	}
	return start(tb, (i-1)/together%len(shared)).connection(accountName(i))
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
