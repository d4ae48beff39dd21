package infra

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// decided are lines of the modules that a compiler takes in another form too, by the declaration
// that has them. Each was a fault once, or would be one that no deployment shows.
var decided = []struct{ file, opening, line, why string }{
	{
		"modules/vault.bicep", "resource vault '", "createMode: recover ? 'recover' : 'default'",
		"a vault that was deleted with its group comes back",
	},
	{"modules/vault.bicep", "resource values '", "name: name", "a secret has the name by which settings ask for it"},
	{
		"modules/vault.bicep", "resource diagnostics '", "{ category: 'AuditEvent', enabled: true }",
		"each reading of a secret is on record",
	},
	{"modules/communication.bicep", "resource communication '", "disableLocalAuth: true", "there is no key"},
	{
		"modules/communication.bicep", "resource access '", "scope: communication",
		"the application may send, and send by this resource alone",
	},
	{
		"modules/communication.bicep", "resource access '", "principalId: identity.properties.principalId",
		"the application sends by its identity",
	},
	{
		"modules/access.bicep", "resource containerAccess '", "principalId: principalId",
		"restore and exports work on the container",
	},
	{
		"modules/budget.bicep", "resource budget '", "contactEmails: empty(email) ? [] : [email]",
		"an empty address is refused",
	},
}

func TestDecidedLines(t *testing.T) {
	t.Parallel()
	fs := infrastructure(t, ours)
	for _, d := range decided {
		require.Contains(t, fs.section(t, d.file, d.opening), d.line, "%s: %s", d.file, d.why)
	}
	for text, n := range map[[2]string]int{
		// how many is known beforehand
		{"modules/vault.bicep", "[for name in secretNames: {"}:                                   1,
		{"modules/access.bicep", "[for (name, i) in containerNames: if (!empty(principalId)) {"}: 1,
		{"modules/access.bicep", "[for name in containerNames: {"}:                               1,
		// Storage Blob Data Contributor
		{"modules/access.bicep", "var containerRole = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'"}: 1,
		// Communication and Email Service Owner
		{"modules/communication.bicep", "var sender = '09976791-48a7-449e-bb21-39d1a415f350'"}: 1,
		// as the README of Harmony says
		{"modules/storage.bicep", "deleteRetentionPolicy: { enabled: true, days: 7 }"}:                1,
		{"modules/storage.bicep", "containerDeleteRetentionPolicy: { enabled: true, days: 7 }"}:       1,
		{"modules/budget.bicep", "contactEmails: empty(email) ? [] : [email]"}:                        3,
		{"modules/app.bicep", "param behindFrontDoor bool"}:                                           1,
		{"modules/app.bicep", "}, !behindFrontDoor ? {} : {"}:                                         1,
		{"modules/alerts.bicep", `and OperationName !in ("${join(delayed, '", "')}")`}:                1,
		{"modules/alerts.bicep", "${delayedFunctions}"}:                                               1,
		{"modules/communication.bicep", "'Microsoft.Communication/communicationServices@2025-05-01'"}: 1,
		{"modules/communication.bicep", "'Microsoft.Communication/emailServices@2025-05-01'"}:         1,
		{"modules/communication.bicep", "'Microsoft.Communication/emailServices/domains@2025-05-01'"}: 1,
	} {
		require.Equal(t, n, strings.Count(fs[text[0]], text[1]), "%s: %s", text[0], text[1])
	}
}

// TestEveryApplicationIsOperable: each application tells its operator by mail, gives azd the names
// that the runbook reads, and gives who deploys the rights that commands need.
func TestEveryApplicationIsOperable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, app application) {
		fs := infrastructure(t, app)
		main := fs["main.bicep"]
		fs.has(t, "main.bicep", "module alerts '", "email: alertEmail")
		for name, value := range map[string]string{
			"AZURE_RESOURCE_GROUP": "group.name", "FUNCTION_APP_NAME": "app.outputs.name",
			"FUNCTION_APP_URL":     "app.outputs.url",
			"STORAGE_ACCOUNT_NAME": "storage.outputs.name", "LOG_ANALYTICS_WORKSPACE": "monitoring.outputs.logsName",
			"TABLE_PREFIX": "tablePrefix",
		} {
			require.Regexp(t, `(?m)^output `+name+` string = .*`+regexp.QuoteMeta(value), main)
		}
		queues := Params(main)["queuePrefix"]
		require.NotEmpty(t, queues.Refuses(""), "the host resolves no empty setting")
		require.NotEmpty(t, queues.Refuses(strings.Repeat("a", 31)), "names of queues end at 63")
		require.Empty(t, queues.Refuses(strings.Repeat("a", 30)))
		fs.has(t, "main.bicep", "module access '", "principalId: principalId")
		fs.has(t, "main.bicep", "module monitoring '", "dailyGb: logDailyGb")
		for _, name := range []string{"instanceMemoryMB", "maximumInstanceCount"} {
			fs.has(t, "main.bicep", "module app '", name+": "+name)
		}
		client, signsIn := Params(main)["entraClientId"]
		require.True(t, !signsIn || app == ours || client.Fallback == "", "without it every answer is 503")
	})
	for app, searches := range map[application]string{"apps/harmony": "decodes pictures", "apps/ricochet": "searches"} {
		require.NotEmpty(t, Params(infrastructure(t, app)["main.bicep"])["instanceMemoryMB"].Refuses(512), searches)
	}
	require.Contains(t, infrastructure(t, "apps/duuble")["main.bicep"],
		"!empty(acsEndpoint) ? acsEndpoint : fail(", "nothing would send codes")
	// those that people operate
	for _, app := range []application{ours, "apps/ricochet", "apps/harmony", "apps/duuble"} {
		fs := infrastructure(t, app)
		require.Regexp(t, `(?m)^    heartbeat: '[a-z-]+'`, fs.section(t, "main.bicep", "module alerts '"))
	}
	require.Contains(t, infrastructure(t, "apps/ricochet").section(t, "main.bicep", "module alerts '"),
		"delayed: ['round-due']", "its messages are put when a round begins")
	duuble := Params(infrastructure(t, "apps/duuble")["main.bicep"])
	require.NotEmpty(t, duuble["communicationDataLocation"].Refuses("Mars"))
	require.Empty(t, duuble["communicationDataLocation"].Refuses("Europe"))
	require.Empty(t, duuble["acsFrom"].Fallback, "there is no number that fits everybody")
}

// TestParametersHaveTypes: a list of anything, or an object of anything, takes mistakes that end a
// deployment.
func TestParametersHaveTypes(t *testing.T) {
	t.Parallel()
	untyped := regexp.MustCompile(`(?m)^param \w+ (array|object)\b`)
	for name, text := range allBicep(t) {
		require.Empty(t, untyped.FindAllString(text, -1), name)
	}
}

// TestLintIsStrict: the rules that bicepconfig.json has are those below, and CI ends at a warning.
func TestLintIsStrict(t *testing.T) {
	t.Parallel()
	var config struct {
		Analyzers struct {
			Core struct {
				Enabled bool
				Rules   map[string]struct{ Level string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(content(t, "bicepconfig.json"), &config))
	require.True(t, config.Analyzers.Core.Enabled)
	var rules []string
	for name, rule := range config.Analyzers.Core.Rules {
		if name != "use-recent-api-versions" { // which a new day breaks
			rules = append(rules, fmt.Sprintf("%s %s", name, rule.Level))
		}
	}
	slices.Sort(rules)
	var want []string
	for _, name := range strings.Fields(
		`adminusername-should-not-be-literal no-conflicting-metadata no-explicit-any no-hardcoded-env-urls
		no-hardcoded-location no-unnecessary-dependson no-unused-existing-resources no-unused-imports no-unused-params no-unused-vars
		outputs-should-not-contain-secrets prefer-interpolation prefer-unquoted-property-names protect-commandtoexecute-secrets
		secure-parameter-default secure-params-in-nested-deploy secure-params-in-parameters-file secure-secrets-in-params
		simplify-interpolation simplify-json-null use-parent-property use-recognized-resource-type use-resource-id-functions
		use-resource-symbol-reference use-safe-access use-secure-value-for-secure-inputs use-stable-resource-identifiers`) {
		want = append(want, name+" error")
	}
	require.Equal(t, want, rules)
	require.Equal(t, 2, strings.Count(string(content(t, ".github/workflows/ci.yml")),
		"if grep -q 'Warning' said; then exit 1; fi"), "of the compiler and of the linter")
}
