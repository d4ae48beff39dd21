//go:build !linux

package functiontest

import "syscall"

// dieWithParent can do nothing here: a handler outlives a test process that is killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
