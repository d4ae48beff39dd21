package promptdb

import (
	"cmp"
	"context"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/scopes"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An IndexRow is a row that a prompt must have in an index table.
type IndexRow = schema.IndexRow

// IndexRows returns the index rows of a prompt, for tests that fill tables without going through a
// projection. Its rows in logs have the time of its id.
func (db *DB) IndexRows(p prompt.Prompt) []IndexRow {
	rec := schema.Record{Prompt: p}
	rec.Stamp(p.ID.Time())
	return db.T.Rows(rec)
}

// TruthRows returns the operations that write the truth row of a prompt, whose index rows are those
// of IndexRows.
func TruthRows(p prompt.Prompt) ([]table.Op, error) {
	rec := schema.Record{Prompt: p, RowsVersion: schema.RowsVersion}
	rec.Stamp(p.ID.Time())
	return rec.Batch(true, nil, rec.Alike())
}

// A Record is what a truth row says.
type Record = schema.Record

// ParseRecord reads a truth row.
func ParseRecord(row table.Row) (Record, error) { return schema.ParseRecord(row) }

// ParseVersionRow reads the row of a version.
func ParseVersionRow(row table.Row) prompt.Version { return schema.ParseVersionRow(row) }

// SourceRow returns the row of the file that a version was made of.
func SourceRow(author prompt.UserID, id prompt.ID, n int64, s prompt.Source) table.Row {
	return schema.SourceRow(author, id, n, s)
}

// Sleep waits as the DB does.
func (db *DB) Sleep(ctx context.Context, d time.Duration) error { return db.Store.Sleep(ctx, d) }

// Entries says which index rows a prompt has, as the property Pending stores it.
type Entries map[string][]string

// Keys returns the keys of the rows that e names.
func (e Entries) Keys(id prompt.ID) []table.Key {
	var keys []table.Key
	for _, r := range DefaultTables().Keys(schema.Entries(e), id) {
		keys = append(keys, r.Row.Key)
	}
	return keys
}

// MarshalJSON writes entries as they are stored.
func (e Entries) MarshalJSON() ([]byte, error) { return schema.Entries(e).MarshalJSON() }

// UnmarshalJSON reads entries as they are stored.
func (e *Entries) UnmarshalJSON(b []byte) error { return (*schema.Entries)(e).UnmarshalJSON(b) }

// IndexTables returns the tables that hold nothing but index rows.
func (db *DB) IndexTables() []string { return db.T.IndexTables() }

// OwnerOf returns the prompt that the key of an index row names, or none.
func (db *DB) OwnerOf(name string, key table.Key) prompt.ID {
	_, id, _ := db.T.Entry(name, key)
	return id
}

// Record returns a prompt as its truth row has it.
func (db *DB) Record(ctx context.Context, author prompt.UserID, id prompt.ID) (prompt.Prompt, error) {
	rec, err := db.Reader.Record(ctx, author, id)
	if err != nil || rec == nil {
		return prompt.Prompt{}, cmp.Or(err, prompt.ErrUnknown())
	}
	return rec.Prompt, nil
}

// VoteRow returns the vote that a voter's row says.
func (db *DB) VoteRow(ctx context.Context, voter prompt.UserID, id prompt.ID) (prompt.Vote, error) {
	b, err := db.VoteRows(ctx, voter, id)
	return b.Value(), err
}

// Rewrite projects a prompt without a look at its index rows.
func (db *DB) Rewrite(ctx context.Context, author prompt.UserID, id prompt.ID) error {
	return db.Verifier.Rewrite(ctx, author, id, schema.Entries{})
}

// MineRow returns the author's summary row of a prompt.
func (db *DB) MineRow(p prompt.Prompt) table.Row { return schema.Record{Prompt: p}.MineRow() }

// VoterRow returns a voter's own row.
func VoterRow(voter prompt.UserID, id prompt.ID, v prompt.Vote) table.Row {
	return table.Row{Key: schema.VoterKey(voter, id), Props: schema.VoterProps(id, "ann", v, id.Time())}
}

// ByAge returns the position after a prompt in the lists that are newest first.
func ByAge(id prompt.ID) string { return schema.ByAge(id) }

// PromptKey returns the key of a truth row.
func PromptKey(author prompt.UserID, id prompt.ID) table.Key { return schema.PromptKey(author, id) }

// What the protocol assumes of processes, storage and clocks.
const (
	PauseWithin  = rowstore.PauseWithin
	CallWithin   = rowstore.CallWithin
	SendWithin   = commit.SendWithin
	AtomicWithin = commit.AtomicWithin
	WriteEnd     = rowstore.WriteEnd
	ClockSkew    = rowstore.ClockSkew
	LateWithin   = scopes.LateWithin
)

// Times are constants of the protocol, each as it is where it is zero.
type Times struct{ Lease, Send, Fresh, Wake, Vote, Call time.Duration }

// OrElse returns t with the constants of the protocol where it is zero.
func (t Times) OrElse() Times {
	of := commit.OfProtocol
	return Times{
		Lease: cmp.Or(t.Lease, of.Lease), Send: cmp.Or(t.Send, of.Send), Fresh: cmp.Or(t.Fresh, of.Fresh),
		Wake: cmp.Or(t.Wake, of.Repair), Vote: cmp.Or(t.Vote, of.Vote), Call: cmp.Or(t.Call, rowstore.CallWithin),
	}
}

// Bend makes a DB go by other constants, but for Call: the schedule says how long calls are under
// way.
func (db *DB) Bend(t Times) {
	t = t.OrElse()
	db.Protocol = commit.Times{Lease: t.Lease, Send: t.Send, Fresh: t.Fresh, Repair: t.Wake, Vote: t.Vote}
}

// RowsKey returns the key of the row that says which version wrote all index rows.
func RowsKey() table.Key { return schema.RowsKey() }
