package reports_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// TestReports: members report what they see, staff close each report once, and do what they decide.
func TestReports(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	ctx, anna, bob, moderator := t.Context(), w.Members["anna"], w.Members["bob"], w.Members["moderator"]
	happens := events.New(w.Service, meettest.EventTables, meettest.ForumTables)
	talk := forum.New(w.Service, happens, meettest.ForumTables)
	s := reports.New(w.Service, chats.New(w.Service, happens), talk, rowstore.DefaultTables[reports.Tables]())
	require.NoError(t, talk.Create(ctx))
	require.NoError(t, s.Create(ctx))
	_, err := talk.NewSection(ctx, w.Members["admin"], forum.Section{ID: "music", Name: "Music"})
	require.NoError(t, err)
	topic, err := talk.NewTopic(ctx, bob, "music", "A bad topic", "Something that is bad", "")
	require.NoError(t, err)
	reply, err := talk.Reply(ctx, bob, topic.ID, "Worse", "")
	require.NoError(t, err)

	of := func(t reports.Target) (string, bool, error) { return s.Report(ctx, anna, t, "spam", "Look at this") }
	var ids []string
	for _, target := range []reports.Target{
		{Kind: "reply", TopicID: topic.ID, ReplyID: reply.ID},
		{Kind: "topic", TopicID: topic.ID},
		{Kind: "user", UserID: bob.UserID},
	} {
		id, created, err := of(target)
		require.NoError(t, err)
		require.True(t, created)
		again, created, err := of(target)
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, id, again)
		ids = append(ids, id)
	}
	for code, target := range map[fault.Code]reports.Target{
		meet.NotYourself: {Kind: "user", UserID: anna.UserID}, meet.UserNotFound: {Kind: "user", UserID: w.NewID()},
		forum.TopicNotFound: {Kind: "topic", TopicID: "x"},
		forum.ReplyNotFound: {Kind: "reply", TopicID: topic.ID, ReplyID: "!topic"}, "VALIDATION_ERROR": {Kind: "chat"},
	} {
		_, _, err := of(target)
		meettest.RequireCode(t, code, err)
	}
	_, err = s.List(ctx, anna, false, "", 10)
	meettest.RequireCode(t, meet.RoleRequired, err)
	_, err = s.Close(ctx, anna, ids[0], "dismiss", 0)
	meettest.RequireCode(t, meet.RoleRequired, err)
	list := func(done bool) (n int, first reports.Report) {
		p, err := s.List(ctx, moderator, done, "", 2)
		require.NoError(t, err)
		n = len(p.Reports)
		if p.Next != "" {
			rest, err := s.List(ctx, moderator, done, p.Next, 2)
			require.NoError(t, err)
			n += len(rest.Reports)
		}
		if n > 0 {
			first = p.Reports[0]
		}
		return n, first
	}
	n, _ := list(false)
	require.Equal(t, 3, n)

	_, err = talk.EditReply(ctx, bob, topic.ID, reply.ID, "I said something nice")
	require.NoError(t, err)
	_, err = s.Close(ctx, moderator, ids[2], "remove", 0)
	require.Equal(t, fault.Invalid, fault.Of(err), "a member is not removed")
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			r, err := s.Close(ctx, moderator, ids[0], "remove", 0)
			require.NoError(t, err)
			require.Equal(t, "Worse", r.Snapshot["content"], "as it was")
			require.Equal(t, []string{"remove", "done", bob.UserID}, []string{r.Action, r.State(), r.UserID})
		})
	}
	wg.Wait()
	v, err := talk.Topic(ctx, anna, topic.ID)
	require.NoError(t, err)
	require.Zero(t, v.Replies)
	r, err := s.Close(ctx, moderator, ids[0], "suspend", 1)
	require.NoError(t, err)
	require.Equal(t, "remove", r.Action, "it is closed")
	_, err = s.Close(ctx, moderator, ids[1], "dismiss", 0)
	require.NoError(t, err)
	_, err = s.Close(ctx, moderator, ids[2], "suspend", 0)
	require.Equal(t, fault.Invalid, fault.Of(err), "for no days")
	_, err = s.Close(ctx, moderator, ids[2], "suspend", 3)
	require.NoError(t, err)
	_, err = w.Settings(ctx, bob)
	meettest.RequireCode(t, meet.AccountSuspended, err)
	n, _ = list(false)
	require.Zero(t, n)
	n, _ = list(true)
	require.Equal(t, 3, n)
	_, err = s.Close(ctx, moderator, "x", "dismiss", 0)
	meettest.RequireCode(t, reports.ReportNotFound, err)
}

// TestReportsOfMessagesAndPictures: a member reports a message or a picture that they see, with the
// messages before it; staff remove it.
func TestReportsOfMessagesAndPictures(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	ctx, anna, bob, carol, moderator := t.Context(), w.Members["anna"], w.Members["bob"],
		w.Members["carol"], w.Members["moderator"]
	happens := events.New(w.Service, meettest.EventTables, meettest.ForumTables)
	s := reports.New(w.Service, w.AllChats, forum.New(w.Service, happens, meettest.ForumTables),
		rowstore.DefaultTables[reports.Tables]())
	require.NoError(t, happens.Create(ctx))
	require.NoError(t, s.Create(ctx))
	open := false
	_, _, err := w.Like(ctx, anna, bob.UserID, &open)
	require.NoError(t, err)
	like, _, err := w.Like(ctx, bob, anna.UserID, &open)
	require.NoError(t, err)
	var last string
	for i := range 12 {
		by := []meet.Claim{bob, anna}[i%2]
		if i == 11 {
			by = bob
		}
		m, _, err := w.Send(ctx, by, like.ChatID, fmt.Sprint("message ", i), "")
		require.NoError(t, err)
		last = m.ID
	}
	bad := reports.Target{Kind: "message", ChatID: like.ChatID, MessageID: last}
	for code, one := range map[fault.Code]struct {
		by meet.Claim
		reports.Target
	}{
		chat.NotFound:        {carol, bad}, // takes no part in it
		meet.NotYourself:     {bob, bad},
		chat.MessageNotFound: {anna, reports.Target{Kind: "message", ChatID: like.ChatID, MessageID: "x"}},
		meet.ImageNotFound:   {anna, reports.Target{Kind: "image", UserID: bob.UserID, ImageID: w.NewID()}},
		meet.UserNotFound:    {anna, reports.Target{Kind: "image", UserID: w.NewID(), ImageID: w.NewID()}},
	} {
		_, _, err := s.Report(ctx, one.by, one.Target, "spam", "")
		meettest.RequireCode(t, code, err)
	}
	_, _, err = s.Report(ctx, moderator, bad, "spam", "")
	meettest.RequireCode(t, chat.NotFound, err) // staff read chats in snapshots only
	id, created, err := s.Report(ctx, anna, bad, "harassment", "")
	require.NoError(t, err)
	require.True(t, created)
	again, created, err := s.Report(ctx, anna, bad, "spam", "")
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, id, again)
	_, err = w.EditMessage(ctx, bob, like.ChatID, last, "I was nice")
	require.NoError(t, err)
	require.NoError(t, w.Unmatch(ctx, anna, bob.UserID))
	r, err := s.Close(ctx, moderator, id, "remove", 0)
	require.NoError(t, err)
	require.Equal(t, bob.UserID, r.UserID)
	require.Equal(t, map[string]string{
		"content": "message 11", "before1_author": "message 2", "before2_reporter": "message 3",
		"before3_author": "message 4", "before4_reporter": "message 5", "before5_author": "message 6",
		"before6_reporter": "message 7", "before7_author": "message 8", "before8_reporter": "message 9",
		"before9_author": "message 10",
	}, r.Snapshot)
	m, err := w.Messages(ctx, anna, like.ChatID, "", "", 2, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"", "message 10"}, []string{m.All[0].Content, m.All[1].Content})
	_, _, err = s.Report(ctx, anna, bad, "spam", "")
	meettest.RequireCode(t, chat.MessageNotFound, err) // it says nothing any more

	// In the chat of an event the reporter need not see the author.
	e, err := happens.NewEvent(ctx, w.Members["admin"], events.Draft{
		Title: "Concert", Start: w.Clock.Now().Add(time.Hour).Format(time.RFC3339), Category: "concert",
		Visibility: events.Public, Published: true,
	})
	require.NoError(t, err)
	for _, c := range []meet.Claim{anna, carol} {
		_, _, err := happens.Register(ctx, c, e.ID, "", "test")
		require.NoError(t, err)
	}
	said, _, err := w.Send(ctx, carol, chat.OfEvent(e.ID), "Buy this", "")
	require.NoError(t, err)
	id, _, err = s.Report(ctx, anna, reports.Target{Kind: "message", ChatID: chat.OfEvent(e.ID), MessageID: said.ID},
		"spam", "")
	require.NoError(t, err)
	r, err = s.Close(ctx, moderator, id, "remove", 0)
	require.NoError(t, err)
	require.Equal(t, carol.UserID, r.UserID)
	m, err = w.Messages(ctx, anna, chat.OfEvent(e.ID), "", "", 2, nil)
	require.NoError(t, err)
	require.Empty(t, m.All[0].Content)

	// A picture of a chat is seen by staff once it was reported, and goes with its message.
	sent, _, err := w.SendImage(ctx, carol, chat.OfEvent(e.ID), meettest.PNG, "")
	require.NoError(t, err)
	after, _, err := w.Send(ctx, carol, chat.OfEvent(e.ID), "See?", "")
	require.NoError(t, err)
	url := chats.ImageURL(chat.OfEvent(e.ID), sent.Message)
	id, _, err = s.Report(ctx, anna, reports.Target{Kind: "message", ChatID: chat.OfEvent(e.ID), MessageID: sent.ID},
		"illegal", "")
	require.NoError(t, err)
	words, _, err := s.Report(ctx, anna,
		reports.Target{Kind: "message", ChatID: chat.OfEvent(e.ID), MessageID: after.ID}, "spam", "")
	require.NoError(t, err)
	_, err = w.SentPicture(ctx, moderator, chat.OfEvent(e.ID), meettest.FileOf(url))
	require.NoError(t, err)
	r, err = s.Close(ctx, moderator, id, "remove", 0)
	require.NoError(t, err)
	require.Equal(t, url, r.Snapshot["imageUrl"])
	for _, c := range []meet.Claim{anna, carol, moderator} {
		_, err = w.SentPicture(ctx, c, chat.OfEvent(e.ID), meettest.FileOf(url))
		meettest.RequireCode(t, meet.ImageNotFound, err)
	}
	require.Zero(t, w.Stored(meet.ContainerChats))
	r, err = s.Close(ctx, moderator, words, "dismiss", 0)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"content": "See?", "before1_author": "", "before2_author": "[image]"},
		r.Snapshot)

	picture, err := w.AddImage(ctx, bob, bob.UserID, meettest.PNG)
	require.NoError(t, err)
	id, _, err = s.Report(ctx, anna, reports.Target{Kind: "image", UserID: bob.UserID, ImageID: picture.ID},
		"illegal", "")
	require.NoError(t, err)
	r, err = s.Close(ctx, moderator, id, "remove", 0)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"imageUrl": picture.URL()}, r.Snapshot)
	_, err = w.Picture(ctx, bob, bob.UserID, picture.ID+".jpg")
	meettest.RequireCode(t, meet.ImageNotFound, err)
	p, err := w.Person(ctx, anna, bob.UserID)
	require.NoError(t, err)
	require.Empty(t, p.Images)
	require.Empty(t, p.ProfileImageURL)
}

// TestClosedWhileItIsRead: a report that another moderator closes between the two reads of it, of
// the closed one and of the open one, is found.
func TestClosedWhileItIsRead(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	ctx, moderator := t.Context(), w.Members["moderator"]
	over := func(m *meet.Service) *reports.Service {
		happens := events.New(m, meettest.EventTables, meettest.ForumTables)
		return reports.New(m, chats.New(m, happens), forum.New(m, happens, meettest.ForumTables),
			rowstore.DefaultTables[reports.Tables]())
	}
	s := over(w.Service)
	require.NoError(t, s.Create(ctx))
	id, _, err := s.Report(ctx, w.Members["anna"], reports.Target{Kind: "user", UserID: w.Members["bob"].UserID},
		"spam", "Look at this")
	require.NoError(t, err)
	db := &between{DB: w.DB, looked: make(chan struct{}), do: func() {
		_, err := s.Close(ctx, moderator, id, "dismiss", 0)
		require.NoError(t, err)
	}}
	r, err := over(w.Over(db, w.Queues)).Close(ctx, moderator, id, "suspend", 1)
	require.NoError(t, err)
	require.Equal(t, "dismiss", r.Action)
}

// between has do done after the first look for a closed report, and before that for an open one.
type between struct {
	table.DB
	looked chan struct{}
	once   sync.Once
	do     func()
	closed sync.Once
}

func (b *between) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	switch {
	case name == "Reports" && strings.HasPrefix(key.Row, "done_"):
		defer b.once.Do(func() { close(b.looked) })
	case name == "Reports" && strings.HasPrefix(key.Row, "open_"):
		<-b.looked
		b.closed.Do(b.do)
	}
	return b.DB.Get(ctx, name, key)
}
