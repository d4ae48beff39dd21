package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/promptdb"
	backups "prompthub/internal/storage/backup"
	"prompthub/internal/storage/table"
)

const onTheStore = "\n\nWorks on the store itself: the embedded one, which no other process may have open, or that of AzureWebJobsStorage."

func backupCommand() command.Command {
	return command.Command{
		Name: "backup", Args: []string{"FILE"}, Short: "write the whole store as JSON Lines",
		Long: "Writes every prompt, vote and tag to FILE (\"-\" is standard output). Index rows follow from them and are left out.\n" +
			"FILE appears when it is complete. One that is there stays, but with --overwrite. While \"handler local\" has the\n" +
			"embedded store open, that writes the backup of one moment, for whoever may read the store. Back up so, and copy no file\n" +
			"of a store: what is copied while it is written is damaged." + onTheStore,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			overwrite := flags.Bool("overwrite", false, "replace FILE, where it is there, once the new one is complete")
			return func(ctx context.Context, std command.Streams, args []string) error {
				if _, err := os.Lstat(args[0]); err == nil && !*overwrite && args[0] != "-" {
					return fmt.Errorf("backup: %s is there already: name another file, or replace it with --overwrite",
						args[0])
				}
				err := withStore(ctx, *data, std, whole, func(db *promptdb.DB) error {
					return backup(ctx, db, std, args[0])
				})
				if command.InUse(err) {
					return askBackup(ctx, *data, std, args[0])
				}
				return err
			}
		},
	}
}

func backup(ctx context.Context, db *promptdb.DB, std command.Streams, name string) error {
	p := command.NewProgress(std.Err, "rows", 0)
	n := 0
	f := findings{out: std.Err, progress: p}
	err := command.WriteTo(std.Out, name, func(w io.Writer) error {
		return command.Sealed(w, func(w io.Writer) (err error) {
			n, err = db.Backup(ctx, w, f.report, p.At)
			return err
		})
	})
	if err != nil {
		return err
	}
	p.Done(n)
	return leftOut(f.n)
}

func leftOut(n int) error {
	if n == 0 {
		return nil
	}
	return fmt.Errorf("backup: rows left out: %d. Those of a newer version: back up with it", n)
}

// askBackup has the process write a backup that has the store open.
func askBackup(ctx context.Context, dir string, std command.Streams, name string) error {
	var said command.Backed
	p := command.NewProgress(std.Err, "rows", 0)
	err := command.WriteTo(std.Out, name, func(w io.Writer) (err error) {
		said, err = service().AskBackup(ctx, dir, w, func(c backups.Count) { p.At(c.Rows) })
		return err
	})
	p.Clear()
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	for _, row := range said.LeftOut {
		fmt.Fprintln(std.Err, row)
	}
	fmt.Fprintf(std.Err, "%d rows, by the process that runs\n", said.Rows)
	return leftOut(said.Left)
}

// findings prints rows that something is wrong with.
type findings struct {
	out      io.Writer
	progress *command.Progress
	asJSON   bool
	n        int
	waiting  int // rows that the job of a message will make agree, of which no line is printed
}

// A differenceLine is a row that something is wrong with, as --json prints it.
type differenceLine struct {
	Table     string `json:"table"`
	Partition string `json:"partition"`
	Row       string `json:"row"`
	What      string `json:"what"`
	Waits     bool   `json:"waits,omitempty"` // never printed
}

func foundLine(d promptdb.Difference) differenceLine {
	return differenceLine{d.Table, d.Key.Partition, d.Key.Row, d.What, d.Waits}
}

// difference is the reverse of foundLine.
func (l differenceLine) difference() promptdb.Difference {
	return promptdb.Difference{
		Table: l.Table, Key: table.Key{Partition: l.Partition, Row: l.Row},
		What: l.What, Waits: l.Waits,
	}
}

func (f *findings) report(d promptdb.Difference) {
	if d.Waits {
		f.waiting++
		return
	}
	f.n++
	f.progress.Clear()
	if f.asJSON {
		_ = printJSON(f.out, foundLine(d)) // as text is printed
		return
	}
	fmt.Fprintln(f.out, d)
}

// failure returns an error that says how many there were, if there were any.
func (f *findings) failure(format string) error {
	if f.n == 0 {
		return nil
	}
	return fmt.Errorf(format, f.n)
}

func restoreCommand() command.Command {
	return command.Command{
		Name: "restore", Args: []string{"FILE"}, Short: "read a backup into an empty store",
		Long: "Reads what backup wrote from FILE (\"-\" is standard input, and a folder has the parts of a kept backup) into a store without prompts and votes, then\n" +
			"writes the index rows. Where it fails, empty the store before the next try. Prints what reindex would leave alone, and\n" +
			"then exits with 1." + onTheStore,
		Setup: func(flags *flag.FlagSet) command.Action {
			data, asJSON := command.DataFlag(flags), jsonFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				in, end, err := openBackup(std.In, args[0])
				if err != nil {
					return err
				}
				defer end() //nolint:errcheck // it was read alone
				return onStore(service().OpenStore, *data, std, func(a *app) error {
					err := a.db.Create(ctx)
					if err == nil {
						err = a.restore(ctx, std, bufio.NewReader(in), *asJSON)
					}
					next := "empty the data directory, or remove the tables, and restore again"
					if errors.Is(err, promptdb.ErrNotIndexed) {
						next = promptdb.ErrNotIndexed.Error()
					}
					return command.Interrupted(ctx, err, next)
				})
			}
		},
	}
}

// openBackup opens a backup, looks whether it is one of PromptHub, and returns its lines. A file
// may be one that was written before backups had sums.
func openBackup(in io.Reader, name string) (lines io.Reader, end func() error, err error) {
	b, err := command.OpenBackup(in, name, true)
	if err != nil {
		return nil, nil, err
	}
	all, err := b.Lines()
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	read := bufio.NewReader(all)
	first, err := read.ReadBytes('\n')
	if err == nil || errors.Is(err, io.EOF) {
		err = promptdb.CheckBackup(first)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("line 1 of %s: %w", name, err), b.Close())
	}
	return io.MultiReader(bytes.NewReader(first), read), b.Close, nil
}

// restore restores a backup. Where the storage can it is restored into a file of its own, which
// takes the place of the store at the end. Until then the store is marked, so that all refuse it.
func (a *app) restore(ctx context.Context, std command.Streams, in *bufio.Reader, asJSON bool) error {
	if a.rebuild == nil {
		_, f, err := restore(ctx, a.db, std, in, asJSON)
		return errors.Join(err, f)
	}
	first, err := in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := a.db.MarkRestore(ctx, first); err != nil {
		return err
	}
	var left error // which is no reason not to keep the rest
	err = a.rebuild(func(st command.Store) (err error) {
		made := newApp(a.settings, st, a.log, nil)
		defer made.behind.Wait()
		if err := made.db.Create(ctx); err != nil {
			return err
		}
		_, left, err = restore(ctx, made.db, std, io.MultiReader(bytes.NewReader(first), in), asJSON)
		return err
	})
	return errors.Join(err, left)
}

// A restored is how much a backup had.
type restored struct{ rows, prompts int }

// restore restores a backup. It also returns the error of rows that were left as they are: all else
// is there then.
func restore(ctx context.Context, db *promptdb.DB, std command.Streams, in io.Reader,
	asJSON bool,
) (n restored, left, err error) {
	rows, prompts := command.NewProgress(std.Err, "rows", 0), command.NewProgress(std.Err, "prompts indexed", 0)
	f := findings{out: std.Out, progress: prompts, asJSON: asJSON}
	n.rows, err = db.Restore(ctx, in, f.report, rows.At, func(i int) { n.prompts = i; prompts.At(i) })
	if err != nil {
		return n, nil, err
	}
	rows.Done(n.rows)
	prompts.Done(n.prompts)
	return n, f.failure("restore: all of the backup is there; rows that differ, and were left as they are: %d"), nil
}

func drillCommand() command.Command {
	return command.Command{
		Name: "drill", Args: []string{"FILE"}, Short: "try whether a backup can be restored",
		Long: "Restores FILE (\"-\" is standard input, and a folder has the parts of a kept backup) into a store of its own, verifies\n" +
			"that, prints what was there and how long it took, and removes the store. It touches no other store, and may run next to the service. The disk needs room for the\n" +
			"store. The exit code is 0 only if all of the backup could be restored and no row differs from the truth.",
		Setup: func(flags *flag.FlagSet) command.Action {
			asJSON := jsonFlag(flags)
			temp := flags.String("temp", "",
				"`folder` for the store; that of the system for temporary files unless it is given")
			return func(ctx context.Context, std command.Streams, args []string) error {
				in, end, err := openBackup(std.In, args[0])
				if err != nil {
					return err
				}
				defer end() //nolint:errcheck // it was read alone
				return onStore(service().OpenTemporary, *temp, std, func(a *app) error {
					return command.Interrupted(ctx, drill(ctx, a.db, std, in, *asJSON), "run the same command again")
				})
			}
		},
	}
}

func drill(ctx context.Context, db *promptdb.DB, std command.Streams, in io.Reader, asJSON bool) error {
	start := time.Now()
	if err := db.Create(ctx); err != nil {
		return err
	}
	findings := std
	if asJSON {
		findings.Out = std.Err // standard output has one document
	}
	n, left, err := restore(ctx, db, findings, in, asJSON)
	if err := errors.Join(err, left); err != nil {
		return err
	}
	took := time.Since(start)
	if err := verify(ctx, db.Verify, findings, asJSON); err != nil {
		return err
	}
	if asJSON {
		return printJSON(std.Out, map[string]any{
			"rows": n.rows, "prompts": n.prompts, "restoreSeconds": took.Seconds(),
			"verifySeconds": (time.Since(start) - took).Seconds(),
		})
	}
	fmt.Fprintf(std.Out, "rows\t%d\nprompts\t%d\nseconds to restore\t%.1f\nseconds to verify\t%.1f\n",
		n.rows, n.prompts, took.Seconds(), (time.Since(start) - took).Seconds())
	return nil
}

func verifyCommand() command.Command {
	return command.Command{
		Name: "verify", Short: "compare every row of the store with the truth",
		Long: "Compares every index row, count, vote and Idempotency-Key with the truth rows and prints each difference; the exit\n" +
			"code is 1 where there is one. Rows that the job of a message on a queue will make agree are no differences: how many\n" +
			"wait is told on standard error. Of a storage account only 32 visible messages of each queue are seen. reindex repairs\n" +
			"index rows. While \"handler local\" has the embedded store open, that compares the rows of one moment, within ten\n" +
			"minutes." + onTheStore,
		Setup: func(flags *flag.FlagSet) command.Action {
			data, asJSON := command.DataFlag(flags), jsonFlag(flags)
			return func(ctx context.Context, std command.Streams, _ []string) error {
				err := withStore(ctx, *data, std, whole, func(db *promptdb.DB) error {
					return verify(ctx, db.Verify, std, *asJSON)
				})
				if command.InUse(err) {
					return askVerify(ctx, *data, std, *asJSON)
				}
				return err
			}
		},
	}
}

// askVerify has the process verify the store that has it open.
func askVerify(ctx context.Context, dir string, std command.Streams, asJSON bool) error {
	return verify(ctx, func(ctx context.Context, report func(promptdb.Difference), progress func(int)) (int, error) {
		n, err := service().AskVerify(ctx, dir, func(found json.RawMessage) error {
			var l differenceLine
			err := json.Unmarshal(found, &l)
			report(l.difference())
			return err
		}, progress)
		if err != nil {
			return n, fmt.Errorf("verify: %w", err)
		}
		return n, nil
	}, std, asJSON)
}

// verify prints what a verification finds.
func verify(ctx context.Context, run func(context.Context, func(promptdb.Difference), func(int)) (int, error),
	std command.Streams, asJSON bool,
) error {
	p := command.NewProgress(std.Err, "rows", 0)
	f := findings{out: std.Out, progress: p, asJSON: asJSON}
	n, err := run(ctx, f.report, p.At)
	if err != nil {
		return err
	}
	p.Done(n)
	if f.waiting > 0 {
		fmt.Fprintf(std.Err, "rows that wait for the job of a message on a queue: %d\n", f.waiting)
	}
	if err := f.failure("verify: differences: %d. On a storage account, right after a kill or an outage, that is work which its messages will finish: let the application run for three minutes and verify again. Otherwise: reindex"); err != nil {
		return err
	}
	fmt.Fprintln(std.Err, "no difference")
	return nil
}

func reindexCommand() command.Command {
	return command.Command{
		Name: "reindex", Short: "write every index row of the store again",
		Long: "Writes the index rows of every prompt again and removes those that should not be there, and Idempotency-Keys that\n" +
			"lead to no prompt. Prints what it leaves alone, and then exits with 1: rows that it cannot read or that a newer\n" +
			"version wrote, tallies that differ from the votes, and votes on prompts that do not exist. A library of an\n" +
			"earlier release is brought over, and its rows that are not needed any more are removed." + onTheStore,
		Setup: func(flags *flag.FlagSet) command.Action {
			data, asJSON := command.DataFlag(flags), jsonFlag(flags)
			orphans := flags.Bool("remove-orphans", false, "remove votes on prompts that do not exist, for good")
			return func(ctx context.Context, std command.Streams, _ []string) error {
				return onStore(service().OpenExisting, *data, std, func(a *app) error {
					err := a.isThere(ctx)
					older := errors.Is(err, promptdb.ErrOlder)
					if older {
						err = a.db.MakeTables(ctx)
					}
					if err == nil {
						err = indexable(ctx, a.db)
					}
					if err == nil {
						err = haveQueues(ctx, a.db)
					}
					if err == nil {
						err = reindex(ctx, a.db, older, *orphans, std, *asJSON)
					}
					return command.Interrupted(ctx, err, "run the same command again")
				})
			}
		},
	}
}

// whole refuses a store that has a part of a backup.
func whole(ctx context.Context, db *promptdb.DB) error { return db.Ready(ctx) }

// indexable is whole but for what a reindex mends.
func indexable(ctx context.Context, db *promptdb.DB) error {
	err := whole(ctx, db)
	if errors.Is(err, promptdb.ErrNotIndexed) {
		return nil
	}
	return err
}

func reindex(ctx context.Context, db *promptdb.DB, older, orphans bool, std command.Streams, asJSON bool) error {
	p := command.NewProgress(std.Err, "prompts", 0)
	f := findings{out: std.Out, progress: p, asJSON: asJSON}
	n, err := db.Reindex(ctx, orphans, f.report, p.At)
	if err != nil {
		return err
	}
	p.Done(n)
	if older {
		p := command.NewProgress(std.Err, "rows of an earlier release removed", 0)
		n, err := db.EndOlder(ctx, p.At)
		if err != nil {
			return err
		}
		p.Done(n)
	}
	return f.failure("reindex: rows left alone: %d")
}

func compactCommand() command.Command {
	return command.Command{
		Name: "compact", Short: "make the file of the embedded store smaller",
		Long: "Writes the file of the embedded store anew, without the room that deleted rows leave and that half-full pages have, and\n" +
			"puts it in place of the old one once it is whole. The application must not be running, and the disk needs room for\n" +
			"both. A file only ever grows by itself: what is deleted is used again, and not given back.",
		Setup: func(flags *flag.FlagSet) command.Action {
			data, asJSON := command.DataFlag(flags), jsonFlag(flags)
			return func(_ context.Context, std command.Streams, _ []string) error {
				return compact(*data, std, *asJSON)
			}
		},
	}
}

func compact(data string, std command.Streams, asJSON bool) error {
	p := command.NewProgress(std.Err, "MB", 0)
	mb := 0
	before, after, err := service().Compact(data, std.Err, func(n int) { mb = n; p.At(n) })
	if err != nil {
		return err
	}
	p.Done(mb)
	if asJSON {
		return printJSON(std.Out, map[string]float64{"megabytesBefore": before, "megabytesNow": after})
	}
	fmt.Fprintf(std.Out, "%.1f MB before, %.1f MB now\n", before, after)
	return nil
}

func redriveCommand() command.Command {
	return command.Command{
		Name: "redrive", Short: "put messages that failed too often back on their queues",
		Long: "Puts every message of the poison queues back on the queue that it came from, and prints how many there were. Do it when\n" +
			"the reason why their functions failed is gone." + onTheStore,
		Setup: func(flags *flag.FlagSet) command.Action {
			data, asJSON := command.DataFlag(flags), jsonFlag(flags)
			return func(ctx context.Context, std command.Streams, _ []string) error {
				return withQueues(ctx, *data, std, whole, func(db *promptdb.DB) error {
					return redrive(ctx, db, std, *asJSON)
				})
			}
		},
	}
}

func redrive(ctx context.Context, db *promptdb.DB, std command.Streams, asJSON bool) error {
	n, err := db.Redrive(ctx)
	if asJSON {
		return errors.Join(err, printJSON(std.Out, map[string]int{"messages": n}))
	}
	fmt.Fprintf(std.Out, "messages put back: %d\n", n)
	return err
}

// withStore has do work on the store that is there. It makes none, and no table: an empty one would
// pass for a library in which verify finds no difference. It does nothing where ready refuses the
// store.
func withStore(ctx context.Context, dir string, std command.Streams, ready func(context.Context, *promptdb.DB) error,
	do func(*promptdb.DB) error,
) error {
	return onStore(service().OpenExisting, dir, std, func(a *app) error {
		err := a.isThere(ctx)
		if err == nil {
			err = ready(ctx, a.db)
		}
		if err == nil {
			err = do(a.db)
		}
		return command.Interrupted(ctx, err, "run the same command again")
	})
}

// withQueues is withStore for work that sends messages, or looks for them.
func withQueues(ctx context.Context, dir string, std command.Streams, ready func(context.Context, *promptdb.DB) error,
	do func(*promptdb.DB) error,
) error {
	return withStore(ctx, dir, std, ready, func(db *promptdb.DB) error {
		if err := haveQueues(ctx, db); err != nil {
			return err
		}
		return do(db)
	})
}

func haveQueues(ctx context.Context, db *promptdb.DB) error {
	missing, err := db.MissingQueues(ctx)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("queues are missing: %s; set QUEUE_PREFIX to that of the application, or start the application first, which makes them", strings.Join(missing, ", "))
	}
	return err
}

// isThere returns an error if the store lacks tables, or was made by an earlier release.
func (a *app) isThere(ctx context.Context) error {
	missing, err := a.db.Missing(ctx)
	if tables := a.settings.Prefixed(); err == nil && !slices.Contains(missing, tables.SystemState) &&
		!slices.Contains(missing, tables.Prompts) {
		if err := a.db.CheckVersion(ctx); err != nil {
			return err
		}
	}
	switch all := a.settings.All(); {
	case err != nil:
		return err
	case len(missing) == len(all):
		return fmt.Errorf("there is no library with TABLE_PREFIX %q: none of its tables is there, such as %s; set the prefix of the library, and AzureWebJobsStorage to its account", a.settings.Prefix, missing[0])
	case len(missing) > 0:
		return fmt.Errorf("tables are missing: %s; where an earlier version made the library, start the application of this one first, which makes them; else correct the TABLE_ settings", strings.Join(missing, ", "))
	}
	return nil
}

// onStore has do work on a store, which is closed when nothing is left to do.
func onStore(open func(dir, queuePrefix string) (command.Store, error), dir string, std command.Streams,
	do func(*app) error,
) (err error) {
	s, err := readSettings()
	if err != nil {
		return err
	}
	st, err := open(dir, s.QueuePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	fmt.Fprintf(std.Err, "Data is in %s\n", st.Where)
	a := newApp(s, st,
		slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: max(s.LogLevel, slog.LevelWarn)})), nil)
	defer a.behind.Wait()
	return do(a)
}
