package bicep

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// parse parses texts, or skips the test where the grammar is missing and CI does not ask for it.
func parse(t *testing.T, texts map[string]string) map[string]*File {
	t.Helper()
	files, err := Parse(t.Context(), root, texts)
	if errors.Is(err, ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	return files
}

func ours(t *testing.T) map[string]string {
	t.Helper()
	texts, err := Read(root + "/infra")
	require.NoError(t, err)
	require.Contains(t, texts, "main.bicep")
	return texts
}

func check(t *testing.T, texts map[string]string) []string {
	t.Helper()
	types, err := LoadTypes()
	require.NoError(t, err)
	var lines []string
	for _, p := range Check(parse(t, texts), types) {
		lines = append(lines, p.String())
	}
	return lines
}

func TestOurInfrastructureIsSound(t *testing.T) {
	t.Parallel()
	require.Empty(t, check(t, ours(t)))
}

// Each fault is what a slip of the pen leaves behind.
var faults = []struct{ file, from, to, want string }{
	{"modules/storage.bicep", "publicAccess: 'None' }", "publicAccess: 'None'", "syntax:"},
	{"modules/storage.bicep", "enabled: true, days: 7", "enabled: true days: 7", "no comma before"},
	{"modules/storage.bicep", "name: 'st${token}'", "name: 'st${tokn}'", "tokn is not declared"},
	{"modules/storage.bicep", "param sku string", "param sku string\nparam more string", "parameter more is not used"},
	{"modules/storage.bicep", "var deploymentContainerName =", "var more = 1\nvar deploymentContainerName =", "variable more is not used"},
	{"modules/storage.bicep", "param sku string", "param sku string\nparam sku string", "sku is declared twice"},
	{"modules/storage.bicep", "allowSharedKeyAccess: false", "allowSharedKeysAccess: false", "unknown property allowSharedKeysAccess"},
	{"modules/storage.bicep", "allowSharedKeyAccess: false", "allowSharedKeyAccess: 'false'", "allowSharedKeyAccess is a value of type string, want bool"},
	{"modules/storage.bicep", "'TLS1_2'", "'TLS12'", `minimumTlsVersion is "TLS12", want one of`},
	{"modules/storage.bicep", "kind: 'StorageV2'", "", "property kind is missing"},
	{"modules/storage.bicep", "kind: 'StorageV2'", "kind: 'StorageV3'", `kind is "StorageV3"`},
	{"modules/storage.bicep", "sku: { name: sku }", "sku: { nam: sku }", "unknown property nam"},
	{"modules/storage.bicep", "sku: { name: sku }", "sku: { name: sku, tier: 'Standard' }", "property tier is read-only"},
	{"modules/storage.bicep", "parent: queueService", "parent: tableService", "the parent of queues is tableService"},
	{"modules/storage.bicep", "tableServices/tables@2025-01-01", "tableServices/tables@2025-13-01", "there is no type data for"},
	{"modules/storage.bicep", "bypass: privateNetwork ? 'None' : 'AzureServices'", "bypass: privateNetwork ? 'Non' : 'AzureServices'", `bypass is "Non"`},
	{"modules/access.bicep", "name: guid(storage.id, identity.id, role.value)", "name: gid(storage.id, identity.id, role.value)", "unknown function gid"},
	{"modules/access.bicep", "principalType: 'ServicePrincipal'", "principleType: 'ServicePrincipal'", "unknown property principleType"},
	{"modules/access.bicep", "principalId: principalId", "", "property principalId is missing"},
	{"modules/access.bicep", "for role in items(storageRoles)", "for rol in items(storageRoles)", "role is not declared"},
	{"modules/app.bicep", "name: 'custom', version", "name: 'custm', version", `name is "custm"`},
	{"modules/app.bicep", "name: 'authsettingsV2'", "name: 'authsettingsV3'", "names no known kind"},
	{"modules/app.bicep", "unauthenticatedClientAction: 'AllowAnonymous'", "unauthenticatedClientAction: 'Return402'", `"Return402"`},
	{"modules/app.bicep", "http20Enabled: true", "http2Enabled: true", "unknown property http2Enabled"},
	{"modules/app.bicep", "excludedPaths: anonymousPaths", "excludedPaths: authMode", "excludedPaths is a value of type string"},
	{"modules/app.bicep", "perInstanceConcurrency: 64", "perInstanceConcurrency: '64'", "want int"},
	{"modules/network.bicep", "groupIds: [service]", "groupIds: service ? 1 : {}", "want string[]"},
	{"modules/network.bicep", "parent: zones[i]", "parent: links[i]", "the parent of links is links"},
	{"modules/alerts.bicep", "existing = {\n  name: storageName", "= {\n  name: storageName", "property sku is missing"},
	{"main.bicep", "'modules/storage.bicep'", "'modules/storages.bicep'", "modules/storages.bicep"},
	{"main.bicep", "    sku: storageSku\n", "", "parameter sku is missing"},
	{"main.bicep", "sku: storageSku", "sku: storageSku\n    skew: storageSku", "module storage has no parameter skew"},
	{"main.bicep", "sku: storageSku", "sku: maxText", "sku is a value of type int, want string"},
	{"main.bicep", "storage.outputs.deploymentContainer", "storage.outputs.deployments", "module storage has no output deployments"},
	{"main.bicep", "resource group 'Microsoft", "type x = string\nresource group 'Microsoft", "not in the part of Bicep"},
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	// All in one go, each in a directory of its own: node takes a while to start.
	texts := make(map[string]string)
	for i, f := range faults {
		for name, text := range ours(t) {
			if name == f.file {
				require.Contains(t, text, f.from)
				text = strings.Replace(text, f.from, f.to, 1)
			}
			texts[fmt.Sprintf("%d/%s", i, name)] = text
		}
	}
	problems := check(t, texts)
	for i, f := range faults {
		found := slices.ContainsFunc(problems, func(p string) bool {
			return strings.HasPrefix(p, fmt.Sprintf("%d/%s:", i, f.file)) && strings.Contains(p, f.want)
		})
		require.True(t, found, "%q instead of %q in %s: want %s", f.to, f.from, f.file, f.want)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(root + "/infra/main.parameters.json")
	require.NoError(t, err)
	main := parse(t, ours(t))["main.bicep"]
	problems, err := main.CheckParameters(data)
	require.NoError(t, err)
	require.Empty(t, problems)

	for _, f := range []struct{ from, to, want string }{
		{`"maxText"`, `"maxTxt"`, "there is no parameter maxTxt"},
		{`"maxText"`, `"maxTxt"`, "parameter maxText has no value"},
		{`${MAX_TEXT=3000}`, `${MAX_TEXT=300}`, `default "3000", of its variable "300"`},
		{`${MAX_TEXT=3000}`, `3000`, "is no azd variable"},
		{`${AZURE_LOCATION}`, `${AZURE_LOCATION=moon}`, "has no default"},
	} {
		problems, err := main.CheckParameters([]byte(strings.Replace(string(data), f.from, f.to, 1)))
		require.NoError(t, err)
		require.Contains(t, lines(problems), f.want)
	}
	_, err = main.CheckParameters([]byte(`{"parameter": {}}`))
	require.ErrorContains(t, err, "unknown field")
}

func lines(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

func TestParseRefusesWhatItWouldMiscount(t *testing.T) {
	t.Parallel()
	_, err := Parse(t.Context(), root, map[string]string{"a.bicep": "// caf\u00e9"})
	if errors.Is(err, ErrNotInstalled) {
		t.Skip(err)
	}
	require.ErrorContains(t, err, "a.bicep: not ASCII at byte 6")
}
