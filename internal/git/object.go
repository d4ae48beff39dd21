// Package git makes objects of git (contents of files, folders, commits) and answers clients that
// clone and fetch, read only, in version 2 of git's protocol. It knows no HTTP and no store: a
// caller gives it requests and a Repository.
package git

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git names objects so; nothing is verified by these ids
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An ID names an object: the SHA-1 of its kind, its size and its bytes.
type ID [sha1.Size]byte

// ParseID returns the id that 40 hexadecimal digits say, as git writes them: in lower case.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != hex.EncodedLen(len(id)) || strings.ToLower(s) != s {
		return ID{}, fmt.Errorf("%.50q is no id of an object: it has 40 digits of 0-9a-f", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("%q is no id of an object: it has 40 digits of 0-9a-f", s)
	}
	return id, nil
}

// String returns the id in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether it names nothing.
func (id ID) IsZero() bool { return id == ID{} }

func idOf(kind string, b []byte) ID {
	h := sha1.New() //nolint:gosec // as above
	h.Write(append(strconv.AppendInt([]byte(kind+" "), int64(len(b)), 10), 0))
	h.Write(b)
	return ID(h.Sum(nil))
}

// BlobID returns the id of the contents of a file.
func BlobID(content []byte) ID { return idOf("blob", content) }

// A Mode says what an entry of a folder is.
type Mode string

// Modes as git writes them.
const (
	File       Mode = "100644"
	Executable Mode = "100755"
	Folder     Mode = "40000"
)

// An Entry is a file or a folder in a folder.
type Entry struct {
	Name string // in its folder; for MakeTrees a path with slashes
	Mode Mode
	ID   ID // of its blob or tree
}

// EncodeTree returns the object of a folder with these entries, in any order, each name once.
func EncodeTree(entries []Entry) (ID, []byte) {
	if !slices.IsSortedFunc(entries, compareEntries) {
		entries = slices.SortedFunc(slices.Values(entries), compareEntries)
	}
	var b []byte
	for _, e := range entries {
		b = append(append(append(b, e.Mode...), ' '), e.Name...)
		b = append(append(b, 0), e.ID[:]...)
	}
	return idOf("tree", b), b
}

// compareEntries orders entries as git does: the name of a folder as if it ended with a slash.
func compareEntries(a, b Entry) int {
	n := min(len(a.Name), len(b.Name))
	if c := strings.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return int(a.at(n)) - int(b.at(n))
}

func (e Entry) at(i int) byte {
	switch {
	case i < len(e.Name):
		return e.Name[i]
	case e.Mode == Folder:
		return '/'
	}
	return 0
}

// MakeTrees returns the id of the folder that holds the entries, whose names are paths sorted by
// their bytes: files, and folders whose trees were made before. If made is not nil, it gets each
// folder on the way, the innermost first, with its entries in the order of git.
func MakeTrees(entries []Entry, made func(ID, []Entry)) ID {
	return makeTree(entries, 0, made)
}

// makeTree returns the id of the folder of the entries, whose path has some bytes. In the order of
// their paths the entries of a folder are together.
func makeTree(entries []Entry, folder int, made func(ID, []Entry)) ID {
	var tree []Entry
	for len(entries) > 0 {
		e := entries[0]
		name, _, nested := strings.Cut(e.Name[folder:], "/")
		if !nested {
			tree, entries = append(tree, Entry{Name: name, Mode: e.Mode, ID: e.ID}), entries[1:]
			continue
		}
		inside := e.Name[:folder+len(name)+1]
		n := slices.IndexFunc(entries, func(x Entry) bool { return !strings.HasPrefix(x.Name, inside) })
		if n < 0 {
			n = len(entries)
		}
		tree = append(tree, Entry{Name: name, Mode: Folder, ID: makeTree(entries[:n], len(inside), made)})
		entries = entries[n:]
	}
	slices.SortFunc(tree, compareEntries)
	id, _ := EncodeTree(tree)
	if made != nil {
		made(id, tree)
	}
	return id
}

// A Commit is one state of a folder. It has at most one parent, so histories are lines. Author and
// committer are one.
type Commit struct {
	Tree        ID
	Parent      ID // zero for the first
	Name, Email string
	At          time.Time // in whole seconds, from 1970 on
	Message     string    // with one line feed at its end
}

// Encode returns the object of a commit. Control characters in its texts become spaces (of a
// message, all but line feeds), so no text can forge a header; a message gets its line feed.
func (c Commit) Encode() (ID, []byte) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	if !c.Parent.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", c.Parent)
	}
	by := fmt.Sprintf("%s <%s> %d +0000", onLine(c.Name), onLine(c.Email), max(c.At.Unix(), 0))
	message := strings.TrimRight(strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return printable(r)
	}, c.Message), "\n")
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s\n", by, by, message)
	return idOf("commit", b.Bytes()), b.Bytes()
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// onLine returns a name or address as the line of an author can hold it.
func onLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '<' || r == '>' {
			return ' '
		}
		return printable(r)
	}, s))
}

// ParseCommit returns the commit of an object that Encode made.
func ParseCommit(b []byte) (Commit, error) {
	var c Commit
	header, message, _ := strings.Cut(string(b), "\n\n")
	c.Message = message
	var err error
	for line := range strings.SplitSeq(header, "\n") {
		switch key, value, _ := strings.Cut(line, " "); key {
		case "tree":
			c.Tree, err = ParseID(value)
		case "parent":
			c.Parent, err = ParseID(value)
		case "author":
			var seconds int64
			name, rest, _ := strings.Cut(value, " <")
			email, at, _ := strings.Cut(rest, "> ")
			seconds, err = strconv.ParseInt(strings.TrimSuffix(at, " +0000"), 10, 64)
			c.Name, c.Email, c.At = name, email, time.Unix(seconds, 0).UTC()
		}
		if err != nil {
			return Commit{}, err
		}
	}
	if _, same := c.Encode(); !bytes.Equal(same, b) {
		return Commit{}, errors.New("the commit is not one that was made here")
	}
	return c, nil
}
