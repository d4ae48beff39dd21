package azure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/queue/queuetest"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/table/tabletest"
	"prompthub/internal/testing/azurite"
)

// open returns the store of the emulator that the tests share.
func open(tb testing.TB) *Store {
	tb.Helper()
	store, err := New(Config{ConnectionString: azurite.Start(tb)})
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
