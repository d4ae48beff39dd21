package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/internal/host/command"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/memory"
)

// jobs returns what no request starts, in a deployment over an empty store in memory.
func jobs(t *testing.T, log *slog.Logger) map[string]function.Trigger {
	t.Helper()
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for name, value := range map[string]string{
		"AzureWebJobsStorage": "UseDevelopmentStorage=true", "SECRET_KEYS": key, "VOTE_KEYS": key,
	} {
		t.Setenv(name, value)
	}
	s, build, err := read()
	require.NoError(t, err)
	a := build(s, command.Store{
		Tables: memory.NewTables(), Queues: memory.NewQueues(time.Now), Blobs: duubletest.Blobs(time.Now),
	}, log, nil)
	require.NoError(t, a.Create(t.Context()))
	all := map[string]function.Trigger{}
	for _, f := range a.Triggers {
		all[f.Name] = f
	}
	return all
}

// TestEveryTriggerHasAFunctionAndNoOther: the host of a deployment knows by a folder when to start
// each job.
func TestEveryTriggerHasAFunctionAndNoOther(t *testing.T) {
	want, got := map[string]string{}, map[string]string{}
	for name, f := range jobs(t, slog.New(slog.DiscardHandler)) {
		want[name] = cmp.Or(f.Schedule, "%QUEUE_PREFIX%"+f.Queue)
	}
	files, err := filepath.Glob("../functions/*/function.json")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var f struct {
			Bindings []struct{ Type, Schedule, QueueName string }
		}
		require.NoError(t, json.Unmarshal(text, &f))
		if in := f.Bindings[0]; in.Type != "httpTrigger" {
			got[filepath.Base(filepath.Dir(file))] = in.Schedule + in.QueueName
		}
	}
	require.Equal(t, want, got)
}

// TestVerifyWithoutTime: a run that has not the time to compare all rows says so, and does not
// fail.
func TestVerifyWithoutTime(t *testing.T) {
	var log strings.Builder
	verify := jobs(t, slog.New(slog.NewTextHandler(&log, nil)))["verify"]
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	require.NoError(t, verify.Run(ctx, function.Invocation{}))
	require.Contains(t, log.String(), "rows were not compared to the end")
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, verify.Run(stopped, function.Invocation{}))
}
