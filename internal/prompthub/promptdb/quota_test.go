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

// limited has a new instance of the world go by a quota.
func (w *world) limited(q promptdb.Quota) *world {
	w.quota = q
	w.DB = w.another()
	return w
}

// usage is what a user takes, as an instance counts it that has counted nothing before.
func (w *world) usage(user prompt.UserID) promptdb.Usage {
	w.t.Helper()
	u, err := w.another().Usage(w.t.Context(), user)
	require.NoError(w.t, err)
	return u
}

// requireCode asks for an error that has a code and is Invalid.
func requireCode(t *testing.T, code fault.Code, err error) {
	t.Helper()
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Equal(t, code, fault.CodeOf(err))
}

func TestQuotaOfPrompts(t *testing.T) {
	for name, w := range map[string]*world{"in steps": newWorld(t), "whole": newWholeWorld(t)} {
		t.Run(name, func(t *testing.T) {
			w.limited(promptdb.Quota{Prompts: 10})
			var last prompt.Prompt
			for i := range 10 {
				near := w.Quota().Near(w.usage("ann"))
				require.Equal(t, i >= 9, near, "told from nine tenths on")
				last = w.add("ann", draft(fmt.Sprint("Number ", i)))
			}
			refused := func(why string) {
				_, _, err := w.Add(t.Context(), w.made("ann", draft("One more")), nil)
				requireCode(t, promptdb.QuotaPrompts, err)
				require.Contains(t, err.Error(), "10 prompts of the 10", why)
			}
			refused("by the instance that made them")
			w.DB = w.another()
			refused("by one that has counted them")
			w.write(last, "edits go on")
			w.add("bob", draft("Another's"))
			w.setDeleted(last, true)
			refused("a deleted prompt counts")
			w.clock.Advance((prompt.RestoreDays + 2) * 24 * time.Hour)
			_, err := w.Purge(t.Context())
			require.NoError(t, err)
			w.add("ann", draft("There is room again"))
			require.EqualValues(t, 10, w.usage("ann").Prompts)
		})
	}
}

func TestQuotaOfBytes(t *testing.T) {
	for name, w := range map[string]*world{"in steps": newWorld(t), "whole": newWholeWorld(t)} {
		t.Run(name, func(t *testing.T) {
			w.limited(promptdb.Quota{Bytes: 20_000})
			d := draft("A file")
			d.Source = &prompt.Source{Format: "markdown", File: "a.md", Bytes: []byte("text of A file")}
			p := w.add("ann", d)
			require.Greater(t, w.usage("ann").Bytes, int64(1024+2*len("text of A file")))
			p = w.write(p, strings.Repeat("x", 10_000))
			was := w.usage("ann").Bytes
			require.Greater(t, was, int64(12_000))
			_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Text = strings.Repeat("y", 10_000)
				return p, nil
			})
			requireCode(t, promptdb.QuotaBytes, err)
			require.Equal(t, was, w.usage("ann").Bytes, "nothing was written")
			// Changes that take no room go on: of a title, and the deletion of a version.
			_, err = w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Title = "Another title"
				return p, nil
			})
			require.NoError(t, err)
			require.NoError(t, w.DeleteVersion(t.Context(), "ann", p.ID, 2, prompt.Actor{}))
			require.Less(t, w.usage("ann").Bytes, int64(4000))
			w.write(p, strings.Repeat("y", 10_000))
			// Moves of labels are kept, so they count.
			was = w.usage("ann").Bytes
			require.NoError(t, w.label(p, "production", 1))
			require.EqualValues(t, 256, w.usage("ann").Bytes-was)
			for i := 0; ; i++ {
				if err = w.label(p, "production", int64(1+2*(i%2))); err != nil {
					break
				}
				require.Less(t, i, 100)
			}
			requireCode(t, promptdb.QuotaBytes, err)
			require.Empty(t, w.verified())
		})
	}
}

// The usage of users is the same after a backup, and found again by verify after damage.
func TestUsageIsKept(t *testing.T) {
	w := newWorld(t)
	d := draft("A file")
	d.Source = &prompt.Source{Format: "markdown", File: "a.md", Bytes: []byte("text of A file")}
	p := w.write(w.add("ann", d), "another text")
	require.NoError(t, w.label(p, "production", 1))
	w.add("ann", draft("Another"))
	want := w.usage("ann")
	require.EqualValues(t, 2, want.Prompts)

	other := newWorldOn(t, memory.NewTables())
	require.NoError(t, restore(t.Context(), other.DB, strings.NewReader(w.backup())))
	require.Equal(t, want, other.usage("ann"))

	for row, err := range table.All(t.Context(), w.store, promptdb.DefaultTables().Prompts,
		table.Prefix("u|ann", "!labels|")) {
		require.NoError(t, err)
		_, err = w.store.Write(t.Context(), promptdb.DefaultTables().Prompts,
			table.Op{Kind: table.Merge, Row: table.Row{
				Key: row.Key, ETag: table.Any, Props: table.Props{{Name: "Bytes", Value: table.Int64(7)}},
			}})
		require.NoError(t, err)
	}
	require.NotEqual(t, want, w.usage("ann"))
	require.NotEmpty(t, w.verified())
	_, _, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, w.usage("ann"))
}

func TestQuotaOfFavorites(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("Liked"))
	rows := make([]table.Op, 0, table.MaxBatch)
	for i := range promptdb.MaxFavorites {
		rows = append(rows, table.Op{
			Kind: table.Insert,
			Row: table.Row{
				Key:   table.Key{Partition: "u|bob", Row: fmt.Sprintf("%06d", i)},
				Props: table.Props{{Name: "PromptId", Value: table.String("x")}},
			},
		})
		if len(rows) == table.MaxBatch {
			_, err := w.store.Write(t.Context(), promptdb.DefaultTables().Favorites, rows...)
			require.NoError(t, err)
			rows = rows[:0]
		}
	}
	requireCode(t, promptdb.QuotaFavorites, w.Favorite(t.Context(), "bob", p.ID))
	require.NoError(t, w.Favorite(t.Context(), "eve", p.ID))
	require.EqualValues(t, 1, w.usage("eve").Favorites)
}
