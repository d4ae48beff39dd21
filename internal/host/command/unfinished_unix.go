//go:build linux || darwin

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// claim keeps a file from being removed by another process that asks for it so. It ends with the
// process.
func claim(file string) (release func(), free bool) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return func() {}, false
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close() // it was only looked at
		return func() {}, false
	}
	return func() { _ = f.Close() }, true
}
