package promptdb_test

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	rows "prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A duringVersions has something done once, after rows of versions were listed.
type duringVersions struct {
	table.DB
	do func()
}

func (d *duringVersions) List(ctx context.Context, name string, r table.Range, limit int,
	next string,
) (table.Page, error) {
	page, err := d.DB.List(ctx, name, r, limit, next)
	if do := d.do; do != nil && strings.HasPrefix(r.From, "!ver|") && len(page.Rows) > 0 {
		d.do = nil
		do()
	}
	return page, err
}

// inTwo adds a prompt with two versions.
func (w *world) inTwo() prompt.Prompt {
	p := w.add("ann", draft("One"))
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Text = "two" })
	return p
}

// TestRecallDuringBackup: a version that is recalled, or no longer, while its prompt is backed up
// is so in the restored library too, in both of its rows.
func TestRecallDuringBackup(t *testing.T) {
	for _, before := range []bool{false, true} {
		store := &duringVersions{DB: memory.NewTables()}
		w := newWorldOn(t, store)
		p := w.inTwo()
		recall := func() { require.NoError(t, w.Recall(t.Context(), "ann", p.ID, 2, "because", prompt.Actor{})) }
		store.do = recall
		if before {
			recall()
			store.do = func() { require.NoError(t, w.Reinstate(t.Context(), "ann", p.ID, 2, prompt.Actor{})) }
		}
		out, reported := w.backedUp()
		require.Empty(t, reported)
		require.Nil(t, store.do)
		to := restoredFrom(t, out)
		require.Empty(t, to.verified())
		for _, db := range []*promptdb.DB{w.DB, to.DB} {
			_, err := db.GetVersion(t.Context(), "", p.ID, promptdb.WantedVersion{Number: 2})
			if before {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, "version 2 was recalled: because")
			}
		}
		v, err := to.GetVersion(t.Context(), "ann", p.ID, promptdb.WantedVersion{Number: 2, History: true})
		require.NoError(t, err)
		require.Equal(t, before, v.ShownVersion.Recall == nil)
	}
}

// TestRecallMeanwhile: a program that names no version, and has read the labels when the version is
// recalled, gets the one before it.
func TestRecallMeanwhile(t *testing.T) {
	store := &hookedReads{DB: memory.NewTables(), hold: nothing, then: nothing}
	w := newWorldOn(t, store)
	p := w.inTwo()
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Text = "three" })
	for n := range int64(2) {
		_, err := w.SetLabels(t.Context(), "ann", p.ID, []string{prompt.Production}, n+1, prompt.Actor{}, allow)
		require.NoError(t, err)
	}
	done := false
	store.hold = func(_ string, key table.Key) {
		if !done && strings.HasPrefix(key.Row, "!ver|") {
			done = true
			require.NoError(t, w.another().Recall(t.Context(), "ann", p.ID, 2, "because", prompt.Actor{}))
		}
	}
	v, err := w.GetVersion(t.Context(), "bob", p.ID, promptdb.ForPrograms)
	require.NoError(t, err)
	require.True(t, done)
	require.EqualValues(t, 1, v.Version)
	_, err = w.GetVersion(t.Context(), "bob", p.ID, promptdb.WantedVersion{Number: 2})
	require.EqualError(t, err, "version 2 was recalled: because")
}

// TestRecallAfterUndo: a version from which a move of the label was undone is not where it was
// before.
func TestRecallAfterUndo(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.inTwo()
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Text = "three" })
	for n := range int64(3) {
		_, err := w.SetLabels(t.Context(), "ann", p.ID, []string{prompt.Production}, n+1, prompt.Actor{}, allow)
		require.NoError(t, err)
	}
	for range 2 {
		_, err := w.UndoLabel(t.Context(), "ann", p.ID, prompt.Production, prompt.Actor{}, "")
		require.NoError(t, err)
	}
	require.NoError(t, w.Recall(t.Context(), "ann", p.ID, 1, "because", prompt.Actor{}))
	_, err := w.GetVersion(t.Context(), "", p.ID, promptdb.ForPrograms)
	require.Equal(t, prompt.Recalled, fault.CodeOf(err), "none, and not version 2")
	_, err = w.SetLabels(t.Context(), "ann", p.ID, []string{"staging"}, 1, prompt.Actor{}, allow)
	require.Equal(t, prompt.ErrStaysRecalled(1), err)
}

// TestRecallAfterManyMoves: where a label was is found within four thousand moves, by one walk for
// all labels. Beyond that the recall is refused, and nothing has moved.
func TestRecallAfterManyMoves(t *testing.T) {
	store := &countedMoves{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	p := w.inTwo()
	labels := []string{prompt.Production, "staging", "canary"}
	for n := range int64(2) {
		_, err := w.SetLabels(t.Context(), "ann", p.ID, labels, n+1, prompt.Actor{}, allow)
		require.NoError(t, err)
	}
	recall := func() error { return w.Recall(t.Context(), "ann", p.ID, 2, "because", prompt.Actor{}) }
	at := w.clock.Now()
	others := func(n int) {
		for ; n > 0; n -= 100 {
			var ops []table.Op
			for range 100 {
				at = at.Add(time.Second)
				ops = append(ops, table.Op{
					Kind: table.Insert,
					Row: rows.MoveRow("ann", p.ID,
						prompt.Move{Label: "other", From: 1, To: 2, Change: prompt.Change{By: "ann", At: at}}),
				})
			}
			_, err := store.Write(t.Context(), promptdb.DefaultTables().Prompts, ops...)
			require.NoError(t, err)
		}
	}
	others(3900)
	require.NoError(t, recall())
	require.Equal(t, 4, store.pages)
	now, _, err := w.Labels(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{prompt.Production: 1, "staging": 1, "canary": 1}, now)
	require.NoError(t, w.Reinstate(t.Context(), "ann", p.ID, 2, prompt.Actor{}))

	others(4100)
	err = recall()
	require.Equal(t, fault.Conflict, fault.Of(err))
	require.ErrorContains(t, err, "moved so often")
	v, err := w.GetVersion(t.Context(), "", p.ID, promptdb.ForPrograms)
	require.NoError(t, err)
	require.EqualValues(t, 2, v.Version)
	_, err = w.SetLabels(t.Context(), "ann", p.ID, labels, 1, prompt.Actor{}, allow)
	require.NoError(t, err)
	require.NoError(t, recall(), "without labels")
}

// countedMoves counts the pages of moves that were listed.
type countedMoves struct {
	table.DB
	pages int
}

func (c *countedMoves) List(ctx context.Context, name string, r table.Range, limit int,
	next string,
) (table.Page, error) {
	if strings.HasPrefix(cmp.Or(r.From, r.After), "!moves|") {
		c.pages++
	}
	return c.DB.List(ctx, name, r, limit, next)
}

// TestRecallWithoutLabelsRow: without the labels row programs do not get a version that was
// recalled. Where the row is lost, or says nothing of the recall, the sweep makes it again of what
// the versions say. A row of a version that is lost is made again as a recalled one.
func TestRecallWithoutLabelsRow(t *testing.T) {
	none := table.Props{{Name: "Recalled", Value: table.String("")}}
	for name, damage := range map[string]struct {
		row string
		op  table.Op
	}{
		"the labels row is lost":         {"!labels|", table.Op{Kind: table.Delete}},
		"the labels row says nothing":    {"!labels|", table.Op{Kind: table.Merge, Row: table.Row{Props: none}}},
		"the row of the version is lost": {"!ver|", table.Op{Kind: table.Delete}},
		"the row of the version is wrong": {
			"!ver|", table.Op{
				Kind: table.Merge,
				Row:  table.Row{Props: table.Props{{Name: "ContentHash", Value: table.String("x")}}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOn(t, memory.NewTables())
			p := w.inTwo()
			require.NoError(t, w.Recall(t.Context(), "ann", p.ID, 2, "because", prompt.Actor{}))
			prompts := promptdb.DefaultTables().Prompts
			for row, err := range table.All(t.Context(), w.store, prompts, table.Range{}) {
				require.NoError(t, err)
				if strings.HasPrefix(row.Row, damage.row) {
					damage.op.Row.Key, damage.op.Row.ETag = row.Key, table.Any
					_, err := w.store.Write(t.Context(), prompts, damage.op)
					require.NoError(t, err)
					break // of version 2, which is the first one
				}
			}
			get := func() error {
				v, err := w.GetVersion(t.Context(), "", p.ID, promptdb.ForPrograms)
				if err == nil {
					require.EqualValues(t, 1, v.Version)
				}
				return err
			}
			if name == "the labels row is lost" {
				require.EqualError(t, get(), "version 2 was recalled: because")
			}
			for range 2 {
				_, _, err := w.Sweep(t.Context())
				require.NoError(t, err)
				w.run()
				w.clock.Advance(48 * time.Hour)
			}
			require.NoError(t, get())
			require.Empty(t, w.verified())
			v, err := w.GetVersion(t.Context(), "", p.ID, promptdb.WantedVersion{Number: 2, History: true})
			require.NoError(t, err)
			require.NotNil(t, v.ShownVersion.Recall)
		})
	}
}

// TestRecallEvents: the event of the labels that a recall moved names no version: each label has
// gone to one of its own.
func TestRecallEvents(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.shared("ann") // with production on version 1
	w.edit(shelf, p.ID, func(p *prompt.Prompt) { p.Text = "two" })
	by := prompt.Actor{Key: "a_x", Publishes: true}
	_, err := w.SetLabels(t.Context(), shelf, p.ID, []string{"staging"}, 2, by, allow)
	require.NoError(t, err)
	w.clock.Advance(time.Second)
	require.NoError(t, w.Recall(t.Context(), shelf, p.ID, 2, "because", by))
	events, _, err := w.Events(t.Context(), shelf, promptdb.EventQuery{Type: prompt.LabelMoved}, "", 1)
	require.NoError(t, err)
	require.Equal(t, []prompt.LabelMove{{Label: "staging", From: 2}}, events[0].Labels)
	require.Zero(t, events[0].Version)
}

// TestDeleteAfterRecall: where a recall has put production on a version, and that is deleted,
// programs get the one before it, or none: no draft.
func TestDeleteAfterRecall(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.inTwo()
	for _, text := range []string{"three", "draft"} {
		w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Text = text })
	}
	for n := range int64(3) {
		_, err := w.SetLabels(t.Context(), "ann", p.ID, []string{prompt.Production}, n+1, prompt.Actor{}, allow)
		require.NoError(t, err)
	}
	get := func() (int64, error) {
		v, err := w.GetVersion(t.Context(), "", p.ID, promptdb.ForPrograms)
		return v.Version, err
	}
	require.NoError(t, w.Recall(t.Context(), "ann", p.ID, 3, "because", prompt.Actor{}))
	require.NoError(t, w.DeleteVersion(t.Context(), "ann", p.ID, 2, prompt.Actor{}))
	n, err := get()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.NoError(t, w.DeleteVersion(t.Context(), "ann", p.ID, 1, prompt.Actor{}))
	_, err = get()
	require.Equal(t, prompt.Recalled, fault.CodeOf(err))
	require.Equal(t, fault.NotFound, fault.Of(err))
	w.run()
	require.Empty(t, w.verified())

	// One that was on no recalled version goes with its own.
	q := w.inTwo()
	w.edit("ann", q.ID, func(p *prompt.Prompt) { p.Text = "latest" })
	_, err = w.SetLabels(t.Context(), "ann", q.ID, []string{prompt.Production}, 2, prompt.Actor{}, allow)
	require.NoError(t, err)
	require.NoError(t, w.Recall(t.Context(), "ann", q.ID, 1, "because", prompt.Actor{}))
	require.NoError(t, w.DeleteVersion(t.Context(), "ann", q.ID, 2, prompt.Actor{}))
	v, err := w.GetVersion(t.Context(), "", q.ID, promptdb.ForPrograms)
	require.NoError(t, err)
	require.EqualValues(t, 3, v.Version)
}
