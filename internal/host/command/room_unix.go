//go:build linux || darwin

package command

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// roomAt returns the size and the free room of the disk that has a file.
func roomAt(file string) (Room, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(file), &s); err != nil {
		return Room{}, err
	}
	block := uint64(s.Bsize)
	return Room{Size: s.Blocks * block, Free: s.Bavail * block}, nil
}
