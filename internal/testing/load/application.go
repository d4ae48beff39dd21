package load

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"
)

// Main runs a bench until it ends or is interrupted.
func Main(run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Progress says on stderr how far a bench is.
func Progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// Options are what the command line of an application's bench says, besides what is its own.
type Options struct {
	Rounds        int
	Each          time.Duration
	Synced        bool
	Only, Profile string
}

// Flags adds the options to flags.
func (o *Options) Flags(flags *flag.FlagSet) {
	flags.IntVar(&o.Rounds, "rounds", 3, "how often each load is put on each program")
	flags.DurationVar(&o.Each, "each", 2*time.Second, "how long each load takes")
	flags.BoolVar(&o.Synced, "synced", false, "PocketBase too answers when the disk has what was written")
	flags.StringVar(&o.Only, "only", "", "only loads whose name contains this")
	flags.StringVar(&o.Profile, "cpuprofile", "", "where a profile of our program goes")
}

// Machine says for a report what it was measured on, and how often.
func (o Options) Machine(people string) string {
	return fmt.Sprintf("%s, %s/%s, %d processors, which the load generator shares; %s; %d rounds of %v, in turns",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), people, o.Rounds, o.Each)
}

// Local builds the handler of an application below dir, and starts it on the embedded store in a
// folder, with settings besides. It returns once the program answers.
func (o Options) Local(ctx context.Context, dir, application, data string, settings ...string) (*Program, error) {
	binary := filepath.Join(dir, "handler")
	if err := Build(ctx, ".", "prompthub/apps/"+application+"/handler", binary); err != nil {
		return nil, err
	}
	addr, err := FreeAddress(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"local", "--addr", addr, "--data", data}
	if o.Profile != "" {
		args = append(args, "--cpuprofile", o.Profile)
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(append(os.Environ(), "AzureWebJobsStorage=", "LOG_LEVEL=warn", "LIMIT_WRITES=-1", "LIMIT_READS=-1",
		"LIMIT_AT_WORK=1024"), settings...)
	cmd.Stderr = os.Stderr
	p, err := Start(addr, cmd)
	if err != nil {
		return nil, err
	}
	if err := p.Answers(ctx, "/api/v1/ready"); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// A Resident is one of two programs that are compared, with what it takes when it is filled and
// nothing is asked of it.
type Resident struct {
	Name    string
	Program *Program
	Data    string // its directory
	Rest    Footprint
	MB      float64 // of the directory
}

// Settle waits until the program has no jobs left, and notes its size.
func (r *Resident) Settle(ctx context.Context) (err error) {
	if _, err = r.Program.Quiet(ctx); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	if r.Rest, err = r.Program.Memory(); err != nil {
		return err
	}
	r.MB, err = SizeOf(r.Data)
	return err
}
