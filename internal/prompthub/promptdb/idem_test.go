package promptdb_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// keyed stores a prompt of ann under the key k, unless that made one before.
func (w *world) keyed(title string) (prompt.Prompt, bool) {
	w.t.Helper()
	w.clock.Advance(time.Millisecond)
	p, made, err := w.Add(w.t.Context(), w.made("ann", draft(title)), &promptdb.Idempotency{Key: "k", Body: "b"})
	require.NoError(w.t, err)
	return p, made
}

// put writes a row of the table of prompts as no command does.
func (w *world) put(kind table.Kind, key table.Key, props ...table.Prop) {
	w.t.Helper()
	row := table.Row{Key: key, Props: props}
	if kind == table.Merge {
		row.ETag = table.Any
	}
	_, err := w.store.Write(w.t.Context(), promptdb.DefaultTables().Prompts, table.Op{Kind: kind, Row: row})
	require.NoError(w.t, err)
}

// TestVerifyLooksAtKeys: a key must lead to the prompt that it made. Where there is none, the key
// is taken away; where it is another one's, it stays for a person to judge.
func TestVerifyLooksAtKeys(t *testing.T) {
	const unknown = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
	tests := []struct {
		name, partition, leads string
		want                   string
		mended                 bool
	}{
		{"no prompt", "u|ann", unknown, "leads to a prompt that does not exist", true},
		{"another author's prompt", "u|bob", "keyed", "leads to a prompt that does not exist", true},
		{"a prompt of another key", "u|ann", "keyed", "leads to a prompt that another key made, or none", false},
		{"a prompt without a key", "u|ann", "plain", "leads to a prompt that another key made, or none", false},
		{"no id", "u|ann", "", "is no row that this version writes", false},
		{"no author", "ann", "keyed", "is no row that this version writes", false},
	}
	menders := map[string]func(*world) error{
		"reindex": func(w *world) error {
			_, err := w.Reindex(w.t.Context(), false, func(promptdb.Difference) {}, func(int) {})
			return err
		},
		"sweep": func(w *world) error { _, _, err := w.Sweep(w.t.Context()); return err },
	}
	for _, tt := range tests {
		for by, mend := range menders {
			t.Run(tt.name+", "+by, func(t *testing.T) {
				w := newWorld(t)
				keyed, _ := w.keyed("keyed")
				plain := w.add("ann", draft("plain"))
				w.run()
				require.Empty(t, w.found())
				leads := strings.NewReplacer("keyed", string(keyed.ID), "plain", string(plain.ID)).Replace(tt.leads)
				w.put(table.Upsert, table.Key{Partition: tt.partition, Row: "!idem|other"},
					table.Prop{Name: "PromptId", Value: table.String(leads)},
					table.Prop{Name: "BodyHash", Value: table.String("b")})
				want := []string{"Prompts: " + tt.partition + " / !idem|other: " + tt.want}
				require.Equal(t, want, w.found())
				require.NoError(t, mend(w))
				if tt.mended {
					want = []string{}
				}
				require.Equal(t, want, w.found())
				again, made := w.keyed("keyed")
				require.False(t, made)
				require.Equal(t, keyed.ID, again.ID)
			})
		}
	}
}

// TestVerifyKnowsKeysThatWereTakenOver: rows that the life of a key may leave are no difference.
func TestVerifyKnowsKeysThatWereTakenOver(t *testing.T) {
	w := newWorld(t)
	first, _ := w.keyed("first")
	w.remove(first)
	require.Empty(t, w.found(), "deleted, and the key still leads to it")
	second, made := w.keyed("second")
	require.True(t, made)
	require.Empty(t, w.found(), "deleted, and the key leads to another one")
	w.edit("ann", first.ID, func(p *prompt.Prompt) { p.DeletedAt = time.Time{} })
	require.Empty(t, w.found(), "restored, and the key leads to another one")
	w.remove(second)
	w.run()
	w.clock.Advance(32 * 24 * time.Hour)
	n, err := w.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Empty(t, w.found(), "restored, and the key is gone with the other one")
	_, made = w.keyed("third")
	require.True(t, made)
	w.run()
	require.Empty(t, w.found())
}

// TestVerifyDuringAPurge: a purge that was stopped at any call leaves no key that leads nowhere.
func TestVerifyDuringAPurge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		oldWithKey(r, &p)
		tk := startPurge(r)
		looks := 0
		var found []string
		for synctest.Wait(); !tk.settled(); synctest.Wait() {
			call := r.Pending()[0]
			for _, d := range r.differences() {
				if strings.Contains(d, "!idem|") {
					found = append(found, fmt.Sprintf("before %s: %s", call.Label, d))
				}
			}
			looks++
			call.Pass()
		}
		require.Empty(t, found)
		require.NoError(t, tk.err)
		require.Greater(t, looks, 5)
		require.Empty(t, r.differences())
	})
}

// TestBackupDuringAPurge: the key of a prompt that was being purged is in the backup, the prompt is
// not. Restoring takes the key away.
func TestBackupDuringAPurge(t *testing.T) {
	w := newWorld(t)
	p, _ := w.keyed("goes")
	w.remove(p)
	w.run()
	w.put(table.Merge, table.Key{Partition: "u|ann", Row: string(p.ID)},
		table.Prop{Name: "IsPurging", Value: table.Bool(true)})
	require.Empty(t, w.found())
	var backup bytes.Buffer
	_, err := w.Backup(t.Context(), &backup, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Contains(t, backup.String(), `"kind":"idempotency"`)
	require.NotContains(t, backup.String(), `"title":"goes"`)

	other := newWorld(t)
	err = restore(t.Context(), other.DB, &backup)
	require.NoError(t, err)
	require.Empty(t, other.found())
}
