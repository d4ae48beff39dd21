package promptdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// perSecond is how many rows one partition of Table Storage serves in a second.
const perSecond = 2000

// A throttled store refuses to serve more than perSecond rows of one partition in a second.
type throttled struct {
	table.DB
	now    func() time.Time
	mu     sync.Mutex
	served map[string]*allowance
}

type allowance struct {
	left float64
	at   time.Time
}

func (s *throttled) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := s.DB.List(ctx, name, r, limit, next)
	rows := map[string]int{r.Partition: 1} // an empty answer is work too
	for _, row := range page.Rows {
		rows[row.Partition]++
	}
	for partition, n := range rows {
		if !s.take(name+" "+partition, n) {
			return table.Page{}, table.ErrBusy
		}
	}
	return page, err
}

func (s *throttled) take(partition string, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	a := s.served[partition]
	if a == nil {
		a = &allowance{perSecond, now}
		s.served[partition] = a
	}
	a.left, a.at = min(perSecond, a.left+perSecond*now.Sub(a.at).Seconds()), now
	if a.left < float64(n) {
		return false
	}
	a.left -= float64(n)
	return true
}

// TestHotPartitions sends 2,000 list requests a second, of 1,000 users, to lists whose partition
// can give 100 pages a second. An instance that keeps first pages serves all of them, while it
// writes ten prompts a second; without them, most are refused.
func TestHotPartitions(t *testing.T) {
	t.Parallel()
	for name, page := range firstPages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(db *promptdb.DB, w *world) error {
				p, err := page(t.Context(), db, 20)
				if err != nil {
					return err
				}
				return w.MarkVotes(t.Context(), prompt.UserID(fmt.Sprint("user ", rand.N(1000))), p.Items)
			}
			w := hotWorld(t)
			for i := range 5 * 2000 {
				if i%200 == 0 {
					w.add("ann", draft(fmt.Sprint("One more ", i), "text"))
				}
				w.clock.Advance(time.Second / 2000)
				require.NoError(t, read(w.DB, w), "request %d", i)
			}
			w = hotWorld(t)
			served := 0
			const seconds = 3
			for range seconds * 2000 {
				w.clock.Advance(time.Second / 2000)
				if read(w.another(), w) == nil {
					served++
				}
			}
			require.LessOrEqual(t, served, (seconds+1)*perSecond/pageRows, "the store gives more than it should")
		})
	}
}

// pageRows is what a page of twenty costs: one more tells whether another page follows.
const pageRows = 21

func hotWorld(t *testing.T) *world {
	s := &throttled{DB: memory.NewTables(), served: map[string]*allowance{}}
	w := newWorldOn(t, s.DB)
	s.now, w.store = w.clock.Now, s
	w.DB = w.another()
	for i := range 30 {
		w.add("ann", draft(fmt.Sprint("Prompt ", i), "text"))
	}
	return w
}
