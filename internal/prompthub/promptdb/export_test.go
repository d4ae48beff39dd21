package promptdb

import (
	"cmp"
	"context"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// An IndexRow is a row that a prompt must have in an index table.
type IndexRow struct {
	Table string
	Row   table.Row
}

// IndexRows returns the index rows of a prompt, for tests that fill tables without going through a
// projection.
func (db *DB) IndexRows(p prompt.Prompt) []IndexRow {
	var rows []IndexRow
	for _, r := range db.rows(p) {
		rows = append(rows, IndexRow{Table: r.table, Row: r.row})
	}
	return rows
}

// Sleep waits as the DB does.
func (db *DB) Sleep(ctx context.Context, d time.Duration) error { return db.sleep(ctx, d) }

// TextRows returns the rows of a prompt in the text index.
func (db *DB) TextRows(p prompt.Prompt) []IndexRow {
	var rows []IndexRow
	for _, r := range db.textRows(p) {
		rows = append(rows, IndexRow{Table: r.table, Row: r.row})
	}
	return rows
}

// Entries says which index rows a prompt has, as the property Pending stores it.
type Entries = entries

// Keys returns the keys of the rows that e names.
func (e Entries) Keys(id prompt.ID) []table.Key {
	var keys []table.Key
	for _, r := range New(Config{Tables: DefaultTables()}).keys(e, id) {
		keys = append(keys, r.row.Key)
	}
	return keys
}

// IndexTables returns the tables that hold nothing but index rows.
func (db *DB) IndexTables() []string { return db.indexTables() }

// OwnerOf returns the prompt that the key of an index row names, or none.
func (db *DB) OwnerOf(name string, key table.Key) prompt.ID {
	_, id, _ := db.entry(name, key)
	return id
}

// Record returns a prompt as its truth row has it.
func (db *DB) Record(ctx context.Context, author prompt.UserID, id prompt.ID) (prompt.Prompt, error) {
	rec, err := db.record(ctx, author, id)
	if err != nil || rec == nil {
		return prompt.Prompt{}, cmp.Or(err, prompt.ErrUnknown())
	}
	return rec.Prompt, nil
}

// VoteRow returns the vote that a voter's row says.
func (db *DB) VoteRow(ctx context.Context, voter prompt.UserID, id prompt.ID) (prompt.Vote, error) {
	b, err := db.voteRows(ctx, voter, id)
	return b.value(), err
}

// Rewrite projects a prompt, whatever its index rows hold.
func (db *DB) Rewrite(ctx context.Context, author prompt.UserID, id prompt.ID) error {
	return db.rewrite(ctx, author, id, entries{})
}

// MineRow returns the author's summary row of a prompt.
func (db *DB) MineRow(p prompt.Prompt) table.Row { return record{Prompt: p}.mineRow() }

// VoterRow returns a voter's own row.
func VoterRow(voter prompt.UserID, id prompt.ID, v prompt.Vote) table.Row {
	return table.Row{Key: voterKey(voter, id), Props: voterProps(id, "ann", v, id.Time())}
}

// ByAge returns the position behind a prompt in the lists that are newest first.
func ByAge(id prompt.ID) string { return byAge(id) }

// PromptKey returns the key of a truth row.
func PromptKey(author prompt.UserID, id prompt.ID) table.Key { return promptKey(author, id) }

// What the protocol assumes of processes, storage and clocks.
const (
	PauseWithin  = pauseWithin
	CallWithin   = callWithin
	SendWithin   = sendWithin
	AtomicWithin = atomicWithin
	WriteEnd     = writeEnd
	ClockSkew    = clockSkew
)

// Times are constants of the protocol, each as it is where it is zero.
type Times struct{ Lease, Send, Fresh, Wake, Vote, Call time.Duration }

// OrElse returns t with the constants of the protocol where it is zero.
func (t Times) OrElse() Times {
	return Times{
		Lease: cmp.Or(t.Lease, Lease), Send: cmp.Or(t.Send, sendWithin), Fresh: cmp.Or(t.Fresh, repairFresh),
		Wake: cmp.Or(t.Wake, repairAfter), Vote: cmp.Or(t.Vote, voteRepairAfter), Call: cmp.Or(t.Call, callWithin),
	}
}

// Bend makes a DB go by other constants, but for Call: how long calls are under way is up to who
// schedules them.
func (db *DB) Bend(t Times) {
	t = t.OrElse()
	db.times = times{lease: t.Lease, send: t.Send, fresh: t.Fresh, repair: t.Wake, vote: t.Vote}
}

// RowsKey returns the key of the row that says which version wrote all index rows.
func RowsKey() table.Key { return rowsKey() }

// KeepSketchesOf is KeepSketches with another bound. It returns whose sketches are kept.
func (db *DB) KeepSketchesOf(ctx context.Context, most int) (ids []prompt.ID, err error) {
	if _, _, err := db.keepSketches(ctx, most); err != nil {
		return nil, err
	}
	all, err := db.readSketches(ctx)
	for _, s := range all {
		ids = append(ids, s.id)
	}
	return ids, err
}
