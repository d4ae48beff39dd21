package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/command"
)

// TestErase removes an account from a store: a search of the backup finds nothing of it, verify no
// difference, and others lost nothing but his votes.
func TestErase(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	do := func(user string, args ...string) {
		t.Helper()
		code, out, errs := handler(t, append(args, "--url", url, "--user", user)...)
		require.Equal(t, command.OK, code, out+errs)
	}
	long := strings.Repeat("Grandmother knows {{a}}. ", 100)
	for i := range 24 { // so many that the pages of some are not used again, whichever the file takes next
		name := fmt.Sprint("soup-", i)
		do("cook|7", "save", file(t, "x.md", long), "--name", name, "--title", name, "--public")
	}
	do("bob", "save", file(t, "y.md", "Two"), "--name", "stew", "--title", "Stew", "--public")
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	backup := func() string {
		code, out, errs := handler(t, "backup", "-", "--data", data)
		require.Equal(t, command.OK, code, errs)
		return out
	}
	require.Contains(t, backup(), "cook|7")
	code, out, errs := handler(t, "erase", "cook|7", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "erased\n", out)
	require.NotContains(t, errs, "nothing is stored")
	require.Contains(t, errs, `run "compact" now`)
	left := func() bool {
		b, err := os.ReadFile(filepath.Join(data, "prompthub.db"))
		require.NoError(t, err)
		return bytes.Contains(b, []byte("Grandmother knows"))
	}
	require.True(t, left(), "else the advice is needless")
	code, _, errs = handler(t, "compact", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.False(t, left())
	code, out, errs = handler(t, "erase", "cook|7", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "erased\n", out)
	require.Contains(t, errs, `nothing is stored under the id "cook|7"`)
	require.NotContains(t, backup(), "cook|7")
	require.Contains(t, backup(), "stew")
	code, out, _ = handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, out)
	code, _, _ = handler(t, "erase", "", "--data", data)
	require.Equal(t, command.Usage, code)
	code, _, _ = handler(t, "erase", "x", "--data", filepath.Join(data, "none"))
	require.Equal(t, command.Failed, code)
}
