package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// WriteFile has a file written under another name first, so that one that is there is complete.
// What a killed process has left of the same file goes.
func WriteFile(name string, write func(io.Writer) error) error {
	dir, base := filepath.Split(filepath.Clean(name))
	dir = filepath.Clean(dir)
	_ = removeUnfinished(dir, func(of string) bool { return of == base }) // a file is written all the same
	f, release, err := begin(dir, base)
	if err != nil {
		return err
	}
	defer release()
	defer os.Remove(f.Name()) // it has gone where all went well
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, base)); err != nil {
		return err
	}
	return SyncDir(dir)
}

// begin makes the file that has another name until it is complete, and claims it. Another process
// may look at it before that, and remove it: then there is another one. The last is taken without a
// claim, as some disks know none, and no process removes it there.
func begin(dir, base string) (f *os.File, release func(), err error) {
	const tries = 3
	for try := range tries {
		if f, err = os.CreateTemp(dir, "."+base+".*"); err != nil {
			return nil, nil, err
		}
		release, free := claim(f.Name())
		if (free || try == tries-1) && isAt(f, f.Name()) {
			return f, release, nil
		}
		release()
		_ = f.Close() // nothing was written
		_ = os.Remove(f.Name())
	}
	return nil, nil, errors.New("another process removes the file again and again")
}

// isAt reports whether a file has a name still.
func isAt(f *os.File, name string) bool {
	is, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(is, there)
}

// removeUnfinished removes the unfinished files in a folder that no process writes any more, where
// mine reports so of the name that a file would have got.
func removeUnfinished(dir string, mine func(of string) bool) error {
	all, err := os.ReadDir(dir)
	for _, f := range all {
		of, isUnfinished := unfinishedOf(f.Name())
		if !isUnfinished || !mine(of) || !f.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, f.Name())
		if release, free := claim(path); free {
			err = errors.Join(err, os.Remove(path))
			release()
		}
	}
	return err
}

// unfinishedOf returns the name that an unfinished file would have got.
func unfinishedOf(name string) (of string, isUnfinished bool) {
	at := strings.LastIndexByte(name, '.')
	if !strings.HasPrefix(name, ".") || at < 2 || at == len(name)-1 || strings.Trim(name[at+1:], "0123456789") != "" {
		return "", false
	}
	return name[1:at], true
}
