package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// TestListsTellWhatIsRead: after any change of a prompt, its versions and its label, lists tell of
// it what reading it does, each to those who may read it. Lists read no prompt by itself.
func TestListsTellWhatIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.handle("ann", "anna")
		v := w.write("ann", prompt.Draft{
			Title: "Letter", Text: "To {{a}}.",
			Visibility: prompt.Public, Tags: []prompt.Tag{"text"},
		})
		two := "Two {{b}}."
		_, err := w.hub.Patch(t.Context(), user("ann"), v.ID, library.Match{Any: true},
			func(d *prompt.Draft) { d.Text = two })
		require.NoError(rt, err)
		require.NoError(rt, w.hub.SetLabel(t.Context(), user("ann"), v.ID, prompt.Production, 1))
		for range rapid.IntRange(1, 8).Draw(rt, "changes") {
			w.change(rt, v.ID)
		}
		w.settle()
		_, err = w.db.Verify(t.Context(), func(d promptdb.Difference) { rt.Errorf("%s", d) }, func(int) {})
		require.NoError(rt, err)

		_, err = w.hub.Lookup(t.Context(), user("bob"), prompt.Ref{Name: string(v.ID)})
		hidden := err != nil
		for _, c := range []caller{
			w.as("ann"), w.as("ann").at("/mcp/u/anna"), w.as("bob").at("/mcp/u/anna"),
			w.as("bob").at("/mcp/t/text"), w.as(""),
		} {
			none := hidden
			if c.path+c.name == "/mcpann" {
				_, err := w.hub.Lookup(t.Context(), user("ann"), prompt.Ref{Name: string(v.ID)})
				none = err != nil
			}
			if none {
				require.Empty(rt, c.list(object{}).Prompts)
				require.Empty(rt, c.skills())
				continue
			}
			c.tells(rt)
		}
	})
}

// TestEditAfterARecall: where the latest version was recalled and nothing is in production, a new
// version is the one that programs get and that lists tell of.
func TestEditAfterARecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("ann", "anna")
	v := w.write("ann", prompt.Draft{Title: "Letter", Text: "To {{a}}.", Visibility: prompt.Public})
	for _, text := range []string{"Two {{b}}.", "Three {{c}}."} {
		_, err := w.hub.Patch(t.Context(), user("ann"), v.ID, library.Match{Any: true},
			func(d *prompt.Draft) { d.Text = text })
		require.NoError(t, err)
		if text == "Two {{b}}." {
			require.NoError(t, w.hub.Recall(t.Context(), user("ann"), v.ID, 2, "because"))
		}
	}
	w.as("ann").tells(t)
	w.as("bob").at("/mcp/u/anna").tells(t)
	require.Equal(t, "c", w.as("ann").list(object{}).Prompts[0].Arguments[0].Name)
}

// change does one thing that an author may do. What a state forbids does nothing.
func (w *world) change(rt *rapid.T, id prompt.ID) {
	ann, ctx := user("ann"), w.t.Context()
	n := rapid.Int64Range(0, 4).Draw(rt, "version")
	text := fmt.Sprintf("Text %d of {{%s}}.", n, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "variable"))
	patch := func(change func(*prompt.Draft)) error {
		_, err := w.hub.Patch(ctx, ann, id, library.Match{Any: true}, change)
		return err
	}
	visibility := prompt.Visibility(rapid.SampledFrom([]string{"public", "private"}).Draw(rt, "visibility"))
	description := rapid.SampledFrom([]string{"", "Something else."}).Draw(rt, "description")
	changes := map[string]func() error{
		"edit": func() error { return patch(func(d *prompt.Draft) { d.Text = text }) },
		"release": func() error {
			return patch(func(d *prompt.Draft) { d.Text, d.Labels = text, []string{prompt.Production} })
		},
		"describe":    func() error { return patch(func(d *prompt.Draft) { d.Description = description }) },
		"publish":     func() error { return patch(func(d *prompt.Draft) { d.Visibility = visibility }) },
		"label":       func() error { return w.hub.SetLabel(ctx, ann, id, prompt.Production, n) },
		"other label": func() error { return w.hub.SetLabel(ctx, ann, id, "staging", n) },
		"undo":        func() error { return w.hub.UndoLabel(ctx, ann, id, prompt.Production, "") },
		"recall":      func() error { return w.hub.Recall(ctx, ann, id, n, "because") },
		"reinstate":   func() error { return w.hub.Reinstate(ctx, ann, id, n) },
		"delete one":  func() error { return w.hub.DeleteVersion(ctx, ann, id, n) },
		"vote": func() error {
			_, err := w.hub.Vote(ctx, ann, id, prompt.Like)
			return err
		},
		"settle": func() error { w.settle(); return nil },
	}
	names := []string{
		"edit", "release", "describe", "publish", "label", "other label", "undo", "delete one", "recall",
		"recall", "reinstate", "vote", "settle",
	}
	_ = changes[rapid.SampledFrom(names).Draw(rt, "change")]()
}

func (c caller) skills() []skillEntry {
	var l struct{ Skills []skillEntry }
	c.call("skills/list", nil).into(&l)
	return l.Skills
}

// tells requires the one prompt of a list to be what reading it says.
func (c caller) tells(rt require.TestingT) {
	listed := c.list(object{}).Prompts
	require.Len(rt, listed, 1)
	arguments := object{}
	for _, a := range listed[0].Arguments {
		require.True(rt, a.Required)
		arguments[a.Name] = "x"
	}
	require.Len(rt, arguments, 1)
	var g gotten
	c.get(listed[0].Name, arguments).into(&g)
	require.Equal(rt, listed[0].Description, g.Description)

	skills := c.skills()
	require.Len(rt, skills, 1)
	var read struct{ Contents []struct{ Text string } }
	c.call("resources/read", object{"uri": skills[0].URI}).into(&read)
	require.Equal(rt, skills[0].Resources[0].Digest, skill.Digest([]byte(read.Contents[0].Text)))
	var one struct{ Skill skillEntry }
	c.call("skills/get", object{"uri": skills[0].URI}).into(&one)
	require.Equal(rt, skills[0], one.Skill)
}

// TestRowsOfBefore: rows that an earlier version wrote tell of no arguments and of no skill, until
// they are written again. What they name can be got all the while.
func TestRowsOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("ann", "anna")
	v := w.write("ann", prompt.Draft{
		Title: "Letter", Text: "To {{a}}.",
		Visibility: prompt.Public, Tags: []prompt.Tag{"text"},
	})
	for _, name := range []string{
		promptdb.DefaultTables().Prompts, promptdb.DefaultTables().TagIndex,
		promptdb.DefaultTables().MostLiked,
	} {
		for row, err := range table.All(t.Context(), w.store, name, table.Range{}) {
			require.NoError(t, err)
			row.Props = slices.DeleteFunc(slices.Clone(row.Props), func(p table.Prop) bool {
				return p.Name == "Outline"
			})
			_, err := w.store.Write(t.Context(), name,
				table.Op{Kind: table.Upsert, Row: table.Row{Key: row.Key, Props: row.Props}})
			require.NoError(t, err)
		}
	}
	w.now = w.now.Add(2 * time.Second) // cached lists last for a second
	lists := []caller{w.as("ann"), w.as("bob").at("/mcp/u/anna"), w.as("bob").at("/mcp/t/text"), w.as("")}
	for _, c := range lists {
		listed := c.list(object{}).Prompts
		require.Len(t, listed, 1)
		require.Empty(t, listed[0].Arguments)
		require.Empty(t, c.skills())
		require.Equal(t, "To x.", c.get(listed[0].Name, object{"a": "x"}).text())
	}
	var file struct{ Contents []struct{ Text string } }
	w.as("").call("resources/read",
		object{"uri": "skill://" + strings.ToLower(string(v.ID)) + "/letter/SKILL.md"}).into(&file)

	_, err := w.db.Reindex(t.Context(), false, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	w.now = w.now.Add(2 * time.Second)
	for _, c := range lists {
		c.tells(t)
	}
}
