package meettest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/testing/calls"
)

const password = "tea under seven lamps"

// TestLeaving: a deleted account is gone for all others at once, its tokens are good for nothing,
// and its places at coming events are given back. Restored within its time it is as it was, but for
// the events.
func TestLeaving(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
	happens := events.New(w.Service, meettest.EventTables, meettest.ForumTables)
	require.NoError(t, happens.Create(ctx))
	w.Handle(w.Triggers(happens.Settlers()...))
	event := func(starts time.Duration) string {
		e, err := happens.NewEvent(ctx, w.Members["admin"], events.Draft{
			Title: "Concert", Start: w.Clock.Now().Add(starts).Format(time.RFC3339), Category: "concert",
			Visibility: events.Public, Published: true,
		})
		require.NoError(t, err)
		_, _, err = happens.Register(ctx, bob, e.ID, "", "bob")
		require.NoError(t, err)
		return e.ID
	}
	coming, begun := event(2*time.Hour), event(time.Minute)
	w.Clock.Pass(2 * time.Minute)
	count := func(id string) int {
		v, err := happens.Event(ctx, w.Members["admin"], id, "", "")
		require.NoError(t, err)
		return v.Attendees
	}
	yes := false
	for _, pair := range [][2]meet.Claim{{anna, bob}, {bob, anna}} {
		_, _, err := w.Like(ctx, pair[0], pair[1].UserID, &yes)
		require.NoError(t, err)
	}
	chats, err := w.Chats(ctx, anna, "", 10)
	require.NoError(t, err)
	chat := chats.Chats[0].ID
	m, _, err := w.Send(ctx, anna, chat, "Are you coming?", "")
	require.NoError(t, err)
	session, err := w.Login(ctx, "bob@example.com", password, meet.Asker{Agent: "another"})
	require.NoError(t, err)

	_, err = w.DeleteMe(ctx, bob, "not this one at all")
	meettest.RequireCode(t, meet.InvalidCredentials, err)
	_, err = w.Restore(ctx, "bob@example.com", password, meet.Asker{Agent: "test"})
	meettest.RequireCode(t, meet.NotDeleted, err)
	until, err := w.DeleteMe(ctx, bob, password)
	require.NoError(t, err)
	require.Equal(t, w.Clock.Now().Add(30*24*time.Hour), until)

	_, err = w.Me(ctx, bob)
	meettest.RequireCode(t, meet.InvalidToken, err)
	_, err = w.Refresh(ctx, session.Tokens.Refresh)
	meettest.RequireCode(t, meet.InvalidToken, err)
	_, err = w.Login(ctx, "bob@example.com", password, meet.Asker{Agent: "test"})
	meettest.RequireCode(t, meet.AccountDeleted, err)
	_, err = w.Login(ctx, "bob@example.com", "not this one at all", meet.Asker{Agent: "test"})
	meettest.RequireCode(t, meet.InvalidCredentials, err)
	_, err = w.Register(ctx, meet.Registration{
		Email: "bob@example.com", Password: password, Name: "b",
		BirthDate: "2000-01-01", Gender: "male", Language: "en",
	})
	meettest.RequireCode(t, meet.EmailTaken, err)
	gone := func() {
		t.Helper()
		_, err := w.Person(ctx, anna, bob.UserID)
		meettest.RequireCode(t, meet.UserNotFound, err)
		matches, err := w.Matches(ctx, anna, "", 10)
		require.NoError(t, err)
		require.Empty(t, matches.Entries)
		c, err := w.Chat(ctx, anna, chat)
		require.NoError(t, err)
		require.Nil(t, c.Other)
		require.False(t, c.Open)
		require.NotNil(t, c.Last, "what was written can still be read")
		_, _, err = w.Send(ctx, anna, chat, "Bob?", "")
		meettest.RequireCode(t, "CHAT_CLOSED", err)
		_, err = w.EditMessage(ctx, anna, chat, m.ID, "Bob?")
		meettest.RequireCode(t, "CHAT_CLOSED", err)
		meettest.RequireCode(t, meet.MatchNotFound, w.Unmatch(ctx, anna, bob.UserID))
		meettest.RequireCode(t, meet.LikeNotFound, w.Unlike(ctx, anna, bob.UserID))
		carol, err := w.Admit(ctx, w.Members["carol"])
		require.NoError(t, err)
		authors, err := w.Authors(ctx, carol, []string{bob.UserID})
		require.NoError(t, err)
		require.Empty(t, authors)
		for _, row := range w.Rows("Deck") {
			require.False(t, row.Key.Row[17:] == bob.UserID && !row.Props.Get("IsOut").Bool(), "in decks still")
		}
	}
	gone()
	w.Pump(time.Second)
	require.Equal(t, []int{0, 1}, []int{count(coming), count(begun)},
		"the place at the coming event is free within seconds")
	w.Settle()
	gone()

	in, err := w.Restore(ctx, "bob@example.com", password, meet.Asker{Agent: "test"})
	require.NoError(t, err)
	again, err := meet.ParseAccess(in.Tokens.Access)
	require.NoError(t, err)
	_, err = w.Me(ctx, again)
	require.NoError(t, err)
	_, err = w.Refresh(ctx, session.Tokens.Refresh)
	meettest.RequireCode(t, meet.InvalidToken, err)
	p, err := w.Person(ctx, anna, bob.UserID)
	require.NoError(t, err)
	require.True(t, p.Match)
	_, _, err = w.Send(ctx, anna, chat, "Bob?", "")
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, []int{count(coming), count(begun)})

	// A suspended member may leave; after its time nothing can be restored.
	require.NoError(t, w.Suspend(ctx, w.Members["admin"], bob.UserID, 100, "spam"))
	_, err = w.DeleteMe(ctx, again, password)
	require.NoError(t, err)
	w.Clock.Pass(30 * 24 * time.Hour)
	_, err = w.Restore(ctx, "bob@example.com", password, meet.Asker{Agent: "test"})
	meettest.RequireCode(t, meet.AccountDeleted, err)
}

// TestCrashesOfLeaving: after any accident to any call of a deletion or a restoration the account
// is deleted or it is not, for decks and events as for its own requests.
func TestCrashesOfLeaving(t *testing.T) {
	t.Parallel()
	for name, restores := range map[string]bool{"delete": false, "restore": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
				w := meettest.New(t)
				ctx, bob := t.Context(), w.Members["bob"]
				happens := events.New(w.Service, meettest.EventTables, meettest.ForumTables)
				require.NoError(t, happens.Create(ctx))
				w.Handle(w.Triggers(happens.Settlers()...))
				e, err := happens.NewEvent(ctx, w.Members["admin"], events.Draft{
					Title: "Concert", Start: w.Clock.Now().Add(time.Hour).Format(time.RFC3339), Category: "concert",
					Visibility: events.Public, Published: true,
				})
				require.NoError(t, err)
				_, _, err = happens.Register(ctx, bob, e.ID, "", "bob")
				require.NoError(t, err)
				if restores {
					_, err = w.DeleteMe(ctx, bob, password)
					require.NoError(t, err)
					w.Settle()
				}
				s := w.Over(crash.Over(w.DB, w.Queues))
				if restores {
					_, err = s.Restore(ctx, "bob@example.com", password, meet.Asker{Agent: "test"})
				} else {
					_, err = s.DeleteMe(ctx, bob, password)
				}
				crash.Land(w.Pump, w.Clock.Pass)
				w.Settle()
				left, unread := w.Left(ctx, bob.UserID)
				require.NoError(t, unread)
				if err == nil {
					require.Equal(t, !restores, left, "what was promised")
				}
				_, unseen := w.Person(ctx, w.Members["anna"], bob.UserID)
				require.Equal(t, left, unseen != nil)
				in := 0
				for _, row := range w.Rows("Deck") {
					if strings.HasSuffix(row.Key.Row, bob.UserID) && !row.Props.Get("IsOut").Bool() {
						in++
					}
				}
				require.Equal(t, !left, in == 1, "decks follow")
				v, unread := happens.Event(ctx, w.Members["admin"], e.ID, "", "")
				require.NoError(t, unread)
				require.Equal(t, left || restores, v.Attendees == 0, "the place is given back with the account alone")
				if left {
					require.NotEmpty(t, w.Rows("State"), "the timer of erasure will find it")
					_, err = w.Restore(ctx, "bob@example.com", password, meet.Asker{Agent: "test"})
				} else {
					_, err = w.Login(ctx, "bob@example.com", password, meet.Asker{Agent: "test"})
				}
				require.NoError(t, err)
			})
		})
	}
}
