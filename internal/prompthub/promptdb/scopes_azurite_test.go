package promptdb_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/azure"
	"prompthub/internal/testing/azurite"
)

// TestTwoInstances: an instance soon finds a prompt that another one makes public, and soon loses a
// prompt that another one makes private. With -v the test says how soon.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	account, err := azure.New(azure.Config{ConnectionString: azurite.Account(t)})
	require.NoError(t, err)
	instance := func() *promptdb.DB {
		return promptdb.New(promptdb.Config{
			Store: account.Tables, Queues: account.Queues, Tables: promptdb.DefaultTables(), Now: time.Now,
			Log:        slog.New(slog.DiscardHandler),
			Background: func(f func()) { go f() }, Sleep: sleep,
		})
	}
	one, other := instance(), instance()
	require.NoError(t, one.Create(t.Context()))
	finds := func(p prompt.Prompt) bool {
		words, err := prompt.ParseQuery(p.Title)
		require.NoError(t, err)
		page, err := other.Find(t.Context(), promptdb.Search{Words: words, Text: true}, "", 10)
		require.NoError(t, err)
		return len(page.Items) == 1 && page.Items[0].ID == p.ID
	}
	for i := range 3 {
		id, err := prompt.NewID(time.Now(), rand.Reader)
		require.NoError(t, err)
		p := prompt.Prompt{
			ID: id, AuthorID: "ann", AuthorName: "Ann", Draft: draft(fmt.Sprintf("word%d", i)), CreatedAt: id.Time(),
			UpdatedAt: id.Time(), Revision: 1,
		}
		require.False(t, finds(p))
		_, _, err = one.Add(t.Context(), p, nil)
		require.NoError(t, err)
		began := time.Now()
		require.Eventually(t, func() bool { return finds(p) }, 30*time.Second, 20*time.Millisecond)
		found := time.Since(began)
		_, err = one.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.Visibility = prompt.Private
			return p, nil
		})
		require.NoError(t, err)
		began = time.Now()
		require.Eventually(t, func() bool { return !finds(p) }, 30*time.Second, 20*time.Millisecond)
		t.Logf("found after %v, gone after %v", found.Round(time.Millisecond),
			time.Since(began).Round(time.Millisecond))
	}
}
