// Package skill owns what a prompt looks like as an Agent Skill, https://agentskills.io: one file,
// SKILL.md, with a head of YAML. The same prompt always gives the same bytes, so that its digest
// can be told in one answer and the file be read with another. It is pure.
package skill

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
)

// Format numbers how files are written. Digests are stored: where the same prompt gets other bytes,
// this is one more, and the digests of before count no longer.
const Format = 2

// A Skill is a prompt as a skill.
type Skill struct {
	FrontMatter
	body string
}

// FrontMatter is the head of the file. Its JSON says the same as the YAML that File writes.
type FrontMatter struct {
	Name        string   `json:"name"`              // the slug of the prompt
	Description string   `json:"description"`       // never empty
	Metadata    Metadata `json:"metadata,omitzero"` // of a file that is made of the text
}

// Metadata says which prompt a skill was made of.
type Metadata struct {
	ID      string `json:"prompthub-id"`
	Version string `json:"prompthub-version"`
}

// Of returns a prompt as a skill. It is false for one that has no slug or no content, or includes
// other prompts: the file would change with each of them.
func Of(p prompt.Prompt) (Skill, bool) { return of(p, p.About()) }

// of is Of for a prompt that is about something.
func of(p prompt.Prompt, about string) (Skill, bool) {
	body := body(p.Content())
	if !prompt.ValidSlug(p.Slug) || strings.TrimSpace(body) == "" || len(p.Content().Includes()) > 0 {
		return Skill{}, false
	}
	return Skill{body: body, FrontMatter: Head(p, about, p.Version)}, true
}

// Head returns the head of the file of a version, which is about something. Of the prompt it takes
// what all versions share.
func Head(p prompt.Prompt, about string, version int64) FrontMatter {
	return FrontMatter{
		Name: p.Slug, Description: cmp.Or(printable(prompt.Shown(about)), printable(p.Title), p.Slug),
		Metadata: Metadata{string(p.ID), strconv.FormatInt(max(version, 1), 10)},
	}
}

// Summarize returns what lists tell of a prompt, its file among it.
func Summarize(p prompt.Prompt) prompt.ProgramSummary {
	c := p.Content()
	o := prompt.ProgramSummary{
		Format: Format, Version: max(p.Version, 1), About: prompt.Shown(p.About()),
		System: c.HasSystem(), Arguments: c.Arguments(),
	}
	if p.AllArguments != nil {
		o.Arguments = p.AllArguments
	}
	if f, has := p.Files.SkillFile(); has {
		o.Digest, o.Size, o.Package = digestOf(f.SHA256), f.Size, p.Bundle.Package
		o.Files = &prompt.FilesSummary{
			Count: len(p.Files), Bytes: p.Files.Size(),
			Scripts: p.Files.Scripts(), Archive: p.Bundle.Archive,
		}
	} else if s, ok := of(p, o.About); ok {
		file := s.File()
		o.Digest, o.Size = Digest(file), len(file)
		o.Package = Sum(archive.Write(Plugin(p, []prompt.FileBytes{{Path: prompt.SkillFile, Bytes: file}})))
	}
	return o
}

// File returns the bytes of SKILL.md.
func (s Skill) File() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\nmetadata:\n", quote(s.Name), quote(s.Description))
	fmt.Fprintf(&b, "  prompthub-id: %s\n  prompthub-version: %s\n---\n\n",
		quote(s.Metadata.ID), quote(s.Metadata.Version))
	b.WriteString(s.body)
	return []byte(b.String())
}

// Digest returns the name of bytes that indexes of skills use.
func Digest(file []byte) string { return digestOf(Sum(file)) }

func digestOf(sum string) string { return "sha256:" + sum }

// body returns what follows the head: the text, or the messages under the names of their roles, and
// the variables. The text has {{name}} for each, as readers of a SKILL.md know no defaults in it.
func body(c prompt.Content) string {
	variables := c.Template().Variables
	c, _ = c.Bare()
	var b strings.Builder
	if c.Kind != prompt.KindChat {
		b.WriteString(c.Text)
	}
	for _, m := range c.Messages {
		if m.Placeholder != "" {
			fmt.Fprintf(&b, "## Messages called %s\n\n", m.Placeholder)
			continue
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", m.Role, m.Content)
	}
	text := strings.TrimRight(b.String(), "\n") + "\n"
	if len(variables) == 0 {
		return text
	}
	var values strings.Builder
	values.WriteString(
		"\n## Values\n\nPut these values in the places of `{{name}}` above. Ask for those that are missing.\n\n")
	for _, v := range variables {
		values.WriteString("- `" + v.Name + "`" + about(v) + "\n")
	}
	return text + values.String()
}

// about says in one line what a variable takes. The default is in no other place, so all of it is
// here.
func about(v prompt.Variable) string {
	value := v.Default
	v.Default = nil
	hint := v.Hint()
	if value != nil {
		hint = strings.TrimSpace(hint + " Default: " + strconv.Quote(*value) + ".")
	}
	if hint != "" {
		return ": " + hint
	}
	return ""
}

// printable returns s in one line without what YAML cannot hold.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.Is(unicode.Noncharacter_Code_Point, r) || r == '\ufeff':
			return unicode.ReplacementChar
		}
		return r
	}, s))
}

// quote writes a printable text as a YAML scalar in double quotes. It has no --- in it, at which
// some readers cut the head wherever it stands.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "--", `-\x2d`).Replace(s) + `"`
}
