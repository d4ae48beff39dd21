package promptdb_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// named returns a public draft with a name.
func named(name string) prompt.Draft {
	d := draft("Title of " + name)
	d.Name = name
	return d
}

// rename gives a prompt another name.
func (w *world) rename(p prompt.Prompt, name string) (prompt.Prompt, error) {
	return w.Change(w.t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Name = name
		p.UpdatedAt = w.clock.Now()
		return p, nil
	})
}

func (w *world) mustRename(p prompt.Prompt, name string) prompt.Prompt {
	w.t.Helper()
	p, err := w.rename(p, name)
	require.NoError(w.t, err)
	return p
}

// at returns the id of the prompt that a name of ann's leads to, "" for none.
func (w *world) at(name string) prompt.ID {
	w.t.Helper()
	v, err := w.GetByName(w.t.Context(), "ann", "ann", name, promptdb.WantedVersion{})
	if fault.Of(err) == fault.NotFound {
		return ""
	}
	require.NoError(w.t, err)
	return v.ID
}

func (w *world) setDeleted(p prompt.Prompt, deleted bool) prompt.Prompt {
	w.t.Helper()
	p, err := w.Change(w.t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.DeletedAt = time.Time{}
		if deleted {
			p.DeletedAt = w.clock.Now()
		}
		return p, nil
	})
	require.NoError(w.t, err)
	return p
}

func TestDefaultNames(t *testing.T) {
	w := newWorld(t)
	a, b := w.add("ann", draft("Linux Terminal")), w.add("ann", draft("Linux, terminal!"))
	c, d := w.add("ann", draft("🎲")), w.add("bob", draft("Linux Terminal"))
	end := func(p prompt.Prompt) string { return strings.ToLower(string(p.ID[20:])) }
	require.Equal(t, []string{"linux-terminal", "linux-terminal"}, []string{a.Name, a.Slug})
	require.Equal(t, []string{"linux-terminal-" + end(b), "linux-terminal-" + end(b)}, []string{b.Name, b.Slug})
	require.Equal(t, "prompt-"+end(c), c.Name)
	require.Equal(t, "linux-terminal", d.Name, "names are of one author")
	require.Equal(t, a.ID, w.at("linux-terminal"))
	require.Empty(t, w.at("Linux-terminal"))
	// A name that a slug has is taken, and a slug that is taken makes way.
	e := w.add("ann", named("linux/terminal"))
	require.Equal(t, "linux-terminal-"+end(e), e.Slug)
	require.Equal(t, []prompt.ID{e.ID, e.ID}, []prompt.ID{w.at("linux/terminal"), w.at(e.Slug)})
	for _, name := range []string{"linux-terminal", "linux/terminal", e.Slug} {
		_, _, err := w.Add(t.Context(), w.made("ann", named(name)), nil)
		require.Equal(t, fault.Conflict, fault.Of(err), name)
		_, err = w.rename(c, name)
		require.Equal(t, fault.Conflict, fault.Of(err), name)
	}
	w.run()
	w.check()
}

func TestRename(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", named("a"))
	for i := range 10 {
		p = w.mustRename(p, fmt.Sprint("name ", i))
	}
	require.Equal(t, "a", p.Slug, "a slug stays")
	require.Len(t, p.OldNames, 8)
	require.Equal(t, p.ID, w.at("a"))
	require.Empty(t, w.at("name 0"), "the ninth old name is given up")
	require.Equal(t, p.ID, w.at("name 1"))
	// Back to an old one, which is no old one any more.
	p = w.mustRename(p, "name 5")
	require.NotContains(t, p.OldNames, "name 5")
	require.Contains(t, p.OldNames, "name 9")
	// Another prompt takes an old name.
	q := w.add("ann", named("name 7"))
	require.Equal(t, q.ID, w.at("name 7"))
	for i := range 8 { // also where it would be given up
		p = w.mustRename(p, fmt.Sprint("later ", i))
	}
	require.Equal(t, q.ID, w.at("name 7"))
	// A name that is too long for a key.
	long := strings.Repeat("<&> ", 60) + "end"
	p = w.mustRename(p, long)
	require.Equal(t, p.ID, w.at(long))
	require.Empty(t, w.at(long+" "))
	w.run()
	w.check()
}

// TestRenameRace: of two renames to one name one succeeds.
func TestRenameRace(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		a, b := w.add("ann", named(fmt.Sprint("a", i))), w.add("ann", named(fmt.Sprint("b", i)))
		var errs [2]error
		var wg sync.WaitGroup
		for n, p := range []prompt.Prompt{a, b} {
			wg.Go(func() { _, errs[n] = w.rename(p, fmt.Sprint("new", i)) })
		}
		wg.Wait()
		require.NotEqual(t, errs[0] == nil, errs[1] == nil, "%v", errs)
		require.Equal(t, fault.Conflict, fault.Of(errors.Join(errs[:]...)))
	}
	w.run()
	w.check()
}

func TestNamesOfDeletedPrompts(t *testing.T) {
	w := newWorld(t)
	p := w.setDeleted(w.add("ann", named("a/b")), true)
	require.Empty(t, w.at("a/b"))
	restored := w.setDeleted(p, false)
	require.Equal(t, "a/b", restored.Name, "its name waited for it")
	w.setDeleted(p, true)
	q := w.add("ann", named("a/b"))
	require.NotEqual(t, "a-b", q.Slug, "a slug that nobody chose makes way even for one that is free to take")
	require.Equal(t, q.ID, w.at("a/b"))
	restored = w.setDeleted(p, false)
	require.NotEqual(t, "a/b", restored.Name)
	require.Equal(t, "a-b", restored.Slug)
	require.Equal(t, p.ID, w.at(restored.Name))
	require.Equal(t, q.ID, w.at("a/b"))
	// A purged prompt leaves its names to others, and takes none of theirs with it.
	w.setDeleted(p, true)
	r := w.add("ann", named(restored.Name))
	w.clock.Advance(33 * 24 * time.Hour)
	w.run()
	n, err := w.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, r.ID, w.at(restored.Name))
	for _, row := range w.promptRows(p.ID) {
		require.Fail(t, "row of a purged prompt", row.Key.String())
	}
	w.check()
}

// promptRows returns the rows of the table of truth rows that are about a prompt.
func (w *world) promptRows(id prompt.ID) []table.Row {
	w.t.Helper()
	var rows []table.Row
	for row, err := range table.All(w.t.Context(), w.store, promptdb.DefaultTables().Prompts, table.Range{}) {
		require.NoError(w.t, err)
		if strings.Contains(row.Row, string(id)) || row.Props.Get("PromptId").Str() == string(id) {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestVersionsAreCounted(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("T"))
	require.Equal(t, prompt.Versions{Version: 1, Last: 1, From: 1}, p.Versions)
	edit := func(text, title string, v prompt.Visibility) prompt.Prompt {
		p, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.Text, p.Title, p.Visibility = text, title, v
			return p, nil
		})
		require.NoError(t, err)
		return p
	}
	require.EqualValues(t, 2, edit("two", "T", prompt.Private).Version)
	require.EqualValues(t, 2, edit("two", "Another title", prompt.Private).Version, "a title is no content")
	require.EqualValues(t, 3, edit("three", "T", prompt.Private).Version)
	require.Equal(t, prompt.Versions{Version: 4, Last: 4, From: 4}, edit("four", "T", prompt.Public).Versions)
	require.Equal(t, prompt.Versions{Version: 5, Last: 5, From: 4}, edit("five", "T", prompt.Public).Versions)
	w.run()
	w.check()
}

// TestVerifyFindsWhatDiffersInTheLibrary damages one row after the other.
func TestVerifyFindsWhatDiffersInTheLibrary(t *testing.T) {
	prompts := promptdb.DefaultTables().Prompts
	for name, damage := range map[string]struct {
		do     func(w *world, row table.Row) table.Op
		prefix string
		mended bool
	}{
		"a name is gone":         {remove, "!name|", true},
		"a name leads elsewhere": {replaced("Version", table.Int64(9)), "!name|", true},
		"the labels are gone":    {remove, "!labels|", true},
		"the labels lag behind":  {replaced("LastVersion", table.Int64(1)), "!labels|", true},
		"the latest version":     {remove, "!ver|{id}|9999999997", true},
		"an older version":       {remove, "!ver|{id}|9999999998", false},
		"a version was changed":  {replaced("PromptText", table.String("x")), "!ver|{id}|9999999998", false},
		"a version of no prompt": {
			moved("!ver|01ARZ3NDEKTSV4RRFFQ69G5FAV|9999999998", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
			"!ver|", true,
		},
		"a version of the future":  {moved("!ver|{id}|9999999990", "{id}"), "!ver|", true},
		"a name of no prompt":      {moved("!name|stray", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), "!name|", true},
		"a name that it never had": {moved("!name|stray", "{id}"), "!name|", true},
		"an include is gone":       {remove, "!uses|", true},
		"another include":          {replaced("Includes", table.String("name=a|version=7")), "!uses|", true},
		"an include of no version": {
			moved("!uses|86f7e437faa5a7fce15d1ddcb9eaeaea|{id}|0000000007", "{id}"),
			"!uses|", true,
		},
		"an include of no text": {
			moved("!uses|86f7e437faa5a7fce15d1ddcb9eaeaea|{id}|0000000001", "{id}"),
			"!uses|", true,
		},
		"a row of a later version": {moved("!later|{id}", "{id}"), "!name|", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.add("ann", draft("T"))
			_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Text = "two" + include("a|version=1")
				return p, nil
			})
			require.NoError(t, err)
			w.run()
			w.check()
			for _, row := range w.promptRows(p.ID) {
				if strings.HasPrefix(row.Row, strings.ReplaceAll(damage.prefix, "{id}", string(p.ID))) {
					_, err := w.store.Write(t.Context(), prompts, damage.do(w, row))
					require.NoError(t, err)
					break
				}
			}
			require.NotEmpty(t, w.found())
			_, _, err = w.Sweep(t.Context())
			require.NoError(t, err)
			w.run()
			require.Equal(t, damage.mended, len(w.found()) == 0, "%v", w.found())
		})
	}
}

func remove(_ *world, row table.Row) table.Op {
	return table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}}
}

func replaced(name string, v table.Value) func(*world, table.Row) table.Op {
	return func(_ *world, row table.Row) table.Op {
		return table.Op{
			Kind: table.Merge,
			Row:  table.Row{Key: row.Key, ETag: table.Any, Props: table.Props{{Name: name, Value: v}}},
		}
	}
}

// moved puts the row under another key, as one of another prompt.
func moved(key, id string) func(*world, table.Row) table.Op {
	return func(_ *world, row table.Row) table.Op {
		own := row.Props.Get("PromptId").Str()
		row.Row = strings.ReplaceAll(key, "{id}", own)
		row.ETag = ""
		row.Props = slices.Clone(row.Props)
		for i := range row.Props {
			if row.Props[i].Name == "PromptId" {
				row.Props[i].Value = table.String(strings.ReplaceAll(id, "{id}", own))
			}
		}
		return table.Op{Kind: table.Insert, Row: row}
	}
}
