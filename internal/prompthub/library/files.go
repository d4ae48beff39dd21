package library

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

// A SentFile is a file of a request: with its bytes, or with the SHA-256 of bytes that a file of
// the latest version has.
type SentFile struct {
	Path       string
	Bytes      []byte
	SHA256     string // in hex; "" if Bytes are sent
	Executable bool
	KeepsMode  bool // whether it may be run if the file at its path before may: its sender cannot say
}

// A FilesChange puts files into those of the latest version, and takes away those at some paths.
type FilesChange struct {
	Set    []SentFile
	Remove []string
}

// over returns all files that the change makes of those of a version.
func (c FilesChange) over(has prompt.Files) ([]SentFile, error) {
	if len(c.Set) == 0 && len(c.Remove) == 0 {
		return nil, nil
	}
	has = has.Written()
	for _, path := range c.Remove {
		if _, ok := has.Find(path); !ok {
			return nil, &fault.Error{
				Kind: fault.Invalid, Code: prompt.BadPath,
				Text:   fmt.Sprintf("the latest version has no file %.100q to take away", path),
				Fields: []fault.Field{{Name: "files", Value: path, Message: "name a file of the latest version"}},
			}
		}
	}
	all := []SentFile{}
	for _, f := range has {
		isSet := slices.ContainsFunc(c.Set, func(s SentFile) bool { return s.Path == f.Path })
		if !isSet && !slices.Contains(c.Remove, f.Path) {
			all = append(all, SentFile{Path: f.Path, SHA256: f.SHA256, Executable: f.Executable})
		}
	}
	return append(all, c.Set...), nil
}

// WithFiles returns a draft with the files that were sent; has are those of the latest version. No
// list leaves the files as they are, an empty one takes them away.
func WithFiles(d prompt.Draft, sent []SentFile, has prompt.Files) (prompt.Draft, error) {
	if sent == nil {
		return d, nil
	}
	known := make(map[string]prompt.File)
	for _, f := range has {
		known[f.SHA256] = f
	}
	d.Files, d.FileBytes = prompt.Files{}, make(map[string][]byte)
	for _, s := range sent {
		if before, ok := has.Find(s.Path); ok && s.KeepsMode {
			s.Executable = before.Executable
		}
		f, ok := known[s.SHA256]
		switch {
		case s.SHA256 == "":
			f = prompt.NewFile(prompt.FileBytes{Path: s.Path, Bytes: s.Bytes, Executable: s.Executable})
			d.FileBytes[f.SHA256] = s.Bytes
		case !ok:
			return d, prompt.ErrUnknownContent(s.Path)
		default:
			f.Path, f.Executable, f.Made = s.Path, s.Executable, false
		}
		d.Files = append(d.Files, f)
	}
	slices.SortFunc(d.Files, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	return d, d.Files.Check()
}

// withSkillFile makes a draft and its SKILL.md say the same, if an author wrote that: a new
// SKILL.md gives the draft its text and description, and another text or description is put into
// the SKILL.md. Was is the prompt before, without an id if it is new.
func (s *Service) withSkillFile(ctx context.Context, was prompt.Prompt, d prompt.Draft) (prompt.Draft, error) {
	if d.Files == nil {
		d.Files = was.Files
	}
	if len(d.Files) == 0 {
		return d, nil
	}
	d.Source = nil // SKILL.md is in the place of it
	d, err := s.alignSkillFile(ctx, was, d)
	if err != nil {
		return d, err
	}
	return s.rules.CheckEdit(d, was.Draft)
}

func (s *Service) alignSkillFile(ctx context.Context, was prompt.Prompt, d prompt.Draft) (prompt.Draft, error) {
	f, written := d.Files.Written().SkillFile()
	if !written {
		return d, nil
	}
	if d.Kind != prompt.KindText {
		return d, fault.Coded(fault.Invalid, prompt.BadSkill,
			"a SKILL.md has a text and no messages: remove it from the files, then it is made of the messages")
	}
	b, sent := d.FileBytes[f.SHA256]
	// else it may be named by the bytes of another file, which was checked as no SKILL.md
	former, isWritten := was.Files.Written().SkillFile()
	stays := !sent && isWritten && former.SHA256 == f.SHA256
	if stays && d.Text == was.Text && d.Description == was.Description {
		return d, nil
	}
	if !sent {
		all, err := s.db.FileBytes(ctx, was.ID, prompt.Files{f})
		if err != nil {
			return d, err
		}
		b = all[f.SHA256]
	}
	switch {
	case d.FilesAsBefore:
		return d, checkSaid(d, b)
	case !stays:
		return fromSkillFile(d, was, f, b)
	}
	before, err := format.ReadSkillHead(b)
	if err != nil || !skill.Editable(b) { // of a history that was brought over
		return d, errUneditable()
	}
	if d.Text != was.Text {
		b = skill.WithText(b, d.Text)
	}
	if d.Description != was.Description {
		b = skill.WithDescription(b, d.About())
	}
	head, err := format.ReadSkillHead(b)
	inLine := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if err != nil || !skill.Editable(b) || head.Lenient && !before.Lenient ||
		d.Description != was.Description && inLine(head.Description) != inLine(d.About()) {
		return d, errUneditable() // as where another member refers to the description
	}
	// as the file says them: without empty lines at the ends of the text, and in one line
	d.Text, d.Description = skill.TextOf(b), head.Description
	now := prompt.NewFile(prompt.FileBytes{Path: prompt.SkillFile, Bytes: b, Executable: f.Executable})
	d.Files = slices.Clone(d.Files)
	d.Files[slices.Index(d.Files, f)] = now
	d.FileBytes = maps.Clone(d.FileBytes)
	if d.FileBytes == nil {
		d.FileBytes = make(map[string][]byte)
	}
	d.FileBytes[now.SHA256] = b
	return d, checkSkillFile(b)
}

// fromSkillFile returns a draft as a SKILL.md of its author says it is.
func fromSkillFile(d prompt.Draft, was prompt.Prompt, f prompt.File, b []byte) (prompt.Draft, error) {
	if err := checkSkillFile(b); err != nil {
		return d, err
	}
	head, err := format.ReadSkillHead(b)
	if err != nil {
		return d, badSkill("cannot be read: " + err.Error())
	}
	switch {
	case !prompt.ValidSlug(head.Name):
		return d, badSkill("names no skill: begin it with --- and the lines name: of at most 64 of a-z 0-9 and single hyphens inside, description: and ---")
	case strings.TrimSpace(head.Description) == "":
		return d,
			badSkill("has no description, by which agents choose it: write description: and what it does, and when to use it")
	case !skill.Editable(b) || skill.NameIn(b) != head.Name:
		return d, errUneditable()
	case was.ID != "" && head.Name != was.Slug && head.Name != was.Bundle.Slug:
		return d, &fault.Error{
			Kind: fault.Invalid, Code: prompt.NameDiffers,
			Text:   fmt.Sprintf("the SKILL.md is named %q and this prompt is the skill %q: change the name in the file, or make a new prompt of it", head.Name, was.Slug),
			Fields: []fault.Field{{Name: "files", Value: f.Path, Message: "name: " + was.Slug}},
		}
	case was.ID == "" && d.Name != "" && d.Name != head.Name:
		return d, &fault.Error{
			Kind: fault.Invalid, Code: prompt.NameDiffers,
			Text: fmt.Sprintf("the SKILL.md is named %q, and the name sent is %q: send none, or the same",
				head.Name, d.Name),
			Fields: []fault.Field{{Name: "name", Value: d.Name, Message: "send " + head.Name + ", or no name"}},
		}
	}
	d.Text, d.Description = skill.TextOf(b), head.Description
	if was.ID == "" {
		d.Name = head.Name
		if strings.TrimSpace(d.Title) == "" {
			d.Title = head.Name
		}
	}
	return d, nil
}

// checkSaid reports whether a SKILL.md, which must stay as it is, says something else than a draft.
func checkSaid(d prompt.Draft, b []byte) error {
	if err := checkSkillFile(b); err != nil {
		return err
	}
	if skill.TextOf(skill.WithText(b, d.Text)) != skill.TextOf(b) {
		return badSkill("has another text than the version that it is in")
	}
	return nil
}

// checkSkillFile reports what keeps bytes from being a SKILL.md.
func checkSkillFile(b []byte) error {
	switch text := skill.TextOf(b); {
	case len(b) > prompt.MaxSkillFile:
		return badSkill(fmt.Sprintf(
			"has %d bytes, of %d that it may have: move parts of it to other files and name them in it",
			len(b), prompt.MaxSkillFile))
	case !utf8.Valid(b):
		return badSkill("is not valid UTF-8")
	case len(utf16.Encode([]rune(text))) > prompt.MaxSkillText:
		return badSkill(fmt.Sprintf(
			"has a text of more than %d characters: move parts of it to other files and name them in it",
			prompt.MaxSkillText))
	}
	if _, _, ok := skill.Split(b); !ok {
		return badSkill("does not begin with a head: a line ---, the lines name: and description:, and a line ---")
	}
	return nil
}

func errUneditable() error {
	return badSkill("says its name or description in a way that cannot be changed in place: " +
		"write name: and description: at the beginning of lines of their own, without quotation marks around the two words")
}

func badSkill(what string) error {
	return &fault.Error{
		Kind: fault.Invalid, Code: prompt.BadSkill, Text: "the SKILL.md " + what,
		Fields: []fault.Field{{Name: "files", Value: prompt.SkillFile, Message: what}},
	}
}

// A FileList is the files of a version of a prompt.
type FileList struct {
	View
	Files prompt.Files
}

// ListFiles returns the files of a version of a prompt. Every prompt that is a skill has a SKILL.md
// at least.
func (s *Service) ListFiles(ctx context.Context, who auth.User, id prompt.ID, want WantedVersion) (FileList, error) {
	v, err := s.GetVersion(ctx, who, id, want)
	if err != nil {
		return FileList{}, err
	}
	files, _, err := FilesOf(v.Prompt)
	return FileList{View: v, Files: files}, err
}

// FilesIn returns the files of versions of prompts of a list, whose numbers are given by their
// places in it; of those with the number 0 nothing is read.
func (s *Service) FilesIn(ctx context.Context, items []View, versions []int64) ([]prompt.Files, error) {
	all := make([]prompt.Files, len(items))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, v := range items {
		if versions[i] > 0 {
			g.Go(func() (err error) {
				all[i], err = s.db.VersionFiles(ctx, v.AuthorID, v.ID, versions[i])
				return err
			})
		}
	}
	return all, g.Wait()
}

// SkillFilesIn returns the bytes of the SKILL.md of each prompt of a list, whose files are given by
// their places in it: nil where there are none.
func (s *Service) SkillFilesIn(ctx context.Context, items []View, files []prompt.Files) ([][]byte, error) {
	all := make([][]byte, len(items))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, v := range items {
		f, has := files[i].SkillFile()
		if !has {
			continue
		}
		g.Go(func() error {
			b, err := s.db.FileBytes(ctx, v.ID, prompt.Files{f})
			all[i] = b[f.SHA256]
			return err
		})
	}
	return all, g.Wait()
}

// FilesOf returns the files of the version that a prompt shows. Of a prompt of a text alone it is a
// SKILL.md that is made of it, whose bytes are returned too.
func FilesOf(p prompt.Prompt) (files prompt.Files, made []byte, err error) {
	if len(p.Files) > 0 {
		return p.Files, nil, nil
	}
	sk, ok := skill.Of(p)
	if !ok {
		return nil, nil, fault.New(fault.NotFound, "the prompt is no skill: it has no text, or includes other prompts")
	}
	made = sk.File()
	f := prompt.NewFile(prompt.FileBytes{Path: prompt.SkillFile, Bytes: made})
	f.Made = true
	return prompt.Files{f}, made, nil
}

// A Folder is the files of a version with their bytes.
type Folder struct {
	FileList
	Contents []prompt.FileBytes
}

// ReadFolder returns the files of a version of a prompt with their bytes: all of them, or the one
// of a path.
func (s *Service) ReadFolder(ctx context.Context, who auth.User, id prompt.ID, want WantedVersion,
	path string,
) (Folder, error) {
	v, err := s.GetVersion(ctx, who, id, want)
	if err != nil {
		return Folder{}, err
	}
	return s.FolderOf(ctx, v, path)
}

// FolderOf is ReadFolder for a prompt that was read.
func (s *Service) FolderOf(ctx context.Context, v View, path string) (Folder, error) {
	files, made, err := FilesOf(v.Prompt)
	if err != nil {
		return Folder{}, err
	}
	f := Folder{FileList: FileList{View: v, Files: files}}
	if path != "" {
		one, ok := files.Find(path)
		if !ok {
			return Folder{}, fault.New(fault.NotFound, "the version has no file at this path: list its files")
		}
		files = prompt.Files{one}
	}
	all := map[string][]byte{}
	if made != nil {
		all[files[0].SHA256] = made
	} else if all, err = s.db.FileBytes(ctx, v.ID, files); err != nil {
		return Folder{}, err
	}
	f.Contents = skill.Folder(files, all)
	return f, nil
}

// Archive returns a ZIP of all files of the folder. A version with files always gives the same
// bytes.
func (f Folder) Archive() []byte { return archive.Write(f.Contents) }

// CompareFiles returns how the files of two versions of a prompt differ, which the caller has read.
// Where there is too much to compare, it compares the lines of the first files.
func (s *Service) CompareFiles(ctx context.Context, id prompt.ID, a, b prompt.Version) ([]prompt.FileDiff, error) {
	diffs := prompt.CompareFiles(a.Files, b.Files)
	var files prompt.Files
	size, compared := 0, 0
	for _, d := range diffs {
		if size += d.Comparable().Size(); size > prompt.MaxCompared {
			break
		}
		files = append(files, d.Comparable()...)
		compared++
	}
	all, err := s.db.FileBytes(ctx, id, files)
	if err != nil {
		return nil, err
	}
	for i, d := range diffs[:compared] {
		diffs[i] = d.WithTexts(all)
	}
	return diffs, nil
}
