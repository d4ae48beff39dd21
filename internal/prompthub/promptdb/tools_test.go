package promptdb_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// backedUp returns a backup and its report.
func (w *world) backedUp() (*bytes.Buffer, []string) {
	w.t.Helper()
	var out bytes.Buffer
	reported := []string{}
	_, err := w.Backup(w.t.Context(), &out, func(d promptdb.Difference) {
		reported = append(reported, d.String())
	}, func(int) {})
	require.NoError(w.t, err)
	return &out, reported
}

// reindex returns what Reindex leaves alone.
func (w *world) reindex(orphans bool) []string {
	w.t.Helper()
	left := []string{}
	told := 0
	n, err := w.Reindex(w.t.Context(), orphans, func(d promptdb.Difference) { left = append(left, d.String()) },
		func(prompts int) { told = prompts })
	require.NoError(w.t, err)
	require.Equal(w.t, n, told)
	return left
}

// restoredFrom returns a new library with a backup in it.
func restoredFrom(t *testing.T, backup *bytes.Buffer) *world {
	t.Helper()
	to := newWorldOn(t, memory.NewTables())
	err := restore(t.Context(), to.DB, backup)
	require.NoError(t, err)
	return to
}

// TestBackupOfARunningLibrary: with writes between any two tables, the backup restores to a
// library that verifies, with all that was there before it began.
func TestBackupOfARunningLibrary(t *testing.T) {
	for name, during := range map[string]func(w *world, old prompt.Prompt){
		"made and voted on": func(w *world, _ prompt.Prompt) {
			w.vote("vera", w.add("bob", draft("made meanwhile", "text")).ID, prompt.Like)
		},
		"purged": func(w *world, old prompt.Prompt) {
			w.remove(old)
			w.clock.Advance(32 * 24 * time.Hour)
			_, err := w.Purge(t.Context())
			require.NoError(t, err)
		},
		"voted on and edited": func(w *world, old prompt.Prompt) {
			w.vote("vera", old.ID, prompt.Dislike)
			_, err := w.Change(t.Context(), old.AuthorID, old.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Title = "new"
				p.Revision++
				return p, nil
			})
			require.NoError(t, err)
		},
	} {
		tables := promptdb.DefaultTables()
		for _, between := range []string{tables.TagCatalog, tables.Prompts, tables.Votes} {
			t.Run(name+" while "+between+" is read", func(t *testing.T) {
				store := &overlapped{DB: memory.NewTables()}
				w := newWorldOn(t, store)
				old := w.add("ann", draft("one", "text"))
				w.vote("will", old.ID, prompt.Like)
				kept := w.add("ann", draft("kept", "text"))
				w.vote("will", kept.ID, prompt.Like)
				w.run()
				store.table, store.during = between, func() { during(w, old); w.run() }
				out, reported := w.backedUp()
				require.Empty(t, reported)
				w.check()
				to := restoredFrom(t, out)
				to.check()
				got, err := to.Get(t.Context(), "will", kept.ID)
				require.NoError(t, err)
				require.Equal(t, prompt.Like, got.MyVote)
			})
		}
	}
}

// orphaned is a library whose second prompt has lost its truth row, but not its votes.
func orphaned(t *testing.T) (*world, prompt.Prompt) {
	w := newWorld(t)
	w.vote("will", w.add("ann", draft("one", "text")).ID, prompt.Like)
	lost := w.add("bob", draft("lost", "text"))
	w.vote("vera", lost.ID, prompt.Like)
	w.run()
	w.clock.Advance(2 * time.Hour)
	_, err := w.store.Write(t.Context(), promptdb.DefaultTables().Prompts, table.Op{Kind: table.Delete, Row: table.Row{
		Key: table.Key{Partition: "u|bob", Row: string(lost.ID)}, ETag: table.Any,
	}})
	require.NoError(t, err)
	return w, lost
}

// TestOrphansAreRemovedOnDemand: votes without a prompt are reported, and stay unless they must
// go.
func TestOrphansAreRemovedOnDemand(t *testing.T) {
	w, lost := orphaned(t)
	require.Contains(t, w.found(), "PromptVotes: p|"+string(lost.ID)+" / : votes on a prompt that does not exist")
	left := w.reindex(false)
	require.Equal(t, []string{"PromptVotes: p|" + string(lost.ID) + " / : votes on a prompt that does not exist"}, left)
	require.Equal(t, left, w.found(), "nothing else is left")
	out, _ := w.backedUp()
	restoredFrom(t, out).check()

	require.Empty(t, w.reindex(true))
	w.check()
	require.Empty(t, w.reindex(true))
}

// TestOrphansThatNothingLeadsTo: without a locator votes are orphans only where every truth row can
// be read.
func TestOrphansThatNothingLeadsTo(t *testing.T) {
	w, lost := orphaned(t)
	tables := promptdb.DefaultTables()
	_, err := w.store.Write(t.Context(), tables.Votes,
		table.Op{
			Kind: table.Delete,
			Row:  table.Row{Key: table.Key{Partition: "p|" + string(lost.ID), Row: "!prompt"}, ETag: table.Any},
		})
	require.NoError(t, err)
	damaged := w.add("ann", draft("damaged", "text"))
	w.run()
	w.spoil(damaged, table.Prop{Name: "Pending", Value: table.String("{")})
	require.Len(t, w.reindex(true), 2, "the row that cannot be read may be that of the votes")
	w.spoil(damaged, table.Prop{Name: "Pending", Value: table.String("")})
	require.Empty(t, w.reindex(true))
	w.check()
}

// spoil changes a property of a truth row.
func (w *world) spoil(p prompt.Prompt, prop table.Prop) {
	w.t.Helper()
	_, err := w.store.Write(w.t.Context(), promptdb.DefaultTables().Prompts, table.Op{Kind: table.Merge, Row: table.Row{
		Key:  table.Key{Partition: "u|" + string(p.AuthorID), Row: string(p.ID)},
		ETag: table.Any, Props: table.Props{prop},
	}})
	require.NoError(w.t, err)
}

// TestOneRowStopsNothing: a truth row that cannot be read, or that a newer version wrote, is a
// finding of each command, and the only one; all else is verified, backed up and mended.
func TestOneRowStopsNothing(t *testing.T) {
	for name, prop := range map[string]table.Prop{
		"cannot be read": {Name: "Pending", Value: table.String("{")},
		"is another's":   {Name: "AuthorId", Value: table.String("zoe")},
		"newer":          {Name: "RowsVersion", Value: table.Int32(promptdb.RowsVersion + 1)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.add("ann", draft("broken", "text"))
			w.vote("vera", p.ID, prompt.Like)
			fine := w.add("bob", draft("fine", "text"))
			w.vote("vera", fine.ID, prompt.Like)
			w.run()
			w.spoil(p, prop)
			key := "Prompts: u|ann / " + string(p.ID)
			found := w.found()
			require.Len(t, found, 1)
			require.Contains(t, found[0], key)

			out, reported := w.backedUp()
			require.Len(t, reported, 1)
			require.Contains(t, reported[0], key)
			to := restoredFrom(t, out)
			to.check()
			got, err := to.Get(t.Context(), "vera", fine.ID)
			require.NoError(t, err)
			require.Equal(t, prompt.Like, got.MyVote)
			_, err = to.Get(t.Context(), "ann", p.ID)
			require.Equal(t, fault.NotFound, fault.Of(err))

			fine, err = w.Record(t.Context(), fine.AuthorID, fine.ID)
			require.NoError(t, err)
			for _, r := range w.IndexRows(fine) { // what Reindex has to write again
				_, err := w.store.Write(t.Context(), r.Table,
					table.Op{Kind: table.Delete, Row: table.Row{Key: r.Row.Key, ETag: table.Any}})
				require.NoError(t, err)
			}
			left := w.reindex(false)
			require.Len(t, left, 1)
			require.Contains(t, left[0], key)
			require.Equal(t, found, w.found())
		})
	}
}

// TestStoreOfAnotherVersion: a store of a lower RowsVersion is refused by its code, and stays as it
// is. One of a higher version opens, and so does one that has lost the row that says it.
func TestStoreOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.add("ann", draft("one", "text"))
	w.run()
	state, key := promptdb.DefaultTables().SystemState, promptdb.RowsKey()
	says := func(version int32) {
		t.Helper()
		w.must(state, table.Op{
			Kind: table.Upsert,
			Row:  table.Row{Key: key, Props: table.Props{{Name: "RowsVersion", Value: table.Int32(version)}}},
		})
	}
	lost := func() { w.must(state, table.Op{Kind: table.Delete, Row: table.Row{Key: key, ETag: table.Any}}) }
	refused := func(told string) {
		t.Helper()
		stood := append(w.all(state), w.all(promptdb.DefaultTables().Prompts)...)
		for _, err := range []error{w.another().Create(t.Context()), w.another().CheckVersion(t.Context())} {
			require.Equal(t, promptdb.StoreTooOld, fault.CodeOf(err))
			require.ErrorContains(t, err, told)
		}
		require.Equal(t, stood, append(w.all(state), w.all(promptdb.DefaultTables().Prompts)...))
	}
	taken := func() {
		t.Helper()
		require.NoError(t, w.another().Create(t.Context()))
		require.NoError(t, w.another().CheckVersion(t.Context()))
	}
	const before = "made by an earlier release: run `reindex`, which brings it over"
	says(6)
	refused("made by a version before 1.0: export it with that version (`backup`), then `restore`")
	for version := int32(7); version < promptdb.RowsVersion; version++ {
		says(version)
		refused(before)
	}
	says(promptdb.RowsVersion + 1)
	taken()
	lost()
	taken()
	row, err := w.store.Get(t.Context(), state, key)
	require.NoError(t, err)
	require.EqualValues(t, promptdb.RowsVersion, row.Props.Get("RowsVersion").Int())
	lost()
	w.spoil(p, table.Prop{Name: "RowsVersion", Value: table.Int32(promptdb.RowsVersion - 1)})
	refused(before)
}

// TestLibraryOfBefore: reindex writes the rows that RowsVersion 7 lacks, and then those go that it
// has no use for. It may be stopped at any of these.
func TestLibraryOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	all := mixed(w)
	tables := promptdb.DefaultTables()
	require.NoError(t, w.store.Create(t.Context(), "TextSearchIndex"))
	for _, p := range all {
		w.undescribe(p)
		rec, err := w.store.Get(t.Context(), tables.Prompts, promptdb.PromptKey(p.AuthorID, p.ID))
		require.NoError(t, err)
		rec.Props = slices.DeleteFunc(rec.Props, func(x table.Prop) bool {
			return x.Name == "LoggedAt" || x.Name == "Logs" || x.Name == "RowsVersion"
		})
		rec.Props = append(rec.Props, table.Prop{Name: "Behind", Value: table.String("")},
			table.Prop{Name: "RowsVersion", Value: table.Int32(7)})
		w.must(tables.Prompts, table.Op{Kind: table.Upsert, Row: table.Row{Key: rec.Key, Props: rec.Props}})
		for _, word := range []string{"x|some", "x|words"} {
			key := table.Key{Partition: word, Row: promptdb.ByAge(p.ID)}
			w.must("TextSearchIndex", table.Op{
				Kind: table.Upsert,
				Row: table.Row{Key: key, Props: table.Props{
					{Name: "AuthorId", Value: table.String(string(p.AuthorID))},
				}},
			})
		}
	}
	for _, row := range w.logged() {
		w.must(tables.SearchLog, table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
	}
	for _, partition := range []string{"sketches", "tag-words", "vocabulary"} {
		key := table.Key{Partition: partition, Row: "1"}
		w.must(tables.SystemState, table.Op{
			Kind: table.Upsert,
			Row:  table.Row{Key: key, Props: table.Props{{Name: "Words", Value: table.String("x")}}},
		})
	}
	w.must(tables.SystemState, table.Op{
		Kind: table.Upsert,
		Row:  table.Row{Key: promptdb.RowsKey(), Props: table.Props{{Name: "RowsVersion", Value: table.Int32(7)}}},
	})
	require.ErrorIs(t, w.another().Create(t.Context()), promptdb.ErrOlder)
	require.NoError(t, w.MakeTables(t.Context()))
	require.Empty(t, w.reindex(false))
	require.ErrorIs(t, w.CheckVersion(t.Context()), promptdb.ErrOlder, "it is not at its end")
	told := 0
	n, err := w.EndOlder(t.Context(), func(rows int) { told = rows })
	require.NoError(t, err)
	require.Equal(t, 2*len(all)+3, n)
	require.Equal(t, n, told)
	require.Empty(t, w.all("TextSearchIndex"))
	require.NoError(t, w.another().Create(t.Context()))
	w.run()
	w.check()
	require.Empty(t, bySchema(w.store))
	n, err = w.EndOlder(t.Context(), func(int) {})
	require.NoError(t, err)
	require.Zero(t, n)
}

// TestNewerRowsAreRead: a binary that meets a row of a newer version reads it, and does not write.
func TestNewerRowsAreRead(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("one", "text"))
	w.run()
	w.spoil(p, table.Prop{Name: "RowsVersion", Value: table.Int32(promptdb.RowsVersion + 1)})
	for _, db := range []*promptdb.DB{w.DB, w.another()} {
		got, err := db.Get(t.Context(), "bob", p.ID)
		require.NoError(t, err)
		require.Equal(t, "one", got.Title)
		for _, title := range []string{"one", "two"} {
			_, err = db.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Title = title
				return p, nil
			})
			require.Equal(t, fault.Unavailable, fault.Of(err))
		}
	}
	_, differences, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.Zero(t, differences, "there are such rows while a new version is being rolled out")
}

// TestSweepWaitsForJobs: a vote whose job is still to come is no difference; one whose job is lost
// is.
func TestSweepWaitsForJobs(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("one", "text"))
	w.run()
	w.clock.Advance(time.Minute)
	w.vote("bob", p.ID, prompt.Like)
	_, differences, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.Zero(t, differences)

	w.clock.Advance(25 * time.Hour)
	w.vote("vera", p.ID, prompt.Like)
	ms, err := w.queues.Receive(t.Context(), promptdb.QueueMoves, 32, time.Hour)
	require.NoError(t, err)
	for _, m := range ms {
		require.NoError(t, w.queues.Delete(t.Context(), promptdb.QueueMoves, m.Receipt))
	}
	w.clock.Advance(10 * time.Minute)
	for range 2 { // the second message waits its second
		ms, err = w.queues.Receive(t.Context(), promptdb.QueueMoves, 32, time.Hour)
		require.NoError(t, err)
		for _, m := range ms {
			require.NoError(t, w.queues.Delete(t.Context(), promptdb.QueueMoves, m.Receipt))
		}
	}
	_, differences, err = w.Sweep(t.Context())
	require.NoError(t, err)
	require.NotZero(t, differences)
	w.check()
}

// An afterPage has something done once, after the first page of a whole table was read.
type afterPage struct {
	table.DB
	table string
	do    func()
}

func (a *afterPage) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := a.DB.List(ctx, name, r, limit, next)
	if do := a.do; do != nil && name == a.table && r.Partition == "" {
		a.do = nil
		do()
	}
	return page, err
}

// TestVotesMoveWhileTheyAreWalked: a voter after the first page changes the vote, whose tally was
// read with that page.
func TestVotesMoveWhileTheyAreWalked(t *testing.T) {
	store := &afterPage{DB: memory.NewTables(), table: promptdb.DefaultTables().Votes}
	w := newWorldOn(t, store)
	p := w.made("ann", draft("popular", "text"))
	var likers []prompt.UserID
	for i := range 150 {
		likers = append(likers, prompt.UserID(fmt.Sprintf("voter %03d", i)))
	}
	_, err := w.BulkLoad(t.Context(), func(yield func(prompt.Prompt, []prompt.UserID) bool) { yield(p, likers) }, 1)
	require.NoError(t, err)
	store.do = func() { w.vote("voter 149", p.ID, prompt.Dislike); w.run() }
	w.check()
	w.check()
}
