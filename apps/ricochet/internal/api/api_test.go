package api_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/api"
	"prompthub/apps/ricochet/internal/board"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// service returns the API over stores in memory, whose answers are held against its document.
func service(t *testing.T) http.Handler {
	t.Helper()
	return serviceOver(t, memory.NewTables())
}

// serviceOver is service over tables.
func serviceOver(t *testing.T, db table.DB) http.Handler {
	t.Helper()
	games := &game.Games{
		Tables: rowstore.DefaultTables[game.Tables](), Store: db, Queues: memory.NewQueues(time.Now), Now: time.Now,
		Random: rand.Reader, Log: slog.New(slog.DiscardHandler), Solve: game.Search,
	}
	require.NoError(t, games.Create(t.Context()))
	h := api.New(api.Config{
		Games: games, Admission: httpjson.NewAdmission(httpjson.Limits{}, time.Now), Log: slog.New(slog.DiscardHandler),
		Now: time.Now, Version: "test",
	})
	return openapitest.New(t, h).Enforce(t, h) // whatever a test asks, the answer is as the document says
}

// ask sends a request, its body as it is.
func ask(t *testing.T, h http.Handler, method, path, key, body string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("X-Host-Key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var answer map[string]any
	if w.Body.Len() > 0 {
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), "%s", w.Body)
	}
	return w.Code, answer
}

// TestHostile sends requests that no client should: each is refused with a problem that says why.
func TestHostile(t *testing.T) {
	t.Parallel()
	h := service(t)
	status, g := ask(t, h, "POST", "/api/v1/games", "", "")
	require.Equal(t, 201, status, "a game needs no body")
	id, key := g["gameId"].(string), g["hostKey"].(string)
	at := "/api/v1/games/" + id
	status, _ = ask(t, h, "POST", at+"/rounds", key, "")
	require.Equal(t, 201, status)
	long := strings.Repeat(`{"robot":"red","direction":"up"},`, 1001)
	for _, tt := range []struct {
		method, path, key, body string
		status                  int
		code                    string
	}{
		{"POST", "/api/v1/games", "", `{"gameName":`, 400, "MALFORMED"},
		{"POST", "/api/v1/games", "", `{"gameName":"a","gameName":"b"}`, 400, "MALFORMED"},
		{"POST", "/api/v1/games", "", "\"\xff\"", 400, "MALFORMED"},
		{"POST", "/api/v1/games", "", `[]`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", `{"gamename":"a"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", `{"seed":-1}`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", `{"seed":1e400}`, 400, "MALFORMED"},
		{"POST", "/api/v1/games", "", `{"defaultRoundDurationMs":59999}`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", `{"gameName":"a\u0000b"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", `{"gameName":"a\u2028b"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", `{"gameName":"a\u202eb"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", `{"gameName":"\u3164"}`, 422, "VALIDATION_ERROR"},
		{"POST", "/api/v1/games", "", strings.Repeat(" ", 70<<10), 413, "BODY_TOO_LARGE"},
		{"GET", "/api/v1/games/x", "", "", 404, "GAME_NOT_FOUND"},
		{"GET", "/api/v1/games/..%2F..%2Fgame", "", "", 404, "GAME_NOT_FOUND"},
		{"GET", "/api/v1/games/game_0000000000000000/rounds", "", "", 404, "GAME_NOT_FOUND"},
		{"GET", at + "/rounds/2", "", "", 404, "ROUND_NOT_FOUND"},
		{"GET", at + "/rounds/0", "", "", 422, "VALIDATION_ERROR"},
		{"GET", at + "/rounds/1e3", "", "", 422, "VALIDATION_ERROR"},
		{"GET", at + "/rounds?form=1", "", "", 422, "VALIDATION_ERROR"},
		{"GET", at + "/rounds/1/optimal", "", "", 409, "ROUND_ACTIVE"},
		{"GET", at + "/dashboard", "host_wrong", "", 401, "INVALID_HOST_KEY"},
		{"GET", "/api/v1/games/x/dashboard", key, "", 401, "INVALID_HOST_KEY"},
		{"DELETE", at, "", "", 401, "INVALID_HOST_KEY"},
		{"POST", at + "/rounds", key, `{}`, 409, "ROUND_ALREADY_ACTIVE"},
		{"POST", at + "/rounds/1/extend", key, `{}`, 422, "VALIDATION_ERROR"},
		{"POST", at + "/rounds/1/extend", key, `{"extendByMs":1000,"newEndTime":1}`, 422, "VALIDATION_ERROR"},
		{"POST", at + "/rounds/1/extend", key, `{"newEndTime":1}`, 422, "VALIDATION_ERROR"},
		{"POST", at + "/rounds/1/solutions", "", `{"playerName":"ann","moves":[]}`, 422, "VALIDATION_ERROR"},
		{
			"POST", at + "/rounds/1/solutions", "", `{"playerName":"ann","moves":[{"robot":"pink","direction":"up"}]}`,
			422, "VALIDATION_ERROR",
		},
		{
			"POST", at + "/rounds/1/solutions", "", `{"playerName":"ann","moves":[` + strings.TrimSuffix(long, ",") + `]}`,
			422, "VALIDATION_ERROR",
		},
		{
			"POST", at + "/rounds/1/solutions", "", `{"playerName":"a|b","moves":[{"robot":"red","direction":"up"}]}`, 422,
			"VALIDATION_ERROR",
		},
		{
			"POST", at + "/rounds/1/solutions", "",
			`{"playerName":"ann","moves":[{"robot":"red","direction":"up"},{"robot":"red","direction":"up"}]}`, 422,
			"INVALID_SOLUTION",
		},
		{
			"POST", at + "/rounds/2/solutions", "", `{"playerName":"ann","moves":[{"robot":"red","direction":"up"}]}`, 404,
			"ROUND_NOT_FOUND",
		},
		{"PUT", at, "", "", 405, "METHOD_NOT_ALLOWED"},
		{"GET", "/api/v1/nothing", "", "", 404, "NO_SUCH_ROUTE"},
	} {
		status, p := ask(t, h, tt.method, tt.path, tt.key, tt.body)
		what := fmt.Sprintf("%s %s %.60s: %v", tt.method, tt.path, tt.body, p)
		require.Equal(t, tt.status, status, what)
		code, _ := p["code"].(string)
		require.Equal(t, tt.code, code, what)
		require.NotEmpty(t, p["detail"], what)
		require.NotContains(t, fmt.Sprint(p), key, "a key is never shown again")
	}
}

// TestSecrets holds that no answer but the one that creates it has a key, and that no answer shows
// moves of an active round.
func TestSecrets(t *testing.T) {
	t.Parallel()
	h := service(t)
	_, g := ask(t, h, "POST", "/api/v1/games", "", `{"gameName":"x"}`)
	at, key := "/api/v1/games/"+g["gameId"].(string), g["hostKey"].(string)
	ask(t, h, "POST", at+"/rounds", key, "")
	for _, path := range []string{
		"", "/rounds", "/rounds/1", "/rounds/current",
		"/rounds/1/leaderboard", "/dashboard",
	} {
		status, answer := ask(t, h, "GET", at+path, key, "")
		require.Equal(t, 200, status, path)
		text := fmt.Sprint(answer)
		require.NotContains(t, text, key)
		require.NotContains(t, text, "hostKey")
		require.NotContains(t, text, "moves:")
	}
}

// TestPages reads a leaderboard page by page, and holds that a cursor is good for its list alone.
func TestPages(t *testing.T) {
	t.Parallel()
	h := service(t)
	_, g := ask(t, h, "POST", "/api/v1/games", "", `{"seed":7}`)
	at, key := "/api/v1/games/"+g["gameId"].(string), g["hostKey"].(string)
	var made struct{ BoardData board.Data }
	remake(t, g, &made)
	_, r := ask(t, h, "POST", at+"/rounds", key, "")
	var round api.Round
	remake(t, r, &round)
	moves := long(t, made.BoardData, round)
	for i := range 5 {
		status, a := ask(t, h, "POST", at+"/rounds/1/solutions", "",
			fmt.Sprintf(`{"playerName":"player %d","moves":%s}`, i, moves))
		require.Equal(t, 201, status, a)
	}
	list := at + "/rounds/1/leaderboard"
	status, first := ask(t, h, "GET", list+"?limit=3", "", "")
	require.Equal(t, 200, status)
	require.Len(t, first["items"], 3)
	status, second := ask(t, h, "GET", list+"?limit=3&cursor="+first["nextCursor"].(string), "", "")
	require.Equal(t, 200, status)
	require.Len(t, second["items"], 2)
	require.NotContains(t, second, "nextCursor")
	require.InDelta(t, 1, second["items"].([]any)[0].(map[string]any)["rank"], 0)
	ask(t, h, "POST", at+"/rounds/1/close", key, "")
	for _, path := range []string{
		list + "?all=true&cursor=" + first["nextCursor"].(string), list + "?cursor=AQ",
		list + "?cursor=" + strings.Repeat("A", 512),
	} {
		status, p := ask(t, h, "GET", path, "", "")
		require.Equal(t, 400, status, p)
		require.Equal(t, "MALFORMED", p["code"])
	}
	for _, path := range []string{
		list + "?limit=101", list + "?limit=0",
		list + "?cursor=" + strings.Repeat("A", 513),
	} {
		status, p := ask(t, h, "GET", path, "", "")
		require.Equal(t, 422, status, p)
	}
}

// remake reads an answer as what it is of.
func remake(t *testing.T, answer map[string]any, into any) {
	t.Helper()
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// TestToday holds that the puzzle of today is the same for all who ask, and shows no solution.
func TestToday(t *testing.T) {
	t.Parallel()
	h := service(t)
	status, first := ask(t, h, "GET", "/api/v1/today", "", "")
	require.Equal(t, 200, status)
	require.NotContains(t, first, "moves")
	_, second := ask(t, h, "GET", "/api/v1/today", "", "")
	if first["date"] == second["date"] { // else it is midnight
		require.Equal(t, first, second)
	}
}

// TestDocument holds that the document tells of every operation what it does, with examples that
// are as it says.
func TestDocument(t *testing.T) {
	t.Parallel()
	c := openapitest.New(t, service(t))
	require.Greater(t, c.Examples(t), 100)
	for _, o := range c.Operations() {
		op := c.At(o.Pointer)
		require.Regexp(t, `^[A-Z]`, op["summary"], o.Pointer)
		require.Regexp(t, `^[A-Z].*\.$`, op["description"], o.Pointer)
	}
}

// TestOpenAPI compares the document with its golden file.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	openapitest.Golden(t, service(t))
}
