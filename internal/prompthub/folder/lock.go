package folder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// LockName is what the lock file is called. It belongs under version control.
const LockName = "prompthub.lock"

// A Lock says what files and prompts were when they were last the same.
type Lock struct {
	URL     string           `json:"url"`            // of the service
	User    string           `json:"user,omitempty"` // whose prompts they are; earlier versions did not say
	Prompts map[string]Entry `json:"prompts"`
}

// An Entry is a file and its prompt.
type Entry struct {
	ID       string `json:"id"`
	Revision int64  `json:"revision"`
	SHA256   string `json:"sha256"` // of the file, with single line feeds
}

// ReadLock returns the lock of a folder, an empty one where it has none. One of another service or
// user is an error: all that is in it would count as deleted.
func ReadLock(root *os.Root, url, user string) (Lock, error) {
	l := Lock{URL: url, User: user, Prompts: make(map[string]Entry)}
	b, err := root.ReadFile(LockName)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, fmt.Errorf("%s: %w", LockName, err)
	}
	if l.URL != url {
		return l, fmt.Errorf("%s is of %s, not of %s: use another folder, or remove the file to begin anew", LockName, l.URL, url)
	}
	if l.User != user {
		return l, fmt.Errorf("%s is of the prompts of %s, and you are %s: use a token of that user or another folder, or remove the file to begin anew", LockName, l.User, user)
	}
	if l.Prompts == nil {
		l.Prompts = make(map[string]Entry)
	}
	return l, nil
}

// note remembers that the file of an item and a prompt are the same.
func (l Lock) note(i Item, id string, revision int64, file []byte) {
	delete(l.Prompts, i.was)
	l.Prompts[i.Path] = Entry{id, revision, sum(file)}
}

// write replaces the lock file.
func (l Lock) write(root *os.Root) error {
	b, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return replace(root, LockName, append(b, '\n'))
}

// replace writes a file whole or not at all.
func replace(root *os.Root, name string, b []byte) error {
	next := name + ".new"
	if err := root.WriteFile(next, b, 0o666); err != nil {
		return err
	}
	return root.Rename(next, name)
}

// sum returns that of a file, whatever its line ends are: git writes others on Windows.
func sum(b []byte) string { return rawSum(lineFeeds(b)) }

func rawSum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// is reports whether a file is what it was. Earlier versions took the sum of its bytes, be it where
// git writes other line ends than here.
func (e Entry) is(file []byte) bool {
	return slices.Contains([]string{sum(file), rawSum(file), rawSum(bytes.ReplaceAll(lineFeeds(file), lf, crlf))}, e.SHA256)
}

var crlf, lf = []byte("\r\n"), []byte("\n")

// lineFeeds returns a file with single line feeds.
func lineFeeds(b []byte) []byte { return bytes.ReplaceAll(b, crlf, lf) }

// sameLines reports whether files are the same but for their line ends.
func sameLines(a, b []byte) bool { return bytes.Equal(lineFeeds(a), lineFeeds(b)) }
