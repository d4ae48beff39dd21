package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/git"
)

// Limits of the files of a version.
const (
	MaxFiles     = 256       // files of a version
	MaxFile      = 4 << 20   // bytes of a file
	MaxFilesSize = 8 << 20   // bytes of all files of a version
	MaxSkillFile = 256 << 10 // bytes of SKILL.md

	maxPath      = 200      // bytes of a path
	maxPathParts = 8        // of a path
	maxPaths     = 32 << 10 // bytes of all paths of a version
)

// SkillFile is the path of the file that makes a folder a skill.
const SkillFile = "SKILL.md"

// A File is a file of a version, without its bytes. The JSON is that of stored rows.
type File struct {
	Path       string `json:"path"`   // with slashes, in the folder of the version
	SHA256     string `json:"sha256"` // of its bytes, in hex
	Blob       string `json:"blob"`   // its id in git, in hex: the SHA-1 of "blob SIZE\0" and its bytes
	Size       int    `json:"size"`   // in bytes
	Executable bool   `json:"exec,omitempty"`
	Script     bool   `json:"script,omitempty"` // whether somebody may run it
	Made       bool   `json:"made,omitempty"`   // whether the program made it of the text: a SKILL.md alone is
}

// Files are the files of a version, sorted by the bytes of their paths. A version has none, or
// SKILL.md is one of them.
type Files []File

// A FileBytes is a file with its bytes, as somebody sends it.
type FileBytes struct {
	Path       string
	Bytes      []byte
	Executable bool
}

// Codes of refusals of files.
const (
	BadPath       fault.Code = "BAD_PATH"
	PathsCollide  fault.Code = "PATHS_COLLIDE"
	TooManyFiles  fault.Code = "TOO_MANY_FILES"
	FilesTooLarge fault.Code = "FILES_TOO_LARGE"
)

// ErrUnknownContent refuses a file that is named by bytes which the version before does not have.
func ErrUnknownContent(path string) error {
	return &fault.Error{
		Kind: fault.Invalid, Code: UnknownContent,
		Text: fmt.Sprintf("the file %.100q names bytes that no file of the latest version has: send its content",
			path),
		Fields: []fault.Field{{Name: "files", Value: path, Message: "send its content"}},
	}
}

// NewFile returns a file as a version lists it.
func NewFile(b FileBytes) File {
	sum := sha256.Sum256(b.Bytes)
	return File{
		Path: b.Path, SHA256: hex.EncodeToString(sum[:]), Blob: git.BlobID(b.Bytes).String(), Size: len(b.Bytes),
		Executable: b.Executable, Script: isScript(b),
	}
}

// scriptEnds are those of files that some system runs, executable or not.
var scriptEnds = []string{
	".sh", ".bash", ".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".php", ".ps1", ".bat", ".cmd",
	".exe", ".dll", ".so", ".jar",
}

func isScript(b FileBytes) bool {
	return b.Executable || len(b.Bytes) > 1 && b.Bytes[0] == '#' && b.Bytes[1] == '!' ||
		slices.Contains(scriptEnds, strings.ToLower(path.Ext(b.Path)))
}

// NewFiles returns the files of a version, sorted, if they keep the rules. The error is a
// *fault.Error of the kind Invalid.
func NewFiles(list []FileBytes) (Files, error) {
	if err := checkNumber(len(list)); err != nil {
		return nil, err
	}
	var files Files
	for _, b := range list {
		files = append(files, NewFile(b))
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	if err := files.Check(); err != nil {
		return nil, err
	}
	return files, nil
}

func checkNumber(n int) error {
	if n <= MaxFiles {
		return nil
	}
	rule := fmt.Sprintf("a version has at most %d files, these are %d: leave some out", MaxFiles, n)
	return &fault.Error{
		Kind: fault.Invalid, Code: TooManyFiles, Text: rule,
		Fields: []fault.Field{{Name: "files", Message: rule}},
	}
}

// Check reports which rule the files break: of a path, between paths, of number or size. The error
// is a *fault.Error of the kind Invalid.
func (f Files) Check() error {
	if err := checkNumber(len(f)); err != nil {
		return err
	}
	if err := f.checkPaths(); err != nil {
		return err
	}
	total := 0
	contents := make(map[string]string, len(f)) // SHA-256 by blob
	for _, x := range f {
		if most := mostBytes(x.Path); x.Size > most {
			return badFile(FilesTooLarge, x.Path, "shorten it to at most %d bytes, it has %d", most, x.Size)
		}
		if total += x.Size; total > MaxFilesSize {
			return badFile(FilesTooLarge, x.Path, "with it the files have more than %d bytes together: leave some out",
				MaxFilesSize)
		}
		if sum, ok := contents[x.Blob]; ok && sum != x.SHA256 {
			return badFile(PathsCollide, x.Path,
				"git takes it for another of the files, as both have one SHA-1: leave one of them out")
		}
		contents[x.Blob] = x.SHA256
	}
	return nil
}

func mostBytes(file string) int {
	if file == SkillFile {
		return MaxSkillFile
	}
	return MaxFile
}

// badFile returns the error for a file that breaks a rule.
func badFile(code fault.Code, file, format string, args ...any) error {
	rule := fmt.Sprintf(format, args...)
	return &fault.Error{
		Kind: fault.Invalid, Code: code, Text: fmt.Sprintf("file %.100q: %s", file, rule),
		Fields: []fault.Field{{Name: "files", Message: rule, Value: short(file)}},
	}
}

// Digest returns the SHA-256 over the lines that sha256sum prints for the files, in which an
// asterisk marks the executable ones.
func (f Files) Digest() string {
	h := sha256.New()
	for _, x := range f {
		mark := "  "
		if x.Executable {
			mark = " *"
		}
		fmt.Fprintf(h, "%s%s%s\n", x.SHA256, mark, x.Path)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Tree returns the id of the folder in git, in hex.
func (f Files) Tree() string {
	return git.MakeTrees(f.Entries(), nil).String()
}

// Entries returns the files as git lists them, by their paths.
func (f Files) Entries() []git.Entry {
	entries := make([]git.Entry, len(f))
	for i, x := range f {
		id, _ := git.ParseID(x.Blob) // NewFile made it
		entries[i] = git.Entry{Name: x.Path, Mode: x.Mode(), ID: id}
	}
	return entries
}

// Size returns how many bytes the files have.
func (f Files) Size() int {
	n := 0
	for _, x := range f {
		n += x.Size
	}
	return n
}

// Scripts returns how many of the files are scripts.
func (f Files) Scripts() int {
	n := 0
	for _, x := range f {
		if x.Script {
			n++
		}
	}
	return n
}

// Find returns the file with a path.
func (f Files) Find(file string) (File, bool) {
	if i := slices.IndexFunc(f, func(x File) bool { return x.Path == file }); i >= 0 {
		return f[i], true
	}
	return File{}, false
}
