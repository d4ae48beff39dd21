package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// A load is prompts that writers create one after the other, until it is stopped.
type load struct {
	mu    sync.Mutex
	ids   []string        // acknowledged, in that order
	took  []time.Duration // by each write
	since int             // where the phase began that took is read for
}

// begin starts writers, which stop with the returned function.
func (l *load) begin(t *testing.T, url string, writers int) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				start := time.Now()
				status, body := apptest.Send(t, "POST", url+"/api/v1/prompts",
					fmt.Sprintf(`{"title":"Prompt %d of writer %d","text":"Say %[1]d.","tags":["text"],"visibility":"public"}`, n, w),
					"X-Dev-User", fmt.Sprint("writer ", w), "Content-Type", "application/json")
				var made struct{ ID string }
				if status != 201 || json.Unmarshal([]byte(body), &made) != nil {
					t.Errorf("a write was answered %d: %s", status, body)
					return
				}
				l.mu.Lock()
				l.ids, l.took = append(l.ids, made.ID), append(l.took, time.Since(start))
				l.mu.Unlock()
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// acknowledged returns what was acknowledged up to now.
func (l *load) acknowledged() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.ids)
}

// p99 returns how long 99 of 100 writes took at most, since it was called last, and their number.
func (l *load) p99() (time.Duration, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := slices.Sorted(slices.Values(l.took[l.since:]))
	l.since = len(l.took)
	if len(took) == 0 {
		return 0, 0
	}
	return took[len(took)*99/100], len(took)
}

// TestBackupsUnderLoad: while eight writers create prompts, each backup of the running service has
// all that was acknowledged before it began, and can be restored and verified. The log has how long
// writes took with and without a backup under way. make deep makes twenty backups.
func TestBackupsUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and restores for seconds")
	}
	clean(t, "LOG_LEVEL", "warn")
	backups := 3
	if n, err := strconv.Atoi(os.Getenv("BACKUPS")); err == nil {
		backups = n
	}
	data, into := t.TempDir(), t.TempDir()
	p, url := startLocal(t, data)
	var l load
	for n := range backups {
		stop := l.begin(t, url, 8)
		had := len(l.acknowledged())
		require.Eventually(t, func() bool { return len(l.acknowledged()) >= had+100 },
			5*time.Minute, 10*time.Millisecond)
		without, quiet := l.p99()
		before := l.acknowledged()
		name := filepath.Join(into, fmt.Sprintf("%d.jsonl", n))
		code, _, errs := handler(t, "backup", "--data", data, name)
		require.Equal(t, command.OK, code, errs)
		with, busy := l.p99()
		stop() // so that the drill does not wait for the writers
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, id := range before {
			require.True(t, bytes.Contains(content, []byte(`"`+id+`"`)),
				"backup %d lacks %s, which was acknowledged before it began", n, id)
		}
		code, out, errs := handler(t, "drill", name, "--json", "--temp", into)
		require.Equal(t, command.OK, code, errs)
		var said struct{ Prompts int }
		require.NoError(t, json.Unmarshal([]byte(out), &said))
		require.GreaterOrEqual(t, said.Prompts, len(before))
		t.Logf("backup %d: %d prompts, of which %d were there before; p99 of %d writes without %v, of %d with it %v", n,
			said.Prompts, len(before), quiet, without, busy, with)
	}
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	code, _, errs := handler(t, "verify", "--data", data)
	if code != command.OK { // what the jobs had not done yet
		p, _ = startLocal(t, data)
		require.Eventually(t, func() bool {
			code, _, errs = handler(t, "verify", "--data", data)
			return code == command.OK
		}, 5*time.Minute, time.Second, errs)
		p.stop()
		require.Equal(t, command.OK, <-p.code)
	}
}
