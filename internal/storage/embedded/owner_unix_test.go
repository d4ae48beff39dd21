//go:build unix

package embedded

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNewFileIsOfTheOwnerOfItsDirectory: root makes a store that the user can open who runs the
// service.
func TestNewFileIsOfTheOwnerOfItsDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chown(dir, 65532, 65531))
	path := filepath.Join(dir, "data.db")
	open(t, path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	require.EqualValues(t, 65532, owner.Uid)
	require.EqualValues(t, 65531, owner.Gid)
	require.EqualValues(t, 0o600, info.Mode().Perm())

	elsewhere := filepath.Join(t.TempDir(), "elsewhere.db")
	link := filepath.Join(dir, "link.db")
	require.NoError(t, os.Symlink(elsewhere, link))
	open(t, link)
	info, err = os.Stat(elsewhere)
	require.NoError(t, err)
	require.Zero(t, info.Sys().(*syscall.Stat_t).Uid, "the owner of the directory may not have root give files away")
}
