package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/apptest"
)

// TestLibraryStory uses a library from a shell: save, get, fill in, search, and the same with a
// token from a file.
func TestLibraryStory(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	ok := func(want string, args ...string) {
		t.Helper()
		code, out, stderr := handler(t, args...)
		require.Equal(t, command.OK, code, stderr)
		require.Regexp(t, want, out)
	}
	fails := func(code int, want string, args ...string) {
		t.Helper()
		got, out, stderr := handler(t, args...)
		require.Equal(t, code, got, out)
		require.Empty(t, out)
		require.Contains(t, stderr, want)
	}
	greeting := file(t, "greeting.md", "Dear {{name}},\r\n${mood:warm} regards to {{place}}.")
	ok(`^greeting@1 created \(\w{26}\)\n$`, "save", greeting, "--user", "ann", "--title", "A greeting", "--public")
	ok(`^greeting@1 unchanged`, "save", greeting, "--user", "ann")
	ok(`^Dear \{\{name\}\},\r\n\$\{mood:warm\} regards to \{\{place\}\}\.$`, "get", "greeting", "--user", "ann")
	ok(`^Dear Ann=Lee,\r\nwarm regards to \{\{name\}\}\.$`, "get", "--var", "name=Ann=Lee", "greeting", "--var",
		"place={{name}}", "--user", "ann")
	fails(command.Failed, `: "name" is required; "place" is required`+"\n", "get",
		"greeting", "--fill", "--user", "ann")
	fails(command.Failed, `: "name" is required; "place" is required; "x" is no variable of this prompt; it has`, "get",
		"greeting", "--var", "x=1", "--user", "ann")
	fails(command.Usage, `there is no command "gte"; did you mean get?`, "gte", "greeting")
	fails(command.Usage, "there is no command \"frobnicate\"\n", "frobnicate")
	fails(command.Usage, "want NAME=VALUE", "get", "greeting", "--var", "x")
	fails(command.Usage, "names no prompt", "get", "@ann/", "--user", "ann")
	fails(command.Failed, `handler: you have no prompt "nosuch"`+"\n", "get", "nosuch", "--user", "ann")
	require.Eventually(t, func() bool { // ann gets her handle after the answer to her first request
		code, _, _ := handler(t, "get", "@ann/greeting", "--user", "bob")
		return code == command.OK
	}, 10*time.Second, 10*time.Millisecond)
	_, _, stderr := handler(t, "get", "greeting", "--user", "bob")
	require.Equal(t, "handler: you have no prompt \"greeting\"; did you mean\n  @ann/greeting   A greeting, by ann\n",
		stderr)
	ok(`^Dear`, "get", "@ann/greeting", "--user", "bob")
	ok(`^Dear ,\r\nwarm regards to Rome\.$`, "get", "greeting", "--var", "name=", "--var",
		"place=Rome", "--user", "ann")
	require.NoError(t, os.WriteFile(greeting, []byte("Hello {{name}}!"), 0o600))
	ok(`^greeting@2 updated`, "save", greeting, "--user", "ann", "--message", "Shorter")
	ok(`^ID +NAME +VERSION +VOTES +BY +TITLE\n\w{26} +greeting +v2 +0 +ann +A greeting\n$`, "search",
		"a", "greet", "--user", "bob")
	_, found, _ := handler(t, "search", "greet", "--json", "--user", "bob")
	author := regexp.MustCompile(`a_\w{26}`).FindString(found)
	require.Eventually(t, func() bool { // the key leads to its author some time after the first answer to them
		code, _, _ := handler(t, "search", "--author", author, "--user", "bob")
		return code == command.OK
	}, time.Minute, 10*time.Millisecond)
	ok(`A greeting\n$`, "search", "--author", author, "--user", "bob")
	ok(`^Hello`, "get", "@"+author+"/greeting", "--user", "bob")
	ok(`A greeting\n$`, "search", "--sort", "hot", "--user", "bob")
	ok(`^$`, "search", "--tag", "development", "--user", "bob")
	fails(command.Failed, "handler: sort: give one of relevance", "search", "--sort", "up", "--user", "bob")
	fails(command.Usage, "come newest first", "search", "--sort", "hot", "--author", "ann", "--user", "bob")
	fails(command.Failed, ": there is no such user: name one by the handle of their profile, or by the key of an author (a_…) (status 404)\n", "search", "--author", "@zoe", "--user", "bob")
	fails(command.Failed, "handler: there is no such user: name one by the handle of their profile, or by the key of an author (a_…) (status 404)\n", "search", "--author", "@zoe", "greet", "--user", "bob")
	fails(command.Failed, "did you mean\n  greeting   A greeting, by ann\n", "get", "gretting", "--user", "ann")
	fails(command.Failed, `"versions greeting" lists its versions and labels`, "get", "greeting@7", "--user", "ann")
	ok(`^$`, "search", "nothing", "--user", "bob")
	require.Eventually(t, func() bool { // a job writes what searches in texts need
		_, out, _ := handler(t, "search", "hello", "--user", "bob")
		return strings.Contains(out, "A greeting")
	}, time.Minute, 50*time.Millisecond)
	ok(`A greeting\n$`, "search", "hello", "--in", "text", "--user", "bob")
	ok(`^$`, "search", "hello", "--in", "title", "--user", "bob")
	ok(`A greeting\n$`, "search", "greet", "--in", "title", "--user", "bob")
	ok(`A greeting\n$`, "search", "greet", "--in", "title", "--mine", "--user", "ann")
	ok(`A greeting\n$`, "search", "hello", "--in", "text", "--mine", "--user", "ann")
	ok(`^$`, "search", "hello", "author:ann", "--in", "title", "--user", "bob")
	ok(`A greeting\n$`, "search", `"a greeting"`, "author:ann", "--user", "bob")
	ok(`^$`, "search", "--user", "bob", "--", "greet", `-"a greeting"`)
	fails(command.Usage, "want text or title", "search", "greet", "--in", "body", "--user", "ann")
	var got struct {
		ID      string
		Text    string
		Version int
	}
	_, out, _ := handler(t, "get", "greeting", "--json", "--var", "name=Ann", "--user", "ann")
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, "Hello Ann!", got.Text)
	require.Equal(t, 2, got.Version)

	ok(`^VERSION +CREATED +LABELS +MESSAGE\n2 .*latest +Shorter\n1 `, "versions", "greeting", "--user", "ann")
	ok(`(?s)^--- .*\n-Dear .*\n\+Hello `, "diff", "greeting@1", "latest", "--user", "ann")
	ok(`(?s)^--- .*\n-Dear .*\n\+Hello `, "diff", "greeting", "1", "latest", "--user", "ann")
	ok(`(?s)^--- version 1\n.*\n\+Hello `, "diff", "greeting@1", "--user", "ann") // and the latest
	ok(`(?s)^--- version 2\n.*\n\+Dear `, "diff", "greeting@2", "greeting@1", "--user", "ann")
	fails(command.Usage, "name two versions", "diff", "greeting", "1", "2", "3")
	fails(command.Usage, `"greeting" names no version: write "greeting@1 2"`, "diff", "greeting", "2", "--user", "ann")
	fails(command.Usage, greeting+" is no folder: name a folder, or NAME@VERSION", "diff", greeting, "--user", "ann")
	fails(command.Usage, "./nosuch is no folder", "diff", "./nosuch", "--user", "ann")
	ok(`(?s)^--- version 1\n\+\+\+ version 2\n.*\n\+Hello `, "diff", "greeting", "--user", "ann") // the last change
	fails(command.Failed, "handler: label: must not be digits alone, which would name a version", "label",
		"greeting@1", "3", "--user", "ann")
	fails(command.Usage, "two versions of one prompt", "diff", "greeting@1", "other@2", "--user", "ann")
	ok(`^greeting: production is version 1\n$`, "label", "greeting@1", "production", "--user", "ann")
	_, _, stderr = handler(t, "save", file(t, "slip.md", "Now @@@langfusePrompt:name=greeting@@@"), "--user", "ann")
	require.Contains(t, stderr, "@@@langfusePrompt:name=greeting@@@ is no include, and so plain text: to include a prompt of yours write @@@langfusePrompt:name=greeting|label=production@@@\n")
	require.Eventually(t, func() bool { // lists follow a label by a message
		_, out, _ := handler(t, "search", "greeting", "--user", "bob")
		return strings.Contains(out, " v2, production v1 ")
	}, time.Minute, 100*time.Millisecond)
	// the version in production
	ok(`^Dear Ann,\r\nwarm regards to Rome\.$`, "get", "greeting", "--var", "name=Ann", "--var",
		"place=Rome", "--user", "ann")
	ok(`^Hello Ann!$`, "get", "greeting@latest", "--var", "name=Ann", "--user", "ann")
	ok(`^Hello Ann!$`, "get", "greeting@2", "--var", "name=Ann", "--user", "ann")
	fails(command.Failed, "no such version", "get", "greeting@3", "--user", "ann")
	// a version that no program should get any more
	fails(command.Usage, "name the version by its number", "recall", "greeting", "--reason", "It lies", "--user", "ann")
	fails(command.Usage, "say why with --reason", "recall", "greeting@1", "--user", "ann")
	fails(command.Usage, "say why with --reason", "recall", "greeting@1", "--reason",
		"It lies", "--undo", "--user", "ann")
	fails(command.Failed, "no such version", "recall", "greeting@7", "--reason", "It lies", "--user", "ann")
	ok(`^greeting@1 recalled: programs do not get it any more\n$`, "recall", "greeting@1",
		"--reason", "It lies", "--user", "ann")
	ok(`\n1 .*recalled: It lies\n$`, "versions", "greeting", "--user", "ann")
	fails(command.Failed, "that programs got was recalled, and there was none before it",
		"get", "greeting", "--user", "ann")
	ok(`^greeting@1 is not recalled any more\n$`, "recall", "greeting@1", "--undo", "--user", "ann")
	// a fork, and later changes of its source
	ok(`^a-greeting@1 forked from \w{26} \(\w{26}\)\n$`, "fork", got.ID, "--user", "bob")
	ok(`^$`, "upstream", "a-greeting", "--user", "bob")
	require.NoError(t, os.WriteFile(greeting, []byte("Hello {{name}}, again!"), 0o600))
	ok(`^greeting@3 updated`, "save", greeting, "--user", "ann")
	ok(`(?s)^--- .*\n\+Hello \{\{name\}\}, again!`, "upstream", "a-greeting", "--user", "bob")
	ok(`^a-greeting@2\n$`, "upstream", "a-greeting", "--merge", "--user", "bob")
	ok(`^Hello \{\{name\}\}, again!$`, "get", "a-greeting", "--user", "bob")
	require.NoError(t, os.WriteFile(greeting, []byte("Mine"), 0o600))
	ok(`^a-greeting@3 updated`, "save", greeting, "--name", "a-greeting", "--user", "bob")
	require.NoError(t, os.WriteFile(greeting, []byte("Hello {{name}}!"), 0o600))
	ok(`^greeting@4 updated`, "save", greeting, "--user", "ann")
	fails(command.Failed, "yours is \"Mine\", theirs is", "upstream", "a-greeting", "--merge", "--user", "bob")
	ok(`^a-greeting@3\n$`, "upstream", "a-greeting", "--take", "mine", "--user", "bob")
	fails(command.Failed, "this prompt is no fork", "upstream", "greeting", "--user", "ann")
	ok(`^greeting: no production any more\n$`, "label", "greeting", "production", "--remove", "--user", "ann")

	fails(command.Failed, `tag "mine": is not an active tag of the catalog`, "save", greeting, "--tags",
		"text,mine", "--user", "ann")
	ok(`^greeting@4 has other tags now \(`, "save", greeting, "--tags", "text", "--own-tags",
		"mine,my own", "--user", "ann")
	_, body := send(t, "POST", url+"/api/v1/prompts", `{"name":"chat","title":"A chat","kind":"chat","messages":[{"role":"system","content":"Be {{mood}}."},{"placeholder":"before"},{"role":"user","content":"Hi"}],"config":{"model":"m"}}`)
	require.Contains(t, body, `"version":1`)
	ok(`^Be kind\.\n\nHi$`, "get", "chat", "--var", "mood=kind", "--user", "ann")
	_, out, _ = handler(t, "get", "chat", "--json", "--var", "mood=kind", "--user", "ann")
	require.Contains(t, out, `"config":{"model":"m"}`)
	require.Contains(t, out, `"messages":[{"role":"system","content":"Be kind."},{"placeholder":"before"},{"role":"user","content":"Hi"}]`)

	fails(command.Failed, "an access token of this service, which begins with ph_", "get", "greeting", "--token", "abc")
	status, body := send(t, "POST", url+"/api/v1/me/tokens", `{"name":"CI","scopes":["read"]}`)
	require.Equal(t, 201, status, body)
	var made struct{ Token string }
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	config := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `{"url":%q,"token":%q}`, url, made.Token), 0o600))
	t.Setenv("PROMPTHUB_CONFIG", config)
	ok(`^Hello Ann!$`, "get", "greeting", "--var", "name=Ann") // by the token
	fails(command.Failed, "scope write", "save", greeting)
	t.Setenv("PROMPTHUB_URL", url+"/")
	ok(`^Hello Ann!$`, "get", "greeting", "--var", "name=Ann") // which is the same address
	unset(t, "PROMPTHUB_URL")
	ok(`^Hello \{\{name\}\}!$`, "get", "greeting") // where the file says
	misspelt := file(t, "config.json", `{"ulr":"http://127.0.0.1:1"}`)
	t.Setenv("PROMPTHUB_CONFIG", misspelt)
	fails(command.Failed, "ulr", "get", "greeting")
	t.Setenv("PROMPTHUB_CONFIG", config)
	t.Setenv("PROMPTHUB_URL", "http://localhost"+url[len("http://127.0.0.1"):])
	fails(command.Failed, "you have no prompt", "get", "greeting") // the token goes nowhere else
	require.NoError(t, os.Chmod(config, 0o644))
	fails(command.Failed, "chmod 600", "get", "greeting")
}

// TestSaveKeepsToTheName: a name that is only the slug of another prompt is not that prompt's, and
// one that no other command can be given is refused.
func TestSaveKeepsToTheName(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	run := func(want int, said string, args ...string) {
		t.Helper()
		code, out, errs := handler(t, append(args, "--url", url, "--user", "ann")...)
		require.Equal(t, want, code, out+errs)
		require.Contains(t, out+errs, said)
	}
	run(command.OK, "support/reply@1 created", "save", file(t, "a.md", "One"), "--name", "support/reply")
	run(command.Failed, `"support-reply" is another way to name your prompt "support/reply"`, "save",
		file(t, "b.md", "Two"), "--name", "support-reply")
	run(command.OK, "One", "get", "support-reply")
	run(command.OK, "support/reply@2 updated", "save", file(t, "c.md", "Two"), "--name", " support/reply ")
	run(command.Usage, `"reply@work" as a label or a version`, "save", file(t, "reply@work.md", "Three"))
	for text, said := range map[string]string{
		"---\ntitle: T\n---\nText\n":     "import ",
		"---\r\ntitle: T\r\n---\r\nText": "import ", "--- a rule\n---\n": "",
	} {
		code, _, errs := handler(t, "save", file(t, "front.md", text), "--name", "front", "--url", url, "--user", "ann")
		require.Equal(t, command.OK, code, errs)
		require.Equal(t, said != "", strings.Contains(errs, "begins with front matter"), errs)
		run(command.OK, text, "get", "front")
	}
	for _, args := range [][]string{
		{"save", file(t, "latin.md", "caf\xe9")},
		{"save", file(t, "name.md", "One"), "--name", "caf\xe9"},
		{"get", "front", "--var", "v=caf\xe9"},
	} {
		run(command.Failed, "UTF-8", args...)
	}
	run(command.Failed, "you have no prompt", "get", "latin")
	for _, filled := range []string{"--var=name=Ann", "--fill", "--json"} {
		run(command.Usage, "--format", "get", "front", "--format", "dotprompt", filled)
	}
	run(command.Usage, "want a number from 1 to 100", "search", "--limit", "101")
	run(command.Usage, "want a number from 1 to 100", "versions", "support/reply", "--limit", "0")
}

// TestSaveSaysWhatChanged: a save that makes no version says what else is different, if anything
// is.
func TestSaveSaysWhatChanged(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	review := file(t, "review.md", "Review this.")
	run := func(out, errs string, args ...string) {
		t.Helper()
		code, gotOut, gotErrs := handler(t, append(args, "--url", url, "--user", "ann")...)
		require.Equal(t, command.OK, code, gotErrs)
		require.Regexp(t, out, gotOut)
		require.Contains(t, gotErrs, errs)
	}
	run(`^review@1 created \(`, "save it with --public to share it", "save", review)
	run(`^$`, "review has one version: nothing was changed yet\n", "diff", "review")
	run(`^review@1 unchanged \(`, "", "save", review)
	run(`^review@1 is public now \(`, "", "save", review, "--public")
	run(`^review@1 unchanged \(`, "", "save", review, "--public")
	run(`^review@1 has another title now and has other tags now \(`, "", "save", review, "--title",
		"A review", "--own-tags", "mine")
	run(`^review@2 updated \(`, "", "save", file(t, "review.md", "Review this well."))
	run(`^review@3 updated and has another title now \(`, "", "save", review, "--title", "Review")
	run(`production`, "", "label", "review@2", "production")
	run(`^review@4 updated \(`, "programs still get version 2: to release this one, label review@4 production, or propose it on the page of the prompt where a rule asks for that\n", "save", file(t, "review.md", "Review this as well."))
}

// TestSavesAtOnce: each of many who save a prompt at the same time adds a version to it.
func TestSavesAtOnce(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	var wg sync.WaitGroup
	for i := range 4 {
		text := file(t, "race.md", fmt.Sprintf("Text %d", i))
		wg.Go(func() {
			code, _, errs := handler(t, "save", text, "--url", url, "--user", "ann")
			assert.Equal(t, command.OK, code, errs)
		})
	}
	wg.Wait()
	_, out, errs := handler(t, "versions", "race", "--url", url, "--user", "ann")
	require.Len(t, strings.Split(strings.TrimSpace(out), "\n"), 1+4, errs)
}

// TestExportCarriesVersions: a library exported and imported elsewhere has the same versions,
// labels, names, variables and tags, and imported again is unchanged, where it came from too.
func TestExportCarriesVersions(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	run := func(args ...string) string {
		t.Helper()
		code, out, stderr := handler(t, args...)
		require.Equal(t, command.OK, code, "%v: %s%s", args, stderr, out)
		return out
	}
	for i, text := range []string{"one", "two {{x}}", "one"} {
		run("save", file(t, "p.md", text), "--name", "folder/p", "--user", "ann", "--public",
			"--message", fmt.Sprint("why ", i))
	}
	run("label", "folder/p@2", "production", "--user", "ann")
	status, body := send(t, "POST", url+"/api/v1/prompts", `{"name":"chat","title":"Chat","messages":[{"role":"user","content":"hi"}],"config":{"a":1},"variables":[{"name":"x"}],"ownTags":["my own"],"labels":["staging"]}`)
	require.Equal(t, 201, status, body)
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	for _, about := range []string{"Greets", ""} {
		status, body = apptest.Send(t, "PATCH", url+"/api/v1/prompts/"+made.ID, `{"description":"`+about+`"}`,
			"X-Dev-User", "ann", "Content-Type", "application/merge-patch+json", "If-Match", "*")
		require.Equal(t, 200, status, body)
	}
	exported := run("export", "--user", "ann")
	imported := func(exported, user string) string {
		code, out, stderr := withInput(t, exported, "import", "-", "--user", user)
		require.Equal(t, command.OK, code, stderr+out)
		return out
	}
	require.Contains(t, imported(exported, "ann"), "created 0, unchanged 2, rejected 0\n")
	require.Contains(t, imported(exported, "bob"), "created 2, unchanged 0, rejected 0\n")
	require.Contains(t, imported(exported, "bob"), "created 0, unchanged 2, rejected 0\n")
	same := regexp.MustCompile(`"(id|createdAt|updatedAt|revision)":("[^"]*"|\d+),?`)
	lines := func(s string) []string {
		list := strings.Split(strings.TrimSpace(same.ReplaceAllString(s, "")), "\n")
		slices.Sort(list)
		return list
	}
	require.Equal(t, lines(exported), lines(run("export", "--user", "bob")))
	require.Equal(t, "two {{x}}", run("get", "folder/p", "--user", "bob"))
	// Prompts that are there are not overwritten, unless that is asked for.
	run("save", file(t, "p.md", "three"), "--name", "folder/p", "--user", "bob")
	code, out, _ := withInput(t, exported, "import", "-", "--user", "bob")
	require.Equal(t, command.LeftOut, code)
	require.Contains(t, out, "a prompt of yours has this name and other versions")
	code, out, _ = withInput(t, exported, "import", "-", "--update", "--user", "bob")
	require.Equal(t, command.OK, code, out)
	require.Equal(t, "one", run("get", "folder/p@latest", "--user", "bob"))

	// A file that a version was made of is named by the version, and not sent along.
	run("import", file(t, "made.md", "---\nname: made\ndescription: Greets\nlicense: MIT\n---\n\nHello\n"),
		"--user", "cal")
	ofFile := run("export", "--user", "cal")
	require.Contains(t, ofFile, `"fileHash":"`)
	require.Contains(t, imported(ofFile, "cal"), "created 0, unchanged 1, rejected 0\n")
	require.Contains(t, imported(ofFile, "dee"), "created 1, unchanged 0, rejected 0\n")
	require.Contains(t, imported(ofFile, "dee"), "created 0, unchanged 1, rejected 0\n")

	// A file of a release before has versions without descriptions.
	old := regexp.MustCompile(`,"description":"Greets","fileHash":"[^"]*"`).ReplaceAllString(ofFile, "")
	require.NotContains(t, old, "fileHash")
	require.Contains(t, imported(old, "eve"), "created 1, unchanged 0, rejected 0\n")
	require.Contains(t, imported(old, "eve"), "created 0, unchanged 1, rejected 0\n")
	run("import", "--account", file(t, "old.jsonl", old), "--user", "fay")
	require.NotContains(t, run("export", "--user", "fay"), "MIT")
	require.Contains(t, imported(old, "fay"), "created 0, unchanged 1, rejected 0\n")
}

func TestVersionFlag(t *testing.T) {
	for _, arg := range []string{"--version", "version"} {
		code, out, _ := handler(t, arg)
		require.Equal(t, command.OK, code)
		require.Contains(t, out, "prompthub ")
	}
}

// An import tells ten rows of each reason, and how many more there are; and with --update it makes
// new versions.
func TestImportTellsAndUpdates(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	rows := func(text string) string {
		var b strings.Builder
		b.WriteString("act,prompt,key\n")
		for i := range 25 {
			fmt.Fprintf(&b, "Long %d,%s,\n", i, strings.Repeat("x", 32_769+i))
		}
		fmt.Fprintf(&b, "Good,%s,the-good\nNo key,%s,\n", text, text)
		return file(t, "rows.csv", b.String())
	}
	code, out, _ := handler(t, "import", rows("one"), "--url", url, "--update", "--key", "key")
	require.Equal(t, command.LeftOut, code)
	require.Equal(t, 10, strings.Count(out, "row "))
	require.Contains(t, out, "and 15 more rejected: text: shorten the text to at most 32768 characters\n")
	require.Contains(t, out,
		"25 rows have texts that are too long; a service with MAX_TEXT=32793 would take 25 of them\n")
	require.Contains(t, out, "created 2, unchanged 0, rejected 25\n")
	_, out, _ = handler(t, "import", rows("one"), "--url", url, "--update", "--key", "key")
	require.Contains(t, out, "created 0, unchanged 2, rejected 25\n")
	_, out, _ = handler(t, "import", rows("two"), "--url", url, "--update", "--key", "key")
	require.Contains(t, out, "created 0, updated 2, unchanged 0, rejected 25\n")
	for _, name := range []string{"the-good", "no-key"} {
		_, out, _ = handler(t, "get", name, "--url", url)
		require.Equal(t, "two", out)
	}
}

// TestUserFromTheEnvironment: without a token and a flag, commands call as PROMPTHUB_USER, else as
// the user of the file.
func TestUserFromTheEnvironment(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", `{"url":"`+url+`","user":"cleo"}`))
	text := file(t, "greeting.md", "Hello.")
	code, out, errs := handler(t, "save", text)
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, out, "greeting@1 created")
	require.Contains(t, errs, "it is cleo's, and private: save it with --public to share it\n")
	t.Setenv("PROMPTHUB_USER", "ann")
	_, _, errs = handler(t, "save", text, "--public")
	require.Contains(t, errs, "it is ann's, and public\n")
	_, _, errs = handler(t, "save", text, "--user", "bob")
	require.Contains(t, errs, "it is bob's, and private")

	var many strings.Builder
	for i := range prompt.MaxVariables + 2 {
		fmt.Fprintf(&many, "{{v%d}} ", i)
	}
	_, _, errs = handler(t, "save", file(t, "many.md", many.String()))
	require.Contains(t, errs, fmt.Sprintf("a prompt has at most %d variables: 2 more stay text, the first is v%[1]d\n",
		prompt.MaxVariables))
}
