package promptdb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// described returns what a caller sees of a version: its description and its hash.
func (w *world) described(p prompt.Prompt, want promptdb.WantedVersion) (about, hash string) {
	w.t.Helper()
	v, err := w.GetVersion(w.t.Context(), "ann", p.ID, want)
	require.NoError(w.t, err)
	return v.Description, v.ShownVersion.Hash
}

// TestDescriptionIsOfItsVersion: a new description is a new version, each version keeps its own in
// its hash, and lists of programs tell that of the version in production. Deleting the latest
// version brings back what the one before says.
func TestDescriptionIsOfItsVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := named("greet")
	d.Description, d.Labels = "Greets people.", []string{"production"}
	p := w.add("ann", d)
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Description, p.Message = "Greets dogs.", "dogs too" })
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Title = "Another title" })
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Description = "" })
	w.run()
	w.check()
	var hashes []string
	for n, want := range []string{"Greets people.", "Greets dogs.", ""} {
		about, hash := w.described(p, promptdb.WantedVersion{Number: int64(n + 1)})
		require.Equal(t, want, about)
		hashes = append(hashes, hash)
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(hashes))), 3)
	v, err := w.Get(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.EqualValues(t, 3, v.Last, "a title makes no version")
	require.Equal(t, v.Content().Hash(), hashes[2], "one without a description is named by its content")
	require.Equal(t, "Greets people.", v.InProduction.About)

	require.NoError(t, w.deleteVersion(p, 3))
	v, err = w.Get(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, "Greets dogs.", v.Description)
	w.run()
	w.check()
	other := newWorld(t)
	require.NoError(t, restore(t.Context(), other.DB, strings.NewReader(w.backup())))
	other.check()
	about, hash := other.described(p, promptdb.WantedVersion{Number: 1})
	require.Equal(t, []string{"Greets people.", hashes[0]}, []string{about, hash})
}

// TestFileIsOfItsVersion: the hash of a version covers the file that it was made of, and verify
// finds a file that is another.
func TestFileIsOfItsVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.sourced()
	w.run()
	w.check()
	_, one := w.described(p, promptdb.WantedVersion{Number: 1})
	_, two := w.described(p, promptdb.WantedVersion{Number: 2})
	_, three := w.described(p, promptdb.WantedVersion{Number: 3})
	v, err := w.Get(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.NotEqual(t, v.Content().Hash(), two, "an export of it has the members of the file before")
	require.NotEqual(t, one, two)
	require.NotEqual(t, three, two, "the same text, and a file")
	require.Equal(t, (&prompt.Source{Bytes: []byte(strings.Repeat("three ", 20_000))}).Hash(), v.FileHash)
	for key, row := range w.rowsOf("!src|") {
		if row.Props.Get("Packed").Str() == "" {
			continue
		}
		other := promptdb.SourceRow("ann", p.ID, 1, *madeOf(t, "another file"))
		w.must(promptdb.DefaultTables().Prompts, table.Op{Kind: table.Merge, Row: table.Row{
			Key: key, ETag: table.Any, Props: table.Props{{Name: "Packed", Value: other.Props.Get("Packed")}},
		}})
		break
	}
	require.Contains(t, strings.Join(w.verified(), "\n"), "is not what its version names")
}

// TestFileOutlivesItsVersionRow: a damaged row of the latest version is written anew with its file.
func TestFileOutlivesItsVersionRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.sourced()
	key := table.Key{}
	for _, row := range w.rowsOf("!ver|") {
		if promptdb.ParseVersionRow(row).Number == 3 {
			key = row.Key
		}
	}
	w.must(promptdb.DefaultTables().Prompts, table.Op{Kind: table.Merge, Row: table.Row{
		Key: key, ETag: table.Any, Props: table.Props{{Name: "ContentHash", Value: table.String("another")}},
	}})
	require.Len(t, w.found(), 1)
	for range 2 {
		_, _, err := w.Sweep(t.Context())
		require.NoError(t, err)
	}
	w.check()
	require.Len(t, w.rowsOf("!src|"), 2)
	_, version := w.source("ann", p.ID, 3)
	require.EqualValues(t, 3, version)
}

// undescribe leaves of a prompt what RowsVersion 8 wrote: versions without descriptions.
func (w *world) undescribe(p prompt.Prompt) {
	w.t.Helper()
	name := promptdb.DefaultTables().Prompts
	strip := func(row table.Row, gone ...string) {
		row.Props = slices.DeleteFunc(slices.Clone(row.Props), func(x table.Prop) bool {
			return slices.Contains(gone, x.Name)
		})
		row.ETag = table.Any
		w.must(name, table.Op{Kind: table.Replace, Row: row})
	}
	for _, row := range w.rowsOf("!ver|") {
		if prompt.ID(row.Props.Get("PromptId").Str()) != p.ID {
			continue
		}
		v := promptdb.ParseVersionRow(row)
		for i, x := range row.Props {
			if x.Name == "ContentHash" {
				row.Props[i].Value = table.String(v.Content.Hash())
			}
		}
		strip(row, "Described", "Description", "FileHash")
	}
	row, err := w.store.Get(w.t.Context(), name, promptdb.PromptKey(p.AuthorID, p.ID))
	require.NoError(w.t, err)
	for i, x := range row.Props {
		if x.Name == "RowsVersion" {
			row.Props[i].Value = table.Int32(8)
		}
	}
	strip(row, "FileHash", "Undescribed")
}

// TestVersionsOfBefore: versions that RowsVersion 8 wrote keep their hashes and show the
// description that the prompt has, until a new one has its own: after any write, in a backup and
// after reindex.
func TestVersionsOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := named("greet")
	d.Description, d.Labels = "Greets people.", []string{"production"}
	d.Source = madeOf(t, "a file")
	p := w.add("ann", d)
	p = w.write(p, "another text")
	w.run()
	w.undescribe(p)
	before := func(w *world, latest string) {
		t.Helper()
		for n := range int64(2) {
			about, hash := w.described(p, promptdb.WantedVersion{Number: n + 1})
			require.Equal(t, latest, about)
			v, err := w.GetVersion(t.Context(), "ann", p.ID, promptdb.WantedVersion{Number: n + 1})
			require.NoError(t, err)
			require.True(t, v.ShownVersion.Undescribed)
			require.Equal(t, v.Content().Hash(), hash)
		}
	}
	before(w, "Greets people.")
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Title = "Another title" }) // the truth row is written anew
	w.run()
	w.check()
	before(w, "Greets people.")
	other := newWorld(t)
	require.NoError(t, restore(t.Context(), other.DB, strings.NewReader(w.backup())))
	other.check()
	before(other, "Greets people.")
	w.undescribe(p)
	require.Empty(t, w.reindex(false))
	w.check()
	before(w, "Greets people.")

	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Description = "Greets dogs." })
	w.run()
	w.check()
	before(w, "Greets dogs.")
	v, err := w.GetVersion(t.Context(), "ann", p.ID, promptdb.WantedVersion{Number: 3})
	require.NoError(t, err)
	require.False(t, v.ShownVersion.Undescribed)
	require.NotEqual(t, v.Content().Hash(), v.ShownVersion.Hash)
}
