package forum

import (
	"context"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const kindTopic = "topic"

// Settlers finish what follows from changes of topics.
func (s *Service) Settlers() []meet.Settler {
	return []meet.Settler{s.members.Follower(kindTopic, func(ctx context.Context, id string, stale []table.Key) error {
		t, err := s.readStored(ctx, id)
		if err != nil || t == nil {
			return err
		}
		return s.followTopic(ctx, *t, stale)
	})}
}

// A View is a topic as a reader sees it.
type View struct {
	topic.Topic
	Author  *meet.Author // nil for one who may not be seen
	EventID string       // "" if it is of no event, or of one that the reader does not see
}

// viewOf returns a topic as a reader sees it. The section of an event would name it, so it is empty
// for a reader whom the topic is for and the event is not.
func viewOf(t topic.Topic, author *meet.Author, event events.Standing) View {
	v := View{Topic: t, Author: author}
	if v.EventID = t.EventID(); v.EventID != "" {
		if _, seen := event.Seen(); !seen {
			v.EventID, v.SectionID = "", ""
		}
	}
	return v
}

// A Page is a part of the topics of a section.
type Page struct {
	Section Section
	EventID string // as that of a View
	Topics  []View
	Next    string
}

// Topics returns the topics of a section: pinned ones first, then those with the last activity. Of
// an event it returns those that the caller sees.
func (s *Service) Topics(ctx context.Context, c meet.Claim, section, after string, limit int) (Page, error) {
	if event, ok := strings.CutPrefix(section, topic.EventPrefix); ok {
		return s.topicsOfEvent(ctx, c, event, after, limit)
	}
	var x *Section
	var rows []table.Row
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		x, err = s.readSection(ctx, section)
		return err
	}, func(ctx context.Context) (err error) {
		if isSection(section) {
			rows, _, err = s.Budget().Rows(ctx, s.tables.ForumTopics,
				table.Range{Partition: topic.List(section), After: after}, limit+1)
		}
		return err
	})
	if err == nil && x == nil {
		err = noSection()
	}
	if err != nil {
		return Page{}, err
	}
	p := Page{Section: *x}
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = rows[limit-1].Key.Row
	}
	p.Topics, err = s.viewTopics(ctx, caller, rows, events.Standing{})
	return p, err
}

// topicsOfEvent returns the topics of an event that the caller sees. The answer is the same whether
// there is no such event or none of its topics is for the caller.
func (s *Service) topicsOfEvent(ctx context.Context, c meet.Claim, event, after string, limit int) (Page, error) {
	var rows []table.Row
	st, err := s.events.Stand(ctx, c, event, func(ctx context.Context) (err error) {
		rows, err = s.events.ListedTopics(ctx, event, after)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	p := Page{Section: Section{ID: topic.Section(event)}}
	all, err := s.viewTopics(ctx, st.Caller, rows, st)
	if err != nil {
		return Page{}, err
	}
	for _, v := range all {
		if !st.SeesTopic(v.Topic) {
			continue
		}
		if len(p.Topics) == limit {
			p.Next = p.Topics[limit-1].Lists()[0].Key.Row
			break
		}
		p.Topics = append(p.Topics, v)
	}
	if len(p.Topics) == 0 && after == "" {
		return Page{}, noSection()
	}
	if title, seen := st.Seen(); seen {
		p.Section.Name, p.EventID = title, event
	}
	return p, nil
}

// viewTopics returns the topics of rows of a list, with their authors as a reader sees them.
func (s *Service) viewTopics(ctx context.Context, reader meet.User, rows []table.Row,
	event events.Standing,
) ([]View, error) {
	all, ids := make([]*topic.Topic, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.Props.Get("AuthorId").Str()
	}
	var authors map[string]meet.Author
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		authors, err = s.members.Authors(ctx, reader, ids)
		return err
	}, func(ctx context.Context) error {
		return rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
			all[i], err = s.readTopic(ctx, topic.Listed(rows[i].Key))
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	seen := []View{}
	for i, t := range all {
		if t == nil || !t.Holds(rows[i].Key) {
			ctx := context.WithoutCancel(ctx)
			// the next reader tries again
			s.Background(func() { _ = s.RemoveKey(ctx, s.tables.ForumTopics, rows[i].Key) })
			continue
		}
		seen = append(seen, viewOf(*t, authorOf(authors, t.AuthorID), event))
	}
	return seen, nil
}

func authorOf(all map[string]meet.Author, id string) *meet.Author {
	if a, ok := all[id]; ok {
		return &a
	}
	return nil
}

// admitReader reads how a reader stands to the event of a topic, if it has one. The error is that
// of a topic that is not there if it is not for the reader.
func (s *Service) admitReader(ctx context.Context, reader meet.User, t topic.Topic) (st events.Standing, err error) {
	event := t.EventID()
	if event == "" {
		return st, nil
	}
	st, err = s.events.StandOf(ctx, reader, event)
	if err == nil && !st.SeesTopic(t) {
		err = noTopic()
	}
	return st, err
}

// showTopic returns what a reader sees of authors of a topic, and how the reader stands to its
// event.
func (s *Service) showTopic(ctx context.Context, reader meet.User, t topic.Topic,
	ids []string,
) (authors map[string]meet.Author, st events.Standing, err error) {
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		authors, err = s.members.Authors(ctx, reader, ids)
		return err
	}, func(ctx context.Context) (err error) {
		st, err = s.admitReader(ctx, reader, t)
		return err
	})
	return authors, st, err
}

// signTopic returns a topic with its author, unless it is not for a reader.
func (s *Service) signTopic(ctx context.Context, reader meet.User, t topic.Topic) (View, error) {
	authors, st, err := s.showTopic(ctx, reader, t, []string{t.AuthorID})
	if err != nil {
		return View{}, err
	}
	return viewOf(t, authorOf(authors, t.AuthorID), st), nil
}

// readFor reads the caller and a topic, which may be of an event and not for the caller.
func (s *Service) readFor(ctx context.Context, c meet.Claim, id string,
	reads ...func(context.Context) error,
) (caller meet.User, t *topic.Topic, err error) {
	caller, err = s.members.Admit(ctx, c, append(reads, func(ctx context.Context) (err error) {
		t, err = s.readTopic(ctx, id)
		return err
	})...)
	if err == nil && t == nil {
		err = noTopic()
	}
	return caller, t, err
}

// openTopic reads the caller and a topic that the caller may see.
func (s *Service) openTopic(ctx context.Context, c meet.Claim, id string,
	reads ...func(context.Context) error,
) (caller meet.User, t *topic.Topic, err error) {
	caller, t, err = s.readFor(ctx, c, id, reads...)
	if err == nil {
		_, err = s.admitReader(ctx, caller, *t)
	}
	return caller, t, err
}

// Topic returns a topic.
func (s *Service) Topic(ctx context.Context, c meet.Claim, id string) (View, error) {
	caller, t, err := s.readFor(ctx, c, id)
	if err != nil {
		return View{}, err
	}
	return s.signTopic(ctx, caller, *t)
}

// NewTopic begins a topic in a section. The same key of the same member, sent again, answers with
// the same topic; an empty one is none.
func (s *Service) NewTopic(ctx context.Context, c meet.Claim, section, title, content, key string) (View, error) {
	var x *Section
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		x, err = s.readSection(ctx, section)
		return err
	})
	if err != nil {
		return View{}, err
	}
	now := s.Now().UTC()
	t := topic.Topic{
		ID: s.members.IDFor(caller.ID, section, key), SectionID: section, AuthorID: caller.ID,
		CreatedAt: now, UpdatedAt: now, LastActivity: topic.Activity(now),
	}
	if err := writeText(&t, &title, &content); err != nil {
		return View{}, err
	}
	if x == nil {
		return View{}, noSection()
	}
	if t, err = s.beginTopic(ctx, t); err != nil {
		return View{}, err
	}
	return View{Topic: t, Author: authorMe(caller)}, nil
}

// beginTopic writes a new topic.
func (s *Service) beginTopic(ctx context.Context, t topic.Topic) (topic.Topic, error) {
	return s.commitTopic(ctx, nil, t.ID, func(was *topic.Topic) (topic.Topic, error) {
		if was != nil {
			if was.UpdatedAt.Equal(was.CreatedAt) && (was.Title != t.Title || was.Content != t.Content) {
				return topic.Topic{}, keyReused()
			}
			return *was, nil // it landed before
		}
		return t, nil
	}, nil)
}

// authorMe returns a caller as the author of what they wrote.
func authorMe(caller meet.User) *meet.Author {
	return &meet.Author{ID: caller.ID, Name: caller.Name, ImageURL: caller.ProfileImageURL}
}

// checkText checks and sets the title and the text of a topic.
func checkText(t *topic.Topic, b *rules.Broken, title, content *string) {
	if title != nil {
		t.Title = b.Text("title", *title, 5, 100, TopicTitle, false)
	}
	if content != nil {
		t.Content = b.Text("content", *content, 10, 5000, TopicContent, true)
	}
}

// writeText sets the title and the text of a topic, unless they are nil.
func writeText(t *topic.Topic, title, content *string) error {
	var b rules.Broken
	checkText(t, &b, title, content)
	return b.Err()
}

// writeFor is write for a topic of an event, with whom it is for.
func writeFor(t *topic.Topic, title, content *string, a Audience) error {
	var b rules.Broken
	checkText(t, &b, title, content)
	a.writeTo(t, &b)
	return b.Err()
}

// An Edit of a topic changes what is not nil.
type Edit struct {
	Title, Content *string
	Pinned, Locked *bool
}

// Edit changes a topic: its author the text, staff whether it is pinned or locked.
func (s *Service) Edit(ctx context.Context, c meet.Claim, id string, e Edit) (View, error) {
	caller, t, err := s.openTopic(ctx, c, id)
	if err != nil {
		return View{}, err
	}
	next, err := s.commitTopic(ctx, t, id, func(was *topic.Topic) (topic.Topic, error) {
		switch {
		case was == nil || was.Deleted:
			return topic.Topic{}, noTopic()
		case (e.Pinned != nil || e.Locked != nil) && !caller.Role.Staff():
			return topic.Topic{}, roleRequired("only moderators pin and lock topics")
		case (e.Title != nil || e.Content != nil) && was.AuthorID != caller.ID:
			return topic.Topic{}, notYours()
		case was.Locked && !caller.Role.Staff():
			return topic.Topic{}, topicLocked()
		}
		t := *was
		for _, set := range []struct{ to, from *bool }{{&t.Pinned, e.Pinned}, {&t.Locked, e.Locked}} {
			if set.from != nil {
				*set.to = *set.from
			}
		}
		t.UpdatedAt = s.Now().UTC()
		return t, writeText(&t, e.Title, e.Content)
	}, nil)
	if err != nil {
		return View{}, err
	}
	return s.signTopic(ctx, caller, next)
}

// Delete deletes a topic with its replies: its author may, and staff.
func (s *Service) Delete(ctx context.Context, c meet.Claim, id string) error {
	caller, t, err := s.openTopic(ctx, c, id)
	if err != nil {
		return err
	}
	_, err = s.commitTopic(ctx, t, id, func(was *topic.Topic) (topic.Topic, error) {
		switch {
		case was == nil:
			return topic.Topic{}, noTopic()
		case was.AuthorID != caller.ID && !caller.Role.Staff():
			return topic.Topic{}, notYours()
		}
		t := *was
		t.Deleted = true
		return t, nil
	}, nil)
	return err
}

// commitTopic writes the topic that next makes of the one that there is, of which was is an earlier
// read, together with the rows that with returns; then the list follows. next is called again if
// another writer came first.
func (s *Service) commitTopic(ctx context.Context, was *topic.Topic, id string,
	next func(*topic.Topic) (topic.Topic, error), with func(topic.Topic) []table.Op,
) (t topic.Topic, err error) {
	var stale []table.Key
	err = s.members.Commit(ctx, s.tables.ForumReplies, kindTopic, id,
		func() (ops []table.Op, moved bool, _ []table.Key, err error) {
			if t, err = next(was); err != nil {
				return nil, false, nil, err
			}
			moved = was == nil || len(was.Lists()) != len(t.Lists()) || !t.Deleted && !t.Holds(was.Lists()[0].Key)
			if moved && was != nil {
				t.Moves++
			}
			if was != nil && (was.Title != t.Title || was.Content != t.Content) {
				t.Texts++
				moved = true
			}
			if moved && was != nil {
				for _, row := range was.Lists() {
					stale = append(stale, row.Key)
				}
			}
			ops = []table.Op{rowstore.Put(t.Row())}
			if with != nil {
				ops = append(ops, with(t)...)
			}
			return ops, moved, stale, nil
		}, func(ctx context.Context) (err error) {
			was, err = s.readStored(ctx, id)
			return err
		}, func(ctx context.Context) error { return s.followTopic(ctx, t, stale) })
	if err != nil {
		return topic.Topic{}, err
	}
	return t, nil
}

// followTopic writes the list rows of a topic, and removes the list rows of earlier places. The row
// of its words is there if an earlier version had it; else the change of the topic writes it.
func (s *Service) followTopic(ctx context.Context, t topic.Topic, stale []table.Key) error {
	stays := func(key table.Key) bool { return key.Partition == topic.SearchList && t.Holds(key) }
	rows := slices.DeleteFunc(t.Lists(), func(row table.Row) bool {
		return stays(row.Key) && slices.Contains(stale, row.Key)
	})
	stale = slices.DeleteFunc(slices.Clone(stale), stays)
	return s.members.FollowLists(ctx, s.tables.ForumTopics, rows, stale)
}
