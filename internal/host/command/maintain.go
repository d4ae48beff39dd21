package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/belong"
	"prompthub/internal/storage/queue"
)

// The commands by which an operator keeps the store of an application that says what its Contents
// are.

// KeepingCommands returns backup, restore, drill, verify and redrive.
func (s Service) KeepingCommands() []Command {
	return []Command{s.backupCommand(), s.restoreCommand(), s.drillCommand(), s.verifyCommand(), s.redriveCommand()}
}

// Interrupted returns err or, if a signal is the cause, how to go on: the storage answers.
func Interrupted(ctx context.Context, err error, next string) error {
	if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w; %s", context.Cause(ctx), next)
}

// opening opens a store.
type opening func(dir, queuePrefix string) (Store, error)

// onApp has do work on an application over a store, which it closes.
func (s Service) onApp(open opening, dir string, std Streams, do func(Settings, Build, App, Store) error) (err error) {
	set, build, err := s.read()
	if err != nil {
		return err
	}
	st, err := open(dir, set.QueuePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	fmt.Fprintf(std.Err, "Data is in %s\n", st.Where)
	a := build(set, st, operatorsLog(set, std), nil)
	defer a.Wait()
	return do(set, build, a, st)
}

func operatorsLog(set Settings, std Streams) *slog.Logger {
	return slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: max(set.LogLevel, slog.LevelWarn)}))
}

// redriveName is the command that every application with queues has.
const redriveName = "redrive"

func (s Service) redriveCommand() Command {
	return Command{
		Name: redriveName, Short: "put messages that were set aside back on their queues",
		Long: `A message whose job failed five times is set aside, where no job looks for it. This puts every such message
back on the queue that it came from, and prints how many there were. Run it when the cause is mended; that
a job runs twice does no harm. While "handler local" has the embedded store open, that does the work.`,
		Setup: s.Work(redriveName, nil),
	}
}

// redrive is the work of that command.
func redrive(ctx context.Context, qs queue.Queues, names []string, std Streams) error {
	n, err := queue.Redrive(ctx, qs, names...)
	fmt.Fprintf(std.Out, "messages put back: %d\n", n)
	if errors.Is(err, queue.ErrNoQueue) {
		err = fmt.Errorf("%w; set QUEUE_PREFIX to that of the application, or start the application first, which makes its queues", err)
	}
	return err
}

// work returns the work of a command on the store of an application, nil where there is none.
func (a App) work(name string, st Store) Action {
	if name == redriveName {
		return func(ctx context.Context, std Streams, _ []string) error {
			return redrive(ctx, st.Queues, a.queues(), std)
		}
	}
	return a.Asked[name]
}

// Work is the Setup of a command whose work is one of App.Asked. It is done on the store that is
// there, or by the process that has the store open. Check refuses arguments; it may be nil.
func (s Service) Work(name string, check func(args []string) error) func(*flag.FlagSet) Action {
	return func(flags *flag.FlagSet) Action {
		data := DataFlag(flags)
		return func(ctx context.Context, std Streams, args []string) error {
			if check != nil {
				if err := check(args); err != nil {
					return err
				}
			}
			err := s.onApp(s.OpenExisting, *data, std, func(_ Settings, _ Build, a App, st Store) error {
				if a.Refused != nil {
					return a.Refused
				}
				return a.work(name, st)(ctx, std, args)
			})
			if InUse(err) {
				err = s.AskTo(ctx, *data, std, name, args...)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, Interrupted(ctx, err, "run the same command again"))
			}
			return nil
		}
	}
}

func (s Service) backupCommand() Command {
	return Command{
		Name: "backup", Args: []string{"FILE"}, Short: "write the whole store as JSON Lines",
		Long: `Writes every row, and the files that rows name, to FILE ("-" is standard output), with a SHA-256 for each part and for the
whole. FILE appears when it is complete; one that is there stays, but with --overwrite. While "handler local" has the embedded
store open, that writes the backup of one moment. Back up so, and copy no file of a store that is in use.

Exit code 0: all of the store is in FILE. 1: there is no FILE, or FILE lacks what the lines before say: a row that is damaged,
a file that is missing. 2: the command line is wrong.`,
		Setup: func(flags *flag.FlagSet) Action {
			data := DataFlag(flags)
			overwrite := flags.Bool("overwrite", false, "replace FILE, where it is there, once the new one is complete")
			return func(ctx context.Context, std Streams, args []string) error {
				if err := s.backup(ctx, std, *data, args[0], *overwrite); err != nil {
					return fmt.Errorf("backup: %w", err)
				}
				return nil
			}
		},
	}
}

func (s Service) backup(ctx context.Context, std Streams, dir, name string, overwrite bool) error {
	if _, err := os.Lstat(name); err == nil && !overwrite && name != "-" {
		return fmt.Errorf("%s is there already: name another file, or replace it with --overwrite", name)
	}
	var said Backed
	p := NewProgress(std.Err, "rows", 0)
	progress := func(c backup.Count) { p.At(c.Rows) }
	err := WriteTo(std.Out, name, func(w io.Writer) error {
		err := s.onApp(s.OpenExisting, dir, std, func(_ Settings, _ Build, a App, st Store) error {
			return Sealed(w, func(w io.Writer) (err error) {
				said.Count, err = a.backup()(ctx, st.now(), w,
					backup.Reports{Progress: progress, Left: func(what string) {
						said.Left++
						said.LeftOut = append(said.LeftOut, what)
					}})
				return err
			})
		})
		if InUse(err) {
			said, err = s.AskBackup(ctx, dir, w, progress)
		}
		return err
	})
	if err != nil {
		return Interrupted(ctx, err, "there is no backup")
	}
	p.Clear()
	for _, what := range said.LeftOut {
		fmt.Fprintln(std.Err, what)
	}
	fmt.Fprintf(std.Err, "%d rows, %d files\n", said.Rows, said.Blobs)
	if said.Left > 0 {
		return fmt.Errorf("left out: %d", said.Left)
	}
	return nil
}

// WriteTo has standard output written where a file is called "-", else a file that appears when it
// is complete.
func WriteTo(out io.Writer, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(out)
	}
	return WriteFile(name, write)
}

// incompleteFlag is for a backup of a store in which files were missing.
func incompleteFlag(flags *flag.FlagSet) *bool {
	return flags.Bool("incomplete", false,
		"read the backup although files that its rows name are missing in it, or rows differ")
}

func (s Service) restoreCommand() Command {
	return Command{
		Name: "restore", Args: []string{"FILE"}, Short: "read a backup into an empty store",
		Long: `Reads what backup wrote from FILE ("-" is standard input, and a folder has the parts of an export) into a store without rows
and files. The backup is read through before anything is written: a part that is not as its SHA-256 says is named. The
store is then compared as verify does it. If anything fails, the store is as empty as before. "handler local" must not run
on the same data. People sign in anew.

Exit code 0: all of the backup is there, and no row differs. 1: nothing of it is. 2: the command line is wrong.`,
		Setup: func(flags *flag.FlagSet) Action {
			data, incomplete := DataFlag(flags), incompleteFlag(flags)
			return func(ctx context.Context, std Streams, args []string) error {
				if err := s.restore(ctx, std, *data, args[0], *incomplete); err != nil {
					return fmt.Errorf("restore: %w", err)
				}
				return nil
			}
		},
	}
}

// restore reads a backup into a store. Where the storage can, it is read into a file of its own,
// which takes the place of the store at the end.
func (s Service) restore(ctx context.Context, std Streams, dir, name string, incomplete bool) (err error) {
	in, err := OpenBackup(std.In, name, false)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	undo := s.unmake(dir)
	open := func(dir, queuePrefix string) (Store, error) {
		st, err := s.OpenStore(dir, queuePrefix)
		st.Existing = true // keys that are made now are not those of the backup
		return st, err
	}
	const none = "nothing of the backup is in the store"
	err = s.onApp(open, dir, std, func(set Settings, build Build, a App, st Store) error {
		if a.Refused != nil {
			return a.Refused
		}
		to := backup.To{Tables: st.Tables, Blobs: st.Blobs}
		if err := a.Contents.Empty(ctx, to, belong.Mark); err != nil {
			return Interrupted(ctx, err, none)
		}
		r := restoring{service: s, std: std, in: in, set: set, build: build, incomplete: incomplete}
		if err := r.check(a.Contents); err != nil {
			return err
		}
		if st.Rebuild != nil {
			err := st.Rebuild(func(made Store) error { made.Existing = true; return r.load(ctx, made) })
			return Interrupted(ctx, err, none)
		}
		err := r.load(ctx, st)
		if err == nil {
			return nil
		}
		if left := r.unload(ctx, st); left != nil {
			return errors.Join(err, left)
		}
		return Interrupted(ctx, err, none)
	})
	if err != nil {
		undo()
	}
	return err
}

// unmake returns what removes the embedded store in dir after it was closed, if there is none now.
func (s Service) unmake(dir string) func() {
	file := s.storeFile(dir)
	if _, err := os.Lstat(file); OnAzure() || !errors.Is(err, fs.ErrNotExist) {
		return func() {}
	}
	_, missing := os.Lstat(dir)
	return func() {
		_ = os.Remove(file)
		if missing != nil {
			_ = os.Remove(dir) // if nothing else is in it
		}
	}
}

// A restoring is a backup on its way into a store.
type restoring struct {
	service    Service
	std        Streams
	in         *OpenedBackup
	set        Settings
	build      Build
	incomplete bool
	checked    backup.Checked
}

// check reads the backup through.
func (r *restoring) check(c *backup.Contents) error {
	lines, err := r.in.Lines()
	if err == nil {
		r.checked, err = c.Check(lines, r.incomplete)
	}
	return err
}

// load reads the backup into a store, and compares that.
func (r *restoring) load(ctx context.Context, st Store) error {
	a := r.build(r.set, st, operatorsLog(r.set, r.std), nil)
	defer a.Wait()
	if a.Refused != nil {
		return a.Refused
	}
	if err := a.Create(ctx); err != nil {
		return err
	}
	lines, err := r.in.Lines()
	if err != nil {
		return err
	}
	p := NewProgress(r.std.Err, "rows", r.checked.Rows)
	if err := a.Contents.Load(ctx, lines, r.checked, backup.To{Tables: st.Tables, Blobs: st.Blobs, Load: st.Load},
		func(c backup.Count) { p.At(c.Rows) }); err != nil {
		return err
	}
	p.Clear()
	fmt.Fprintf(r.std.Err, "%d rows, %d files\n", r.checked.Rows, r.checked.Blobs)
	if a.Repair != nil {
		if err := a.Repair(ctx); err != nil {
			return err
		}
	}
	v := st.now()
	v.Still = true
	_, err = r.service.report(ctx, r.std, func(found func(any), progress func(int)) (int, error) {
		return a.Verify(ctx, v, found, progress)
	})
	if errors.Is(err, errDiffers) && r.incomplete {
		return nil
	}
	return err
}

// unload removes what was written, although the command may have been interrupted.
func (r *restoring) unload(ctx context.Context, st Store) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backupWithin)
	defer cancel()
	a := r.build(r.set, st, operatorsLog(r.set, r.std), nil)
	defer a.Wait()
	lines, err := r.in.Lines()
	if err == nil {
		err = a.Contents.Unload(ctx, lines, r.checked, backup.To{Tables: st.Tables, Blobs: st.Blobs, Load: st.Load})
	}
	if err != nil {
		return fmt.Errorf("what was read cannot be removed, so remove the tables and the containers: %w", err)
	}
	return nil
}

func (s Service) drillCommand() Command {
	return Command{
		Name: "drill", Args: []string{"FILE"}, Short: "try whether a backup can be restored",
		Long: `Restores FILE ("-" is standard input, and a folder has the parts of an export) into a store of its own, compares that as
verify does it, prints what was there and how long it took, and removes the store. It touches no other store, and may run
next to the service. The disk needs room for the store. What is kept apart from the store, such as keys, is taken from the
settings, or from the directory of --data.

Exit code 0: all of the backup could be restored, and no row differs. 1: something is wrong. 2: the command line is wrong.`,
		Setup: func(flags *flag.FlagSet) Action {
			data, incomplete := DataFlag(flags), incompleteFlag(flags)
			temp := flags.String("temp", "",
				"`folder` for the store; that of the system for temporary files unless it is given")
			return func(ctx context.Context, std Streams, args []string) error {
				if err := s.drill(ctx, std, *data, *temp, args[0], *incomplete); err != nil {
					return fmt.Errorf("drill: %w", err)
				}
				return nil
			}
		},
	}
}

func (s Service) drill(ctx context.Context, std Streams, data, temp, name string, incomplete bool) error {
	start := time.Now()
	in, err := OpenBackup(std.In, name, false)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	open := func(_, queuePrefix string) (Store, error) {
		st, err := s.OpenTemporary(temp, queuePrefix)
		st.Dir, st.Existing = data, true
		return st, err
	}
	return s.onApp(open, "", std, func(set Settings, build Build, a App, st Store) error {
		if a.Refused != nil {
			return a.Refused
		}
		r := restoring{
			service: s, std: Streams{Out: std.Err, Err: std.Err}, in: in, set: set,
			build: build, incomplete: incomplete,
		}
		if err := r.check(a.Contents); err != nil {
			return err
		}
		if err := r.load(ctx, st); err != nil {
			return Interrupted(ctx, err, "the store of the drill is removed")
		}
		fmt.Fprintf(std.Out, "rows\t%d\nfiles\t%d\nseconds\t%.1f\n", r.checked.Rows,
			r.checked.Blobs, time.Since(start).Seconds())
		return nil
	})
}

func (s Service) verifyCommand() Command {
	return Command{
		Name: "verify", Short: "compare lists, counts and files with what they follow, and change nothing",
		Long: `Compares all rows with one another, and prints a line for each that is not as it must be. It changes nothing. While "handler
local" has the embedded store open, that compares the rows of one moment. Rows may differ while a change is under way: in a
store that is in use only those are told that still differ some minutes later. A line that begins with "still on its way" is no
fault: the service stopped in the middle of work, which it does after the next start.

Exit code 0: all rows are as they must be. 1: some are not, or the store cannot be read. 2: the command line is wrong.`,
		Setup: func(flags *flag.FlagSet) Action {
			data := DataFlag(flags)
			return func(ctx context.Context, std Streams, _ []string) error {
				if err := s.verify(ctx, std, *data); err != nil {
					return fmt.Errorf("verify: %w", err)
				}
				return nil
			}
		},
	}
}

func (s Service) verify(ctx context.Context, std Streams, dir string) error {
	rows := 0
	err := s.onApp(s.OpenExisting, dir, std, func(_ Settings, _ Build, a App, st Store) (err error) {
		if a.Refused != nil {
			return a.Refused
		}
		if st.Snapshot != nil { // nothing else works on it
			a.Settles = 0
		} else {
			st.Snapshot = func(do func(View) error) error { return do(st.now()) }
		}
		rows, err = s.report(ctx, std, func(found func(any), progress func(int)) (int, error) {
			return running{app: a, store: st}.verify(ctx, found, progress)
		})
		return err
	})
	if InUse(err) {
		rows, err = s.report(ctx, std, func(found func(any), progress func(int)) (int, error) {
			return s.AskVerify(ctx, dir, func(text json.RawMessage) error {
				var line string
				err := json.Unmarshal(text, &line)
				found(line)
				return err
			}, progress)
		})
	}
	if err == nil {
		fmt.Fprintf(std.Out, "%d rows are as they must be\n", rows)
	}
	return Interrupted(ctx, err, "run the same command again")
}

// errDiffers ends a verification that found differences.
var errDiffers = errors.New("rows differ")

// report prints what a verification finds.
func (s Service) report(_ context.Context, std Streams,
	run func(found func(any), progress func(int)) (int, error),
) (rows int, err error) {
	p := NewProgress(std.Err, "rows", 0)
	differences := 0
	rows, err = run(func(difference any) {
		p.Clear()
		if _, waits := difference.(OnItsWay); waits {
			fmt.Fprintln(std.Out, "still on its way:", difference)
			return
		}
		differences++
		fmt.Fprintln(std.Out, difference)
	}, p.At)
	p.Clear()
	if err == nil && differences > 0 {
		err = fmt.Errorf("%w: %d", errDiffers, differences)
	}
	return rows, err
}
