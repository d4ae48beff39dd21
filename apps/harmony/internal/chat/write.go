package chat

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

func sortBy[T any](all []T, key func(T) string) {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// Follow has the rows of a chat follow the pair of its members, of which version counts the
// changes. fresh says that the chat is most likely new. The row !open keeps its key, so it gives
// way to a higher version only; the members find a chat before it opens.
func (x Rooms) Follow(ctx context.Context, r Room, version int64, fresh bool) error {
	r.version = version
	key := table.Key{Partition: r.ID, Row: openRow}
	listed := false
	for try := 0; ; try++ {
		var was *table.Row
		var err error
		if !fresh || try > 0 {
			if was, err = x.GetRow(ctx, x.Messages, key); err != nil {
				return err
			}
		}
		row, kind := table.Row{Key: key}, table.Insert
		if was != nil {
			now := parseOpen(*was)
			if now.version >= version {
				return nil
			}
			r.CreatedAt, row.ETag, kind = now.CreatedAt, was.ETag, table.Replace
		} else if !listed {
			if err := x.writeLists(ctx, r); err != nil {
				return err
			}
			listed = true
		}
		row.Props = r.openProps()
		ops := []table.Op{{Kind: kind, Row: row}}
		if says, ok := r.matchRow(); ok {
			ops = append(ops, table.Op{Kind: table.Upsert, Row: says})
		}
		err = x.Write(ctx, x.Messages, ops)
		if err == nil {
			return nil
		}
		if err := x.Retry(ctx, try, err); err != nil {
			return err
		}
	}
}

// writeLists inserts the rows by which the members find a chat, unless they are there.
func (x Rooms) writeLists(ctx context.Context, r Room) error {
	type row struct {
		table string
		row   table.Row
	}
	var all []row
	for name, rows := range x.listRows(r) {
		for _, one := range rows {
			all = append(all, row{name, one})
		}
	}
	return rowstore.Each(ctx, len(all), len(all), func(ctx context.Context, i int) error {
		return x.Insert(ctx, all[i].table, all[i].row)
	})
}

// Whole adds to a transaction that has the rows of a chat follow the pair of its members. fresh
// says that the chat is new. Another one is there, or the transaction fails with ErrNotFound, and
// Follow makes it.
func (x Rooms) Whole(t *transact.Transaction, r Room, version int64, fresh bool) {
	r.version = version
	open := table.Row{Key: table.Key{Partition: r.ID, Row: openRow}, Props: r.openProps()}
	if says, ok := r.matchRow(); ok {
		t.Put = append(t.Put, transact.Row{Table: x.Messages, Row: says})
	}
	if !fresh {
		open.ETag = table.Any
		open.Props = slices.DeleteFunc(open.Props, func(p table.Prop) bool { return p.Name == "CreatedAt" })
		t.More = append(t.More, transact.Op{Table: x.Messages, Op: table.Op{Kind: table.Merge, Row: open}})
		return
	}
	t.Put = append(t.Put, transact.Row{Table: x.Messages, Row: open})
	for name, rows := range x.listRows(r) {
		for _, row := range rows {
			t.Put = append(t.Put, transact.Row{Table: name, Row: row})
		}
	}
}

// millisecond is what instants of messages differ by at least, because answers tell no less.
const millisecond = int64(time.Millisecond / 100)

// A Draft is a message before it was sent.
type Draft struct {
	SenderID, Type, Content string
	Image                   Image
	Key                     string // requests with one key add one message; "" for a request without one
	Digest                  string // of the file that a picture was made of, by which a key knows it
}

// Send adds a message to a room as it was read; created reports whether this call did, and not one
// before it with its key.
func (x Rooms) Send(ctx context.Context, r Room, d Draft) (m Message, created bool, err error) {
	id, user, side, began := x.NewID(), d.SenderID, r.sideOf(d.SenderID), x.Now()
	done := doneOf(user, d.Key, cmp.Or(d.Digest, d.Content))
	var tried []string // ids that may have landed, or may still land
	for try := 0; ; try++ {
		if !r.Open {
			earlier, err := x.readDone(ctx, r.ID, done)
			if err == nil && earlier == nil {
				err = ClosedError()
			}
			return r.foundMessage(earlier), false, err
		}
		now := x.Now()
		next := r.head
		next.last = max(next.last+millisecond, table.Ticks(now.Truncate(time.Millisecond)))
		if d.Type != TypeSystem {
			next.sent[side]++
		}
		m := Message{
			ID: rowstore.Descending(table.TimeOf(next.last)) + "_" + id, SenderID: user, Type: d.Type,
			Content: d.Content, Image: d.Image, SentAt: table.TimeOf(next.last),
			number: next.sent[side], others: next.sent[1-side],
		}
		ops := append(x.headOps(r, next, true), table.Op{Kind: table.Insert, Row: m.toRow(r.ID)})
		if m.Image.ID != "" {
			ops = append(ops, table.Op{Kind: table.Insert, Row: m.imageRow(r.ID)})
		}
		if d.Key != "" {
			ops = append(ops, table.Op{Kind: table.Insert, Row: done.toRow(r.ID, m.ID, now)})
		}
		err := x.Write(ctx, x.Messages, ops)
		if err == nil {
			x.touchRoom(ctx, r, m.SentAt)
			return m, true, nil
		}
		if !rowstore.Overtaken(err) {
			tried = append(tried, m.ID)
		}
		if r, err = x.rereadRoom(ctx, r, user, began, try, err); err != nil {
			return Message{}, false, err
		}
		for _, id := range tried {
			landed, err := x.readMessage(ctx, r.ID, id)
			if err != nil || landed != nil {
				return r.foundMessage(landed), err == nil, err
			}
		}
		earlier, err := x.readDone(ctx, r.ID, done)
		if err != nil || earlier != nil {
			return r.foundMessage(earlier), false, err
		}
	}
}

func (r Room) foundMessage(m *Message) Message {
	if m == nil {
		return Message{}
	}
	return r.showMessage(*m)
}

// headOps returns the operations that a change of a chat begins with. sends says that the chat must
// be open when it lands.
func (x Rooms) headOps(r Room, next head, sends bool) (ops []table.Op) {
	next.version++
	next.updated = x.Now()
	kind := table.Replace
	if next.etag == "" {
		kind = table.Insert
	}
	if sends {
		ops = append(ops, table.Op{Kind: table.Merge, Row: table.Row{
			Key: table.Key{Partition: r.ID, Row: openRow}, ETag: r.open,
			Props: table.Props{{Name: "IsOpen", Value: table.Bool(true)}},
		}})
	}
	return append(ops, table.Op{Kind: kind, Row: next.toRow(r.ID)})
}

// A writer whom others overtake tries again for so long, and so often.
const (
	triesFor = 5 * time.Second
	maxTries = 1000
)

// rereadRoom reads a chat again after a write that another one has overtaken, or whose outcome is
// not known.
func (x Rooms) rereadRoom(ctx context.Context, r Room, user string, began time.Time, try int, err error) (Room, error) {
	if try == maxTries || x.Now().Sub(began) > triesFor {
		return r, rowstore.Unavailable(err)
	}
	if err := x.Sleep(ctx, x.Jitter(time.Duration(min(try+1, 10))*5*time.Millisecond)); err != nil {
		return r, rowstore.Unavailable(err)
	}
	admit := r.Admit
	r, _, _, err = x.Read(ctx, r.ID, "", "", 0)
	if r.Admit = admit; err == nil && admit != nil {
		err = admit(ctx)
	} else if err == nil && !r.Has(user) {
		err = Missing()
	}
	return r, err
}

// touchRoom moves a chat up in the lists of its members, after the answer.
func (x Rooms) touchRoom(ctx context.Context, r Room, at time.Time) {
	if r.EventID != "" {
		return // a message of an event writes no row of a member
	}
	ctx = context.WithoutCancel(ctx)
	for _, user := range r.Members {
		x.Background(func() {
			_ = x.Write(ctx, x.UserChats, []table.Op{{Kind: table.Merge, Row: table.Row{
				Key: table.Key{Partition: user, Row: r.ID}, ETag: table.Any,
				Props: table.Props{{Name: "LastAt", Value: table.Time(at)}},
			}}}) // the next message moves it
		})
	}
}

// A done says which request with a key was done.
type done struct{ at, content string }

// doneOf returns what there will be of a request; nothing of one without a key.
func doneOf(user, key, content string) done {
	if key == "" {
		return done{}
	}
	return done{keyRows + hashText(user+"|"+key), hashText(content)}
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (d done) toRow(chat, message string, now time.Time) table.Row {
	return table.Row{Key: table.Key{Partition: chat, Row: d.at}, Props: table.Props{
		{Name: "MessageKey", Value: table.String(message)},
		{Name: "ContentHash", Value: table.String(d.content)},
		{Name: "CreatedAt", Value: table.Time(now)},
	}}
}

// readDone returns the message of a request that was done already, or nil.
func (x Rooms) readDone(ctx context.Context, chat string, d done) (*Message, error) {
	if d.at == "" {
		return nil, nil
	}
	row, err := x.GetRow(ctx, x.Messages, table.Key{Partition: chat, Row: d.at})
	if err != nil || row == nil {
		return nil, err
	}
	if row.Props.Get("ContentHash").Str() != d.content {
		return nil, &fault.Error{
			Kind: fault.Invalid, Code: KeyReused,
			Text: "another message was sent with this Idempotency-Key; give each message a key of its own",
		}
	}
	return x.readMessage(ctx, chat, row.Props.Get("MessageKey").Str())
}

// Edit gives a message of the user's another content.
func (x Rooms) Edit(ctx context.Context, r Room, user, id, content string) (Message, error) {
	return x.changeMessage(ctx, r, user, id, true, func(m *Message) (bool, error) {
		switch {
		case !m.DeletedAt.IsZero():
			return false, NoMessage()
		case m.Type != TypeText:
			return false, fault.Coded(fault.Conflict, NotAText,
				"a picture cannot be edited; delete it, and send another one")
		case x.Now().Sub(m.SentAt) > Editable:
			return false, fault.Coded(fault.Conflict, EditTooLate,
				"a message can be edited for 15 minutes; delete it, or write another one")
		case m.Content == content:
			return true, nil
		}
		m.Content, m.EditedAt = content, x.Now().UTC()
		return false, nil
	})
}

// Delete takes the content of a message of the user's away. It keeps its place. Before the row of a
// picture goes, wake is told of it: its files must follow. It returns the picture, "" for none.
func (x Rooms) Delete(ctx context.Context, r Room, user, id string,
	wake func(image string) error,
) (image string, err error) {
	_, err = x.changeMessage(ctx, r, user, id, false, func(m *Message) (bool, error) {
		if !m.DeletedAt.IsZero() {
			return true, nil
		}
		if m.Image.ID != "" && image == "" {
			if err := wake(m.Image.ID); err != nil {
				return false, err
			}
			image = m.Image.ID
		}
		m.Content, m.Image, m.DeletedAt = "", Image{}, x.Now().UTC()
		return false, nil
	})
	return image, err
}

// changeMessage makes a change of a message, until no other writer comes first. do may be called
// again after a try that has landed although its answer was lost: it must know its own work.
func (x Rooms) changeMessage(ctx context.Context, r Room, user, id string, sends bool,
	do func(*Message) (done bool, err error),
) (Message, error) {
	began := x.Now()
	for try := 0; ; try++ {
		m, err := x.readMessage(ctx, r.ID, id)
		if err == nil && m == nil {
			err = NoMessage()
		}
		if err == nil && (m.SenderID != user || m.Type == TypeSystem) {
			err = fault.Coded(fault.Forbidden, NotYours, "only its sender may change a message")
		}
		if err != nil {
			return Message{}, err
		}
		if sends && !r.Open {
			return Message{}, ClosedError()
		}
		image := m.Image.ID
		if done, err := do(m); err != nil || done {
			return r.showMessage(*m), err
		}
		ops := append(x.headOps(r, r.head, sends), table.Op{Kind: table.Replace, Row: m.toRow(r.ID)})
		if image != "" && m.Image.ID == "" {
			ops = append(ops, rowstore.Removal(imageKey(r.ID, image)))
		}
		err = x.Write(ctx, x.Messages, ops)
		if err == nil {
			return r.showMessage(*m), nil
		}
		if r, err = x.rereadRoom(ctx, r, user, began, try, err); err != nil {
			return Message{}, err
		}
	}
}

// MarkRead notes that a member has read up to a message, and returns how many are unread. It never
// goes back.
func (x Rooms) MarkRead(ctx context.Context, r Room, user, upTo string) (unread int, err error) {
	m, err := x.readMessage(ctx, r.ID, upTo)
	if err == nil && m == nil {
		err = NoMessage()
	}
	if err == nil && m.Type == TypeSystem { // it has no number; the one before it has
		m, err = x.readBefore(ctx, r.ID, upTo)
	}
	if err != nil {
		return 0, err
	}
	if m == nil {
		return r.Unread(user), nil
	}
	side, count, began := r.sideOf(user), m.number, x.Now()
	if m.SenderID == user {
		count = m.others
	}
	for try := 0; r.head.read[side] < count; try++ {
		next := r.head
		next.read[side] = count
		err := x.Write(ctx, x.Messages, x.headOps(r, next, false))
		if err == nil {
			r.head = next
			break
		}
		if r, err = x.rereadRoom(ctx, r, user, began, try, err); err != nil {
			return 0, err
		}
	}
	return r.Unread(user), nil
}

// MarkReadUpTo notes that a member has read the chat of an event up to a message. It never goes
// back.
func (x Rooms) MarkReadUpTo(ctx context.Context, r Room, user, upTo string) error {
	m, err := x.readMessage(ctx, r.ID, upTo)
	if err == nil && m == nil {
		err = NoMessage()
	}
	if err != nil {
		return err
	}
	key := table.Key{Partition: user, Row: r.ID}
	return x.Change(ctx, x.UserChats, func(ctx context.Context) ([]table.Op, error) {
		row, err := x.GetRow(ctx, x.UserChats, key)
		if err != nil {
			return nil, err
		}
		now := EventListed(user, r.EventID, x.Now())
		op := table.Op{Kind: table.Insert, Row: now}
		if row != nil {
			if was := row.Props.Get("ReadUpTo").Str(); was != "" && was <= upTo {
				return nil, nil
			}
			op = table.Op{Kind: table.Merge, Row: table.Row{Key: key, ETag: row.ETag, Props: now.Props}}
		}
		op.Row.Props[len(op.Row.Props)-1].Value = table.String(upTo)
		return []table.Op{op}, nil
	})
}

// KeysFor is how long a key of a request counts.
const KeysFor = 48 * time.Hour

// Sweep deletes keys of requests that count no more, among the rows from a place on. It returns the
// place where the next sweep begins, "" at the end.
func (x Rooms) Sweep(ctx context.Context, place string, limit int) (string, error) {
	page, err := x.DB.List(ctx, x.Messages, table.Range{From: keyRows, To: endOfKeys}, limit, place)
	if err != nil {
		return "", rowstore.Unavailable(err)
	}
	return page.Next, rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		if x.Now().Sub(page.Rows[i].Props.Get("CreatedAt").Time()) < KeysFor {
			return nil
		}
		return x.RemoveKey(ctx, x.Messages, page.Rows[i].Key)
	})
}
