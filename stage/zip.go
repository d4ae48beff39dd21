package main

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// zipped is the time of every entry: with it the same directory gives the same bytes.
var zipped = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// zipDir puts the files of dir into a new archive, in the order of their names. The handler keeps
// its right to be executed, which many other tools lose.
func zipDir(dir, archive string) (err error) {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := zip.NewWriter(f)
	// WalkDir goes in the order of the names.
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return addFile(z, path, filepath.ToSlash(name))
	})
	return errors.Join(err, z.Close())
}

func addFile(z *zip.Writer, path, name string) error {
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: zipped}
	header.SetMode(0o644)
	if name == binary {
		header.SetMode(0o755)
	}
	w, err := z.CreateHeader(header)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
