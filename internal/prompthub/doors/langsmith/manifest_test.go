package langsmith

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

type m map[string]any

func lc(class string, kwargs m) m {
	return m{"lc": 1, "type": "constructor", "id": []string{"langchain_core", "prompts", class}, "kwargs": kwargs}
}

func textOf(template string) m {
	return lc("PromptTemplate", m{"template": template, "template_format": "f-string", "input_variables": []string{}})
}

func human(template string) m {
	return lc("HumanMessagePromptTemplate", m{"prompt": textOf(template)})
}

func value(t *testing.T, v any) jsontext.Value {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// What a text says stays what it says on the way to LangChain and back.
func TestTextsThereAndBack(t *testing.T) {
	t.Parallel()
	for text, template := range map[string]string{
		"Hi {{name}}": "Hi {name}", "a {b} {{c}} d}": "a {{b}} {c} d}}", "{}": "{{}}", "no variables": "no variables",
		"{{a}}{{b}}{{a}}":   "{a}{b}{a}",
		`{"a": {"b": [1]}}`: `{{"a": {{"b": [1]}}}}`, "${x}": "{x}", "名 {{名}} 🚀": "名 {名} 🚀",
	} {
		c := prompt.Content{Text: text}
		manifest, err := manifestOf(c)
		require.NoError(t, err)
		var o struct{ Kwargs struct{ Template string } }
		require.NoError(t, json.Unmarshal(manifest, &o))
		require.Equal(t, template, o.Kwargs.Template, text)
		back, err := contentOf(manifest, "")
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(text, "${x}", "{{x}}"), back.Text)
		require.Empty(t, back.Config, "%s needs no manifest beside it", text)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	manifest, err := manifestOf(prompt.Content{Text: "{{a:x}} {{b|c}} {{d:e|f}} {{g}}"})
	require.NoError(t, err)
	var o struct {
		Kwargs struct {
			Input   []string          `json:"input_variables"`
			Partial map[string]string `json:"partial_variables"`
		}
	}
	require.NoError(t, json.Unmarshal(manifest, &o))
	require.Equal(t, "x", o.Kwargs.Partial["a"])
	require.Contains(t, o.Kwargs.Input, "g")
}

func TestFewShot(t *testing.T) {
	t.Parallel()
	manifest := value(t, lc("FewShotPromptTemplate", m{
		"prefix": "Add {what}.", "suffix": "{q} ->", "example_prompt": textOf("{q} -> {a}"),
		"examples":        []m{{"q": "1+1", "a": 2}, {"q": "2+2", "a": "4"}},
		"input_variables": []string{"what", "q"}, "template_format": "f-string",
	}))
	c, err := contentOf(manifest, `{"model":"x"}`)
	require.NoError(t, err)
	require.Equal(t, "Add {{what}}.\n\n1+1 -> 2\n\n2+2 -> 4\n\n{{q}} ->", c.Text)
	back, err := manifestOf(c)
	require.NoError(t, err)
	require.JSONEq(t, string(manifest), string(back))
	require.Contains(t, c.Config, `"model":"x"`)
	c.Text += "!"
	changed, err := manifestOf(c)
	require.NoError(t, err)
	require.Contains(t, string(changed), "PromptTemplate")
	require.NotContains(t, string(changed), "FewShot", "what was pushed counts while the content is that")
	again, err := contentOf(changed, c.Config)
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"x"}`, again.Config)
}

// Anybody may write a config: a manifest kept in one counts only if it could have been pushed, and
// says what the prompt does.
func TestManifestsInConfigs(t *testing.T) {
	t.Parallel()
	c := prompt.Content{Text: "Hi {{x}}"}
	own, err := manifestOf(c)
	require.NoError(t, err)
	noted := lc("PromptTemplate", m{"template": "Hi {x}", "template_format": "f-string", "metadata": m{"a": 1}})
	model := m{"lc": 1, "type": "constructor", "id": []string{"langchain", "chat_models", "ChatOpenAI"}, "kwargs": m{}}
	for name, kept := range map[string]any{
		"of another text": textOf("Hello {x}"), "a model": model, "no object": "x", "nothing": nil,
		"a model within": lc("PromptTemplate",
			m{"template": "Hi {x}", "template_format": "f-string", "metadata": model}),
	} {
		c.Config = string(value(t, m{"langchain": m{"manifest": kept, "of": words(c)}}))
		got, err := manifestOf(c)
		require.NoError(t, err)
		require.JSONEq(t, string(own), string(got), name)
	}
	c.Config = string(value(t, m{"langchain": m{"manifest": noted}}))
	got, err := manifestOf(c)
	require.NoError(t, err)
	require.JSONEq(t, string(value(t, noted)), string(got))
}

func TestManifestsThatAreRefused(t *testing.T) {
	t.Parallel()
	chat := func(messages ...any) m { return lc("ChatPromptTemplate", m{"messages": messages}) }
	deep := any(textOf("x"))
	for range 60 {
		deep = []any{deep}
	}
	examples := make([]m, 201)
	for name, manifest := range map[string]any{
		"nothing":  nil,
		"a text":   "Hi",
		"no class": m{"lc": 1, "type": "constructor", "id": []string{}, "kwargs": m{}},
		"a model": m{
			"lc": 1, "type": "constructor",
			"id": []string{"langchain", "chat_models", "ChatOpenAI"}, "kwargs": m{},
		},
		"a chain": m{
			"lc": 1, "type": "constructor",
			"id": []string{"langchain_core", "runnables", "RunnableSequence"}, "kwargs": m{"first": textOf("x")},
		},
		"a secret within": lc("PromptTemplate",
			m{"template": "x", "metadata": m{"lc": 1, "type": "secret", "id": []string{"KEY"}}}),
		"another package": m{
			"lc": 1, "type": "constructor", "id": []string{"evil", "PromptTemplate"},
			"kwargs": m{"template": "x"},
		},
		"what JS cannot write": m{
			"lc": 1, "type": "not_implemented",
			"id": []string{"langchain_core", "prompts", "FewShotPromptTemplate"},
		},
		"no template": lc("PromptTemplate", m{}),
		"an image": chat(
			lc("HumanMessagePromptTemplate", m{"prompt": []any{textOf("x"), lc("PromptTemplate", m{})}})),
		"a content of a number": chat(lc("HumanMessage", m{"content": 5})),
		"no role":               chat(lc("ChatMessagePromptTemplate", m{"prompt": textOf("x")})),
		"nested too deep":       lc("PromptTemplate", m{"template": "x", "metadata": deep}),
		"no example_prompt":     lc("FewShotPromptTemplate", m{"examples": []m{{}}}),
		"too many examples":     lc("FewShotPromptTemplate", m{"example_prompt": textOf("x"), "examples": examples}),
		"examples of examples": lc("FewShotChatMessagePromptTemplate",
			m{"examples": []m{{}}, "example_prompt": chat(
				lc("FewShotChatMessagePromptTemplate", m{"examples": []m{{}}, "example_prompt": human("x")}))}),
		"much out of little": lc("FewShotPromptTemplate",
			m{
				"example_prompt": textOf(strings.Repeat("{a}", 1000)),
				"examples":       []m{{"a": strings.Repeat("x", 1000)}},
			}),
		"nothing out of much": lc("FewShotPromptTemplate",
			m{"example_prompt": textOf(strings.Repeat("{a}", 10_000)), "examples": repeated(m{"a": ""}, 100)}),
		"long separators": lc("FewShotPromptTemplate",
			m{
				"example_prompt": textOf("x"), "example_separator": strings.Repeat("x", 10_000),
				"examples": examples[:100],
			}),
		"long placeholders": lc("FewShotChatMessagePromptTemplate",
			m{
				"example_prompt": lc("MessagesPlaceholder", m{"variable_name": strings.Repeat("x", 10_000)}),
				"examples":       examples[:100],
			}),
		"long defaults": lc("PromptTemplate",
			m{"template": strings.Repeat("{a}", 10_000), "partial_variables": m{"a": strings.Repeat("x", 1000)}}),
		"many long messages": lc("FewShotChatMessagePromptTemplate",
			m{"example_prompt": human(strings.Repeat("x", 10_000)), "examples": examples[:100]}),
		"many messages": lc("FewShotChatMessagePromptTemplate",
			m{"example_prompt": chat(human("x"), human("y")), "examples": examples[:150]}),
		"Jinja": lc("PromptTemplate", m{"template": "{{ x.__class__ }}", "template_format": "jinja2"}),
		"Jinja within": chat(
			lc("HumanMessagePromptTemplate",
				m{"prompt": lc("PromptTemplate", m{"template": "x", "template_format": "jinja2"})})),
		"a format that is none": lc("PromptTemplate", m{"template": "x", "template_format": "x"}),
		"examples of Mustache": lc("FewShotPromptTemplate",
			m{
				"example_prompt": lc("PromptTemplate", m{"template": "x", "template_format": "mustache"}),
				"examples":       []m{{"a": 1}},
			}),
	} {
		_, err := contentOf(value(t, manifest), "")
		require.Equal(t, fault.Invalid, fault.Of(err), "%s: %v", name, err)
		require.ErrorContains(t, err, "manifest", name)
	}
	_, err := contentOf(nil, "")
	require.Error(t, err)
	_, err = (&reader{left: 10}).message(
		object{ID: []string{"HumanMessage"}, Kwargs: kwargs{Content: jsontext.Value(`"more than there is left"`)}}, nil)
	require.ErrorContains(t, err, "too much")
}

// A part of a prompt is refused where a prompt must be, under its own name.
func TestPartsAreNoPrompts(t *testing.T) {
	t.Parallel()
	prompts := []string{
		"PromptTemplate", "FewShotPromptTemplate", "ChatPromptTemplate", "StructuredPrompt",
		"FewShotChatMessagePromptTemplate",
	}
	for _, class := range classes {
		_, err := contentOf(value(t, lc(class, m{"template": m{"a": "{b}"}})), "")
		if slices.Contains(prompts, class) {
			require.NotContains(t, fmt.Sprint(err), "no prompt alone", class)
			continue
		}
		require.Equal(t, fault.Invalid, fault.Of(err), class)
		require.ErrorContains(t, err,
			fmt.Sprintf("%q, which is no prompt alone; push a template of a text or of a chat", class))
	}
}

// repeated returns a thing n times.
func repeated[T any](v T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// What a manifest costs grows as it does, and one that is nested without end costs next to nothing.
func TestManifestsCostTheirLength(t *testing.T) { //nolint:paralleltest // it counts allocations
	cost := func(manifest string) float64 {
		return testing.AllocsPerRun(3, func() { _, _ = contentOf(jsontext.Value(manifest), "") })
	}
	nested := func(open, end string, n int) string { return strings.Repeat(open, n) + "1" + strings.Repeat(end, n) }
	// These are few, and one more is of a pool that was emptied meanwhile.
	require.Less(t, cost(nested(`{"a":`, "}", 9900)), 2*cost(nested(`{"a":`, "}", maxDepth+1)))
	require.Less(t, cost(nested("[", "]", 9900)), 2*cost(nested("[", "]", maxDepth+1)))
	message := string(value(t, human("x")))
	wide := func(n int) string {
		metadata := `[` + message + strings.Repeat(","+message, n) + `]`
		return strings.Replace(string(value(t, lc("PromptTemplate", m{"template": "x", "metadata": 1}))),
			`"metadata":1`, `"metadata":`+metadata, 1)
	}
	_, err := contentOf(jsontext.Value(wide(1)), "")
	require.NoError(t, err)
	require.Less(t, cost(wide(1000)), 2.2*cost(wide(500)))
	// Each example is said by a template that is read once.
	few := func(n int) string {
		return string(value(t, lc("FewShotChatMessagePromptTemplate", m{"example_prompt": m{
			"lc": 1, "type": "constructor", "id": []string{"langchain_core", "HumanMessagePromptTemplate"},
			"kwargs": m{"prompt": lc("PromptTemplate",
				m{"template": "x", "template_format": "f-string", "input_variables": repeated("v", 10_000)})},
		}, "examples": repeated(m{}, n)})))
	}
	_, err = contentOf(jsontext.Value(few(2)), "")
	require.NoError(t, err)
	require.Less(t, cost(few(200)), 1.5*cost(few(2)))
}

func TestCommitHashes(t *testing.T) {
	t.Parallel()
	hash := commitHash("01ARZ3NDEKTSV4RRFFQ69G5FAV", 26, "abc")
	require.Len(t, hash, hashDigits)
	require.EqualValues(t, 26, numbered(hash))
	require.EqualValues(t, 26, numbered(hash[:8]))
	for _, s := range []string{
		"", "production", hash[:7], hash + "0", "-0000001",
		fmt.Sprintf("%040d", 0), "latest.one",
	} {
		require.Zero(t, numbered(s), s)
	}
}

// TestManifestsOfPython: what Python's classes write comes back as it was, and says what can be
// said of it here.
func TestManifestsOfPython(t *testing.T) {
	t.Parallel()
	chat := func(more m, messages ...any) m {
		kwargs := m{"input_variables": []string{}, "messages": messages}
		for name, value := range more {
			kwargs[name] = value
		}
		return lc("ChatPromptTemplate", kwargs)
	}
	history := lc("MessagesPlaceholder", m{"variable_name": "history", "optional": true})
	image := lc("ImagePromptTemplate", m{"input_variables": []string{"img"}, "template": m{"url": "{img}"}})
	for name, tt := range map[string]struct {
		manifest m
		says     []string
	}{
		"an optional placeholder": {
			chat(m{"partial_variables": m{"history": []any{}}, "optional_variables": []string{"history"}},
				human("Be kind."), history, human("{q}")), []string{"Be kind.", "", "{{q}}"},
		},
		"placeholder alone": {
			chat(m{"partial_variables": m{"history": nil}}, history, human("{q}")),
			[]string{"", "{{q}}"},
		},
		"a number": {
			chat(m{"partial_variables": m{"n": 3}}, human("{n} of {q}")),
			[]string{"{{n}} of {{q}}"},
		},
		"an object": {chat(m{"partial_variables": m{"n": m{"a": 1}}}, human("{n}")), []string{"{{n}}"}},
		"two texts": {
			chat(nil, lc("HumanMessagePromptTemplate", m{"prompt": []any{textOf("First {q}"), textOf("Second")}})),
			[]string{"First {{q}}\nSecond"},
		},
		"a list of one text": {
			chat(nil, lc("SystemMessagePromptTemplate", m{"prompt": []any{textOf("Only")}})),
			[]string{"Only"},
		},
		"a picture alone": {
			chat(nil, lc("HumanMessagePromptTemplate", m{"prompt": []any{image}}), human("{q}")), []string{"{{q}}"},
		},
		"a picture": {
			chat(nil, lc("HumanMessagePromptTemplate", m{"prompt": []any{textOf("Look at {q}"), image}})),
			[]string{"Look at {{q}}"},
		},
		"a text that is cached": {
			chat(nil, lc("SystemMessage",
				m{"content": []any{m{"type": "text", "text": "Long", "cache_control": m{"type": "ephemeral"}}}}),
				human("{q}")), []string{"Long", "{{q}}"},
		},
		"a call of a tool": {
			chat(nil, human("{q}"), lc("AIMessage",
				m{"content": "", "tool_calls": []any{m{"name": "f", "args": m{}, "id": "1"}}}),
				lc("ToolMessage", m{"content": "42", "tool_call_id": "1"})), []string{"{{q}}", "42"},
		},
		"a picture in a message": {
			chat(nil, lc("HumanMessage",
				m{"content": []any{
					m{"type": "image_url", "image_url": m{"url": "x"}},
					m{"type": "text", "text": "See"},
				}})), []string{"See"},
		},
		"an empty text of a system": {chat(nil, human(""), human("{q}")), []string{"{{q}}"}},
		"a part as a bare text":     {chat(nil, lc("HumanMessage", m{"content": []any{"a", "b"}})), []string{"a\nb"}},
		"true as a default": {
			lc("PromptTemplate", m{
				"template": "{a} {b} {c}", "template_format": "f-string",
				"input_variables": []string{}, "partial_variables": m{"a": true, "b": 1.5, "c": []any{}},
			}),
			[]string{"{{a:true}} {{b:1.5}} {{c}}"},
		},
	} {
		pushed := value(t, tt.manifest)
		require.NoError(t, pushed.Canonicalize())
		c, err := contentOf(pushed, "")
		require.NoError(t, err, name)
		got := []string{c.Text}
		if c.Kind == prompt.KindChat {
			got = nil
			for _, message := range c.Messages {
				got = append(got, message.Content)
			}
		}
		require.Equal(t, tt.says, got, name)
		pulled, err := manifestOf(c)
		require.NoError(t, err, name)
		require.JSONEq(t, string(pushed), string(pulled), name)
	}
	for name, manifest := range map[string]m{
		"a model": chat(nil, m{
			"lc": 1, "type": "constructor", "id": []string{"langchain", "chat_models", "ChatOpenAI"},
			"kwargs": m{},
		}),
		"no role": chat(nil, textOf("x")), "a number": chat(nil, lc("HumanMessage", m{"content": 5})),
		"examples as a message": chat(nil,
			lc("HumanMessagePromptTemplate", m{"prompt": lc("FewShotPromptTemplate", m{})})),
		"nothing": chat(nil, lc("HumanMessagePromptTemplate", m{})),
	} {
		_, err := contentOf(value(t, manifest), "")
		require.Error(t, err, name)
	}
}
