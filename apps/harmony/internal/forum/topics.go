package forum

import (
	"context"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const kindTopic = "topic"

// Settlers finish what follows from changes of topics.
func (s *Service) Settlers() []meet.Settler {
	return []meet.Settler{s.members.Follower(kindTopic, func(ctx context.Context, id string, stale []table.Key) error {
		t, err := s.stored(ctx, id)
		if err != nil || t == nil {
			return err
		}
		return s.follow(ctx, *t, stale)
	})}
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
func (s *Service) commit(ctx context.Context, was *Topic, id string, next func(*Topic) (Topic, error), with func(Topic) []table.Op) (t Topic, err error) {
	var stale []table.Key
	err = s.members.Commit(ctx, s.tables.ForumReplies, kindTopic, id, func() (ops []table.Op, moved bool, _ []table.Key, err error) {
		if t, err = next(was); err != nil {
			return nil, false, nil, err
		}
		if moved = was == nil || len(was.list()) != len(t.list()) || !t.deleted && !t.holds(was.list()[0]); moved && was != nil {
			t.moves++
			stale = append(stale, was.list()...)
		}
		ops = []table.Op{rowstore.Put(t.row())}
		if with != nil {
			ops = append(ops, with(t)...)
		}
		return ops, moved, stale, nil
	}, func(ctx context.Context) (err error) {
		was, err = s.stored(ctx, id)
		return err
	}, func(ctx context.Context) error { return s.follow(ctx, t, stale) })
	if err != nil {
		return Topic{}, err
	}
	return t, nil
}

// follow writes the list rows of a topic, and removes those of earlier places.
func (s *Service) follow(ctx context.Context, t Topic, stale []table.Key) error {
	var rows []table.Row
	for _, key := range t.list() {
		rows = append(rows, table.Row{Key: key, Props: table.Props{{Name: "AuthorId", Value: table.String(t.AuthorID)}}})
	}
	return s.members.FollowLists(ctx, s.tables.ForumTopics, rows, stale)
}
