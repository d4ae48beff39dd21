package format_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// samples are files of testdata by their formats: written for this test after real ones, as their
// licences and sizes ask for.
func samples(t testing.TB) map[string]format.Format {
	t.Helper()
	return map[string]format.Format{
		// github.com/anthropics/skills, github.com/agentskills/agentskills
		"skills/code-review/SKILL.md": format.Skill,
		"langfuse/text.json":          format.Langfuse,
		// github.com/langfuse/langfuse-js, tests/e2e/prompts.e2e.test.ts
		"langfuse/chat.json":    format.Langfuse,
		"langchain/prompt.json": format.LangChain,
		"langchain/chat.json":   format.LangChain, // as langchain_core's dumps writes it
		"langchain/saved.yaml":  format.LangChain, // as PromptTemplate.save writes it
		"langchain/first.yaml":  format.LangChain, // as its first versions did
		"langchain/first.json":  format.LangChain,
		"chats/review.json":     format.Messages,
		// learn.microsoft.com/semantic-kernel/concepts/prompts/yaml-schema,
		// agent-framework/agents/declarative
		"kernel/story.yaml":            format.SemanticKernel,
		"kernel/support.yaml":          format.SemanticKernel,
		"agents/assistant.yaml":        format.AgentFramework,
		"models/support.prompt.yml":    format.GitHubModels,
		"dot/greet.prompt":             format.Dotprompt,
		"vscode/tests.prompt.md":       format.VSCode,
		".claude/commands/git/fix.md":  format.Command,
		"prompty/chat.prompty":         format.Prompty,
		"prompty/v1.prompty":           format.Prompty,
		"patterns/summarize/system.md": format.Fabric,
		"open-webui.json":              format.OpenWebUI,
		"prompts-chat.json":            format.PromptsChat,
		"one.csv":                      format.CSV,
		"plain.md":                     format.Markdown,
		"full.md":                      format.Markdown,
		"export.jsonl":                 format.JSONLines,
		// github.com/github/awesome-copilot, code.visualstudio.com/docs/copilot
		"editors/planner.agent.md":         format.Agent,
		"editors/go-style.instructions.md": format.Instructions,
		"editors/sources.chatmode.md":      format.ChatMode,
		// whose front matter is no YAML, as rules of Cursor have it
		"editors/typescript.mdc": format.CursorRule,
	}
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "samples", filepath.FromSlash(name)))
	require.NoError(t, err)
	return b
}

// TestSamplesStayTheSame: bytes stay the same while nothing changes; a change keeps all that only
// the format knows.
func TestSamplesStayTheSame(t *testing.T) {
	t.Parallel()
	for name, f := range samples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := sample(t, name)
			require.Contains(t, []format.Format{f, format.JSONLines}, format.Detect(name, in))
			requireLossless(t, f, name, in)
		})
	}
}

// requireLossless checks what the package promises of a file.
func requireLossless(t testing.TB, f format.Format, name string, in []byte) {
	t.Helper()
	d, err := format.Read(f, name, in)
	require.NoError(t, err)
	out, loss, err := format.Rewrite(f, name, in, d)
	require.NoError(t, err)
	require.Empty(t, loss)
	require.Equal(t, sha256.Sum256(in), sha256.Sum256(out))

	d.Text, d.Messages = change(d)
	out, loss, err = format.Rewrite(f, name, in, d)
	require.NoError(t, err)
	require.Empty(t, loss)
	require.NotEqual(t, in, out)
	back, err := format.Read(f, name, out)
	require.NoError(t, err)
	require.Empty(t, format.Differences(d.Titled(), back.Titled()))
	require.Equal(t, d.Extra, back.Extra, "what only the format knows is kept")
}

func change(d format.Document) (string, []prompt.Message) {
	if len(d.Messages) == 0 {
		return "Changed. " + d.Text, nil
	}
	list := slices.Clone(d.Messages)
	i := slices.IndexFunc(list, func(m prompt.Message) bool { return m.Content != "" })
	list[i].Content = "Changed. " + list[i].Content
	return "", list
}

// TestTagsInOneLine: as note takers and writers of blogs have them.
func TestTagsInOneLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"development, foo": {"development", "foo"}, "one": {"one"}, "two words,": {"two words"}, `""`: nil, "[]": nil,
		`["a, b", c]`: {"a, b", "c"},
	} {
		in := []byte("---\ntags: " + line + "\n---\n\nText.\n")
		d, err := format.Read(format.Markdown, "a.md", in)
		require.NoError(t, err)
		require.Equal(t, want, d.Tags, line)
		require.Empty(t, d.Extra.Members, line)
		requireLossless(t, format.Markdown, "a.md", in)
	}
}

// TestDotpromptIsReadInPart: what a schema says beyond variables keeps none of them from being
// read, and stays in the file.
func TestDotpromptIsReadInPart(t *testing.T) {
	t.Parallel()
	file := func(input string) []byte { return []byte("---\ninput: " + input + "\n---\n\nHello {{name}}.\n") }
	read := func(in []byte) format.Document {
		t.Helper()
		d, err := format.Read(format.Dotprompt, "a.prompt", in)
		require.NoError(t, err, "%s", in)
		requireLossless(t, format.Dotprompt, "a.prompt", in)
		return d
	}
	named := func(d format.Document) (names []string) {
		for _, v := range d.Variables {
			names = append(names, v.Name)
		}
		return names
	}
	for input, want := range map[string]struct{ variables, left string }{
		"{schema: {name: 'string, who', 'age?': integer}}":                    {"name age", "input"},
		"{schema: {name: string, by(object): {a: string}}}":                   {"name", "input"},
		"{schema: {name: string, 'k(enum)': [a, b], n: number}}":              {"name k n", ""},
		"{schema: {name: string}, default: {name: Ann, other: 1}}":            {"name", "input"},
		"{schema: {name: string, list(array): string}, default: {list: [a]}}": {"name", "input"},
		"{schema: {name: string, '(*)': any}, note: x}":                       {"name", "input"},
		"{schema: {type: object, properties: {name: {type: string}}}}":        {"", "input"},
		"{schema: {a: any}, default: {a: 1}}":                                 {"", "input"},
		"{schema: Named}":                                                     {"", "input"},
	} {
		in := file(input)
		d := read(in)
		require.Equal(t, want.variables, strings.Join(named(d), " "), input)
		require.Equal(t, want.left != "", len(d.Extra.Members) > 0, input)
		_, loss, err := format.Write(format.Markdown, d)
		require.NoError(t, err)
		require.Equal(t, want.left != "", slices.Contains(loss, "extra.input"), "%s: %v", input, loss)
	}

	twice, err := format.Read(format.Dotprompt, "a.prompt", file("{schema: {name: string, 'name?': number}}"))
	require.NoError(t, err)
	require.Equal(t, []string{"name"}, named(twice), "the first counts")

	in := file("{schema: {'age?': 'integer, of whom', by(object): {a: string}, name: string}, default: {age: 7, by: {a: x}}}")
	d := read(in)
	require.Equal(t, []prompt.Variable{
		{Name: "age", Type: prompt.Number, Description: "of whom", Default: new("7")},
		{Name: "name", Type: prompt.Line, Required: true},
	}, d.Variables)
	d.Text = "Changed {{age}} {{name}}."
	out, loss, err := format.Rewrite(format.Dotprompt, "a.prompt", in, d)
	require.NoError(t, err)
	require.Empty(t, loss)
	require.Contains(t, string(out), "age?: integer, of whom\n", "which is a number here")

	d.Variables[0].Description = "in years"
	d.Variables = append(d.Variables[:1], prompt.Variable{Name: "new", Type: prompt.Line, Required: true})
	out, loss, err = format.Rewrite(format.Dotprompt, "a.prompt", in, d)
	require.NoError(t, err)
	require.Empty(t, loss)
	require.Contains(t, string(out), "age?: number, in years\n")
	require.NotContains(t, string(out), "name: string", "a variable that is gone here is gone there")
	require.Contains(t, string(out), "new: string\n")
	require.Contains(t, string(out), "by(object):\n")

	d.Variables = append(d.Variables, prompt.Variable{Name: "by", Type: prompt.Line})
	out, loss, err = format.Rewrite(format.Dotprompt, "a.prompt", in, d)
	require.NoError(t, err)
	require.Equal(t, []string{"variables"}, loss, "the file says something else of that name")
	require.Contains(t, string(out), "by(object):\n")
}

// TestRealFiles runs over files of other repositories, where PROMPT_FILES names their folders.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	dirs := os.Getenv("PROMPT_FILES")
	if dirs == "" {
		t.Skip("PROMPT_FILES names no folders")
	}
	counts := map[format.Format]int{}
	for _, dir := range filepath.SplitList(dirs) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			f, ok := map[string]format.Format{
				".prompty": format.Prompty, ".prompt": format.Dotprompt, ".yml": format.GitHubModels,
			}[filepath.Ext(path)]
			switch {
			case strings.HasSuffix(path, ".prompt.md"):
				f, ok = format.VSCode, true
			case filepath.Base(path) == "SKILL.md":
				f, ok = format.Skill, true
			case filepath.Base(path) == "system.md":
				f, ok = format.Fabric, true
			}
			if err != nil || e.IsDir() || !ok {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			d, err := format.Read(f, path, b)
			if err != nil || strings.TrimSpace(d.Text) == "" && len(d.Messages) == 0 {
				t.Logf("%s: %v", path, err)
				counts["refused"]++
				return nil
			}
			if t.Run(path, func(t *testing.T) { requireLossless(t, f, filepath.ToSlash(path), b) }) {
				counts[f]++
			}
			return nil
		}))
	}
	t.Log(counts)
}

// text draws a text with characters that parsers stumble over.
func text(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{
			"a", " ", "\n", "\n\n", "  - x: y", "#", ": ", "{{name}}", "${x}", "{{", "}", "\t", "\"", "'", "\\",
			"|", ">", "&a", "*a", "!t", "%",
			"é", "😀", "\u2028", "\u0085", "\x01", "1e5", "true", "null", "~", "<b>", "0x1F",
			"2026-01-31", "=", "-", "?", "@", "`",
		}),
		rapid.StringN(1, 5, 20),
	), 1, 8).Draw(t, name), "")
}

// solid is a text that is not all white space.
func solid(t *rapid.T, name string) string {
	return rapid.Custom(func(t *rapid.T) string { return "x" + text(t, name) }).Filter(func(s string) bool {
		return !strings.ContainsRune(s, 0)
	}).Draw(t, name)
}

func line(t *rapid.T, name string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, solid(t, name))), " ")
}

func document(t *rapid.T) format.Document {
	d := format.Document{
		Name: rapid.StringMatching(`[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,5})?`).Draw(t, "name"), Title: line(t, "title"),
		Description: rapid.OneOf(rapid.Just(""),
			rapid.Custom(func(t *rapid.T) string { return line(t, "description") })).Draw(t, "about"),
		Tags: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"development", "text", "image"}), 0, 3,
			rapid.ID[string]).Draw(t, "tags"),
		OwnTags:    rapid.SliceOfN(rapid.SampledFrom([]string{"mine", "Küche; später"}), 0, 1).Draw(t, "own"),
		Visibility: rapid.SampledFrom([]string{"private", "public"}).Draw(t, "visibility"),
		Labels:     rapid.SliceOfN(rapid.SampledFrom([]string{"production"}), 0, 1).Draw(t, "labels"),
	}
	if rapid.Bool().Draw(t, "has message") {
		d.Message = line(t, "message")
	}
	if rapid.Bool().Draw(t, "has config") {
		d.Config = jsontext.Value(rapid.SampledFrom([]string{
			`{"model":"m"}`, `{"temperature":0.5,"stop":["a","b"]}`,
			`{"model":"m","max":1,"deep":{"x":null,"y":"2026-01-31"}}`,
		}).Draw(t, "config"))
	}
	if rapid.Bool().Draw(t, "chat") {
		d.Kind = prompt.KindChat
		for range rapid.IntRange(1, 4).Draw(t, "messages") {
			m := prompt.Message{
				Role:    rapid.SampledFrom([]string{"system", "user", "assistant"}).Draw(t, "role"),
				Content: solid(t, "content"),
			}
			if rapid.IntRange(0, 4).Draw(t, "place") == 0 {
				m = prompt.Message{Placeholder: rapid.SampledFrom([]string{"history", "more"}).Draw(t, "placeholder")}
			}
			d.Messages = append(d.Messages, m)
		}
		d.Messages = append(d.Messages, prompt.Message{Role: "user", Content: solid(t, "last")})
	} else {
		d.Text = solid(t, "text")
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "variables") {
		d.Variables = append(d.Variables, variable(t, i))
	}
	return d
}

func variable(t *rapid.T, i int) prompt.Variable {
	v := prompt.Variable{
		Name: "v" + string(rune('a'+i)), Type: rapid.SampledFrom([]prompt.VariableType{
			prompt.Line, prompt.Multiline, prompt.Number, prompt.Boolean, prompt.Choice, prompt.Date,
		}).Draw(t, "type"),
		Required:    rapid.Bool().Draw(t, "required"),
		Description: rapid.SampledFrom([]string{"", "What it is, in words", "a (b): c"}).Draw(t, "what"),
		Label:       rapid.SampledFrom([]string{"", "The label"}).Draw(t, "label"),
	}
	value := map[prompt.VariableType]string{
		prompt.Line: "12", prompt.Multiline: "a\nb", prompt.Number: "1.50", prompt.Boolean: "true",
		prompt.Choice: "no", prompt.Date: "2026-01-31",
	}[v.Type]
	if v.Type == prompt.Choice {
		v.Choices = []string{"yes", "no"}
	}
	if v.Type == prompt.Line && rapid.Bool().Draw(t, "empty") {
		value = ""
	}
	if rapid.Bool().Draw(t, "default") {
		v.Default = &value
	}
	return v
}

// TestWriteAndRead: a file gives back all that went into it, but for members that are declared to
// be lost; and each loss is told.
func TestWriteAndRead(t *testing.T) {
	t.Parallel()
	for _, f := range format.Formats() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				d := document(t)
				file, loss, err := format.Write(f, d)
				require.NoError(t, err)
				for _, field := range loss {
					require.Contains(t, f.Loses(), field, "%s", file)
				}
				back, err := format.Read(f, f.Path(d), file)
				require.NoError(t, err)
				require.ElementsMatch(t, loss, format.Differences(d.Titled(), back.Titled()))
				again, _, err := format.Rewrite(f, f.Path(d), file, back)
				require.NoError(t, err)
				require.Equal(t, string(file), string(again))
			})
		})
	}
}
