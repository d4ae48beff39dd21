package promptdb_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// madeOf returns the file that a prompt is made of.
func madeOf(t testing.TB, text string) *prompt.Source {
	t.Helper()
	s := &prompt.Source{
		Format: "markdown", File: "folder/a.md", Bytes: []byte(text),
		Extra: []string{"license", "a name"},
	}
	require.True(t, s.Kept())
	return s
}

// source returns what a viewer gets of the file of a version, and of which version it is.
func (w *world) source(viewer prompt.UserID, id prompt.ID, n int64) (text string, version int64) {
	w.t.Helper()
	v, err := w.Get(w.t.Context(), viewer, id)
	require.NoError(w.t, err)
	s, err := w.Source(w.t.Context(), viewer, v.Prompt, n)
	require.NoError(w.t, err)
	if s == nil {
		return "", 0
	}
	require.Equal(w.t, "markdown", s.Format)
	require.Equal(w.t, "folder/a.md", s.File)
	return string(s.Bytes), s.Version
}

// sourced has ann make a prompt of a file, write a version by hand, and make one of another file.
func (w *world) sourced() prompt.Prompt {
	w.t.Helper()
	d := named("made")
	d.Visibility = prompt.Private
	d.Source = madeOf(w.t, "one")
	p := w.add("ann", d)
	require.Nil(w.t, p.Source, "a prompt is not kept with the file")
	w.write(p, "by hand")
	// the same content once more, which is a version for the file's sake
	w.edit("ann", p.ID, func(p *prompt.Prompt) {
		p.Source, p.Visibility, p.Labels = madeOf(w.t, strings.Repeat("three ", 20_000)),
			prompt.Public, []string{"production"}
	})
	return p
}

// TestSources: a version is kept with the file that it was made of, for callers who may see the
// version, and goes with it.
func TestSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.sourced()
	w.check()
	three := strings.Repeat("three ", 20_000)
	for _, want := range []struct {
		viewer  prompt.UserID
		n       int64
		text    string
		version int64
	}{
		{"ann", 1, "one", 1},
		{"ann", 2, "one", 1},
		{"ann", 3, three, 3},
		{"ann", 4, three, 3},
		{"bob", 3, three, 3},
		{"bob", 2, "", 0}, // which he may not see
		{"", 3, three, 3},
	} {
		text, version := w.source(want.viewer, p.ID, want.n)
		require.Equal(t, want.text, text, want)
		require.Equal(t, want.version, version, want)
	}
	v, err := w.Get(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	s, err := w.Source(t.Context(), "ann", v.Prompt, 3)
	require.NoError(t, err)
	require.Equal(t, v.State([]string{"production"}), s.State)
	require.NotEqual(t, v.State(nil), s.State)

	other := newWorld(t)
	err = restore(t.Context(), other.DB, strings.NewReader(w.backup()))
	require.NoError(t, err)
	other.check()
	restored := other.rowsOf("!src|")
	for key, row := range w.rowsOf("!src|") {
		require.True(t, row.Props.Equal(restored[key].Props), key)
	}

	require.NoError(t, w.deleteVersion(p, 1))
	w.check()
	require.Len(t, w.rowsOf("!src|"), 1)
	text, _ := w.source("ann", p.ID, 2)
	require.Empty(t, text)
	w.eraseToday("ann")
	require.Empty(t, w.rowsOf("!src|"))
}

// TestLargestSource: a file that can be kept can be stored, however little of it compresses.
func TestLargestSource(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	random := make([]byte, prompt.MaxSource)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	d := named("large")
	d.Text = strings.Repeat("é", 131_072)
	d.Source = &prompt.Source{Format: "markdown", File: "folder/a.md", Bytes: random}
	require.True(t, d.Source.Kept())
	p := w.add("ann", d)
	text, _ := w.source("ann", p.ID, 1)
	require.Equal(t, string(random), text)
	w.check()
	for name, size := range map[string]int{
		"a.md":                    prompt.MaxSource + 1,
		strings.Repeat("a", 1001): 1, "\xff": 1, "a\x00": 1,
	} {
		s := &prompt.Source{File: name, Bytes: make([]byte, size)}
		require.False(t, s.Kept(), "%.10q", name)
	}
}

// TestSourcesAreMended: what a defect or a hand did to a file is found. A version whose file is
// lost is without one; a file without a version goes.
func TestSourcesAreMended(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(w *world, row table.Row){
		"missing": func(w *world, row table.Row) { w.must("Prompts", table.Op{Kind: table.Delete, Row: row}) },
		"broken": func(w *world, row table.Row) {
			w.must("Prompts", table.Op{
				Kind: table.Merge,
				Row: table.Row{
					Key: row.Key, ETag: table.Any,
					Props: table.Props{{Name: "Packed", Value: table.String("!")}},
				},
			})
		},
		"of another format": func(w *world, row table.Row) {
			w.must("Prompts", table.Op{
				Kind: table.Merge,
				Row: table.Row{
					Key: row.Key, ETag: table.Any,
					Props: table.Props{{Name: "Format", Value: table.String("csv")}},
				},
			})
		},
		"of no version": func(w *world, row table.Row) {
			row.Row, row.ETag = strings.Replace(row.Row, "|9999999998", "|9999999997", 1), ""
			w.must("Prompts", table.Op{Kind: table.Insert, Row: row})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sourced()
			for key, row := range w.rowsOf("!src|") {
				if strings.HasSuffix(key.Row, "|9999999998") {
					harm(w, row)
				}
			}
			require.Len(t, w.found(), 1)
			_, _, err := w.Sweep(t.Context())
			require.NoError(t, err)
			w.check()
			left := 1
			if name == "of no version" {
				left = 2
			}
			require.Len(t, w.rowsOf("!src|"), left)
		})
	}
}
