package command

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version prints what the program was built from.
func (s Service) Version() Command {
	return Command{
		Name: "version", Short: "print version, commit and Go",
		Long: "Prints what this program was built from.",
		Setup: func(flags *flag.FlagSet) Action {
			asJSON := flags.Bool("json", false, "print JSON")
			return func(_ context.Context, std Streams, _ []string) error {
				version, commit := Built()
				if *asJSON {
					return json.NewEncoder(std.Out).Encode(map[string]string{
						"name": s.Name, "version": version, "commit": commit, "go": runtime.Version(),
						"os": runtime.GOOS, "arch": runtime.GOARCH,
					})
				}
				_, err := fmt.Fprintf(std.Out, "%s %s, commit %s, %s %s/%s\n", s.Name, version, commit,
					runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			}
		},
	}
}

// Built returns the version and the commit that go build has left in the program.
func Built() (version, commit string) {
	if release != "" {
		return release, releaseCommit
	}
	version, commit = unreleased, "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, commit
	}
	modified := ""
	for _, set := range info.Settings {
		switch {
		case set.Key == "vcs.revision":
			commit = set.Value
		case set.Key == "vcs.modified" && set.Value == "true":
			modified = " with changes"
		}
	}
	if info.Main.Version != "(devel)" { // what Go says of a build without a tag
		version = cmp.Or(info.Main.Version, version)
	}
	return version, commit + modified
}

// release and releaseCommit are what "make release" has the linker put here. Go itself knows a tag
// only if its major version is that of the module's path, and no commit in a worktree of git.
var release, releaseCommit string

// unreleased is the version of a program that was built without that of a release.
const unreleased = "0.0.0-dev"
