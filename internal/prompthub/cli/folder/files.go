package folder

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// notSaved are names of files and folders that systems and tools put into a folder, in any case.
var notSaved = []string{
	".git", "node_modules", "__pycache__", ".venv", "__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini",
}

// ReadFiles returns the files of a folder as a version has them, with paths in the normal form C of
// Unicode, and the paths of those that are left out. A folder that no version can have is an error.
func ReadFiles(root *os.Root) (files []prompt.FileBytes, leftOut []string, err error) {
	total := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("%q: %w", name, err)
		case slices.ContainsFunc(notSaved, func(s string) bool { return strings.EqualFold(s, d.Name()) }):
			leftOut = append(leftOut, name)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%q is a link: put the file itself there", name)
		case !d.Type().IsRegular():
			return fmt.Errorf("%q is a device, a pipe or a socket: take it out of the folder", name)
		}
		f := prompt.FileBytes{Path: norm.NFC.String(name)}
		if err := prompt.CheckPath(f.Path); err != nil {
			return err
		}
		// of more than a version can have the rest is counted alone
		if len(files) < prompt.MaxFiles && total <= prompt.MaxFilesSize {
			if f.Bytes, f.Executable, err = readOne(root, name); err != nil {
				return err
			}
			total += len(f.Bytes)
		}
		files = append(files, f)
		return nil
	})
	if err == nil {
		_, err = prompt.NewFiles(files)
	}
	return files, leftOut, err
}

// SkillName returns the name in the SKILL.md of files, by which their prompt is found. Files
// without a SKILL.md that a skill can have are an error.
func SkillName(files []prompt.FileBytes) (string, error) {
	const begin = "begin it with\n---\nname: NAME\ndescription: what it does, and when to use it\n---"
	for _, f := range files {
		if f.Path != prompt.SkillFile {
			continue
		}
		head, err := format.ReadSkillHead(f.Bytes)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: %w", f.Path, err)
		case !prompt.ValidSlug(head.Name):
			return "", fmt.Errorf("%s says no name of at most 64 of a-z 0-9 and single hyphens: %s", f.Path, begin)
		case strings.TrimSpace(head.Description) == "":
			return "", fmt.Errorf("%s says no description: %s", f.Path, begin)
		}
		return head.Name, nil
	}
	return "", fmt.Errorf("there is no %s, which makes a folder a skill: write one, and %s", prompt.SkillFile, begin)
}

// readOne returns the bytes of a file, and whether its owner may run it.
func readOne(root *os.Root, name string) (b []byte, executable bool, err error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if info.Size() > prompt.MaxFile {
		return nil, false, fmt.Errorf("file %q: shorten it to at most %d bytes, it has %d",
			name, prompt.MaxFile, info.Size())
	}
	b, err = io.ReadAll(io.LimitReader(f, prompt.MaxFile+1)) // it may grow meanwhile
	return b, info.Mode()&0o100 != 0, err
}

// ErrNotEmpty refuses to write into a folder that has something in it.
var ErrNotEmpty = errors.New("is not empty")

// WriteFiles makes a folder that has files, which keep the rules of a version. It appears when it
// is complete. One that is there must be empty unless force is set: then its files are replaced,
// and those of other paths stay and are returned, up to some.
func WriteFiles(dir string, files []prompt.FileBytes, force bool) (others []string, err error) {
	dir = filepath.Clean(dir)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, makeFolder(dir, files)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	empty, err := isEmpty(root)
	if err != nil {
		return nil, err
	}
	if !empty && !force {
		return nil, fmt.Errorf("%s %w", dir, ErrNotEmpty)
	}
	if err := fill(root, files); err != nil || empty {
		return nil, err
	}
	return otherFiles(root, files)
}

// fill puts files into a folder that is there, in place of those that have their paths.
func fill(root *os.Root, files []prompt.FileBytes) error {
	for _, f := range files {
		if err := inTheWay(root, f.Path); err != nil {
			return err
		}
	}
	return staged(root, files, func(stage string) error {
		for _, f := range files {
			if err := root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
				return err
			}
			if err := root.Rename(path.Join(stage, f.Path), f.Path); err != nil {
				return err
			}
		}
		return nil
	})
}

// makeFolder makes a folder that is not there.
func makeFolder(dir string, files []prompt.FileBytes) error {
	parent, name := filepath.Split(dir)
	if parent == "" {
		parent = "."
	}
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	return staged(root, files, func(stage string) error { return root.Rename(stage, name) })
}

// staged writes files into a new folder in another one, and calls place to put them where they
// belong. What place leaves is removed.
func staged(root *os.Root, files []prompt.FileBytes, place func(stage string) error) (err error) {
	stage := ".prompthub-" + rand.Text()
	if err := root.Mkdir(stage, 0o777); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.RemoveAll(stage)) }()
	within, err := root.OpenRoot(stage)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := writeOne(within, f); err != nil {
			return errors.Join(err, within.Close())
		}
	}
	if err := within.Close(); err != nil {
		return err
	}
	return place(stage)
}

func writeOne(root *os.Root, f prompt.FileBytes) error {
	if err := root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if f.Executable {
		mode = 0o777
	}
	w, err := root.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = w.Write(f.Bytes)
	return errors.Join(err, w.Close())
}

func isEmpty(root *os.Root) (bool, error) {
	d, err := root.Open(".")
	if err != nil {
		return false, err
	}
	defer d.Close()
	_, err = d.ReadDir(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// inTheWay reports a link, a folder in place of a file, or a file in place of a folder.
func inTheWay(root *os.Root, file string) error {
	for name := file; name != "."; name = path.Dir(name) {
		info, err := root.Lstat(name)
		switch {
		case err != nil: // it is not there, or the folder that it is in will tell
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s: %q is a link, which nothing is written through: move it away first",
				root.Name(), name)
		case name == file && !info.Mode().IsRegular():
			return fmt.Errorf("%s: %q is no file here: move it away first", root.Name(), name)
		case name != file && !info.IsDir():
			return fmt.Errorf("%s: %q is no folder here: move it away first", root.Name(), name)
		}
	}
	return nil
}

// maxOthers is how many files are looked for that a version does not have.
const maxOthers = 100

// otherFiles returns the paths of files of a folder that are none of these.
func otherFiles(root *os.Root, files []prompt.FileBytes) (others []string, err error) {
	known := make(map[string]bool, len(files))
	for _, f := range files {
		known[f.Path] = true
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && slices.ContainsFunc(notSaved, func(s string) bool {
			return strings.EqualFold(s, d.Name())
		}):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && !known[norm.NFC.String(name)]:
			others = append(others, name)
			if len(others) == maxOthers {
				return fs.SkipAll
			}
		}
		return nil
	})
	return others, err
}
