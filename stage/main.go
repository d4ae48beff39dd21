// Command stage puts an application together as the Functions host wants it: one directory
// with host.json, the handler and, as direct children, the folders of the functions, which the
// repository keeps in functions/. It stages the application in the working directory, or in that of
// -app, from which the other paths start too.
//
//	stage [-app DIR] [-out DIR] [-zip FILE]   for deployment: linux/amd64, and a zip of it
//	stage start [-app DIR] [-out DIR]         for this machine, with Azurite and "func start"
//	stage release -version V [-out DIR] [-platforms OS/ARCH,...]   archives of PromptHub for people to download
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "stage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "release" {
		return runRelease(ctx, args[1:], out)
	}
	start := len(args) > 0 && args[0] == "start"
	if start {
		args = args[1:]
	}
	flags := flag.NewFlagSet("stage", flag.ContinueOnError)
	app := flags.String("app", ".", "`directory` of the application")
	dir := flags.String("out", "dist/functionapp", "`directory` to make anew")
	archive := flags.String("zip", "", "`file` to put the directory into")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if err := os.Chdir(*app); err != nil {
		return err
	}
	if start {
		return startFunc(ctx, *dir)
	}
	if err := stage(ctx, ".", *dir, platform{"linux", "amd64"}); err != nil {
		return err
	}
	fmt.Fprintln(out, "staged in", *dir)
	if *archive == "" {
		return nil
	}
	if err := zipDir(*dir, *archive); err != nil {
		return fmt.Errorf("zip %s: %w", *dir, err)
	}
	fmt.Fprintln(out, "zipped to", *archive)
	return nil
}

// thisMachine is where func start runs.
func thisMachine() platform { return platform{runtime.GOOS, runtime.GOARCH} }
