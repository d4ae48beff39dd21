package promptdb_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
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
	cost(prompt.MaxTokens+others, w.run) // the move
	w.check()
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
