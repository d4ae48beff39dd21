package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/storage/backup"
)

// A backupPlan says where and how often a running service writes a backup of itself.
type backupPlan struct {
	into  string // folder, "" for never
	every time.Duration
	keep  int
}

const (
	leastEvery = time.Minute
	backupTime = "20060102T150405Z" // in the name of a file
	// retryBackup is how long a service waits after a backup that failed. Every may be shorter.
	retryBackup = 10 * time.Minute
)

// setup defines the flags of a plan.
func (p *backupPlan) setup(flags *flag.FlagSet) {
	flags.StringVar(&p.into, "backup-dir", "",
		"`folder`, best on another disk, for backups that the service writes by itself")
	flags.DurationVar(&p.every, "backup-every", 24*time.Hour, "`time` from one backup to the next")
	flags.IntVar(&p.keep, "backup-keep", 14, "`number` of backups to keep: the oldest go")
}

// check refuses a plan that cannot be kept.
func (p backupPlan) check(st Store, write Backup) error {
	switch {
	case p.into == "":
		return nil
	case p.every < leastEvery:
		return UsageError(fmt.Sprintf("local: --backup-every %v: give at least %v", p.every, leastEvery))
	case p.keep < 1:
		return UsageError(fmt.Sprintf("local: --backup-keep %d: keep at least one", p.keep))
	case write == nil:
		return UsageError("local: --backup-dir: this application writes no backups")
	case st.Snapshot == nil:
		return UsageError("local: --backup-dir: the data is in a storage account; use the command backup")
	}
	// Made by hand, so that no backup goes under the place where a disk is not mounted.
	if info, err := os.Stat(p.into); err != nil || !info.IsDir() {
		return fmt.Errorf("--backup-dir %s is no folder: make it, or mount its disk", p.into)
	}
	return nil
}

// A schedule writes backups of a running service, one after the other.
type schedule struct {
	backupPlan
	*backups
	name string // of the service: files begin with it
	log  *slog.Logger
}

// run writes backups until ctx ends. It goes by the names of the files, so that a restart neither
// skips a backup nor makes one more.
func (s schedule) run(ctx context.Context) error {
	if s.into == "" {
		return nil
	}
	for wait := s.untilNext(); ; wait = s.try(ctx) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// try writes a backup, and returns how long it is until the next one. The log says why it failed.
func (s schedule) try(ctx context.Context) time.Duration {
	err := s.back(ctx)
	if err == nil || ctx.Err() != nil {
		return s.untilNext()
	}
	wait := min(s.every, retryBackup)
	s.log.ErrorContext(ctx, "backup", slog.String("error", err.Error()), slog.Duration("again_in", wait))
	return wait
}

// untilNext returns how long it is until the next backup.
func (s schedule) untilNext() time.Duration {
	last, err := s.newest()
	if err != nil || last.IsZero() {
		return 0
	}
	return max(time.Until(last.Add(s.every)), 0)
}

// newest returns when the newest backup that is there was begun, zero where there is none.
func (s schedule) newest() (time.Time, error) {
	files, err := s.files()
	if len(files) == 0 {
		return time.Time{}, err
	}
	return s.timeOf(files[len(files)-1]), err
}

// back writes one backup and removes those that are too many.
func (s schedule) back(ctx context.Context) error {
	select {
	case s.one <- struct{}{}:
		defer func() { <-s.one }()
	case <-ctx.Done():
		return ctx.Err()
	}
	start := time.Now()
	name := filepath.Join(s.into, s.name+"-"+start.UTC().Format(backupTime)+".jsonl")
	var said Backed
	err := WriteFile(name, func(w io.Writer) (err error) {
		said, err = s.spool(ctx, w, func(backup.Count) {})
		return err
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	done := s.log.With(slog.String("file", name), slog.Int("rows", said.Rows), slog.Int("files", said.Blobs),
		slog.Int64("bytes", info.Size()),
		slog.Int64("duration_ms", time.Since(start).Milliseconds()))
	if said.Left > 0 {
		done.WarnContext(ctx, "backup without rows of a newer version, or without what is damaged or missing",
			slog.Int("left_out", said.Left))
	} else {
		done.InfoContext(ctx, "backup")
	}
	return s.prune()
}

// leastExport is after what time there may be another export.
const leastExport = time.Hour

// CheckExportEvery refuses the setting EXPORT_EVERY where it is too short.
func CheckExportEvery(d time.Duration) error {
	if d < leastExport {
		return &auth.Refusal{Setting: "EXPORT_EVERY", Reason: "must be 1h or more"}
	}
	return nil
}

// exportTrigger is the name of the timer of exports.
const exportTrigger = "export"

// ExportTrigger returns the timer that exports a storage account, as a schedule backs up a file.
func ExportTrigger(e backup.Exporter, from backup.From, log *slog.Logger) function.Trigger {
	return function.Trigger{
		Name: exportTrigger, Schedule: "0 55 * * * *",
		Run: func(ctx context.Context, _ function.Invocation) error { return e.Run(ctx, from, log) },
	}
}

// prune removes the oldest backups beyond those to keep, and what a killed process has left of one.
func (s schedule) prune() error {
	files, err := s.files()
	if err != nil {
		return err
	}
	err = removeUnfinished(s.into, func(of string) bool {
		return strings.HasPrefix(of, s.name+"-") && !s.timeOf(of).IsZero()
	})
	for _, name := range files[:max(len(files)-s.keep, 0)] {
		err = errors.Join(err, os.Remove(filepath.Join(s.into, name)))
	}
	return err
}

// named returns the names of the files in the folder that begin with a text and have another one.
func (s schedule) named(begin, has string) (names []string, err error) {
	all, err := os.ReadDir(s.into)
	for _, f := range all {
		if strings.HasPrefix(f.Name(), begin) && strings.Contains(f.Name(), has) {
			names = append(names, f.Name())
		}
	}
	return names, err
}

// files returns the names of the backups that are there, the oldest first, and of no other file.
// One of a time to come was made by a clock that was wrong: it stays, and no backup waits for it.
func (s schedule) files() ([]string, error) {
	all, err := s.named(s.name+"-", ".jsonl")
	now := time.Now()
	all = slices.DeleteFunc(all, func(name string) bool { t := s.timeOf(name); return t.IsZero() || t.After(now) })
	return all, err
}

// timeOf returns when a backup was begun, zero for another file.
func (s schedule) timeOf(name string) time.Time {
	stamp := strings.TrimSuffix(strings.TrimPrefix(name, s.name+"-"), ".jsonl")
	t, err := time.Parse(backupTime, stamp)
	if err != nil {
		return time.Time{}
	}
	return t
}
