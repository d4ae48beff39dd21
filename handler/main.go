// Command handler is PromptHub: the custom handler of a function app, the same in one process
// on a machine of one's own, and the tools to fill, save and check it. "handler help" lists them.
//
// This package only puts things together: settings, a store, the service and its doors.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// garbage is how much a heap may grow before it is collected, in percent of what lives in it. That is a few megabytes here, and half as
// many collections save a list a fifth of its time (docs/performance.md).
const garbage = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}
