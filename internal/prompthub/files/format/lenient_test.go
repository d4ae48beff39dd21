package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/files/format"
)

// TestFrontMatterAsPeopleWriteIt: the kinds of faults that files of public repositories have. Each
// file comes back as it was, and a changed one is valid YAML.
func TestFrontMatterAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for front, want := range map[string][2]string{ // the description, and a part of the first warning
		// after mintlify/docs#6061, catlog22/Claude-Code-Workflow#143, multica-ai/multica#3851,
		// BuilderIO/skills#38, tanweai/pua#147, pbakaus/impeccable#102, engenheirodevideo/get-brolls#50
		"description: Use when making films: cuts, captions (a, b)\nmetadata:\n    made-by: x\n    version: \"1.0\"": {
			"Use when making films: cuts, captions (a, b)", "line 2",
		},
		"description: A review by three roles: one, two. Starts on \"team\".": {
			"A review by three roles: one, two. Starts on \"team\".", "line 2",
		},
		"description: Plans (Phase 1: plan, Phase 2: do). Starts on \"plan\".": {
			"Plans (Phase 1: plan, Phase 2: do). Starts on \"plan\".", "line 2",
		},
		"description: 唠叨模式 — Triggers on: '/pua', '/pua now'": {
			"唠叨模式 — Triggers on: '/pua', '/pua now'", "line 2",
		},
		"description: Makes it ready: errors, i18n\nlicense: Apache 2.0: see LICENSE": {
			"Makes it ready: errors, i18n", "line 2",
		},
		// rules of Cursor
		"description:\nglobs: **/*.ts,**/*.tsx      # only these\nalwaysApply: false": {"", ""},
		"globs: **/*.{ts,tsx}\ndescription: Speed":                                    {"Speed", ""},
		"description: Use when: the user asks": {
			"Use when: the user asks", `line 2: description is not valid YAML`,
		},
		"description: Runs a review: bugs, style (see #4)": {
			"Runs a review: bugs, style (see #4)", "line 2",
		},
		"description: 'Don't use this for tests'": {
			"Don't use this for tests", "line 2",
		},
		"description: \"Say \"hello\" to people\"": {
			`Say "hello" to people`, "line 2",
		},
		"description: 'a' or 'b', as you like: 'c'": {
			"'a' or 'b', as you like: 'c'", "line 2",
		},
		"argument-hint: [from] [to]\ndescription: a: b":                 {"a: b", "line 3: description"},
		"argument-hint: [issue]\ntools: *\nglobs: *.go\ndescription: c": {"c", ""},
		"description: Closes #12 and says so": {
			"Closes", "line 2: description ends before \"#12 and says so\"",
		},
		"description: Closes it # a note": {"Closes it", ""},
		"description: @team asks first":   {"@team asks first", "line 2"},
		"description: `go vet` and more":  {"`go vet` and more", "line 2"},
		"description: %d is a number":     {"%d is a number", "line 2"},
		"description: *.go files":         {"*.go files", "line 2"},
		"description: [draft] writes mails": {
			"[draft] writes mails", "line 2",
		},
		"description: {name} is greeted: kindly": {
			"{name} is greeted: kindly", "line 2",
		},
		"description: Long: it goes\n  on here: and here": {
			"Long: it goes on here: and here", "line 2",
		},
		"description:\tWith a tab": {"With a tab", ""},
		"description: >\n  Folded: text\n  of two lines\n": {
			"Folded: text of two lines\n", "",
		},
		"description: C:\\new\\path: a folder": {
			`C:\new\path: a folder`, "line 2",
		},
		"description: 1.10":                        {"1.10", ""},
		"description: 0123":                        {"0123", ""},
		"description: 2026-01-01":                  {"2026-01-01", ""},
		"description: True":                        {"True", ""},
		"description: yes":                         {"yes", ""},
		"DESCRIPTION: Shouted":                     {"Shouted", ""},
		"Description: Capital\ndescription: small": {"small", ""},
		"description: [finds, \"removes: it\"]":    {"finds, removes: it", ""},
		"description:\n- one\n- two":               {"one, two", ""},
		"description: a\ndescription: b": {
			"a", "line 3: \"description\" stands there twice",
		},
		"tags:\n\t- a\n\t- b\ndescription: Tabs in a list":             {"Tabs in a list", ""},
		"globs: *.ts,*.tsx\nalwaysApply: false\ndescription: As rules": {"As rules", ""},
		"just a line\ndescription: After it": {
			"After it", "line 2: is no member",
		},
		"# a comment\ndescription: a: b\n# another":                                   {"a: b", "line 3"},
		"allowed-tools: Read, Grep\nmetadata:\n  author: me\ndescription: note: well": {"note: well", "line 5"},
	} {
		t.Run(front, func(t *testing.T) {
			t.Parallel()
			file := []byte("---\n" + front + "\n---\n\nDo {{it}}.\n")
			d, err := format.Read(format.Skill, "a-skill/SKILL.md", file)
			require.NoError(t, err)
			require.Equal(t, want[0], d.Description)
			require.Equal(t, "a-skill", d.Name)
			require.Equal(t, "Do {{it}}.", d.Text)
			if want[1] == "" {
				require.Empty(t, d.Warnings)
			} else {
				w := d.Warnings[0]
				require.Contains(t, fmt.Sprintf("line %d: %s", w.Line, w.Text), want[1])
			}
			same, _, err := format.Rewrite(format.Skill, "a-skill/SKILL.md", file, d)
			require.NoError(t, err)
			require.Equal(t, string(file), string(same))

			d.Text = "Do not."
			changed, _, err := format.Rewrite(format.Skill, "a-skill/SKILL.md", file, d)
			require.NoError(t, err)
			back, err := format.Read(format.Skill, "a-skill/SKILL.md", changed)
			require.NoError(t, err)
			require.Empty(t, back.Warnings, "what we write is YAML: %s", changed)
			require.Equal(t, d.Description, back.Description)
			require.Equal(t, d.Extra, back.Extra)
		})
	}
}

// TestLenientAgreesWithYAML: a member reads the same whether the YAML around it is accepted, or
// refused because of another member; and no member is lost.
func TestLenientAgreesWithYAML(t *testing.T) {
	t.Parallel()
	values := []string{
		"plain words", `"quoted: text"`, `'it''s'`, "12", "1.50", "true", "[a, b]", "[a, \"b: c\"]", "{x: 1, y: [2]}",
		"|\n  two\n  lines\n", ">-\n  folded\n  text\n",
		"\n  - a\n  - b: c\n", "\n  nested: 1\n  more: {z: 2}\n", "", "~", "text # with a comment", "# only a comment",
		"&anchored x", "!!str 5", "2026-01-01",
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "members")
		var good strings.Builder
		for i := range n {
			value := rapid.SampledFrom(values).Draw(t, "value")
			fmt.Fprintf(&good, "key%d: %s\n", i, value)
			if rapid.Bool().Draw(t, "blank") {
				good.WriteString("\n")
			}
		}
		read := func(front string) format.Document {
			d, err := format.Read(format.Markdown, "a.md", []byte("---\n"+front+"---\nx"))
			require.NoError(t, err, front)
			return d
		}
		strict := read(good.String())
		require.Empty(t, strict.Warnings)
		// the same, and a member that no YAML is
		lenient := read("broken: @a: b\n" + good.String())
		require.Len(t, lenient.Warnings, 1)
		require.Len(t, lenient.Extra.Members, n+1)
		require.Equal(t, strict.Extra.Members, lenient.Extra.Members[1:], good.String())
	})
}
