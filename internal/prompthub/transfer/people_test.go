package transfer_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

// A meant is the meaning of a file: the members that the test names. A warning is a part of the
// first one.
type meant struct {
	name, title, description, text, tags, own, visibility, warning string
	messages                                                       int
}

// utf16le returns a text as programs for tables save it as Unicode.
func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func utf16be(s string) string {
	b := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}

// TestFilesOfPeople: files that are not as their format wants them, after files of public
// repositories and exports of other programs, and their meaning. Front matter is tested in package
// format.
func TestFilesOfPeople(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("many words ", 30)
	for what, tt := range map[string]struct {
		name, file string
		want       []meant
	}{
		// names
		"a lone skill with a heading": {
			"SKILL.md", "# PDF Tools\n\nMerge files.",
			[]meant{{name: "pdf-tools", title: "PDF Tools"}},
		},
		"a lone skill without one": {
			"SKILL.md", "Merge files into one.",
			[]meant{{name: "merge-files-into-one", warning: "there is no title"}},
		},
		"a skill in a folder":             {"pdf/SKILL.md", "# PDF Tools\n\nMerge files.", []meant{{name: "pdf"}}},
		"a skill that is called a number": {"SKILL.md", "---\nname: 2048\n---\nPlay.", []meant{{name: "2048"}}},
		"an agent": {
			"reviewer.agent.md", "---\nname: The Reviewer\n---\nReview.",
			[]meant{{name: "reviewer", title: "The Reviewer"}},
		},
		"an agent in a folder": {
			".github/agents/reviewer.agent.md", "Review.",
			[]meant{{name: "reviewer", title: "reviewer"}},
		},
		"instructions": {
			"go.instructions.md", "---\napplyTo: **/*.go\n---\nUse gofmt.",
			[]meant{{name: "go", text: "Use gofmt.", warning: "applyTo is not valid YAML"}},
		},
		"a chat mode": {
			"Plan.chatmode.md", "---\ndescription: Plans\ntools: ['read']\n---\nPlan.",
			[]meant{{name: "Plan", description: "Plans"}},
		},
		"a rule of Cursor": {
			"a/rust.mdc", "---\ndescription:\nglobs: **/*.rs\nalwaysApply: true\n---\nUse clippy.",
			[]meant{{name: "rust", text: "Use clippy."}},
		},
		"a Russian title": {
			"a.csv", "act,prompt\nПереводчик,Переведи",
			[]meant{{name: "perevodchik", title: "Переводчик"}},
		},
		"a Chinese title":  {"a.csv", "act,prompt\n翻译助手,翻译", []meant{{name: "fan-yi-zhu-shou"}}},
		"a Danish title":   {"a.csv", "act,prompt\nÆrlig,Svar", []meant{{name: "aerlig"}}},
		"a Greek title":    {"a.csv", "act,prompt\nΜεταφραστής,x", []meant{{name: "metaphrastes"}}},
		"a Japanese title": {"a.csv", "act,prompt\nガイド,x", []meant{{name: "gaido"}}},
		"a Markdown file": {
			"notes/My Prompt.md", "Do it.",
			[]meant{{name: "My Prompt", title: "My Prompt"}},
		},
		// encodings
		"UTF-16 of a program for tables": {
			"a.csv", utf16le("act\tprompt\r\nÜbersetzer\t\"Zeile \"\"1\"\"\"\r\n"),
			[]meant{{title: "Übersetzer", text: `Zeile "1"`}},
		},
		"UTF-16, the other end first": {"a.csv", utf16be("act,prompt\r\nA,B\r\n"), []meant{{title: "A", text: "B"}}},
		"Markdown in UTF-16": {
			"a.md", utf16le("---\ntitle: Größe\n---\nText ☺"),
			[]meant{{title: "Größe", text: "Text ☺"}},
		},
		"JSON in UTF-16": {"a.json", utf16le(`[{"title":"é","text":"x"}]`), []meant{{title: "é"}}},
		"Markdown in Windows-1252": {
			"a.md", "---\ntitle: Gr\xf6\xdfe\n---\nPrice: 5 \x80",
			[]meant{{title: "Größe", text: "Price: 5 €", warning: "read as Windows-1252"}},
		},
		"CSV in Windows-1252": {
			"a.csv", "act,prompt\nCaf\xe9,\x93quoted\x94\nPlain,x\n",
			[]meant{{title: "Café", text: "“quoted”", warning: "read as Windows-1252"}, {title: "Plain"}},
		},
		"a byte order mark of UTF-8": {"a.csv", "\ufeffact,prompt\nA,B\n", []meant{{title: "A"}}},
		// CSV
		"spaces before quotes": {
			"a.csv", "act, prompt\n\"A\", \"b, \"\"c\"\"\"\n",
			[]meant{{title: "A", text: `b, "c"`}},
		},
		"rows without empty cells": {
			"a.csv", "act,prompt,type,contributor\nA,B\nC,D,,\nE,F,TEXT,,,,\n",
			[]meant{{title: "A"}, {title: "C"}, {title: "E", tags: "text"}},
		},
		"columns of other names": {"a.csv", "Title,Content\nA,B\n", []meant{{title: "A", text: "B"}}},
		"name and text":          {"a.csv", "NAME;TEXT\nA;B\n", []meant{{title: "A", text: "B"}}},
		"a name next to a title": {
			"a.csv", "name,title,text\nx/y,A,B\n",
			[]meant{{name: "x/y", title: "A", text: "B"}},
		},
		"a tag that the catalog lacks": {"a.csv", "act,prompt,type\nA,B,HAIKU\n", []meant{{own: "haiku"}}},
		"no title": {
			"a.csv", "act,prompt\n,Write a poem about rain\n",
			[]meant{{title: "Write a poem about rain", warning: "there is no title"}},
		},
		// JSON
		"act and prompt": {
			"a.json", `[{"act":"A","prompt":"B"},{"act":"C","prompt":"D","tags":null}]`,
			[]meant{{title: "A", text: "B"}, {title: "C", text: "D"}},
		},
		"key and value": {"a.json", `[{"key":"A","value":"B"}]`, []meant{{title: "A", text: "B"}}},
		"title and prompt": {
			"a.json", `[{"title":"A","prompt":"B","category":"c"}]`,
			[]meant{{title: "A", text: "B"}},
		},
		"a list under data.prompts": {
			"a.json", `{"ok":true,"data":{"total":1,"prompts":[{"name":"A","content":"B"}]}}`,
			[]meant{{title: "A", text: "B"}},
		},
		"a list under data": {
			"a.json", `{"data":[{"title":"A","content":"B","description":"C"}]}`,
			[]meant{{title: "A", text: "B", description: "C"}},
		},
		"a chat whose contents have parts": {"a.json", `{"title":"A","messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}]}`, []meant{{title: "A", messages: 2}}},
		"a chat with a picture":            {"a.json", `{"title":"A","messages":[{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"x"}}]}]}`, []meant{{messages: 1, warning: `messages[0].content[1] is of the type "image_url"`}}},
		"a prompt of LangChain's old hub": {
			"q/basic.json",
			`{"input_variables":["a"],"output_parser":null,"template":"B {a}","template_format":"f-string"}`,
			[]meant{{name: "basic", title: "basic", text: "B {a}"}},
		},
		"a chat without a title": {
			"a.json", `{"model":"m","messages":[{"role":"user","content":"Tell me a story, please"}]}`,
			[]meant{{title: "Tell me a story, please", messages: 1, warning: "there is no title"}},
		},
		"Langfuse with an empty message": {
			"a.json", `{"name":"q","type":"chat","prompt":[{"role":"system","content":""},{"role":"user","content":"{{q}}"}]}`, []meant{{name: "q", messages: 1, warning: "messages that say nothing are left out: 1"}},
		},
		"Open WebUI with tags": {
			"a.json", `[{"command":"/a","title":"A","content":"B","tags":["Writing","two words"]}]`,
			[]meant{{name: "a", tags: "writing", own: "two words"}},
		},
		// exports of prompt libraries: after necrokot-org/prompt-manager, b08x/SFLPromptArchitect and
		// others
		"an export with statistics": {"a.json", `{"version":"1.0","exportedAt":"2025-12-29T10:30:00Z","statistics":{"total":1},"prompts":[{"id":17,"title":"A","content":"B","userRating":4,"model":"m"}]}`, []meant{{title: "A", text: "B"}}},
		"an export with a count":    {"a.json", `{"version":"1.0","exported_at":"x","total_count":1,"prompts":[{"title":"A","content":"B","tags":["Work stuff"]}]}`, []meant{{title: "A", own: "Work stuff"}}},
		"a body": {
			"a.json", `[{"id":"1","user_id":"u","title":"A","body":"B","metadata":{"x":1}}]`,
			[]meant{{title: "A", text: "B"}},
		},
		"a label that is not kept": {
			"a.md", "---\nname: support\ntype: text\nversion: 5\nlabels:\n  - production\n  - latest\n---\n\nHelp.",
			[]meant{{name: "support", text: "Help."}},
		},
		"nulls": {"a.json", `{"title":"A","text":"B","name":null,"tags":null,"config":null,"messages":null,"variables":null,"kind":null}`, []meant{{title: "A", text: "B"}}},
		"numbers where texts are meant": {
			"a.json", `[{"title":2048,"text":7.50},{"act":true,"prompt":"B"}]`,
			[]meant{{title: "2048", text: "7.50"}, {title: "true"}},
		},
		"tags as one text": {
			"a.json", `[{"title":"A","text":"B","tags":"writing, rain and snow,"}]`,
			[]meant{{tags: "writing", own: "rain and snow"}},
		},
		"tags as objects": {
			"a.json", `{"prompts":[{"title":"A","content":"B","tags":[{"id":1,"name":"Writing"},3,null]}]}`,
			[]meant{{tags: "writing", own: "3"}},
		},
		"a visibility in capitals": {
			"a.json", `[{"title":"A","text":"B","visibility":"Public"}]`,
			[]meant{{title: "A", visibility: "public"}},
		},
		"a visibility of others": {
			"a.md", "---\ntitle: A\nvisibility: team\n---\nB",
			[]meant{{title: "A", warning: `the visibility "team" is neither private nor public`}},
		},
		// rejected by the strict reader
		"a title that is too long": {
			"a.csv", "act,prompt\n" + long + ",x\n",
			[]meant{{
				title:   strings.TrimSpace(strings.Repeat("many words ", 18)),
				warning: "the title has 329 characters and was cut after 197, of 200",
			}},
		},
		"a title of several lines": {
			"a.csv", "act,prompt\n\"A\nB\",x\n",
			[]meant{{title: "A B", warning: "several lines"}},
		},
		"a description that is too long": {
			"a.md", "---\ntitle: A\ndescription: " + strings.Repeat("many words ", 800) + "\n---\nx",
			[]meant{{title: "A", warning: "the description has 8799 characters"}},
		},
		"a long description of an agent": {"a.agent.md", "---\ndescription: " + strings.Repeat("many words ", 300) +
			"\n---\nx", []meant{{name: "a"}}},
		"a long description of a skill": {
			"a/SKILL.md", "---\nname: a\ndescription: " + strings.Repeat("many words ", 300) + "\n---\nx",
			[]meant{{name: "a", warning: "programs that read skills get the first 1024"}},
		},
		"a file that says who may see it": {"a.md", "---\nvisibility: public\n---\nx", []meant{{visibility: "public"}}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, _ := newService(t)
			items := take(t, s, tt.file, transfer.Options{File: tt.name})
			require.Len(t, items, len(tt.want))
			for i, want := range tt.want {
				item := items[i]
				require.Equal(t, transfer.Created, item.Outcome, item.Reason)
				p, err := s.Get(t.Context(), ann, item.ID)
				require.NoError(t, err)
				require.NotEqual(t, "SKILL", p.Name)
				var tags []string
				for _, tag := range p.Tags {
					tags = append(tags, string(tag))
				}
				for _, of := range []struct{ want, is string }{
					{want.name, p.Name},
					{want.title, p.Title},
					{want.description, p.Description},
					{want.text, p.Text},
					{want.tags, strings.Join(tags, ",")},
					{want.own, strings.Join(p.OwnTags, ",")},
				} {
					if of.want != "" {
						require.Equal(t, of.want, of.is)
					}
				}
				require.Len(t, p.Messages, want.messages)
				require.Equal(t, cmp.Or(want.visibility, "private"), string(p.Visibility))
				if want.warning == "" {
					require.Empty(t, item.Warnings)
				} else {
					require.NotEmpty(t, item.Warnings)
					require.Contains(t, item.Warnings[0].Text, want.warning)
				}
			}
			for _, item := range take(t, s, tt.file, transfer.Options{File: tt.name, Visibility: "public"}) {
				require.Equal(t, transfer.Unchanged, item.Outcome, "the visibility is no part of it")
			}
		})
	}
}

// TestBrokenFilesOfPeople: a file, or an entry, that cannot be read says where, and the other
// entries go in.
func TestBrokenFilesOfPeople(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct{ name, file, want string }{
		"JSON with a comma too many": {
			"a.json", "[\n  {\"title\": \"A\", \"text\": \"B\"},\n]",
			`the file is no JSON: line 3, column 1: invalid character ']' at start of value`,
		},
		"the same in one line": {
			"a.json", `[{"title":"A","text":"B"},]`,
			`line 1, column 27: invalid character ']' at start of value`,
		},
		"JSON that ends early": {"a.json", "{\n\"title\": \"A", `line 2, column`},
		"half of a character": {
			"a.json", "{\n\"title\": \"A\",\n\"text\": \"\\ud83d!\"\n}",
			`line 3, column 10: \ud83d is half of a character, a lone surrogate`,
		},
		"UTF-16 that is cut off": {
			"a.csv", utf16le("act,prompt\nA,B\n")[:15],
			"cut off, or broken, in a character",
		},
		"only a byte order mark": {"a.csv", "\xff\xfe", "the file is empty"},
		"a program":              {"a.csv", "\x7fELF\x00\x00\x01", "the file is binary"},
		"deep JSON":              {"a.json", strings.Repeat("[", 10_000), ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, _ := newService(t)
			_, err := transfer.Import(t.Context(), s, ann, []byte(tt.file), transfer.Options{File: tt.name})
			require.ErrorContains(t, err, tt.want)
		})
	}
	s, _ := newService(t)
	deep := `{"title":"deep","text":"x","config":` + strings.Repeat(`{"a":`, 10_000) + "1" +
		strings.Repeat("}", 10_000) + "}"
	var many strings.Builder
	for i := range 10_000 {
		many.WriteString("k" + strings.Repeat("x", i%7) + ": 1\n")
	}
	items := take(t, s, string(archived(t, map[string]string{
		"a.md": "Good.", "b.jsonl": deep + "\n" + `{"title":"after it","text":"x"}`,
		"c.md": "---\ntitle: never ends\nText", "d.md": "---\n" + many.String() + "---\nx",
		"e.md": "---\na: &a [x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [" + strings.Repeat("*b,", 300) +
			"*b]\n---\nx", "f.md": "Good too.",
	})), transfer.Options{File: "a.zip"})
	said := map[string]string{}
	for _, i := range items {
		said[i.Place] = string(i.Outcome) + " " + i.Reason
	}
	require.Equal(t, "created ", said["a.md, line 1"])
	require.Contains(t, said["b.jsonl, line 1"], "rejected")
	require.Equal(t, "created ", said["b.jsonl, line 2"])
	require.Contains(t, said["c.md, line 1"], "has no end")
	require.Contains(t, said["d.md, line 1"], "created")
	require.Contains(t, said["e.md, line 1"], "rejected")
	require.Equal(t, "created ", said["f.md, line 1"])
}

// TestTextThatIsTooLong says which setting would take it, if one would.
func TestTextThatIsTooLong(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	items := take(t, s, `{"title":"A","text":"`+strings.Repeat("x", 4000)+`"}`+"\n"+`{"title":"B","text":"`+
		strings.Repeat("x", 140_000)+`"}`, transfer.Options{File: "a.jsonl"})
	require.Contains(t, items[0].Reason, "a service with MAX_TEXT=4000 would take it")
	require.Contains(t, items[1].Reason, "no service takes more than 131072")
}

// archived returns a ZIP archive of files.
func archived(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestStarter: the prompts for an empty library go in as they are, twice without a change, and show
// what a prompt can be.
func TestStarter(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	o := transfer.Options{File: transfer.StarterFile}
	items := take(t, s, string(transfer.Starter()), o)
	require.Len(t, items, 30)
	var variables, chats, includes, labels int
	for _, item := range items {
		require.Equal(t, transfer.Created, item.Outcome, "%s: %s", item.Name, item.Reason)
		require.Empty(t, item.Warnings, item.Name)
		p, err := s.GetByName(t.Context(), ann, library.IDOf(ann), item.Name, library.WantedVersion{})
		require.NoError(t, err)
		require.Equal(t, "public", string(p.Visibility))
		require.NotEmpty(t, p.Tags, item.Name)
		require.Empty(t, p.OwnTags, "%s: tags are of the catalog", item.Name)
		require.NotEmpty(t, p.Description)
		variables += min(len(p.Variables), 1)
		chats += min(len(p.Messages), 1)
		includes += min(len(p.Content().Includes()), 1)
		labels += min(len(p.Labels), 1)
		for _, v := range p.Content().Template().Variables {
			require.True(t, slices.ContainsFunc(p.Variables, func(d prompt.Variable) bool {
				return d.Name == v.Name
			}) || v.Name == "", "%s: %s is declared", item.Name, v.Name)
		}
	}
	require.Equal(t, []int{29, 2, 2, 2}, []int{variables, chats, includes, labels})
	for _, item := range take(t, s, string(transfer.Starter()), o) {
		require.Equal(t, transfer.Unchanged, item.Outcome, item.Name)
	}
}

// TestVisibilityOfOthers: a visibility that only another program knows never makes a prompt public.
func TestVisibilityOfOthers(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	items := take(t, s, `[{"title":"A","text":"B","visibility":"team"},{"title":"C","text":"D"}]`,
		transfer.Options{File: "a.json", Visibility: prompt.Public})
	for i, want := range []prompt.Visibility{prompt.Private, prompt.Public} {
		p, err := s.Get(t.Context(), ann, items[i].ID)
		require.NoError(t, err)
		require.Equal(t, want, p.Visibility)
	}
}
