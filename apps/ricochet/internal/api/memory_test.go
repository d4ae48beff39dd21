package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/api"
	"prompthub/apps/ricochet/internal/board"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/http/openapi"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/testing/heap"
)

// TestMemory asks every GET route of the document about a game whose rounds were won with a
// thousand moves, of which one has 120 solutions as long, for its largest pages. It fails if
// sixteen callers of one of them hold more memory than they may, or if an answer is larger than it
// may be. A route whose things are not there fails, so that a new one brings its own.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes a full leaderboard")
	}
	h := service(t)
	_, g := ask(t, h, "POST", "/api/v1/games", "", `{"gameName":"`+strings.Repeat("字", 60)+`"}`)
	id, key := g["gameId"].(string), g["hostKey"].(string)
	at := "/api/v1/games/" + id
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("X-Host-Key", key)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec
	}
	var made struct{ BoardData board.Data }
	require.NoError(t, json.Unmarshal(get(at).Body.Bytes(), &made))
	const players = 6
	var secrets [players]string
	send := func(round, player int, moves []byte) {
		status, a := ask(t, h, "POST", fmt.Sprintf("%s/rounds/%d/solutions", at, round), "",
			fmt.Sprintf(`{"playerName":"player %d","playerSecret":%q,"moves":%s}`, player, secrets[player], moves))
		require.Equal(t, 201, status, a)
		if secret, isNew := a["playerSecret"].(string); isNew {
			secrets[player] = secret
		}
	}
	const rounds = 16 // all goals but one
	for n := range rounds {
		status, r := ask(t, h, "POST", at+"/rounds", key, "")
		require.Equal(t, 201, status, r)
		var round api.Round
		require.NoError(t, json.Unmarshal(get(fmt.Sprintf("%s/rounds/%d", at, n+1)).Body.Bytes(), &round))
		moves := long(t, made.BoardData, round)
		send(n+1, 0, moves)
		if n == rounds-1 {
			for range game.MaxSolutions - 1 {
				send(n+1, 0, moves)
			}
			for player := 1; player < players; player++ {
				for range game.MaxSolutions {
					send(n+1, player, moves)
				}
			}
		}
		status, r = ask(t, h, "POST", fmt.Sprintf("%s/rounds/%d/close", at, n+1), key, "")
		require.Equal(t, 200, status, r)
	}
	values := map[string][]string{"gameId": {id}, "n": {fmt.Sprint(rounds)}}
	seen := 0
	for _, o := range openapitest.New(t, h).Operations() {
		if o.Method != http.MethodGet {
			continue
		}
		found := false
		for _, page := range heap.Filled("/api/v1"+strings.TrimPrefix(o.Path, "/api/v1"), values) {
			for _, query := range []string{"?limit=100&all=true", "?limit=100", ""} {
				rec := get(page + query)
				if rec.Code != http.StatusOK {
					continue // it has no such query
				}
				found = true
				var list struct {
					Items      []json.RawMessage
					NextCursor string
				}
				_ = json.Unmarshal(rec.Body.Bytes(), &list)
				require.LessOrEqual(t, rec.Body.Len(), openapi.MaxPage+4<<10, page+query)
				what := fmt.Sprintf("%s%s: %d things, %d KiB", o.Path, query, len(list.Items), rec.Body.Len()>>10)
				heap.Check(t, what, func(int) { get(page + query) })
				if list.NextCursor != "" {
					seen++
					after := page + query + "&cursor=" + url.QueryEscape(list.NextCursor)
					require.Equal(t, http.StatusOK, get(after).Code)
					heap.Check(t, what+", the page after", func(int) { get(after) })
				}
			}
		}
		require.True(t, found, "nothing was found by GET %s: have this test make some", o.Path)
	}
	require.Positive(t, seen, "no list goes on")
}

// long returns a solution of almost a thousand moves: a robot goes to and fro, and then a shortest
// way.
func long(t *testing.T, d board.Data, r api.Round) []byte {
	t.Helper()
	b, err := d.Board()
	require.NoError(t, err)
	goal, err := board.GoalPlace{Color: r.GoalColor, Position: r.GoalPosition}.Goal()
	require.NoError(t, err)
	slides, start := b.Walls.Slides(), r.RobotPositions.Cells()
	for i := range 16 {
		to := board.Move{Robot: board.Color(i / 4), Direction: board.Direction(i % 4)}
		for _, fro := range []board.Direction{board.Up, board.Down, board.Left, board.Right} {
			moves := slices.Repeat([]board.Move{to, {Robot: to.Robot, Direction: fro}}, 485)
			robots, err := slides.Replay(start, moves)
			if err != nil {
				continue // a wall or a robot is in the way
			}
			rest, err := game.Search(t.Context(), slides, robots, goal)
			require.NoError(t, err)
			var wire []api.Move
			for _, m := range append(moves, rest...) {
				wire = append(wire, api.Move{Robot: m.Robot.String(), Direction: m.Direction.String()})
			}
			text, err := json.Marshal(wire)
			require.NoError(t, err)
			return text
		}
	}
	t.Fatal("no robot can go to and fro")
	return nil
}
