package game

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

const conflict = fault.Conflict

// A Submission is how a player would reach the goal.
type Submission struct {
	Player string
	Secret string // that the name was given with; empty where it is new
	Moves  []board.Move
}

// Accepted is what a player is told of a solution that takes part.
type Accepted struct {
	Moves  int
	Rank   int    // of the player's best solution of the round, at this moment; 0: the storage did not tell
	Secret string // where the name was new: it is never told again
}

// playerNames are what players may be called.
var playerNames = regexp.MustCompile(`^[A-Za-z0-9 _-]+$`)

// Submit takes a solution for the active round, which is replayed from where its robots began. An
// accepted solution takes part in the result.
func (gs *Games) Submit(ctx context.Context, id string, number int, s Submission) (Accepted, error) {
	s.Player = strings.TrimSpace(s.Player)
	if len(s.Player) > MaxPlayerName || !playerNames.MatchString(s.Player) {
		return Accepted{}, invalid(ValidationError, "body.playerName",
			fmt.Sprintf("give 1 to %d letters, digits, spaces, _ and -", MaxPlayerName), s.Player)
	}
	try := attempt{
		Games: gs, game: id, number: number, player: strings.ToLower(s.Player),
		Submission: s, id: gs.random(8),
	}
	for range tries {
		if again, err := try.once(ctx); err != nil {
			return Accepted{}, err
		} else if again {
			continue
		}
		rank, err := gs.rank(ctx, id, number, try.name.best, try.player)
		if err != nil { // it is accepted all the same
			gs.Log.WarnContext(ctx, "the rank of a solution is not known", slog.String("error", err.Error()))
		}
		return Accepted{Moves: len(s.Moves), Rank: rank, Secret: try.secret}, nil
	}
	return Accepted{}, busy()
}

// An attempt is the submission of one solution, until it landed.
type attempt struct {
	*Games
	Submission
	game, player, id string
	number           int

	secret string // of a name that this attempt claims
	name   name
}

// once tries it once, and reports whether to try again.
func (a *attempt) once(ctx context.Context) (again bool, err error) {
	g, r, err := a.read(ctx)
	if err != nil {
		return false, err
	}
	now := a.Now().Truncate(time.Millisecond)
	if r.Status != Active || now.After(r.End) {
		return false, ended()
	}
	solution, err := a.solve(g, r, now)
	if err != nil {
		return false, err
	}
	claim, err := a.sign(ctx)
	if err != nil {
		return false, err
	}
	key := table.Key{Partition: a.game, Row: solutionRow(a.number, len(a.Moves), now, a.player)}
	_, err = a.Store.Write(
		ctx, a.Tables.Games,
		touch(a.game, a.number),
		table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: solution.props()}},
		claim,
	)
	switch failed, refused := refused(err); {
	case err == nil:
		return false, nil
	case refused && failed == 0:
		return false, ended()
	case refused:
		return true, nil // the player was here in the same moment
	}
	row, lost := a.Store.Get(ctx, a.Tables.Games, key)
	if lost != nil || row.Props.Get("attempt").Str() != a.id {
		return false, away(err)
	}
	return false, nil
}

// read reads what a submission depends on, at once.
func (a *attempt) read(ctx context.Context) (g Game, r Round, err error) {
	var noRound error
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { g, err = a.Game(ctx, a.game); return err })
	group.Go(func() error {
		r, noRound = a.Round(ctx, a.game, a.number)
		if fault.Of(noRound) == fault.NotFound {
			return nil // that there is no game comes first
		}
		return noRound
	})
	group.Go(func() error {
		row, err := a.Store.Get(ctx, a.Tables.Games, table.Key{Partition: a.game, Row: nameRow(a.player)})
		if errors.Is(err, table.ErrNotFound) {
			a.name = name{}
			return nil
		}
		if err != nil {
			return away(err)
		}
		a.name = parseName(row)
		return nil
	})
	if err := group.Wait(); err != nil {
		return Game{}, Round{}, err
	}
	return g, r, noRound
}

// solve replays the moves.
func (a *attempt) solve(g Game, r Round, now time.Time) (Solution, error) {
	b, err := g.Board.Board()
	if err != nil {
		return Solution{}, err
	}
	robot, _, err := b.Walls.Slides().Solve(r.Robots, r.Goal, a.Moves)
	var wrong *board.MoveError
	if errors.As(err, &wrong) {
		return Solution{}, invalid(InvalidSolution, fmt.Sprintf("body.moves[%d]", wrong.Index), wrong.Text, nil)
	}
	return Solution{Player: a.Player, Count: len(a.Moves), Moves: a.Moves, Robot: robot, At: now, attempt: a.id}, err
}

// sign returns the change of the row of the player's name, which the player claims by it or proves
// to hold.
func (a *attempt) sign(ctx context.Context) (table.Op, error) {
	if a.name.etag == "" {
		return a.claim(ctx)
	}
	if !same(a.secret, a.name.secret) {
		a.secret = "" // another claimed it
	}
	if a.secret == "" && !same(a.Secret, a.name.secret) {
		return table.Op{}, fault.Coded(fault.Forbidden, NameTaken, "somebody else plays under this name in this game; choose another, or send the playerSecret that it was given")
	}
	if a.name.round != a.number {
		a.name.round, a.name.attempts, a.name.best = a.number, 0, len(a.Moves)
	}
	if a.name.attempts == MaxSolutions {
		return table.Op{}, fault.Coded(conflict, TooManySolutions,
			fmt.Sprintf("a player submits at most %d solutions in a round", MaxSolutions))
	}
	a.name.attempts++
	a.name.best = min(a.name.best, len(a.Moves))
	return table.Op{Kind: table.Merge, Row: a.name.row(a.game, a.player)}, nil
}

// claim takes a free name, while there is room.
func (a *attempt) claim(ctx context.Context) (table.Op, error) {
	players := 0
	all := table.Prefix(a.game, nameRows)
	all.Select = []string{"best"}
	for _, err := range table.All(ctx, a.Store, a.Tables.Games, all) {
		if err != nil {
			return table.Op{}, away(err)
		}
		if players++; players == MaxPlayers {
			return table.Op{}, fault.Coded(conflict, GameFull, fmt.Sprintf("a game has at most %d players", MaxPlayers))
		}
	}
	a.secret = "player_" + a.random(12)
	a.name = name{secret: hash(a.secret), display: a.Player, round: a.number, attempts: 1, best: len(a.Moves)}
	return table.Op{Kind: table.Insert, Row: a.name.row(a.game, a.player)}, nil
}

// rank returns the rank of a player whose best solution of a round has moves moves: as many
// players as have a shorter one are before.
func (gs *Games) rank(ctx context.Context, id string, number, moves int, player string) (int, error) {
	before := map[string]bool{}
	shorter := table.Range{
		Partition: id, From: solutionRows(number), To: fmt.Sprintf("%s%04d", solutionRows(number), moves),
		Select: []string{"moveCount"},
	}
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Games, shorter) {
		if err != nil {
			return 0, away(err)
		}
		before[solutionPlayer(row.Row)] = true
	}
	delete(before, player)
	return len(before) + 1, nil
}

// A Standing is the place of a player in a round.
type Standing struct {
	Rank int      // 0 for another solution of a player than the best
	Best Solution // without its moves while the round is active
}

// A Part says which standings of a round are wanted: at most Limit of them, after the position
// After or from the first. With Every, which is for closed rounds, every solution is there and not
// the best of each player alone.
type Part struct {
	Every bool
	After string
	Limit int
}

// StandingPage is a part of a leaderboard.
type StandingPage struct {
	Standings []Standing
	Next      string // the position of the next part, "" at the end
}

// A ranking ranks the solutions of a round, which it is shown from the first on.
type ranking struct {
	seen        map[string]bool
	moves, rank int // of the player that was ranked last
}

// next returns the rank of the next solution, 0 where its player has a better one. Equal numbers
// of moves share a rank, and the next one is as many further.
func (rk *ranking) next(player string, moves int) int {
	if rk.seen[player] {
		return 0
	}
	rk.seen[player] = true
	if moves != rk.moves {
		rk.moves, rk.rank = moves, len(rk.seen)
	}
	return rk.rank
}

// Leaderboard returns players of a round in order: by moves, then by time. Moves of an active round
// are not shown. The solutions before the part are read, too, though not their moves: they say who
// has a better one, and at which rank the part begins.
func (gs *Games) Leaderboard(ctx context.Context, id string, r Round, p Part) (StandingPage, error) {
	if p.Every && r.Status == Active {
		return StandingPage{}, StillActive()
	}
	ranks := &ranking{seen: map[string]bool{}}
	prefix, last := solutionRows(r.Number), ""
	rows := table.Prefix(id, prefix)
	if p.After != "" {
		if !positions.MatchString(p.After) {
			return StandingPage{}, cursor.Refuse()
		}
		last = prefix + p.After
		if err := gs.skim(ctx, table.Range{Partition: id, From: prefix, To: last}, ranks); err != nil {
			return StandingPage{}, err
		}
		rows.From = last
	}
	if r.Status == Active {
		rows.Select = []string{"displayName", "moveCount", "submittedAt", "winningRobot"}
	}
	page, at := StandingPage{}, "" // the row of the last standing
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Games, rows) {
		if err != nil {
			return StandingPage{}, away(err)
		}
		rank := ranks.next(solutionPlayer(row.Row), int(row.Props.Get("moveCount").Int()))
		if row.Row == last || rank == 0 && !p.Every {
			continue
		}
		if len(page.Standings) == p.Limit {
			page.Next = strings.TrimPrefix(at, prefix)
			return page, nil
		}
		best, err := parseSolution(row)
		if err != nil {
			return StandingPage{}, err
		}
		page.Standings, at = append(page.Standings, Standing{rank, best}), row.Row
	}
	return page, nil
}

// positions are the ends of the keys of solutions.
var positions = regexp.MustCompile(`^[0-9]{4}\|[0-9]{13}\|[a-z0-9 _-]{1,20}$`)

// skim ranks the solutions of a range, whose moves it does not read.
func (gs *Games) skim(ctx context.Context, before table.Range, ranks *ranking) error {
	before.Select = []string{"moveCount"}
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Games, before) {
		if err != nil {
			return away(err)
		}
		ranks.next(solutionPlayer(row.Row), int(row.Props.Get("moveCount").Int()))
	}
	return nil
}
