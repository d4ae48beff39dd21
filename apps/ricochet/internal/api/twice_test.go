package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/apptest"
)

// TestChangesSentTwice: no change that needs no body is done twice, although the host sends it to a
// second handler because the first one was killed.
func TestChangesSentTwice(t *testing.T) {
	t.Parallel()
	db := memory.NewTables()
	direct := serviceOver(t, db)
	rows := func() string { return apptest.Rows(t, db, rowstore.DefaultTables[game.Tables]().All()...) }
	// A key is told once, rounds begin and end once, and the key of a game that is gone is none.
	h := apptest.Twice(t, direct, rows, func(*http.Request) bool { return true })
	sent := []string{}
	do := func(id, method, path, key string, status int) map[string]any {
		sent = append(sent, id)
		is, answer := ask(t, h, method, "/api/v1"+path, key, "")
		require.Equal(t, status, is, "%s: %v", id, answer)
		return answer
	}
	g := do("create-game", "POST", "/games", "", 201)
	at, key := "/games/"+g["gameId"].(string), g["hostKey"].(string)
	do("start-round", "POST", at+"/rounds", key, 201)
	do("close-round", "POST", at+"/rounds/1/close", key, 200)
	do("delete-game", "DELETE", at, key, 204)
	require.ElementsMatch(t, openapitest.New(t, direct).Bare(), sent)
}
