package azure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/blobtest"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/queue/queuetest"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/table/tabletest"
	"prompthub/internal/testing/azurite"
)

// open returns the store of the emulator that the tests share.
func open(tb testing.TB) *Store {
	tb.Helper()
	return openAt(tb, Config{ConnectionString: azurite.Start(tb)})
}

func openAt(tb testing.TB, cfg Config) *Store {
	tb.Helper()
	store, err := New(cfg)
	require.NoError(tb, err)
	return store
}

func TestTables(t *testing.T) {
	t.Parallel()
	tabletest.TestDB(t, func(tb testing.TB) table.DB { return open(tb).Tables })
}

func TestQueues(t *testing.T) {
	t.Parallel()
	queuetest.TestQueues(t, func(tb testing.TB) queue.Queues { return open(tb).Queues })
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	blobtest.TestStore(t, func(tb testing.TB) blob.Store {
		return openAt(tb, Config{ConnectionString: azurite.WithBlobs(tb, azurite.Start(tb)), Blobs: true}).Blobs
	})
}
