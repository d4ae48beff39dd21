// Package command is what the programs of all applications have in common: a command line with
// help, progress and exit codes; the settings that every application has; a store of Azure or of
// one file; and a service under the Functions host or, as "local", alone. An application brings its
// own commands and a Service.
package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/agnivade/levenshtein"
)

// The exit codes of every program.
const (
	OK      = 0 // done
	Failed  = 1
	Usage   = 2 // the command line is wrong
	LeftOut = 3 // done, but for what the command says

	// Restart is how the custom handler ends after a signal. The Functions host never starts a handler
	// again that ended with OK, and answers 500 from then on. After Restart it starts it anew, and
	// does not count it among the failures of which the third ends the host.
	Restart = 200
)

// errSignal ends the custom handler after a signal.
var errSignal = errors.New("ended by a signal")

// Streams are the standard streams of the process.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// An Action is what a command does once its flags are read.
type Action func(ctx context.Context, std Streams, args []string) error

// A Command is one word after the name of the program.
type Command struct {
	Name  string
	Args  []string // the arguments, all of them needed, unless the last stands in brackets for any number
	Short string
	Long  string
	Setup func(*flag.FlagSet) Action
}

// A Program is the binary of an application.
type Program struct {
	Service Service // runs without a command, under the Functions host

	// Commands in the order of the help text, and the texts before and after them. In Intro %[1]s is
	// the name of the program.
	Commands     []Command
	Intro, Outro string

	// LeftOut are the errors after which the exit code is LeftOut, and nothing more is said.
	LeftOut []error
}

// A UsageError is a command line that asks for nothing we know.
type UsageError string

// Error returns what is wrong.
func (e UsageError) Error() string { return string(e) }

// Main is all that the function main of a program does: it runs it, with the arguments and streams
// of the process, until it has ended or a signal ends it, and exits with its code.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(p.Run(ctx, os.Args[1:], Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// Run does what the arguments say and returns the exit code. Settings come from the environment.
func (p Program) Run(ctx context.Context, args []string, std Streams) int {
	std = onScreen(std)
	err := p.dispatch(ctx, args, std)
	var usage UsageError
	switch {
	case err == nil:
		return OK
	case errors.Is(err, errSignal):
		return Restart
	case slices.ContainsFunc(p.LeftOut, func(target error) bool { return errors.Is(err, target) }):
		return LeftOut
	case errors.As(err, &usage):
		fmt.Fprintf(std.Err, "%s: %s\n\nRun \"%[1]s help\" for the commands.\n", p.self(), usage)
		return Usage
	}
	fmt.Fprintf(std.Err, "%s: %v\n", p.self(), err)
	return Failed
}

func (p Program) dispatch(ctx context.Context, args []string, std Streams) error {
	switch {
	case len(args) == 0 && p.self() == p.Service.Name:
		return p.help(std.Out, nil)
	case len(args) == 0:
		return p.Service.serveHost(ctx, std)
	}
	name, args := args[0], args[1:]
	if name == "help" || name == "-h" || name == "-help" || name == "--help" {
		return p.help(std.Out, args)
	}
	if name == "--version" || name == "-version" {
		name = "version"
	}
	c, err := p.find(name)
	if err != nil {
		return err
	}
	flags := c.flags()
	do := c.Setup(flags)
	operands, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.help(std.Out, []string{name})
	case err != nil:
		return UsageError(fmt.Sprintf("%s: %v", name, err))
	case !c.takes(len(operands)):
		return UsageError(fmt.Sprintf("%s: want %s", name, p.usage(c)))
	}
	return do(ctx, std, operands)
}

// takes reports whether a command can have n arguments.
func (c Command) takes(n int) bool {
	if last := len(c.Args) - 1; last >= 0 && strings.HasPrefix(c.Args[last], "[") {
		return n >= last
	}
	return n == len(c.Args)
}

func (p Program) find(name string) (Command, error) {
	for _, c := range p.all() {
		if c.Name == name {
			return c, nil
		}
	}
	if strings.HasPrefix(name, "-") {
		return Command{}, UsageError(
			fmt.Sprintf("%s: flags follow the command, as in \"%s COMMAND %[1]s\"", name, p.self()))
	}
	text := fmt.Sprintf("there is no command %q", name)
	far := func(c Command) int { return levenshtein.ComputeDistance(c.Name, name) }
	if near := slices.MinFunc(p.all(), func(a, b Command) int { return cmp.Compare(far(a), far(b)) }); far(near) <= 2 &&
		far(near) < len(name) {
		text += "; did you mean " + near.Name + "?"
	}
	return Command{}, UsageError(text)
}

func (c Command) flags() *flag.FlagSet {
	flags := flag.NewFlagSet(c.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // Run reports errors, help prints the flags
	return flags
}

func (p Program) usage(c Command) string {
	return strings.Join(append([]string{p.self(), c.Name, "[flags]"}, c.Args...), " ")
}

// parse reads flags wherever they stand before a -- and returns the other arguments.
func parse(flags *flag.FlagSet, args []string) ([]string, error) {
	var operands []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if read := len(args) - len(rest); len(rest) == 0 || read > 0 && args[read-1] == "--" {
			return append(operands, rest...), nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}
