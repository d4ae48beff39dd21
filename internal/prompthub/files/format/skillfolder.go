package format

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
)

// A skillFolder is what comes with a SKILL.md.
type skillFolder struct {
	path     string
	files    []prompt.FileBytes // without SKILL.md, by the paths from its folder
	size     int
	runnable bool  // SKILL.md itself, as it is in the archive
	err      error // why the folder cannot be taken in
}

// foldersOf returns the folders of an archive that have a SKILL.md, by their paths.
func foldersOf(files []*zip.File) map[string]*skillFolder {
	folders := make(map[string]*skillFolder)
	for _, f := range files {
		if isSkill(f.Name) && f.Mode().IsRegular() {
			folders[path.Dir(f.Name)] = &skillFolder{path: path.Dir(f.Name), runnable: isRunnable(f)}
		}
	}
	return folders
}

func isRunnable(f *zip.File) bool { return f.Mode().Perm()&0o111 != 0 }

// folderOf returns the innermost folder with a SKILL.md that a file is in; nil for that file
// itself, for one that belongs to none, and for one that is left out.
func (c *collector) folderOf(file string) *skillFolder {
	if len(c.folders) == 0 || isSkill(file) || archive.LeavesOut(file) {
		return nil
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if folder := c.folders[dir]; folder != nil || dir == "." {
			return folder
		}
	}
}

// addTo reads a file of a folder. What an archive says of sizes is believed only up to them.
func (c *collector) addTo(folder *skillFolder, f *zip.File) error {
	if err := c.count(f.Name); err != nil || folder.err != nil {
		return err
	}
	inside := norm.NFC.String(strings.TrimPrefix(f.Name, folder.path+"/"))
	refused := func(code fault.Code, text string, of ...any) error {
		folder.files, folder.err = nil,
			fault.Coded(fault.Invalid, code, fmt.Sprintf("the file %.100q "+text, append([]any{inside}, of...)...))
		return nil
	}
	size := f.UncompressedSize64
	switch {
	case !f.Mode().IsRegular():
		return refused(archive.Link, "is a link or a device: put the file itself there")
	case len(folder.files) >= prompt.MaxFiles-1:
		return refused(prompt.TooManyFiles, "is more than the %d that a skill has at most: leave some out",
			prompt.MaxFiles)
	case size > prompt.MaxFile:
		return refused(prompt.FilesTooLarge, "has %d bytes: shorten it to at most %d", size, prompt.MaxFile)
	case folder.size+int(size) > prompt.MaxFilesSize:
		return refused(prompt.FilesTooLarge,
			"is one too many: all files of a skill have at most %d bytes together; leave some out", prompt.MaxFilesSize)
	case c.total+int(size) > c.most:
		return fmt.Errorf("%s: %w", f.Name, c.tooLarge())
	}
	folder.size, c.total = folder.size+int(size), c.total+int(size)
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	defer r.Close()
	b := make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return fault.Coded(fault.Invalid, ArchiveBroken, fmt.Sprintf("%.100q: %v: make it again", f.Name, err))
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return fault.Coded(fault.Invalid, ArchiveBroken, fmt.Sprintf("%.100q is damaged: make it again", f.Name))
	}
	folder.files = append(folder.files, prompt.FileBytes{Path: inside, Bytes: b, Executable: isRunnable(f)})
	return nil
}

// with returns all files of the folder, whose SKILL.md has some bytes. That is called so, whatever
// its case was.
func (f *skillFolder) with(b []byte) []prompt.FileBytes {
	return append([]prompt.FileBytes{{Path: prompt.SkillFile, Bytes: b, Executable: f.runnable}}, f.files...)
}
