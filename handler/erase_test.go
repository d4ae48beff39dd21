package main

import (
	"path/filepath"
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
	do("cook|7", "save", file(t, "x.md", "One {{a}}"), "--name", "soup", "--title", "Soup", "--public")
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
