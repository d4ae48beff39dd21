package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// slowCall is what each call takes of the storage of four processes.
const slowCall = 20 * time.Millisecond

// processes casts votes of some callers on one post, by four processes on a storage whose every
// call takes 20 ms, and returns how many it casts a second. Here a process has no HTTP, and shares
// the machine with the others; what it waits for is the storage.
func processes(ctx context.Context, callers, shards int, each time.Duration) (float64, error) {
	db, queues := memory.NewTables(), memory.NewQueues(time.Now)
	var stores []*ballot.Store
	for range 4 {
		r, err := over(calls.Tables(db, slow), queues, nil)
		if err != nil {
			return 0, err
		}
		if len(stores) == 0 {
			if err := r.create(ctx); err != nil {
				return 0, err
			}
		}
		r.Ballot.Follow = func(context.Context, []ballot.Receipt) error { return nil }
		stores = append(stores, r.Ballot)
	}
	const post = "01HOT"
	key := table.Key{Partition: schema.Post(post), Row: "!post"}
	if _, err := db.Write(ctx, "Posts",
		table.Op{
			Kind: table.Insert,
			Row: table.Row{Key: key, Props: table.Props{
				{Name: "shards", Value: table.Int32(int32(shards))},
			}},
		}); err != nil {
		return 0, err
	}
	var cast, failed atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i := range callers {
		all.Go(func() {
			for n := 0; time.Since(began) < each; n++ {
				_, err := stores[i%len(stores)].Cast(ctx,
					ballot.Vote{
						Post: post, Voter: fmt.Sprintf("%03d%06d", i, n),
						Position: ballot.Position(n % 5), Shards: shards,
					})
				if err != nil {
					failed.Add(1)
				} else {
					cast.Add(1)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	results, err := stores[0].Results(ctx, post)
	if err == nil && results[0].Total < cast.Load() {
		err = fmt.Errorf("%d votes were acknowledged, and %d are there", cast.Load(), results[0].Total)
	}
	if failed.Load() > 0 {
		fmt.Printf("%d votes found the post busy, with %d shards\n", failed.Load(), shards)
	}
	return float64(cast.Load()) / took.Seconds(), err
}
