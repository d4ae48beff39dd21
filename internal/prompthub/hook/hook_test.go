package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cloud is what az and azd work on: a directory, and an azd environment. What is created is seen
// by others only after some requests, as in a directory of several servers.
type cloud struct {
	t       *testing.T
	env     map[string]string
	objects map[string]map[string]any // by path
	hidden  map[string]int            // for how many requests more an object is not seen
	lag     int
	calls   []string
	waits   int
	tenant  string // of azd

	// what is wrong with the nth call, before or after it has its effect
	fails func(call string, n int) (before, after error)
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	return &cloud{
		t: t, env: map[string]string{"ENTRA_SIGN_IN": "create", "AZURE_ENV_NAME": "dev"}, tenant: "T1",
		objects: map[string]map[string]any{}, hidden: map[string]int{},
		fails: func(string, int) (error, error) { return nil, nil },
	}
}

func (c *cloud) do(args ...string) error {
	return hook{
		getenv: func(k string) string { return c.env[k] }, out: io.Discard, run: c.run, random: func() string { return "R" + fmt.Sprint(len(c.calls)) },
		wait: func(context.Context, time.Duration) error { c.waits++; return nil },
		get: func(_ context.Context, url string) (int, error) {
			c.calls = append(c.calls, url)
			if away, _ := c.fails(url, len(c.calls)); away == nil {
				return 200, nil
			}
			return 503, nil
		},
	}.do(c.t.Context(), args)
}

func (c *cloud) run(_ context.Context, name string, args ...string) (string, error) {
	line := name + " " + strings.Join(args, " ")
	c.calls = append(c.calls, line)
	before, after := c.fails(line, len(c.calls))
	if before != nil {
		return "", before
	}
	out, err := c.answer(line, args)
	return out, errors.Join(err, after)
}

func (c *cloud) answer(line string, args []string) (string, error) {
	switch {
	case strings.HasPrefix(line, "azd env set "):
		c.env[args[2]] = args[3]
		return "", nil
	case line == "azd auth token":
		return "h." + base64.RawURLEncoding.EncodeToString([]byte(`{"tid":"`+c.tenant+`"}`)) + ".s", nil
	case strings.HasPrefix(line, "az account show"):
		return "t1", nil
	case strings.HasPrefix(line, "az rest "):
		return c.rest(args)
	}
	return "", errors.New("unknown command: " + line)
}

// rest is Microsoft Graph.
func (c *cloud) rest(args []string) (string, error) {
	flags := map[string]string{}
	for i := 1; i < len(args); i += 2 {
		flags[args[i]] = args[i+1]
	}
	path, ok := strings.CutPrefix(flags["--url"], graph)
	require.True(c.t, ok)
	for id := range c.objects {
		path = strings.ReplaceAll(path, "appId='"+fmt.Sprint(c.objects[id]["appId"])+"'", "id")
	}
	body := map[string]any{}
	if file, ok := strings.CutPrefix(flags["--body"], "@"); ok {
		data, err := os.ReadFile(file)
		require.NoError(c.t, err)
		require.NoError(c.t, json.Unmarshal(data, &body))
	}
	path = strings.Replace(path, "applications(id)", "applications(uniqueName='"+c.env["ENTRA_UNIQUE_NAME"]+"')", 1)
	object := c.objects[path]
	switch {
	case object == nil && flags["--headers"] != "Prefer=create-if-missing":
		return "", errors.New("Not Found: Request_ResourceNotFound")
	case object == nil:
		object = map[string]any{"appId": fmt.Sprintf("app-%d", len(c.objects))}
		c.objects[path], c.hidden[path] = object, c.lag
	case c.hidden[path] > 0:
		c.hidden[path]--
		return "", errors.New("Not Found: Request_ResourceNotFound")
	}
	maps.Copy(object, body)
	if flags["--query"] == "appId" {
		return fmt.Sprint(object["appId"]), nil
	}
	return "", nil
}

// complete requires one registration, whole, that azd knows.
func (c *cloud) complete() {
	c.t.Helper()
	name := c.env["ENTRA_UNIQUE_NAME"]
	require.Regexp(c.t, `^prompthub-dev-r\d+$`, name)
	require.ElementsMatch(c.t, []string{"applications(uniqueName='" + name + "')", "servicePrincipals(id)"}, slices.Collect(maps.Keys(c.objects)))
	app := c.objects["applications(uniqueName='"+name+"')"]
	require.Equal(c.t, "PromptHub dev", app["displayName"])
	require.Equal(c.t, "AzureADMyOrg", app["signInAudience"])
	require.Equal(c.t, []any{"api://app-0"}, app["identifierUris"])
	api := app["api"].(map[string]any)
	require.EqualValues(c.t, 2, api["requestedAccessTokenVersion"])
	require.Len(c.t, api["preAuthorizedApplications"], 1)
	require.Equal(c.t, "admin", app["appRoles"].([]any)[0].(map[string]any)["value"])
	require.Equal(c.t, "app-0", c.env["ENTRA_CLIENT_ID"])
}

func TestRegister(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	require.NoError(t, c.do("preprovision"))
	c.complete()
	calls := len(c.calls)
	require.Zero(t, c.waits)
	require.NoError(t, c.do("preprovision"))
	require.Len(t, c.calls, calls, "a registration that is complete is left alone")
}

// Cut short at any call, before or after it had its effect, the next run completes what there is.
func TestRegisterIsTakenUp(t *testing.T) {
	t.Parallel()
	whole := newCloud(t)
	require.NoError(t, whole.do("preprovision"))
	cut := fmt.Errorf("the machine went to sleep: %w", context.Canceled)
	for n := range whole.calls {
		for _, late := range []bool{false, true} {
			c := newCloud(t)
			c.fails = func(_ string, call int) (error, error) {
				switch {
				case call != n+1:
					return nil, nil
				case late:
					return nil, cut
				}
				return cut, nil
			}
			require.ErrorContains(t, c.do("preprovision"), "went to sleep", whole.calls[n])
			require.NoError(t, c.do("preprovision"), whole.calls[n])
			c.complete()
		}
	}
}

// A directory shows what was created only after a while.
func TestRegisterWaitsForTheDirectory(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.lag = 4
	require.NoError(t, c.do("preprovision"))
	c.complete()
	require.Equal(t, 4, c.waits)

	c = newCloud(t)
	c.lag = 1000
	require.ErrorContains(t, c.do("preprovision"), "read its id: ")
	require.Equal(t, attempts-1, c.waits)
	require.Empty(t, c.env["ENTRA_CLIENT_ID"])
	clear(c.hidden)
	require.NoError(t, c.do("preprovision"))
	c.complete()
}

func TestRegisterRefused(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.tenant = "t2"
	require.ErrorContains(t, c.do("preprovision"), "run az login --tenant t2")
	require.Empty(t, c.objects)

	c = newCloud(t)
	c.fails = func(call string, _ int) (error, error) {
		if strings.Contains(call, "rest") {
			return errors.New("Forbidden: Authorization_RequestDenied"), nil
		}
		return nil, nil
	}
	require.ErrorContains(t, c.do("preprovision"), "create the app registration: Forbidden")
	require.Zero(t, c.waits, "who has no right does not get it by waiting")
}

func TestCallback(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	require.ErrorContains(t, c.do("postprovision"), "run azd provision first")
	require.NoError(t, c.do("preprovision"))
	maps.Copy(c.env, map[string]string{
		"FUNCTION_APP_URL": "https://f.example", "CUSTOM_DOMAIN": "p.example", "ENTRA_ISSUER": "https://login.example/t1/v2.0", "IDENTITY_PRINCIPAL_ID": "i-1",
	})
	for range 2 {
		require.NoError(t, c.do("postprovision"))
	}
	app := "applications(uniqueName='" + c.env["ENTRA_UNIQUE_NAME"] + "')"
	web := c.objects[app]["web"].(map[string]any)
	require.Equal(t, map[string]any{
		"redirectUris": []any{"https://f.example/.auth/login/aad/callback", "https://p.example/.auth/login/aad/callback"},
	}, web)
	credential := c.objects[app+"/federatedIdentityCredentials(name='prompthub')"]
	require.Equal(t, "i-1", credential["subject"])
	require.Equal(t, "https://login.example/t1/v2.0", credential["issuer"])

	principal := c.objects["servicePrincipals(id)"]
	require.NotContains(t, principal, "appRoleAssignmentRequired", "what was set by hand stays")
	for _, required := range []bool{true, false} {
		c.env["ENTRA_ASSIGNMENT_REQUIRED"] = fmt.Sprint(required)
		require.NoError(t, c.do("postprovision"))
		require.Equal(t, required, principal["appRoleAssignmentRequired"])
	}
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{{"AZURE_ENV_NAME": "dev"}, {"ENTRA_CLIENT_ID": "app-2", "AZURE_ENV_NAME": "dev"}} {
		c := newCloud(t)
		c.env = env
		require.NoError(t, c.do("preprovision"))
		require.NoError(t, c.do("postprovision"))
		require.Empty(t, c.calls)
	}
	require.ErrorContains(t, newCloud(t).do(), "usage")
	c := newCloud(t)
	delete(c.env, "AZURE_ENV_NAME")
	require.ErrorContains(t, c.do("preprovision"), "AZURE_ENV_NAME is not set")
	_, err := execute(t.Context(), "go", "no-such-command")
	require.ErrorContains(t, err, "unknown command")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"MORE_SETTINGS", `{"LIMIT_WRITES":"50"}`, ""},
		{"MORE_SETTINGS", `{"WEBSITE_AUTH_ENABLED":"true"}`, "may not set WEBSITE_AUTH_ENABLED"},
		{"MORE_SETTINGS", `{"website_auth_enabled":"true"}`, "may not set website_auth_enabled"},
		{"MORE_SETTINGS", `{"LIMIT_WRITES":50}`, "no JSON object of strings"},
		{"MORE_SETTINGS", `LIMIT_WRITES=50`, "no JSON object of strings"},
		{"PROMPTHUB_TAGS", `a:"A"`, "holds a quote"},
		{"ENTRA_ASSIGNMENT_REQUIRED", "yes", "must be true or false"},
		{"BUDGET_AMOUNT", "0", ""},
		{"BUDGET_AMOUNT", "20", "BUDGET_START must be the first of a month"},
		{"BUDGET_AMOUNT", "20", "ALERT_EMAIL must say whom"},
	} {
		c := newCloud(t)
		c.env = map[string]string{tt.name: tt.value}
		if err := c.do("preprovision"); tt.want != "" {
			require.ErrorContains(t, err, tt.want)
		} else {
			require.NoError(t, err, tt.value)
		}
	}
	c := newCloud(t)
	c.env = map[string]string{"BUDGET_AMOUNT": "20", "BUDGET_START": "2026-12-01", "ALERT_EMAIL": "a@example.org"}
	require.NoError(t, c.do("preprovision"))
	c.env["BUDGET_START"] = "2026-12-02"
	require.Error(t, c.do("preprovision"))
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	require.ErrorContains(t, c.do("postdeploy"), "run azd provision first")
	c.env["FUNCTION_APP_URL"], c.env["LOG_ANALYTICS_WORKSPACE"] = "https://f.example", "log-1"
	c.fails = func(_ string, call int) (error, error) {
		if call <= 3 {
			return errors.New("starts"), nil
		}
		return nil, nil
	}
	require.NoError(t, c.do("postdeploy"))
	require.Equal(t, 3, c.waits)
	require.Equal(t, "https://f.example/api/v1/ready", c.calls[len(c.calls)-1])
	c.fails = func(url string, _ int) (error, error) {
		if strings.HasSuffix(url, "ready") {
			return errors.New("no storage"), nil
		}
		return nil, nil
	}
	require.ErrorContains(t, c.do("postdeploy"), "/api/v1/ready was answered 503")
	require.ErrorContains(t, c.do("postdeploy"), "workspace log-1")
}
