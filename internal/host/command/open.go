package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob/parts"
)

// An OpenedBackup is a backup of which every part was found to be as its sum says. It can be read
// more than once.
type OpenedBackup struct {
	lines func() (io.Reader, error)
	close func() error
}

// Lines returns the lines from the first on. It ends what an earlier call has returned.
func (b *OpenedBackup) Lines() (io.Reader, error) { return b.lines() }

// Close closes the file.
func (b *OpenedBackup) Close() error { return b.close() }

// OpenBackup opens a backup and reads it through: a file, in for "-", or a folder with the parts of
// an export. A file without any sum is refused unless it may be one that was written before files
// had some.
func OpenBackup(in io.Reader, name string, mayLackSums bool) (*OpenedBackup, error) {
	if name == "-" {
		return spooled(in, mayLackSums)
	}
	if at, err := os.Stat(name); err == nil && at.IsDir() {
		b := &OpenedBackup{close: func() error { return nil }, lines: func() (io.Reader, error) {
			return parts.Open(func(part string) ([]byte, error) { return os.ReadFile(filepath.Join(name, part)) })
		}}
		return b, b.readThrough()
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	b, err := openedFile(file, file.Close, mayLackSums)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return b, nil
}

// spooled keeps what can be read once in a file.
func spooled(in io.Reader, mayLackSums bool) (*OpenedBackup, error) {
	file, end, err := nameless("")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(file, in); err != nil {
		return nil, errors.Join(err, end())
	}
	b, err := openedFile(file, end, mayLackSums)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return b, nil
}

func openedFile(file *os.File, end func() error, mayLackSums bool) (*OpenedBackup, error) {
	b := &OpenedBackup{close: end, lines: func() (io.Reader, error) {
		_, err := file.Seek(0, io.SeekStart)
		return backup.Unseal(file), err
	}}
	err := b.readThrough()
	if err == nil || !mayLackSums {
		return b, err
	}
	has, failed := hasSums(file)
	if failed != nil || has {
		return nil, errors.Join(err, failed)
	}
	b.lines = func() (io.Reader, error) {
		_, err := file.Seek(0, io.SeekStart)
		return file, err
	}
	return b, nil
}

// readThrough looks at each part.
func (b *OpenedBackup) readThrough() error {
	lines, err := b.lines()
	if err == nil {
		_, err = io.Copy(io.Discard, lines)
	}
	return err
}

// hasSums reports whether any line of a file has a sum.
func hasSums(file *os.File) (bool, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	in := bufio.NewReaderSize(file, 1<<16)
	for begins := true; ; {
		some, err := in.ReadSlice('\n')
		switch {
		case begins && bytes.HasPrefix(some, []byte(backup.SumBegins)):
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return false, fmt.Errorf("read the backup: %w", err)
		}
		begins = err == nil
	}
}
