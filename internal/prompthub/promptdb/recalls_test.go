package promptdb_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A duringVersions has something done once, after rows of versions were listed.
type duringVersions struct {
	table.DB
	do func()
}

func (d *duringVersions) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
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
