package library

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

// A filesMerge is what becomes of the files of a fork.
type filesMerge struct {
	files   prompt.Files // without SKILL.md
	bytes   map[string][]byte
	skill   *prompt.FileBytes // the SKILL.md that goes on, with the text of one side; nil if it is made
	clashes []prompt.Clash
}

// mergeFiles returns what becomes of the files of a fork: nil where they stay as they are.
func (s *Service) mergeFiles(ctx context.Context, p prompt.Prompt, u Upstream, take Side) (*filesMerge, error) {
	mine, theirs, base := p.Files.Written(), u.Now.Files.Written(), u.Base.Files.Written()
	switch {
	case u.Now.ID == "" || take == Mine || take == "" && u.Base.Number == 0, len(mine)+len(theirs)+len(base) == 0:
		return nil, nil //nolint:nilnil // as documented
	case take == Theirs:
		base = mine // as if nothing were changed here
	}
	var m filesMerge
	m.files, m.clashes = prompt.MergeFiles(base, mine, theirs)
	var wanted, ours prompt.Files // of the other prompt, and of this one
	for _, f := range m.files {
		if !slices.Contains(mine, f) {
			wanted = append(wanted, f)
		}
	}
	a, _ := base.SkillFile()
	b, isMine := mine.SkillFile()
	c, isTheirs := theirs.SkillFile()
	if isTheirs {
		wanted = append(wanted, c)
	}
	if a.Path != "" && take != Theirs {
		wanted = append(wanted, a)
	}
	if isMine {
		ours = prompt.Files{b}
	}
	var err error
	if m.bytes, err = s.db.FileBytes(ctx, u.Now.ID, wanted); err != nil {
		return nil, err
	}
	own, err := s.db.FileBytes(ctx, p.ID, ours)
	if err != nil {
		return nil, err
	}
	was := headOf(a, m.bytes[a.SHA256])
	if take == Theirs {
		was = headOf(b, own[b.SHA256])
	}
	is, other := headOf(b, own[b.SHA256]), headOf(c, m.bytes[c.SHA256])
	switch {
	case take == Theirs, was == is && is != other:
		if isTheirs {
			m.skill = &prompt.FileBytes{Path: c.Path, Bytes: m.bytes[c.SHA256], Executable: c.Executable}
		}
	case was == other, is == other:
		if isMine {
			m.skill = &prompt.FileBytes{Path: b.Path, Bytes: own[b.SHA256], Executable: b.Executable}
		}
	default:
		m.clashes = append(m.clashes, prompt.Clash{Field: prompt.SkillFile, Mine: told(is), Theirs: told(other)})
	}
	return &m, nil
}

// A skillHead is what of a SKILL.md no text, no name and no description says.
type skillHead struct {
	isThere, executable bool
	head                string
}

func headOf(f prompt.File, b []byte) skillHead {
	if f.Path == "" {
		return skillHead{}
	}
	head, _, _ := skill.Split(skill.WithDescription(skill.WithName(b, "x"), "x"))
	return skillHead{true, f.Executable, string(bytes.ReplaceAll(head, []byte("\r\n"), []byte("\n")))}
}

// told says what a head is, for those who must choose one.
func told(h skillHead) string {
	if !h.isThere {
		return "made of the text"
	}
	var lines []string
	for line := range strings.Lines(h.head) {
		if line != "---\n" && !strings.HasPrefix(line, "name:") && !strings.HasPrefix(line, "description:") {
			lines = append(lines, line)
		}
	}
	if h.executable {
		lines = append(lines, "executable")
	}
	return strings.Join(lines, "")
}

// into puts the files into the draft of a fork, whose text and description are merged. SKILL.md
// says these, and the slug of the fork.
func (m *filesMerge) into(d prompt.Draft, slug string) prompt.Draft {
	if m == nil {
		return d
	}
	d.Files, d.FileBytes = append(prompt.Files{}, m.files...), m.bytes
	if m.skill == nil {
		return d
	}
	f := *m.skill
	if skill.TextOf(skill.WithText(f.Bytes, d.Text)) != skill.TextOf(f.Bytes) {
		f.Bytes = skill.WithText(f.Bytes, d.Text)
	}
	if head, err := format.ReadSkillHead(f.Bytes); err != nil ||
		d.Description != "" && head.Description != d.Description {
		f.Bytes = skill.WithDescription(f.Bytes, d.Description)
	}
	f.Bytes = skill.WithName(f.Bytes, slug)
	made := prompt.NewFile(f)
	d.Files, d.FileBytes[made.SHA256] = append(d.Files, made), f.Bytes
	slices.SortFunc(d.Files, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	return d
}
