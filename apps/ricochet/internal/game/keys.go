// Package game keeps games: their rounds, submissions and winners.
//
// # Rows
//
// All rows of a game are in one partition of the table Games, named by the game's id, because only
// there several rows change together or not at all:
//
//	game                                 the game, its board, and which round is active
//	active|{round}                       the lock row: there while the round takes solutions
//	round|{round}                        a round, for ever
//	solution|{round}|{moves}|{at}|{player}  a solution; the order of the keys is the ranking
//	name|{player}                        who a name belongs to, and the player's best of a round
//
// The seed of this application had them in three tables, Games, Rounds and Solutions; the
// properties are its. Numbers in keys have a fixed width, so the first solution of a round is the
// winner: the fewest moves, then the earliest, then the player.
//
// Every change is one batch. Start replaces the game row under its ETag, so two at once are one,
// and the extension and the close of a round change its row under its ETag. A submission merges the
// lock row under any ETag: it lands while the round is open, and players never wait for one
// another. The close deletes the lock row under the ETag that it had before the solutions were
// read: a solution accepted before takes part, and nothing is accepted after.
//
// The table Due has a row in its one partition for each deadline, written before the round that it
// is of, so that the due rounds are one range and no scan:
//
//	{end}|{game}|{round}                 a round to close, or whose optimum must be found
//	{at}|{game}|0000                     a game to delete
package game

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the tables.
type Tables struct {
	Games string `table:"Games"`
	Due   string `table:"Due"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

const (
	gameRow    = "game"
	activeRows = "active|"
)

func activeRow(round int) string { return fmt.Sprintf("%s%04d", activeRows, round) }
func roundRow(round int) string  { return fmt.Sprintf("round|%04d", round) }

const roundRows = "round|"

// nameRow is where a player's name is kept. A key is a name in lower case.
func nameRow(player string) string { return nameRows + player }

const nameRows = "name|"

func solutionRows(round int) string { return fmt.Sprintf("solution|%04d|", round) }

func solutionRow(round, moves int, at time.Time, player string) string {
	return fmt.Sprintf("%s%04d|%013d|%s", solutionRows(round), moves, at.UnixMilli(), player)
}

// solutionPlayer returns whose solution a row is.
func solutionPlayer(row string) string { return row[strings.LastIndexByte(row, '|')+1:] }

const duePartition = "due"

func dueKey(at time.Time, game string, round int) table.Key {
	return table.Key{Partition: duePartition, Row: fmt.Sprintf("%013d|%s|%04d", at.UnixMilli(), game, round)}
}

// parseDue returns what a row of Due is of, and since when.
func parseDue(row string) (at time.Time, game string, round int, err error) {
	parts := strings.Split(row, "|")
	if len(parts) != 3 {
		return time.Time{}, "", 0, fmt.Errorf("due row %q", row)
	}
	ms, err := strconv.ParseInt(parts[0], 10, 64)
	if err == nil {
		round, err = strconv.Atoi(parts[2])
	}
	return time.UnixMilli(ms), parts[1], round, err
}
