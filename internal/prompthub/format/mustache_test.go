package format_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/format"
	"prompthub/internal/prompthub/prompt"
)

func template(t *testing.T, text, syntax string) format.Document {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	d, err := format.Read(format.LangChain, "a.json", fmt.Appendf(nil, `{"lc":1,"type":"constructor","id":["langchain_core","prompts","prompt","PromptTemplate"],
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
		"{{{{a}}}}": "would be placeholders", "{a!r}": "the brace at byte 0", "x {a:>10}": "the brace at byte 2", "{": "the brace at byte 0", "{0}": "the brace at byte 0",
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
	require.Equal(t, []prompt.Message{{Role: "system", Content: "You help."}, {Placeholder: "history"}, {Role: "user", Content: "{{question}}"}}, chat.Messages)
}
