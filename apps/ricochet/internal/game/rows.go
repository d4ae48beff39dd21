package game

import (
	"encoding/json"
	"fmt"
	"time"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/storage/table"
)

// A Game is a board and the goals won on it.
type Game struct {
	ID              string
	Name            string
	Created         time.Time
	DefaultDuration time.Duration
	Current         int // the number of the active round; 0: none
	Rounds          int // how many there were: the number of the last
	Board           board.Data

	hostKey string // its hash
	deleted bool
	etag    string
}

// Complete reports whether every goal was won.
func (g Game) Complete() bool { return len(g.Board.CompletedGoalIndices) == len(g.Board.AllGoals) }

// A Status is how far a round is.
type Status string

// The statuses. A goal that was skipped or not reached stays in the game.
const (
	Active    Status = "active"
	Completed Status = "completed"
	Skipped   Status = "skipped"
	Expired   Status = "expired"
)

// A Round is the search for the way to one goal.
type Round struct {
	Number    int
	GoalIndex int
	Goal      board.Goal
	Robots    board.Robots // where they are at the start, for ever
	Start     time.Time
	End       time.Time
	Status    Status
	Winner    Solution // of a completed round
	Optimum   Optimum  // once a closed round was solved

	attempt string // which attempt has started it
	closer  string // and which one closed it
	etag    string
}

// An Optimum is what the solver found.
type Optimum struct {
	State string // solved, tooHard, or "" while it was not solved
	Moves []board.Move
}

// The states of an Optimum.
const (
	Solved  = "solved"
	TooHard = "tooHard"
)

// A Solution is what a player submitted.
type Solution struct {
	Player string // as the player writes it
	Count  int    // of moves
	Moves  []board.Move
	Robot  board.Color // that reached the goal
	At     time.Time

	attempt string
}

// A name belongs to the holder of its secret.
type name struct {
	secret  string // its hash
	display string
	// what the player did in the round that is named
	round, attempts, best int

	etag string
}

const goneProp = "deleted"

func (g Game) row() table.Row {
	text, err := json.Marshal(g.Board)
	if err != nil { // unreachable: numbers and texts
		panic(err)
	}
	current := ""
	if g.Current > 0 {
		current = roundRow(g.Current)
	}
	return table.Row{Key: table.Key{Partition: g.ID, Row: gameRow}, ETag: g.etag, Props: table.Props{
		{Name: "hostKey", Value: table.String(g.hostKey)},
		{Name: "gameName", Value: table.String(g.Name)},
		{Name: "createdAt", Value: table.Int64(g.Created.UnixMilli())},
		{Name: "defaultRoundDurationMs", Value: table.Int64(g.DefaultDuration.Milliseconds())},
		{Name: "currentRoundId", Value: table.String(current)},
		{Name: "totalRounds", Value: table.Int32(int32(g.Rounds))},
		{Name: "boardData", Value: table.String(string(text))},
		{Name: goneProp, Value: table.Bool(g.deleted)},
	}}
}

func parseGame(row table.Row) (Game, error) {
	p := row.Props
	g := Game{
		ID: row.Partition, Name: p.Get("gameName").Str(), Created: time.UnixMilli(p.Get("createdAt").Int()),
		DefaultDuration: milliseconds(p.Get("defaultRoundDurationMs").Int()), Rounds: int(p.Get("totalRounds").Int()),
		hostKey: p.Get("hostKey").Str(), deleted: p.Get(goneProp).Bool(), etag: row.ETag,
	}
	if p.Get("currentRoundId").Str() != "" {
		g.Current = g.Rounds // only the last can be active
	}
	if err := json.Unmarshal([]byte(p.Get("boardData").Str()), &g.Board); err != nil {
		return Game{}, fmt.Errorf("read the board of %s: %w", g.ID, err)
	}
	return g, nil
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// row returns all of a round but the members of its close.
func (r Round) row(game string) table.Row {
	position, err := json.Marshal(board.PlaceOf(r.Goal.Cell))
	if err != nil { // unreachable: numbers
		panic(err)
	}
	robots, err := json.Marshal(board.PlacesOf(r.Robots))
	if err != nil { // unreachable: numbers
		panic(err)
	}
	return table.Row{Key: table.Key{Partition: game, Row: roundRow(r.Number)}, Props: append(table.Props{
		{Name: "roundNumber", Value: table.Int32(int32(r.Number))},
		{Name: "goalIndex", Value: table.Int32(int32(r.GoalIndex))},
		{Name: "goalColor", Value: table.String(r.Goal.Color.String())},
		{Name: "goalPosition", Value: table.String(string(position))},
		{Name: "robotPositions", Value: table.String(string(robots))},
		{Name: "startTime", Value: table.Int64(r.Start.UnixMilli())},
		{Name: "status", Value: table.String(string(r.Status))},
		{Name: "createdBy", Value: table.String("host")},
		{Name: "attempt", Value: table.String(r.attempt)},
	}, r.deadline()...)}
}

// deadline returns the properties that an extension changes.
func (r Round) deadline() table.Props {
	return table.Props{
		{Name: "endTime", Value: table.Int64(r.End.UnixMilli())},
		{Name: "durationMs", Value: table.Int64(r.End.Sub(r.Start).Milliseconds())},
	}
}

// result returns the properties that the close sets.
func (r Round) result() table.Props {
	props := table.Props{
		{Name: "status", Value: table.String(string(r.Status))},
		{Name: "closedBy", Value: table.String(r.closer)},
	}
	if r.Status == Completed {
		props = append(props, r.Winner.shown()...)
	}
	return props
}

func (s Solution) props() table.Props {
	return append(s.shown(), table.Prop{Name: "attempt", Value: table.String(s.attempt)})
}

func (s Solution) shown() table.Props {
	return table.Props{
		{Name: "displayName", Value: table.String(s.Player)},
		{Name: "moveCount", Value: table.Int32(int32(s.Count))},
		{Name: "winningRobot", Value: table.String(s.Robot.String())},
		// two letters a move, as a thousand of the seed's would be too long for a property
		{Name: "solutionData", Value: table.String(board.Encode(s.Moves))},
		{Name: "submittedAt", Value: table.Int64(s.At.UnixMilli())},
	}
}

func parseRound(row table.Row) (Round, error) {
	p := row.Props
	r := Round{
		Number: int(p.Get("roundNumber").Int()), GoalIndex: int(p.Get("goalIndex").Int()),
		Start: time.UnixMilli(p.Get("startTime").Int()), End: time.UnixMilli(p.Get("endTime").Int()),
		Status: Status(p.Get("status").Str()), attempt: p.Get("attempt").Str(),
		closer: p.Get("closedBy").Str(), etag: row.ETag,
		Optimum: Optimum{State: p.Get("optimum").Str()},
	}
	goal := board.GoalPlace{Color: p.Get("goalColor").Str()}
	var robots board.RobotPlaces
	err := json.Unmarshal([]byte(p.Get("goalPosition").Str()), &goal.Position)
	if err == nil {
		err = json.Unmarshal([]byte(p.Get("robotPositions").Str()), &robots)
	}
	if err == nil {
		r.Robots = robots.Cells()
		r.Goal, err = goal.Goal()
	}
	if err == nil {
		r.Optimum.Moves, err = board.Decode(p.Get("optimalData").Str())
	}
	if err == nil && r.Status == Completed {
		r.Winner, err = parseSolution(row)
	}
	if err != nil {
		return Round{}, fmt.Errorf("read round %d of %s: %w", r.Number, row.Partition, err)
	}
	return r, nil
}

func parseSolution(row table.Row) (Solution, error) {
	p := row.Props
	moves, err := board.Decode(p.Get("solutionData").Str())
	if err != nil {
		return Solution{}, err
	}
	robot, ok := board.ParseColor(p.Get("winningRobot").Str())
	if !ok {
		return Solution{}, fmt.Errorf("the robot %q", p.Get("winningRobot").Str())
	}
	return Solution{
		Player: p.Get("displayName").Str(), Count: int(p.Get("moveCount").Int()), Moves: moves, Robot: robot,
		At: time.UnixMilli(p.Get("submittedAt").Int()), attempt: p.Get("attempt").Str(),
	}, nil
}

func (n name) row(game, player string) table.Row {
	return table.Row{Key: table.Key{Partition: game, Row: nameRow(player)}, ETag: n.etag, Props: table.Props{
		{Name: "secret", Value: table.String(n.secret)},
		{Name: "displayName", Value: table.String(n.display)},
		{Name: "roundNumber", Value: table.Int32(int32(n.round))},
		{Name: "attempts", Value: table.Int32(int32(n.attempts))},
		{Name: "best", Value: table.Int32(int32(n.best))},
	}}
}

func parseName(row table.Row) name {
	p := row.Props
	return name{
		secret: p.Get("secret").Str(), display: p.Get("displayName").Str(), round: int(p.Get("roundNumber").Int()),
		attempts: int(p.Get("attempts").Int()), best: int(p.Get("best").Int()), etag: row.ETag,
	}
}
