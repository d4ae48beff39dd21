package promptdb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

func allow(prompt.Prompt) error { return nil }

// write makes a new version of a prompt of ann's.
func (w *world) write(p prompt.Prompt, text string, labels ...string) prompt.Prompt {
	w.t.Helper()
	p, err := w.Change(w.t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Text, p.Labels, p.UpdatedAt = text, labels, w.clock.Now()
		return p, nil
	})
	require.NoError(w.t, err)
	return p
}

func (w *world) label(p prompt.Prompt, label string, n int64) error {
	w.clock.Advance(time.Millisecond)
	_, err := w.SetLabels(w.t.Context(), "ann", p.ID, []string{label}, n, prompt.Actor{}, allow)
	return err
}

// history returns what became of a label, as a viewer sees it: "1>2" or "1>2 undone".
func (w *world) history(viewer prompt.UserID, p prompt.Prompt, label string) []string {
	w.t.Helper()
	var all []string
	for after := ""; ; {
		h, err := w.LabelHistory(w.t.Context(), viewer, p.ID, label, after, 2)
		require.NoError(w.t, err)
		for _, m := range h.Moves {
			s := fmt.Sprintf("%d>%d", m.From, m.To)
			if m.Undone.By != "" {
				s += " undone"
			}
			all = append(all, s)
		}
		if after = h.After; after == "" {
			return all
		}
	}
}

func TestLabelsComeWithAVersion(t *testing.T) {
	w := newWorld(t)
	d := draft("T")
	d.Labels = []string{"production"}
	p := w.add("ann", d)
	labels, latest, err := w.Labels(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"production": 1}, labels)
	require.EqualValues(t, 1, latest)
	w.write(p, "two", "staging", "production")
	labels, _, err = w.Labels(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"production": 2, "staging": 2}, labels)
	require.Equal(t, []string{"1>2", "0>1"}, w.history("ann", p, "production"))
	w.run()
	w.check()
}

func TestLabelsMoveAndComeBack(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("T"))
	w.write(p, "two")
	for _, n := range []int64{1, 2, 2, 1, 0} {
		require.NoError(t, w.label(p, "production", n))
	}
	require.NoError(t, w.label(p, "other", 2))
	require.Equal(t, []string{"1>0", "2>1", "1>2", "0>1"}, w.history("ann", p, "production"))
	require.Equal(t, fault.NotFound, fault.Of(w.label(p, "production", 0)), "it has none to remove")
	require.Equal(t, fault.NotFound, fault.Of(w.label(p, "production", 3)), "no such version")
	undo := func() (map[string]int64, error) {
		return w.UndoLabel(t.Context(), "ann", p.ID, "production", prompt.Actor{}, "")
	}
	for _, want := range []map[string]int64{
		{"production": 1, "other": 2},
		{"production": 2, "other": 2},
		{"production": 1, "other": 2},
		{"other": 2},
	} {
		labels, err := undo()
		require.NoError(t, err)
		require.Equal(t, want, labels)
	}
	_, err := undo()
	require.Equal(t, fault.Conflict, fault.Of(err))
	require.Equal(t, []string{"1>0 undone", "2>1 undone", "1>2 undone", "0>1 undone"},
		w.history("ann", p, "production"))
	w.check()
	// At most 50.
	for i := range 49 {
		require.NoError(t, w.label(p, fmt.Sprint("label-", i), 1))
	}
	require.Equal(t, fault.Invalid, fault.Of(w.label(p, "one-more", 1)))
	w.setDeleted(p, true)
	require.Equal(t, fault.NotFound, fault.Of(w.label(p, "other", 1)))
	w.run()
	w.check()
}

// TestUndoOnce: an undo with an Idempotency-Key takes back one move, however often it is sent, also
// after the label has moved on.
func TestUndoOnce(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("T"))
	w.write(p, "two")
	for _, n := range []int64{1, 2, 1} {
		require.NoError(t, w.label(p, "production", n))
	}
	undo := func(label, idem string) (map[string]int64, error) {
		return w.UndoLabel(t.Context(), "ann", p.ID, label, prompt.Actor{}, idem)
	}
	for range 3 {
		labels, err := undo("production", "key")
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"production": 2}, labels)
	}
	require.NoError(t, w.label(p, "production", 1))
	require.NoError(t, w.label(p, "other", 1))
	labels, err := undo("production", "key")
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"production": 1, "other": 1}, labels, "somebody moved it since")
	labels, err = undo("other", "key")
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"production": 1}, labels, "of another label it is another request")
	labels, err = undo("production", "another")
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"production": 2}, labels)
	w.run()
	w.check()
}

// A label that moves several times at once, or while the clock is set back, has a history in order.
func TestLabelMovesInOneTick(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("T"))
	w.write(p, "two", "production")
	put := func(n int64) {
		_, err := w.SetLabels(t.Context(), "ann", p.ID, []string{"production"}, n, prompt.Actor{}, allow)
		require.NoError(t, err)
	}
	put(1)
	put(2)
	w.clock.Advance(-time.Minute)
	put(1)
	w.write(p, "three", "production")
	require.Equal(t, []string{"1>3", "2>1", "1>2", "2>1", "0>2"}, w.history("ann", p, "production"))
	_, err := w.UndoLabel(t.Context(), "ann", p.ID, "production", prompt.Actor{}, "")
	require.NoError(t, err)
	require.Equal(t, "1>3 undone", w.history("ann", p, "production")[0])
	w.clock.Advance(time.Hour)
	w.run()
	w.check()

	backup := w.backup()
	w = newWorld(t)
	err = restore(t.Context(), w.DB, strings.NewReader(backup))
	require.NoError(t, err)
	w.clock.Advance(-time.Hour)
	put(2)
	require.Equal(t, []string{"1>2", "1>3 undone"}, w.history("ann", p, "production")[:2])
	w.clock.Advance(2 * time.Second)
	w.run()
	w.check()
}

func (w *world) version(viewer prompt.UserID, p prompt.Prompt, want promptdb.WantedVersion) string {
	w.t.Helper()
	v, err := w.GetVersion(w.t.Context(), viewer, p.ID, want)
	byName, err2 := w.GetByName(w.t.Context(), viewer, p.AuthorID, p.Name, want)
	require.Equal(w.t, fault.Of(err), fault.Of(err2))
	require.Equal(w.t, v, byName)
	if err != nil {
		require.Equal(w.t, fault.NotFound, fault.Of(err))
		return "none"
	}
	return fmt.Sprint(v.Version, " ", v.Text)
}

func TestReadVersions(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("T"))
	w.write(p, "two", "production")
	w.write(p, "three")
	number := func(n int64) string { return w.version("ann", p, promptdb.WantedVersion{Number: n}) }
	label := func(l string) string { return w.version("ann", p, promptdb.WantedVersion{Label: l}) }
	require.Equal(t, []string{"1 text of T", "2 two", "3 three", "none"},
		[]string{number(1), number(2), number(3), number(4)})
	require.Equal(t, []string{"2 two", "3 three", "none"},
		[]string{label("production"), label("latest"), label("nosuch")})
	require.NoError(t, w.label(p, "production", 1))
	require.Equal(t, "1 text of T", label("production"))
	for limit := 1; limit < 5; limit++ {
		var all []int64
		for below := int64(0); ; {
			page, err := w.Versions(t.Context(), "ann", p.ID, below, limit)
			require.NoError(t, err)
			for _, v := range page.Items {
				require.Empty(t, v.Text, "a list loads no texts")
				require.NotEmpty(t, v.Hash)
				all = append(all, v.Number)
			}
			if below = page.After; below == 0 {
				break
			}
		}
		require.Equal(t, []int64{3, 2, 1}, all, "limit %d", limit)
	}
}

func (w *world) deleteVersion(p prompt.Prompt, n int64) error {
	return w.DeleteVersion(w.t.Context(), "ann", p.ID, n, prompt.Actor{})
}

func TestDeleteVersions(t *testing.T) {
	w := newWorld(t)
	d := draft("T")
	d.Visibility = prompt.Private
	p := w.add("ann", d)
	require.Equal(t, fault.Conflict, fault.Of(w.deleteVersion(p, 1)), "the only one")
	w.write(p, "two", "production", "old")
	w.write(p, "three", "staging")
	w.write(p, "four")
	require.NoError(t, w.deleteVersion(p, 2))
	require.Equal(t, fault.NotFound, fault.Of(w.deleteVersion(p, 2)))
	labels, _, err := w.Labels(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"staging": 3}, labels)
	require.Equal(t, []string{"2>0", "0>2"}, w.history("ann", p, "production"))
	_, err = w.UndoLabel(t.Context(), "ann", p.ID, "production", prompt.Actor{}, "")
	require.Equal(t, fault.Conflict, fault.Of(err), "where it was is gone")
	require.NoError(t, w.deleteVersion(p, 4))
	require.Equal(t, "3 three", w.version("ann", p, promptdb.WantedVersion{Label: "latest"}))
	require.EqualValues(t, 5, w.write(p, "five").Version, "no number comes twice")
	w.run()
	w.check()
	// Of a public prompt one version stays that others may see.
	published, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Visibility = prompt.Public
		return p, nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 5, published.From)
	require.Equal(t, fault.Conflict, fault.Of(w.deleteVersion(p, 5)))
	w.write(p, "six")
	require.NoError(t, w.deleteVersion(p, 5))
	require.Equal(t, fault.Conflict, fault.Of(w.deleteVersion(p, 6)))
	for _, n := range []int64{1, 3} {
		require.NoError(t, w.deleteVersion(p, n))
	}
	w.run()
	w.check()
}

// TestNothingBelowPublicFrom: a prompt private for three versions and then published shows others
// nothing of the private ones.
func TestNothingBelowPublicFrom(t *testing.T) {
	w := newWorld(t)
	d := draft("T")
	d.Visibility, d.Text, d.Labels = prompt.Private, "secret one", []string{"early"}
	p := w.add("ann", d)
	w.write(p, "secret two", "production")
	w.write(p, "secret three", "moved")
	_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Visibility, p.Text, p.Labels = prompt.Public, "public four", []string{"moved"}
		return p, nil
	})
	require.NoError(t, err)
	w.write(p, "public five", "stable")
	require.NoError(t, w.label(p, "stable", 2))
	require.NoError(t, w.label(p, "stable", 4))
	for _, viewer := range []prompt.UserID{"bob", ""} {
		for n := int64(1); n <= 6; n++ {
			want := map[int64]string{4: "4 public four", 5: "5 public five"}[n]
			if want == "" {
				want = "none"
			}
			require.Equal(t, want, w.version(viewer, p, promptdb.WantedVersion{Number: n}), "version %d", n)
			_, _, err := w.Contents(t.Context(), viewer, p.ID, n, 4)
			require.Equal(t, n == 4 || n == 5, err == nil, "diff of %d", n)
			_, _, err = w.Contents(t.Context(), viewer, p.ID, 5, n)
			require.Equal(t, n == 4 || n == 5, err == nil, "diff of %d", n)
		}
		labels, latest, err := w.Labels(t.Context(), viewer, p.ID)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"moved": 4, "stable": 4}, labels)
		require.EqualValues(t, 5, latest)
		for label, want := range map[string]string{
			"early": "none", "production": "none",
			"moved": "4 public four", "latest": "5 public five",
		} {
			require.Equal(t, want, w.version(viewer, p, promptdb.WantedVersion{Label: label}), label)
		}
		require.Empty(t, w.history(viewer, p, "early"))
		require.Empty(t, w.history(viewer, p, "production"))
		require.Equal(t, []string{"0>4"}, w.history(viewer, p, "moved"))
		require.Equal(t, []string{"0>4", "5>0", "0>5"}, w.history(viewer, p, "stable"))
		page, err := w.Versions(t.Context(), viewer, p.ID, 0, 20)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"moved": 4, "stable": 4}, page.Labels)
		var numbers []int64
		for _, v := range page.Items {
			numbers = append(numbers, v.Number)
		}
		require.Equal(t, []int64{5, 4}, numbers)
		require.Zero(t, page.After)
		short, err := w.Versions(t.Context(), viewer, p.ID, 5, 20)
		require.NoError(t, err)
		require.Len(t, short.Items, 1)
		below, err := w.Versions(t.Context(), viewer, p.ID, 4, 20)
		require.NoError(t, err)
		require.Empty(t, below.Items)
	}
	// Private again, it is gone; published again, earlier public versions stay private.
	for _, v := range []prompt.Visibility{prompt.Private, prompt.Public} {
		_, err = w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.Visibility = v
			return p, nil
		})
		require.NoError(t, err)
		require.Equal(t, "none", w.version("bob", p, promptdb.WantedVersion{Number: 4}))
	}
	require.Equal(t, "5 public five", w.version("bob", p, promptdb.WantedVersion{Number: 5}))
	w.run()
	w.check()
}

// TestLibraryOutlivesABackup: what a backup holds makes the same library again, to the byte.
func TestLibraryOutlivesABackup(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", named("folder/a"))
	w.write(p, "two", "production")
	w.write(p, "three", "production", "staging")
	require.NoError(t, w.deleteVersion(p, 2))
	_, err := w.UndoLabel(t.Context(), "ann", p.ID, "staging", prompt.Actor{}, "")
	require.NoError(t, err)
	w.mustRename(w.mustRename(p, "b"), "c")
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.OwnTags = []string{"my own", "a; b"} })
	w.setDeleted(w.add("ann", named("mine")), true)
	w.add("ann", named("mine"))
	w.run()
	w.check()
	first := w.backup()
	other := newWorld(t)
	err = restore(t.Context(), other.DB, strings.NewReader(first))
	require.NoError(t, err)
	other.clock.Advance(3 * time.Minute)
	other.run()
	other.check()
	require.Equal(t, first, other.backup())
	require.Equal(t, p.ID, other.at("folder/a"))
	require.Equal(t, []string{"2>3", "0>2"}, other.history("ann", p, "production"))
}

func (w *world) backup() string {
	w.t.Helper()
	var b strings.Builder
	_, err := w.Backup(w.t.Context(), &b, func(d promptdb.Difference) { w.t.Error(d) }, func(int) {})
	require.NoError(w.t, err)
	return b.String()
}

// TestLabelsMoveAtOnce: a move that another one overtakes takes nothing of it back.
func TestLabelsMoveAtOnce(t *testing.T) {
	store := &aside{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	p := w.add("ann", draft("T"))
	overtaken := false
	store.before = func(name string, _ []table.Op) {
		if name == promptdb.DefaultTables().Prompts && !overtaken {
			overtaken = true
			require.NoError(t, w.label(p, "faster", 1))
		}
	}
	require.NoError(t, w.label(p, "slower", 1))
	require.True(t, overtaken)
	labels, _, err := w.Labels(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"faster": 1, "slower": 1}, labels)
	w.run()
	w.check()
}
