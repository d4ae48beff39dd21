package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

func versionCommand() command {
	return command{
		name: "version", short: "print version, commit and Go",
		long: "Prints what this program was built from.",
		setup: func(*flag.FlagSet) action {
			return func(_ context.Context, std streams, _ []string) error {
				version, commit := built()
				_, err := fmt.Fprintf(std.out, "prompthub %s, commit %s, %s %s/%s\n", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
		},
	}
}

// built returns the version and the commit that go build has left in the program.
func built() (version, commit string) {
	version, commit = "(devel)", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, commit
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " with changes"
		}
	}
	return cmp.Or(info.Main.Version, version), commit + modified
}
