package promptdb_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// TestRestoreWithoutVersions: a prompt whose versions a backup lacks, since their rows could not be
// read, has nothing of the prompt before it: neither the sizes of its versions nor moves of labels.
func TestRestoreWithoutVersions(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	label := func(p prompt.Prompt, label string) {
		_, err := w.SetLabels(t.Context(), "ann", p.ID, []string{label}, 1, prompt.Actor{}, allow)
		require.NoError(t, err)
	}
	first := w.add("ann", draft("First", "text"))
	w.edit("ann", first.ID, func(p *prompt.Prompt) { p.Text += " that is longer" })
	label(first, "a")
	label(first, "b")
	second := w.add("ann", draft("Second", "text"))
	label(second, "c")
	w.run()
	var out bytes.Buffer
	n, err := w.Backup(t.Context(), &out, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	for _, lacks := range []string{"content", "move"} {
		var part bytes.Buffer
		rows := n
		for line := range bytes.Lines(out.Bytes()) {
			if bytes.HasPrefix(line, []byte(`{"kind":"`+lacks+`"`)) && bytes.Contains(line, []byte(second.ID)) {
				rows--
				continue
			}
			if bytes.HasPrefix(line, []byte(`{"kind":"end"`)) {
				line = fmt.Appendf(nil, `{"kind":"end","rows":%d}`, rows)
			}
			part.Write(line)
		}
		require.Equal(t, n-1, rows)
		other := newWorldOn(t, memory.NewTables())
		require.NoError(t, restore(t.Context(), other.DB, &part))
		was, err := w.LabelsRow(t.Context(), "ann", second.ID)
		require.NoError(t, err)
		got, err := other.LabelsRow(t.Context(), "ann", second.ID)
		require.NoError(t, err)
		if lacks == "content" {
			require.Zero(t, got.Bytes)
			require.EqualValues(t, 1, got.Moves)
			require.Equal(t, was.MovedAt, got.MovedAt)
		} else {
			require.Equal(t, was.Bytes, got.Bytes)
			require.Zero(t, got.Moves)
			require.Zero(t, got.MovedAt)
		}
		require.Equal(t, was.Labels, got.Labels)
	}
}

// TestRestoreTogether: where the storage loads rows, all are written at once, and the rows are the
// same as where each is projected.
func TestRestoreTogether(t *testing.T) {
	from := newWorldOn(t, memory.NewTables())
	mixed(from)
	var backup bytes.Buffer
	_, err := from.Backup(t.Context(), &backup, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	var all [2][]string
	for i, w := range []*world{newWorldOn(t, memory.NewTables()), newWholeWorld(t)} {
		w.clock.Advance(from.clock.Now().Sub(w.clock.Now()))
		prompts := 0
		_, err := w.Restore(t.Context(), bytes.NewReader(backup.Bytes()), func(d promptdb.Difference) {
			t.Error(d)
		}, func(int) {}, func(n int) { prompts = n })
		require.NoError(t, err)
		require.Positive(t, prompts)
		require.NoError(t, w.Ready(t.Context()))
		w.run()
		w.check()
		require.Empty(t, bySchema(w.store))
		for _, name := range promptdb.DefaultTables().All() {
			for row, err := range table.All(t.Context(), w.store, name, table.Range{}) {
				require.NoError(t, err)
				row.Props = slices.DeleteFunc(row.Props, func(p table.Prop) bool {
					return slices.Contains([]string{"ProjectedAt", "LoggedAt"}, p.Name)
				})
				key, _ := unstamped(row.Key, row.Props)
				all[i] = append(all[i], fmt.Sprint(name, key, row.Props))
			}
		}
		slices.Sort(all[i])
	}
	require.Equal(t, all[0], all[1])
}
