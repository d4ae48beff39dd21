package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/testing/langfusetest"
)

// importFrom imports from a stand-in as a user, and returns what became of each prompt.
func importFrom(t *testing.T, there, user string, flags ...string) (code int, outcomes map[string]string, stderr string) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	args := append([]string{"import", "--from", "langfuse", "--url", there, "--user", user, "--key-file", file(t, "key", langfusetest.Key+"\n"), "--report", report}, flags...)
	code, _, stderr = handler(t, args...)
	outcomes = make(map[string]string)
	b, err := os.ReadFile(report)
	require.NoError(t, err, stderr)
	var all []client.Followed
	require.NoError(t, json.Unmarshal(b, &all), "%s", b)
	for _, f := range all {
		outcomes[f.Name] = strings.TrimSpace(f.Outcome + " " + f.Reason + strings.Join(f.Lost, "; "))
	}
	return code, outcomes, stderr
}

// library returns all that a user has.
func library(t *testing.T, user string) string {
	t.Helper()
	code, out, errs := handler(t, "export", "--account", "--user", user)
	require.Equal(t, command.OK, code, errs)
	return out
}

func TestImportFromLangfuse(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	project := langfusetest.Sample()
	there := project.Start(t)
	code, outcomes, errs := importFrom(t, there, "ann", "--dry-run")
	require.Equal(t, command.OK, code, "%v %s", outcomes, errs)
	code, outcomes, errs = importFrom(t, there, "ann")
	require.Equal(t, map[string]string{"a/parent": "made", "z child": "made", "gaps": "made", "chat/überall": "made", "fill-forms": "made"}, outcomes)
	require.Equal(t, command.OK, code, "%v %s", outcomes, errs)
	t.Log(library(t, "ann"))
	code, outcomes, errs = importFrom(t, there, "ann")
	require.Equal(t, command.OK, code, "%v %s", outcomes, errs)
	for name, outcome := range outcomes {
		require.Equal(t, "unchanged", outcome, name)
	}
}
