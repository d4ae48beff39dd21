package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/memory"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/table"
)

// A batching store refuses some of the batches that come together, and counts what comes.
type batching struct {
	*memory.Tables
	refuse  func(table.Batch) error
	wrote   func(table string)
	mu      sync.Mutex
	calls   int
	most    int      // batches of a call
	bounded bool     // the time of each call
	alone   []string // the tables of batches that come alone
}

func (s *batching) WriteEach(ctx context.Context, batches ...table.Batch) []error {
	s.mu.Lock()
	s.calls++
	s.most = max(s.most, len(batches))
	by, ok := ctx.Deadline()
	s.bounded = s.bounded && ok && time.Until(by) <= promptdb.CallWithin
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
	defer s.wrote(name)
	return s.Tables.Write(ctx, name, ops...)
}

func newBatching() *batching {
	return &batching{Tables: memory.NewTables(), bounded: true, refuse: func(table.Batch) error { return nil }, wrote: func(string) {}}
}

// indexWrites returns the index tables of batches that came alone.
func (s *batching) indexWrites() []string {
	t := promptdb.DefaultTables()
	return slices.DeleteFunc(slices.Clone(s.alone), func(name string) bool {
		return name == t.Prompts || name == t.TagCatalog || name == t.Users
	})
}

// A store that takes many batches at once gets all index rows of a prompt so. What it refuses it
// gets once more before the answer; what may still land it does not, and the wake-up does the rest.
func TestIndexRowsAtOnce(t *testing.T) {
	t.Parallel()
	tables := promptdb.DefaultTables()
	lost := errors.New("no answer")
	for what, refused := range map[string]map[string]error{
		"nothing":               {},
		"the first":             {tables.Votes: table.ErrBusy},
		"newest":                {tables.Newest: table.ErrBusy},
		"tags":                  {tables.TagIndex: table.ErrBusy},
		"titles":                {tables.TitleIndex: table.ErrBusy},
		"the first is lost":     {tables.Votes: lost},
		"newest is lost":        {tables.Newest: lost},
		"titles are lost":       {tables.TitleIndex: lost},
		"one lost, others busy": {tables.Newest: lost, tables.Votes: table.ErrBusy, tables.TitleIndex: table.ErrBusy},
	} {
		t.Run(what, func(t *testing.T) {
			s := newBatching()
			s.refuse = func(b table.Batch) error { return refused[b.Table] }
			w := newWorldOn(t, s)
			s.alone = nil
			p := w.add("ann", draft("Tomato soup with basil", "soup", "lunch"))
			require.Equal(t, 1, s.calls)
			require.True(t, s.bounded)
			again := s.indexWrites()
			isLost := func(name string) bool { return errors.Is(refused[name], lost) }
			for name := range refused {
				require.Equal(t, !isLost(name), slices.Contains(again, name), name)
			}
			for _, name := range again {
				require.Contains(t, refused, name, "was not refused")
			}
			if !isLost(tables.Newest) {
				require.Equal(t, []string{p.Title}, w.newest(10))
			}
			require.Equal(t, []string{p.Title}, w.mostLiked(10))

			s.refuse = func(table.Batch) error { return nil }
			w.run()
			require.Equal(t, []string{p.Title}, w.newest(10))
			w.check()
		})
	}
}

// However many rows a prompt has, a call has a bounded number of them.
func TestManyIndexRowsAtOnce(t *testing.T) {
	t.Parallel()
	s := newBatching()
	w := newWorldOn(t, s)
	words := make([]string, 30)
	for i := range words {
		words[i] = fmt.Sprintf("%c%cxyzuvw", 'a'+i%26, 'a'+i/26)
	}
	s.alone = nil
	w.add("ann", draft(strings.Join(words, " ")))
	require.Equal(t, promptdb.MaxTogether, s.most)
	require.Greater(t, s.calls, 1)
	require.Empty(t, s.indexWrites())
	w.run()
	w.check()
}

// Index rows that would be sent too late are not sent.
func TestIndexRowsAtOnceInTime(t *testing.T) {
	t.Parallel()
	s := newBatching()
	w := newWorldOn(t, s)
	s.wrote = func(name string) {
		if name == promptdb.DefaultTables().Prompts {
			w.clock.Advance(promptdb.SendWithin + time.Second)
		}
	}
	s.alone = nil
	w.add("ann", draft("Tomato soup with basil"))
	require.Zero(t, s.calls)
	require.Empty(t, s.indexWrites())
	s.wrote = func(string) {}
	w.run()
	w.check()
}
