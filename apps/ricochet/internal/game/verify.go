package game

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/table"
)

// Contents say what a backup has: all rows.
func (t Tables) Contents() *backup.Contents {
	return &backup.Contents{
		Application: "ricochet",
		// Deadlines come last: each was written before the round that it is of.
		Tables: []backup.Table{{Name: "Games", Stored: t.Games}, {Name: "Due", Stored: t.Due}},
		Sums: func(row string) bool {
			return row == gameRow || strings.HasPrefix(row, activeRows) || strings.HasPrefix(row, roundRows)
		},
	}
}

// An audit is the rows of one game.
type audit struct {
	id        string
	game      *Game
	rounds    map[int]Round
	locks     map[int]bool
	first     map[int]Solution // of each round
	players   map[string]bool
	solutions map[string]int // by their players, with a round
	wrong     []string
}

func newAudit(id string) *audit {
	return &audit{
		id: id, rounds: map[int]Round{}, locks: map[int]bool{}, first: map[int]Solution{},
		players: map[string]bool{}, solutions: map[string]int{},
	}
}

func (a *audit) says(format string, args ...any) {
	a.wrong = append(a.wrong, "game "+a.id+": "+fmt.Sprintf(format, args...))
}

// add takes the next row.
func (a *audit) add(row table.Row) {
	switch kind, rest, _ := strings.Cut(row.Row, "|"); kind {
	case gameRow:
		g, err := parseGame(row)
		if err != nil {
			a.says("%v", err)
		}
		a.game = &g
	case "active":
		n, _ := strconv.Atoi(rest)
		a.locks[n] = true
	case "round":
		r, err := parseRound(row)
		if err != nil {
			a.says("%v", err)
			return
		}
		a.rounds[r.Number] = r
	case "solution":
		number, _, _ := strings.Cut(rest, "|")
		n, _ := strconv.Atoi(number)
		s, err := parseSolution(row)
		if err != nil {
			a.says("a solution of round %d: %v", n, err)
			return
		}
		if _, ok := a.first[n]; !ok { // the order of the keys is the ranking
			a.first[n] = s
		}
		a.solutions[solutionPlayer(row.Row)] = n
	case "name":
		a.players[rest] = true
	default:
		a.says("the row %q is of nothing", row.Row)
	}
}

// check compares the rows with one another.
func (a *audit) check() {
	if a.game == nil {
		a.says("there are rows, and no game")
		return
	}
	if a.game.deleted { // the rest is on its way
		a.wrong = nil
		return
	}
	if len(a.rounds) != a.game.Rounds {
		a.says("it counts %d rounds, and there are %d", a.game.Rounds, len(a.rounds))
	}
	won := 0
	for n, r := range a.rounds {
		if active := r.Status == Active; active != a.locks[n] || active != (a.game.Current == n) {
			a.says("round %d is %s, and the game or its lock says another thing", n, r.Status)
		}
		first, solved := a.first[n]
		if r.Status == Completed {
			won++
			if !solved || first.Count != r.Winner.Count || first.Player != r.Winner.Player {
				a.says("the winner of round %d is not the first", n)
			}
		}
		if r.Status == Expired && solved {
			a.says("round %d has expired, and has a solution", n)
		}
	}
	if won != len(a.game.Board.CompletedGoalIndices) {
		a.says("%d goals were won, and its board has %d", won, len(a.game.Board.CompletedGoalIndices))
	}
	for n := range a.locks {
		if _, ok := a.rounds[n]; !ok {
			a.says("a lock is of no round")
		}
	}
	for n := range a.first {
		if _, ok := a.rounds[n]; !ok {
			a.says("solutions are of no round")
		}
	}
	for player := range a.solutions {
		if !a.players[player] {
			a.says("a player has a solution, and no name")
		}
	}
}

// audits reads all games, one after the other.
func (gs *Games) audits(ctx context.Context, look func(*audit) error) (rows int, err error) {
	a := newAudit("")
	end := func() error {
		if a.id == "" {
			return nil
		}
		a.check()
		return look(a)
	}
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Games, table.Range{}) {
		if err == nil && row.Partition != a.id {
			err = end()
			a = newAudit(row.Partition)
		}
		if err != nil {
			return rows, err
		}
		a.add(row)
		rows++
	}
	return rows, end()
}

// due returns the deadlines that the rows of a game ask for.
func (a *audit) due() (keys []table.Key) {
	if a.game == nil || a.game.deleted {
		return nil
	}
	for n, r := range a.rounds {
		if r.Status == Active || r.Optimum.State == "" {
			keys = append(keys, dueKey(r.End, a.id, n))
		}
	}
	return keys
}

// Verify compares all rows with one another, and calls found for each difference. It returns how
// many rows it has compared.
func (gs *Games) Verify(ctx context.Context, found func(string)) (rows int, err error) {
	return gs.audits(ctx, func(a *audit) error {
		for _, key := range a.due() {
			_, err := gs.Store.Get(ctx, gs.Tables.Due, key)
			if errors.Is(err, table.ErrNotFound) {
				a.says("the deadline %s is missing", key.Row)
			} else if err != nil {
				return away(err)
			}
		}
		for _, what := range a.wrong {
			found(what)
		}
		return nil
	})
}

// Repair writes the deadlines that messages and rows were about which no backup has.
func (gs *Games) Repair(ctx context.Context) error {
	_, err := gs.audits(ctx, func(a *audit) error {
		keys := a.due()
		if a.game != nil && a.game.deleted {
			keys = []table.Key{dueKey(gs.Now(), a.id, 0)}
		}
		for _, key := range keys {
			if _, err := gs.Store.Write(ctx, gs.Tables.Due,
				table.Op{Kind: table.Upsert, Row: table.Row{Key: key}}); err != nil {
				return away(err)
			}
		}
		return nil
	})
	return err
}
