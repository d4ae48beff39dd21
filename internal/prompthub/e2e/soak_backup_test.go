package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A soakBackup is a backup that was made under load, and the changes acknowledged before it began.
type soakBackup struct {
	file string
	ids  []string
}

// backUp makes a backup while everything goes on. It is nil where the storage went away meanwhile.
func backUp(t *testing.T, a app, workers []*worker) *soakBackup {
	b := &soakBackup{file: filepath.Join(t.TempDir(), "soak.jsonl")}
	for _, w := range workers {
		w.mu.Lock()
		for _, p := range w.own {
			b.ids = append(b.ids, p.id)
		}
		w.mu.Unlock()
	}
	if code, _, errs := command(t, a.env(), "backup", b.file); code != 0 {
		t.Log("no backup: ", errs)
		return nil
	}
	return b
}

// check restores the backup into a store of its own: that verifies, and has every prompt that was
// acknowledged before.
func (b *soakBackup) check(t *testing.T) {
	t.Helper()
	data := t.TempDir()
	code, out, errs := command(t, nil, "restore", b.file, "--data", data)
	require.Equal(t, 0, code, "%s%s", out, errs)
	code, out, errs = command(t, nil, "verify", "--data", data)
	require.Equal(t, 0, code, "%s%s", out, errs)
	again := filepath.Join(t.TempDir(), "again.jsonl")
	code, out, errs = command(t, nil, "backup", again, "--data", data)
	require.Equal(t, 0, code, "%s%s", out, errs)
	has := promptsIn(t, again)
	for _, id := range b.ids {
		require.True(t, has[id], "%s was acknowledged before the backup began, and is not in it", id)
	}
	t.Logf("a backup under load: %d prompts acknowledged before, %d in it", len(b.ids), len(has))
}

func promptsIn(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	has := map[string]bool{}
	for lines := bufio.NewReader(f); ; {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return has
		}
		var l struct {
			Kind   string
			Prompt json.RawMessage
		}
		require.NoError(t, json.Unmarshal(text, &l))
		if l.Kind == "prompt" {
			var p struct{ ID string }
			require.NoError(t, json.Unmarshal(l.Prompt, &p))
			has[p.ID] = true
		}
	}
}
