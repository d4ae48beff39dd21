package main

import (
	"fmt"
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
		status, body := send(t, "POST", url+"/api/v1/prompts",
			fmt.Sprintf(`{"title":"Prompt %d","text":%q,"tags":["text"],"visibility":"public"}`, i,
				fmt.Sprint("Some words of ", i, strings.Repeat(" and more", 300))))
		require.Equal(t, http.StatusCreated, status, body)
	}
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	code, backup, errs := handler(t, "backup", "-", "--data", from)
	require.Equal(t, command.OK, code, errs)
	data, temporary := t.TempDir(), t.TempDir()
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(data, name))
		return err == nil
	}
	const moments = 10
	size, cut := int64(0), 0
	for moment := range moments {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "restore", "-", "--data", data)
		cmd.Env = append(os.Environ(), asHandler+"=1", "TMPDIR="+temporary)
		var said apptest.Output
		cmd.Stdin, cmd.Stderr = strings.NewReader(backup), &said
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		// a part of the rows is written, or the last time it makes the file small
		require.Eventually(t, func() bool {
			if moment == moments-1 && there("prompthub.db.compact") || len(ended) > 0 {
				return true
			}
			file, err := os.Stat(filepath.Join(data, "prompthub.db.rebuild"))
			return err == nil && moment < moments-1 && file.Size() >= size*int64(moment)/moments
		}, time.Minute, 100*time.Microsecond, said.String())
		_ = cmd.Process.Kill()
		err := <-ended
		code, _, errs := handler(t, "verify", "--data", data)
		if code != command.OK { // else the restore had ended
			cut++
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
		file, err := os.Stat(filepath.Join(data, "prompthub.db"))
		require.NoError(t, err)
		size = file.Size()
		require.NoError(t, os.Remove(filepath.Join(data, "prompthub.db")))
	}
	require.Positive(t, cut, "restores that were cut off")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left, "a restore that is killed leaves nothing")
}
