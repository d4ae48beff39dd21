package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// TestKilledRestore kills a restore at ten moments: each time the store is refused by name, and a
// restore into an emptied directory succeeds.
func TestKilledRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("starts twenty processes")
	}
	clean(t)
	from := t.TempDir()
	p, url := startLocal(t, from)
	for i := range 40 {
		status, body := send(t, "POST", url+"/api/v1/prompts", fmt.Sprintf(`{"title":"Prompt %d","text":"Some words of %[1]d","tags":["text"],"visibility":"public"}`, i))
		require.Equal(t, http.StatusCreated, status, body)
	}
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	code, backup, errs := handler(t, "backup", "-", "--data", from)
	require.Equal(t, command.OK, code, errs)
	lines := strings.SplitAfter(backup, "\n")
	data := t.TempDir()
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(data, name))
		return err == nil
	}
	const moments = 10
	for moment := range moments {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "restore", "-", "--data", data)
		cmd.Env = append(os.Environ(), asHandler+"=1")
		var said apptest.Output
		cmd.Stderr = &said
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		last := moment == moments-1
		part := strings.Join(lines[:1+(len(lines)-1)*moment/(moments-1)], "")
		_, err = io.WriteString(in, part)
		require.NoError(t, err)
		if last { // while it makes the file small
			require.NoError(t, in.Close())
			require.Eventually(t, func() bool { return there("prompthub.db.compact") || len(ended) > 0 }, time.Minute, time.Millisecond, said.String())
		} else {
			require.Eventually(t, func() bool { return there("prompthub.db.rebuild") }, time.Minute, time.Millisecond, said.String())
		}
		_ = cmd.Process.Kill()
		err = <-ended
		code, _, errs := handler(t, "verify", "--data", data)
		if whole := last && code == command.OK; !whole { // the last one may have been too late
			require.Error(t, err)
			require.Equal(t, command.Failed, code, "moment %d: %s", moment, errs)
			require.True(t, strings.HasSuffix(errs, "handler: "+cutOff), "moment %d: %s", moment, errs)
		}
		require.NoError(t, os.Remove(filepath.Join(data, "prompthub.db")))
		code, _, errs = withInput(t, backup, "restore", "-", "--data", data)
		require.Equal(t, command.OK, code, "moment %d: %s", moment, errs)
		left, err := os.ReadDir(data)
		require.NoError(t, err)
		require.Len(t, left, 1, "moment %d: %v", moment, left)
		code, out, errs := handler(t, "backup", "-", "--data", data)
		require.Equal(t, command.OK, code, errs)
		require.Equal(t, backup, out)
		code, out, errs = handler(t, "verify", "--data", data)
		require.Equal(t, command.OK, code, out+errs)
		require.NoError(t, os.Remove(filepath.Join(data, "prompthub.db")))
	}
}
