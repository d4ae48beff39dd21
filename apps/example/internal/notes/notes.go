// Package notes keeps the notes of people who have an account. A note ends after a month.
package notes

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the tables.
//
//	Notes     {user} / {inv}-{random}                a note, the newest of a user first
//	Due       due / {time}|{user}|{note}             when a note ends: follows from the note
//	Accounts  {user} / account
//	Sessions  {user} / {session}
type Tables struct {
	Notes    string `table:"Notes"`
	Due      string `table:"Due"`
	Accounts string `table:"Accounts"`
	Sessions string `table:"Sessions"`
}

// Contents say what a backup has.
func (t Tables) Contents() *backup.Contents {
	return &backup.Contents{Application: "example", Tables: []backup.Table{
		{Name: "Accounts", Stored: t.Accounts},
		{Name: "Notes", Stored: t.Notes},
		{Name: "Due", Stored: t.Due},
		{Name: "Sessions", Stored: t.Sessions, Out: "everybody signs in again"},
	}}
}

// QueueChanges is the queue of changes that may be half-way, and its function.
const QueueChanges = "note-changes"

// A Config is what a Book needs.
type Config struct {
	*rowstore.Store
	Tables    Tables
	Queues    queue.Queues
	Entropy   io.Reader
	Passwords *password.Hasher
}

// A Book keeps notes, accounts and sessions.
type Book struct {
	Config
	sessions *session.Sessions[Account]
}

// New returns a Book. It asks the storage for nothing.
func New(c Config) *Book {
	b := &Book{Config: c}
	b.sessions = b.newSessions()
	return b
}

// Create makes what is missing of tables and queues.
func (b *Book) Create(ctx context.Context) error {
	if err := b.DB.Create(ctx, rowstore.TableNames(b.Tables)...); err != nil {
		return err
	}
	return b.Queues.Create(ctx, QueueChanges, queue.Poison(QueueChanges))
}

// Ready asks the storage for something.
func (b *Book) Ready(ctx context.Context) error {
	_, err := b.GetRow(ctx, b.Tables.Due, table.Key{Partition: duePartition, Row: "none"})
	return err
}

// A Note is a row.
type Note struct {
	User, ID        string
	Text            string
	CreatedAt, Ends time.Time
}

// lasts is how long a note lasts, and maxText how long its text may be.
const (
	lasts   = 30 * 24 * time.Hour
	MaxText = 1000
)

var noteColumns = rowstore.Columns[Note]{
	rowstore.Text("Text", func(n *Note) *string { return &n.Text }),
	rowstore.Instant("CreatedAt", func(n *Note) *time.Time { return &n.CreatedAt }),
	rowstore.Instant("EndsAt", func(n *Note) *time.Time { return &n.Ends }),
}

func (n Note) key() table.Key { return table.Key{Partition: n.User, Row: n.ID} }

func (n Note) row() table.Row { return table.Row{Key: n.key(), Props: noteColumns.Props(&n)} }

func parseNote(row table.Row) Note {
	n := Note{User: row.Partition, ID: row.Row}
	noteColumns.Read(row.Props, &n)
	return n
}

// noteIDs are what the id of a note can be.
var noteIDs = regexp.MustCompile(`^\d{19}-[0-9a-f]{16}$`)

// A change is the text of a message: a note may be there whose other rows are missing.
type change struct{ User, Note string }

func (b *Book) outbox() outbox.Outbox {
	return outbox.Outbox{Store: b.Store, Queues: b.Queues, Queue: QueueChanges, After: time.Minute}
}

// Write writes a note of the caller. The message goes first: if this process stops, its job writes
// the rows that follow from the note.
func (b *Book) Write(ctx context.Context, c Claim, text string) (Note, error) {
	if _, err := b.sessions.Identify(ctx, c, nil); err != nil {
		return Note{}, err
	}
	if text = strings.TrimSpace(text); text == "" || table.Units(text) > MaxText {
		wrong := fault.Field{Name: "body.text", Message: "must have 1 to 1,000 characters"}
		return Note{}, &fault.Error{
			Kind: fault.Invalid, Text: "a note has 1 to 1,000 characters", Fields: []fault.Field{wrong},
		}
	}
	var random [8]byte
	b.sessions.Fill(random[:])
	now := b.Now().UTC()
	id := rowstore.Descending(now) + "-" + hex.EncodeToString(random[:])
	n := Note{User: c.UserID, ID: id, Text: text, CreatedAt: now, Ends: now.Add(lasts)}
	ctx = b.outbox().Begin(ctx)
	receipt, err := b.outbox().Send(ctx, change{n.User, n.ID})
	if err != nil {
		return Note{}, err
	}
	if err := b.Insert(ctx, b.Tables.Notes, n.row()); err != nil {
		return Note{}, err // the message stays: the note may land yet
	}
	if b.follow(ctx, n) == nil { // else its job does it
		b.outbox().Cancel(ctx, receipt)
	}
	return n, nil
}

// follow writes the row that follows from a note. It may be there already.
func (b *Book) follow(ctx context.Context, n Note) error {
	return b.Upsert(ctx, b.Tables.Due, table.Row{Key: n.due()})
}

// settle does what a message asks for. It may run twice and late.
func (b *Book) settle(ctx context.Context, in function.Invocation) error {
	var c change
	if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	row, err := b.GetRow(ctx, b.Tables.Notes, Note{User: c.User, ID: c.Note}.key())
	if err != nil || row == nil { // it was never written, or is deleted
		return err
	}
	return b.follow(ctx, parseNote(*row))
}

// A Page is a part of a list. Next is where the next one begins, "" at the end.
type Page struct {
	Notes []Note
	Next  string
}

// Notes returns notes of the caller after one with an id, the newest first.
func (b *Book) Notes(ctx context.Context, c Claim, after string, limit int) (p Page, err error) {
	_, err = b.sessions.Identify(ctx, c, nil, func(ctx context.Context) error {
		rows, more, err := b.Budget().Rows(ctx, b.Tables.Notes, table.Range{Partition: c.UserID, After: after}, limit)
		for _, row := range rows {
			p.Notes = append(p.Notes, parseNote(row))
		}
		if more && len(rows) > 0 {
			p.Next = rows[len(rows)-1].Row
		}
		return err
	})
	return p, err
}

// Delete deletes a note of the caller; one that is gone is as good. The timer removes its other
// row.
func (b *Book) Delete(ctx context.Context, c Claim, id string) error {
	if _, err := b.sessions.Identify(ctx, c, nil); err != nil {
		return err
	}
	if !noteIDs.MatchString(id) {
		return fault.New(fault.NotFound, "there is no such note")
	}
	return b.RemoveKey(ctx, b.Tables.Notes, Note{User: c.UserID, ID: id}.key())
}
