package clients

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// A snippet is how to run what the page of a prompt shows under Use in programs.
type snippet struct {
	id     string // of its element
	needs  []string
	needed string
	in     string // where its packages are
	ending string // of the file that it is written to, "" for what a shell runs
	prints string // a statement that tells the text
	client string // its package
}

var snippets = []snippet{
	{
		id: "use-js", needed: "node", needs: []string{tools + "/node_modules/.package-lock.json"}, in: tools,
		ending: ".mjs", prints: "\nprocess.stdout.write(text);\n", client: "@langfuse/client",
	},
	{
		id: "use-python", needed: "python3", needs: []string{python + "/.venv/installed"}, in: python, ending: ".py",
		prints: "\nprint(text, end='')\n", client: "langfuse",
	},
	{id: "use-curl", needed: "curl", client: "curl"},
	{id: "use-cli", needed: "sh", client: "prompthub"},
}

// TestSnippets runs what the page of a prompt shows for programs, as it stands there but for the
// keys, with the clients as they are published: each gives the text that the page shows.
func TestSnippets(t *testing.T) {
	t.Parallel()
	inputs.Packages(t, "./handler")
	p := start(t)
	id, token := makeToken(t, p, "snippets")
	texts := map[string][2]string{ // a text, and the same with the page's values
		"Plain":         {"Write a letter: \"no\" values & <none>.", "Write a letter: \"no\" values & <none>."},
		"Two values":    {"Write to {{name}} of {{what}}.", "Write to … of …."},
		"Defaults":      {"In {{tone:warm}} words, ${tone}, to {{name}}.", "In warm words, warm, to …."},
		"Choices":       {"As {{size:S|M|L}} for {{name}}.", "As S for …."},
		"Spaces":        {"On {{my day}} with ${the weather:it's \"sunny\"}.", "On … with it's \"sunny\"."},
		"Odd names":     {"{{a.b}} and {{c-d:$HOME `x` \\ y}}.", "… and $HOME `x` \\ y."},
		"Paths":         {"{{a.b}} {{c}} {{a.d.e:1}} {{a.d.f:2}} {{g.h:3}}", "… … 1 2 3"},
		"Long defaults": {"{{name}}: {{long:" + strings.Repeat("long ", 20) + "}}", "…: …"},
		"Of VS Code":    {"${input:what:a hint} of {{who | select:options=[\"a\",\"b\"]}}", "… of a"},
		"Not ours":      {"{\"a\": {{name}}} {no} $5 }} { {", "{\"a\": …} {no} $5 }} { {"},
		"Scripts":       {"Übersetze {{text:日本語 🚀}} für {{wen}}", "Übersetze 日本語 🚀 für …"},
	}
	declared := []map[string]any{
		{"name": "n", "type": "number", "required": true},
		{"name": "b", "type": "boolean", "required": true},
		{"name": "d", "type": "date", "required": true},
		{"name": "c", "type": "choice", "choices": []string{"it's", "b"}, "required": true},
		{"name": "m", "type": "multiline", "default": "one\ntwo"},
	}
	texts["Declared"] = [2]string{"{{n}} {{b}} {{d}} {{c}} {{m}}", "1 true 2026-01-31 it's …"}
	pages := make(map[string]string)
	for title, text := range texts {
		var made struct{ ID, Slug string }
		body := map[string]any{"title": title, "text": text[0], "visibility": "private"}
		if title == "Declared" {
			body["variables"] = declared
		}
		require.Equal(t, http.StatusCreated, p.ask(t, "snippets", http.MethodPost, "/prompts", body, &made), title)
		pages[title] = page(t, p, "snippets", made.ID)
	}
	for _, s := range snippets {
		t.Run(s.id, func(t *testing.T) {
			t.Parallel()
			tried(t, s.in, fmt.Sprintf("the page's snippet %s, of %d prompts", s.id, len(texts)), s.client)
			needed(t, s.needed, s.needs...)
			for title, text := range texts {
				found := regexp.MustCompile(`(?s)<pre id="` + s.id + `">(.*?)</pre>`).FindStringSubmatch(pages[title])
				require.NotNil(t, found, "%s of %s", s.id, title)
				require.NotContains(t, found[1], "{{", "%s of %s", s.id, title)
				shown := html.UnescapeString(found[1])
				require.Equal(t, text[1], s.run(t, p, shown, id, token), "%s of %s:\n%s", s.id, title, shown)
			}
		})
	}
}

// The frameworks of Microsoft are not installed here. What the page shows for them is read as they
// read it: the addresses that it asks, with the token in it, and the values that it sends.
var (
	csharpAddress = regexp.MustCompile(`(?s)GetStringAsync\((.*)\);`)
	csharpPart    = regexp.MustCompile(`(Uri\.EscapeDataString\()?("(?:[^"\\]|\\.)*")`)
	bearer        = regexp.MustCompile(`"Bearer (ph_[^"]*)"`)
	kernelFile    = regexp.MustCompile(`Request\("([^"]*)"`)
	kernelValues  = regexp.MustCompile(`"?([^\s"(){}*,=:]+)"?(?:=|: )"(?:[^"\\]|\\.)*"`)
)

// TestSnippetsOfMicrosoft: what the page shows for C#, Semantic Kernel and Agent Framework asks for
// the text, or for the file, of this prompt, and gives a value to each variable that needs one.
func TestSnippetsOfMicrosoft(t *testing.T) {
	t.Parallel()
	inputs.Packages(t, "./handler")
	p := start(t)
	_, token := makeToken(t, p, "microsoft")
	for title, text := range map[string][2]string{
		"Plain": {"Write \"no\" values & <none>.", "Write \"no\" values & <none>."},
		"Two":   {"To {{name}} of {{what}}.", "To … of …."},
		"Odd":   {"{{über_uns:a & b=c}} {{c-d:$HOME `x` \\ \"y\"}}, {{name}}.", "a & b=c $HOME `x` \\ \"y\", …."},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			var made struct{ ID, Slug string }
			body := map[string]any{"title": title, "text": text[0], "visibility": "private"}
			require.Equal(t, http.StatusCreated, p.ask(t, "microsoft", http.MethodPost, "/prompts", body, &made))
			body = map[string]any{"version": 1}
			require.Equal(t, http.StatusOK,
				p.ask(t, "microsoft", http.MethodPut, "/prompts/"+made.ID+"/labels/production", body, nil))
			whole := page(t, p, "microsoft", made.ID)
			shown := func(id string) string {
				found := regexp.MustCompile(`(?s)<pre id="` + id + `">(.*?)</pre>`).FindStringSubmatch(whole)
				require.NotNil(t, found, id)
				require.NotContains(t, found[1], "{{", id)
				s := strings.ReplaceAll(html.UnescapeString(found[1]), "ph_…", token)
				require.Equal(t, token, bearer.FindStringSubmatch(s + `"Bearer ph_none"`)[1], "%s\n%s", id, s)
				return s
			}

			var address strings.Builder
			for _, part := range csharpPart.FindAllStringSubmatch(
				csharpAddress.FindStringSubmatch(shown("use-csharp"))[1], -1) {
				literal, err := strconv.Unquote(part[2]) // which reads these as C# does
				require.NoError(t, err)
				if part[1] != "" {
					literal = url.QueryEscape(literal)
				}
				address.WriteString(literal)
			}
			require.Equal(t, text[1], get(t, address.String(), token))

			// Python's own libraries get the text; only what makes an agent of it needs a package.
			agent := strings.ReplaceAll(shown("use-agent"), "from agent_framework import Agent\n", "")
			agent, ends := strings.CutSuffix(agent, "\nagent = Agent(client=client, instructions=text)")
			require.True(t, ends)
			needed(t, "python3")
			require.Equal(t, text[1], string(
				run(t, os.Environ(), ".", "python3", "-I", "-c", agent+"\nprint(text, end='')")))

			kernel := shown("use-kernel")
			file := get(t, kernelFile.FindStringSubmatch(kernel)[1], token)
			require.Contains(t, file, "template_format: handlebars")
			_, arguments, _ := strings.Cut(kernel, "KernelArguments(")
			var names []string
			for _, name := range kernelValues.FindAllStringSubmatch(arguments, -1) {
				require.Contains(t, file, "{{"+name[1]+"}}")
				names = append(names, name[1])
			}
			require.Equal(t, strings.Count(text[0], "{{"), len(names), "%s\n%s", names, kernel)
		})
	}
}

// get returns what an address answers to one who has a token.
func get(t *testing.T, address, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.StatusCode, "%s: %s", address, b)
	return string(b)
}

// page returns the page of a prompt.
func page(t *testing.T, p *program, user, id string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url()+"/app/prompts/"+url.PathEscape(id), nil)
	require.NoError(t, err)
	r.Header.Set("X-Dev-User", user)
	a, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer a.Body.Close()
	require.Equal(t, http.StatusOK, a.StatusCode)
	b, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	return string(b)
}

// run runs a snippet with keys in it, and returns what it prints.
func (s snippet) run(t *testing.T, p *program, shown, id, token string) string {
	t.Helper()
	env := append(os.Environ(), "HOME="+t.TempDir(), "PROMPTHUB_URL="+p.url(), "PROMPTHUB_TOKEN="+token,
		"PATH="+t.TempDir()+":"+os.Getenv("PATH"))
	shown = strings.ReplaceAll(shown, "ph_…", token)
	if s.ending == "" {
		if s.id == "use-cli" {
			bin := t.TempDir()
			require.NoError(t, os.Symlink(binary(t), filepath.Join(bin, "prompthub")))
			env = append(env, "PATH="+bin+":"+os.Getenv("PATH"))
		}
		return string(run(t, env, ".", "sh", "-c", strings.Replace(shown, "curl ", "curl -sS --fail-with-body ", 1)))
	}
	secret := token[strings.LastIndex(token, "_")+1:]
	shown = regexp.MustCompile(`(public_?[kK]ey[=:] ?)"…"`).ReplaceAllString(shown, `${1}"`+id+`"`)
	shown = regexp.MustCompile(`(secret_?[kK]ey[=:] ?)"…"`).ReplaceAllString(shown, `${1}"`+secret+`"`)
	file, err := os.CreateTemp(filepath.Join(root, s.in), "snippet-*"+s.ending)
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(file.Name()) })
	_, err = file.WriteString(shown + s.prints)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	name := filepath.Base(file.Name())
	if s.ending == ".py" {
		interpreter, err := filepath.Abs(filepath.Join(root, python, ".venv/bin/python"))
		require.NoError(t, err)
		return string(run(t, env, s.in, interpreter, "-I", name))
	}
	return string(run(t, env, s.in, s.needed, name))
}
