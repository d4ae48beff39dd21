// Package dotprompt holds files of Dotprompt against the library of its makers. It is a module of
// its own, so that PromptHub does not depend on what only this test needs.
package dotprompt

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/dotprompt/go/dotprompt"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"prompthub/internal/prompthub/files/format"
)

// A template is a case of the specification.
type template struct {
	Name             string
	Template         string
	Partials         map[string]string
	ResolverPartials map[string]string `yaml:"resolverPartials"`
	Data             data
	Tests            []struct {
		Desc string
		Data data
	}
}

type data struct {
	Input    map[string]any
	Context  map[string]any
	Messages []map[string]any
}

// messages returns what the library makes of a template, or that it refuses it. Line ends after it
// all are left out: Dotprompt takes them away where a file has front matter, and only there.
func (c template) messages(source string, d data) string {
	partials := map[string]string{}
	for _, list := range []map[string]string{c.Partials, c.ResolverPartials} {
		for name, text := range list {
			partials[name] = text
		}
	}
	dp := dotprompt.NewDotprompt(&dotprompt.DotpromptOptions{Partials: partials})
	input := map[string]any{}
	for _, from := range []map[string]any{c.Data.Input, d.Input} {
		for name, value := range from {
			input[name] = value
		}
	}
	r, err := dp.Render(source, &dotprompt.DataArgument{Input: input, Context: d.Context}, nil)
	if err != nil {
		return "refused"
	}
	text := ""
	for _, m := range r.Messages {
		text += fmt.Sprintf("%s:", m.Role)
		for _, p := range m.Content {
			if part, ok := p.(*dotprompt.TextPart); ok {
				text += part.Text
				continue
			}
			text += fmt.Sprintf("%T%+v", p, p)
		}
		text += "\n"
	}
	return strings.TrimSpace(text)
}

// own are templates for where no specification is at hand.
var own = []template{
	{
		Name: "text", Template: "---\nmodel: m\ninput:\n  default:\n    who: you\n---\nHello {{who}}!\n",
		Tests: make([]struct {
			Desc string
			Data data
		}, 1),
	},
	{
		Name: "roles", Template: "{{role \"system\"}}Be {{mood}}.\n{{history}}{{role \"user\"}}Hi\n",
		Data: data{Input: map[string]any{"mood": "kind"}}, Tests: make([]struct {
			Desc string
			Data data
		}, 1),
	},
	{
		Name: "logic", Template: "{{#each list}}{{this}},{{/each}}{{#if no}}x{{else}}y{{/if}}",
		Data: data{Input: map[string]any{"list": []any{"a", "b"}}}, Tests: make([]struct {
			Desc string
			Data data
		}, 1),
	},
}

// TestSpecification: a template comes back as it was, and written anew it renders the same. Where
// DOTPROMPT_SPEC names the folder spec of github.com/google/dotprompt, these are all of its
// templates.
func TestSpecification(t *testing.T) {
	cases := own
	if dir := os.Getenv("DOTPROMPT_SPEC"); dir != "" {
		cases = nil
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			var list []template
			if err := yaml.Unmarshal(b, &list); err != nil {
				t.Logf("%s: %v", path, err)
				return nil
			}
			cases = append(cases, list...)
			return nil
		}))
	}
	templates, refused, renders := 0, 0, 0
	for _, c := range cases {
		if c.Template == "" || len(c.Tests) == 0 {
			continue
		}
		templates++
		file := []byte(c.Template)
		d, err := format.Read(format.Dotprompt, "case.prompt", file)
		if err != nil {
			refused++
			t.Logf("%s: %v", c.Name, err)
			continue
		}
		same, _, err := format.Rewrite(format.Dotprompt, "case.prompt", file, d)
		require.NoError(t, err)
		require.Equal(t, c.Template, string(same))
		d.Description = "Edited"
		anew, _, err := format.Write(format.Dotprompt, d)
		require.NoError(t, err, c.Name)
		for _, one := range c.Tests {
			want := c.messages(c.Template, one.Data)
			require.Equal(t, want, c.messages(string(anew), one.Data), "%s: %s\n%s", c.Name, one.Desc, anew)
			renders++
		}
	}
	t.Logf("%d templates, %d refused, %d renders the same", templates, refused, renders)
	require.Less(t, refused, templates)
}
