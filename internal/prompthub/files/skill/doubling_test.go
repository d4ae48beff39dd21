package skill_test

import (
	"slices"
	"strings"
	"testing"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/doubling"
)

// TestDoubling: what a function takes grows in proportion to the text that it is given.
func TestDoubling(t *testing.T) {
	of := func(s string) prompt.Prompt {
		return prompt.Prompt{
			ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Slug: "s",
			Draft: prompt.Draft{Title: s, Description: s, Text: s},
		}
	}
	chat := func(s string) prompt.Prompt {
		p := of(s)
		p.Kind, p.Text = prompt.KindChat, ""
		for line := range strings.Lines(s) {
			p.Messages = append(p.Messages, prompt.Message{Role: "user", Content: line})
		}
		return p
	}
	head := func(s string) []byte { return []byte("---\ndescription:" + s + "\n  " + s + "\n---\n" + s) }
	funcs := []doubling.Func{
		{Name: "Of", With: func(s string) func() { return func() { skill.Of(of(s)) } }},
		{Name: "Of (chat)", With: func(s string) func() { p := chat(s); return func() { skill.Of(p) } }},
		{Name: "Head", With: func(s string) func() { return func() { skill.Head(of(s), s, 1) } }},
		{Name: "Summarize", With: func(s string) func() { p := chat(s); return func() { skill.Summarize(p) } }},
		{Name: "Skill.File", With: func(s string) func() { x, _ := skill.Of(of(s)); return func() { x.File() } }},
		{Name: "Bundled", With: func(s string) func() {
			p, all := of(s), map[string][]byte{}
			f := prompt.NewFile(prompt.FileBytes{Path: "a", Bytes: []byte(s)})
			p.Files = prompt.Files{f}
			return func() { all[f.SHA256] = []byte(s); _, _ = skill.Bundled(p, all) }
		}},
		{Name: "Folder", With: func(s string) func() {
			f := prompt.NewFile(prompt.FileBytes{Path: "a", Bytes: []byte(s)})
			return func() { skill.Folder(prompt.Files{f}, map[string][]byte{f.SHA256: []byte(s)}) }
		}},
		{Name: "Plugin", With: func(s string) func() {
			return func() { skill.Plugin(of(s), []prompt.FileBytes{{Path: "a", Bytes: []byte(s)}}) }
		}},
		{Name: "MarketplaceName", With: func(s string) func() { return func() { skill.MarketplaceName(s) } }},
		{Name: "Manifest", With: func(s string) func() { return func() { skill.Manifest(s, s, s, s) } }},
		{Name: "Library", With: func(s string) func() { return func() { skill.Library(s, s, true) } }},
		{Name: "List", With: func(s string) func() { return func() { skill.List("a", of(s)) } }},
		{Name: "Line", With: func(s string) func() { return func() { skill.Line("a", "b", s) } }},
		{Name: "Measure", With: func(s string) func() {
			list := slices.Repeat([]skill.Listed{{Name: "a:b", Characters: 9}}, len(s)/10)
			return func() { skill.Measure(list).Cut() }
		}},
		{Name: "InPlugin", With: func(s string) func() {
			return func() { skill.InPlugin(s, []prompt.FileBytes{{Path: "a", Bytes: []byte(s)}}) }
		}},
		{Name: "Split", With: func(s string) func() { b := head(s); return func() { skill.Split(b) } }},
		{Name: "TextOf", With: func(s string) func() { b := head(s); return func() { skill.TextOf(b) } }},
		{Name: "WithText", With: func(s string) func() { b := head(s); return func() { skill.WithText(b, s) } }},
		{Name: "WithDescription", With: func(s string) func() {
			b := head(s)
			return func() { skill.WithDescription(b, s) }
		}},
		{Name: "WithName", With: func(s string) func() { b := head(s); return func() { skill.WithName(b, s) } }},
		{Name: "Editable", With: func(s string) func() { b := head(s); return func() { skill.Editable(b) } }},
		{Name: "LicenseIn", With: func(s string) func() { b := head(s); return func() { skill.LicenseIn(b) } }},
		{Name: "NameIn", With: func(s string) func() { b := head(s); return func() { skill.NameIn(b) } }},
		{Name: "Sum", With: func(s string) func() { b := []byte(s); return func() { skill.Sum(b) } }},
		{Name: "Digest", With: func(s string) func() { b := []byte(s); return func() { skill.Digest(b) } }},
	}
	doubling.Listed(t, funcs, map[string][]string{"counts in a list that Measure made": {"Budget.Cut", "Budget.Limit"}})
	doubling.Check(t, funcs)
}
