package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// twoHouses starts two services, and returns a function that runs a command as Ann, a user who
// moves from the one to the other, and returns its output.
func twoHouses(t *testing.T) (here, there string, do func(code int, args ...string) string) {
	t.Helper()
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, here = startLocal(t, t.TempDir())
	_, there = startLocal(t, t.TempDir())
	return here, there, func(code int, args ...string) string {
		t.Helper()
		got, out, errs := handler(t, append(args, "--user", "ann")...)
		require.Equal(t, code, got, out+errs)
		return out
	}
}

// TestAccountMovesHouse takes an account from one service to another: the export there has the same
// bytes, and readers there see the same as here.
func TestAccountMovesHouse(t *testing.T) {
	here, there, do := twoHouses(t)
	for _, text := range []string{"One {{a}}", "Two", "Three", "Four"} {
		do(command.OK, "save", file(t, "x.md", text), "--name", "my/prompt", "--title", "Mine", "--message",
			"Because "+text, "--url", here, "--public")
	}
	do(command.OK, "label", "my/prompt@2", "production", "--url", here)
	do(command.OK, "import", file(t, "chat.json", chat), "--url", here)
	do(command.OK, "import", "--update",
		file(t, "other.json", strings.Replace(chat, "Be {{mood}}", "Stay {{mood}}", 1)), "--url", here)
	code, _, errs := handler(t, "save", file(t, "y.md", "A text"), "--name", "chats/critic",
		"--url", here, "--user", "ann")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "the prompt is a chat")
	var listed struct{ Items []struct{ ID, Name string } }
	status, body := send(t, http.MethodGet, here+"/api/v1/me/prompts?name=my%2Fprompt", "")
	require.Equal(t, http.StatusOK, status, body)
	require.NoError(t, json.Unmarshal([]byte(body), &listed))
	id := listed.Items[0].ID
	status, _ = send(t, http.MethodDelete, here+"/api/v1/prompts/"+id+"/versions/3", "")
	require.Equal(t, http.StatusNoContent, status)
	status, body = send(t, http.MethodPut, here+"/api/v1/me/profile",
		`{"handle":"ann-lee","name":"Ann","about":"Cooks"}`)
	require.Equal(t, http.StatusOK, status, body)

	exported := do(command.OK, "export", "--account", "--url", here)
	require.Contains(t, exported, `{"profile":{"handle":"ann-lee","name":"Ann","about":"Cooks"}}`+"\n")
	require.Contains(t, exported, `"versions":[{"version":1,"text":"One {{a}}","message":"Because One {{a}}","description":""},{"version":2,"text":"Two","labels":["production"],"message":"Because Two","description":""},{"version":4,`)
	require.Equal(t, "created 2, updated 1, unchanged 0, rejected 0\n",
		do(command.OK, "import", "--account", file(t, "account.jsonl", exported), "--url", there))
	require.Equal(t, exported, do(command.OK, "export", "--account", "--url", there))
	require.Equal(t, "Two", do(command.OK, "get", "my/prompt", "--url", there))

	code, out, _ := handler(t, "get", "@ann-lee/my-prompt@latest", "--user", "bob", "--url", there)
	require.Equal(t, command.OK, code)
	require.Equal(t, "Four", out)
	for _, url := range []string{here, there} {
		code, _, _ = handler(t, "get", "@ann-lee/my-prompt@1", "--user", "bob", "--url", url)
		require.Equal(t, command.OK, code)
	}

	require.Equal(t, "created 0, updated 0, unchanged 3, rejected 0\n",
		do(command.OK, "import", "--account", file(t, "account.jsonl", exported), "--url", there))
	other := strings.ReplaceAll(exported, "Two", "Three")
	out = do(command.LeftOut, "import", "--account", file(t, "account.jsonl", other), "--url", there)
	require.Contains(t, out, `"my/prompt" rejected: name: a prompt of yours has this name and another history`)
	do(command.Usage, "import", "--account", "--update", file(t, "account.jsonl", exported), "--url", there)
	do(command.LeftOut, "import", "--account", file(t, "broken.jsonl", "{\"a\n"), "--url", there)
}

// TestLongHistoryMovesHouse: a history that is longer than what a request may send comes in
// several, and is the same there.
func TestLongHistoryMovesHouse(t *testing.T) {
	here, there, do := twoHouses(t)
	comment := strings.Repeat("# <a comment>\n", 17<<10)
	for i := range 20 {
		yml := fmt.Sprintf("name: long\nmessages:\n  - role: user\n    content: Version %d\n", i+1) + comment
		status, body := apptest.Send(t, http.MethodPost, here+"/api/v1/import?update=true&file=long.prompt.yml", yml,
			"X-Dev-User", "ann", "Content-Type", "application/octet-stream")
		require.Equal(t, http.StatusOK, status, body)
		require.NotContains(t, body, "rejected")
	}
	do(command.OK, "save", file(t, "a.md", "First"), "--name", "a", "--url", here)
	do(command.OK, "save", file(t, "z.md", "Last"), "--name", "z", "--url", here)
	do(command.OK, "label", "long@2", "production", "--url", here)
	exported := do(command.OK, "export", "--account", "--url", here)
	require.Greater(t, len(exported), 5<<20)

	out := do(command.LeftOut, "import", "--account", file(t, "account.jsonl", exported+"{}}\n"), "--url", there)
	require.Contains(t, out, "created 3, updated 0, unchanged 1, rejected 1\n")
	require.Contains(t, out, fmt.Sprintf("line %d ", strings.Count(exported, "\n")+1))
	require.Equal(t, exported, do(command.OK, "export", "--account", "--url", there))
	require.Equal(t, "created 0, updated 0, unchanged 4, rejected 0\n",
		do(command.OK, "import", "--account", file(t, "account.jsonl", exported), "--url", there))

	// Nothing is sent of a file that cannot be.
	far := strings.Replace(exported, `"text"`, `"more":"`+strings.Repeat("x", 5<<20)+`","text"`, 1)
	_, elsewhere := startLocal(t, t.TempDir())
	code, _, errs := handler(t, "import", "--account", file(t, "account.jsonl", far),
		"--url", elsewhere, "--user", "ann")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "the service takes 4 MiB at once")
	require.Empty(t, do(command.OK, "search", "--mine", "--url", elsewhere))
}
