package skill_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

func TestFile(t *testing.T) {
	t.Parallel()
	def := "formal"
	s, ok := skill.Of(prompt.Prompt{
		ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Slug: "write-a-letter", Versions: prompt.Versions{Version: 3},
		Draft: prompt.Draft{
			Title: "Write a letter", Description: `Says "hello": a \ letter`,
			Text: "To {{name}}, in a {{tone}} tone.\n",
			Variables: []prompt.Variable{
				{Name: "name", Required: true, Description: "Whom to write to."},
				{Name: "tone", Default: &def},
			},
		},
	})
	require.True(t, ok)
	require.Equal(t, `---
name: "write-a-letter"
description: "Says \"hello\": a \\ letter"
metadata:
  prompthub-id: "01ARZ3NDEKTSV4RRFFQ69G5FAV"
  prompthub-version: "3"
---

To {{name}}, in a {{tone}} tone.

## Values

Put these values in the places of `+"`{{name}}`"+` above. Ask for those that are missing.

- `+"`name`"+`: Whom to write to.
- `+"`tone`"+`: Default: "formal".
`, string(s.File()))
	require.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", skill.Digest(nil))
}

// TestNoRawPlaceholders: whatever a text says of its variables, the file has {{name}} in the places
// of their values, and tells defaults whole and choices in the list of them.
func TestNoRawPlaceholders(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 60) + "end"
	s, ok := skill.Of(prompt.Prompt{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Slug: "raw", Draft: prompt.Draft{
		Title: "Raw", Kind: prompt.KindChat,
		Messages: []prompt.Message{
			{Role: "system", Content: "Be {{tone:warm}}, ${place}, {{size:big|small}} and {{my day}}."},
			{Role: "user", Content: "${what:" + long + "} {{ tone }}"},
		},
	}})
	require.True(t, ok)
	_, body, _ := strings.Cut(string(s.File()), "---\n\n")
	require.Equal(t, "## system\n\nBe {{tone}}, {{place}}, {{size}} and {{my_day}}.\n\n## user\n\n{{what}} {{ tone }}\n\n## Values\n\n"+
		"Put these values in the places of `{{name}}` above. Ask for those that are missing.\n\n- `tone`: Default: \"warm\".\n- `place`\n"+
		"- `size`: One of \"big\", \"small\". Default: \"big\".\n- `my_day`: my day\n- `what`: Default: \""+long+
		"\".\n", body)
}

func TestChat(t *testing.T) {
	t.Parallel()
	s, ok := skill.Of(prompt.Prompt{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Slug: "chat", Draft: prompt.Draft{
		Title: "Chat", Kind: prompt.KindChat,
		Messages: []prompt.Message{
			{Role: "system", Content: "Be brief."},
			{Placeholder: "history"},
			{Role: "user", Content: "Hi"},
		},
	}})
	require.True(t, ok)
	_, body, _ := strings.Cut(string(s.File()), "---\n\n")
	require.Equal(t, "## system\n\nBe brief.\n\n## Messages called history\n\n## user\n\nHi\n", body)
}

func TestWhatIsNoSkill(t *testing.T) {
	t.Parallel()
	for _, p := range []prompt.Prompt{
		{Slug: "", Draft: prompt.Draft{Text: "x"}},
		{Slug: "a--b", Draft: prompt.Draft{Text: "x"}},
		{Slug: "a"},
		{Slug: "a", Draft: prompt.Draft{Text: " \n"}},
		{Slug: "a", Draft: prompt.Draft{Text: "@@@langfusePrompt:name=other|label=production@@@"}},
	} {
		_, ok := skill.Of(p)
		require.False(t, ok)
	}
}

// The head of every file says in YAML what the front matter says in JSON, within the limits of the
// standard.
func TestHeadIsYAML(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := prompt.Prompt{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Slug: "slug"}
		p.Title, p.Text = rapid.String().Draw(t, "title"), "x"+rapid.String().Draw(t, "text")
		p.Description = rapid.SampledFrom([]string{"", "---", "a -- b --- c ----"}).Draw(t, "rule") +
			rapid.StringN(0, 1000, 1000).Draw(t, "description")
		s, ok := skill.Of(p)
		require.True(t, ok)
		file := s.File()
		require.Equal(t, file, s.File())
		rest, ok := strings.CutPrefix(string(file), "---\n")
		head, _, closed := strings.Cut(rest, "---")
		require.True(t, ok && closed)
		var asYAML map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(head), &asYAML))
		b, err := json.Marshal(s.FrontMatter)
		require.NoError(t, err)
		var asJSON map[string]any
		require.NoError(t, json.Unmarshal(b, &asJSON))
		require.Equal(t, asJSON, asYAML)
		require.NotEmpty(t, strings.TrimSpace(s.Description))
		require.LessOrEqual(t, len(s.Description), 3*1024)
	})
}
