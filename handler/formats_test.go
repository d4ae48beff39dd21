package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// tree writes files into a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

const (
	skill = "---\nname: review\ndescription: Reviews a change\nlicense: MIT\n---\n\nReview {{what:it}}.\n"
	chat  = `{"name":"chats/critic","type":"chat","prompt":[{"role":"system","content":"Be {{mood}}"},{"type":"placeholder","name":"history"}],"tags":["text","my own"],"labels":["production"],"config":{"model":"m"}}`
)

// TestFormatsStory takes files of other programs in, as a folder and as an archive, and writes them
// again.
func TestFormatsStory(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	files := map[string]string{
		"skills/review/SKILL.md": skill, "langfuse.json": chat, "broken.prompt": "---\na: [\n---\n",
		"README.md": "About it",
		"rows.csv":  "Act;Prompt\nA row;Its text\n",
	}
	code, out, errs := handler(t, "import", tree(t, files), "--user", "ann")
	require.Equal(t, command.LeftOut, code, errs)
	require.Contains(t, out, "broken.prompt, line 1")
	require.Contains(t, out, "created 3, unchanged 0, rejected 1\n")
	require.Contains(t, errs, "README.md holds no prompt\n")

	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	code, out, _ = withInput(t, b.String(), "import", "-", "--user", "bob")
	require.Equal(t, command.LeftOut, code)
	require.Contains(t, out, "created 3, ")

	code, out, errs = handler(t, "get", "chats/critic", "--format", "langfuse", "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	require.Equal(t, chat, out, "as it was")
	require.Empty(t, errs)
	code, _, errs = handler(t, "get", "chats/critic", "--format", "langchain", "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, errs, "chats/critic: langchain cannot hold name, title, config, ")
	code, _, errs = handler(t, "get", "review", "--format", "nosuch", "--user", "ann")
	require.Equal(t, command.Usage, code)
	require.Contains(t, errs, "is no format: use agent, agent-framework, chatmode, command, csv, ")

	to := filepath.Join(t.TempDir(), "out")
	code, _, errs = handler(t, "export", "--format", "skill", "--to", to, "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	written, err := os.ReadFile(filepath.Join(to, "review", "SKILL.md"))
	require.NoError(t, err)
	require.Equal(t, skill, string(written), "as it was, with what only its format knows")
	code, _, errs = handler(t, "export", "--format", "skill", "--to", to, "--user", "ann")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "is there already and stays: name another folder")
	code, _, _ = handler(t, "export", "--format", "skill")
	require.Equal(t, command.Usage, code)

	joke := file(t, "joke.json",
		`{"lc":1,"type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],
		"kwargs":{"template":"A joke of {topic}","template_format":"f-string"}}`)
	code, _, errs = handler(t, "import", joke, "--syntax", "mustache", "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	_, out, _ = handler(t, "get", "joke", "--var", "topic=cats", "--user", "ann")
	require.Equal(t, "A joke of cats", out)
	code, out, errs = handler(t, "import", file(t, "plain.md", "Hi {who}"), "--syntax", "mustache", "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, out, "{who}: left as it is")
	// The file is kept, and the text is written as another program has it where one asks for that.
	_, out, _ = handler(t, "get", "joke", "--format", "langchain", "--user", "ann")
	was, err := os.ReadFile(joke)
	require.NoError(t, err)
	require.Equal(t, string(was), out)
	_, out, _ = handler(t, "get", "joke", "--format", "fabric", "--syntax", "dollar", "--user", "ann")
	require.Equal(t, "A joke of ${topic}\n", out)
	for _, args := range [][]string{
		{"get", "joke", "--syntax", "dollar"},
		{"get", "joke", "--format", "fabric", "--syntax", "perl"},
		{"import", joke, "--syntax", "jinja"},
		{"import", joke, "--mustache"},
	} {
		code, _, errs = handler(t, append(args, "--user", "ann")...)
		require.Equal(t, command.Usage, code, "%v: %s", args, errs)
	}

	// The same again changes nothing, by names; a chat does not become a text.
	code, out, _ = handler(t, "import", to, "--update", "--user", "ann")
	require.Equal(t, command.LeftOut, code)
	require.Contains(t, out, "created 0")
	require.Contains(t, out, "the prompt is a chat")
}

// TestImportOfNamesTwice: lines whose prompts are there by their names are unchanged, and rejected
// where they say something else.
func TestImportOfNamesTwice(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	line := `{"name":"a/letter","title":"Letter","text":"Write.","tags":["text"],"visibility":"private"}`
	do := func(code int, want, line string) {
		t.Helper()
		got, out, errs := handler(t, "import", file(t, "lines.jsonl", line), "--url", url, "--user", "ann")
		require.Equal(t, code, got, out+errs)
		require.Contains(t, out, want)
	}
	do(command.OK, "created 1, unchanged 0", line)
	do(command.OK, "created 0, unchanged 1", line)
	do(command.OK, "created 0, unchanged 1", strings.Replace(line, `,"tags":["text"]`, "", 1))
	const hint = "1 rows have names of prompts that are there and say something else; with --update each becomes a new version of that\n"
	do(command.LeftOut, hint+"created 0, unchanged 0, rejected 1", strings.Replace(line, "Write.", "Read.", 1))
	_, out, _ := handler(t, "import", file(t, "lines.jsonl", strings.Replace(line, "Write.", "Read.", 1)), "--update",
		"--url", url, "--user", "ann")
	require.Equal(t, "created 0, updated 1, unchanged 0, rejected 0\n", out)
}

// TestImportTellsWhatIsLeftToTheFile: once for each kind, with how many rows say it.
func TestImportTellsWhatIsLeftToTheFile(t *testing.T) {
	clean(t)
	_, url := startLocal(t, t.TempDir())
	files := map[string]string{
		"a.md": "---\ntags: development, foo\nmood: dry\n---\nOne.\n",
		"b.md": "---\nmood: warm\n---\nTwo.\n", "c.md": "Three.\n",
		"d.md": "Four." + strings.Repeat("<!-- -->", 1<<13) + "\n", "broken.prompt": "---\nmood: [dry\n---\n",
	}
	code, out, errs := handler(t, "import", tree(t, files), "--url", url, "--user", "ann")
	require.Equal(t, command.LeftOut, code, errs)
	require.Contains(t, out, "created 3, unchanged 0, rejected 2\n", "a text is too long")
	require.Equal(t, "kept in the files alone: mood (2)\n3 prompts are private, as their file does not say who may see them; --public makes such prompts public\n", errs)
	code, out, errs = handler(t, "get", "a", "--format", "jsonl", "--url", url, "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, out, `"tags":["development"],"ownTags":["foo"]`)

	large := file(t, "large.md", "---\nnote: "+strings.Repeat("x", 1<<18)+"\n---\nText.\n")
	code, _, errs = handler(t, "import", large, "--url", url, "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, errs, "1 of 1 files are too large to be kept with their prompts\n")
	var many strings.Builder
	for i := range 13 {
		fmt.Fprintf(&many, "x%02d: 1\n", i)
	}
	_, _, errs = handler(t, "import", file(t, "many.md", "---\n"+many.String()+"---\nText.\n"), "--private",
		"--url", url, "--user", "ann")
	require.Equal(t, 1, strings.Count(errs, "\n"), errs)
	require.Contains(t, errs, "x09 (1) and 3 more\n")
}

// TestImportOfACodePage: what a program for tables saved in a code page is read as it was meant, by
// the command and by the API, from a file, a folder and an archive, and stays as it is the second
// time.
func TestImportOfACodePage(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	const polish = "act;prompt\nT\xb3umacz;Prze\xb3\xf3\xbf to zdanie \x9cmia\xb3o\n" // of Windows-1250
	table := file(t, "tables.csv", polish)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "old.csv"), []byte(polish), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "modern.md"), []byte("Przełóż w UTF-8"), 0o600))
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, err := z.Create("old.csv")
	require.NoError(t, err)
	_, err = w.Write([]byte(polish))
	require.NoError(t, errors.Join(err, z.Close()))
	for user, from := range map[string]string{
		"ann": table, "bob": folder,
		"carl": file(t, "all.zip", zipped.String()),
	} {
		code, out, errs := handler(t, "import", from, "--encoding", "CP1250", "--user", user)
		require.Equal(t, command.OK, code, out+errs)
		require.NotContains(t, out, "warning")
		_, out, errs = handler(t, "get", "tlumacz", "--user", user)
		require.Equal(t, "Przełóż to zdanie śmiało", strings.TrimSpace(out), errs)
		_, out, _ = handler(t, "import", from, "--encoding", "windows-1250", "--user", user)
		require.Contains(t, out, "created 0")
		require.Contains(t, out, "rejected 0")

		b := []byte(polish)
		if user == "carl" {
			b = zipped.Bytes()
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			url+"/api/v1/import?file=x&encoding=windows-1250", bytes.NewReader(b))
		require.NoError(t, err)
		r.Header.Set("X-Dev-User", user)
		r.Header.Set("Content-Type", "application/octet-stream")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, errors.Join(err, answer.Body.Close()))
		require.Contains(t, string(body), `"outcome":"unchanged"`)
		require.NotContains(t, string(body), "warnings")
	}
	_, out, _ := handler(t, "get", "modern", "--user", "bob")
	require.Equal(t, "Przełóż w UTF-8", strings.TrimSpace(out))
	code, _, errs := handler(t, "import", file(t, "broken.csv", "act,prompt\nA,B\nC,\xfe\xff\n"),
		"--encoding", "euc-jp", "--user", "dora")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "broken.csv: the file is not in euc-jp, as line 3 shows")
	code, _, errs = handler(t, "import", table, "--encoding", "utf-7")
	require.Equal(t, command.Usage, code)
	require.Contains(t, errs, `"utf-7" is no code page: use one of big5, `)
}

// TestFilesCanBeFilledIn: what a program gets has placeholders that it fills in, defaults that it
// cannot have are told with their values, and a folder under git has the text as it is.
func TestFilesCanBeFilledIn(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	const text = "In {{tone:warm, dry}} words to ${who} on {{my day}}"
	code, _, errs := handler(t, "save", "--name", "note", file(t, "note.txt", text), "--user", "ann")
	require.Equal(t, command.OK, code, errs)
	const bare = "In {{tone}} words to {{who}} on {{my_day}}"
	for as, want := range map[string]string{
		"langfuse": bare, "github-models": bare, "fabric": bare, "skill": bare, "agent": bare, "command": bare,
		"agent-framework": bare, "cursor-rule": bare,
		"dotprompt": bare, "markdown": bare, "semantic-kernel": bare,
		"vscode":       "In ${input:tone} words to ${input:who} on ${input:my_day}",
		"prompts.chat": "In ${tone:warm, dry} words to ${who} on ${my day}",
	} {
		_, out, errs := handler(t, "get", "note", "--format", as, "--user", "ann")
		require.Contains(t, out, want, as)
		holds := slices.Contains([]string{"dotprompt", "markdown", "semantic-kernel", "prompts.chat"}, as)
		require.NotEqual(t, holds, strings.Contains(errs, `variables.tone (default "warm, dry")`), "%s: %s", as, errs)
		require.Equal(t, holds, strings.Contains(out, "warm, dry"), as)
		_, out, _ = handler(t, "get", "note", "--format", as, "--syntax", "library", "--user", "ann")
		require.Contains(t, out, text, as)
	}
	_, out, _ := handler(t, "get", "note", "--format", "dotprompt", "--user", "ann")
	require.Contains(t, out, "tone: warm, dry")

	folder := t.TempDir()
	code, out, errs = handler(t, "pull", folder, "--format", "langfuse", "--user", "ann")
	require.Equal(t, command.OK, code, out+errs)
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	pulled, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Contains(t, string(pulled), text, "so that no push loses a default")
	require.NoError(t, os.WriteFile(files[0], bytes.ReplaceAll(pulled, []byte("words"), []byte("lines")), 0o600))
	code, out, errs = handler(t, "push", folder, "--user", "ann")
	require.Equal(t, command.OK, code, out+errs)
	_, out, _ = handler(t, "get", "note", "--var", "who=Bob", "--var", "my_day=Monday", "--user", "ann")
	require.Equal(t, "In warm, dry lines to Bob on Monday", out)
}
