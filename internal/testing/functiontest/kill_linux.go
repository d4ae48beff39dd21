package functiontest

import "syscall"

// dieWithParent makes the kernel kill the handler when the test process dies.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
