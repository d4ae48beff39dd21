// Package worker is the door for the queue and timer functions: which triggers there are, and
// what each of them runs. What they do is promptdb's.
package worker

import (
	"context"
	"log/slog"

	"prompthub/internal/host/function"
	"prompthub/internal/prompthub/promptdb"
)

// Triggers returns the functions that no request starts. Each has a folder of its name in
// functions/. What the timers did is told to log.
func Triggers(db *promptdb.DB, log *slog.Logger) []function.Trigger {
	return []function.Trigger{
		{Name: "score-bucket-moves", Queue: promptdb.QueueMoves, Run: message(db.Move)},
		{Name: "index-repairs", Queue: promptdb.QueueRepairs, Run: message(db.Repair)},
		{Name: "anti-entropy", Schedule: "0 */15 * * * *", Run: sweep(db, log)},
		{Name: "purge", Schedule: "0 30 3 * * *", Run: reporting(log, slog.LevelInfo, "purge", "prompts", db.Purge)},
		{
			Name: "tag-counts", Schedule: "0 * * * * *",
			Run: reporting(log, slog.LevelDebug, "tag counts", "prompts", db.CountTags),
		},
		{Name: "erase", Schedule: "0 10 * * * *", Run: reporting(log, slog.LevelInfo, "erase", "accounts", db.Erase)},
		{
			Name: "search-snapshot", Schedule: "0 40 * * * *",
			Run: reporting(log, slog.LevelInfo, "snapshot of the search index", "prompts", db.KeepSnapshot),
		},
		{Name: "backups", Schedule: "0 50 * * * *", Run: backups(db, log)},
	}
}

// message makes a function of a job that needs nothing but the text of its message.
func message(job func(ctx context.Context, text string) error) function.Func {
	return func(ctx context.Context, in function.Invocation) error { return job(ctx, in.Text) }
}

func sweep(db *promptdb.DB, log *slog.Logger) function.Func {
	return func(ctx context.Context, _ function.Invocation) error {
		rows, differences, err := db.Sweep(ctx)
		level := slog.LevelInfo
		if differences > 0 {
			level = slog.LevelWarn
		}
		log.LogAttrs(ctx, level, "anti-entropy", slog.Int("rows", rows), slog.Int("differences", differences))
		return err
	}
}

// reporting makes a function of a job that says how much it did, which is told under a name.
func reporting(log *slog.Logger, level slog.Level, name, counted string,
	job func(context.Context) (int, error),
) function.Func {
	return func(ctx context.Context, _ function.Invocation) error {
		n, err := job(ctx)
		log.LogAttrs(ctx, level, name, slog.Int(counted, n))
		return err
	}
}

// BackupDone is what the log says when a backup is complete. The alert on its age counts these
// lines.
const BackupDone = "backup is complete"

// backups keeps a backup each day, over as many runs as it takes.
func backups(db *promptdb.DB, log *slog.Logger) function.Func {
	return func(ctx context.Context, _ function.Invocation) error {
		k, err := db.Keep(ctx, func(d promptdb.Difference) {
			log.LogAttrs(ctx, slog.LevelWarn, "left out of the backup", slog.String("row", d.String()))
		})
		if k.Name == "" {
			return err
		}
		said := "backup goes on"
		if k.Done {
			said = BackupDone
		}
		log.LogAttrs(ctx, slog.LevelInfo, said, slog.String("name", k.Name), slog.Int("rows", k.Rows))
		return err
	}
}
