package embedded

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/blobtest"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/queue/queuetest"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/table/tabletest"
	"prompthub/internal/storage/transact/transacttest"
)

func open(t testing.TB, path string) *Store {
	t.Helper()
	return openAt(t, path, time.Now)
}

func openAt(t testing.TB, path string, now func() time.Time) *Store {
	t.Helper()
	s, err := Open(path, now)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func newStore(t testing.TB) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "data.db"))
}

func TestTables(t *testing.T) {
	t.Parallel()
	tabletest.TestDB(t, func(t testing.TB) table.DB { return newStore(t).Tables })
}

func TestQueues(t *testing.T) {
	t.Parallel()
	queuetest.TestQueues(t, func(t testing.TB) queue.Queues { return newStore(t).Queues })
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	transacttest.TestTransact(t, func(t testing.TB) transacttest.Storage {
		s := newStore(t)
		return transacttest.Storage{Tables: s.Tables, Queues: s.Queues, Transact: s.Transact}
	})
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	blobtest.TestStore(t, func(t testing.TB) blob.Store { return newStore(t).Blobs })
}
