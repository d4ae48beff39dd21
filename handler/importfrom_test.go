package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/langfusetest"
)

// importFrom imports from a stand-in as a user, and returns what became of each prompt.
func importFrom(t *testing.T, there, user string,
	flags ...string,
) (code int, outcomes map[string]string, stderr string) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	args := append([]string{
		"import", "--from", "langfuse", "--url", there, "--user", user, "--key-file",
		file(t, "key", langfusetest.Key+"\n"), "--report", report,
	}, flags...)
	code, _, stderr = handler(t, args...)
	outcomes = make(map[string]string)
	b, err := os.ReadFile(report)
	require.NoError(t, err, stderr)
	var all []client.Followed
	require.NoError(t, json.Unmarshal(b, &all), "%s", b)
	for _, f := range all {
		outcomes[f.Name] = strings.TrimSpace(f.Outcome + " " + f.Reason + strings.Join(f.Lost, "; "))
	}
	return code, outcomes, stderr
}

// allOf returns all that a user has.
func allOf(t *testing.T, user string) string {
	t.Helper()
	code, out, errs := handler(t, "export", "--account", "--user", user)
	require.Equal(t, command.OK, code, errs)
	return out
}

// TestImportFromLangfuse: all that a project has comes over, and the same again changes nothing.
func TestImportFromLangfuse(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	project := langfusetest.Sample()
	there := project.Start(t)
	empty := allOf(t, "ann")
	made := map[string]string{
		"a/parent": "made", "z child": "made", "gaps": "made",
		"chat/überall": "made", "fill-forms": "made",
	}
	code, outcomes, errs := importFrom(t, there, "ann", "--dry-run")
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, made, outcomes)
	require.Equal(t, empty, allOf(t, "ann"), "a dry run changes nothing")
	code, outcomes, errs = importFrom(t, there, "ann")
	require.Equal(t, made, outcomes)
	require.Equal(t, command.OK, code, errs)
	all := allOf(t, "ann")
	for _, want := range []string{
		`"version":2,"text":"Be very brief.\n@@@langfusePrompt:name=z child|version=2@@@","labels":["production"],"madeBy":"user-a/parent","madeAt":"2025-01-03T00:00:00.005Z"`,
		`"version":2,"text":"Say {{what}}!","config":{"model":"small","temperature":0.5},"labels":["production","staging"],"message":"louder"`,
		`"versions":[{"version":3,"text":"three",`, `{"version":4,"text":"three",`,
		`{"version":7,"text":"seven","labels":["production"],"message":"why\nin two lines",`,
		`{"role":"system","content":"You are {{who}}."},{"placeholder":"history"},{"role":"user","content":"<b>Hi</b> \u2028 & so on"}],"config":[1,"two"]`,
		`"ownTags":["billing","Own tag"],"visibility":"private"`, `"path":"docs/ä/b.md"`, `"path":"empty"`,
	} {
		require.Contains(t, strings.ReplaceAll(all, "\u2028", `\u2028`), want)
	}
	project.Asked()
	code, outcomes, errs = importFrom(t, there, "ann")
	require.Equal(t, command.OK, code, errs)
	for name, outcome := range outcomes {
		require.Equal(t, "unchanged", outcome, name)
	}
	require.Equal(t, all, allOf(t, "ann"))
	require.LessOrEqual(t, project.Most(), 4, "requests at a time")
	status, body := sendAs(t, "ann", "GET", url+"/api/v1/users/me/prompts/gaps", "")
	require.Equal(t, 200, status)
	var gaps struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(body), &gaps))
	_, body = sendAs(t, "ann", "GET", url+"/api/v1/prompts/"+gaps.ID+"/versions/8", "")
	require.Contains(t, body, `"madeBy":"user-gaps","madeAt":"2025-01-09T00:00:00.005Z"`)
	_, body = sendAs(t, "ann", "GET", url+"/app/prompts/"+gaps.ID+"/versions", "")
	require.Contains(t, body, `Imported; made there by <span dir="auto">user-gaps</span> <time datetime="2025-01-09`)

	code, outcomes, _ = importFrom(t, there, "bob", "--names", "*/*", "--public")
	require.Equal(t, command.LeftOut, code)
	require.Equal(t, "made", outcomes["chat/überall"])
	require.Contains(t, outcomes["a/parent"], "refused version 1: text: ", "what it includes was not asked for")
	require.Len(t, outcomes, 2)
	require.Contains(t, allOf(t, "bob"), `"visibility":"public","publicFrom":2`)
}

// TestImportFollows: prompts that were imported go on there, and either side may change them.
func TestImportFollows(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	type versions = []langfusetest.Version
	two := versions{
		{Number: 1, Prompt: "one", Labels: []string{"staging"}},
		{Number: 2, Prompt: "two", Labels: []string{"production"}},
	}
	onThree := versions{
		{Number: 1, Prompt: "one", Labels: []string{"staging"}},
		{Number: 2, Prompt: "two"},
		{Number: 3, Prompt: "three", Labels: []string{"production"}},
	}
	for i, c := range []struct {
		name string
		here [][]string // commands, or a method, path and body
		then versions   // that are there the second time
		want string     // outcome
		code int
		has  []string // parts of the export
	}{
		{
			"more versions", nil, onThree, "extended", 0,
			[]string{`{"version":3,"text":"three","labels":["production"]`, `{"version":2,"text":"two","madeBy"`},
		},
		{
			"a label that moved there", nil,
			versions{{Number: 1, Prompt: "one", Labels: []string{"production", "staging"}}, {Number: 2, Prompt: "two"}},
			"extended", 0,
			[]string{`"one","labels":["production","staging"]`},
		},
		{
			"a new label there", nil,
			versions{
				{Number: 1, Prompt: "one", Labels: []string{"eu", "staging"}},
				{Number: 2, Prompt: "two", Labels: []string{"production"}},
			},
			"extended", 0,
			[]string{`"one","labels":["eu","staging"]`},
		},
		{
			"a label that moved here",
			[][]string{{"label", "p@1", "production"}},
			onThree, "extended labels (production was moved here since)", 3,
			[]string{`"one","labels":["production","staging"]`, `{"version":3,"text":"three","madeBy"`},
		},
		{
			"a label that moved here, and not there",
			[][]string{{"label", "p@1", "production"}},
			two,
			"unchanged labels (production was moved here since)", 3,
			[]string{`"one","labels":["production","staging"]`},
		},
		{
			"a move of there, undone here",
			[][]string{{"POST", "/labels/production/undo", ""}},
			two,
			"unchanged labels (production was moved here since)", 3,
			[]string{`"two","madeBy"`},
		},
		{
			"a label that was taken away here",
			[][]string{{"label", "p", "production", "--remove"}},
			two,
			"unchanged labels (production was moved here since)", 3,
			[]string{`"two","madeBy"`},
		},
		{
			"a label that moved here and back, undone there",
			[][]string{{"label", "p@1", "production"}, {"label", "p@2", "production"}},
			two, "unchanged", 0,
			[]string{`"two","labels":["production"]`},
		},
		{
			"deleted there", nil,
			versions{{Number: 2, Prompt: "two", Labels: []string{"production"}}},
			"unchanged the deletion of version 1 (it stays here)", 3,
			[]string{`{"version":1,"text":"one","labels":["staging"]`},
		},
		{
			"deleted here",
			[][]string{{"DELETE", "/versions/1", ""}},
			onThree, "extended version 1 (it was deleted here)",
			3,
			[]string{`"versions":[{"version":2,"text":"two","madeBy"`, `"three","labels":["production"]`},
		},
		{"a version made here", [][]string{{"PATCH", "", `{"text":"mine"}`}}, onThree, "differs version 3 says something else here than there; the prompt stays as it is: rename one of the two to have both", 3, []string{`{"version":3,"text":"mine"`}},
		{
			"a version made here alone",
			[][]string{{"PATCH", "", `{"text":"mine"}`}},
			two,
			"differs version 3 was made here and not there; the prompt stays as it is", 3,
			[]string{`{"version":3,"text":"mine"`},
		},
		{
			"title, tags and visibility of here",
			[][]string{{"PATCH", "", `{"title":"Mine","ownTags":["here"],"visibility":"public"}`}},
			onThree, "extended", 0,
			[]string{
				`"title":"Mine"`, `"ownTags":["here"],"visibility":"public"`,
				`{"version":3,"text":"three","labels":["production"]`,
			},
		},
		{
			"another name here",
			[][]string{{"PATCH", "", `{"name":"mine"}`}},
			onThree, "extended", 0,
			[]string{`{"name":"mine","title":"p"`, `{"version":3,"text":"three","labels":["production"]`},
		},
		{"a slug that another has here", [][]string{{"PATCH", "", `{"name":"P","text":"other"}`}}, two, `differs the name leads to "P" here, and version 3 was made here and not there; the prompt stays as it is`, 3, []string{`{"name":"P"`}},
		{
			"a text that is too long", nil,
			append(two[:2:2], langfusetest.Version{Number: 3, Prompt: "three"},
				langfusetest.Version{Number: 4, Prompt: strings.Repeat("x", 131_073)}),
			"refused version 4: text: shorten the text to at most 32768 characters, it has 131073", 3,
			[]string{`"two","labels":["production"]`},
		},
		{
			"a label of digits", nil,
			versions{
				{Number: 1, Prompt: "one", Labels: []string{"staging"}},
				{Number: 2, Prompt: "two", Labels: []string{"2024", "production"}},
			},
			`unchanged the label "2024" of version 2, which can be none here`, 3, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			user := fmt.Sprint("user", i)
			project := &langfusetest.Project{
				Prompts: map[string]*langfusetest.Prompt{"p": {Tags: []string{"there"}, Versions: two}},
			}
			there := project.Start(t)
			code, outcomes, errs := importFrom(t, there, user)
			require.Equal(t, map[string]string{"p": "made"}, outcomes, errs)
			require.Equal(t, command.OK, code)
			for _, args := range c.here {
				if args[0] == "label" {
					code, _, errs := handler(t, append(args, "--user", user)...)
					require.Equal(t, command.OK, code, errs)
					continue
				}
				_, body := sendAs(t, user, "GET", url+"/api/v1/users/me/prompts/p", "")
				var p struct{ ID string }
				require.NoError(t, json.Unmarshal([]byte(body), &p))
				status, body := apptest.Send(t, args[0], url+"/api/v1/prompts/"+p.ID+args[1], args[2], "X-Dev-User",
					user, "If-Match", "*", "Content-Type", "application/json")
				require.Less(t, status, 300, body)
			}
			project.Change(func() { project.Prompts["p"].Versions = c.then })
			before := allOf(t, user)
			code, outcomes, errs = importFrom(t, there, user, "--dry-run")
			require.Equal(t, map[string]string{"p": c.want}, outcomes, errs)
			require.Equal(t, c.code, code)
			require.Equal(t, before, allOf(t, user), "a dry run changes nothing")
			code, outcomes, errs = importFrom(t, there, user)
			require.Equal(t, map[string]string{"p": c.want}, outcomes, errs)
			require.Equal(t, c.code, code)
			after := allOf(t, user)
			for _, part := range c.has {
				require.Contains(t, after, part)
			}
			if !strings.HasPrefix(c.want, "extended") {
				require.Equal(t, before, after)
			}
			_, outcomes, _ = importFrom(t, there, user)
			require.NotContains(t, outcomes["p"], "extended", "again")
			require.Equal(t, after, allOf(t, user))
		})
	}
}

// TestKilledImportFrom kills imports at fifty moments, before, during and after a request of
// theirs, and has them go on: each time the library is the same.
func TestKilledImportFrom(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a hundred processes")
	}
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	project := langfusetest.Sample()
	var long []langfusetest.Version
	for n := 3; n < 70; n++ {
		long = append(long, langfusetest.Version{
			Number: n + n/20, Prompt: fmt.Sprint("version ", n),
			Reason: fmt.Sprint("reason ", n),
		})
	}
	long[40].Labels, long[60].Labels = []string{"production"}, []string{"staging", "eu"}
	project.Prompts["long"] = &langfusetest.Prompt{Versions: long}
	there := project.Start(t)

	// moment is the request at which the process dies: 0 for none
	var requests, moment atomic.Int64
	var kill func()
	dies := func() bool { return requests.Add(1) == moment.Load() }
	project.Answer = func(http.ResponseWriter, *http.Request) bool {
		if dies() {
			kill()
		}
		return false
	}
	service := httputil.NewSingleHostReverseProxy(must(neturl.Parse(url)))
	service.ErrorLog = log.New(io.Discard, "", 0)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !dies() {
			service.ServeHTTP(w, r)
			return
		}
		switch rand.N(3) {
		case 0: // the service is never asked
			kill()
		case 1: // the connection ends somewhere between
			go kill()
			service.ServeHTTP(w, r)
		case 2: // the answer is lost
			service.ServeHTTP(httptest.NewRecorder(), r)
			kill()
		}
	}))
	t.Cleanup(proxy.Close)

	key := file(t, "key", langfusetest.Key)
	run := func(user string, at int64) error {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "import", "--from", "langfuse", "--url", there,
			"--key-file", key, "--user", user, "--public")
		cmd.Env = append(os.Environ(), asHandler+"=1", "PROMPTHUB_URL="+proxy.URL)
		var said apptest.Output
		cmd.Stdout, cmd.Stderr = &said, &said
		ready := make(chan struct{})
		kill = func() {
			<-ready
			_ = cmd.Process.Kill()
		}
		requests.Store(0)
		moment.Store(at)
		require.NoError(t, cmd.Start())
		close(ready)
		err := cmd.Wait()
		if at == 0 {
			require.NoError(t, err, said.String())
		}
		return err
	}
	t.Setenv("PROMPTHUB_URL", url)
	require.NoError(t, run("reference", 0))
	last, want := requests.Load(), allOf(t, "reference")
	cut := 0
	for i := range 50 {
		user := fmt.Sprint("killed", i)
		at := 1 + rand.N(last)
		err := run(user, at)
		if err != nil {
			cut++
		}
		if i%2 == 0 { // and once more on its way
			_ = run(user, 1+rand.N(last))
		}
		require.NoError(t, run(user, 0))
		require.Equal(t, want, allOf(t, user), "killed at request %d", at)
	}
	require.Greater(t, cut, 40, "imports that were cut off")
	require.NoError(t, run("killed0", 0))
	require.Equal(t, want, allOf(t, "killed0"), "again")
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	code, out, errs := handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, out+errs)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestImportFromCommandLine: what the command says of keys and flags, and how it ends.
func TestImportFromCommandLine(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	t.Setenv("LANGFUSE_KEY", langfusetest.Key)
	project := langfusetest.Sample()
	there := project.Start(t)
	base := []string{"import", "--from", "langfuse", "--url", there, "--user", "ann"}
	for _, args := range [][]string{
		{"import"},
		{"import", "a.csv", "b.csv"},
		{"import", "a.csv", "--names", "x"},
		{"import", "a.csv", "--key-file", "x"},
		{"import", "--from", "mlflow", "--url", there, "--key", "a:b"},
		{"import", "--from", "langfuse", "--key", "a:b"},
		base, append(base, "--key", "a:b", "--key-env", "LANGFUSE_KEY"),
		append(base, "--key-env", "NONE"), append(base, "--key", "ab"),
		append(base, "--key", "a:b", "a.csv"), append(base, "--key", "a:b", "--update"),
		append(base, "--key", "a:b", "--account"),
		append(base, "--key", "a:b", "--public", "--private"),
		{"import", "--from", "langfuse", "--url", "http://langfuse.example", "--key", "a:b"},
		{"import", "--from", "langfuse", "--url", "ftp://127.0.0.1", "--key", "a:b"},
	} {
		code, out, errs := handler(t, args...)
		require.Equal(t, command.Usage, code, "%v: %s", args, errs)
		require.Empty(t, out)
		require.Contains(t, errs, "import: ")
	}
	require.Empty(t, project.Asked())
	for _, flags := range [][]string{
		{"--key", "pk:wrong"},
		{"--key-file", filepath.Join(t.TempDir(), "none")},
		{"--key-env", "LANGFUSE_KEY", "--report", t.TempDir()},
	} {
		code, _, errs := handler(t, append(base, flags...)...)
		require.Equal(t, command.Failed, code, errs)
	}
	code, out, errs := handler(t, append(base, "--key", langfusetest.Key, "--dry-run")...)
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, errs, "others on this machine can read it")
	require.NotContains(t, out+errs, "sk-lf-secret")
	require.Contains(t, out, "a dry run, nothing was changed: made 5, extended 0, unchanged 0, differs 0, refused 0")
	code, out, errs = handler(t, append(base, "--key-env", "LANGFUSE_KEY", "--names", "?aps")...)
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, "outcome    kind    versions  name\nmade       prompt         4  gaps\nmade 1, extended 0, unchanged 0, differs 0, refused 0\n", out)
	require.NotContains(t, errs, "can read it")
	project.Change(func() { project.Prompts["gaps"].Versions[0].Prompt = "another\x1b[2J" })
	project.Prompts["\x1b[31m\nred"] = &langfusetest.Prompt{Versions: []langfusetest.Version{{Number: 1, Prompt: "x"}}}
	code, out, errs = handler(t, append(base, "--key-env", "LANGFUSE_KEY", "--names", "*[r]*")...)
	require.Equal(t, command.OK, code, "%s", errs)
	require.Contains(t, out, "made 0", "a bracket is itself")
	code, out, errs = handler(t, append(base, "--key-env", "LANGFUSE_KEY")...)
	require.Equal(t, command.LeftOut, code, errs)
	require.Contains(t, out,
		"differs    prompt         4  gaps\n           version 3 says something else here than there")
	require.Contains(t, out, `refused    prompt         1  \x1b[31m\nred`)
	project.Prompts["Z-child"] = &langfusetest.Prompt{Versions: []langfusetest.Version{{Number: 1, Prompt: "x"}}}
	project.Prompts["z-child"] = project.Prompts["Z-child"]
	code, out, errs = handler(t, append(base, "--key-env", "LANGFUSE_KEY", "--names", "?-child", "--user", "bob")...)
	require.Equal(t, command.OK, code, "a name that the other would take for its slug: %s%s", out, errs)
	code, out, _ = handler(t, append(base, "--key-env", "LANGFUSE_KEY", "--json")...)
	require.Equal(t, command.LeftOut, code)
	require.Contains(t, out, `{"name":"z child","kind":"prompt","outcome":"unchanged","versions":2}`+"\n")

	// into a workspace
	status, body := sendAs(t, "ann", "POST", url+"/api/v1/workspaces", `{"handle":"billing"}`)
	require.Equal(t, http.StatusCreated, status, body)
	for _, word := range []string{"made", "unchanged"} {
		code, out, errs = handler(t,
			append(base, "--key-env", "LANGFUSE_KEY", "--names", "z child", "--workspace", "billing")...)
		require.Equal(t, command.OK, code, errs)
		require.Contains(t, out, word+" 1,")
	}
	_, body = sendAs(t, "ann", "GET", url+"/api/v1/workspaces/billing/prompts", "")
	require.Contains(t, body, `"name":"z child"`)

	// a service that ends ends the import, which says how to go on
	project.Before = func(_ *langfusetest.Project, r *http.Request) int {
		if strings.Contains(r.URL.Path, "child") {
			return http.StatusInternalServerError
		}
		return 0
	}
	code, _, errs = handler(t, append(base, "--key-env", "LANGFUSE_KEY")...)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "does not answer (status 500)")
	require.Contains(t, errs, "run the same import again to go on")
}

// TestImportFromLangfuseDoor: the door that stands in for Langfuse gives the same, so that prompts
// move from one service to another.
func TestImportFromLangfuseDoor(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	_, outcomes, errs := importFrom(t, langfusetest.Sample().Start(t), "ann")
	require.Len(t, outcomes, 5, errs)
	status, body := sendAs(t, "ann", "POST", url+"/api/v1/me/tokens", `{"name":"t","scopes":["read"]}`)
	require.Equal(t, http.StatusCreated, status, body)
	var token struct{ ID, Token string }
	require.NoError(t, json.Unmarshal([]byte(body), &token))
	code, out, errs := handler(t, "import", "--from", "langfuse", "--url", url+"/lf", "--user", "bob",
		"--key", token.ID+":"+token.Token)
	require.Equal(t, command.OK, code, out+errs)
	prompts := func(user string) string {
		made := regexp.MustCompile(`"madeBy":"[^"]*","madeAt":"[^"]*",`)
		skill := regexp.MustCompile(`(?m)^\{"name":"fill-forms".*\n`)
		return skill.ReplaceAllString(made.ReplaceAllString(allOf(t, user), ""), "")
	}
	require.Equal(t, prompts("ann"), prompts("bob"))
}

// TestImportFromLangfuseInParts: a history that is longer than one request may be comes in several.
func TestImportFromLangfuseInParts(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	long := &langfusetest.Prompt{}
	for n := 3; n < 130; n++ {
		long.Versions = append(long.Versions,
			langfusetest.Version{Number: n, Prompt: fmt.Sprint(n, strings.Repeat("x", 32_000))})
	}
	long.Versions[1].Labels, long.Versions[120].Labels = []string{"first"}, []string{"production"}
	there := (&langfusetest.Project{Prompts: map[string]*langfusetest.Prompt{"long": long}}).Start(t)
	for _, c := range []struct{ outcome, flag string }{
		{"made", "--dry-run"},
		{"made", "--private"},
		{"unchanged", "--dry-run"},
		{"unchanged", "--private"},
	} {
		code, outcomes, errs := importFrom(t, there, "ann", c.flag)
		require.Equal(t, map[string]string{"long": c.outcome}, outcomes, errs)
		require.Equal(t, command.OK, code)
	}
	all := allOf(t, "ann")
	require.Equal(t, 127, strings.Count(all, `"madeBy":"user-long"`))
	require.Contains(t, all, `"version":129,`)
}
