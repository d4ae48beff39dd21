package infra

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hosts are the settings that the Functions host reads; package azure reads those of the storage too.
var hosts = []string{
	"AzureWebJobsStorage__blobServiceUri", "AzureWebJobsStorage__queueServiceUri", "AzureWebJobsStorage__tableServiceUri",
	"AzureWebJobsStorage__credential", "AzureWebJobsStorage__clientId",
	"AzureWebJobsDisableHomepage", "APPLICATIONINSIGHTS_CONNECTION_STRING", "APPLICATIONINSIGHTS_AUTHENTICATION_STRING",
}

// refused are settings that Flex Consumption refuses or that would give keys or the identity away.
var refused = []string{
	"FUNCTIONS_WORKER_RUNTIME", "FUNCTIONS_EXTENSION_VERSION", "WEBSITE_RUN_FROM_PACKAGE", "ENABLE_ORYX_BUILD",
	"SCM_DO_BUILD_DURING_DEPLOYMENT", "WEBSITE_AUTH_ENABLED", "AZURE_CLIENT_ID", "AzureWebJobsStorage", "AZURE_FUNCTIONS_ENVIRONMENT",
}

// elsewhere are settings of the program that infra/ does not set, and why.
var elsewhere = map[string]string{
	"FUNCTIONS_CUSTOMHANDLER_PORT": "the Functions host sets it",
	"AZURE_FUNCTIONS_ENVIRONMENT":  "func start sets it; in Azure it would allow dev mode",
	"WEBSITE_AUTH_ENABLED":         "the platform sets it where sign-in is on; set by hand it would believe forged headers",
	"TABLE_*":                      "the names are in storage.bicep, TABLE_PREFIX goes before them",
	"LIMIT_*":                      "the defaults suit; moreSettings replaces them",
	"CORS_*":                       "no page of another origin by default; moreSettings allows some",
}

// appSettings compares the settings of the function app with those that the program reads.
func appSettings(t *testing.T, fs files) []string {
	known := settings(t)
	require.Contains(t, known, "AUTH_MODE")
	var given, problems []string
	for _, o := range fs["modules/app.bicep"].Resource("settings").Body.Get("properties").Objects() {
		for _, p := range o.Properties() {
			given = append(given, p.Name)
		}
	}
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
			problems = append(problems, name+" is not set: set it in app.bicep, or say in this test why not")
		}
	}
	return problems
}

// The defaults of a deployment are those of the program.
func TestDefaultsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	known, main := settings(t), file(t, "main.bicep")
	for name, param := range map[string]string{"PUBLIC_READ": "publicRead", "MAX_TEXT": "maxText", "LOG_LEVEL": "logLevel"} {
		for _, p := range main.Params {
			if p.Name == param {
				require.Equal(t, known[name], strings.Trim(p.Default.Text(), "'"), name)
			}
		}
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	f := file(t, "modules/app.bicep")
	site := f.Resource("site").Body
	is(t, site, "union(tags, { 'azd-service-name': 'api' })", "tags")
	properties := site.Get("properties")
	is(t, properties, "true", "httpsOnly")
	runtime := properties.Get("functionAppConfig", "runtime")
	is(t, runtime, "'custom'", "name")
	is(t, runtime, "'1.0'", "version")
	is(t, properties.Get("functionAppConfig", "deployment", "storage"), "'UserAssignedIdentity'", "authentication", "type")
	for _, o := range properties.Get("siteConfig").Objects() {
		for _, p := range o.Properties() {
			require.Contains(t, []string{
				"minTlsVersion", "scmMinTlsVersion", "http20Enabled", "ipSecurityRestrictions", "ipSecurityRestrictionsDefaultAction",
			}, p.Name, "Flex Consumption refuses a deployment over fields that it does not take")
		}
	}
	is(t, f.Resource("plan").Body, "'FC1'", "sku", "name")
	for _, door := range []string{"scm", "ftp"} {
		is(t, f.Resource(door).Body, "false", "properties", "allow")
	}
}

// Without sign-in and without tokens there is no mode, and the application refuses everybody.
func TestModeOfSignIn(t *testing.T) {
	t.Parallel()
	f := file(t, "modules/app.bicep")
	require.Equal(t, "!empty(entraClientId) ? 'easyauth' : (!empty(jwtIssuer) || !empty(jwtAudience)) ? 'jwt' : ''", f.Vars["authMode"].Text())
	auth := f.Resource("auth").Body.Get("properties")
	is(t, auth, "!empty(entraClientId)", "platform", "enabled")
	is(t, auth, "false", "globalValidation", "requireAuthentication") // the application refuses: a browser needs its sign-in page
	is(t, auth, "anonymousPaths", "globalValidation", "excludedPaths")
}
