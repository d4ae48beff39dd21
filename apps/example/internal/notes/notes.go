// Package notes keeps notes in a table. A queue function measures how long each is.
package notes

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// QueueLengths carries the names of notes that will be measured. The queue function has its name
// too.
const QueueLengths = "note-lengths"

// Tables names the tables.
type Tables struct {
	Prefix string `envconfig:"TABLE_PREFIX"`
	Notes  string `envconfig:"TABLE_NOTES" default:"Notes"`
}

// All returns the names with their prefix.
func (t Tables) All() []string { return []string{t.Prefix + t.Notes} }

// A Book keeps the notes of all users: a partition for each, a row for each note.
type Book struct {
	Tables Tables
	Store  table.DB
	Queues queue.Queues
}

// Create makes what is missing of the table and the queue.
func (b Book) Create(ctx context.Context) error {
	if err := b.Store.Create(ctx, b.Tables.All()...); err != nil {
		return err
	}
	return b.Queues.Create(ctx, QueueLengths, queue.Poison(QueueLengths))
}

// Triggers returns the functions that no request starts.
func (b Book) Triggers() []function.Trigger {
	return []function.Trigger{{Name: QueueLengths, Queue: QueueLengths, Run: b.measure}}
}

// measure says how long a note is. It may run twice and late.
func (b Book) measure(ctx context.Context, in function.Invocation) error {
	var key table.Key
	if err := json.Unmarshal([]byte(in.Text), &key); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	row, err := b.Store.Get(ctx, b.Tables.All()[0], key)
	if err != nil {
		return err
	}
	row.Props = table.Props{{Name: "Length", Value: table.Int64(int64(table.Units(row.Props.Get("Text").Str())))}}
	_, err = b.Store.Write(ctx, b.Tables.All()[0], table.Op{Kind: table.Merge, Row: row})
	return err
}

// maxNote is how many bytes a note may have, and maxName its name.
const (
	maxNote = 1000
	maxName = 100
)

// A Note is what GET api/notes/{name} answers.
type Note struct {
	Text   string `json:"text"`
	Length int64  `json:"length"` // 0 until it is measured
}

// Routes returns the API for those whom identify knows.
func (b Book) Routes(identify auth.Identify) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/health", func(w http.ResponseWriter, _ *http.Request) { write(w, map[string]string{"status": "ok"}) })
	mux.HandleFunc("GET /api/ready", func(w http.ResponseWriter, r *http.Request) {
		_, err := b.Store.List(r.Context(), b.Tables.All()[0], table.Range{}, 1, "")
		answer(w, r, map[string]string{"status": "ok"}, err)
	})
	notes := map[string]func(*http.Request, table.Key) (Note, error){"GET": b.get, "POST": b.post}
	for method, do := range notes {
		mux.HandleFunc(method+" /api/notes/{name}", func(w http.ResponseWriter, r *http.Request) {
			user, err := identify(r)
			if err == nil && !user.Known() {
				err = fault.New(fault.Unauthenticated, "sign in to use this")
			}
			var n Note
			if err == nil && len(r.PathValue("name")) > maxName {
				err = fault.New(fault.NotFound, "a name has at most 100 bytes")
			}
			if err == nil {
				n, err = do(r, table.Key{Partition: hex.EncodeToString([]byte(user.ID)), Row: hex.EncodeToString([]byte(r.PathValue("name")))})
			}
			answer(w, r, n, err)
		})
	}
	return httpjson.Routes(mux)
}

// answer answers with v, or with the problem that an error is.
func answer(w http.ResponseWriter, r *http.Request, v any, err error) {
	if err != nil {
		httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
		return
	}
	write(w, v)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}

func (b Book) get(r *http.Request, key table.Key) (Note, error) {
	row, err := b.Store.Get(r.Context(), b.Tables.All()[0], key)
	if errors.Is(err, table.ErrNotFound) {
		return Note{}, fault.New(fault.NotFound, "there is no such note")
	}
	return Note{Text: row.Props.Get("Text").Str(), Length: row.Props.Get("Length").Int()}, err
}

// post writes a note and has it measured. The message goes first: without the note its job fails
// and is tried again.
func (b Book) post(r *http.Request, key table.Key) (Note, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxNote+1))
	if err != nil || len(text) > maxNote {
		return Note{}, fault.New(fault.Invalid, "a note has at most 1000 bytes")
	}
	message, err := json.Marshal(key)
	if err != nil {
		return Note{}, err
	}
	if _, err := b.Queues.Send(r.Context(), QueueLengths, string(message), time.Second); err != nil {
		return Note{}, err
	}
	row := table.Row{Key: key, Props: table.Props{{Name: "Text", Value: table.String(string(text))}}}
	_, err = b.Store.Write(r.Context(), b.Tables.All()[0], table.Op{Kind: table.Upsert, Row: row})
	return Note{Text: string(text)}, err
}
