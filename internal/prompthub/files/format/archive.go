package format

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/archive"
)

// A File is one of a folder or an archive.
type File struct {
	Path  string // with slashes, from the root of the folder
	Bytes []byte

	folder     *skillFolder // of a SKILL.md of an archive that comes with other files
	isTogether bool         // whether it is a SKILL.md that comes with others
}

// IsArchive reports whether a file is a ZIP archive, be it one without files.
func IsArchive(b []byte) bool {
	return bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06"))
}

// Archive returns the files of a ZIP archive that hold prompts, by path, and the others that it
// passed over. Together they have at most some bytes, and at most maxRatio times those of the
// archive, or minUnpacked where that is more.
func Archive(b []byte, most int) (files []File, skipped []string, err error) {
	return readArchive(b, most, false)
}

// ArchiveOfSkills is Archive, and a SKILL.md comes with all that is below its folder, but for what
// another SKILL.md comes with.
func ArchiveOfSkills(b []byte, most int) (files []File, skipped []string, err error) {
	return readArchive(b, most, true)
}

func readArchive(b []byte, most int, withFolders bool) (files []File, skipped []string, err error) {
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, fault.Coded(fault.Invalid, ArchiveBroken, fmt.Sprintf("the archive: %v: make it again", err))
	}
	c := collector{configs: make(map[string][]byte), most: min(most, max(maxRatio*len(b), minUnpacked))}
	if withFolders {
		c.folders = foldersOf(r.File)
	}
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") || f.FileInfo().IsDir() {
			continue
		}
		if !fs.ValidPath(f.Name) {
			return nil, nil, fault.Coded(fault.Invalid, ArchiveBroken,
				fmt.Sprintf("the archive: %.100q is no path below its root: leave it out", f.Name))
		}
		if dir := c.folderOf(f.Name); dir != nil {
			if err := c.addTo(dir, f); err != nil {
				return nil, nil, fmt.Errorf("the archive: %w", err)
			}
			continue
		}
		if err := c.add(f.Name, f.FileInfo().Mode(), func() (io.ReadCloser, error) { return f.Open() }); err != nil {
			return nil, nil, fmt.Errorf("the archive: %w", err)
		}
	}
	return c.result()
}

// Folder returns the files of a folder that hold prompts, by path, and the others that it passed
// over. These do not count, however large they are.
func Folder(root fs.FS) (files []File, skipped []string, err error) {
	c := collector{configs: make(map[string][]byte), most: MaxFolder, free: true}
	err = fs.WalkDir(root, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if Hidden(file) {
				return fs.SkipDir
			}
			return nil
		}
		return c.add(file, e.Type(), func() (io.ReadCloser, error) { return root.Open(file) })
	})
	if err != nil {
		return nil, nil, err
	}
	return c.result()
}

// Hidden reports whether a folder holds nothing for people, such as .git, which Windows may know as
// git~1 too.
func Hidden(dir string) bool {
	base := path.Base(dir)
	return base == "node_modules" || strings.EqualFold(base, "git~1") ||
		strings.HasPrefix(base, ".") && base != "." && !slices.Contains(toolFolders, base)
}

// toolFolders are those in which tools have skills, agents, commands and rules of a repository.
var toolFolders = []string{
	".agents", ".claude", ".clinerules", ".codex", ".cursor", ".gemini", ".github", ".kiro",
	".opencode", ".roo", ".windsurf",
}

// A collector reads files within the limits.
type collector struct {
	files   []File
	skipped []string
	number  int // of files
	total   int
	most    int  // bytes of all files
	free    bool // those of files that hold no prompts do not count
	buffer  bytes.Buffer
	configs map[string][]byte // files of a prompt of Semantic Kernel, by their folders
	folders map[string]*skillFolder
}

func (c *collector) add(file string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	if err := c.count(file); err != nil {
		return err
	}
	telling := holdsPrompts(file)
	if !mode.IsRegular() || !telling && !mayHoldPrompts(file) {
		c.skipped = append(c.skipped, file)
		return nil
	}
	r, err := open()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer r.Close()
	// what an archive says of sizes may not be so
	c.buffer.Reset()
	n, err := c.buffer.ReadFrom(io.LimitReader(r, int64(min(MaxFile, c.most-c.total)+1)))
	held := telling || n <= MaxFile && isPrompt(file, c.buffer.Bytes())
	if held || !c.free {
		c.total += int(n)
	}
	switch {
	case err == nil && !held && (c.free || n <= MaxFile && c.total <= c.most):
		if path.Base(file) == KernelConfig {
			c.configs[path.Dir(file)] = bytes.Clone(c.buffer.Bytes())
		}
		c.skipped = append(c.skipped, file)
		return nil
	case err == nil && (n > MaxFile || c.total > c.most):
		err = c.tooLarge()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.files = append(c.files, File{Path: file, Bytes: bytes.Clone(c.buffer.Bytes())})
	return nil
}

// count counts a file.
func (c *collector) count(file string) error {
	if c.number++; c.number > MaxFiles {
		return tooLarge("there are more than %d files: take a part of them", MaxFiles)
	}
	if len(file) > maxPath {
		return tooLarge("%.100q… has a path of more than %d bytes: shorten it", file, maxPath)
	}
	return nil
}

func (c *collector) tooLarge() error {
	return tooLarge("is too large: a file may have %d bytes, all together %d; those of an archive may have %d times its own size, or %d bytes where that is more: take a part of them",
		MaxFile, c.most, maxRatio, minUnpacked)
}

func tooLarge(text string, of ...any) error {
	return fault.Coded(fault.Invalid, ArchiveTooLarge, fmt.Sprintf(text, of...))
}

// result returns what was collected, without the files that belong to a skill.
func (c *collector) result() (files []File, skipped []string, err error) {
	skills := make(map[string]bool)
	for _, f := range c.files {
		if isSkill(f.Path) {
			skills[path.Dir(f.Path)] = true
		}
	}
	for _, f := range c.files {
		if dir := c.folders[path.Dir(f.Path)]; dir != nil && isSkill(f.Path) && (len(dir.files) > 0 || dir.err != nil) {
			f.folder = dir
		}
		if !isSkill(f.Path) && below(f.Path, skills) {
			c.skipped = append(c.skipped, f.Path)
			continue
		}
		if path.Base(f.Path) == KernelText {
			f.Bytes = JoinKernel(f.Path, f.Bytes, c.configs[path.Dir(f.Path)])
			c.skipped = slices.DeleteFunc(c.skipped, func(name string) bool {
				return name == path.Join(path.Dir(f.Path), KernelConfig)
			})
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(c.skipped)
	together := make(map[string]bool) // folders of skills with other files
	for _, other := range c.skipped {
		for dir := path.Dir(other); dir != "." && dir != "/" && !archive.LeavesOut(other); dir = path.Dir(dir) {
			if skills[dir] {
				together[dir] = true
				break
			}
		}
	}
	for i, f := range files {
		files[i].isTogether = isSkill(f.Path) && (f.folder != nil || together[path.Dir(f.Path)])
	}
	return files, c.skipped, nil
}

// isSkill reports whether a file makes its folder a skill. Where there is no folder its case
// counts: skill.md is what a prompt of that name may be called.
func isSkill(file string) bool {
	return path.Base(file) == "SKILL.md" || path.Dir(file) != "." && strings.EqualFold(path.Base(file), "SKILL.md")
}

// below reports whether a file is in one of the folders, at any depth.
func below(file string, dirs map[string]bool) bool {
	if len(dirs) == 0 {
		return false
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if dirs[dir] {
			return true
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}

// aboutFolders are files that tell of the folder that they are in.
var aboutFolders = []string{
	"readme", "license", "changelog", "contributing", "agents", "claude",
	"security", "code_of_conduct", "user",
}

// holdsPrompts reports whether a file holds prompts, by its name. Ends that files of any kind have
// say nothing here.
func holdsPrompts(file string) bool {
	base := strings.ToLower(path.Base(file))
	switch end := endOf(base); end {
	case ".txt":
		return base == KernelText
	case "", ".yml", ".yaml", ".csv", ".tsv":
		return false
	case ".md", ".markdown":
		return !slices.Contains(aboutFolders, strings.TrimSuffix(base, end))
	}
	return true
}

// mayHoldPrompts reports whether what is in a file must tell if it holds prompts.
func mayHoldPrompts(file string) bool {
	return slices.Contains([]string{".json", ".yml", ".yaml", ".csv", ".tsv"}, strings.ToLower(path.Ext(file)))
}

// isPrompt tells that: of the JSON, YAML and CSV of a repository the least is prompts. A file that
// is broken is one if it has a member that prompts have, so that it is told what is wrong with it.
func isPrompt(file string, b []byte) bool {
	text, _, err := decoded(b, true)
	if err != nil {
		text = b
	}
	text = bytes.TrimPrefix(text, bom)
	switch f := Detect(file, text); {
	case f == CSV && strings.EqualFold(path.Ext(file), ".json"), f == CSV && len(bytes.TrimSpace(text)) == 0:
		return false
	case f == CSV:
		_, _, err := newCSV(text)
		return !errors.As(err, &noColumns{})
	case f == GitHubModels:
		return false // which has an end of its own
	case f.isJSON() && strings.EqualFold(path.Ext(file), ".json"):
		return saysPrompts(text)
	}
	return true
}

// promptMembers are the members by which a file of JSON that is broken may be told from others.
var promptMembers = regexp.MustCompile(`"(?i:prompt|content|messages|text|template|instructions)"\s*:`)

// saysPrompts reports whether JSON has an object that may be a prompt, among its first ones.
func saysPrompts(b []byte) bool {
	if isChat(b) {
		return true
	}
	list := listIn(b)
	if list == nil {
		list = objects(b)
	}
	if list == nil {
		return promptMembers.Match(b)
	}
	for _, v := range list[:min(len(list), 100)] {
		if o, err := parseObject(v.json); err == nil && o.saysPrompt() {
			return true
		}
	}
	return false
}
