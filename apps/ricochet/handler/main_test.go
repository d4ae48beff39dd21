package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/api"
	"prompthub/apps/ricochet/internal/board"
	"prompthub/apps/ricochet/internal/game"
	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/functiontest"
)

// folder is where in the repository this application is.
const folder = "apps/ricochet"

// local runs the application on this machine.
func local(t *testing.T, data string) (url string, stop func() int) {
	t.Helper()
	return apptest.Local(t, data, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	})
}

// ask sends a request and reads the answer, which must have the status.
func ask[T any](t *testing.T, status int, method, url, key string, body any) T {
	t.Helper()
	var headers []string
	if key != "" {
		headers = []string{"X-Host-Key", key}
	}
	return apptest.Ask[T](t, status, method, url, body, headers...)
}

// A host has a game.
type host struct {
	t         *testing.T
	url, game string // of the game
	key       string
}

// create makes a game that a seed decides.
func create(t *testing.T, url string, seed uint64) host {
	t.Helper()
	ready(t, url)
	g := ask[api.CreatedGame](t, 201, http.MethodPost, url+api.Prefix+"/games", "",
		api.NewGame{GameName: "Friday Night Puzzle", Seed: &seed})
	return host{t, url + api.Prefix + "/games/" + g.GameID, g.GameID, g.HostKey}
}

// ready waits until the service is.
func ready(t *testing.T, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		resp, err := http.Get(url + api.Prefix + "/ready") //nolint:noctx // in a loop with an end
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond)
}

// solution returns a shortest solution of a round.
func (h host) solution(r api.Round) []api.Move {
	h.t.Helper()
	moves, err := solve(h.t.Context(), ask[api.Game](h.t, 200, http.MethodGet, h.url, "", nil), r)
	require.NoError(h.t, err)
	return moves
}

// solve returns a shortest solution of a round.
func solve(ctx context.Context, g api.Game, r api.Round) ([]api.Move, error) {
	b, err := g.BoardData.Board()
	if err != nil {
		return nil, err
	}
	found, err := game.Search(ctx, b.Walls.Slides(), r.RobotPositions.Cells(), b.Goals[r.GoalIndex])
	var moves []api.Move
	for _, m := range found {
		moves = append(moves, api.Move{Robot: m.Robot.String(), Direction: m.Direction.String()})
	}
	return moves, err
}

// round plays a round: a player submits a shortest solution, and the host closes it.
func (h host) round(n int) api.Round {
	h.t.Helper()
	r := ask[api.Round](h.t, 201, http.MethodPost, h.url+"/rounds", h.key, api.StartRound{DurationMs: 600_000})
	require.Equal(h.t, n, r.RoundNumber)
	moves := h.solution(r)
	at := fmt.Sprintf("%s/rounds/%d", h.url, n)
	player := fmt.Sprint("Player ", n)
	accepted := ask[api.Accepted](h.t, 201, http.MethodPost, at+"/solutions", "",
		api.Submission{PlayerName: player, Moves: moves})
	require.Equal(h.t, len(moves), accepted.MoveCount)
	list := ask[api.Leaderboard](h.t, 200, http.MethodGet, at+"/leaderboard", "", nil)
	require.Equal(h.t, []api.Standing{
		{Rank: 1, PlayerName: player, MoveCount: len(moves), SubmittedAt: list.Items[0].SubmittedAt},
	}, list.Items)
	ask[httpjson.Problem](h.t, 409, http.MethodGet, at+"/optimal", "", nil)
	closed := ask[api.Round](h.t, 200, http.MethodPost, at+"/close", h.key, api.CloseRound{})
	require.Equal(h.t, string(game.Completed), closed.Status)
	require.Equal(h.t, moves, closed.Winner.Moves)
	return closed
}

// solved waits for the job that finds how short a solution could be.
func (h host) solved(r api.Round) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		o := ask[api.Optimal](h.t, 200, http.MethodGet,
			fmt.Sprintf("%s/rounds/%d/optimal", h.url, r.RoundNumber), "", nil)
		return o.State == game.Solved && o.MoveCount == r.Winner.MoveCount
	}, 60*time.Second, 50*time.Millisecond)
}

// TestLocal plays a game to its end in one process.
func TestLocal(t *testing.T) {
	data := t.TempDir()
	url, stop := local(t, data)
	h := create(t, url, 8)
	rounds := board.GoalCount
	if testing.Short() {
		rounds = 2
	}
	for n := 1; n <= rounds; n++ {
		r := h.round(n)
		if n == 1 {
			h.solved(r)
		}
	}
	if !testing.Short() {
		require.True(t, ask[api.Game](t, 200, http.MethodGet, h.url, "", nil).Complete)
		ask[httpjson.Problem](t, 409, http.MethodPost, h.url+"/rounds", h.key, api.StartRound{})
	}
	d := ask[api.Dashboard](t, 200, http.MethodGet, h.url+"/dashboard", h.key, nil)
	require.Equal(t, board.GoalCount-rounds, d.GoalsLeft)
	require.Len(t, d.Rounds, min(rounds, 10))
	other := create(t, url, 9)
	active := ask[api.Round](t, 201, http.MethodPost, other.url+"/rounds", other.key, api.StartRound{})
	file := filepath.Join(t.TempDir(), "backup.jsonl")
	does(t, command.OK, "backup", file, "--data", data)
	does(t, command.OK, "verify", "--data", data)
	require.Contains(t, does(t, command.OK, "drill", file), "files\t0\n")
	ask[any](t, 204, http.MethodDelete, h.url, h.key, nil)
	ask[httpjson.Problem](t, 404, http.MethodGet, h.url, "", nil)
	require.Equal(t, command.OK, stop())
	require.FileExists(t, filepath.Join(data, "ricochet.db"))

	elsewhere := t.TempDir()
	does(t, command.OK, "restore", file, "--data", elsewhere)
	require.Contains(t, does(t, command.OK, "verify", "--data", elsewhere), "rows are as they must be\n")
	url, _ = local(t, elsewhere)
	games := url + api.Prefix + "/games/"
	ready(t, url)
	require.Equal(t, d, ask[api.Dashboard](t, 200, http.MethodGet, games+h.game+"/dashboard", h.key, nil),
		"the game that was deleted since")
	require.Equal(t, active, ask[api.Round](t, 200, http.MethodGet, games+other.game+"/rounds/1", "", nil))
}

// TestLimits: an instance that nothing is set for takes a bounded number of changes of one address.
func TestLimits(t *testing.T) {
	url, _ := apptest.Local(t, t.TempDir(), func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		_ = os.Setenv("LIMIT_WRITES", "0") // as if not set; the test sets it back
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	})
	ready(t, url)
	for n := 0; ; n++ {
		require.Less(t, n, 1000)
		none := strings.NewReader("[]")
		resp, err := http.Post(url+api.Prefix+"/games", "application/json", none) //nolint:noctx // of a server in this test
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		if resp.StatusCode == http.StatusTooManyRequests {
			break
		}
		require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	}
}

// does runs a command, which must end with a code, and returns what it prints.
func does(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	require.Equal(t, code, program().Run(t.Context(), args, command.Streams{Out: &out, Err: &errs}), "%s\n%s",
		args, &errs)
	return out.String()
}

// TestDoctor: all that a deployment makes is looked for.
func TestDoctor(t *testing.T) {
	apptest.Examined(t, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	})
}

// TestUnderTheHost stages the application as a deployment does and runs it under the test host.
func TestUnderTheHost(t *testing.T) {
	h := apptest.UnderTheHost(t, folder, "TABLE_PREFIX=Ricochet", "QUEUE_PREFIX=ricochet-")
	g := create(t, h.URL(), 3)
	g.solved(g.round(1))
	ask[api.Round](t, 201, http.MethodPost, g.url+"/rounds", g.key, api.StartRound{})
	skipped := ask[api.Round](t, 200, http.MethodPost, g.url+"/rounds/2/close", g.key, api.CloseRound{SkipGoal: true})
	require.Equal(t, string(game.Skipped), skipped.Status)
	ask[any](t, 204, http.MethodDelete, g.url, g.key, nil)
	for _, path := range []string{"/", "/play", "/play/" + g.game, "/play/static/page.js"} {
		resp, err := http.Get(h.URL() + path) //nolint:noctx // of a server in this test
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 200, resp.StatusCode, path)
	}
	// what it wrote is seen before it has answered
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(h.Invocations(), func(i functiontest.Invocation) bool {
			return i.Function == game.QueueSolve && i.Status == http.StatusOK
		})
	}, 30*time.Second, 20*time.Millisecond)
}
