package command

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// roomAt returns the size and the free room of the disk that has a file.
func roomAt(file string) (r Room, err error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(file))
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(dir, &r.Free, &r.Size, nil)
	}
	return r, err
}
