package queue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
)

// A message comes again unless whoever received it deletes it before the lock ends.
func Example() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ctx, q := context.Background(), memory.NewQueues(func() time.Time { return now })
	if err := q.Create(ctx, "mails"); err != nil {
		panic(err)
	}
	if _, err := q.Send(ctx, "mails", "hello", 0); err != nil {
		panic(err)
	}
	receive := func() []queue.Message {
		ms, err := q.Receive(ctx, "mails", 1, time.Minute)
		if err != nil {
			panic(err)
		}
		return ms
	}
	first := receive()
	fmt.Println(first[0].Text, first[0].Dequeued, "and while it is locked:", len(receive()))

	now = now.Add(time.Minute) // its receiver died
	second := receive()
	fmt.Println(second[0].Text, second[0].Dequeued)
	fmt.Println("too late:", errors.Is(q.Delete(ctx, "mails", first[0].Receipt), queue.ErrGone))
	fmt.Println("done:", q.Delete(ctx, "mails", second[0].Receipt))
	// Output:
	// hello 1 and while it is locked: 0
	// hello 2
	// too late: true
	// done: <nil>
}
