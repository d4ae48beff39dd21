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
	"prompthub/internal/storage/table"
)

// include returns the text that includes a prompt: "a|version=1".
func include(ref string) string { return "@@@langfusePrompt:name=" + ref + "@@@" }

// addText stores a prompt of ann's with a name and a text.
func (w *world) addText(name, text string) prompt.Prompt {
	w.t.Helper()
	d := named(name)
	d.Text = text
	return w.add("ann", d)
}

// resolved returns a prompt of ann's with what it includes, as a viewer reads it, or why not.
func (w *world) resolved(viewer prompt.UserID, p prompt.Prompt) string {
	w.t.Helper()
	v, err := w.Get(w.t.Context(), viewer, p.ID)
	require.NoError(w.t, err)
	r, err := w.Resolve(w.t.Context(), viewer, v, 3000)
	if err != nil {
		require.Equal(w.t, fault.Conflict, fault.Of(err))
		return err.Error()
	}
	return r.Words()
}

// TestIncludesOfTheRelease: an include by the label production follows the release of a
// prompt: that version, and the latest until there is one.
func TestIncludesOfTheRelease(t *testing.T) {
	w := newWorld(t)
	a := w.addText("a", "A1")
	c := w.addText("c", include("a|label=production"))
	require.Equal(t, "A1", w.resolved("ann", c))
	w.write(a, "A2")
	require.Equal(t, "A2", w.resolved("ann", c), "nothing is released")
	require.NoError(t, w.label(a, "production", 1))
	require.Equal(t, "A1", w.resolved("ann", c))
	w.write(a, "A3")
	require.Equal(t, "A1", w.resolved("bob", c), "a change is no release")
	require.NoError(t, w.label(a, "production", 3))
	require.Equal(t, "A3", w.resolved("ann", c))
	require.Equal(t, `the prompt includes "a" with the label live, but the prompt has no such label; it has latest, production; a text includes its author's own prompts alone: fork that of another first`,
		w.resolved("ann", w.addText("d", include("a|label=live"))))
}

func TestResolve(t *testing.T) {
	w := newWorld(t)
	a := w.addText("a", "A1")
	w.write(a, "A2")
	require.NoError(t, w.label(a, "production", 1))
	b := w.addText("folder/b", "B("+include("a|label=production")+include("a|version=2")+")")
	c := w.addText("c", include("folder/b|label=latest")+include("a|label=latest")+include("folder/b|label=latest"))
	require.Equal(t, "B(A1A2)A2B(A1A2)", w.resolved("ann", c))
	v, err := w.Get(t.Context(), "ann", c.ID)
	require.NoError(t, err)
	r, err := w.Resolve(t.Context(), "ann", v, 3000)
	require.NoError(t, err)
	node := func(p prompt.Prompt, n int64) promptdb.Node { return promptdb.Node{ID: p.ID, Name: p.Name, Version: n} }
	require.Equal(t, node(c, 1), r.Root)
	require.Equal(t, map[promptdb.Node][]promptdb.Node{
		node(c, 1): {node(b, 1), node(a, 2)}, node(b, 1): {node(a, 1), node(a, 2)},
	}, r.Graph)
	require.NoError(t, w.label(a, "production", 2))
	require.Equal(t, "B(A2A2)A2B(A2A2)", w.resolved("ann", c), "labels move")
	// Names that lead to nothing, or to what the reader may not read.
	a = w.mustRename(a, "renamed")
	require.Equal(t, "B(A2A2)A2B(A2A2)", w.resolved("ann", c), "an old name leads to it")
	require.Equal(t, "B(A2A2)A2B(A2A2)", w.resolved("bob", c))
	private := func(p prompt.Prompt, v prompt.Visibility) {
		w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = v })
	}
	private(a, prompt.Private)
	require.Equal(t, "B(A2A2)A2B(A2A2)", w.resolved("ann", c))
	refusal := w.resolved("bob", c)
	require.Equal(t, `the prompt includes "a" with the label latest, which does not exist, or which you may not read`,
		refusal)
	private(a, prompt.Public) // from version 2 on
	require.Equal(t, "B(A2A2)A2B(A2A2)", w.resolved("bob", c))
	require.NoError(t, w.label(a, "production", 1))
	require.Contains(t, w.resolved("bob", c), `"a" with the label production`,
		"what lies below the first public version is not for others")
	w.setDeleted(a, true)
	require.Equal(t, `the prompt includes "a" with the label latest, but there is no such prompt; a text includes its author's own prompts alone: fork that of another first`, w.resolved("ann", c))
	chat := named("chat")
	chat.Kind, chat.Text, chat.Messages = prompt.KindChat, "",
		[]prompt.Message{{Role: "user", Content: include("c|version=1")}}
	w.add("ann", chat)
	require.Contains(t, w.resolved("ann", w.addText("d", include("chat|version=1"))),
		"is a chat; only texts can be included")
	w.run()
	w.check()
}

// TestResolveEnds: of no saved prompts anything is read in a circle, without end, or into a text
// without end.
func TestResolveEnds(t *testing.T) {
	w := newWorld(t)
	a := w.addText("a", include("b|label=latest"))
	b := w.addText("b", include("c|label=latest"))
	c := w.addText("c", "x"+include("a|label=latest"))
	require.Equal(t, `the prompt includes itself: "a" > "b" > "c" > "a"`, w.resolved("ann", a))
	require.Equal(t, `the prompt includes itself: "b" > "c" > "a" > "b"`, w.resolved("ann", b))
	w.write(c, "C")
	require.Equal(t, "C", w.resolved("ann", a))
	require.Contains(t, w.resolved("ann", w.addText("self", include("self|version=1"))), "includes itself")
	// Five deep, not six; also where a short way leads to what a long one does.
	for i := range 6 {
		w.addText(fmt.Sprint("d", i+1), fmt.Sprint(i+1, include(fmt.Sprintf("d%d|version=1", i))))
	}
	end := w.addText("d0", "0")
	d := func(text string) string { return w.resolved("ann", w.addText("", text)) }
	require.Equal(t, "43210", d(include("d4|version=1")))
	require.Contains(t, d(include("d5|version=1")), "more than 5 deep")
	require.Contains(t, d(include("d6|version=1")), "more than 5 deep")
	require.Contains(t, d(include("d1|version=1")+include("d5|version=1")), "more than 5 deep")
	// Each doubles what it includes.
	twice := func(ref string) string { return include(ref) + include(ref) }
	w.write(end, strings.Repeat("0", 2999))
	require.Len(t, w.resolved("ann", w.addText("e1", include("d0|version=2"))), 2999)
	require.Contains(t, w.resolved("ann", w.addText("e2", twice("e1|version=1"))), "is longer than the 3000 characters")
	// Many, not each of them alone.
	var all strings.Builder
	for i := range 3 {
		var some strings.Builder
		for j := range 20 {
			name := fmt.Sprintf("m%d-%d", i, j)
			w.addText(name, "m")
			some.WriteString(include(name + "|version=1"))
		}
		all.WriteString(include(w.addText(fmt.Sprint("many ", i), some.String()).Name + "|version=1"))
	}
	require.Contains(t, d(all.String()), "more than 50 others")
	w.run()
	w.check()
}

// users returns who includes a prompt: "name@version".
func (w *world) users(p prompt.Prompt) []string {
	w.t.Helper()
	p, err := w.Record(w.t.Context(), "ann", p.ID)
	require.NoError(w.t, err)
	uses, more, err := w.UsedBy(w.t.Context(), p)
	require.NoError(w.t, err)
	require.False(w.t, more)
	var all []string
	for _, u := range uses {
		all = append(all, fmt.Sprintf("%s@%d %v", u.Name, u.Version, u.Includes))
	}
	return all
}

func TestUsedBy(t *testing.T) {
	w := newWorld(t)
	a := w.addText("folder/a", "A")
	w.write(a, "A2", "staging")
	require.Empty(t, w.users(a))
	b := w.addText("b", include("folder/a|version=1"))
	w.write(b, include("folder/a|version=1")+include("folder/a|label=staging"))
	c := w.addText("c", include("folder/a|label=production"))
	want := []string{
		"c@1 [name=folder/a|label=production]",
		"b@2 [name=folder/a|version=1 name=folder/a|label=staging]",
	}
	require.Equal(t, want, w.users(a))
	a = w.mustRename(a, "other")
	require.Equal(t, want, w.users(a), "by an old name")
	// An included prompt cannot go.
	require.EqualError(t, w.Unused(t.Context(), a),
		`this prompt is included by "c" in version 1, "b" in version 2; change or delete those first`)
	require.ErrorContains(t, w.deleteVersion(a, 1), `version 1 of this prompt is included by "b" in version 2`)
	require.ErrorContains(t, w.deleteVersion(a, 2), `version 2 of this prompt is included by "b" in version 2`,
		"by its label")
	require.EqualError(t, w.label(a, "staging", 0),
		`the label staging is included by "b" in version 2; change or delete those first`)
	_, err := w.UndoLabel(t.Context(), "ann", a.ID, "staging", prompt.Actor{}, "")
	require.EqualError(t, err, `the label staging is included by "b" in version 2; change or delete those first`,
		"it was on no version before")
	require.EqualError(t, w.label(a, "nosuch", 0), "the prompt has no such label; it has staging")
	w.write(a, "A3")
	require.NoError(t, w.label(a, "staging", 3), "it may be moved")
	require.NoError(t, w.deleteVersion(a, 2))
	// Versions and prompts that go include nothing any more.
	require.NoError(t, w.deleteVersion(b, 2))
	require.NoError(t, w.label(a, "staging", 0))
	require.Equal(t, []string{want[0], "b@1 [name=folder/a|version=1]"}, w.users(a))
	w.setDeleted(c, true)
	require.Equal(t, []string{"b@1 [name=folder/a|version=1]"}, w.users(a))
	w.write(b, "none any more")
	require.Len(t, w.rowsOf("!uses|"), 2, "of version 1, and of c")
	// A name that another prompt took leads there.
	d := w.addText("folder/a", "another")
	require.Empty(t, w.users(a))
	require.Equal(t, []string{"b@1 [name=folder/a|version=1]"}, w.users(d))
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
	require.Equal(t, []string{"b@1 [name=folder/a|version=1]"}, other.users(d))
	// A purge takes all rows.
	w.setDeleted(b, true)
	w.run()
	w.clock.Advance(32 * 24 * time.Hour)
	_, err = w.Purge(t.Context())
	require.NoError(t, err)
	w.run()
	for key := range w.rowsOf("!uses|") {
		t.Error(key)
	}
	w.check()
}

// rowsOf returns the rows of ann's partition that begin with a prefix.
func (w *world) rowsOf(prefix string) map[table.Key]table.Row {
	w.t.Helper()
	rows := map[table.Key]table.Row{}
	for row, err := range table.All(w.t.Context(), w.store, promptdb.DefaultTables().Prompts,
		table.Prefix("u|ann", prefix)) {
		require.NoError(w.t, err)
		rows[row.Key] = row
	}
	return rows
}

// A text that takes several properties of a row is included whole, from the prompt and from a
// version that it was.
func TestLongTextIsIncluded(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("0123456789", 13_000)
	a := w.addText("a", long)
	w.write(a, long+"!")
	for ref, want := range map[string]string{"a|version=1": long, "a|label=latest": long + "!"} {
		v, err := w.Get(t.Context(), "ann", w.addText("of "+strings.ReplaceAll(ref, "|", " "), include(ref)).ID)
		require.NoError(t, err)
		r, err := w.Resolve(t.Context(), "ann", v, 200_000)
		require.NoError(t, err)
		require.Equal(t, want, r.Text)
	}
}
