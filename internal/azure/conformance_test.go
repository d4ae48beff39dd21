package azure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/azurite"
	"prompthub/internal/queue"
	"prompthub/internal/queue/queuetest"
	"prompthub/internal/table"
	"prompthub/internal/table/tabletest"
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
