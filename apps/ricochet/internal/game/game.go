package game

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"prompthub/apps/ricochet/internal/board"
	"prompthub/internal/fault"
	"prompthub/internal/legible"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// Limits of games.
const (
	MaxName         = 60                 // characters of the name of a game
	MinDuration     = time.Minute        // of a round
	MaxDuration     = 7 * 24 * time.Hour // as long as a message can wait
	DefaultDuration = 24 * time.Hour
	MinExtension    = time.Second
	MaxRounds       = 1000 // of a game, those that were skipped included
	MaxPlayers      = 1000 // of a game, or as many more as come at the same moment
	MaxSolutions    = 20   // of a player in a round
	MaxPlayerName   = 20   // characters
	MaxSeed         = 1<<53 - 1
)

// Games are all games. Every field is required.
type Games struct {
	Tables Tables
	Store  table.DB
	Queues queue.Queues
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger

	// Solve finds shortest solutions: Search, but for tests.
	Solve func(context.Context, *board.Slides, board.Robots, board.Goal) ([]board.Move, error)
}

// Create makes what is missing of tables and queues.
func (gs *Games) Create(ctx context.Context) error {
	if err := gs.Store.Create(ctx, gs.Tables.All()...); err != nil {
		return err
	}
	return gs.Queues.Create(ctx, QueueDue, queue.Poison(QueueDue), QueueSolve, queue.Poison(QueueSolve))
}

// Ready asks the storage for something.
func (gs *Games) Ready(ctx context.Context) error {
	if _, err := gs.Store.List(ctx, gs.Tables.Due, table.Range{Partition: duePartition}, 1, ""); err != nil {
		return away(err)
	}
	return nil
}

// A NewGame says which game to make. Zero values stand for the defaults; without a seed the board
// is one of many.
type NewGame struct {
	Name            string
	DefaultDuration time.Duration
	Seed            *uint64
}

// NewGame makes a game and returns it with the key of its host, which is never shown again.
func (gs *Games) NewGame(ctx context.Context, n NewGame) (Game, string, error) {
	n.Name = strings.TrimSpace(n.Name)
	if table.Units(n.Name) > MaxName || strings.ContainsFunc(n.Name, legible.Breaks) {
		return Game{}, "", invalid(ValidationError, "body.gameName",
			fmt.Sprintf("give at most %d characters, and no control characters", MaxName), n.Name)
	}
	if code, message := legible.Line(n.Name); code != "" {
		return Game{}, "", invalid(ValidationError, "body.gameName", message, n.Name)
	}
	if n.DefaultDuration == 0 {
		n.DefaultDuration = DefaultDuration
	}
	if err := checkDuration("body.defaultRoundDurationMs", n.DefaultDuration); err != nil {
		return Game{}, "", err
	}
	key, seed := "host_"+gs.random(12), binary.LittleEndian.Uint64(gs.bytes(8))
	if n.Seed != nil {
		seed = *n.Seed
	}
	b, _ := board.Generate(seed)
	g := Game{
		ID: "game_" + gs.random(8), Name: n.Name, Created: gs.Now(), DefaultDuration: n.DefaultDuration,
		Board: board.DataOf(b), hostKey: hash(key),
	}
	if _, err := gs.Store.Write(ctx, gs.Tables.Games, table.Op{Kind: table.Insert, Row: g.row()}); err != nil {
		return Game{}, "", away(err)
	}
	return g, key, nil
}

func checkDuration(field string, d time.Duration) error {
	if d < MinDuration || d > MaxDuration {
		return invalid(ValidationError, field,
			fmt.Sprintf("give %d to %d milliseconds: a minute to a week", MinDuration.Milliseconds(),
				MaxDuration.Milliseconds()), d.Milliseconds())
	}
	return nil
}

func (gs *Games) bytes(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(gs.Random, b); err != nil {
		panic(fmt.Errorf("no random numbers: %w", err)) // the system is broken, and keys would be too
	}
	return b
}

func (gs *Games) random(n int) string { return hex.EncodeToString(gs.bytes(n)) }

// hash is how keys and secrets are kept: they are random, so they cannot all be tried.
func hash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func same(key, hashed string) bool {
	return subtle.ConstantTimeCompare([]byte(hash(key)), []byte(hashed)) == 1
}

// idLen is the length of an id.
const idLen = len("game_") + 16

// Game returns a game.
func (gs *Games) Game(ctx context.Context, id string) (Game, error) {
	if digits, ok := strings.CutPrefix(id, "game_"); !ok || len(id) != idLen ||
		strings.Trim(digits, "0123456789abcdef") != "" {
		return Game{}, noGame()
	}
	row, err := gs.Store.Get(ctx, gs.Tables.Games, table.Key{Partition: id, Row: gameRow})
	if errors.Is(err, table.ErrNotFound) {
		return Game{}, noGame()
	}
	if err != nil {
		return Game{}, away(err)
	}
	g, err := parseGame(row)
	if err == nil && g.deleted {
		err = noGame()
	}
	return g, err
}

// Hosted returns a game to its host. The error for an unknown game and for a wrong key is the same.
func (gs *Games) Hosted(ctx context.Context, id, key string) (Game, error) {
	g, err := gs.Game(ctx, id)
	if fault.Of(err) == fault.NotFound {
		g, err = Game{}, nil
	}
	if err == nil && !same(key, g.hostKey) {
		err = fault.Coded(fault.Unauthenticated, InvalidHostKey,
			"send the hostKey of this game in the header X-Host-Key: whoever created the game was told it")
	}
	return g, err
}

// Round returns a round of a game.
func (gs *Games) Round(ctx context.Context, id string, number int) (Round, error) {
	if number < 1 || number > MaxRounds {
		return Round{}, noRound()
	}
	row, err := gs.Store.Get(ctx, gs.Tables.Games, table.Key{Partition: id, Row: roundRow(number)})
	if errors.Is(err, table.ErrNotFound) {
		return Round{}, noRound()
	}
	if err != nil {
		return Round{}, away(err)
	}
	return parseRound(row)
}

// Rounds returns at most limit rounds of a game from number down, and the number that the next page
// begins at, or 0.
func (gs *Games) Rounds(ctx context.Context, id string, from, limit int) ([]Round, int, error) {
	from = min(max(from, 0), MaxRounds)
	begin := max(from-limit+1, 1)
	r := table.Range{Partition: id, From: roundRow(begin), To: roundRow(from + 1)}
	if from == MaxRounds {
		r.To = table.After(roundRows)
	}
	var rounds []Round
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Games, r) {
		if err != nil {
			return nil, 0, away(err)
		}
		round, err := parseRound(row)
		if err != nil {
			return nil, 0, err
		}
		rounds = append(rounds, round)
	}
	slices.Reverse(rounds)
	return rounds, begin - 1, nil
}

// Delete removes a game and all that is of it. It is gone at once; its rows follow, by the timer
// where this process ends before it is done.
func (gs *Games) Delete(ctx context.Context, id, key string) error {
	g, err := gs.Hosted(ctx, id, key)
	if err != nil {
		return err
	}
	due := dueKey(gs.Now(), id, 0)
	if _, err := gs.Store.Write(ctx, gs.Tables.Due,
		table.Op{Kind: table.Upsert, Row: table.Row{Key: due}}); err != nil {
		return away(err)
	}
	g.deleted = true
	row := g.row()
	row.ETag = table.Any
	if _, err := gs.Store.Write(ctx, gs.Tables.Games, table.Op{Kind: table.Replace, Row: row}); err != nil {
		return away(err)
	}
	if err := gs.purge(ctx, id, due, 0); err != nil {
		gs.Log.WarnContext(ctx, "a deleted game is not gone yet; the timer goes on", slog.String("error", err.Error()))
	}
	return nil
}

// lateWrites is how long after it was asked for a deletion may still land: a minute is twice as
// long as the storage may take to end a write, and as clocks are apart.
const lateWrites = time.Minute

// purge removes the rows of a game that was deleted: its game row last, which keeps it deleted, and
// then what asks for that.
func (gs *Games) purge(ctx context.Context, id string, due table.Key, since time.Duration) error {
	row, err := gs.Store.Get(ctx, gs.Tables.Games, table.Key{Partition: id, Row: gameRow})
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return err
	}
	if err == nil && !row.Props.Get(goneProp).Bool() {
		if since < lateWrites {
			return nil
		}
		return gs.forget(ctx, due) // it was asked for, and never done
	}
	// Lock rows go first: from then on nothing is added.
	for _, r := range []table.Range{
		table.Prefix(id, activeRows),
		{Partition: id, To: gameRow},
		{Partition: id, After: gameRow},
		{Partition: id},
	} {
		if err := gs.clear(ctx, r); err != nil {
			return err
		}
	}
	return gs.forget(ctx, due)
}

// clear removes all rows of a range.
func (gs *Games) clear(ctx context.Context, r table.Range) error {
	var batch []table.Op
	remove := func() error {
		if len(batch) == 0 {
			return nil
		}
		_, err := gs.Store.Write(ctx, gs.Tables.Games, batch...)
		batch = nil
		return err
	}
	r.Select = []string{goneProp} // which the game row alone has
	for row, err := range table.All(ctx, gs.Store, gs.Tables.Games, r) {
		if err != nil {
			return err
		}
		batch = append(batch, table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
		if len(batch) == table.MaxBatch {
			if err := remove(); err != nil {
				return err
			}
		}
	}
	return remove()
}

// forget removes a row of Due that asks for nothing any more.
func (gs *Games) forget(ctx context.Context, due table.Key) error {
	_, err := gs.Store.Write(ctx, gs.Tables.Due,
		table.Op{Kind: table.Delete, Row: table.Row{Key: due, ETag: table.Any}})
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return err
}
