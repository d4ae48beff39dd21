package promptdb_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"

	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// A follower is an instance that writes no prompt. At moments of its own it follows the logs of
// searches, while other instances write and die.
type follower struct {
	r   *ring
	db  *promptdb.DB
	rnd *rand.Rand
}

func newFollower(r *ring, seed uint64) *follower {
	return &follower{r: r, rnd: rand.New(rand.NewPCG(seed, 11)), db: promptdb.New(promptdb.Config{
		Store: r.store, Queues: r.queues, Tables: promptdb.DefaultTables(), Now: r.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Jitter: noJitter,
	})}
}

// maybe follows the logs, or mostly does not.
func (f *follower) maybe() error {
	if f.rnd.IntN(10) > 0 {
		return nil
	}
	for _, scope := range []promptdb.Scope{{}, {Owner: "ann"}, {Owner: "bob"}} {
		if _, _, err := f.db.Index(context.Background(), scope); err != nil {
			return fmt.Errorf("follow a log: %w", err)
		}
	}
	return nil
}

// differences says in what the indexes of the follower differ from the truth, once it has followed.
func (f *follower) differences() (all []string) {
	scopes := map[promptdb.Scope]int{{}: 0, {Owner: "ann"}: 0, {Owner: "bob"}: 0}
	var truth []promptdb.Record
	for row, err := range table.All(context.Background(), f.r.store, promptdb.DefaultTables().Prompts, table.Range{}) {
		if err != nil {
			return []string{err.Error()}
		}
		if strings.HasPrefix(row.Row, "!") {
			continue
		}
		rec, err := promptdb.ParseRecord(row)
		if err != nil {
			return []string{err.Error()}
		}
		truth = append(truth, rec)
		scopes[promptdb.Scope{Owner: rec.AuthorID}] += 0
	}
	for scope := range scopes {
		index, partial, err := f.db.Index(context.Background(), scope)
		if err != nil || partial {
			return append(all, fmt.Sprintf("%v: partial %t, %v", scope, partial, err))
		}
		want := 0
		for _, rec := range truth {
			stamp, has := index.Has(rec.ID)
			if in := rec.In(scope); has != in || has && stamp != table.Ticks(rec.LoggedAt) {
				all = append(all, fmt.Sprintf("%v has %s of %d: %t, the truth of %d: %t", scope, rec.ID, stamp, has,
					table.Ticks(rec.LoggedAt), in))
			}
			if rec.In(scope) {
				want++
			}
		}
		if index.Len() != want {
			all = append(all, fmt.Sprintf("%v has %d prompts, the truth %d", scope, index.Len(), want))
		}
	}
	return all
}
