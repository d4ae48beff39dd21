package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A row is what came of a feature that a client was tried with.
type row struct{ client, feature, result string }

// table is what all tests found, which TestMain prints at the end.
var table struct {
	sync.Mutex
	rows []row
}

func found(client, feature, result string) {
	table.Lock()
	defer table.Unlock()
	table.rows = append(table.rows, row{client, feature, result})
}

// tried has the result of a test in the table, as that of packages of a folder with a feature.
func tried(t *testing.T, in, feature string, packages ...string) {
	t.Helper()
	t.Cleanup(func() {
		switch {
		case t.Failed():
			found(versions(in, packages), feature, "failed")
		case t.Skipped():
			found(versions(in, packages), feature, "skipped")
		default:
			found(versions(in, packages), feature, "ok")
		}
	})
}

var (
	jsImported = regexp.MustCompile(`(?m)^import .* from '((?:@[\w.-]+/)?[\w.-]+)[^':]*';$`)
	pyImported = regexp.MustCompile(`(?m)^(?:import|from) (\w+)`)
	// as Node 20, or as 24
	subtest      = regexp.MustCompile(`(?m)^(not ok|ok|✔|✖|﹣) (?:\d+ - )?(.*?)(?: \(\d[\d.]*ms\))?( # .*)?$`)
	pySubtest    = regexp.MustCompile(`(?m)^(?:test_)(\w+) \([^)]*\) \.\.\.`)
	pyFailed     = regexp.MustCompile(`(?m)^(?:FAIL|ERROR): test_(\w+) `)
	pySkipped    = regexp.MustCompile(`(?m)^test_(\w+) \([^)]*\) \.\.\. skipped`)
	pyRequired   = regexp.MustCompile(`(?m)^([\w.-]+)(?:\[\w+\])?==(\S+)`)
	scriptEnding = []string{".test.mjs", ".test.py"}
)

// modules are those of Python that are not called as their package.
var modules = map[string]string{
	"agents": "openai_agents", "pydantic_ai": "pydantic_ai_slim",
	"agent_framework": "agent_framework_core",
}

// foundIn puts what a script printed of its tests into the table. Its clients are the packages that
// it imports.
func foundIn(env []string, in string, args []string, out []byte) {
	as := ""
	if slices.ContainsFunc(env, func(set string) bool { return strings.HasPrefix(set, "WORKSPACE=") }) {
		as = ", in a workspace"
	}
	i := slices.IndexFunc(args, func(arg string) bool {
		return slices.ContainsFunc(scriptEnding, func(end string) bool { return strings.HasSuffix(arg, end) })
	})
	if i < 0 {
		return
	}
	source, err := os.ReadFile(filepath.Join(root, in, args[i]))
	if err != nil {
		return // which the run of it tells
	}
	if strings.HasSuffix(args[i], ".py") {
		client := versions(in, firsts(pyImported.FindAllSubmatch(source, -1)))
		failed, skipped := firsts(pyFailed.FindAllSubmatch(out, -1)), firsts(pySkipped.FindAllSubmatch(out, -1))
		for _, name := range firsts(pySubtest.FindAllSubmatch(out, -1)) {
			result := "ok"
			if slices.Contains(failed, name) {
				result = "failed"
			} else if slices.Contains(skipped, name) {
				result = "skipped"
			}
			found(client, strings.ReplaceAll(name, "_", " ")+as, result)
		}
		return
	}
	client := versions(in, firsts(jsImported.FindAllSubmatch(source, -1)))
	for _, m := range subtest.FindAllSubmatch(out, -1) {
		result := map[string]string{"ok": "ok", "✔": "ok", "﹣": "skipped"}[string(m[1])]
		if len(m[3]) > 0 {
			result = "skipped"
		}
		result = cmp.Or(result, "failed")
		found(client, string(m[2])+as, result)
	}
}

// firsts returns what the first groups of matches have, each once.
func firsts(matches [][][]byte) (list []string) {
	for _, m := range matches {
		if !slices.Contains(list, string(m[1])) {
			list = append(list, string(m[1]))
		}
	}
	return list
}

// versions returns those of packages with their versions, as the lock file of a folder has them.
// Others, which come with the language, are left out.
func versions(in string, packages []string) string {
	known := make(map[string]string)
	if b, err := os.ReadFile(filepath.Join(root, in, "requirements.in")); err == nil {
		for _, m := range pyRequired.FindAllSubmatch(b, -1) {
			known[strings.ReplaceAll(string(m[1]), "-", "_")] = string(m[2])
		}
	}
	var lock struct {
		Packages map[string]struct{ Version string }
	}
	if b, err := os.ReadFile(filepath.Join(root, in, "package-lock.json")); err == nil &&
		json.Unmarshal(b, &lock) == nil {
		for name, p := range lock.Packages {
			known[strings.TrimPrefix(name, "node_modules/")] = p.Version
		}
	}
	var list []string
	for _, name := range packages {
		name = cmp.Or(modules[name], name)
		if v := known[name]; v != "" {
			list = append(list, name+" "+v)
		}
	}
	slices.Sort(list)
	if len(list) == 0 {
		return strings.Join(packages, ", ")
	}
	return strings.Join(slices.Compact(list), ", ")
}

// printTable prints what came of each client and feature.
func printTable(w io.Writer) {
	table.Lock()
	defer table.Unlock()
	if len(table.rows) == 0 {
		return
	}
	slices.SortStableFunc(table.rows, func(a, b row) int { return strings.Compare(a.client, b.client) })
	counts := make(map[string]int)
	last := ""
	for _, r := range table.rows {
		counts[r.result]++
		if r.client != last {
			fmt.Fprintln(w, r.client)
		}
		fmt.Fprintf(w, "  %-8s%s\n", r.result, r.feature)
		last = r.client
	}
	fmt.Fprintf(w, "%d features: %d ok, %d failed, %d skipped\n", len(table.rows), counts["ok"],
		counts["failed"], counts["skipped"])
}
