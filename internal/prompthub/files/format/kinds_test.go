package format_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/simplifiedchinese"

	"prompthub/internal/prompthub/files/format"
)

// rowsOf returns the rows of a file, each without an error, as an import prepares them.
func rowsOf(t *testing.T, file, content string) (all []format.Row) {
	t.Helper()
	for row, err := range format.Rows(file, []byte(content), "") {
		require.NoError(t, err, content)
		require.NoError(t, row.Err, content)
		row.Document = row.Prepared([]string{"writing"}, "private")
		all = append(all, row)
	}
	return all
}

// TestRulesAndHeadingsAreText: front matter is between two rules at the top and has members.
func TestRulesAndHeadingsAreText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"---\n# WHO YOU ARE\n\nYou are a clerk.", "# Clerk\n\n---\n\nYou are a clerk.",
		"# Clerk\n---\nYou are a clerk.\n---\nBe kind.", "\n---\nname: a\n---\nText",
		"---\n\nYou are a clerk.\n\n---\n\nBe kind.", "---", "---\n---x\ntext", "# a\n\n---\nname: b\n---\n\nText",
		"----\nname: a\n----\ntext", "***\nname: a\n***\ntext", "---\r\n# a\r\n---\r\ntext",
		"---\n- a\n- b\n---\ntext",
	} {
		for _, file := range []string{
			"a.md", "a.prompt.md", "a/SKILL.md", "commands/a.md",
			"a.mdc", "a.agent.md", "a.txt",
		} {
			d, err := format.Read(format.Detect(file, []byte(text)), file, []byte(text))
			require.NoError(t, err, "%s %q", file, text)
			require.Equal(t, text, d.Text, file)
			require.Empty(t, d.Extra.Members, "%s %q", file, text)
		}
	}
	licensed, err := format.Read(format.Dotprompt, "a.prompt", []byte("# Copyright\n\n---\nname: b\n---\nText"))
	require.NoError(t, err)
	require.Equal(t, "b", licensed.Name)
	_, err = format.Read(format.Markdown, "a.md", []byte("---\nname: a\ntext"))
	require.ErrorContains(t, err, "no end")
}

// TestOwnForms: members as Cursor and Claude Code write them go in without a warning and come out
// as they were, also after a change.
func TestOwnForms(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"globs: *.go,**/*.mod", "globs: **/*.{ts,tsx}", "globs: src/**", "globs: *", "globs: !a, *.b",
		"argument-hint: [from] [to]", "argument-hint: [message]", "argument-hint: <a> [b: c]",
		"argument-hint: [a | b] --flag", "tools: *", "globs: @a/*.ts", "argument-hint: plain",
	} {
		for file, f := range map[string]format.Format{
			"a.mdc": format.CursorRule, "commands/a.md": format.Command,
			"a/SKILL.md": format.Skill, "a.agent.md": format.Agent,
		} {
			content := "---\ndescription: d\n" + line + "\nmodel: m\n---\n\nWas.\n"
			d, err := format.Read(f, file, []byte(content))
			require.NoError(t, err)
			require.Empty(t, d.Warnings, line)
			d.Text = "Is."
			changed, _, err := format.Rewrite(f, file, []byte(content), d)
			require.NoError(t, err)
			require.Contains(t, string(changed), "\n"+line+"\n", file)
			back, err := format.Read(f, file, changed)
			require.NoError(t, err)
			require.Equal(t, d.Extra, back.Extra, "%s: %s", file, line)
		}
	}
}

// TestJSONOfOtherPrograms: members under the names that other programs have.
func TestJSONOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]format.Document{
		`[{"Title": "Caps", "Prompt": "Say it."}]`: {
			Title: "Caps", Text: "Say it.",
		},
		`[{"NAME": "Caps", "CONTENT": "Say it."}]`: {
			Title: "Caps", Text: "Say it.",
		},
		`[{"name": "Coach", "prompt": "Coach me.", "description": "Trains", "emoji": "x"}]`: {
			Title: "Coach", Text: "Coach me.", Description: "Trains",
		},
		`{"name": "m", "template": "Say {{x}}", "version": 3}`: {
			Title: "m", Text: "Say {{x}}",
		},
		`{"title": "t", "instructions": "Do it."}`: {
			Title: "t", Text: "Do it.",
		},
		`{"identifier": "clerk", "meta": {"title": "Clerk", "description": "Files", "tags": ["writing", "x"]}, "config": {"systemRole": "You file."}}`: {Name: "clerk", Title: "Clerk", Description: "Files", Text: "You file.", Tags: []string{"writing"}, OwnTags: []string{"x"}},
		`{"title": "Preset", "promptPrefix": "Be brief.", "model": "m"}`:                                                                               {Title: "Preset", Text: "Be brief."},
		`{"name": "Group", "productionPrompt": {"prompt": "Say {{x}}"}, "oneliner": "Says"}`:                                                           {Title: "Group", Text: "Say {{x}}", Description: "Says"},
		`{"items": [{"title": "a", "text": "b"}]}`:                                                                                                     {Title: "a", Text: "b"},
		`{"results": [{"name": "a", "content": "b"}], "total": 1}`:                                                                                     {Title: "a", Text: "b"},
		`{"templates": [{"title": "a", "body": "b"}]}`:                                                                                                 {Title: "a", Text: "b"},
		`[{"title": "a", "text": "b", "tags": {"stage": "live", "writing": true}}]`:                                                                    {Title: "a", Text: "b", Tags: []string{"writing"}, OwnTags: []string{"stage: live"}},
	} {
		rows := rowsOf(t, "p.json", content)
		require.Len(t, rows, 1, content)
		got := rows[0].Titled()
		if want.Name != "" {
			require.Equal(t, want.Name, got.Name, content)
		}
		require.Equal(t, []any{want.Title, want.Text, want.Description, want.Tags, want.OwnTags},
			[]any{got.Title, got.Text, got.Description, got.Tags, got.OwnTags}, content)
	}
	for content, want := range map[string]int{
		`{"prompt_name": "a", "prompt_template": {"messages": [{"role": "system", "content": [{"type": "text", "text": "A"}]}, {"role": "user", "content": "B"}]}}`: 2,
		`{"name": "a", "parameters": {"prompt": {"messages": [{"role": "user", "content": "B"}]}}}`:                                                                 1,
		`{"id": "1", "name": "mask", "context": [{"role": "system", "content": "A"}, {"role": "user", "content": "B"}]}`:                                            2,
		`{"model": "m", "system": "Be kind.", "messages": [{"role": "user", "content": "B"}]}`:                                                                      2,
		`{"system": [{"type": "text", "text": "A"}], "messages": [{"role": "user", "content": "B"}, {"role": "assistant", "content": "C"}]}`:                        3,
	} {
		rows := rowsOf(t, "p.json", content)
		require.Len(t, rows, 1, content)
		require.Len(t, rows[0].Messages, want, content)
	}
}

// TestListsOfMessagesAreOneChat: called as their file, in JSON and in lines of it.
func TestListsOfMessagesAreOneChat(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		`[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "{{question}}"}]`,
		"{\"role\": \"system\", \"content\": \"Be brief.\"}\n{\"role\": \"user\", \"content\": \"{{question}}\"}\n",
		"\n[\n {\"role\": \"system\", \"content\": [{\"type\": \"text\", \"text\": \"Be brief.\"}]},\n {\"content\": \"{{question}}\", \"role\": \"user\"}\n]",
	} {
		for _, file := range []string{"review.json", "review.jsonl", "a/review.json"} {
			rows := rowsOf(t, file, content)
			require.Len(t, rows, 1, "%s %s", file, content)
			require.Equal(t, "review", rows[0].Name)
			require.Equal(t, format.Messages, rows[0].Extra.Format)
			require.Len(t, rows[0].Messages, 2)
			require.Equal(t, "Be brief.", rows[0].Messages[0].Content)
			same, _, err := format.Rewrite(format.Messages, file, []byte(content), rows[0].Document)
			require.NoError(t, err)
			require.Equal(t, content, string(same))
		}
	}
	require.Len(t, rowsOf(t, "p.json",
		`[{"role": "dev", "content": "A", "title": "B"}, {"role": "dev", "content": "A", "title": "C"}]`), 2)
}

// TestCSVAsProgramsWriteIt: separators, line ends, quotes and code pages.
func TestCSVAsProgramsWriteIt(t *testing.T) {
	t.Parallel()
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("act,prompt\n翻译助手,请把下面的文字翻译成英文。\n")
	require.NoError(t, err)
	cyrillic, err := charmap.Windows1251.NewEncoder().String("act;prompt\nПереводчик;Переведи этот текст.\n")
	require.NoError(t, err)
	latin, err := charmap.Windows1252.NewEncoder().String("act;prompt\nÜbersetzer;Übersetze »das« für mich.\n")
	require.NoError(t, err)
	for content, want := range map[string][]string{
		"sep=;\nact;prompt\nBaker;\"Bake; please\"\n": {"Baker", "Bake; please"},
		"SEP=,\r\nact,prompt\r\nBaker,Bake\r\n":       {"Baker", "Bake"},
		"sep=|\nact|prompt\nBaker|Bake, please\n":     {"Baker", "Bake, please"},
		"sep=\t\nact\tprompt\nBaker\tBake\n":          {"Baker", "Bake"},
		"act,prompt\rBaker,Bake\rCook,Cook it\r":      {"Baker", "Bake", "Cook", "Cook it"},
		"act,prompt\nActor,Act well\nHost,Say \"hi\" now\nEnd,Stop\n": {
			"Actor", "Act well", "Host",
			"Say \"hi\" now", "End", "Stop",
		},
		"act,prompt\nHost,\"Say \\\"hi\\\" now\"\nEnd,Stop\n": {"Host", "Say \\\"hi\\\" now", "End", "Stop"},
		"act,prompt\nHost,a 5\" disk\nEnd,Stop\n":             {"Host", "a 5\" disk", "End", "Stop"},
		"Prompt Name,Prompt Text\nBaker,Bake\n":               {"Baker", "Bake"},
		gbk:                                                   {"翻译助手", "请把下面的文字翻译成英文。"},
		cyrillic:                                              {"Переводчик", "Переведи этот текст."},
		latin:                                                 {"Übersetzer", "Übersetze »das« für mich."},
	} {
		var got []string
		for n, row := range rowsOf(t, "p.csv", content) {
			got = append(got, row.Title, row.Text)
			require.Equal(t, n+1, row.Number)
			back, err := format.Read(format.CSV, "p.csv", row.Source.Data)
			require.NoError(t, err, "the row is a file: %q", row.Source.Data)
			require.Equal(t, row.Title, back.Title)
		}
		require.Equal(t, want, got, "%q", content)
	}
	for content, line := range map[string]string{ // an open quote may be the beginning of a text of several lines
		"act,prompt\nA,\"one\nsays \"hi\" there\nend\"\nB,b\n": "line 3",
		"sep=;\nact;prompt\nA;\"one\" two\nB;\"b\n":            "line 4",
	} {
		var failed error
		for _, err := range format.Rows("p.csv", []byte(content), "") {
			if err != nil {
				failed = err
			}
		}
		require.ErrorContains(t, failed, line, content)
	}
}

// TestTagsNeverKeepAPromptOut: however they are written, and however many.
func TestTagsNeverKeepAPromptOut(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 70 {
		many = append(many, fmt.Sprint("t", i))
	}
	for tags, want := range map[string][]string{
		"[[ai, prompts]]": {"ai", "prompts"}, "[2024, plan]": {"2024", "plan"}, "2024": {"2024"}, "a, b": {"a", "b"},
		"[[a], [[b, c]]]": {"a", "b", "c"}, "[a, a, '']": {"a"}, "true": {"true"},
		"[~, a]": {"a"}, "{a: b}": {"a: b"}, "[]": nil, "[\"a\\nb\"]": {"a b"},
		"[" + strings.Repeat("x", 120) + "]": {strings.Repeat("x", 100)},
		"[" + strings.Join(many, ", ") + "]": many[:50],
	} {
		rows := rowsOf(t, "t.md", "---\ntitle: T\ntags: "+tags+"\n---\nDo it.\n")
		require.Equal(t, want, rows[0].OwnTags, tags)
	}
}

// TestNoiseOfRepositories: Folder passes over JSON, YAML and CSV that are no prompts, as it does
// other files. It does not pass over a file that may be a broken prompt.
func TestNoiseOfRepositories(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	noise := map[string]string{
		"package.json":  `{"name": "x", "version": "1.0.0", "description": "d"}`,
		"tsconfig.json": "{\n // strict\n \"compilerOptions\": {}\n}",
		"hooks.json":    `{"hooks": {"Stop": [{"command": "x"}]}}`,
		"plugin.json":   `{"name": "p", "description": "d", "author": {"name": "a"}}`, "list.json": `["a", "b"]`,
		"empty.json": "", "number.json": "5", ".github/workflows/ci.yml": "on: push\njobs: {}\n",
		"docker-compose.yaml": "services: {}\n", "data.csv": "id,price\n1,2\n", "empty.csv": "",
		"marketplace.json": `{"name": "m", "plugins": [{"name": "a", "source": "./a"}]}`,
		"big.json":         `{"a": "` + strings.Repeat("x", 9<<20) + `"}`,
		"lock.json":        `{"packages": {"": {"name": "a"}}}`, ".vscode/settings.json": `{}`,
		"values.json": `[{"id": 1, "value": "x"}]`, ".hidden/a.md": "x",
		"chart/templates/a.yaml": "kind: Service\nspec:\n  template: x\n",
	}
	for name, content := range noise {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	held := map[string]string{
		"a.md": "Do a.", "p.json": `[{"title": "a", "text": "b"}]`, "broken.json": `{"prompt": "x",,}`,
		"s.yaml": "name: s\ntemplate: Say {{$x}}.\n", "prompts.csv": "act,prompt\na,b\n", "q.csv": "act,prompt\na,\"b",
		".cursor/rules/a.mdc": "Use tabs.", ".cursor/commands/b.md": "Lint.", ".windsurf/rules/c.md": "c",
		".clinerules/d.md": "d", ".roo/rules/e.md": "e", ".kiro/steering/f.md": "f", ".codex/prompts/g.md": "g",
		".opencode/command/h.md": "h", ".gemini/i.md": "i", ".claude/commands/j.md": "j",
		".github/prompts/k.prompt.md": "k", ".agents/l.md": "l",
	}
	for name, content := range held {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	files, skipped, err := format.Folder(tree)
	require.NoError(t, err)
	for _, f := range files {
		require.Contains(t, held, f.Path)
	}
	require.Len(t, files, len(held))
	for _, name := range skipped {
		require.Contains(t, noise, name)
	}
}

// TestFoldersOfSemanticKernel: the two files are one prompt, called as the folder.
func TestFoldersOfSemanticKernel(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"Writer/Short/skprompt.txt": {Data: []byte("Shorten in {{$n}} words.\n{{$input}}\n")},
		"Writer/Short/config.json":  {Data: []byte(`{"schema":1,"description":"Shortens","input_variables":[{"name":"input","is_required":true},{"name":"n","default":"3"}]}`)},
		"Writer/Old/skprompt.txt":   {Data: []byte("Say {{$input}}.")},
		"Writer/Old/config.json":    {Data: []byte(`{"schema":1,"type":"completion","input":{"parameters":[{"name":"input","description":"What","defaultValue":""}]}}`)},
		"Writer/Bare/skprompt.txt":  {Data: []byte("Say it.")},
		"config.json":               {Data: []byte(`{}`)},
	}
	files, skipped, err := format.Folder(tree)
	require.NoError(t, err)
	require.Equal(t, []string{"config.json"}, skipped)
	got := make(map[string]format.Document)
	for row := range format.RowsOf(files, "") {
		require.NoError(t, row.Err)
		got[row.Name] = row.Document
	}
	require.Len(t, got, 3)
	require.Equal(t, "Shortens", got["Short"].Description)
	require.Equal(t, "Shorten in {{$n}} words.\n{{$input}}", got["Short"].Text)
	require.Equal(t, "3", *got["Short"].Variables[1].Default)
	require.Equal(t, "What", got["Old"].Variables[0].Description)
	text, config, err := format.SplitKernel(files[2].Bytes)
	require.NoError(t, err)
	require.Equal(t, "Shorten in {{$n}} words.\n{{$input}}\n", string(text))
	require.JSONEq(t, string(tree["Writer/Short/config.json"].Data), string(config))
	require.Equal(t, files[2].Bytes, format.JoinKernel("Writer/Short/skprompt.txt", text, config))
}

// TestFoldersOfSemanticKernelComeBack: the two files are there again byte for byte, however they
// are written.
func TestFoldersOfSemanticKernelComeBack(t *testing.T) {
	t.Parallel()
	const mark = "\ufeff"
	for _, text := range []string{"Say {{$it}}.", mark + "Say \"{{$it}}\" \\ <b>\r\nand é\u2028 more\r\n\n"} {
		for _, config := range []string{
			"", "{}", "{ }\n", `{"schema":1}`, mark + "{\r\n\t\"schema\": 1,\r\n\t\"description\": \"Says\"\r\n}\r\n",
			`{"type":"completion","input":{"parameters":[{"name":"it","description":"What","defaultValue":"x"}]}}`,
		} {
			tree := fstest.MapFS{"Say/skprompt.txt": {Data: []byte(text)}}
			if config != "" {
				tree["Say/config.json"] = &fstest.MapFile{Data: []byte(config)}
			}
			files, skipped, err := format.Folder(tree)
			require.NoError(t, err)
			require.Empty(t, skipped)
			require.Equal(t, "Say", format.KernelFolder("Say", files[0].Bytes))
			require.Equal(t, "a/Say", format.KernelFolder("a/Say", files[0].Bytes))
			for _, name := range []string{"/Say", "a/", "a//Say", "../Say", "a/../Say", ".git/Say", "a b"} {
				require.Empty(t, format.KernelFolder(name, files[0].Bytes), name)
			}
			d, err := format.Read(format.SemanticKernel, files[0].Path, files[0].Bytes)
			require.NoError(t, err, config)
			require.Equal(t, "Say", d.Name)
			require.True(t, strings.HasPrefix(d.Text, "Say "), d.Text)
			require.Equal(t, strings.Contains(config, "Says"), d.Description == "Says")
			require.Equal(t, strings.Contains(config, "parameters"), len(d.Variables) == 1 &&
				d.Variables[0].Description == "What" && *d.Variables[0].Default == "x")
			a, b, err := format.SplitKernel(files[0].Bytes)
			require.NoError(t, err)
			require.Equal(t, []string{text, config}, []string{string(a), string(b)})
		}
	}
	for _, other := range []string{
		`{"name":"a","template":"b","description":"c"}`, `{"name":"a"}`,
		`{"name":"a","template":1}`, `{"name":"`, "name: a\ntemplate: b\n",
	} {
		require.Empty(t, format.KernelFolder("a", []byte(other)), other)
	}
}

// TestMarkedNames: a byte order mark hides no name, so a second file of the name is called another.
// Neither does the title that an agent says.
// A template is one of Semantic Kernel, also where its file is called as those of GitHub Models.
func TestMarkedNames(t *testing.T) {
	t.Parallel()
	called := format.Called([]format.File{
		{Path: "a.yaml", Bytes: []byte("name: one\ntemplate: x\n")},
		{Path: "b.yaml", Bytes: []byte("\ufeffname: one\ntemplate: y\n")},
	}, nil)
	require.Equal(t, map[string]string{"b.yaml": "one-2"}, called)
	called = format.Called([]format.File{
		{Path: "agents/prd.agent.md", Bytes: []byte("---\nname: Writes PRDs\n---\nx\n")},
		{Path: "skills/prd/SKILL.md", Bytes: []byte("---\nname: prd\n---\nx\n")},
	}, nil)
	require.Equal(t, map[string]string{"skills/prd/SKILL.md": "prd/prd"}, called)
	require.Equal(t, format.SemanticKernel, format.Detect("a.prompt.yaml", []byte("name: one\ntemplate: x\n")))
	require.Equal(t, format.GitHubModels,
		format.Detect("a.prompt.yaml", []byte("name: one\ntemplate: x\nmessages: []\n")))
}

// TestMarksBeforeFiles: a byte order mark changes nothing of what a file says, in any format.
func TestMarksBeforeFiles(t *testing.T) {
	t.Parallel()
	for file, f := range samples(t) {
		b := sample(t, file)
		if f == format.CSV || bytes.HasPrefix(b, []byte("\ufeff")) {
			continue
		}
		if f == format.JSONLines {
			b, _, _ = bytes.Cut(b, []byte("\n"))
		}
		name := file
		want, err := format.Read(f, name, b)
		require.NoError(t, err, file)
		got, err := format.Read(f, name, append([]byte("\ufeff"), b...))
		require.NoError(t, err, file)
		require.Equal(t, want, got, file)
		require.Equal(t, format.Detect(name, b), format.Detect(name, append([]byte("\ufeff"), b...)), file)
	}
}

// TestKernelAsJSON: what Semantic Kernel reads as JSON is of its format, and comes back as it was.
func TestKernelAsJSON(t *testing.T) {
	t.Parallel()
	for _, syntax := range []string{"semantic-kernel", "handlebars", "liquid"} {
		for _, mark := range []string{"", "\ufeff"} {
			file := mark + "{\n\t\"name\": \"Weather\",\n\t\"description\": \"Tells it.\",\n\t\"template_format\": \"" +
				syntax + "\",\n\t\"template\": \"In {{city}}\",\n\t\"input_variables\": [{\"name\": \"city\", \"is_required\": true}]\n}\n"
			require.Equal(t, format.SemanticKernel, format.Detect("a.json", []byte(file)))
			rows := rowsOf(t, "a.json", file)
			require.Len(t, rows, 1)
			require.Equal(t, []string{"Weather", "Tells it.", file},
				[]string{rows[0].Name, rows[0].Description, string(rows[0].Source.Data)})
			require.Equal(t, "city", rows[0].Variables[0].Name)
		}
	}
	require.Equal(t, format.LangChain, format.Detect("a.json", []byte(`{"template":"x","template_format":"f-string"}`)))
	require.Equal(t, format.JSONLines, format.Detect("a.json", []byte(`{"template":"x","title":"y"}`)))
	for _, mark := range []string{"", "\ufeff"} { // nor is a mark lost of one prompt in JSON of any other kind
		file := mark + `{"title":"One","text":"x"}`
		require.Equal(t, file, string(rowsOf(t, "a.json", file)[0].Source.Data))
	}
}

// TestTypesOfOthers: JSON whose _type LangChain does not write is none of its prompts.
func TestTypesOfOthers(t *testing.T) {
	t.Parallel()
	for file, is := range map[string]bool{
		`{"_type":"prompt","template":"x"}`: true, `{"_type":"llm_chain","prompt":{},"content":"x"}`: true,
		`{"_type":"zero-shot-react-description"}`:            true,
		`{"_type":"SearchResponse","webPages":{"value":[]}}`: false, `{"_type":1}`: false, `{"_type":""}`: false,
	} {
		for range 20 { // it is of one format
			require.Equal(t, is, format.Detect("a.json", []byte(file)) == format.LangChain, file)
		}
	}
	_, skipped, err := format.Folder(
		fstest.MapFS{"a.json": {Data: []byte(`{"_type":"SearchResponse","webPages":{"value":[]}}`)}})
	require.NoError(t, err)
	require.Len(t, skipped, 1)
}

// TestSecondDocuments: what YAML has after the first is told to be left out.
func TestSecondDocuments(t *testing.T) {
	t.Parallel()
	const one = "name: one\nmessages:\n  - role: user\n    content: q1\n"
	for file, warned := range map[string]bool{
		one + "---\n" + one: true, "---\n" + one: false,
		"# a\n---\n" + one + "---\nname: two\n": true, one: false, one + "--- # two\na: b\n": true,
	} {
		d, err := format.Read(format.GitHubModels, "a.prompt.yml", []byte(file))
		require.NoError(t, err)
		require.Equal(t, warned, len(d.Warnings) == 1, file)
	}
}

// TestNamesThatWindowsKeeps: no file and no folder is called as a device.
func TestNamesThatWindowsKeeps(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"con", "aux", "nul", "prn", "com1", "lpt9", "com0", "console", "con-x"} {
		for _, f := range format.Singles() {
			p := f.Path(format.Document{Name: name, Title: name})
			for part := range strings.SplitSeq(p, "/") {
				base, _, _ := strings.Cut(part, ".")
				require.NotContains(t, []string{"con", "aux", "nul", "prn", "com1", "lpt9"}, base, p)
			}
			file, _, err := format.Write(f, format.Document{Name: name, Title: name, Text: "x"})
			require.NoError(t, err)
			d, err := format.Read(f, p, file)
			require.NoError(t, err)
			require.Equal(t, name, d.Titled().Title, p)
		}
	}
}

// TestFilesOfOneName: each is a prompt of its own, called after the folder that tells it apart, and
// a file that is known for the name keeps it.
func TestFilesOfOneName(t *testing.T) {
	t.Parallel()
	named := func(name string) []byte { return []byte("---\nname: " + name + "\n---\nDo it.\n") }
	for _, tt := range []struct {
		paths []string
		known string
		names []string
	}{
		{
			[]string{"plugin-a/agents/reviewer.md", "plugin-b/agents/reviewer.md"},
			"",
			[]string{"reviewer", "plugin-b/reviewer"},
		},
		{
			[]string{"plugin-a/agents/reviewer.md", "plugin-b/agents/reviewer.md"},
			"plugin-b/agents/reviewer.md",
			[]string{"plugin-a/reviewer", "reviewer"},
		},
		{[]string{"x/SKILL.md", "y/SKILL.md", "z/SKILL.md"}, "", []string{"same", "y/same", "z/same"}},
		// which is the title of the second: its name is r
		{[]string{"a/r.md", "a/r.agent.md"}, "", []string{"same", "same"}},
		{[]string{"a/b/r.md", "c/b/r.md", "c/d/b/r.md"}, "", []string{"same", "c/same", "d/same"}},
		{[]string{"a/b/r.md", "c/d/r.md", "e/d/r.md"}, "", []string{"same", "d/same", "e/same"}},
		{[]string{"a/b/r.md", "c/d/r.md", "e/d/r.md"}, "a/b/r.md", []string{"same", "d/same", "e/same"}},
		{[]string{".claude/agents/r.md", "agents/r.md"}, "", []string{"same", "same-2"}},
		{[]string{"agents/r.md", ".claude/agents/r.md"}, "", []string{"same", "claude/same"}},
		{[]string{"a/Reviewer.md", "b/reviewer.md"}, "", []string{"Reviewer", "b/reviewer"}},
	} {
		var files []format.File
		for _, p := range tt.paths {
			name := "same"
			if strings.Contains(strings.ToLower(p), "reviewer") {
				name = strings.TrimSuffix(p[strings.LastIndexByte(p, '/')+1:], ".md")
			}
			files = append(files, format.File{Path: p, Bytes: named(name)})
		}
		var known func(string) bool
		if tt.known != "" {
			known = func(p string) bool { return p == tt.known }
		}
		called := format.Called(files, known)
		var got []string
		for _, f := range files {
			d, err := format.Read(format.Detect(f.Path, f.Bytes), f.Path, f.Bytes)
			require.NoError(t, err)
			got = append(got, strings.TrimSpace(fmt.Sprint(called[f.Path], " ")))
			if called[f.Path] == "" {
				got[len(got)-1] = d.Titled().Title
			}
		}
		require.Equal(t, tt.names, got)
		if tt.known != "" {
			continue
		}
		n := 0
		for row := range format.RowsOf(files, "") {
			require.Equal(t, called[row.Path] != "", row.Name == called[row.Path] && len(row.Warnings) == 1 &&
				row.Warnings[0].IsNote(), row.Path)
			n++
		}
		require.Equal(t, len(files), n)
	}
}

// TestCodePages: what a program for tables saves in a code page is read as it was meant, in any
// format, and a file that is in another is refused by its line.
func TestCodePages(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"big5": "請把下面的文字翻譯成英文", "euc-jp": "次の文章を英語に訳して", "euc-kr": "다음 글을 영어로 옮겨", "gb18030": "请翻译 😀", "gbk": "请把下面的文字",
		"ibm437": "Übersetze für café", "ibm850": "Übersetze für Ærø",
		"ibm852": "Přeložte žluťoučký", "ibm866": "Переведи текст",
		"iso-8859-1": "Übersetze", "iso-8859-2": "Přeložte żółw", "iso-8859-5": "Переведи", "iso-8859-7": "Μετάφρασε",
		"iso-8859-9": "Çevir şunu ığ", "iso-8859-15": "Prix en €",
		"koi8-r": "Переведи текст", "koi8-u": "Переклади їх", "macintosh": "Übersetze “für”",
		"shift_jis":    "次の文章を英語に訳して。ソ表",
		"windows-1250": "Přeložte żółw", "windows-1251": "Переведи ё", "windows-1252": "“Übersetze” – €",
		"windows-1253": "Μετάφρασε", "windows-1254": "Çevir şunu",
		"windows-1255": "תרגם", "windows-1256": "ترجم", "windows-1257": "Išversk ąčę",
		"windows-1258": "Dich đoan", "windows-874": "แปลข้อความ",
	}
	require.Equal(t, format.CodePages(), slices.Sorted(maps.Keys(said)))
	for page, text := range said {
		for file, around := range map[string]string{
			"p.csv": "sep=;\ract;prompt\rClerk;\"%s, please\"\r", "clerk.md": "---\ntitle: Clerk\n---\n%s, please",
			"p.json": `{"title": "Clerk", "text": "%s, please"}`,
		} {
			saved, err := ianaEncode(page, fmt.Sprintf(around, text))
			require.NoError(t, err, page)
			utf8, err := format.InUTF8(saved, page)
			require.NoError(t, err)
			n := 0
			for row, err := range format.Rows(file, utf8, "") {
				require.NoError(t, errors.Join(err, row.Err), "%s %s", page, file)
				require.Equal(t, []string{"Clerk", text + ", please"}, []string{row.Titled().Title, row.Text}, "%s %s",
					page, file)
				require.Empty(t, row.Warnings)
				n++
			}
			require.Equal(t, 1, n)
		}
	}
	same := []byte("act,prompt\nClerk,Žluť\n") // UTF-8 already
	utf8, err := format.InUTF8(same, "shift_jis")
	require.NoError(t, err)
	require.Equal(t, same, utf8)
	_, err = format.InUTF8([]byte("act,prompt\nClerk,\x81\xff\xfe\n"), "shift_jis")
	require.EqualError(t, err, "the file is not in shift_jis, as line 2 shows: name the code page that it was saved in")
	for name, page := range map[string]string{
		"CP1250": "windows-1250", "cp850": "ibm850",
		"Shift-JIS": "shift_jis", "GBK": "gbk",
	} {
		got, err := format.CodePage(name)
		require.NoError(t, err)
		require.Equal(t, page, got)
	}
	_, err = format.CodePage("klingon")
	require.ErrorContains(t, err, `"klingon" is no code page: use one of big5, `)
}

// ianaEncode returns a text in the code page that IANA knows by a name.
func ianaEncode(name, text string) ([]byte, error) {
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil || e == nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return e.NewEncoder().Bytes([]byte(text))
}
