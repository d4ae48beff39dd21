package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// TestSkills: the command counts as an agent does, for all prompts of a caller and for a
// collection, and names the descriptions that find no room.
func TestSkills(t *testing.T) {
	clean(t)
	_, address := startLocal(t, t.TempDir())
	send := func(path, body string) {
		t.Helper()
		status, answer := apptest.Send(t, http.MethodPost, address+"/api/v1"+path, body, "Content-Type",
			"application/json", "X-Dev-User", "ann")
		require.Equal(t, http.StatusCreated, status, answer)
	}
	run := func(user string, args ...string) (out, errs string) {
		t.Helper()
		code, out, errs := handler(t, append([]string{"skills", "--url", address, "--user", user}, args...)...)
		require.Equal(t, command.OK, code, errs)
		return out, errs
	}
	out, errs := run("ann")
	require.Empty(t, out)
	require.Equal(t, "characters: 0 of 8000; descriptions that are dropped: 0\n", errs)
	send("/prompts", `{"title":"Greet","text":"Hello.","description":"Says hello.","visibility":"public"}`)
	send("/prompts", `{"title":"Whole","text":"@@@langfusePrompt:name=greet|label=latest@@@"}`)
	out, errs = run("ann")
	require.Regexp(t, `^CHARACTERS +SKILL +\n26 +greet:greet *\n$`, out, "what includes others is no skill")
	require.Equal(t, "characters: 26 of 8000; descriptions that are dropped: 0\n", errs)

	long := strings.Repeat("x", 1024)
	for _, name := range strings.Fields("a b c d e f g h") {
		send("/prompts", `{"title":"`+name+`","text":"Text.","description":"`+long+`"}`)
	}
	out, errs = run("ann")
	require.Equal(t, 1, strings.Count(out, "without its description"), out)
	require.Contains(t, errs, "characters: 8282 of 8000; descriptions that are dropped: 1")
	out, _ = run("bob", "@ann")
	require.Contains(t, out, "greet:greet")

	_, found := apptest.Send(t, http.MethodGet, address+"/api/v1/users/me/prompts/greet", "", "X-Dev-User", "ann")
	id := found[strings.Index(found, `"id":"`)+6:][:26]
	send("/collections", `{"slug":"help","visibility":"public","items":["`+id+`"]}`)
	for user, of := range map[string]string{"ann": "help", "bob": "@ann/help"} {
		out, errs = run(user, of)
		require.Regexp(t, `\n25 +help:greet *\n$`, out)
		require.Equal(t, "characters: 25 of 8000; descriptions that are dropped: 0\n", errs)
	}
	code, _, errs := handler(t, "skills", "--url", address, "--user", "ann", "nosuch")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "no such collection")
	for _, wrong := range [][]string{{"@ann", "extra"}, {"@"}, {"@ann/"}, {"@/help"}, {"/"}, {"ann/help"}} {
		code, out, errs := handler(t, append([]string{"skills", "--url", address, "--user", "ann"}, wrong...)...)
		require.Equal(t, command.Usage, code, wrong)
		require.Empty(t, out)
		require.Contains(t, errs, "@HANDLE/SLUG")
	}
}

// TestSaveAfterRecall: a recalled version that is saved again makes none, and its author is told
// that it stays recalled. A folder as programs get it now becomes a new version.
func TestSaveAfterRecall(t *testing.T) {
	clean(t)
	_, address := startLocal(t, t.TempDir())
	dir := t.TempDir()
	save := func(text string) (out, errs string) {
		t.Helper()
		makeFolder(t, dir, map[string]folderFile{"SKILL.md": {bytes: formsSkill}, "a.txt": {bytes: text}})
		code, out, errs := handler(t, "save", dir, "--url", address, "--user", "ann")
		require.Equal(t, command.OK, code, errs)
		return out, errs
	}
	save("one")
	out, _ := save("two")
	id := out[strings.Index(out, "(")+1:][:26]
	status, answer := apptest.Send(t, http.MethodPost, address+"/api/v1/prompts/"+id+"/versions/2/recall",
		`{"reason":"It lies"}`, "Content-Type", "application/json", "X-Dev-User", "ann")
	require.Equal(t, http.StatusNoContent, status, answer)
	out, errs := save("two")
	require.Contains(t, out, "pdf-forms@2 unchanged")
	require.NotContains(t, out, "~ a.txt")
	require.Contains(t, errs, "version 2 was recalled, and stays so: It lies")
	out, errs = save("one")
	require.Contains(t, out, "pdf-forms@3 updated")
	require.NotContains(t, errs, "recalled")
}
