package promptdb_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/memory"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/queue"
	"prompthub/internal/table"
)

// writes counts the batches that reach a store.
type writes struct {
	table.DB
	n atomic.Int64
}

func (s *writes) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	s.n.Add(1)
	return s.DB.Write(ctx, name, ops...)
}

// dotted is a title of a hundred letters joined by dots, beginning with one.
func dotted(first rune) string {
	letters := make([]string, 100)
	for i := range letters {
		letters[i] = string('a' + (first-'a'+rune(i))%26)
	}
	return strings.Join(letters, ".")
}

// TestTitlesDoNotMultiplyWrites creates, edits, hides away and votes on a prompt whose title has as
// many tokens as can be.
func TestTitlesDoNotMultiplyWrites(t *testing.T) {
	t.Parallel()
	store := &writes{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	cost := func(most int64, do func()) {
		t.Helper()
		before := store.n.Load()
		do()
		require.LessOrEqual(t, store.n.Load()-before, most)
	}
	const others = 6 // truth, locator, newest, most liked, clearing, and one to spare
	var p prompt.Prompt
	cost(prompt.MaxTokens+others, func() { p = w.add("ann", draft(dotted('a'))) })
	cost(2*prompt.MaxTokens+others, func() {
		_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.Title = dotted('n')
			return p, nil
		})
		require.NoError(t, err)
	})
	cost(2, func() { w.vote("bob", p.ID, prompt.Like) })
	cost(prompt.MaxTokens+others+prompt.MaxTextWords, w.run) // the move, and the words of the text
	w.check()
}

// asBefore gives a prompt the title rows of the version before.
func (w *world) asBefore(p prompt.Prompt) {
	w.t.Helper()
	tables := promptdb.DefaultTables()
	rows := w.IndexRows(p)
	write := func(name string, op table.Op) {
		w.t.Helper()
		_, err := w.store.Write(w.t.Context(), name, op)
		require.NoError(w.t, err)
	}
	for _, row := range rows {
		if row.Table == tables.TitleIndex {
			write(tables.TitleIndex, table.Op{Kind: table.Delete, Row: table.Row{Key: row.Row.Key, ETag: table.Any}})
		}
	}
	like := rows[len(rows)-1].Row
	for _, token := range prompt.FormerTokens(prompt.NormalizeTitle(p.Title)) {
		write(tables.TitleIndex, table.Op{Kind: table.Upsert, Row: table.Row{Key: promptdb.TokenKey(token, p.ID), Props: like.Props}})
	}
	write(tables.Prompts, table.Op{Kind: table.Merge, Row: table.Row{
		Key: promptdb.PromptKey(p.AuthorID, p.ID), ETag: table.Any, Props: table.Props{{Name: "RowsVersion", Value: table.Int32(1)}},
	}})
}

// TestStoreOfAnEarlierVersion searches for long words in a store whose titles have no rows for long
// prefixes, then in the same store reindexed, and holds that these are read from then on, by
// instances that start too.
func TestStoreOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	old := w.add("ann", draft("Writing about internationalization"))
	w.asBefore(old)
	_, err := w.store.Write(t.Context(), promptdb.DefaultTables().SystemState, table.Op{Kind: table.Delete, Row: table.Row{Key: promptdb.RowsKey(), ETag: table.Any}})
	require.NoError(t, err)
	reads := func() (ofLong bool) {
		t.Helper()
		seen := &partitions{DB: w.store}
		w.store = seen
		defer func() { w.store = seen.DB }()
		w.DB = w.another()
		require.NoError(t, w.Create(t.Context()))
		for _, q := range []string{"writing", "internat", "internationalization", "inte about"} {
			want := promptdb.Search{Words: query(t, q)}
			require.Contains(t, w.find(t, want, 20), old.Title, q)
		}
		return slices.Contains(seen.asked, promptdb.TokenKey("internationa", old.ID).Partition)
	}
	require.False(t, reads(), "the rows of long prefixes are not there")
	w.add("ann", draft("Writing internationally"))
	require.False(t, reads(), "a new prompt changes nothing for the others")
	_, err = w.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	w.check()
	require.True(t, reads())
}

// partitions notes which partitions are listed.
type partitions struct {
	table.DB
	mu    sync.Mutex
	asked []string
}

func (p *partitions) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Partition)
	p.mu.Unlock()
	return p.DB.List(ctx, name, r, limit, next)
}

// TestTitleOfAnEarlierVersion takes a prompt off the lists that a binary without a limit of tokens
// put there: the rows beyond the limit go too.
func TestTitleOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	var words []string
	for i := range rune(33) {
		words = append(words, string([]rune{'a' + i%26, 'a' + i/26, 'x', 'y', 'z'}))
	}
	p := w.add("ann", draft(strings.Join(words, " ")))
	w.asBefore(p)
	require.Greater(t, w.publicRows(), prompt.MaxTokens+2)
	_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.DeletedAt = w.clock.Now()
		return p, nil
	})
	require.NoError(t, err)
	require.Zero(t, w.publicRows())
}

// sends counts the messages that are put on queues.
type sends struct {
	queue.Queues
	n atomic.Int64
}

func (s *sends) Send(ctx context.Context, name, text string, hidden time.Duration) (queue.Receipt, error) {
	s.n.Add(1)
	return s.Queues.Send(ctx, name, text, hidden)
}

// TestVoteOnWhatIsHidden votes on a private prompt of somebody else and on one that does not exist:
// both cost the same reads and neither puts anything on a queue, so that the time of the answer
// does not tell which it was.
func TestVoteOnWhatIsHidden(t *testing.T) {
	t.Parallel()
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	queues := &sends{Queues: w.queues}
	w.queues = queues
	w.DB = w.another()
	private := draft("private")
	private.Visibility = prompt.Private
	secret := w.add("ann", private)
	unknown := w.made("ann", private)
	w.run()
	before := queues.n.Load()
	for _, what := range []struct {
		name string
		db   *promptdb.DB
	}{{"this instance", w.DB}, {"another", w.another()}} {
		costs := map[prompt.ID][]int{}
		for _, id := range []prompt.ID{secret.ID, unknown.ID, secret.ID, unknown.ID} {
			for _, act := range []func() error{
				func() error { _, err := what.db.Vote(t.Context(), "bob", id, prompt.Like); return err },
				func() error { _, _, err := what.db.VoteOf(t.Context(), "bob", id); return err },
			} {
				store.reset()
				require.Equal(t, fault.NotFound, fault.Of(act()))
				costs[id] = append(costs[id], store.count())
			}
		}
		require.Equal(t, costs[unknown.ID], costs[secret.ID], what.name)
	}
	require.Equal(t, before, queues.n.Load())
}
