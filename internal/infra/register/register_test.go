package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A call is one command that was run, with the body of its request.
type call struct {
	line string
	body map[string]any
}

// record returns a registrar under an environment, and the calls it makes. The call whose line
// begins with fail fails.
func record(t *testing.T, env map[string]string, fail string) (registrar, *[]call) {
	t.Helper()
	calls := new([]call)
	run := func(_ context.Context, name string, args ...string) (string, error) {
		c := call{}
		for i, a := range args {
			if file, ok := strings.CutPrefix(a, "@"); ok {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(data, &c.body))
				args[i] = "@"
			}
		}
		c.line = name + " " + strings.Join(args, " ")
		*calls = append(*calls, c)
		if fail != "" && strings.HasPrefix(c.line, fail) {
			return "", errors.New("no")
		}
		return "app-1", nil
	}
	return registrar{getenv: func(k string) string { return env[k] }, out: io.Discard, run: run}, calls
}

func TestCreate(t *testing.T) {
	t.Parallel()
	r, calls := record(t, map[string]string{"ENTRA_SIGN_IN": "create", "AZURE_ENV_NAME": "dev"}, "")
	require.NoError(t, r.do(t.Context(), []string{"create"}))
	var lines []string
	for _, c := range *calls {
		lines = append(lines, c.line)
	}
	const graph = " --url https://graph.microsoft.com/v1.0/"
	require.Equal(t, []string{
		"az rest --method POST" + graph + "applications --body @ --query appId --output tsv",
		"azd env set ENTRA_CLIENT_ID app-1",
		"az rest --method PATCH" + graph + "applications(appId='app-1') --body @",
		"az rest --method POST" + graph + "servicePrincipals --body @",
	}, lines)
	app := (*calls)[0].body
	require.Equal(t, "PromptHub dev", app["displayName"])
	require.Equal(t, "AzureADMyOrg", app["signInAudience"])
	require.EqualValues(t, 2, app["api"].(map[string]any)["requestedAccessTokenVersion"])
	require.Equal(t, "admin", app["appRoles"].([]any)[0].(map[string]any)["value"])
	require.Equal(t, []any{"api://app-1"}, (*calls)[2].body["identifierUris"])
}

func TestCallback(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"ENTRA_SIGN_IN": "create", "ENTRA_CLIENT_ID": "app-1", "FUNCTION_APP_URL": "https://f.example", "CUSTOM_DOMAIN": "p.example",
	}
	r, calls := record(t, env, "")
	require.NoError(t, r.do(t.Context(), []string{"callback"}))
	require.Len(t, *calls, 1)
	web := (*calls)[0].body["web"].(map[string]any)
	require.Equal(t, []any{"https://f.example/.auth/login/aad/callback", "https://p.example/.auth/login/aad/callback"}, web["redirectUris"])
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"no sign-in is asked for":       {"AZURE_ENV_NAME": "dev"},
		"the registration exists":       {"ENTRA_SIGN_IN": "create", "ENTRA_CLIENT_ID": "app-1"},
		"the registration is another's": {"ENTRA_CLIENT_ID": "app-2", "AZURE_ENV_NAME": "dev"},
	} {
		r, calls := record(t, env, "")
		require.NoError(t, r.do(t.Context(), []string{"create"}), name)
		require.Empty(t, *calls, name)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	env := map[string]string{"ENTRA_SIGN_IN": "create", "AZURE_ENV_NAME": "dev"}
	r, calls := record(t, env, "az rest --method POST")
	require.Error(t, r.do(t.Context(), []string{"create"}))
	require.Len(t, *calls, 1, "nothing is kept of a registration that was not made")

	r, _ = record(t, env, "azd")
	require.ErrorContains(t, r.do(t.Context(), []string{"create"}), "the registration app-1 exists")
	r, _ = record(t, env, "az rest --method PATCH")
	require.Error(t, r.do(t.Context(), []string{"create"}))
	require.ErrorContains(t, r.do(t.Context(), []string{"callback"}), "run azd provision first")
	require.ErrorContains(t, r.do(t.Context(), nil), "usage")
	r, _ = record(t, map[string]string{"ENTRA_SIGN_IN": "create"}, "")
	require.ErrorContains(t, r.do(t.Context(), []string{"create"}), "AZURE_ENV_NAME is not set")

	_, err := execute(t.Context(), "go", "no-such-command")
	require.ErrorContains(t, err, "go no-such-command")
}
