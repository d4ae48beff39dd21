package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"prompthub/internal/prompthub/folder"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 2
	exitRejected = 3
)

// streams are the standard streams of the process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// An action is what a command does once its flags are read.
type action func(ctx context.Context, std streams, args []string) error

// A command is one word after "handler".
type command struct {
	name  string
	args  []string // what follows, all of it needed, unless the last stands in brackets for any number
	short string
	long  string
	setup func(*flag.FlagSet) action
}

// commands returns all commands in the order of the help text.
func commands() []command {
	return []command{
		localCommand(), getCommand(), searchCommand(), saveCommand(), versionsCommand(), diffCommand(), labelCommand(),
		forkCommand(), upstreamCommand(), importCommand(), exportCommand(), pullCommand(), pushCommand(),
		backupCommand(), restoreCommand(), verifyCommand(), reindexCommand(), redriveCommand(), eraseCommand(), healthCommand(), versionCommand(),
	}
}

// usageError is a command line that asks for nothing we know.
type usageError string

func (e usageError) Error() string { return string(e) }

// errDiffers ends a diff of a folder that found differences.
var errDiffers = errors.New("they differ")

// errRejected ends an import that went through and left rows out.
var errRejected = errors.New("some rows were rejected")

// run does what the arguments say and returns the exit code. Settings come from the environment.
func run(ctx context.Context, args []string, std streams) int {
	err := dispatch(ctx, args, std)
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errRejected), errors.Is(err, folder.ErrConflicts), errors.Is(err, errDiffers):
		return exitRejected
	case errors.As(err, &usage):
		fmt.Fprintf(std.err, "%s: %s\n\nRun \"%[1]s help\" for the commands.\n", self(), usage)
		return exitUsage
	}
	fmt.Fprintf(std.err, "%s: %v\n", self(), err)
	return exitFailed
}

func dispatch(ctx context.Context, args []string, std streams) error {
	switch {
	case len(args) == 0 && self() == installed:
		return help(std.out, nil)
	case len(args) == 0:
		return serveHost(ctx, std)
	}
	name, args := args[0], args[1:]
	if name == "help" || name == "-h" || name == "-help" || name == "--help" {
		return help(std.out, args)
	}
	if name == "--version" || name == "-version" {
		name = "version"
	}
	c, err := find(name)
	if err != nil {
		return err
	}
	flags := c.flags()
	do := c.setup(flags)
	operands, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return help(std.out, []string{name})
	case err != nil:
		return usageError(fmt.Sprintf("%s: %v", name, err))
	case !c.takes(len(operands)):
		return usageError(fmt.Sprintf("%s: want %s", name, c.usage()))
	}
	return do(ctx, std, operands)
}

// takes reports whether a command can have so many arguments.
func (c command) takes(n int) bool {
	if last := len(c.args) - 1; last >= 0 && strings.HasPrefix(c.args[last], "[") {
		return n >= last
	}
	return n == len(c.args)
}

func find(name string) (command, error) {
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
	}
	return command{}, usageError(fmt.Sprintf("there is no command %q", name))
}

func (c command) flags() *flag.FlagSet {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run reports errors, help prints the flags
	return flags
}

func (c command) usage() string {
	return strings.Join(append([]string{self(), c.name, "[flags]"}, c.args...), " ")
}

// parse reads flags wherever they stand and returns what is none.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var operands []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return operands, nil
		}
		operands, args = append(operands, flags.Arg(0)), flags.Args()[1:]
	}
}
