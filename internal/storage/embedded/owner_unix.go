//go:build unix

package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// ownerOfDir gives a new file the owner of its directory, where this process may: root may restore
// a store for the user who runs the service.
func ownerOfDir(file *os.File) error {
	info, err := os.Stat(filepath.Dir(file.Name()))
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	opened, err := file.Stat()
	if err != nil {
		return err
	}
	// not what a link of that owner leads to
	if here, err := os.Lstat(file.Name()); err != nil || !os.SameFile(opened, here) {
		return err
	}
	if err := file.Chown(int(owner.Uid), int(owner.Gid)); !errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}

// sameOwner gives a file the owner and the mode of another one: a command may run as another user,
// such as root, than the service.
func sameOwner(path, of string) error {
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(path, info.Mode().Perm())
}
