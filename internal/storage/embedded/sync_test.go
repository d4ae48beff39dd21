package embedded

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSyncs: a kill of the process does not show whether commits wait for the disk, only one of the
// machine would.
func TestSyncs(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	require.False(t, s.db.NoSync)
	require.False(t, s.db.NoFreelistSync)
}
