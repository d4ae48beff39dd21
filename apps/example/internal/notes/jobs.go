package notes

import (
	"context"
	"strings"

	"prompthub/internal/host/function"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Triggers returns the functions that no request starts.
func (b *Book) Triggers() []function.Trigger {
	return []function.Trigger{
		{Name: QueueChanges, Queue: QueueChanges, Run: b.settle},
		{Name: "ended-notes", Schedule: "0 * * * * *", Run: func(ctx context.Context, _ function.Invocation) error {
			return b.Purge(ctx)
		}},
	}
}

const duePartition = "due"

// due is the key of the row by which the timer finds a note that has ended.
func (n Note) due() table.Key {
	return table.Key{Partition: duePartition, Row: rowstore.Ascending(n.Ends) + "|" + n.User + "|" + n.ID}
}

// Purge removes notes that have ended, up to rowstore.MaxScan of them: the timer goes on in its
// next run. The note goes first, so one that is left is found again.
func (b *Book) Purge(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	due := table.Range{Partition: duePartition, To: rowstore.Ascending(b.Now())}
	rows, _, err := b.Budget().Rows(ctx, b.Tables.Due, due, rowstore.MaxScan)
	if err != nil {
		return err
	}
	return rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		_, of, _ := strings.Cut(rows[i].Row, "|")
		user, note, _ := strings.Cut(of, "|")
		if err := b.RemoveKey(ctx, b.Tables.Notes, Note{User: user, ID: note}.key()); err != nil {
			return err
		}
		return b.RemoveKey(ctx, b.Tables.Due, rows[i].Key)
	})
}

// Repair does the work of the messages that no backup has.
func (b *Book) Repair(ctx context.Context) error {
	_, err := b.each(ctx, func(n Note) error { return b.follow(ctx, n) })
	return err
}

// Verify reports notes of which the timer would not know, and returns how many it has looked at.
func (b *Book) Verify(ctx context.Context, found func(any)) (int, error) {
	return b.each(ctx, func(n Note) error {
		row, err := b.GetRow(ctx, b.Tables.Due, n.due())
		if err == nil && row == nil {
			found("note " + n.User + " " + n.ID + ": nothing says when it ends")
		}
		return err
	})
}

// each calls do with every note.
func (b *Book) each(ctx context.Context, do func(Note) error) (count int, err error) {
	for row, err := range table.All(ctx, b.DB, b.Tables.Notes, table.Range{}) {
		if err == nil {
			err = do(parseNote(row))
		}
		if err != nil {
			return count, rowstore.Unavailable(err)
		}
		count++
	}
	return count, nil
}
