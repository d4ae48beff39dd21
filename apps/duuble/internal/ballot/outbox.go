package ballot

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// QueueOutbox is the queue whose messages name outbox rows.
const QueueOutbox = "outbox"

// wakeAfter is when the message of a batch comes by itself: after the batch has landed or never
// will.
const wakeAfter = time.Minute

// A wakeUp is the outbox row of a batch, and the message that was sent before it.
type wakeUp struct {
	post, id string
	end      time.Time // from when on it is too late to write the batch; zero without a message
	receipt  queue.Receipt
}

// A message names an outbox row. It has nothing of what the row holds.
type message struct {
	Post   string `json:"post"`
	Outbox string `json:"outbox"`
}

func (w *wakeUp) message() message { return message{w.post, w.id} }

func (w *wakeUp) text() string {
	text, err := json.Marshal(w.message())
	if err != nil {
		panic(err) // two strings can always be written
	}
	return string(text)
}

// outboxRow returns the outbox row of votes.
func (w *wakeUp) outboxRow(votes []*pending) table.Row {
	var b strings.Builder
	for _, p := range votes {
		fmt.Fprintf(&b, "%s %d;", p.Voter, table.Ticks(p.since))
	}
	return table.Row{
		Key:   outboxKey(w.post, w.id),
		Props: table.Props{{Name: "voters", Value: table.String(b.String())}},
	}
}

func votersOf(post string, row table.Row) ([]Receipt, error) {
	var all []Receipt
	for one := range strings.SplitSeq(strings.TrimSuffix(row.Props.Get("voters").Str(), ";"), ";") {
		voter, at, _ := strings.Cut(one, " ")
		ticks, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: an outbox row of votes", table.ErrDamaged)
		}
		all = append(all, Receipt{Post: post, Voter: voter, VotedAt: table.TimeOf(ticks)})
	}
	return all, nil
}

func (s *Store) voteOutbox() outbox.Outbox {
	return outbox.Outbox{Store: s.Store, Queues: s.Queues, Queue: QueueOutbox, After: wakeAfter}
}

// prepareBatch returns what must be done before a batch is written: the message that names its
// outbox row, and the row by which SettleDue finds the post. Another try uses the same message
// while there is time to read and to write.
func (s *Store) prepareBatch(post string, w *wakeUp) []func(context.Context) error {
	if s.Transact != nil {
		if w.id == "" {
			*w = wakeUp{post: post, id: s.newID()}
		}
		return nil // both are in the transaction
	}
	if w.id != "" && s.Now().Before(w.end.Add(-rowstore.CallWithin)) {
		return nil
	}
	*w = wakeUp{post: post, id: s.newID(), end: s.Now().Add(s.voteOutbox().Within())}
	return []func(context.Context) error{
		func(ctx context.Context) (err error) {
			w.receipt, err = s.voteOutbox().Send(rowstore.WriteBefore(ctx, w.end), w.message())
			return err
		},
		func(ctx context.Context) error {
			return rowstoreError(s.Write(ctx, s.Due, []table.Op{{Kind: table.Upsert, Row: s.dueRow(post)}}))
		},
	}
}

// Deliver does what a message of QueueOutbox asks for: it calls Follow for the votes of a
// batch, whose receipts have no hubs then, and removes the outbox row. It may run twice, late
// and in any order.
func (s *Store) Deliver(ctx context.Context, text string) error {
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Post == "" || m.Outbox == "" {
		return fault.New(fault.Malformed, "the message names no outbox row")
	}
	key := outboxKey(m.Post, m.Outbox)
	row, err := s.GetRow(ctx, s.Posts, key)
	if err != nil || row == nil { // the batch was not written, or all is done
		return err
	}
	if row.Props.Get("ended").Bool() {
		if err := s.countEnded(ctx, m.Post); err != nil {
			return err
		}
	}
	votes, err := votersOf(m.Post, *row)
	if err != nil {
		return rowstore.Unavailable(err)
	}
	if err := s.Follow(ctx, votes); err != nil {
		return err
	}
	return s.RemoveKey(ctx, s.Posts, key)
}
