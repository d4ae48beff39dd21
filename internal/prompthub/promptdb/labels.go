package promptdb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A labelsRow is the truth of the labels of a prompt and of the numbers whose versions were
// deleted. A writer of name rows writes it under its ETag, so that their copies agree with it. It
// also holds what a label needs to be moved without a read of the truth row.
type labelsRow struct {
	labels     map[string]int64
	gaps       gaps
	name, slug string
	last       int64
	deleted    bool      // the prompt, whose names others may take
	movedAt    time.Time // when its labels moved last; zero where none did since this is kept
	bytes      int64     // that its versions take
	moves      int64     // of its labels
	etag       string
}

// labelsRow reads the labels row of a prompt; a missing one is nil.
func (db *DB) labelsRow(ctx context.Context, author prompt.UserID, id prompt.ID) (*labelsRow, error) {
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	row, err := db.get(ctx, db.t.Prompts, labelsKey(author, id))
	if err != nil || row == nil {
		return nil, err
	}
	c, err := parseLabelsRow(*row)
	return &c, err
}

func parseLabelsRow(row table.Row) (labelsRow, error) {
	p := row.Props
	c := labelsRow{
		labels: map[string]int64{},
		name:   p.Get("Name").Str(), slug: p.Get("Slug").Str(), last: p.Get("LastVersion").Int(), deleted: p.Get("IsDeleted").Bool(),
		bytes: p.Get("Bytes").Int(), moves: p.Get("Moves").Int(), etag: row.ETag,
	}
	if at := p.Get("MovedAt"); at.Type() == table.TypeTime {
		c.movedAt = at.Time()
	}
	if text := p.Get("Labels").Str(); text != "" {
		if err := json.Unmarshal([]byte(text), &c.labels); err != nil {
			return c, fmt.Errorf("property Labels of %s: %w", row.Key, err)
		}
	}
	var err error
	if c.gaps, err = parseGaps(p.Get("Gaps").Str()); err != nil {
		return c, fmt.Errorf("property Gaps of %s: %w", row.Key, err)
	}
	return c, nil
}

// of returns the row with what the prompt says of itself.
func (c labelsRow) of(p prompt.Prompt) labelsRow {
	c.name, c.slug, c.last, c.deleted = p.Name, p.Slug, p.Last, p.Deleted()
	return c
}

// follows reports whether the row says of the prompt what the prompt does.
func (c labelsRow) follows(p prompt.Prompt) bool {
	return c.name == p.Name && c.slug == p.Slug && c.last == p.Last && c.deleted == p.Deleted()
}

// has reports whether there is a version of a number.
func (c labelsRow) has(n int64) bool { return n >= 1 && n <= c.last && !c.gaps.have(n) }

// with returns the row with a label on a version, or without the label for 0.
func (c labelsRow) with(label string, to int64) labelsRow {
	c.labels = maps.Clone(c.labels)
	if c.labels == nil {
		c.labels = map[string]int64{}
	}
	if c.labels[label] = to; to == 0 {
		delete(c.labels, label)
	}
	return c
}

// on returns the labels of a version, in order.
func (c labelsRow) on(n int64) []string {
	var list []string
	for _, label := range slices.Sorted(maps.Keys(c.labels)) {
		if c.labels[label] == n {
			list = append(list, label)
		}
	}
	return list
}

// labelsText is what rows hold of the labels.
func (c labelsRow) labelsText() string {
	if len(c.labels) == 0 {
		return ""
	}
	b, _ := json.Marshal(c.labels) // in order; texts and numbers cannot fail
	return string(b)
}

func (c labelsRow) row(author prompt.UserID, id prompt.ID) table.Row {
	row := table.Row{Key: labelsKey(author, id), ETag: c.etag, Props: table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Labels", Value: table.String(c.labelsText())},
		{Name: "Gaps", Value: table.String(c.gaps.String())},
		{Name: "Name", Value: table.String(c.name)},
		{Name: "Slug", Value: table.String(c.slug)},
		{Name: "LastVersion", Value: table.Int64(c.last)},
		{Name: "IsDeleted", Value: table.Bool(c.deleted)},
		{Name: "Bytes", Value: table.Int64(c.bytes)},
		{Name: "Moves", Value: table.Int64(c.moves)},
	}}
	if !c.movedAt.IsZero() {
		row.Props = append(row.Props, table.Prop{Name: "MovedAt", Value: table.Time(c.movedAt)})
	}
	return row
}

// op returns the write of the labels row: under its ETag, or for the first time.
func (c labelsRow) op(author prompt.UserID, id prompt.ID) table.Op {
	if c.etag == "" {
		return table.Op{Kind: table.Insert, Row: c.row(author, id)}
	}
	return table.Op{Kind: table.Replace, Row: c.row(author, id)}
}

// gaps are the numbers of deleted versions, in order.
type gaps []int64

// maxGaps is how long their text may be: it has to fit into one property.
const maxGaps = 30_000

func (g gaps) have(n int64) bool {
	_, found := slices.BinarySearch(g, n)
	return found
}

// and returns the gaps with one more.
func (g gaps) and(n int64) gaps {
	i, _ := slices.BinarySearch(g, n)
	return slices.Insert(slices.Clone(g), i, n)
}

// String writes runs of numbers as 2-5.
func (g gaps) String() string {
	var b strings.Builder
	for i := 0; i < len(g); i++ {
		first := i
		for i+1 < len(g) && g[i+1] == g[i]+1 {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(g[first], 10))
		if i > first {
			b.WriteString("-" + strconv.FormatInt(g[i], 10))
		}
	}
	return b.String()
}

func parseGaps(s string) (gaps, error) {
	var g gaps
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, run := strings.Cut(part, "-")
		if !run {
			to = from
		}
		first, err := strconv.ParseInt(from, 10, 64)
		last, err2 := strconv.ParseInt(to, 10, 64)
		if err := errors.Join(err, err2); err != nil || first < 1 || last < first || last > maxVersion || len(g) > 0 && first <= g[len(g)-1] {
			return nil, fmt.Errorf("%q is no list of numbers: %w", part, err)
		}
		for n := first; n <= last; n++ {
			g = append(g, n)
		}
	}
	return g, nil
}

// moveRow returns the row that tells what became of a label.
func moveRow(author prompt.UserID, id prompt.ID, m prompt.Move) table.Row {
	row := table.Row{Key: moveKey(author, id, m.At, m.Label), Props: table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Label", Value: table.String(m.Label)},
		{Name: "From", Value: table.Int64(m.From)},
		{Name: "To", Value: table.Int64(m.To)},
		{Name: "MovedBy", Value: table.String(string(m.By))},
		{Name: "MovedAt", Value: table.Time(m.At)},
	}}
	if !m.Undone.At.IsZero() {
		row.Props = append(row.Props, undoneProps(m.Undone)...)
	}
	return row
}

func undoneProps(c prompt.Change) table.Props {
	return table.Props{{Name: "UndoneBy", Value: table.String(string(c.By))}, {Name: "UndoneAt", Value: table.Time(c.At)}}
}

func parseMoveRow(row table.Row) prompt.Move {
	p := row.Props
	return prompt.Move{
		Label: p.Get("Label").Str(), From: p.Get("From").Int(), To: p.Get("To").Int(),
		Change: prompt.Change{By: userIn(p, "MovedBy"), At: p.Get("MovedAt").Time()},
		Undone: prompt.Change{By: userIn(p, "UndoneBy"), At: p.Get("UndoneAt").Time()},
	}
}

// tick is the smallest step of the times that keys hold.
const tick = 100 * time.Nanosecond

// moveOps returns the row with labels on a version, and the rows that tell of it. Each move is
// later than those before it, whatever clocks say: its time is its key, and tells their order.
func (w *writer) moveOps(c labelsRow, labels []string, to int64, by prompt.UserID) (labelsRow, []table.Op) {
	at := w.db.now().UTC()
	if next := c.movedAt.Add(tick); at.Before(next) {
		at = next
	}
	var ops []table.Op
	for _, label := range labels {
		if from := c.labels[label]; from != to {
			c = c.with(label, to)
			c.movedAt = at
			c.moves++
			ops = append(ops, table.Op{Kind: table.Insert, Row: moveRow(w.author, w.id, prompt.Move{
				Label: label, From: from, To: to, Change: prompt.Change{By: by, At: at},
			})})
		}
	}
	return c, ops
}

// tooMany reports that a prompt would have more labels than it can.
func (c labelsRow) tooMany() error {
	if len(c.labels) <= prompt.MaxLabels {
		return nil
	}
	return fault.New(fault.Invalid, fmt.Sprintf("a prompt can have %d labels; remove one first", prompt.MaxLabels))
}

// SetLabels puts labels of an author's prompt on a version, or removes them for 0, and returns the
// labels then. None is removed by which another prompt includes this one. The truth row is read and
// not written: what lists tell programs of the version with the label production follows by a
// message. May is asked before anything is changed.
func (db *DB) SetLabels(ctx context.Context, author prompt.UserID, id prompt.ID, list []string, to int64, by prompt.UserID, may func(prompt.Prompt) error) (map[string]int64, error) {
	tried := false
	return db.relabel(ctx, author, id, list, may, func(w *writer, p prompt.Prompt, c labelsRow) (labelsRow, []table.Op, error) {
		if to != 0 && !c.has(to) {
			return c, nil, errNoVersion()
		}
		has := func(label string) bool { return c.labels[label] != 0 }
		if to == 0 && !slices.ContainsFunc(list, has) && !tried {
			return c, nil, errNoLabel()
		}
		if to == 0 && slices.ContainsFunc(list, has) {
			if err := db.unlabelled(ctx, p, list); err != nil {
				return c, nil, err
			}
		}
		tried = true
		now, ops := w.moveOps(c, list, to, by)
		if err := w.grows(c, now, false); err != nil && to != 0 {
			return c, nil, err
		}
		return now, ops, now.tooMany()
	})
}

func errNoVersion() error { return fault.New(fault.NotFound, "the prompt has no such version") }

func errNoLabel() error { return fault.New(fault.NotFound, "the prompt has no such label") }

// A labelMove returns what becomes of the labels row of a prompt, and what is written next to it:
// nothing where it is as it should be. It may be called several times.
type labelMove func(*writer, prompt.Prompt, labelsRow) (labelsRow, []table.Op, error)

// relabel changes some labels of an author's prompt, and returns all that it has then.
func (db *DB) relabel(ctx context.Context, author prompt.UserID, id prompt.ID, list []string, may func(prompt.Prompt) error, move labelMove) (map[string]int64, error) {
	w := db.writer(author, id)
	labels, wrote, err := w.relabel(ctx, slices.Contains(list, prompt.Production), may, move)
	if wrote {
		w.runNow()
	} else {
		w.cancelRepair()
	}
	return labels, err
}

// relabel writes labels row, copies and history in one batch, and reports whether it did. Lists
// follow by a message where they are to.
func (w *writer) relabel(ctx context.Context, listed bool, may func(prompt.Prompt) error, move labelMove) (labels map[string]int64, wrote bool, err error) {
	look := w.both
	if listed {
		look = w.load // with the repair message
	}
	wait := w.db.patience()
	for range maxTries {
		rec, err := look(ctx)
		switch {
		case err != nil:
			return nil, false, err
		case rec == nil || rec.purging || rec.Deleted():
			return nil, false, prompt.ErrUnknown()
		}
		if err := may(rec.Prompt); err != nil {
			return nil, false, err
		}
		if w.labels == nil { // until anti-entropy has made it again
			if err := wait(ctx, time.Time{}); err != nil {
				return nil, false, err
			}
			continue
		}
		if w.labels.deleted {
			return nil, false, prompt.ErrUnknown()
		}
		c, ops, err := move(w, rec.Prompt, *w.labels)
		if err != nil || len(ops) == 0 {
			return c.labels, false, err
		}
		err = w.writeLabels(ctx, listed, append(ops, w.labelOps(c)...))
		switch {
		case err == nil:
			w.db.usages.add(w.author, w.more)
			return c.labels, true, nil
		case !settled(err):
			w.unknown++
			w.lost = err
		case !overtaken(err):
			return nil, false, unavailable(err)
		}
		// Overtaken, or of unknown outcome: then the next look finds the label moved, or moves it
		// under a newer ETag.
		if err := w.again(ctx, wait); err != nil {
			return nil, false, err
		}
	}
	return nil, false, busy(time.Second)
}

func (w *writer) writeLabels(ctx context.Context, listed bool, ops []table.Op) error {
	if !listed || w.db.transact == nil {
		return w.db.write(ctx, w.db.t.Prompts, ops)
	}
	_, err := w.db.together(ctx, transact.Transaction{Table: w.db.t.Prompts, Ops: ops, Messages: w.follows()})
	return err
}

// labelOps returns the writes of a labels row and of the copies of the labels.
func (w *writer) labelOps(c labelsRow) []table.Op {
	ops := []table.Op{c.op(w.author, w.id)}
	for _, name := range slices.Compact([]string{c.name, c.slug}) {
		ops = append(ops, table.Op{Kind: table.Merge, Row: table.Row{Key: nameKey(w.author, name), ETag: table.Any, Props: table.Props{
			{Name: "Labels", Value: table.String(c.labelsText())},
		}}})
	}
	return ops
}

// both reads the truth row and the labels row, and counts what the author takes, at once.
func (w *writer) both(ctx context.Context) (rec *record, err error) {
	var g errgroup.Group
	g.Go(func() (err error) {
		w.labels, err = w.db.labelsRow(ctx, w.author, w.id)
		return err
	})
	g.Go(func() error { return w.count(ctx) })
	rec, err = w.db.record(ctx, w.author, w.id)
	return rec, cmp.Or(err, g.Wait())
}

// UndoLabel takes back the last move of a label that was not undone yet, and returns the labels
// then.
func (db *DB) UndoLabel(ctx context.Context, author prompt.UserID, id prompt.ID, label string, by prompt.UserID, may func(prompt.Prompt) error) (map[string]int64, error) {
	var tried *table.Row // the move that an attempt of unknown outcome should undo
	return db.relabel(ctx, author, id, []string{label}, may, func(_ *writer, p prompt.Prompt, c labelsRow) (labelsRow, []table.Op, error) {
		if tried != nil {
			row, err := db.get(ctx, db.t.Prompts, tried.Key)
			if err != nil || row != nil && row.Props.Get("UndoneAt") == tried.Props.Get("UndoneAt") {
				return c, nil, err
			}
		}
		row, err := db.lastMove(ctx, author, id, label)
		if err != nil {
			return c, nil, err
		}
		if row == nil {
			return c, nil, fault.New(fault.Conflict, "there is nothing left to undo")
		}
		m := parseMoveRow(*row)
		if m.From != 0 && !c.has(m.From) {
			return c, nil, fault.New(fault.Conflict, fmt.Sprintf("the label was on version %d, which was deleted", m.From))
		}
		if m.From == 0 {
			if err := db.unlabelled(ctx, p, []string{label}); err != nil {
				return c, nil, err
			}
		}
		c = c.with(label, m.From)
		tried = &table.Row{Key: row.Key, ETag: row.ETag, Props: undoneProps(prompt.Change{By: by, At: db.now().UTC()})}
		return c, []table.Op{{Kind: table.Merge, Row: *tried}}, c.tooMany()
	})
}

// lastMove returns the last move of a label that was not undone.
func (db *DB) lastMove(ctx context.Context, author prompt.UserID, id prompt.ID, label string) (*table.Row, error) {
	s := db.budget()
	r := table.Prefix(promptKey(author, id).Partition, movesOf(id))
	for {
		rows, more, err := s.rows(ctx, db.t.Prompts, r, s.size(100))
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			if m := parseMoveRow(row); m.Label == label && m.Undone.At.IsZero() {
				return &rows[i], nil
			}
			r.From, r.After = "", row.Row
		}
		if !more || s.spent() {
			return nil, nil
		}
	}
}

// A History is a part of what became of labels. After is the position of its end, "" at the end of
// it.
type History struct {
	Moves []prompt.Move
	After string
}

// LabelHistory returns what became of a label, the last move first, as far as the viewer may see
// the versions.
func (db *DB) LabelHistory(ctx context.Context, viewer prompt.UserID, id prompt.ID, label, after string, limit int) (History, error) {
	rec, err := db.shown(ctx, viewer, id, nil, nil)
	if err != nil {
		return History{}, err
	}
	s := db.budget()
	r := table.Prefix(promptKey(rec.AuthorID, id).Partition, movesOf(id))
	if after != "" {
		if got, ok := parseMove(after); !ok || got != id {
			return History{}, badPosition()
		}
		r.From, r.After = "", after
	}
	var h History
	for {
		rows, more, err := s.rows(ctx, db.t.Prompts, r, s.size(4*limit))
		if err != nil {
			return History{}, err
		}
		for _, row := range rows {
			m, ok := shownMove(viewer, rec.Prompt, parseMoveRow(row))
			if m.Label == label && ok {
				if len(h.Moves) == limit {
					h.After = r.After
					return h, nil
				}
				h.Moves = append(h.Moves, m)
			}
			r.From, r.After = "", row.Row
		}
		if !more {
			return h, nil
		}
		if s.spent() {
			h.After = r.After
			return h, nil
		}
	}
}
