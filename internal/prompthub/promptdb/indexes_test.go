package promptdb_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// TestEntriesAsStored holds the form of the property Pending: rows that an earlier version left
// must be read.
func TestEntriesAsStored(t *testing.T) {
	t.Parallel()
	const stored = `{"d":["20260301"],"h":true,"n":true,"q":["ab","abc"],"s":[-3,12],"t":["text"]}`
	var e promptdb.Entries
	require.NoError(t, json.Unmarshal([]byte(stored), &e))
	got, err := json.Marshal(e)
	require.NoError(t, err)
	require.JSONEq(t, stored, string(got))
	require.Len(t, e.Keys("01ARZ3NDEKTSV4RRFFQ69G5FAV"), 8, "one row for each part")
	require.Error(t, json.Unmarshal([]byte(`{"n":7}`), &e))
}

// TestIndexKeysAreRead makes sure that every index can tell from a key what it belongs to.
func TestIndexKeysAreRead(t *testing.T) {
	t.Parallel()
	id := prompt.ID("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	now := id.Time()
	p := prompt.Prompt{ID: id, AuthorID: "ann", CreatedAt: now, Draft: prompt.Draft{
		Title: "C++ % of one's | 日本語", Text: "A text | of % 日本語 and .NET",
		Tags: []prompt.Tag{"text", "c++"}, Visibility: prompt.Public,
	}}
	hidden, deleted := p, p
	hidden.HiddenAt, deleted.DeletedAt = now, now.Add(time.Hour)
	db := promptdb.New(promptdb.Config{Tables: promptdb.DefaultTables()})
	seen := make(map[string]bool)
	for _, p := range []prompt.Prompt{p, hidden, deleted} {
		for _, row := range db.IndexRows(p)[1:] { // the first is the locator, which is in no index
			require.Equal(t, id, db.OwnerOf(row.Table, row.Row.Key), "%s %s", row.Table, row.Row.Key)
			seen[row.Table] = true
			other := row.Row.Key
			other.Row += "x"
			require.Empty(t, db.OwnerOf(row.Table, other))
		}
	}
	require.Len(t, seen, len(db.IndexTables()), "every index has a row")
}
