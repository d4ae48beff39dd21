package prompt

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"prompthub/internal/git"
)

// Texts whose lines are compared have at most MaxComparedFile bytes each, and those of both
// versions at most MaxCompared together.
const (
	MaxComparedFile = 1 << 20
	MaxCompared     = 4 << 20
)

// A FileChange says how a file differs between two versions.
type FileChange string

// The changes of files.
const (
	FileAdded   FileChange = "added"
	FileRemoved FileChange = "removed"
	FileChanged FileChange = "changed" // in its bytes, and perhaps in whether it is executable
	FileMode    FileChange = "mode"    // only in whether it is executable
)

// A FileDiff is a file that differs between two versions.
type FileDiff struct {
	Path     string
	Change   FileChange
	From, To File // of no path where the version has none
	// Lines reports whether Before and After are the texts of both, which a version without the file
	// has empty. Bytes that are no text, and longer texts, are not compared.
	Lines         bool
	Before, After string
}

// CompareFiles returns which files differ between two versions, by path, without their texts. A
// SKILL.md that the program made on both sides is left out: it follows from what else differs.
func CompareFiles(a, b Files) []FileDiff {
	var all []FileDiff
	for len(a) > 0 || len(b) > 0 {
		var d FileDiff
		var order int
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = strings.Compare(a[0].Path, b[0].Path)
		}
		if order <= 0 {
			d.From, a = a[0], a[1:]
		}
		if order >= 0 {
			d.To, b = b[0], b[1:]
		}
		d.Path = cmp.Or(d.From.Path, d.To.Path)
		switch {
		case (d.From.Made || d.From.Path == "") && (d.To.Made || d.To.Path == ""):
			continue
		case d.From.Path == "":
			d.Change = FileAdded
		case d.To.Path == "":
			d.Change = FileRemoved
		case d.From.SHA256 != d.To.SHA256:
			d.Change = FileChanged
		case d.From.Executable != d.To.Executable:
			d.Change = FileMode
		default:
			continue
		}
		all = append(all, d)
	}
	return all
}

// Comparable returns those of the files of a difference whose texts may be compared.
func (d FileDiff) Comparable() Files {
	if d.Change == FileMode || max(d.From.Size, d.To.Size) > MaxComparedFile {
		return nil
	}
	var files Files
	for _, f := range []File{d.From, d.To} {
		if f.Path != "" {
			files = append(files, f)
		}
	}
	return files
}

// IsText reports whether the bytes of a file are a text: UTF-8 without a zero byte.
func IsText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// Quoted returns how long a text is as JSON.
func Quoted(b []byte) int {
	n := len(b)
	for _, c := range b {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}

// WithTexts returns the difference with the texts of its files, if all of them are texts. All has
// the bytes of those that may be compared by their SHA-256.
func (d FileDiff) WithTexts(all map[string][]byte) FileDiff {
	files := d.Comparable()
	for _, f := range files {
		if !IsText(all[f.SHA256]) {
			return d
		}
	}
	d.Lines = len(files) > 0
	d.Before, d.After = string(all[d.From.SHA256]), string(all[d.To.SHA256])
	return d
}

// Hunks returns the lines that differ as diff -u writes them, from the first @@ on.
func (d FileDiff) Hunks() string {
	if !d.Lines {
		return ""
	}
	text := udiff.Unified("a", "b", d.Before, d.After)
	at := strings.Index(text, "@@")
	if at < 0 {
		return ""
	}
	return text[at:]
}

// UnifiedWith is Unified with the differences of files. A SKILL.md that its author wrote says what
// descriptions and texts say, so these are left out where both versions have one.
func UnifiedWith(a, b Version, files []FileDiff) string {
	if a.Files.WrittenSkill() && b.Files.WrittenSkill() {
		return GitDiff(files)
	}
	return Unified(a, b) + GitDiff(files)
}

// GitDiff returns the differences of files as git diff writes them.
func GitDiff(all []FileDiff) string {
	var b strings.Builder
	for _, d := range all {
		from, to := "a/"+d.Path, "b/"+d.Path
		fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
		switch {
		case d.Change == FileAdded:
			from = "/dev/null"
			fmt.Fprintf(&b, "new file mode %s\n", d.To.Mode())
		case d.Change == FileRemoved:
			to = "/dev/null"
			fmt.Fprintf(&b, "deleted file mode %s\n", d.From.Mode())
		case d.From.Executable != d.To.Executable:
			fmt.Fprintf(&b, "old mode %s\nnew mode %s\n", d.From.Mode(), d.To.Mode())
		}
		hunks := d.Hunks()
		switch {
		case hunks != "":
			fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", ended(from), ended(to), hunks)
		case d.Change != FileMode && !d.Lines:
			fmt.Fprintf(&b, "Binary files %s and %s differ\n", from, to)
		}
	}
	return b.String()
}

// ended returns a path in a line of its own, where a tab ends one with a space.
func ended(path string) string {
	if strings.Contains(path, " ") {
		return path + "\t"
	}
	return path
}

// Mode returns the mode of a file in git.
func (f File) Mode() git.Mode {
	if f.Executable {
		return git.Executable
	}
	return git.File
}
