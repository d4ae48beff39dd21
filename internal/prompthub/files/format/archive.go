package format

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"prompthub/internal/fault"
)

// A File is one of a folder or an archive.
type File struct {
	Path  string // with slashes, from the root of the folder
	Bytes []byte
}

// IsArchive reports whether a file is a ZIP archive, be it one without files.
func IsArchive(b []byte) bool {
	return bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06"))
}

// Archive returns the files of a ZIP archive that hold prompts, by path, and the others that it
// passed over. Together they have at most some bytes, and at most maxRatio times those of the
// archive, or minUnpacked where that is more.
func Archive(b []byte, most int) (files []File, skipped []string, err error) {
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, fault.Coded(fault.Invalid, ArchiveBroken, fmt.Sprintf("the archive: %v: make it again", err))
	}
	c := collector{most: min(most, max(maxRatio*len(b), minUnpacked))}
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") || f.FileInfo().IsDir() {
			continue
		}
		if !fs.ValidPath(f.Name) {
			return nil, nil, fault.Coded(fault.Invalid, ArchiveBroken, fmt.Sprintf("the archive: %.100q is no path below its root: leave it out", f.Name))
		}
		if err := c.add(f.Name, f.FileInfo().Mode(), func() (io.ReadCloser, error) { return f.Open() }); err != nil {
			return nil, nil, fmt.Errorf("the archive: %w", err)
		}
	}
	return c.result()
}

// Folder returns the files of a folder that hold prompts, by path, and the others that it passed
// over.
func Folder(root fs.FS) (files []File, skipped []string, err error) {
	c := collector{most: MaxTotal}
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
	return base == "node_modules" || strings.EqualFold(base, "git~1") || strings.HasPrefix(base, ".") && !slices.Contains([]string{".", ".claude", ".github", ".agents"}, base)
}

// A collector reads files within the limits.
type collector struct {
	files   []File
	skipped []string
	total   int
	most    int // bytes of all files
	buffer  bytes.Buffer
}

func (c *collector) add(file string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	if len(c.files)+len(c.skipped) >= MaxFiles {
		return tooLarge("there are more than %d files: take a part of them", MaxFiles)
	}
	if len(file) > maxPath {
		return tooLarge("%.100q… has a path of more than %d bytes: shorten it", file, maxPath)
	}
	if !mode.IsRegular() || !holdsPrompts(file) {
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
	if c.total += int(n); err == nil && (n > MaxFile || c.total > c.most) {
		err = tooLarge("is too large: a file may have %d bytes, all together %d; those of an archive may have %d times its own size, or %d bytes where that is more: take a part of them",
			MaxFile, c.most, maxRatio, minUnpacked)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	c.files = append(c.files, File{file, bytes.Clone(c.buffer.Bytes())})
	return nil
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
		if !isSkill(f.Path) && below(f.Path, skills) {
			c.skipped = append(c.skipped, f.Path)
			continue
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(c.skipped)
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
var aboutFolders = []string{"readme", "license", "changelog", "contributing", "agents", "claude", "security", "code_of_conduct", "user"}

// holdsPrompts reports whether a file may hold prompts, by its name. Ends that files of any kind
// have say nothing here.
func holdsPrompts(file string) bool {
	base := strings.ToLower(path.Base(file))
	switch end := endOf(base); end {
	case "":
		return strings.HasSuffix(base, ".json")
	case ".txt", ".yml", ".yaml":
		return false
	case ".md", ".markdown":
		return !slices.Contains(aboutFolders, strings.TrimSuffix(base, end))
	}
	return true
}
