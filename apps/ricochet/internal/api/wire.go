package api

import (
	"time"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/apps/ricochet/internal/game"
)

// NewGame says what game is wanted.
type NewGame struct {
	GameName               string  `json:"gameName,omitempty" maxLength:"60" doc:"What people call the game" example:"Friday Night Puzzle"`
	DefaultRoundDurationMs int64   `json:"defaultRoundDurationMs,omitempty" minimum:"60000" maximum:"604800000" doc:"How long rounds are unless they say otherwise; a day where it is absent" example:"86400000"`
	Seed                   *uint64 `json:"seed,omitempty" maximum:"9007199254740991" doc:"The same seed gives the same board; one of luck where it is absent" example:"7"`
}

// A Game is a game as everybody may see it.
type Game struct {
	GameID                 string     `json:"gameId" doc:"Names the game: who has it can play" example:"game_8f14e45fceea167a"`
	GameName               string     `json:"gameName" doc:"What people call the game" example:"Friday Night Puzzle"`
	CreatedAt              int64      `json:"createdAt" doc:"When it was created" example:"1793534400000"`
	DefaultRoundDurationMs int64      `json:"defaultRoundDurationMs" doc:"How long rounds are unless they say otherwise" example:"86400000"`
	CurrentRound           int        `json:"currentRound,omitempty" doc:"The number of the active round; absent where there is none" example:"3"`
	TotalRounds            int        `json:"totalRounds" doc:"How many rounds there were" example:"3"`
	Complete               bool       `json:"complete" doc:"Whether all goals were won" example:"false"`
	BoardData              board.Data `json:"boardData" doc:"The board" `
}

// CreatedGame is a game as its creator sees it, once.
type CreatedGame struct {
	Game
	HostKey string `json:"hostKey" doc:"Proves who the host is, in X-Host-Key. No other answer has it" example:"host_0123456789abcdef01234567"`
}

func gameOf(g game.Game) Game {
	return Game{
		GameID: g.ID, GameName: g.Name, CreatedAt: g.Created.UnixMilli(),
		DefaultRoundDurationMs: g.DefaultDuration.Milliseconds(),
		CurrentRound:           g.Current, TotalRounds: g.Rounds, Complete: g.Complete(), BoardData: g.Board,
	}
}

// A Move slides one robot.
type Move struct {
	Robot     string `json:"robot" enum:"red,yellow,green,blue" doc:"Which robot" example:"red"`
	Direction string `json:"direction" enum:"up,down,left,right" doc:"Where it slides, until something stops it" example:"up"`
}

func movesOf(moves []board.Move) []Move {
	var all []Move
	for _, m := range moves {
		all = append(all, Move{m.Robot.String(), m.Direction.String()})
	}
	return all
}

// moves is the way back; the schema lets no other names pass.
func moves(list []Move) []board.Move {
	var all []board.Move
	for _, m := range list {
		robot, _ := board.ParseColor(m.Robot)
		direction, _ := board.ParseDirection(m.Direction)
		all = append(all, board.Move{Robot: robot, Direction: direction})
	}
	return all
}

// A Standing is a solution of a player.
type Standing struct {
	Rank         int    `json:"rank,omitempty" doc:"Players with as many moves share a rank; absent at another solution of a player than the best" example:"1"`
	PlayerName   string `json:"playerName" doc:"As the player writes it" example:"Ann"`
	MoveCount    int    `json:"moveCount" doc:"Of the player's best solution" example:"5"`
	SubmittedAt  int64  `json:"submittedAt" doc:"When it was submitted" example:"1793538000000"`
	WinningRobot string `json:"winningRobot,omitempty" doc:"Which robot reached the goal; once the round is closed" example:"red"`
	Moves        []Move `json:"moves,omitempty" doc:"The solution; once the round is closed"`
}

func standingOf(s game.Standing, closed bool) Standing {
	out := Standing{
		Rank: s.Rank, PlayerName: s.Best.Player, MoveCount: s.Best.Count,
		SubmittedAt: s.Best.At.UnixMilli(),
	}
	if closed {
		out.WinningRobot, out.Moves = s.Best.Robot.String(), movesOf(s.Best.Moves)
	}
	return out
}

func standingsOf(list []game.Standing, r game.Round) []Standing {
	all := make([]Standing, len(list))
	for i, s := range list {
		all[i] = standingOf(s, r.Status != game.Active)
	}
	return all
}

// A Round is a round as everybody may see it.
type Round struct {
	RoundNumber    int               `json:"roundNumber" doc:"1, 2, … without reuse" example:"3"`
	Status         string            `json:"status" enum:"active,completed,skipped,expired" doc:"completed: somebody won its goal; skipped by the host, and expired without a solution: the goal stays in the game" example:"active"`
	GoalIndex      int               `json:"goalIndex" doc:"Which of the game's goals" example:"5"`
	GoalColor      string            `json:"goalColor" enum:"red,yellow,green,blue,multi" doc:"The robot that must get there; multi: any" example:"red"`
	GoalPosition   board.Place       `json:"goalPosition" doc:"Where the goal is"`
	RobotPositions board.RobotPlaces `json:"robotPositions" doc:"Where the robots are at the start: solutions begin here"`
	StartTime      int64             `json:"startTime" doc:"When it began" example:"1793534400000"`
	EndTime        int64             `json:"endTime" doc:"Until when solutions are taken" example:"1793620800000"`
	DurationMs     int64             `json:"durationMs" doc:"From the start to the end" example:"86400000"`
	Winner         *Standing         `json:"winner,omitempty" doc:"Of a completed round"`
}

func roundOf(r game.Round) Round {
	out := Round{
		RoundNumber: r.Number, Status: string(r.Status), GoalIndex: r.GoalIndex, GoalColor: r.Goal.Color.String(),
		GoalPosition: board.PlaceOf(r.Goal.Cell), RobotPositions: board.PlacesOf(r.Robots),
		StartTime: r.Start.UnixMilli(), EndTime: r.End.UnixMilli(), DurationMs: r.End.Sub(r.Start).Milliseconds(),
	}
	if r.Status == game.Completed {
		winner := standingOf(game.Standing{Rank: 1, Best: r.Winner}, true)
		out.Winner = &winner
	}
	return out
}

// A RoundList is a page of rounds.
type RoundList struct {
	Items []Round `json:"items" nullable:"false" doc:"The newest first"`
	Next  int     `json:"next,omitempty" doc:"Send it as from to get the rounds before; absent at the end" example:"12"`
}

// CurrentRound is the round that can be played.
type CurrentRound struct {
	GameComplete bool   `json:"gameComplete" doc:"Whether all goals were won" example:"false"`
	Round        *Round `json:"round,omitempty" doc:"The active round, or else the last one; absent before the first"`
}

// Today is the puzzle of a day, for one player alone.
type Today struct {
	Date         string      `json:"date" format:"date" doc:"The day in UTC, at whose end the next puzzle comes" example:"2026-11-25"`
	BoardData    board.Data  `json:"boardData" doc:"The board, with the robots where solutions begin"`
	GoalIndex    int         `json:"goalIndex" doc:"Which of the goals of the board" example:"5"`
	GoalColor    string      `json:"goalColor" enum:"red,yellow,green,blue,multi" doc:"The robot that must get there; multi: any" example:"red"`
	GoalPosition board.Place `json:"goalPosition" doc:"Where the goal is"`
	MoveCount    int         `json:"moveCount" doc:"Of a shortest solution" example:"6"`
}

func todayOf(p game.Puzzle) Today {
	return Today{
		Date: p.Date, BoardData: board.DataOf(p.Board), GoalIndex: p.GoalIndex, GoalColor: p.Goal().Color.String(),
		GoalPosition: board.PlaceOf(p.Goal().Cell), MoveCount: p.Shortest,
	}
}

// StartRound says how long a round is.
type StartRound struct {
	DurationMs int64 `json:"durationMs,omitempty" minimum:"60000" maximum:"604800000" doc:"That of the game where it is absent" example:"3600000"`
}

// ExtendRound says how a round's end moves: by one of the two.
type ExtendRound struct {
	ExtendByMs int64 `json:"extendByMs,omitempty" minimum:"1000" maximum:"604800000" doc:"By how much the end moves" example:"3600000"`
	NewEndTime int64 `json:"newEndTime,omitempty" minimum:"1" maximum:"253402300799999" doc:"When the end is, instead: later than it was" example:"1793624400000"`
}

// CloseRound says whether the goal is won.
type CloseRound struct {
	SkipGoal bool `json:"skipGoal,omitempty" doc:"Nobody wins the goal, which stays in the game, and no robot moves" example:"false"`
}

// A Submission is what a player submits.
type Submission struct {
	PlayerName   string `json:"playerName" minLength:"1" maxLength:"40" doc:"1 to 20 letters, digits, spaces, _ and -, whose case does not count" example:"Ann"`
	PlayerSecret string `json:"playerSecret,omitempty" maxLength:"100" doc:"Proves that the name is yours; absent the first time" example:"player_0123456789abcdef01234567"`
	Moves        []Move `json:"moves" minItems:"1" maxItems:"1000" nullable:"false" doc:"The way of the robots: in the end the right one stands on the goal"`
}

// Accepted is what a player is told of a solution that takes part.
type Accepted struct {
	MoveCount    int    `json:"moveCount" doc:"Of the solution" example:"5"`
	Rank         int    `json:"rank,omitempty" doc:"Of the player's best solution of the round, now; absent where the storage did not tell" example:"1"`
	PlayerSecret string `json:"playerSecret,omitempty" doc:"Keep it: the name is yours in this game, and no other answer has it" example:"player_0123456789abcdef01234567"`
}

// A Leaderboard is a page of the players of a round.
type Leaderboard struct {
	RoundNumber int        `json:"roundNumber" doc:"Of which round" example:"3"`
	Status      string     `json:"status" enum:"active,completed,skipped,expired" doc:"Of the round" example:"active"`
	Items       []Standing `json:"items" nullable:"false" doc:"The best first"`
	NextCursor  string     `json:"nextCursor,omitempty" doc:"Send it as cursor to get the next page; absent at the end" example:"AQ"`
}

// An Optimal is how short a solution could be.
type Optimal struct {
	State     string `json:"state" enum:"pending,solved,tooHard" doc:"pending: ask again; tooHard: the search was given up" example:"solved"`
	MoveCount int    `json:"moveCount,omitempty" doc:"Of a shortest solution" example:"4"`
	Moves     []Move `json:"moves,omitempty" doc:"One of them, where the goal was won and cannot come again"`
}

func optimalOf(r game.Round) Optimal {
	if r.Optimum.State == "" {
		return Optimal{State: "pending"}
	}
	out := Optimal{State: r.Optimum.State, MoveCount: len(r.Optimum.Moves)}
	if r.Status == game.Completed {
		out.Moves = movesOf(r.Optimum.Moves)
	}
	return out
}

// A Dashboard is what a host looks at.
type Dashboard struct {
	Game        Game       `json:"game" doc:"The game"`
	GoalsLeft   int        `json:"goalsLeft" doc:"How many goals nobody won" example:"14"`
	Rounds      []Round    `json:"rounds" nullable:"false" doc:"The last ten, the newest first"`
	Leaderboard []Standing `json:"leaderboard" nullable:"false" doc:"The first ten of the newest round; nobody sees moves while it is active"`
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
