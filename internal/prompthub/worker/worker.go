// Package worker is the door for the queue and timer functions: which triggers there are, and
// what each of them runs. What they do is promptdb's.
package worker

import (
	"context"

	"prompthub/internal/function"
	"prompthub/internal/prompthub/promptdb"
)

// Triggers returns the functions that no request starts. Each has a folder of its name in
// functions/.
func Triggers(db *promptdb.DB) []function.Trigger {
	return []function.Trigger{
		{Name: "score-bucket-moves", Queue: promptdb.QueueMoves, Run: message(db.Move)},
		{Name: "index-repairs", Queue: promptdb.QueueRepairs, Run: message(db.Repair)},
	}
}

// message makes a function of a job that needs nothing but the text of its message.
func message(job func(ctx context.Context, text string) error) function.Func {
	return func(ctx context.Context, in function.Invocation) error { return job(ctx, in.Text) }
}
