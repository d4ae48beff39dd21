package embedded

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/queue"
	"prompthub/internal/queue/queuetest"
	"prompthub/internal/table"
	"prompthub/internal/table/tabletest"
	"prompthub/internal/transact/transacttest"
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

// TestPlainTables: the tables of an older program keep the contract as they are.
func TestPlainTables(t *testing.T) {
	t.Parallel()
	tabletest.TestDB(t, func(t testing.TB) table.DB { return makesPlain(newStore(t)).Tables })
}

// makesPlain has a store that nobody uses yet make tables as programs of before did.
func makesPlain(s *Store) *Store {
	s.plain = func(string) bool { return true }
	return s
}

func TestQueues(t *testing.T) {
	t.Parallel()
	queuetest.TestQueues(t, func(t testing.TB) queue.Queues { return newStore(t).Queues })
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]func(*Store) *Store{"packed keys": func(s *Store) *Store { return s }, "plain keys": makesPlain} {
		t.Run(name, func(t *testing.T) {
			transacttest.TestTransact(t, func(t testing.TB) transacttest.Storage {
				s := made(newStore(t))
				return transacttest.Storage{Tables: s.Tables, Queues: s.Queues, Transact: s.Transact}
			})
		})
	}
}
