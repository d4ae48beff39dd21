package command_test

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// TestOpenBackupLeavesNothing: a backup from standard input is kept in a file without a name, so
// that nothing stays of it, however the process ends.
func TestOpenBackupLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there a file has its name as long as it is open")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var file bytes.Buffer
	require.NoError(t, command.Sealed(&file, func(w io.Writer) error {
		_, err := io.WriteString(w, "a line\nand another\n")
		return err
	}))
	empty := func() {
		t.Helper()
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
	_, err := command.OpenBackup(strings.NewReader("no backup"), "-", false)
	require.Error(t, err)
	empty()
	b, err := command.OpenBackup(&file, "-", false)
	require.NoError(t, err)
	empty()
	for range 2 {
		lines, err := b.Lines()
		require.NoError(t, err)
		text, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.Equal(t, "a line\nand another\n", string(text))
	}
	require.NoError(t, b.Close())
	empty()
}
