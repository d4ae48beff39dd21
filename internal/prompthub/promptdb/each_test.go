package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/memory"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/table"
)

// A batching store refuses some of the batches that come together, and counts what comes.
type batching struct {
	*memory.Tables
	refuse func(table.Batch) error
	mu     sync.Mutex
	calls  int
	alone  []string // the tables of batches that come alone
}

func (s *batching) WriteEach(ctx context.Context, batches ...table.Batch) []error {
	s.mu.Lock()
	s.calls++
	s.mu.Unlock()
	errs := make([]error, len(batches))
	for i, b := range batches {
		if errs[i] = s.refuse(b); errs[i] == nil {
			_, errs[i] = s.Tables.Write(ctx, b.Table, b.Ops...)
		}
	}
	return errs
}

func (s *batching) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	s.mu.Lock()
	s.alone = append(s.alone, name)
	s.mu.Unlock()
	return s.Tables.Write(ctx, name, ops...)
}

// A store that takes many batches at once gets all index rows of a prompt so. What it refuses it
// gets once more before the answer; what may still land it does not, and the wake-up does the rest.
func TestIndexRowsAtOnce(t *testing.T) {
	t.Parallel()
	tables := promptdb.DefaultTables()
	for _, name := range []string{"", tables.Newest, tables.MostLiked, tables.TagIndex, tables.TitleIndex, tables.Votes} {
		for _, why := range []error{table.ErrBusy, errors.New("no answer")} {
			t.Run(fmt.Sprint(name, ": ", why), func(t *testing.T) {
				s := &batching{Tables: memory.NewTables(), refuse: func(b table.Batch) error {
					if b.Table == name {
						return why
					}
					return nil
				}}
				w := newWorldOn(t, s)
				s.calls, s.alone = 0, nil
				p := w.add("ann", draft("Tomato soup with basil", "soup", "lunch"))
				require.Equal(t, 1, s.calls)
				again := []string{}
				for _, one := range s.alone {
					if one != tables.Prompts && one != tables.TagCatalog && one != tables.Users {
						again = append(again, one)
					}
				}
				if name == "" || errors.Is(why, table.ErrBusy) {
					require.Equal(t, []string{p.Title}, w.newest(10))
					require.Equal(t, []string{p.Title}, w.mostLiked(10))
				} else {
					require.Empty(t, again)
				}
				require.Equal(t, name != "" && errors.Is(why, table.ErrBusy), slices.Contains(again, name))
				require.Empty(t, slices.DeleteFunc(again, func(one string) bool { return one == name }), "was not refused")

				s.refuse = func(table.Batch) error { return nil }
				w.run()
				require.Equal(t, []string{p.Title}, w.newest(10))
				w.check()
			})
		}
	}
}
