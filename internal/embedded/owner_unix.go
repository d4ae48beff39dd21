//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// sameOwner gives a file the owner and the mode of another one: who runs a command, as root
// perhaps, is not who runs the service.
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
