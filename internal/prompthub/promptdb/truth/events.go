package truth

import (
	"crypto/rand"

	"github.com/oklog/ulid/v2"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// EventOp returns the write of an event of now, for the batch of the change itself.
func (db *Reader) EventOp(workspace prompt.UserID, e prompt.Event) table.Op {
	e.At = db.Now().UTC()
	e.ID = db.NewULID()
	return table.Op{Kind: table.Insert, Row: schema.EventRow(workspace, e)}
}

// NewULID returns a ULID of now.
func (db *Reader) NewULID() string {
	return ulid.MustNew(ulid.Timestamp(db.Now()), rand.Reader).String()
}
