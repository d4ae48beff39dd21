package promptdb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
)

// TestRestoreWithoutVersions: a prompt whose versions a backup lacks, since their rows could not be
// read, has nothing of the prompt before it: neither the sizes of its versions nor moves of labels.
func TestRestoreWithoutVersions(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	label := func(p prompt.Prompt, label string) {
		_, err := w.SetLabels(t.Context(), "ann", p.ID, []string{label}, 1, "ann", allow)
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
