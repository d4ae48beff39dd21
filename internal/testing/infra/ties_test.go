package infra

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/backup"
)

// A tie compares what is deployed with the program, and returns the differences.
type tie func(*testing.T, application, files) []string

var ties = map[string]tie{
	"tables": tables, "queues": queueNames, "containers": containers, "roles": roles,
	"rights": rights, "settings": appSettings,
}

func TestInfrastructureFitsTheProgram(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, app application) {
		for name, tie := range ties {
			require.Empty(t, tie(t, app, infrastructure(t, app)), name)
		}
	})
}

func TestDifferencesAreFound(t *testing.T) {
	t.Parallel()
	const table, queue, user = "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3", "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
		"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9"
	faults := []struct{ tie, file, from, to, want string }{
		{"tables", "main.bicep", "  'TagIndex'\n", "", "TagIndex is missing"},
		{"tables", "main.bicep", "  'TagIndex'\n", "  'TagIndex'\n  'Tags'\n", "Tags is too much"},
		{"queues", "main.bicep", "  'index-repairs'\n", "", "index-repairs is missing"},
		{
			"containers", "main.bicep", "var containerNames = [\n", "var containerNames = [\n  'pictures'\n",
			"pictures is too much",
		},
		{
			"containers", "main.bicep", "    containerNames: containerNames\n", "",
			"the module storage does not get containerNames",
		},
		{"roles", "modules/access.bicep", table, user, "of the application: " + table + " is missing"},
		{"roles", "modules/access.bicep", "  tables: ", "  users: '" + user + "'\n  tables: ", user + " is too much"},
		{"rights", "modules/access.bicep", table, user, "entities/add is granted by no role"},
		{"rights", "modules/access.bicep", queue, user, "messages/process is granted by no role"},
		{"settings", "main.bicep", "MAX_TEXT:", "MAX_TXT:", "MAX_TXT: nobody reads it"},
		{"settings", "main.bicep", "MAX_TEXT:", "MAX_TXT:", "MAX_TEXT is not set"},
		{
			"settings", "modules/app.bicep", "      LOG_LEVEL:", "      WEBSITE_AUTH_ENABLED: 'true'\n      LOG_LEVEL:",
			"WEBSITE_AUTH_ENABLED must not be set",
		},
		{
			"settings", "modules/app.bicep", "AzureWebJobsStorage__clientId:", "AzureWebJobsStorage__clientID:",
			"AzureWebJobsStorage__clientId is not set",
		},
	}
	all := infrastructure(t, ours)
	for _, f := range faults {
		require.Contains(t, all[f.file], f.from)
		changed := maps.Clone(all)
		changed[f.file] = strings.Replace(all[f.file], f.from, f.to, 1)
		require.Contains(t, strings.Join(ties[f.tie](t, ours, changed), "\n"), f.want, "%s for %s", f.to, f.from)
	}
}

// differences returns what two lists do not share.
func differences(what string, want, got []string) []string {
	var all []string
	for _, w := range want {
		if !slices.Contains(got, w) {
			all = append(all, fmt.Sprintf("%s: %s is missing", what, w))
		}
	}
	for i, g := range got {
		if !slices.Contains(want, g) || slices.Contains(got[:i], g) {
			all = append(all, fmt.Sprintf("%s: %s is too much", what, g))
		}
	}
	return all
}

func tables(t *testing.T, app application, fs files) []string {
	var want []string
	for name, table := range settings(t, app) {
		if strings.HasPrefix(name, "TABLE_") && name != "TABLE_PREFIX" {
			want = append(want, table)
		}
	}
	tags(t, sources(t, app.own()...), func(tag reflect.StructTag) {
		if name := tag.Get("table"); name != "" {
			want = append(want, name)
		}
	})
	require.NotEmpty(t, want)
	return differences("tables", want, fs.list(t, "main.bicep", "var tableNames = ["))
}

func queueNames(t *testing.T, app application, fs files) []string {
	var read []string
	want := constants(t, app, "Queue")
	require.NotEmpty(t, want)
	for _, f := range functions(t, app) {
		if f.trigger().Type == "queueTrigger" {
			read = append(read, strings.TrimPrefix(f.trigger().QueueName, "%QUEUE_PREFIX%"))
		}
	}
	got := fs.list(t, "main.bicep", "var queueNames = [")
	return append(differences("queues", want, got), differences("queues that functions read", want, read)...)
}

// containers compares the constants that begin with Container with the deployed ones, and that of
// exports if the application has the function. All lack in an application without blobs.
func containers(t *testing.T, app application, fs files) []string {
	want := constants(t, app, "Container")
	if slices.ContainsFunc(functions(t, app), func(f function) bool { return f.name == "export" }) {
		want = append(want, backup.Container)
		fs.has(t, "main.bicep", "module alerts '", "backupDone: '"+backup.Complete+"'")
		fs.has(t, "main.bicep", "module storage '", "backups: '${containerPrefix}"+backup.Container+"/'")
	}
	const opening = "var containerNames = ["
	if len(want) == 0 && !strings.Contains(fs["main.bicep"], "containerNames") {
		return nil
	}
	if !strings.Contains(fs["main.bicep"], opening) {
		return differences("containers", want, nil)
	}
	all := differences("containers", want, fs.list(t, "main.bicep", opening))
	module := fs.section(t, "main.bicep", "module storage '")
	for _, param := range []string{"containerNames", "containerPrefix"} {
		if !strings.Contains(module, "\n    "+param+": "+param+"\n") {
			all = append(all, "the module storage does not get "+param)
		}
	}
	return all
}
