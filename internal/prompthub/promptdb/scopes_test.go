package promptdb_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// has returns which of some prompts the index of a scope has, and whether it is partial.
func has(t testing.TB, db *promptdb.DB, of promptdb.Scope, all ...prompt.Prompt) (titles []string, partial bool) {
	t.Helper()
	index, partial, err := db.Index(t.Context(), of)
	require.NoError(t, err)
	for _, p := range all {
		if _, ok := index.Has(p.ID); ok {
			titles = append(titles, p.Title)
		}
	}
	require.Len(t, titles, index.Len(), "it has no others")
	return titles, partial
}

// TestScopes: a prompt is in one scope, for the instance that writes at once, and for others a
// second later; a deleted one is in none.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	other := w.another()
	p := w.add("ann", draft("A"))
	public, own := promptdb.Scope{}, promptdb.Scope{Owner: "ann"}
	in := func(of promptdb.Scope) {
		t.Helper()
		for _, db := range []*promptdb.DB{w.DB, other} {
			for _, scope := range []promptdb.Scope{public, own, {Owner: "bob"}} {
				titles, partial := has(t, db, scope, p)
				require.False(t, partial)
				require.Equal(t, scope == of, len(titles) == 1, "%v", scope)
			}
			w.clock.Advance(time.Second)
		}
	}
	in(public)
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
	in(own)
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Public })
	in(public)
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.HiddenAt, p.HiddenBy = w.clock.Now(), "mod" })
	in(own)
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.HiddenAt, p.HiddenBy = time.Time{}, "" })
	in(public)
	w.setDeleted(p, true)
	in(promptdb.Scope{Owner: "nobody"})
	w.setDeleted(p, false)
	in(public)
	w.clock.Advance(40 * 24 * time.Hour) // to another month
	in(public)
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Text = "another" })
	in(public)
	w.run()
	w.check()
}

// TestErasedPromptIsForgotten: an index of another instance forgets a prompt that was erased while
// it did not look, and the log in the end says nothing of it.
func TestErasedPromptIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	other := w.another()
	p, private := w.add("ann", draft("A")), draft("B")
	private.Visibility = prompt.Private
	w.add("ann", private)
	has(t, other, promptdb.Scope{}, p)
	_, err := w.EraseAt(t.Context(), "ann", w.clock.Now())
	require.NoError(t, err)
	done, err := w.EraseNow(t.Context(), "ann", w.clock.Now().Add(time.Minute))
	require.NoError(t, err)
	require.True(t, done)
	for row, err := range table.All(t.Context(), w.store, promptdb.DefaultTables().SearchLog, table.Range{}) {
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(row.Key, row.Props), "ann")
	}
	w.clock.Advance(time.Hour)
	titles, _ := has(t, other, promptdb.Scope{}, p)
	require.Empty(t, titles)
	w.check()
	w.clock.Advance(25 * time.Hour)
	_, differences, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.Zero(t, differences)
	require.Empty(t, w.all(promptdb.DefaultTables().SearchLog))
}

// TestLogOfBadRows: rows that are damaged, doubled, foreign or of the future keep no other from
// being found, when the log is loaded and when it is followed.
func TestLogOfBadRows(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	name := promptdb.DefaultTables().SearchLog
	bad := func() (future prompt.Prompt) {
		p := w.add("ann", draft("Twice"))
		var row table.Row
		for _, r := range w.logged() {
			if strings.Contains(r.Row, string(p.ID)) {
				row = r
			}
		}
		put := func(partition, key string, change func(table.Props)) {
			props := append(table.Props{}, row.Props...)
			change(props)
			w.must(name, table.Op{
				Kind: table.Upsert,
				Row:  table.Row{Key: table.Key{Partition: partition, Row: key}, Props: props},
			})
		}
		set := func(name, value string) func(table.Props) {
			return func(props table.Props) {
				for i := range props {
					if props[i].Name == name {
						props[i].Value = table.String(value)
					}
				}
			}
		}
		same := func(table.Props) {}
		put(row.Partition, "0"+row.Row, same)
		put(row.Partition, "none", same)
		put(row.Partition, strings.Replace(row.Row, string(p.ID), "01ARZ3NDEKTSV4RRFFQ69G5FAV", 1), set("Terms", "%"))
		put(row.Partition, strings.Replace(row.Row, string(p.ID), "01ARZ3NDEKTSV4RRFFQ69G5FAW", 1),
			set("PromptId", "x"))
		put("s|999912|7", "3155378975999999999|"+string(p.ID), same)
		put("s|x", "3155378975999999999|"+string(p.ID), same)
		return p
	}
	p := bad()
	after := w.add("ann", draft("After"))
	loaded := w.another()
	titles, _ := has(t, loaded, promptdb.Scope{}, p, after)
	require.Equal(t, []string{"Twice", "After"}, titles)
	w.clock.Advance(time.Hour)
	q := bad()
	later := w.add("ann", draft("Later"))
	titles, _ = has(t, loaded, promptdb.Scope{}, p, after, q, later)
	require.Equal(t, []string{"Twice", "After", "Twice", "Later"}, titles)
}

// logged returns the rows of all logs.
func (w *world) logged() (rows []table.Row) {
	for row, err := range table.All(w.t.Context(), w.store, promptdb.DefaultTables().SearchLog, table.Range{}) {
		require.NoError(w.t, err)
		rows = append(rows, row)
	}
	return rows
}

// TestScopeLargerThanMemory: the prompts that changed last are in it.
func TestScopeLargerThanMemory(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	var all []prompt.Prompt
	for i := range 40 {
		d := draft(fmt.Sprint("Number ", i))
		d.Text = strings.Repeat(fmt.Sprintf("word%d other%d ", i, i), 100)
		all = append(all, w.add("ann", d))
		w.clock.Advance(4 * 24 * time.Hour)
	}
	db := w.bounded(16 << 10)
	titles, partial := has(t, db, promptdb.Scope{}, all...)
	require.True(t, partial)
	require.NotEmpty(t, titles)
	require.Less(t, len(titles), 40)
	for i, title := range titles {
		require.Equal(t, fmt.Sprint("Number ", 40-len(titles)+i), title)
	}
}

// bounded returns an instance whose indexes may take some bytes.
func (w *world) bounded(memory int64) *promptdb.DB {
	return promptdb.New(promptdb.Config{
		Store: w.store, Queues: w.queues, Tables: promptdb.DefaultTables(), Now: w.clock.Now,
		Log: slog.New(slog.DiscardHandler), SearchMemory: memory,
		Background: func(f func()) { f() }, Sleep: func(_ context.Context, d time.Duration) error {
			w.clock.Advance(d)
			return nil
		},
	})
}

// TestOwnersGoFirst: the scopes of owners make room for each other, that which was searched least
// lately first, and the public one stays.
func TestOwnersGoFirst(t *testing.T) {
	t.Parallel()
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	text := strings.Repeat("some words of a text ", 100)
	for _, owner := range []prompt.UserID{"ann", "bob", "cid"} {
		for i := range 10 {
			w.add(owner, prompt.Draft{
				Title: fmt.Sprint("Number ", i),
				Text:  text + string(owner), Visibility: prompt.Private,
			})
		}
	}
	w.add("ann", draft("Public"))
	index, _, err := w.Index(t.Context(), promptdb.Scope{Owner: "ann"})
	require.NoError(t, err)
	db := w.bounded(index.Bytes() * 5 / 2)
	ask := func(owner prompt.UserID) (loads bool) {
		w.clock.Advance(time.Millisecond)
		store.reset()
		_, partial, err := db.Index(t.Context(), promptdb.Scope{Owner: owner})
		require.NoError(t, err)
		require.False(t, partial, owner)
		return store.count() > 0
	}
	for _, owner := range []prompt.UserID{"", "ann", "bob", "cid"} {
		require.True(t, ask(owner), owner)
	}
	require.False(t, ask("cid"))
	require.False(t, ask("bob"))
	require.True(t, ask("ann"))
	require.True(t, ask("cid"))
	require.False(t, ask(""))
}

// TestSearchWaitsForALoad: for two seconds, and then has what there is.
func TestSearchWaitsForALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowLog{DB: memory.NewTables()}
		w := newWorldOn(t, store)
		p := w.add("ann", draft("A"))
		db := promptdb.New(promptdb.Config{
			Store: store, Queues: w.queues, Tables: promptdb.DefaultTables(), Now: time.Now,
			Log: slog.New(slog.DiscardHandler), Background: func(f func()) { go f() },
		})
		store.by(3 * time.Second)
		began := time.Now()
		_, partial, err := db.Index(t.Context(), promptdb.Scope{})
		require.NoError(t, err)
		require.True(t, partial)
		require.Equal(t, 2*time.Second, time.Since(began))
		store.by(0)
		time.Sleep(time.Minute)
		titles, partial := has(t, db, promptdb.Scope{}, p)
		require.False(t, partial)
		require.Equal(t, []string{"A"}, titles)
		time.Sleep(time.Hour) // without a search the index is given up
	})
}

// slowLog is a store whose lists take a while.
type slowLog struct {
	table.DB
	mu    sync.Mutex
	takes time.Duration
}

func (s *slowLog) by(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes = d
}

func (s *slowLog) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	s.mu.Lock()
	takes := s.takes
	s.mu.Unlock()
	time.Sleep(takes)
	return s.DB.List(ctx, name, r, limit, next)
}

// TestRefusedCommitIsNotTold: the index agrees with the truth, even if a commit came to nothing, or
// its writer did not hear that it landed.
func TestRefusedCommitIsNotTold(t *testing.T) {
	t.Parallel()
	refuse := false
	w := seenWorld(t, func(ctx context.Context, c transact.Transaction, do transact.Func) ([]string, error) {
		if refuse {
			return nil, table.ErrBusy
		}
		return do(ctx, c)
	})
	p := w.add("ann", draft("A"))
	has(t, w.DB, promptdb.Scope{}, p)
	refuse = true
	_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Visibility = prompt.Private
		return p, nil
	})
	require.Error(t, err)
	titles, _ := has(t, w.DB, promptdb.Scope{}, p)
	require.Equal(t, []string{"A"}, titles)
}

// TestLateWithin: a row of a log is looked for as long as its writer may write it.
func TestLateWithin(t *testing.T) {
	require.Equal(t, promptdb.Lease+promptdb.ClockSkew, promptdb.LateWithin)
}

// late takes a row out of a log, which comes back later.
func (w *world) late(row table.Row) (comes func()) {
	log := promptdb.DefaultTables().SearchLog
	w.must(log, table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
	row.ETag = ""
	return func() { w.must(log, table.Op{Kind: table.Upsert, Row: row}) }
}

// TestLateRowsOfALongLook: with more keys than one look at late rows reads, a row that comes after
// the look has passed its place is found by the next look.
func TestLateRowsOfALongLook(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	db := w.another()
	p := w.add("ann", draft("Late"))
	row := w.logged()[0]
	comes := w.late(row)
	has(t, db, promptdb.Scope{})
	var ops []table.Op
	for i := range 10*table.MaxPage + 1 {
		id, err := prompt.NewID(w.clock.Now(), rand.Reader)
		require.NoError(t, err)
		key := strings.Replace(row.Row, string(p.ID), string(id), 1)
		stamp := w.clock.Now().Add(time.Duration(i+1) * time.Millisecond)
		key = rowstore.Ascending(stamp) + key[strings.Index(key, "|"):]
		props := table.Props{
			{Name: "PromptId", Value: table.String(string(id))},
			{Name: "Gone", Value: table.Bool(true)},
		}
		ops = append(ops, table.Op{
			Kind: table.Upsert,
			Row:  table.Row{Key: table.Key{Partition: row.Partition, Row: key}, Props: props},
		})
	}
	for some := range slices.Chunk(ops, table.MaxBatch) {
		_, err := w.store.Write(t.Context(), promptdb.DefaultTables().SearchLog, some...)
		require.NoError(t, err)
	}
	w.clock.Advance(20 * time.Second)
	for partial := true; partial; {
		_, partial = has(t, db, promptdb.Scope{})
	}
	w.clock.Advance(10 * time.Second)
	has(t, db, promptdb.Scope{}) // passes the place of the row, and is cut short
	comes()
	w.clock.Advance(promptdb.LateWithin)
	has(t, db, promptdb.Scope{}) // goes on
	w.clock.Advance(10 * time.Second)
	titles, _ := has(t, db, promptdb.Scope{}, p)
	require.Equal(t, []string{"Late"}, titles)
}

// TestNoRoomIsNoLoad: an owner's scope for which there is no room is loaded once, not by each
// search.
func TestNoRoomIsNoLoad(t *testing.T) {
	t.Parallel()
	store := &logRows{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	for i := range 600 {
		d := draft(fmt.Sprint("Number ", i))
		d.Text, d.Visibility = strings.Repeat(fmt.Sprintf("word%d other%d ", i, i), 20), prompt.Private
		w.add("ann", d)
	}
	w.clock.Advance(time.Hour)
	db := w.bounded(64 << 10)
	own := promptdb.Scope{Owner: "ann"}
	_, partial, err := db.Index(t.Context(), own)
	require.NoError(t, err)
	require.True(t, partial)
	store.n = 0
	for range 10 {
		w.clock.Advance(2 * time.Second)
		_, partial, err = db.Index(t.Context(), own)
		require.NoError(t, err)
		require.True(t, partial)
	}
	require.Zero(t, store.n)
}

// TestNoHitTwiceWhileLoading: a walk by cursors that goes from an instance that has all prompts to
// one that is still loading them gets each prompt once.
func TestNoHitTwiceWhileLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowLog{DB: memory.NewTables()}
		w := newWorldOn(t, store)
		var all []prompt.ID
		for i := range 5 {
			all = append(all, w.add("ann", draft(fmt.Sprint("Common ", i))).ID)
		}
		w.run()
		cold := promptdb.New(promptdb.Config{
			Store: store, Queues: w.queues, Tables: promptdb.DefaultTables(), Now: time.Now,
			Log: slog.New(slog.DiscardHandler), Background: func(f func()) { go f() },
		})
		for _, order := range orders() {
			want := promptdb.Search{Words: query(t, "common"), Text: true, Order: order}
			first, err := w.Find(t.Context(), want, "", 2)
			require.NoError(t, err)
			require.Len(t, first.Items, 2, order)
			store.by(3 * time.Second)
			var got []prompt.ID
			empty := 0
			for page := first; ; {
				for _, v := range page.Items {
					got = append(got, v.ID)
				}
				if page.After == "" {
					break
				}
				page, err = cold.Find(t.Context(), want, page.After, 2)
				require.NoError(t, err)
				if page.Partial {
					require.Empty(t, page.Items, order)
					store.by(0)
					empty++
				}
			}
			require.ElementsMatch(t, all, got, order)
			require.Positive(t, empty, order)
			time.Sleep(time.Hour) // the index is given up
		}
	})
}

// TestErasedWordsLeaveMemory: of an index that is searched all the time, half a day later.
func TestErasedWordsLeaveMemory(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	other := w.another()
	for i := range 20 {
		w.add("bob", draft(fmt.Sprint("Number ", i)))
	}
	d := draft("A")
	for i := range 1000 {
		d.Text += fmt.Sprint("secret", i, " ")
	}
	w.add("ann", d)
	bytes := func() int64 {
		index, _, err := other.Index(t.Context(), promptdb.Scope{})
		require.NoError(t, err)
		return index.Bytes()
	}
	before := bytes()
	w.eraseToday("ann")
	for range 13 {
		w.clock.Advance(time.Hour)
		bytes()
	}
	require.Less(t, bytes(), before-10_000)
}
