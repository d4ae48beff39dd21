package forum

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// topicChange is the text of a message: the list must follow a topic.
type topicChange struct {
	Kind  string      `json:"kind"` // topic
	ID    string      `json:"id"`
	Stale []table.Key `json:"stale,omitempty"` // rows that an earlier version had
	Until time.Time   `json:"until"`           // from then on no write of the change can land
}

const kindTopic = "topic"

// Settlers finish what follows from changes of topics.
func (s *Service) Settlers() []meet.Settler {
	return []meet.Settler{{Kind: kindTopic, Settle: func(ctx context.Context, in function.Invocation) error {
		var c topicChange
		if err := json.Unmarshal([]byte(in.Text), &c); err != nil {
			return fmt.Errorf("read message: %w", err)
		}
		t, err := s.stored(ctx, c.ID)
		if err == nil && t != nil {
			err = s.follow(ctx, *t, c.Stale)
		}
		if err != nil {
			return err
		}
		return s.members.WakeLater(ctx, c, c.Until)
	}}}
}

// A View is a topic with what the reader sees of its author, nil for one who may not be seen.
type View struct {
	Topic
	Author *meet.Author
}

// A Page is a part of the topics of a section.
type Page struct {
	Section Section
	Topics  []View
	Next    string
}

// Topics returns the topics of a section: pinned ones first, then those with the last activity.
func (s *Service) Topics(ctx context.Context, c meet.Claim, section, after string, limit int) (Page, error) {
	var x *Section
	var rows []table.Row
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		x, err = s.section(ctx, section)
		return err
	}, func(ctx context.Context) (err error) {
		if isSection(section) {
			rows, _, err = s.Budget().Rows(ctx, s.tables.ForumTopics, table.Range{Partition: "SECTION_" + section, After: after}, limit+1)
		}
		return err
	})
	if err == nil && x == nil {
		err = noSection()
	}
	if err != nil {
		return Page{}, err
	}
	p := Page{Section: *x, Topics: []View{}}
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = rows[limit-1].Key.Row
	}
	all, ids := make([]*Topic, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.Props.Get("AuthorId").Str()
	}
	var authors map[string]meet.Author
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		authors, err = s.members.Authors(ctx, caller, ids)
		return err
	}, func(ctx context.Context) error {
		return rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
			all[i], err = s.topic(ctx, strings.Split(rows[i].Key.Row, "_")[2])
			return err
		})
	})
	if err != nil {
		return Page{}, err
	}
	for i, t := range all {
		if t == nil || !t.holds(rows[i].Key) {
			ctx := context.WithoutCancel(ctx)
			s.Background(func() { _ = s.RemoveKey(ctx, s.tables.ForumTopics, rows[i].Key) }) // the next reader tries again
			continue
		}
		p.Topics = append(p.Topics, View{*t, authorOf(authors, t.AuthorID)})
	}
	return p, nil
}

func authorOf(all map[string]meet.Author, id string) *meet.Author {
	if a, ok := all[id]; ok {
		return &a
	}
	return nil
}

// signed returns a topic with its author as a reader sees them.
func (s *Service) signed(ctx context.Context, reader meet.User, t Topic) (View, error) {
	authors, err := s.members.Authors(ctx, reader, []string{t.AuthorID})
	return View{t, authorOf(authors, t.AuthorID)}, err
}

// open reads the caller and a topic that the caller may see.
func (s *Service) open(ctx context.Context, c meet.Claim, id string, reads ...func(context.Context) error) (caller meet.User, t *Topic, err error) {
	caller, err = s.members.Admit(ctx, c, append(reads, func(ctx context.Context) (err error) {
		t, err = s.topic(ctx, id)
		return err
	})...)
	if err == nil && t == nil {
		err = noTopic()
	}
	return caller, t, err
}

// Topic returns a topic.
func (s *Service) Topic(ctx context.Context, c meet.Claim, id string) (View, error) {
	caller, t, err := s.open(ctx, c, id)
	if err != nil {
		return View{}, err
	}
	return s.signed(ctx, caller, *t)
}

// NewTopic begins a topic in a section.
func (s *Service) NewTopic(ctx context.Context, c meet.Claim, section, title, content string) (View, error) {
	var x *Section
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		x, err = s.section(ctx, section)
		return err
	})
	if err != nil {
		return View{}, err
	}
	now := s.Now().UTC()
	t := Topic{ID: s.members.NewID(), SectionID: section, AuthorID: caller.ID, CreatedAt: now, UpdatedAt: now, LastActivity: activity(now)}
	if err := t.write(title, content); err != nil {
		return View{}, err
	}
	if x == nil {
		return View{}, noSection()
	}
	t, err = s.commit(ctx, nil, t.ID, func(was *Topic) (Topic, error) {
		if was != nil {
			return *was, nil // it landed, and its answer was lost
		}
		return t, nil
	}, nil)
	if err != nil {
		return View{}, err
	}
	return View{t, &meet.Author{ID: caller.ID, Name: caller.Name, ImageURL: caller.ProfileImageURL}}, nil
}

// write checks the text of a topic.
func (t *Topic) write(title, content string) error {
	var b rules.Broken
	t.Title = b.Text("title", title, 5, 100, TopicTitle, false)
	t.Content = b.Text("content", content, 10, 5000, TopicContent, true)
	return b.Err()
}

// An Edit of a topic changes what is not nil.
type Edit struct {
	Title, Content *string
	Pinned, Locked *bool
}

// Edit changes a topic: its author the text, staff whether it is pinned or locked.
func (s *Service) Edit(ctx context.Context, c meet.Claim, id string, e Edit) (View, error) {
	caller, t, err := s.open(ctx, c, id)
	if err != nil {
		return View{}, err
	}
	next, err := s.commit(ctx, t, id, func(was *Topic) (Topic, error) {
		switch {
		case was == nil || was.deleted:
			return Topic{}, noTopic()
		case (e.Pinned != nil || e.Locked != nil) && !caller.Role.Staff():
			return Topic{}, roleRequired("only moderators pin and lock topics")
		case (e.Title != nil || e.Content != nil) && was.AuthorID != caller.ID:
			return Topic{}, notYours()
		case was.Locked && !caller.Role.Staff():
			return Topic{}, locked()
		}
		t := *was
		title, content := t.Title, t.Content
		for _, set := range []struct{ to, from *string }{{&title, e.Title}, {&content, e.Content}} {
			if set.from != nil {
				*set.to = *set.from
			}
		}
		for _, set := range []struct{ to, from *bool }{{&t.Pinned, e.Pinned}, {&t.Locked, e.Locked}} {
			if set.from != nil {
				*set.to = *set.from
			}
		}
		t.UpdatedAt = s.Now().UTC()
		return t, t.write(title, content)
	}, nil)
	if err != nil {
		return View{}, err
	}
	return s.signed(ctx, caller, next)
}

// Delete deletes a topic with its replies: its author may, and staff.
func (s *Service) Delete(ctx context.Context, c meet.Claim, id string) error {
	caller, t, err := s.open(ctx, c, id)
	if err != nil {
		return err
	}
	_, err = s.commit(ctx, t, id, func(was *Topic) (Topic, error) {
		switch {
		case was == nil:
			return Topic{}, noTopic()
		case was.AuthorID != caller.ID && !caller.Role.Staff():
			return Topic{}, notYours()
		}
		t := *was
		t.deleted = true
		return t, nil
	}, nil)
	return err
}

// commit writes the topic that next makes of the one that there is, of which was is an earlier
// read, together with the rows that with returns; then the list follows. next is called again if
// another writer came first.
func (s *Service) commit(ctx context.Context, was *Topic, id string, next func(*Topic) (Topic, error), with func(Topic) []table.Op) (Topic, error) {
	var wake queue.Receipt
	var stale []table.Key
	contest := s.members.Contest()
	for {
		t, err := next(was)
		if err != nil {
			s.members.Cancel(ctx, wake)
			return Topic{}, err
		}
		kind, moved := table.Insert, true
		if was != nil {
			kind = table.Replace
			if moved = len(was.list()) != len(t.list()) || !t.deleted && !t.holds(was.list()[0]); moved {
				t.moves++
				stale = append(stale, was.list()...)
			}
		}
		if moved && wake.ID == "" {
			if wake, err = s.members.Wake(ctx, topicChange{kindTopic, id, stale, s.members.Landed()}); err != nil {
				return Topic{}, err
			}
		}
		ops := []table.Op{{Kind: kind, Row: t.row()}}
		if with != nil {
			ops = append(ops, with(t)...)
		}
		err = s.Write(ctx, s.tables.ForumReplies, ops)
		if err == nil {
			if wake.ID == "" {
				return t, nil
			}
			if err := s.follow(ctx, t, stale); err != nil {
				return Topic{}, err
			}
			s.members.Cancel(ctx, wake)
			return t, nil
		}
		if err := contest.Again(ctx, err); err != nil {
			return Topic{}, err
		}
		if was, err = s.stored(ctx, id); err != nil {
			return Topic{}, err
		}
	}
}

// follow writes the list rows of a topic, and removes those of earlier places.
func (s *Service) follow(ctx context.Context, t Topic, stale []table.Key) error {
	var writes []func(context.Context) error
	for _, key := range t.list() {
		row := table.Row{Key: key, Props: table.Props{{Name: "AuthorId", Value: table.String(t.AuthorID)}}}
		writes = append(writes, func(ctx context.Context) error { return s.members.Put(ctx, s.tables.ForumTopics, row) })
	}
	for _, key := range stale {
		if !t.holds(key) {
			writes = append(writes, func(ctx context.Context) error { return s.RemoveKey(ctx, s.tables.ForumTopics, key) })
		}
	}
	return rowstore.Each(ctx, len(writes), rowstore.MaxParallel, func(ctx context.Context, i int) error { return writes[i](ctx) })
}
