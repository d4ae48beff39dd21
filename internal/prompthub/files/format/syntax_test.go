package format_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

func template(t *testing.T, text, syntax string) format.Document {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	d, err := format.Read(format.LangChain, "a.json",
		fmt.Appendf(nil, `{"lc":1,"type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],
		"kwargs":{"template":%s,"template_format":%q,"input_variables":[]}}`, quoted, syntax))
	require.NoError(t, err)
	return d
}

func TestMustache(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Tell {a} of {b_2} as {{\"x\": {a}}}": "Tell {{a}} of {{b_2}} as {\"x\": {{a}}}",
		"{{{a}}}":                             "{{{a}}}", "no braces": "no braces", "{{}}": "{}", "${a}": "${{a}}",
	} {
		d, err := template(t, text, "f-string").Mustache()
		require.NoError(t, err, text)
		require.Equal(t, want, d.Text)
		file, loss, err := format.Write(format.LangChain, d)
		require.NoError(t, err)
		require.Empty(t, loss)
		require.Contains(t, string(file), `"template_format": "mustache"`)
	}
	for text, want := range map[string]string{
		"{{{{a}}}}": "would be placeholders", "{a!r}": "the brace at byte 0", "x {a:>10}": "the brace at byte 2",
		"{": "the brace at byte 0", "{0}": "the brace at byte 0",
	} {
		_, err := template(t, text, "f-string").Mustache()
		require.ErrorContains(t, err, want, text)
	}
	d, err := template(t, "{{a}} {b}", "mustache").Mustache()
	require.NoError(t, err)
	require.Equal(t, "{{a}} {b}", d.Text)

	chat, err := format.Read(format.LangChain, "chat.json", sample(t, "langchain/chat.json"))
	require.NoError(t, err)
	chat, err = chat.Mustache()
	require.NoError(t, err)
	require.Equal(t, []prompt.Message{
		{Role: "system", Content: "You help."},
		{Placeholder: "history"},
		{Role: "user", Content: "{{question}}"},
	}, chat.Messages)
}

func TestSyntaxes(t *testing.T) {
	t.Parallel()
	const text = "${a} {{b c:x|y}} {{d: e }} {f} $${g} {\"h\": 1} {{#if a}}"
	for to, want := range map[format.Syntax]string{
		format.Mustache:   "{{a}} {{b c:x|y}} {{d: e }} {f} ${{g}} {\"h\": 1} {{#if a}}",
		format.Dollar:     "${a} ${b c:x|y} ${d: e } {f} $${g} {\"h\": 1} {{#if a}}",
		format.FString:    "{a} {b_c} {d} {{f}} ${g} {{\"h\": 1}} {{{{#if a}}}}",
		format.Handlebars: "{{a}} {{b_c}} {{d}} {f} ${{g}} {\"h\": 1} {{#if a}}",
		format.Jinja:      "{{a}} {{b_c}} {{d}} {f} ${{g}} {\"h\": 1} {{#if a}}",
		"":                text,
	} {
		d, err := format.Document{Text: text, Messages: []prompt.Message{{Role: "user", Content: "${z}"}}}.In(to)
		require.NoError(t, err)
		require.Equal(t, want, d.Text, to)
		was := prompt.ParseTemplate(nil, text)
		if to == format.Mustache || to == format.Dollar || to == "" {
			require.Empty(t, d.Variables, "the text says all of them")
			require.Equal(t, was.Variables, prompt.ParseTemplate(nil, d.Text).Variables)
			continue
		}
		require.Equal(t, was.Variables, d.Variables[:4], "what placeholders cannot say is declared")
	}
	d := format.Document{Name: "a", Text: "${a:1} {b}"}
	f, err := d.In(format.FString)
	require.NoError(t, err)
	file, loss, err := format.Write(format.LangChain, f)
	require.NoError(t, err)
	require.Contains(t, string(file), `"template": "{a} {{b}}"`)
	require.Contains(t, string(file), `"template_format": "f-string"`)
	require.Contains(t, string(file), `"input_variables": [`+"\n      \"a\"\n")
	require.Contains(t, loss, "variables")
	same, err := f.In(format.FString)
	require.NoError(t, err)
	require.Equal(t, f, same)

	for text, want := range map[string]string{
		"{{a-b}}": `the variable "a-b" has a name that no placeholder of f-string can have`,
		"{{a.b}}": `the variable "a.b" has a name`,
	} {
		_, err := format.Document{Text: text}.In(format.FString)
		require.ErrorContains(t, err, want)
	}
	d, err = format.Document{Text: "{${a}"}.In(format.Mustache)
	require.NoError(t, err)
	require.Equal(t, "{{{a}}", d.Text)
}

// FuzzSyntax: in another syntax a text leaves the same to be filled in, and says the same when it
// is.
func FuzzSyntax(f *testing.F) {
	f.Add("${a} {{b:x|y}} {c} {{{d}}} $${e} {{f", uint8(0))
	f.Add("{${a}}{{}}${}}", uint8(2))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		to := format.Syntaxes()[int(n)%len(format.Syntaxes())]
		d, err := format.Document{Text: text}.In(to)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		back, err := d.Mustache()
		require.NoError(t, err)
		was, is := prompt.ParseTemplate(nil, text), prompt.ParseTemplate(d.Variables, back.Text)
		values := map[string]string{}
		for i, v := range was.Variables {
			require.Equal(t, v.Name, is.Variables[i].Name)
			values[v.Name] = v.Name
			if v.Type == prompt.Choice {
				values[v.Name] = v.Choices[0]
			}
		}
		want, err := was.Render(values, 1<<20)
		if err != nil {
			return // choices that no value can be
		}
		got, err := is.Render(values, 1<<20)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// TestPlaceholdersOfOtherProgramsAreRewritten: with what they say of their variables, which is
// declared then.
func TestPlaceholdersOfOtherProgramsAreRewritten(t *testing.T) {
	t.Parallel()
	const text = "${input:what:a hint} {{$x}} {{who | select:options=[\"a\",\"b\"]}} {{tone:warm}}"
	for to, want := range map[format.Syntax]string{
		format.Mustache: "{{what}} {{x}} {{who}} {{tone:warm}}", format.Dollar: "${what} ${x} ${who} ${tone:warm}",
		format.FString: "{what} {x} {who} {tone}", format.Jinja: "{{what}} {{x}} {{who}} {{tone}}",
	} {
		d, err := format.Document{Title: "t", Text: text}.In(to)
		require.NoError(t, err)
		require.Equal(t, want, d.Text)
		require.Equal(t, "a hint", d.Variables[0].Description)
		require.Equal(t, []string{"a", "b"}, d.Variables[2].Choices)
	}
}

// TestWordsInSingleBracesAreTold: they may be placeholders of an f-string, but the file does not
// say that it is one, so they stay.
func TestWordsInSingleBracesAreTold(t *testing.T) {
	t.Parallel()
	const left = ": left as it is, because the file does not say that its text is an f-string; write "
	for name, tt := range map[string]struct {
		text string
		to   format.Syntax
		want []string
	}{
		"one": {
			"Hi {name}, {{who}}", format.Mustache,
			[]string{"{name}" + left + "{{name}} where it must be filled in"},
		},
		"in dollars": {
			"Hi {name}, ${who}", format.Dollar,
			[]string{"{name}" + left + "${name} where it must be filled in"},
		},
		"many, each once": {
			"{a} {b} {a} {{b}} {c_1}", format.Mustache,
			[]string{"{a} and 2 more" + left + "{{a}} where it must be filled in"},
		},
		"a placeholder alone": {"Hi {{name}} and ${who}", format.Mustache, nil},
		"braces of a program": {"func f() { return {} } {1} { a } {a b}", format.Mustache, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &format.Source{Format: format.Markdown, Data: []byte(tt.text)}
			d, err := format.Document{Title: "t", Text: tt.text, Source: kept}.Taken(tt.to)
			require.NoError(t, err)
			var told []string
			for _, w := range d.Warnings {
				told = append(told, w.Text)
			}
			require.Equal(t, tt.want, told)
			require.Equal(t, tt.to, d.Source.Syntax)
			require.Empty(t, kept.Syntax, "the document that was read stays as it was")
		})
	}
	d, err := template(t, "{name} writes {{x}}", "f-string").Taken(format.Mustache)
	require.NoError(t, err)
	require.Equal(t, "{{name}} writes {x}", d.Text)
	require.Empty(t, d.Warnings)
}

// TestForProgram: of placeholders of any kind, the file that goes out has those that its program
// fills in, and says the same once they are filled in. A default that the format cannot hold
// is the one thing that it no longer says.
func TestForProgram(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"Hi ", "{{name}}", "{{ name }}", "${name}", "{{tone:warm}}", "${tone:warm}", "{{my day}}", "${my day: late }",
		"{{size:S|M}}", "${input:what:a hint}",
		"{{$who}}", "{{who | select:options=[\"a\",\"b\"]}}", " {no} ", " $5 ", "\n", "é🚀",
		"{{#if name}}", "{\"a\": 1}",
	}
	plain := regexp.MustCompile(`^\{\{ ?[A-Za-z_]\w* ?\}\}$`)
	known := map[format.Format]*regexp.Regexp{
		format.Dotprompt: plain, format.Prompty: plain, format.Langfuse: plain, format.LangChain: plain,
		format.GitHubModels: plain, format.OpenWebUI: plain,
		format.Markdown: plain, format.Fabric: plain, format.Skill: plain, format.Command: plain,
		format.AgentFramework: plain, format.Agent: plain, format.Instructions: plain,
		format.ChatMode: plain, format.CursorRule: plain, format.SemanticKernel: plain, format.Messages: plain,
		format.PromptsChat: regexp.MustCompile(`^\$\{[^{}]+\}$`),
		format.VSCode:      regexp.MustCompile(`^\$\{input:\w+\}$`),
	}
	kernel := regexp.MustCompile(`^\{\{\$\w+\}\}$`) // where it has one of these already
	random := rand.New(rand.NewPCG(1, 64))
	anew := map[format.Format]int{}
	for range 3000 {
		text := "x"
		for range 1 + random.IntN(6) {
			text += pieces[random.IntN(len(pieces))]
		}
		d := format.Document{Name: "p", Title: "P", Text: text}
		was := prompt.ParseTemplate(nil, text)
		for f, looks := range known {
			filled, changed := f.ForProgram(d)
			if changed {
				anew[f]++
			} else {
				require.Equal(t, d, filled)
			}
			is := prompt.ParseTemplate(filled.Variables, filled.Text)
			for i, part := range is.Parts()[0] {
				if f == format.SemanticKernel && strings.Contains(text, "{{$") {
					looks = kernel
				}
				if part.Variable >= 0 {
					require.Regexp(t, looks, part.Text, "%s of %q: part %d of %q", f, text, i, filled.Text)
				}
			}
			require.Len(t, is.Variables, len(was.Variables))
			for i, v := range was.Variables {
				require.Equal(t, []any{v.Name, v.Default, v.Choices},
					[]any{is.Variables[i].Name, is.Variables[i].Default, is.Variables[i].Choices}, "%s of %q", f, text)
			}
			_, loss, err := format.Write(f, filled)
			require.NoError(t, err, "%s of %q", f, text)
			if f == format.Dotprompt || f == format.Prompty || f == format.Markdown {
				require.NotContains(t, loss, "variables", "which the format can hold: %q", text)
			}
		}
	}
	for f := range known {
		require.Greater(t, anew[f], 100, f)
	}
	for _, f := range format.Formats() {
		if known[f] == nil {
			_, changed := f.ForProgram(format.Document{Text: "${a:1}"})
			require.False(t, changed, f)
		}
	}
	call, changed := format.SemanticKernel.ForProgram(format.Document{Text: "{{$a}} {{Plugin.Call}} ${b} {{c:1}}"})
	require.True(t, changed, "two syntaxes cannot stand in one text")
	require.Equal(t, "{{$a}} {{Plugin.Call}} {{$b}} {{$c}}", call.Text)
	require.Equal(t, "1", *call.Variables[3].Default)
	_, changed = format.SemanticKernel.ForProgram(format.Document{Text: "{{$a}} {{Plugin.Call}}"})
	require.False(t, changed, "it knows all of these")
}

// TestForProgramOddNames: where a name is none that the program knows, no default stands with it
// either.
func TestForProgramOddNames(t *testing.T) {
	t.Parallel()
	for _, f := range format.Formats() {
		d := format.Document{Name: "p", Title: "P", Text: "{{a.b:1}} ${c-d:two} {{über uns:three}} {{plain:4}} {{e}}"}
		filled, changed := f.ForProgram(d)
		if f == format.JSONLines || f == format.CSV || f == format.PromptsChat {
			continue // the library's own, and one that has defaults
		}
		require.True(t, changed, f)
		require.Equal(t, "{{a.b}} {{c-d}} {{über_uns}} {{plain}} {{e}}", filled.Text, f)
		require.Equal(t, "three", *filled.Variables[2].Default)
		_, lost := d.Draft().Content().Bare()
		require.Len(t, lost, 4)
	}
}
