// Command handler is PromptHub: the custom handler of a function app, the same in one process
// on a machine of one's own, and the tools to fill, save and check it. "handler help" lists them.
//
// This package only puts things together: settings, a store, the service and its doors.
package main

import (
	"os"
	"runtime/debug"

	// Where there are no certificate authorities, as in a container from scratch, these are used.
	_ "golang.org/x/crypto/x509roots/fallback"
)

const (
	// garbage is how much a heap may grow before it is collected, in percent of its live data. That is
	// a few megabytes here, and half as many collections pay (docs/performance.md).
	garbage = 200
	// heapLimit is from where on it is collected as often as it takes to stay below, in bytes.
	heapLimit = 256 << 20
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
	program().Main()
}
