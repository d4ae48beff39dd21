package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/ricochet/internal/api"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/backuptest"
)

// asHandler has the binary of the tests be the handler.
const asHandler = "RICOCHET_TEST_AS_HANDLER"

func TestMain(m *testing.M) {
	if os.Getenv(asHandler) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A table is a game of one host, where one player after the other solves the round.
type table struct {
	host  host
	round int
	moves []api.Move // a shortest solution of it
}

// tables are those of all hosts.
type tables [backuptest.Writers]table

// aRound is how many solutions a round has.
const aRound = 10

func (s *tables) begin(p *apptest.Process, l *backuptest.Ledger) {
	for i := range s {
		s[i] = table{host: create(p.T, strings.TrimSuffix(p.URL, api.Prefix), uint64(i+1))}
		l.Keep("game "+s[i].host.game, s[i].host.key)
		for n := range 2*aRound + 1 {
			s.turn(p, l, i, n)
		}
		require.Positive(p.T, s[i].round)
	}
}

// try sends a request of a host, and reads the answer if it has the status.
func (b *table) try(p *apptest.Process, status int, path string, body, answer any) bool {
	text, err := json.Marshal(body)
	if err != nil {
		return false
	}
	got, said := p.Try(http.MethodPost, "/games/"+b.host.game+path, string(text),
		"X-Host-Key", b.host.key, "Content-Type", "application/json")
	return got == status && json.Unmarshal([]byte(said), answer) == nil
}

func (s *tables) turn(p *apptest.Process, l *backuptest.Ledger, writer, n int) {
	b := &s[writer]
	if b.moves == nil {
		b.start(p)
		return
	}
	at := fmt.Sprint("/rounds/", b.round)
	if n%aRound > 0 {
		player := fmt.Sprint("Player ", n)
		if b.try(p, 201, at+"/solutions", api.Submission{PlayerName: player, Moves: b.moves}, &api.Accepted{}) {
			l.Keep(strings.Join([]string{"solution", b.host.game, at, player}, "|"), fmt.Sprint(len(b.moves)))
		}
		return
	}
	// The goal stays, so that a game goes on for as long as it must.
	var closed api.Round
	if b.try(p, 200, at+"/close", api.CloseRound{SkipGoal: true}, &closed) {
		l.Keep(strings.Join([]string{"closed", b.host.game, at}, "|"), closed.Status)
	}
	b.moves = nil
}

// start starts a round, or takes up the one that goes on.
func (b *table) start(p *apptest.Process) {
	b.try(p, 201, "/rounds", api.StartRound{DurationMs: 3_600_000}, &api.Round{})
	var now api.CurrentRound
	status, answer := p.Try(http.MethodGet, "/games/"+b.host.game+"/rounds/current", "")
	if status != http.StatusOK || json.Unmarshal([]byte(answer), &now) != nil {
		return
	}
	if now.Round == nil || now.Round.Status != "active" {
		return
	}
	var g api.Game
	status, answer = p.Try(http.MethodGet, "/games/"+b.host.game, "")
	if status != http.StatusOK || json.Unmarshal([]byte(answer), &g) != nil {
		return
	}
	if moves, err := solve(p.T.Context(), g, *now.Round); err == nil {
		b.round, b.moves = now.Round.RoundNumber, moves
	}
}

func (s *tables) find(p *apptest.Process, kept map[string]string) {
	for what, value := range kept {
		if game, is := strings.CutPrefix(what, "game "); is {
			ask[api.Dashboard](p.T, 200, "GET", p.URL+"/games/"+game+"/dashboard", value, nil)
			continue
		}
		part := strings.Split(what, "|")
		at, found := p.URL+"/games/"+part[1]+part[2], ""
		if part[0] == "closed" {
			found = ask[api.Round](p.T, 200, "GET", at, "", nil).Status
		}
		if part[0] == "solution" {
			for _, one := range ask[api.Leaderboard](p.T, 200, "GET", at+"/leaderboard?limit=100", "", nil).Items {
				if one.PlayerName == part[3] {
					found = fmt.Sprint(one.MoveCount)
				}
			}
		}
		require.Equal(p.T, value, found, "%s was acknowledged before the backup began", what)
	}
}

// TestBackupUnderLoad: backups that are made while players submit and hosts start and end rounds
// are complete.
func TestBackupUnderLoad(t *testing.T) {
	s := &tables{}
	of := apptest.Process{As: asHandler, Up: func(t *testing.T, url string) string {
		t.Helper()
		ready(t, url)
		return url + api.Prefix
	}}
	story := backuptest.Story{Begin: s.begin, Turn: s.turn, Find: s.find}
	backuptest.UnderLoad(t, of, story, backuptest.File, backuptest.Azurite)
}
