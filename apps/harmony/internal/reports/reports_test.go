package reports_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/internal/fault"
)

// TestReports: members report what they see, staff close each report once, and do what they decide.
func TestReports(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	ctx, anna, bob, moderator := t.Context(), w.Members["anna"], w.Members["bob"], w.Members["moderator"]
	talk := forum.New(w.Service, events.New(w.Service, meettest.EventTables, meettest.ForumTables), meettest.ForumTables)
	s := reports.New(w.Service, talk, reports.Tables{Reports: "Reports"})
	require.NoError(t, talk.Create(ctx))
	require.NoError(t, s.Create(ctx))
	_, err := talk.NewSection(ctx, w.Members["admin"], forum.Section{ID: "music", Name: "Music"})
	require.NoError(t, err)
	topic, err := talk.NewTopic(ctx, bob, "music", "A bad topic", "Something that is bad")
	require.NoError(t, err)
	reply, err := talk.Reply(ctx, bob, topic.ID, "Worse")
	require.NoError(t, err)

	of := func(t reports.Target) (string, bool, error) { return s.Report(ctx, anna, t, "spam", "Look at this") }
	var ids []string
	for _, target := range []reports.Target{{Kind: "reply", TopicID: topic.ID, ReplyID: reply.ID}, {Kind: "topic", TopicID: topic.ID}, {Kind: "user", UserID: bob.UserID}} {
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
		meet.NotYourself: {Kind: "user", UserID: anna.UserID}, meet.UserNotFound: {Kind: "user", UserID: w.NewID()}, forum.TopicNotFound: {Kind: "topic", TopicID: "x"},
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
