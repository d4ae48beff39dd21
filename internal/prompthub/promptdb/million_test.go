package promptdb_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sort"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A million is a store with the rows of many prompts that say "everywhere", one of which says
// "nowhere" as well, in its title and its text. A row is made by the code that fills stores, when
// it is first looked at.
type million struct {
	table.DB // for rows of other prompts
	t        *testing.T
	n, rare  int

	mu    sync.Mutex
	made  map[int][]made
	calls int
	rows  int
}

type made struct {
	table string
	row   table.Row
}

func (m *million) prompt(i int) prompt.Prompt {
	id, err := prompt.NewID(time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC).Add(-time.Duration(i)*time.Millisecond), bytes.NewReader(make([]byte, 10)))
	require.NoError(m.t, err)
	d := prompt.Draft{Title: "Everywhere", Text: "Everywhere.", Visibility: prompt.Public}
	if i == m.rare {
		d = prompt.Draft{Title: "Everywhere and nowhere", Text: "Everywhere, and nowhere.", Visibility: prompt.Public}
	}
	return prompt.Prompt{ID: id, AuthorID: "ann", AuthorName: "Ann", Draft: d, CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1}
}

// all returns the rows of a prompt.
func (m *million) all(i int) []made {
	if m.made[i] == nil {
		into := toldTo(func(name string, op table.Op) { m.made[i] = append(m.made[i], made{name, op.Row}) })
		db := promptdb.New(promptdb.Config{Store: into, Tables: promptdb.DefaultTables(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		_, err := db.BulkLoad(m.t.Context(), func(yield func(prompt.Prompt, []prompt.UserID) bool) { yield(m.prompt(i), nil) }, 1)
		require.NoError(m.t, err)
	}
	return m.made[i]
}

// row returns the row of a prompt in a table, and in a partition unless that is "".
func (m *million) row(i int, name, partition string) *table.Row {
	for _, r := range m.all(i) {
		if r.table == name && (partition == "" || partition == r.row.Partition) {
			return &r.row
		}
	}
	return nil
}

// toldTo is a store that reports its writes, and does no more.
type toldTo func(name string, op table.Op)

func (w toldTo) Write(_ context.Context, name string, ops ...table.Op) ([]string, error) {
	for _, op := range ops {
		w(name, op)
	}
	return make([]string, len(ops)), nil
}

func (toldTo) Get(context.Context, string, table.Key) (table.Row, error) {
	return table.Row{}, table.ErrNotFound
}

func (toldTo) List(context.Context, string, table.Range, int, string) (table.Page, error) {
	return table.Page{}, nil
}

func (toldTo) Create(context.Context, ...string) error { return nil }

func (m *million) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if key.Partition != "u|ann" {
		return m.DB.Get(ctx, name, key)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	id, ok := prompt.ParseID(key.Row)
	require.True(m.t, ok, "%s %v", name, key)
	i := sort.Search(m.n, func(i int) bool { return !m.prompt(i).ID.Time().After(id.Time()) })
	row := m.row(i, name, key.Partition)
	require.Equal(m.t, key, row.Key)
	return *row, nil
}

func (m *million) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if !slices.Contains([]string{"TitleSearchIndex", "TextSearchIndex", "PublicPromptsMostLikedIndex"}, name) {
		return m.DB.List(ctx, name, r, limit, next)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	from, to := 0, m.n
	if r.Partition != "" && m.row((m.rare+1)%m.n, name, r.Partition) == nil {
		from, to = m.rare, m.rare+1
	}
	if r.After != "" || r.From != "" {
		from += sort.Search(to-from, func(i int) bool {
			row := m.row(from+i, name, r.Partition)
			return row == nil || row.Row > r.After && row.Row >= r.From
		})
	}
	if next != "" {
		var err error
		from, err = strconv.Atoi(next)
		require.NoError(m.t, err)
	}
	var page table.Page
	for i := from; i < to; i++ {
		row := m.row(i, name, r.Partition)
		if row == nil || r.To != "" && row.Row >= r.To { // of a partition that has nothing, or after the range
			return page, nil
		}
		if len(page.Rows) == limit {
			page.Next = strconv.Itoa(i)
			break
		}
		if r.Matches(row.Props) {
			page.Rows = append(page.Rows, *row)
		} else {
			page.Rows = append(page.Rows, row.Bare())
		}
	}
	m.rows += len(page.Rows)
	return page, nil
}

// TestOneOfAMillion searches for a word that one of a million prompts has, with one that all have
// and alone, in both orders, wherever it is: it is found at once, and nothing else is.
func TestOneOfAMillion(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	most := 0
	for _, rare := range []int{0, n / 3, n - 1} {
		store := &million{DB: memory.NewTables(), t: t, n: n, rare: rare, made: map[int][]made{}}
		w := newWorldOn(t, store)
		for _, q := range []string{"everywhere nowhere", "nowhere everywhere", "nowhere", "every nowh"} {
			for _, text := range []bool{true, false} {
				if text && q == "every nowh" {
					continue // a text has whole words
				}
				for _, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked} {
					for _, limit := range []int{1, 20, 100} {
						store.calls, store.rows = 0, 0
						page, err := w.Find(t.Context(), promptdb.Search{Words: query(t, q), Text: text, Order: order}, "", limit)
						require.NoError(t, err)
						require.Len(t, page.Items, 1, "%q", q)
						require.Equal(t, store.prompt(rare).ID, page.Items[0].ID)
						require.Empty(t, page.After)
						require.LessOrEqual(t, store.calls, 12)
						most = max(most, store.rows)
					}
				}
			}
		}
	}
	require.LessOrEqual(t, most, 1100, "beyond what one word has nothing is read")
	t.Logf("%d rows at most", most)
}
