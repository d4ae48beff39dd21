package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cloud is what az and azd work on: a directory, and an azd environment. A created object is seen
// by others only after some requests, as in a directory of several servers.
type cloud struct {
	t       *testing.T
	env     map[string]string
	objects map[string]map[string]any // by path
	hidden  map[string]int            // for how many requests more an object is not seen
	lag     int
	calls   []string
	waits   int
	made    int    // objects so far
	tenant  string // of azd
	token   answer // for a wrong access token
	unready answer // instead of 200, while fails says so
	out     strings.Builder

	// the fault of the nth call, before or after it has its effect
	fails func(call string, n int) (before, after error)
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	return &cloud{
		t: t, env: map[string]string{"ENTRA_SIGN_IN": "create", "AZURE_ENV_NAME": "dev"}, tenant: "T1",
		objects: map[string]map[string]any{}, hidden: map[string]int{},
		token:   answer{401, `{"status":401,"code":"UNAUTHENTICATED","detail":"the access token is not complete"}`},
		unready: answer{503, ""},
		fails:   func(string, int) (error, error) { return nil, nil },
	}
}

func (c *cloud) do(args ...string) error {
	return hook{
		root: "../..", lookup: func(k string) (string, bool) { v, ok := c.env[k]; return v, ok },
		out: &c.out, run: c.run, program: c.program, random: func() string { return "R" + fmt.Sprint(len(c.calls)) },
		now:  func() time.Time { return time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC) },
		wait: func(context.Context, time.Duration) error { c.waits++; return nil },
		get: func(_ context.Context, url, token string) (answer, error) {
			if token != "" {
				return c.token, nil
			}
			c.calls = append(c.calls, url)
			if away, _ := c.fails(url, len(c.calls)); away == nil {
				return answer{200, `{"status":"ok"}`}, nil
			}
			return c.unready, nil
		},
	}.do(c.t.Context(), args)
}

// built is the program, which is built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "hook-")
	if err != nil {
		return "", err
	}
	return build(context.Background(), "../..", dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// program is the real one.
func (c *cloud) program(ctx context.Context, settings map[string]string) error {
	path, err := built()
	require.NoError(c.t, err)
	return takes(ctx, path, settings)
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
	case object != nil && flags["--method"] == "DELETE":
		delete(c.objects, path)
		return "", nil
	case object == nil && flags["--headers"] != "Prefer=create-if-missing":
		return "", errors.New("Not Found: Request_ResourceNotFound")
	case object == nil:
		c.made++
		object = map[string]any{"appId": fmt.Sprintf("app-%d", c.made-1)}
		c.objects[path], c.hidden[path] = object, c.lag
	case c.hidden[path] > 0:
		c.hidden[path]--
		return "", errors.New("Not Found: Request_ResourceNotFound")
	}
	maps.Copy(object, body)
	switch flags["--query"] {
	case "appId":
		return fmt.Sprint(object["appId"]), nil
	case "web.redirectUris":
		web, _ := object["web"].(map[string]any)
		list, err := json.Marshal(web["redirectUris"])
		return string(list), err
	}
	return "", nil
}

// complete requires one registration, whole, that azd knows.
func (c *cloud) complete() {
	c.t.Helper()
	name := c.env["ENTRA_UNIQUE_NAME"]
	require.Regexp(c.t, `^prompthub-dev-r\d+$`, name)
	require.ElementsMatch(c.t, []string{"applications(uniqueName='" + name + "')", "servicePrincipals(id)"},
		slices.Collect(maps.Keys(c.objects)))
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
	require.Zero(t, c.waits)
	c.calls = nil
	require.NoError(t, c.do("preprovision"))
	require.NotContains(t, strings.Join(c.calls, "\n"), "PATCH", "a registration that is complete is left alone")
	require.NotContains(t, strings.Join(c.calls, "\n"), "azd env set")
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
		"FUNCTION_APP_URL": "https://f.example", "CUSTOM_DOMAIN": "p.example",
		"ENTRA_ISSUER": "https://login.example/t1/v2.0", "IDENTITY_PRINCIPAL_ID": "i-1",
	})
	for range 2 {
		require.NoError(t, c.do("postprovision"))
	}
	app := "applications(uniqueName='" + c.env["ENTRA_UNIQUE_NAME"] + "')"
	web := func() map[string]any { return c.objects[app]["web"].(map[string]any) }
	uris := []any{"https://f.example/.auth/login/aad/callback", "https://p.example/.auth/login/aad/callback"}
	require.Equal(t, map[string]any{
		"redirectUris":          uris,
		"implicitGrantSettings": map[string]any{"enableIdTokenIssuance": true},
	}, web())
	// An administrator adds a name of their own by hand.
	uris = append([]any{"https://own.example/.auth/login/aad/callback"}, uris...)
	web()["redirectUris"] = uris
	require.NoError(t, c.do("postprovision"))
	require.Equal(t, uris, web()["redirectUris"])
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
	for _, env := range []map[string]string{
		{"JWT_ISSUER": "https://login.example/v2.0", "JWT_AUDIENCE": "api://prompts", "AZURE_ENV_NAME": "dev"},
		{"ENTRA_CLIENT_ID": "app-2", "AZURE_ENV_NAME": "dev"},
	} {
		c := newCloud(t)
		c.env = env
		require.NoError(t, c.do("preprovision"))
		require.NoError(t, c.do("postprovision"))
		require.NoError(t, c.do("postdown"))
		require.Empty(t, c.calls)
	}
	require.ErrorContains(t, newCloud(t).do(), "usage")
	c := newCloud(t)
	delete(c.env, "AZURE_ENV_NAME")
	require.ErrorContains(t, c.do("preprovision"), "AZURE_ENV_NAME is not set")
	_, err := execute(t.Context(), "go", "no-such-command")
	require.ErrorContains(t, err, "unknown command")
}

// After azd down, or after somebody deleted the registration by hand, azd up makes another one, by
// another name: the directory keeps that of a deleted one.
func TestRegisterAgain(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"down", "by hand", "by hand, and cut short"} {
		c := newCloud(t)
		require.NoError(t, c.do("preprovision"))
		name := c.env["ENTRA_UNIQUE_NAME"]
		if how == "down" {
			require.NoError(t, c.do("postdown"))
			require.Empty(t, c.env["ENTRA_CLIENT_ID"])
			require.NoError(t, c.do("postdown"), "it is gone already")
		}
		clear(c.objects)
		c.made = 0
		if how == "by hand, and cut short" {
			c.fails = func(call string, _ int) (error, error) {
				if call == "azd env set ENTRA_CLIENT_ID " {
					return context.Canceled, nil
				}
				return nil, nil
			}
			require.ErrorIs(t, c.do("preprovision"), context.Canceled)
			require.Empty(t, c.objects)
			c.fails = func(string, int) (error, error) { return nil, nil }
		}
		require.NoError(t, c.do("preprovision"))
		c.complete()
		require.NotEqual(t, name, c.env["ENTRA_UNIQUE_NAME"], how)
		require.LessOrEqual(t, c.waits, 4, how)
	}
	c := newCloud(t)
	c.env["ENTRA_CLIENT_ID"] = "of-another-tenant"
	require.ErrorContains(t, c.do("preprovision"), "correct ENTRA_CLIENT_ID")
	require.NoError(t, c.do("postdown"))
	require.Equal(t, "of-another-tenant", c.env["ENTRA_CLIENT_ID"], "what was brought stays")
}

func TestDownWithoutLogin(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	require.NoError(t, c.do("preprovision"))
	c.fails = func(call string, _ int) (error, error) {
		if strings.HasPrefix(call, "az ") {
			return errors.New("Please run 'az login'"), nil
		}
		return nil, nil
	}
	require.ErrorContains(t, c.do("postdown"), "run az ad app delete --id app-0")
	require.NotEmpty(t, c.env["ENTRA_CLIENT_ID"])
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"MORE_SETTINGS", `{"LIMIT_WRITES":"50"}`, ""},
		{"MORE_SETTINGS", `{}`, ""},
		{"MORE_SETTINGS", ``, `run "azd env set MORE_SETTINGS {}"`},
		{"MORE_SETTINGS", `{"WEBSITE_AUTH_ENABLED":"true"}`, "may not set WEBSITE_AUTH_ENABLED"},
		{"MORE_SETTINGS", `{"website_auth_enabled":"true"}`, "may not set website_auth_enabled"},
		{"MORE_SETTINGS", `{"LIMIT_WRITES":50}`, "no JSON object of strings"},
		{"MORE_SETTINGS", `LIMIT_WRITES=50`, "no JSON object of strings"},
		{"MORE_SETTINGS", `{"LIMIT_WRITES":"many"}`, `setting LIMIT_WRITES cannot be "many"`},
		{"MORE_SETTINGS", `{"AUTH_MODE":"dev"}`, `setting AUTH_MODE is "dev"`},
		{"PROMPTHUB_TAGS", `a:"A"`, "PROMPTHUB_TAGS: holds a quote"},
		{"JWT_ISSUER", "a\nb", "JWT_ISSUER: holds a quote, a backslash or a line break"},
		{"ENTRA_ASSIGNMENT_REQUIRED", "yes", "must be true or false"},
		{"ENTRA_SIGN_IN", "Create", "ENTRA_SIGN_IN must be create"},
		// azd would deploy the default of these.
		{"PRIVATE_NETWORK", "yes", `PRIVATE_NETWORK: must be true or false, not "yes"`},
		{"PUBLIC_READ", "ja", "PUBLIC_READ: must be true or false"},
		{"MAXIMUM_INSTANCE_COUNT", "5 ", `MAXIMUM_INSTANCE_COUNT: must be a whole number, not "5 "`},
		{"BUDGET_AMOUNT", "20.5", "BUDGET_AMOUNT: must be a whole number"},
		// Bicep would end the deployment.
		{"INSTANCE_MEMORY_MB", "1024", "INSTANCE_MEMORY_MB: 1024 is none of 512, 2048, 4096"},
		{"STORAGE_SKU", "standard_zrs", "'standard_zrs' is none of 'Standard_LRS'"},
		{"MAX_TEXT", "131073", "131073 is above @maxValue(131072)"},
		{"LOG_DAILY_GB", "-1", "LOG_DAILY_GB: -1 is below @minValue(0)"},
		{"AZURE_ENV_NAME", strings.Repeat("n", 41), "is above @maxLength(40)"},
		{"AZURE_ENV_NAME", "ricochet-prod", "that of ricochet's environment prod"},
		{"AZURE_ENV_NAME", "harmony-", "that of harmony's environment"},
		{"AZURE_ENV_NAME", "ricochets-prod", ""},
		{"ALLOWED_IP_RANGES", "203.0.113.7", `"203.0.113.7" is no range`},
		{"ALLOWED_IP_RANGES", "203.0.113.0/24, 2001:db8::/32", ""},
		// Azure would take them, and the program answer everything with 503.
		{"CORS_ORIGINS", "https://app.example.com/", `setting CORS_ORIGINS cannot be "https://app.example.com/"`},
		{"CORS_ORIGINS", "https://app.example.com, http://localhost:3000", ""},
		{"QUEUE_PREFIX", "Bad_", `setting QUEUE_PREFIX is "Bad_"`},
		{"TABLE_PREFIX", "my-", "setting TABLE_PREFIX or another"},
		{"AUTH_TENANTS", ",", "setting AUTH_TENANTS must be the ids of tenants"},
		{"PROMPTHUB_TAGS", "a b", `setting TAGS, the variable PROMPTHUB_TAGS, cannot be "a b"`},
		{"PROMPTHUB_LOG_LEVEL", "loud", "'loud' is none of"},
		{"BUDGET_AMOUNT", "0", ""},
		{"BUDGET_AMOUNT", "20", "BUDGET_START must be the first of a month"},
		{"BUDGET_AMOUNT", "20", "ALERT_EMAIL must say whom"},
	} {
		c := newCloud(t)
		c.env = map[string]string{"ENTRA_CLIENT_ID": "app-2", tt.name: tt.value}
		if err := c.do("preprovision"); tt.want != "" {
			require.ErrorContains(t, err, tt.want)
		} else {
			require.NoError(t, err, tt.value)
		}
		require.Empty(t, c.calls)
	}
}

// TestVariablesOfSiblings: the hook of an application in apps refuses what does not fit its
// parameters, and the line of azure.yaml that it is a part of asks the program too.
func TestVariablesOfSiblings(t *testing.T) {
	t.Parallel()
	apps, err := filepath.Glob("../../apps/*/azure.yaml")
	require.NoError(t, err)
	require.Len(t, apps, 4)
	for _, file := range apps {
		env := map[string]string{"AZURE_ENV_NAME": "dev"}
		h := hook{root: filepath.Dir(file), lookup: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
		require.NoError(t, h.do(t.Context(), []string{"variables"}), file)
		for name, value := range map[string]string{
			"INSTANCE_MEMORY_MB": "1024", "MAXIMUM_INSTANCE_COUNT": "0", "LOG_DAILY_GB": "-1",
			"QUEUE_PREFIX": strings.Repeat("q", 31), "ALERT_EMAIL": `"a"`,
		} {
			env = map[string]string{"AZURE_ENV_NAME": "dev", name: value}
			require.ErrorContains(t, h.do(t.Context(), []string{"variables"}), name, file)
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := regexp.MustCompile(`(?m)^      run: go run ../../infra/hook variables && go run ./handler settings FUNCTIONS_CUSTOMHANDLER_PORT=1 QUEUE_PREFIX=\w+-( .+)?$`).FindAllString(string(text), -1)
		require.Len(t, lines, 2, "%s: for sh and for pwsh", file)
		require.Equal(t, lines[0], lines[1], file)
	}
}

func TestCheckOfSignIn(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.env = map[string]string{}
	require.ErrorContains(t, c.do("preprovision"), `run "azd env set ENTRA_SIGN_IN create"`)
	c.env["JWT_ISSUER"] = "http://login.example.org"
	require.ErrorContains(t, c.do("preprovision"), "setting JWT_ISSUER must be an https URL")
	c.env["JWT_ISSUER"] = "https://login.example.org"
	require.ErrorContains(t, c.do("preprovision"), "setting JWT_AUDIENCE is not set")
	c.env["JWT_AUDIENCE"] = "api://prompts"
	require.NoError(t, c.do("preprovision"))
}

func TestCheckOfBudget(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.env = map[string]string{
		"ENTRA_CLIENT_ID": "app-2", "BUDGET_AMOUNT": "20", "BUDGET_START": "2026-12-01",
		"ALERT_EMAIL": "a@example.org",
	}
	require.NoError(t, c.do("preprovision"))
	c.env["BUDGET_START"] = "2026-11-01"
	require.NoError(t, c.do("preprovision"), "this month")
	c.env["BUDGET_START"] = "2026-12-02"
	require.ErrorContains(t, c.do("preprovision"), "such as 2026-11-01")
	c.env["BUDGET_START"] = "2026-10-01"
	require.ErrorContains(t, c.do("preprovision"), "azd env set BUDGET_MADE_FROM 2026-10-01")
	c.env["BUDGET_MADE_FROM"] = "2026-10-01"
	require.NoError(t, c.do("preprovision"), "it was made when that month was not over")
}

// What the hook gives to the program is what Bicep gives to it.
func TestSettingsAreThoseOfBicep(t *testing.T) {
	t.Parallel()
	key := regexp.MustCompile(`(?m)^ +([A-Z][A-Z_]+):`)
	var always, want, got []string
	for _, from := range []struct{ file, begin, end string }{
		{"modules/app.bicep", "resource settings '", "resource auth '"}, {"main.bicep", "var settingsOfItsOwn", "\n\n"},
	} {
		text, err := os.ReadFile("../" + from.file)
		require.NoError(t, err)
		_, rest, ok := strings.Cut(string(text), from.begin)
		require.True(t, ok)
		rest, _, ok = strings.Cut(rest, from.end)
		require.True(t, ok)
		for _, m := range key.FindAllStringSubmatch(rest, -1) {
			want = append(want, m[1])
		}
		first, _, ok := strings.Cut(rest, "}, empty(")
		require.True(t, ok)
		for _, m := range key.FindAllStringSubmatch(first, -1) {
			always = append(always, m[1])
		}
	}
	values := map[string]string{
		"AUTH_TENANTS": "t", "TABLE_PREFIX": "T", "PROMPTHUB_TAGS": "a",
		"CORS_ORIGINS": "https://a.example",
	}
	jwt := maps.Clone(values)
	jwt["JWT_ISSUER"] = "i"
	values["ENTRA_CLIENT_ID"] = "e"
	for _, v := range []map[string]string{values, jwt} {
		got = slices.AppendSeq(got, maps.Keys(settings(v, nil)))
	}
	// What Azure alone knows, and what the platform adds.
	azures := func(name string) bool {
		return slices.Contains([]string{
			"APPLICATIONINSIGHTS_CONNECTION_STRING",
			"APPLICATIONINSIGHTS_AUTHENTICATION_STRING", "FRONT_DOOR_ID", "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID",
		},
			name)
	}
	want = append(slices.DeleteFunc(want, azures), "FUNCTIONS_CUSTOMHANDLER_PORT", "WEBSITE_AUTH_ENABLED")
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, slices.Compact(want), slices.Compact(got))
	// The program refuses most settings that are there and empty.
	always = append(slices.DeleteFunc(always, azures), "FUNCTIONS_CUSTOMHANDLER_PORT")
	require.ElementsMatch(t, always, slices.Collect(maps.Keys(settings(nil, nil))))
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
	// A setting that is refused stays refused: nothing is waited for, and its name is said.
	c.waits, c.unready = 0, answer{503, `{"status":503,"code":"NOT_CONFIGURED","detail":"setting AUTH_MODE is not set: it says how callers are identified"}`}
	require.ErrorContains(t, c.do("postdeploy"), "setting AUTH_MODE is not set")
	require.Zero(t, c.waits)
	c.unready = answer{503, `{"status":503,"code":"UNAVAILABLE","detail":"the storage does not answer"}`}
	require.ErrorContains(t, c.do("postdeploy"), "was answered 503: the storage does not answer")
	require.Equal(t, attempts-1, c.waits)
}

// A platform that answers access tokens itself is reported with the way around it.
func TestTokensReachTheApplication(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	c.env["FUNCTION_APP_URL"] = "https://f.example"
	require.NoError(t, c.do("postdeploy"))
	require.Contains(t, c.out.String(), "reaches the application")
	require.Contains(t, c.out.String(), `/api/v1/ready was answered {"status":"ok"}`)
	for _, other := range []answer{
		{401, `{"status":401,"detail":"a page of the platform"}`},
		{401, "You do not have permission to view this directory or page."},
		{403, ""},
		{200, "{}"},
	} {
		c.out.Reset()
		c.token = other
		require.NoError(t, c.do("postdeploy"))
		require.Contains(t, c.out.String(), "in the header X-Api-Key instead")
	}
}
