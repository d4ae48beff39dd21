// Package archive owns folders as ZIP archives: it reads those that people send, within limits, and
// writes those whose bytes never change. It is pure.
package archive

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// MaxEntries is how many entries an archive has at most, with folders and those that are left out.
const MaxEntries = 1000

// Codes of refusals of archives.
const (
	Broken fault.Code = "BAD_ARCHIVE"
	Link   fault.Code = "LINK"
)

// A Folder is what an archive holds.
type Folder struct {
	Files   []prompt.FileBytes // in the order of the archive, with paths in the normal form C of Unicode
	LeftOut []string           // files and folders that systems and git put there, with their paths in the archive
}

// An entry is a file in an archive, as the directory of the archive tells of it.
type entry struct {
	path           string
	name           string // as it is in the archive
	flags, method  int
	crc            uint32
	packed, size   int
	local          int // where its own header is
	mode           int // of Unix, 0 where it was made elsewhere
	kind           int // as the bits for the type in a mode
	begins, endsAt int // from its own header to its last byte
}

// Read returns the folder that an archive holds. One folder that holds everything is taken off.
// Numbers and sizes are those of package prompt at most, but the rules for paths it does not check.
// The error is a *fault.Error of the kind Invalid.
func Read(b []byte) (Folder, error) {
	folder, err := read(b, leftOut)
	if err != nil {
		return Folder{}, err
	}
	top := topFolder(folder.Files)
	for i := range folder.Files {
		folder.Files[i].Path = folder.Files[i].Path[len(top):]
	}
	return folder, nil
}

// ReadAll returns all files of an archive, with the paths that they have there: one that Write
// wrote.
func ReadAll(b []byte) ([]prompt.FileBytes, error) {
	folder, err := read(b, func(string) string { return "" })
	return folder.Files, err
}

func read(b []byte, leftOut func(path string) string) (Folder, error) {
	entries, start, end, err := readDirectory(b)
	if err != nil {
		return Folder{}, err
	}
	var folder Folder
	var files []entry
	seen, gone := make(map[string]bool, len(entries)), make(map[string]bool)
	total := 0
	for _, e := range entries {
		if out := leftOut(e.path); out != "" {
			if !gone[out] {
				gone[out] = true
				folder.LeftOut = append(folder.LeftOut, out)
			}
			continue
		}
		switch {
		case e.kind != 0 && e.kind != fileType && e.kind != folderType:
			return Folder{}, fault.Coded(fault.Invalid, Link,
				fmt.Sprintf("the archive: %.100q is a link or a device: put the file itself there", e.name))
		case (strings.HasSuffix(e.path, "/") || e.kind == folderType) && e.size == 0:
			continue
		case strings.HasSuffix(e.path, "/") || e.kind == folderType:
			return Folder{}, broken("%.100q is a folder and has bytes", e.name)
		case seen[e.path]:
			return Folder{}, broken("%.100q is in it twice", e.name)
		case e.flags&(1|1<<6|1<<13) != 0:
			return Folder{}, broken("%.100q is encrypted", e.name)
		}
		seen[e.path] = true
		if total += e.size; e.size > prompt.MaxFile || total > prompt.MaxFilesSize {
			return Folder{}, fault.Coded(fault.Invalid, prompt.FilesTooLarge, fmt.Sprintf(
				"the archive: %.100q is too large: a file may have %d bytes, all together %d; leave some out", e.name,
				prompt.MaxFile, prompt.MaxFilesSize))
		}
		files = append(files, e)
	}
	if err := place(b[start:end], files); err != nil {
		return Folder{}, err
	}
	for _, e := range files {
		content, err := unpack(b[start+e.begins:start+e.endsAt], e)
		if err != nil {
			return Folder{}, err
		}
		folder.Files = append(folder.Files,
			prompt.FileBytes{Path: e.path, Bytes: content, Executable: e.mode&execBits != 0})
	}
	return folder, nil
}

func broken(format string, args ...any) error {
	return fault.Coded(fault.Invalid, Broken, fmt.Sprintf("the archive: "+format+": make it again", args...))
}

// readDirectory returns the entries of an archive, and where it starts and its directory does:
// there may be other bytes before and after. It reads the directory itself, as archive/zip would
// read any number of entries into memory first.
func readDirectory(b []byte) (entries []entry, start, directory int, err error) {
	// a comment of at most 65,535 bytes may follow
	at := -1
	for i := len(b) - endSize; i >= max(0, len(b)-endSize-0xFFFF) && at < 0; i-- {
		if string(b[i:i+4]) == endSign && i+endSize+get2(b, i+20) <= len(b) {
			at = i
		}
	}
	if at < 0 {
		return nil, 0, 0, broken("this is no ZIP archive, or its end is missing")
	}
	number, size, offset := get2(b, at+10), get4(b, at+12), get4(b, at+16)
	if get2(b, at+4) != 0 || get2(b, at+6) != 0 || get2(b, at+8) != number {
		return nil, 0, 0, broken("it is a part of several, or has too many entries")
	}
	if offset == 0xFFFFFFFF {
		return nil, 0, 0, broken("it has the form for more than 4 GiB, ZIP64")
	}
	if number > MaxEntries {
		return nil, 0, 0, fault.Coded(fault.Invalid, prompt.TooManyFiles,
			fmt.Sprintf("the archive has %d entries: leave some out, it may have %d", number, MaxEntries))
	}
	// programs that write while they read put the end of larger archives before the usual one
	if i := at - largeEndSize; i >= 0 && string(b[i:i+4]) == largeEndSign {
		at = i
	}
	directory = at - size
	start = directory - offset
	if start < 0 {
		return nil, 0, 0, broken("its directory is not where it says")
	}
	p := directory
	for len(entries) < number {
		if at-p < directorySize || string(b[p:p+4]) != directorySign {
			return nil, 0, 0, broken("its directory ends early")
		}
		next := p + directorySize + get2(b, p+28)
		if next > at {
			return nil, 0, 0, broken("its directory ends early")
		}
		name := string(b[p+directorySize : next])
		if !utf8.ValidString(name) {
			return nil, 0, 0, broken("the name %.100q is not UTF-8", name)
		}
		if get2(b, p+34) != 0 {
			return nil, 0, 0, broken("%.100q is in another part of it", name)
		}
		e := entry{
			path: norm.NFC.String(name), name: name, flags: get2(b, p+8), method: get2(b, p+10),
			crc: uint32(get4(b, p+16)), packed: get4(b, p+20), size: get4(b, p+24), local: get4(b, p+42),
			kind: get2(b, p+40) & typeBits,
		}
		if on := b[p+5]; on == onUnix || on == onMacOS {
			e.mode = get2(b, p+40)
		}
		entries = append(entries, e)
		p = next + get2(b, p+30) + get2(b, p+32)
	}
	if p != at {
		return nil, 0, 0, broken("its directory has more than it says")
	}
	return entries, start, directory, nil
}

func get2(b []byte, at int) int { return int(binary.LittleEndian.Uint16(b[at:])) }

func get4(b []byte, at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }

// place finds the packed bytes of files in those before the directory, and reports files that say
// something else there, or have bytes in common.
func place(b []byte, files []entry) error {
	for i := range files {
		e := &files[i]
		if e.local > len(b)-localSize || string(b[e.local:e.local+4]) != localSign {
			return broken("%.100q is not where its directory says", e.name)
		}
		name := e.local + localSize
		e.begins = name + get2(b, e.local+26) + get2(b, e.local+28)
		e.endsAt = e.begins + e.packed
		if e.endsAt > len(b) {
			return broken("%.100q ends early", e.name)
		}
		if string(b[name:name+get2(b, e.local+26)]) != e.name {
			return broken("%.100q has another name in its directory", e.name)
		}
	}
	ordered := slices.SortedFunc(slices.Values(files), func(a, b entry) int { return a.local - b.local })
	for i := 1; i < len(ordered); i++ {
		if ordered[i].local < ordered[i-1].endsAt {
			return broken("%.100q and %.100q have bytes in common", ordered[i-1].name, ordered[i].name)
		}
	}
	return nil
}

// unpack returns the bytes of a file if they are as many as the directory says, and have its sum.
func unpack(packed []byte, e entry) ([]byte, error) {
	content := make([]byte, e.size)
	var r io.Reader = bytes.NewReader(packed)
	switch e.method {
	case 0:
	case 8:
		r = flate.NewReader(r)
	default:
		return nil, broken("%.100q is packed by the method %d, which is not stored or deflate", e.name, e.method)
	}
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, damaged(e)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF || crc32.ChecksumIEEE(content) != e.crc {
		return nil, damaged(e)
	}
	return content, nil
}

func damaged(e entry) error {
	return broken("%.100q is damaged: its bytes are not those that its directory tells of", e.name)
}

// LeavesOut reports whether a file of an archive is one that a system or git put there.
func LeavesOut(path string) bool { return leftOut(path) != "" }

// leftOut returns what of a path is left out, a file or a folder, and "" for a path of the
// author's.
func leftOut(path string) string {
	end := 0
	for part := range strings.SplitSeq(path, "/") {
		end += len(part)
		if end < len(path) && (strings.EqualFold(part, ".git") || part == "__MACOSX") {
			return path[:end+1]
		}
		if end == len(path) && slices.ContainsFunc([]string{".DS_Store", "Thumbs.db", "desktop.ini"},
			func(s string) bool { return strings.EqualFold(s, part) }) {
			return path
		}
		end++
	}
	return ""
}

// topFolder returns the folder that holds all files, with a slash, and "" if none does.
func topFolder(files []prompt.FileBytes) string {
	if len(files) == 0 {
		return ""
	}
	first, _, nested := strings.Cut(files[0].Path, "/")
	if !nested || first == "" || first == "." || first == ".." {
		return "" // which no path may have
	}
	first += "/"
	for _, e := range files {
		if !strings.HasPrefix(e.Path, first) {
			return ""
		}
	}
	return first
}
