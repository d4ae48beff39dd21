package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/langfusetest"
)

// members reads in docs/cli.md which members the JSON of each command has; none for documents of
// the API.
func members(t *testing.T) map[string][]string {
	t.Helper()
	doc, err := os.ReadFile("../docs/cli.md")
	require.NoError(t, err)
	all := make(map[string][]string)
	_, table, _ := strings.Cut(string(doc), "## JSON")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		name := strings.NewReplacer("| ", "", "`", "").Replace(cells[0])
		all[name] = []string{}
		if strings.Contains(cells[2], "a document of the API") {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-zA-Z]+)`").FindAllStringSubmatch(cells[2], -1) {
			all[name] = append(all[name], m[1])
		}
	}
	return all
}

// TestJSON holds that commands print with --json what docs/cli.md says, and nothing else.
func TestJSON(t *testing.T) {
	clean(t)
	data := t.TempDir()
	_, address := startLocal(t, data)
	said, printed := members(t), make(map[string]bool)
	// json runs a command and returns the documents that it prints.
	run := func(code int, name string, args ...string) []map[string]any {
		t.Helper()
		first, _, _ := strings.Cut(name, " ")
		caller := []string{first, "--json"}
		if !slices.Contains([]string{
			"drill", "verify", "status", "reindex", "compact", "redrive", "restore",
			"move-user", "version", "health", "doctor",
		}, first) {
			caller = append(caller, "--url", address, "--user", "ann")
		}
		args = append(caller, args...)
		got, out, errs := handler(t, args...)
		require.Equal(t, code, got, "%v: %s%s", args, out, errs)
		var all []map[string]any
		for line := range strings.Lines(out) {
			var document map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &document), "%v: %s", args, out)
			all = append(all, document)
			if len(said[name]) > 0 {
				for member := range document {
					require.Contains(t, said[name], member, "%s: docs/cli.md does not say so", name)
				}
			}
		}
		require.Contains(t, said, name)
		printed[name] = true
		return all
	}
	greeting := file(t, "greeting.md", "Hello {{name}}.\n")
	require.Equal(t, "greeting", run(command.OK, "save", greeting)[0]["name"])
	require.Equal(t, "Hello {{name}}.\n", run(command.OK, "get", "greeting")[0]["text"])
	require.Len(t, run(command.OK, "search", "--mine", "greeting"), 1)
	require.EqualValues(t, 1, run(command.OK, "versions", "greeting")[0]["version"])
	run(command.OK, "save", file(t, "greeting.md", "Bye {{name}}.\n"))
	require.Contains(t, run(command.OK, "diff", "greeting@1", "2")[0]["diff"], "+Bye")
	require.Equal(t, false, run(command.OK, "label", "greeting@1", "production")[0]["removed"])
	require.Equal(t, true, run(command.OK, "recall", "greeting@1", "--reason", "It lies")[0]["recalled"])
	require.Equal(t, false, run(command.OK, "recall", "greeting@1", "--undo")[0]["recalled"])
	fork := run(command.OK, "fork", "greeting")[0]["id"].(string)
	require.Contains(t, run(command.OK, "upstream", fork)[0], "diff")
	status, body := apptest.Send(t, http.MethodPost, address+"/api/v1/workspaces", `{"handle":"billing"}`,
		"Content-Type", "application/json", "X-Dev-User", "ann")
	require.Equal(t, http.StatusCreated, status, body)
	require.Contains(t, run(command.OK, "copy", "greeting", "billing")[0], "id")
	mine := run(command.OK, "skills")[0]
	require.EqualValues(t, 8000, mine["limit"])
	require.Len(t, mine["skills"], 2, "the fork too")

	rows := run(command.LeftOut, "import", file(t, "rows.csv", "title,text\nGood,Text\nEmpty,\n"))
	require.Len(t, rows, 2)
	require.Equal(t, "created", rows[0]["outcome"])
	require.Equal(t, "rejected", rows[1]["outcome"])
	require.NotEmpty(t, rows[1]["reason"])
	code, account, errs := handler(t, "export", "--account", "--url", address, "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	require.NotEmpty(t, run(command.OK, "import --account", "--account", file(t, "account.jsonl", account)))

	t.Setenv("PROMPTHUB_URL", address)
	followed := run(command.LeftOut, "import --from", "--from", "langfuse", "--url", langfusetest.Sample().Start(t),
		"--key", langfusetest.Key, "--names", "*/*")
	require.Equal(t, "refused", followed[0]["outcome"], "what it includes was not asked for")
	require.NotEmpty(t, followed[0]["reason"])

	dir := t.TempDir()
	pulled := run(command.OK, "pull", dir)
	require.Equal(t, "pulled", pulled[0]["done"])
	require.NoError(t, os.WriteFile(filepath.Join(dir, "greeting.md"), []byte("Changed {{name}}.\n"), 0o600))
	differs := run(command.LeftOut, "diff of a folder", dir)
	require.Len(t, differs, 1)
	require.Contains(t, differs[0]["diff"], "+Changed")
	require.Equal(t, true, run(command.OK, "push", "--dry-run", dir)[0]["dryRun"])

	require.Equal(t, "ok", run(command.OK, "health", "--url", address)[0]["status"])
	require.Equal(t, "prompthub", run(command.OK, "version")[0]["name"])
	backup := filepath.Join(t.TempDir(), "backup.jsonl")
	code, _, errs = handler(t, "backup", "--data", data, backup)
	require.Equal(t, command.OK, code, errs)
	require.NotZero(t, run(command.OK, "drill", backup)[0]["prompts"])
	store := t.TempDir()
	require.Empty(t, run(command.OK, "restore", "--data", store, backup))
	require.Empty(t, run(command.OK, "verify", "--data", store))
	require.EqualValues(t, promptdb.RowsVersion,
		run(fine(t, store), "status", "--data", store, "--rows")[0]["rowsVersion"])
	require.Equal(t, "Settings", run(fine(t, store), "doctor", "--data", store)[0]["name"])
	require.Empty(t, run(command.OK, "reindex", "--data", store))
	require.Contains(t, run(command.OK, "redrive", "--data", store)[0], "messages")
	require.Equal(t, "ann", run(command.OK, "move-user", "--data", store, "ann", "anna")[0]["account"])
	require.Contains(t, run(command.OK, "compact", "--data", store)[0], "megabytesNow")

	for name := range said {
		require.True(t, printed[name], "%s is in docs/cli.md, and not tried here", name)
	}
	// which print no data, a link, or lines of JSON without the flag
	none := []string{"local", "export", "backup", "erase", "settings", "invite", "reset", "login", "logout"}
	for _, c := range program().Commands {
		if _, ok := said[c.Name]; !ok {
			require.Contains(t, none, c.Name, "it prints data: give it --json, and say in docs/cli.md what it prints")
		}
	}
}
