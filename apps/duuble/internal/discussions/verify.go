package discussions

import (
	"context"
	"fmt"
	"strings"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Repair writes the rows by which messages are found from their authors. After a restore some may
// be missing, because a backup reads one table after the other.
func (s *Service) Repair(ctx context.Context) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, allMessages) {
		if err == nil && isMessage(row) {
			m := parseMessage(row)
			if err = s.dropMissing(ctx, m); err == nil && m.AuthorID != "" {
				err = s.Upsert(ctx, s.Tables.Users, table.Row{Key: m.byAuthor()})
			}
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// dropMissing takes a picture that is not there off a message.
func (s *Service) dropMissing(ctx context.Context, m *Message) error {
	missing, err := s.People.Assets.IsMissing(ctx, m.target().Name(), m.Picture)
	if !missing {
		return err
	}
	m.Picture = ""
	_, err = s.DB.Write(ctx, s.Tables.Hubs, rowstore.Put(m.toRow()))
	return err
}

// allMessages is the range of the rows of all discussions.
var allMessages = table.Range{FromPartition: "d|", ToPartition: table.After("d|")}

func isMessage(row table.Row) bool {
	return strings.HasPrefix(row.Row, rootRows) || strings.HasPrefix(row.Row, replyRows)
}

// VerifyRows compares discussions, messages and what people have saved with the rows that follow
// from them, and reports each difference. It is silent only in a quiet system.
func (s *Service) VerifyRows(ctx context.Context, report func(string)) error {
	threads := map[string]*thread{} // by their partitions
	want, got := map[table.Key]bool{}, map[table.Key]bool{}
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs,
		table.Range{FromPartition: schema.Hub(""), ToPartition: table.After(schema.Hub(""))}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		switch kind, _, _ := strings.Cut(row.Row, "|"); kind + "|" {
		case threadRows:
			t := parseThread(row)
			threads[schema.Discussion(t.hub, t.id)] = t
			want[t.lockRow().Key], want[t.listRow().Key] = true, true
		case ofPosts, inOrder:
			got[row.Key] = true
		}
	}
	compare(want, got, report)
	var one *audit
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, allMessages) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if one == nil || one.partition != row.Partition {
			one.check(report)
			one = &audit{
				partition: row.Partition, thread: threads[row.Partition], want: map[table.Key]bool{},
				got: map[table.Key]bool{}, replies: map[string]int64{},
			}
		}
		one.add(row)
		if !isMessage(row) {
			continue
		}
		m := parseMessage(row)
		if err := s.People.Assets.VerifyThing(ctx, m.target().Name(), m.Picture, report); err != nil {
			return err
		}
		if m.AuthorID != "" {
			there, err := s.GetRow(ctx, s.Tables.Users, m.byAuthor())
			if err != nil {
				return err
			}
			if there == nil {
				report(one.name() + "the author of a message has no row for it")
			}
		}
	}
	one.check(report)
	return s.verifySaved(ctx, report)
}

func compare(want, got map[table.Key]bool, report func(string)) {
	for key := range want {
		if !got[key] {
			report(fmt.Sprintf("%s: a row %s is missing", key.Partition, key.Row))
		}
	}
	for key := range got {
		if !want[key] {
			report(fmt.Sprintf("%s: a row %s is of nothing", key.Partition, key.Row))
		}
	}
}

// An audit is what follows from the messages of a discussion, and the rows that are there.
type audit struct {
	partition string
	thread    *thread
	counted   tally
	said      int64
	want, got map[table.Key]bool
	replies   map[string]int64 // as counted, less those that are there
}

func (a *audit) name() string { return "discussion " + a.partition + ": " }

func (a *audit) add(row table.Row) {
	switch {
	case row.Row == countRow:
		a.counted = parseTally(row)
	case strings.HasPrefix(row.Row, places):
		a.got[row.Key] = true
		want := row.Key
		want.Row = row.Props.Get("row").Str()
		a.want[want] = true
	case isMessage(row):
		m := parseMessage(row)
		a.said++
		a.got[row.Key], a.want[m.placeRow().Key] = true, true
		a.replies[m.ID] += m.Replies
		if m.Parent != "" {
			a.replies[m.Parent]--
		}
	}
}

func (a *audit) check(report func(string)) {
	if a == nil {
		return
	}
	compare(a.want, a.got, report)
	if a.thread == nil {
		report(a.name() + "it has rows and does not exist")
		return
	}
	if a.counted.messages != a.said {
		report(fmt.Sprintf("%s%d messages are counted, and there are %d", a.name(), a.counted.messages, a.said))
	}
	if a.counted.lastAt.Sub(a.thread.listedAt) > moveAfter {
		report(a.name() + "it is not where its last message puts it")
	}
	for id, n := range a.replies {
		if n != 0 {
			report(fmt.Sprintf("%sreplies to message %s are counted wrong by %d", a.name(), id, n))
		}
	}
}

// verifySaved compares what people have saved with its order.
func (s *Service) verifySaved(ctx context.Context, report func(string)) error {
	want, got := map[table.Key]bool{}, map[table.Key]bool{}
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{}) {
		if err != nil {
			return rowstore.Unavailable(err)
		}
		if name, is := strings.CutPrefix(row.Row, savedRows); is {
			hub, id, _ := strings.Cut(name, "|")
			user := strings.TrimPrefix(row.Partition, schema.User(""))
			want[savedInOrder(user, hub, id, row.Props.Get("saved_at").Time()).Key] = true
		}
		if strings.HasPrefix(row.Row, savedByTime) {
			got[row.Key] = true
		}
	}
	compare(want, got, report)
	return nil
}
