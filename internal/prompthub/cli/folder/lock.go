package folder

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"prompthub/internal/prompthub/files/format"
)

// LockName is what the lock file is called. It belongs under version control.
const LockName = "prompthub.lock"

// A Lock says what files and prompts were when they were last the same.
type Lock struct {
	URL     string           `json:"url"`            // of the service
	User    string           `json:"user,omitempty"` // whose prompts they are; earlier versions did not say
	Prompts map[string]Entry `json:"prompts"`
	// Workspace is the handle by which a workspace was named, if they are of one.
	Workspace string `json:"workspace,omitempty"`
}

// An Entry is a file and its prompt.
type Entry struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
	SHA256   string `json:"sha256"` // of the file, with single line feeds
	// of a skill with files, whose SKILL.md the file is
	Files      string   `json:"files,omitempty"`      // their digest, the text among them with single line feeds
	Executable []string `json:"executable,omitempty"` // paths of those that are, which some systems cannot keep
}

// ReadLock returns the lock of a folder, an empty one where it has none. One of another service or
// owner is an error: all that is in it would count as deleted.
func ReadLock(root *os.Root, url, owner, workspace string) (Lock, error) {
	l := Lock{URL: url, User: owner, Prompts: make(map[string]Entry)}
	b, err := root.ReadFile(LockName)
	if errors.Is(err, fs.ErrNotExist) {
		l.Workspace = workspace
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, fmt.Errorf("%s: %w", LockName, err)
	}
	if l.URL != url {
		return l, fmt.Errorf("%s is of %s, not of %s: use another folder, or remove the file to begin anew", LockName,
			l.URL, url)
	}
	if l.User != owner {
		return l, errOwner(l, owner, workspace)
	}
	if l.Prompts == nil {
		l.Prompts = make(map[string]Entry)
	}
	for name := range l.Prompts {
		if err := mayKeep(root, name); err != nil {
			return l, fmt.Errorf("%s names %q, which %w: take it out of the lock file", LockName, name, err)
		}
	}
	return l, nil
}

// errOwner refuses a lock of another owner than the one that is named.
func errOwner(l Lock, owner, workspace string) error {
	const anew = "or another folder, or remove the file to begin anew"
	switch {
	case l.Workspace != "":
		return fmt.Errorf("%s is of the prompts of the workspace %s: use --workspace %s %s", LockName,
			l.Workspace, l.Workspace, anew)
	case workspace != "":
		return fmt.Errorf("%s is of the prompts of %s, and not of the workspace %s: leave out --workspace, %s",
			LockName, l.User, workspace, anew)
	}
	return fmt.Errorf("%s is of the prompts of %s, and you are %s: use a token of that user %s",
		LockName, l.User, owner, anew)
}

// mayKeep refuses a path that Pull must not write to. The lock file and links come with a
// repository, which may be a stranger's: what git reads, and runs, must not become what a prompt
// says.
func mayKeep(root *os.Root, name string) error {
	if !fs.ValidPath(name) || name == "." || strings.EqualFold(path.Base(name), ".git") {
		return errors.New("is no path of a prompt below the folder")
	}
	if err := mayEnter(root, path.Dir(name)); err != nil {
		return err
	}
	return isNoLink(root, name)
}

// mayEnter refuses a folder that has no prompts, is in one of those, or is reached through a link.
func mayEnter(root *os.Root, dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		if format.Hidden(dir) {
			return fmt.Errorf("is in %s, a hidden folder", dir)
		}
		if err := isNoLink(root, dir); err != nil {
			return err
		}
	}
	return nil
}

func isNoLink(root *os.Root, name string) error {
	if info, err := root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("goes through the symbolic link %s", name)
	}
	return nil
}

// note remembers that the file of an item and a prompt are the same.
func (l Lock) note(i Item, id string, revision int64, file []byte) {
	delete(l.Prompts, i.was)
	e := Entry{ID: id, Revision: revision, SHA256: sum(file)}
	if i.skill != nil {
		e.Files, e.Executable = digest(i.skill.here), executable(i.skill.here)
	}
	l.Prompts[i.Path] = e
}

// write replaces the lock file.
func (l Lock) write(root *os.Root) error {
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return replace(root, LockName, append(b, '\n'))
}

// replace writes a file whole or not at all. It writes to a new file of a random name first: at a
// name that can be known, somebody may have put a link, or a file of their own.
func replace(root *os.Root, name string, b []byte) (err error) {
	next := path.Join(path.Dir(name), ".prompthub-"+rand.Text())
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(next))
		}
	}()
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(next, name)
}

// sum returns that of a file, with any line ends: git writes others on Windows.
func sum(b []byte) string { return rawSum(lineFeeds(b)) }

func rawSum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// is reports whether a file is what it was. Earlier versions took the sum of its bytes, be it where
// git writes other line ends than here.
func (e Entry) is(file []byte) bool {
	return slices.Contains([]string{sum(file), rawSum(file), rawSum(bytes.ReplaceAll(lineFeeds(file), lf, crlf))},
		e.SHA256)
}

var crlf, lf = []byte("\r\n"), []byte("\n")

// lineFeeds returns a file with single line feeds.
func lineFeeds(b []byte) []byte { return bytes.ReplaceAll(b, crlf, lf) }

// sameLines reports whether files are the same but for their line ends.
func sameLines(a, b []byte) bool { return bytes.Equal(lineFeeds(a), lineFeeds(b)) }
