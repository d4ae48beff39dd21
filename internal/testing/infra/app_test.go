package infra

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hosts are the settings that the Functions host reads; package azure reads those of the storage
// too.
var hosts = []string{
	"AzureWebJobsStorage__blobServiceUri", "AzureWebJobsStorage__queueServiceUri",
	"AzureWebJobsStorage__tableServiceUri",
	"AzureWebJobsStorage__credential", "AzureWebJobsStorage__clientId",
	"AzureWebJobsDisableHomepage", "OVERRIDE_USE_MI_FIC_ASSERTION_CLIENTID", "APPLICATIONINSIGHTS_CONNECTION_STRING",
	"APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
}

// refused are settings that Flex Consumption refuses or that would give keys or the identity away.
var refused = []string{
	"FUNCTIONS_WORKER_RUNTIME", "FUNCTIONS_EXTENSION_VERSION", "WEBSITE_RUN_FROM_PACKAGE", "ENABLE_ORYX_BUILD",
	"SCM_DO_BUILD_DURING_DEPLOYMENT", "WEBSITE_AUTH_ENABLED", "AZURE_CLIENT_ID", "AzureWebJobsStorage",
	"AZURE_FUNCTIONS_ENVIRONMENT",
}

// elsewhere are settings of the program that infra/ does not set, and why.
var elsewhere = map[string]string{
	"FUNCTIONS_CUSTOMHANDLER_PORT": "the Functions host sets it",
	"AZURE_FUNCTIONS_ENVIRONMENT":  "func start sets it; in Azure it would allow dev mode",
	"WEBSITE_SITE_NAME":            "the platform sets it",
	"WEBSITE_AUTH_ENABLED":         "the platform sets it where sign-in is on; set by hand it would believe forged headers",
	"TABLE_*":                      "the names are in main.bicep, TABLE_PREFIX goes before them",
	"LIMIT_*":                      "the defaults suit; moreSettings replaces them",
	"QUOTA_*":                      "the defaults suit; moreSettings replaces them",
	"EVENTS_DAYS":                  "the default suits; moreSettings replaces it",
	"GROUPS_CLAIM":                 "Entra calls it groups",
	"WORKSPACES":                   "everybody may make them; moreSettings replaces it",
	"SEARCH_MEMORY":                "the default suits; moreSettings replaces it",
	"AUTH_ALLOWED_APPLICATIONS":    "none may by default; moreSettings names those that may",
	"OIDC_*":                       "in Azure the platform signs people in; mode oidc is for machines of one's own",
	"SESSION_KEYS":                 "of mode oidc",
	"PUBLIC_URL":                   "of mode oidc; moreSettings sets it for mode invited",
	"TRUSTED_PROXIES":              "the Functions host is on the same machine",
	"METRICS_ADDR":                 "of local: instances of a function app export by OTLP",
	"LOG_FORMAT":                   "of local: the custom handler always writes JSON",
	"SMTP_URL":                     "it has a password; in Azure mail is sent by Communication Services, by identity",
	"DEV_CODES":                    "of local: the handler refuses it",
}

// settingKey finds the settings: those keys that begin with a capital.
var settingKey = regexp.MustCompile(`(?m)^\s*([A-Z]\w+):`)

// ownSettings finds what main.bicep has of settings that not every application has.
var ownSettings = regexp.MustCompile(`(?ms)^var settingsOfItsOwn = .*?\n\n`)

// appSettings compares the settings of the function app with those that the program reads.
func appSettings(t *testing.T, app application, fs files) []string {
	known := settings(t, app)
	require.Contains(t, known, "AUTH_MODE")
	var problems []string
	given := append(groups(settingKey, fs.section(t, "modules/app.bicep", "  resource settings '")),
		groups(settingKey, ownSettings.FindString(fs["main.bicep"]))...)
	for _, name := range given {
		if _, ours := known[name]; !ours && !slices.Contains(hosts, name) {
			problems = append(problems, name+": nobody reads it")
		}
		if slices.Contains(refused, name) || strings.HasPrefix(name, "WEBSITE_") {
			problems = append(problems, name+" must not be set")
		}
	}
	for _, name := range append(slices.Collect(maps.Keys(known)), hosts...) {
		family, _, _ := strings.Cut(name, "_")
		if !slices.Contains(given, name) && elsewhere[name] == "" && elsewhere[family+"_*"] == "" {
			problems = append(problems, name+" is not set: set it in app.bicep, or say in this test why not (settings of an application of its own: in its main.bicep)")
		}
	}
	return problems
}

// The defaults of a deployment are those of the program.
func TestDefaultsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	known, main := settings(t, ours), infrastructure(t, ours)["main.bicep"]
	// People write longer prompts than the default of the binary alone: "make run" and local settings
	// say the same.
	known["MAX_TEXT"] = "32768"
	for file, says := range map[string]string{
		"Makefile":                    "MAX_TEXT:-32768}",
		"local.settings.json.example": `"MAX_TEXT": "32768"`,
	} {
		b, err := os.ReadFile(root + "/" + file)
		require.NoError(t, err)
		require.Contains(t, string(b), says, file)
	}
	for name, param := range map[string]string{
		"PUBLIC_READ": "publicRead bool", "MAX_TEXT": "maxText int",
		"LOG_LEVEL": "logLevel string",
	} {
		given := groups(regexp.MustCompile(`(?m)^param `+param+` = '?([^'\n]*)`), main)
		require.Equal(t, []string{known[name]}, given, name)
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	fs, file := infrastructure(t, ours), "modules/app.bicep"
	fs.has(t, file, "resource site '", "tags: union(tags, { 'azd-service-name': 'api' })", "httpsOnly: true",
		"runtime: { name: 'custom', version: '1.0' }", "type: 'UserAssignedIdentity'")
	taken := []string{
		"minTlsVersion", "scmMinTlsVersion", "http20Enabled", "cors",
		"ipSecurityRestrictions", "ipSecurityRestrictionsDefaultAction", "scmIpSecurityRestrictionsUseMain",
	}
	for _, key := range groups(regexp.MustCompile(`(?m)^\s*(\w+):`), fs.section(t, file, "    siteConfig: "))[1:] {
		require.Contains(t, taken, key, "Flex Consumption refuses a deployment over fields that it does not take")
	}
	// A part left out of a site stays as it was.
	fs.has(t, file, "    siteConfig: ",
		"ipSecurityRestrictionsDefaultAction: empty(allowedIpRanges) ? 'Allow' : 'Deny'")
	fs.has(t, file, "resource plan '", "sku: { name: 'FC1', tier: 'FlexConsumption' }")
	for _, door := range []string{"scm", "ftp"} {
		fs.has(t, file, "  resource "+door+" '", "properties: { allow: false }")
	}
	// App Service takes one change of a site at a time, so its children wait for each other.
	for _, row := range [][2]string{{"auth", "settings"}, {"scm", "auth"}, {"ftp", "scm"}} {
		fs.has(t, file, "  resource "+row[0]+" '", "dependsOn: ["+row[1]+"]")
	}
}

// A category of logs that a function app does not have ends the whole deployment.
func TestLogCategories(t *testing.T) {
	t.Parallel()
	categories := regexp.MustCompile(`category: '(\w+)'`)
	for name, want := range map[string][]string{
		"modules/app.bicep":     {"AppServiceAuthenticationLogs"},
		"modules/storage.bicep": {"StorageWrite"}, "modules/vault.bicep": {"AuditEvent"},
	} {
		require.Equal(t, want, groups(categories, infrastructure(t, ours)[name]), name)
	}
	require.Contains(t, infrastructure(t, ours)["modules/app.bicep"],
		"diagnosticSettings@2021-05-01-preview' = if (!empty(entraClientId)) {")
}

// Rules put rows into their window by TimeGenerated.
func TestAlertsKeepTheTime(t *testing.T) {
	t.Parallel()
	rules := groups(regexp.MustCompile(`(?m)^\s*query: '(.+)'$`), infrastructure(t, ours)["modules/alerts.bicep"])
	require.Len(t, rules, 7)
	for _, query := range rules {
		if _, last, ok := strings.Cut(query, "| project "); ok {
			require.Regexp(t, `^TimeGenerated, `, last)
		}
	}
}

// traced counts the lines of a log that the conditions of a query of AppTraces let through. The
// host logs a line of the handler as it is, so each is the JSON document that the handler wrote.
func traced(t *testing.T, query, log string) (count int) {
	t.Helper()
	has := groups(regexp.MustCompile(`where Message has "([^"]+)"`), query)
	says := groups(regexp.MustCompile(`where tostring\((?:parse_json\(Message\)|Line)\.msg\) == "([^"]+)"`), query)
	require.Len(t, has, 1, query)
	require.Len(t, says, 1, query)
	require.Equal(t, 2, strings.Count(query, "| where "), "a condition that this test does not apply: %s", query)
	for line := range strings.Lines(log) {
		var document struct{ Msg string }
		if strings.Contains(line, has[0]) && json.Unmarshal([]byte(line), &document) == nil && document.Msg == says[0] {
			count++
		}
	}
	return count
}

// TestAlertsReadTheLog: the rules that read lines of the log count those that the programs write.
func TestAlertsReadTheLog(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	lines := slog.New(slog.NewJSONHandler(&log, nil)) // as internal/host/command has it under the host
	lines.Info("backup is complete", slog.Int("rows", 1))
	lines.Info("anti-entropy", slog.Int("differences", 1))
	lines.Error("invocation", slog.String("function", "backups"),
		slog.String("error", "no backup is complete: anti-entropy failed"))
	said := map[string]string{"backupDone": "backup is complete", "drift": "anti-entropy"}
	alerts := infrastructure(t, ours)["modules/alerts.bicep"]
	for param, text := range said {
		var queries []string
		for _, query := range groups(regexp.MustCompile(`(?m)^\s*query: '(AppTraces .+)'$`), alerts) {
			if strings.Contains(query, "${"+param+"}") {
				queries = append(queries, strings.ReplaceAll(query, "${"+param+"}", text))
			}
		}
		require.Len(t, queries, 1, param)
		require.Equal(t, 1, traced(t, queries[0], log.String()), queries[0])
		for _, app := range applications(t) {
			for _, given := range groups(regexp.MustCompile(`(?m)^    `+param+`: '(.+)'`),
				infrastructure(t, app)["main.bicep"]) {
				require.Equal(t, text, given, app)
				require.True(t, says(t, text, append(app.own(), "internal/storage/backup")...),
					"no line of the program of %s says %s", app, text)
			}
		}
	}
	infrastructure(t, ours).has(t, "modules/alerts.bicep", "resource backupAge '",
		"operator: 'LessThan'", "windowSize: 'P2D'")
}

// TestHeartbeats: each application that has a timer is watched for the silence of one that runs
// often enough for the hour that the rule looks back.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	for _, app := range applications(t) {
		var often []string
		for _, f := range functions(t, app) {
			if schedule := f.trigger().Schedule; regexp.MustCompile(
				`^0 (\*|\*/([1-9]|1[0-5])) \* \* \* \*$`).MatchString(schedule) {
				often = append(often, f.name)
			}
		}
		given := groups(regexp.MustCompile(`(?m)^    heartbeat: '(.+)'$`), infrastructure(t, app)["main.bicep"])
		if len(often) == 0 {
			require.Empty(t, given, app)
			continue
		}
		require.Len(t, given, 1, app)
		require.Contains(t, often, given[0], app)
	}
}

// The host answers preflights and the handler never sees one, so the platform must know the origins
// too.
func TestOriginsArePlatformAndProgram(t *testing.T) {
	t.Parallel()
	fs, file := infrastructure(t, ours), "modules/app.bicep"
	fs.has(t, file, "resource site '", "cors: { allowedOrigins: corsOrigins, supportCredentials: false }")
	fs.has(t, file, "  resource settings '", "CORS_ORIGINS: join(corsOrigins, ',')")
	for _, app := range applications(t) {
		for _, f := range functions(t, app) {
			require.NotContains(t, f.trigger().Methods, "options", "%s: the host would not pass one on", f.name)
		}
	}
}

// With a name of one's own and address ranges, callers come from Front Door's addresses: it must be
// let in, ours alone, and must keep the ranges itself.
func TestFrontDoorAndAddressRanges(t *testing.T) {
	t.Parallel()
	fs := infrastructure(t, ours)
	fs.has(t, "modules/app.bicep", "var frontDoorRules =", "ipAddress: 'AzureFrontDoor.Backend'", "tag: 'ServiceTag'",
		"headers: { 'x-azure-fdid': [frontDoorId] }")
	fs.has(t, "modules/app.bicep", "resource site '", "ipSecurityRestrictions: concat(frontDoorRules, rangeRules)",
		"scmIpSecurityRestrictionsUseMain: true")
	fs.has(t, "modules/app.bicep", "  resource settings '", "FRONT_DOOR_ID: frontDoorId")
	fs.has(t, "modules/frontdoor.bicep", "resource firewall '", "action: 'Block'",
		"{ matchVariable: 'SocketAddr', operator: 'IPMatch', negateCondition: true, matchValue: allowedIpRanges }")
	fs.has(t, "modules/domain.bicep", "resource security '", "wafPolicy: { id: firewallId }",
		"{ domains: [{ id: domain.id }], patternsToMatch: ['/*'] }")
}

// Without sign-in and without tokens there is no mode, and the application refuses everybody.
func TestModeOfSignIn(t *testing.T) {
	t.Parallel()
	fs, file := infrastructure(t, ours), "modules/app.bicep"
	require.Contains(t, fs[file], "var authMode = !empty(entraClientId) ? 'easyauth' : (!empty(jwtIssuer) || !empty(jwtAudience)) ? 'jwt' : ''")
	fs.has(t, file, "  resource auth '", "platform: { enabled: !empty(entraClientId) }",
		"requireAuthentication: false") // the application refuses: a browser needs its sign-in page
	require.Contains(t, fs["main.bicep"],
		"filter(objectKeys(moreSettings), name => startsWith(toLower(name), 'website_'))",
		"WEBSITE_AUTH_ENABLED is the platform's to set")
	require.Contains(t, fs["main.bicep"], "moreSettings: empty(platformSettings) ? moreSettings : fail(")
}

// A name of one's own needs no Front Door where the site takes certificates, which it can only be
// told when it is created. Before a domain is looked at the first time it has no token yet.
func TestNamesOfOnesOwn(t *testing.T) {
	t.Parallel()
	fs := infrastructure(t, ours)
	fs.has(t, "modules/app.bicep", "resource site '", "siteScopedCertificatesEnabled: true")
	require.Contains(t, fs["modules/domain.bicep"],
		"output validationToken string = domain.properties.?validationProperties.?validationToken ?? ''\n")
}

// What the platform takes: one instance is enough, and paths that are left out of sign-in have no
// effect where anybody may come in without.
func TestStaleLimits(t *testing.T) {
	t.Parallel()
	fs := infrastructure(t, ours)
	require.Regexp(t, `@minValue\(1\)\n@maxValue\(1000\)\n@description\([^\n]*\)\nparam maximumInstanceCount int = 40`,
		fs["main.bicep"])
	require.NotContains(t, fs["modules/app.bicep"], "excludedPaths")
}
