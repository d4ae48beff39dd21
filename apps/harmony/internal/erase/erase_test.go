package erase_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/erase"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/letters"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/tidy"
	topics "prompthub/apps/harmony/internal/topic"
	"prompthub/apps/harmony/internal/verify"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

const password = "tea under seven lamps"

var (
	reportTables = rowstore.DefaultTables[reports.Tables]()
	blogTables   = rowstore.DefaultTables[blog.Tables]()
	allTables    = slices.Concat(meettest.Tables.All(), meettest.EventTables.All(), meettest.ForumTables.All(),
		reportTables.All(), blogTables.All())
)

// A world has all rooms.
type world struct {
	*meettest.World
	events  *events.Service
	forum   *forum.Service
	reports *reports.Service
}

// rooms returns the rooms over a service.
func rooms(s *meet.Service) (*events.Service, *forum.Service, *reports.Service) {
	happens := events.New(s, meettest.EventTables, meettest.ForumTables)
	talk := forum.New(s, happens, meettest.ForumTables)
	return happens, talk, reports.New(s, meettest.Talks(s), talk, reportTables)
}

func job(s *meet.Service) erase.Job {
	happens, talk, told := rooms(s)
	return erase.Job{Service: s, Traces: slices.Concat(s.Traces(), happens.Traces(), meettest.Talks(s).Traces(),
		talk.Traces(), told.Traces(), blog.New(s, blogTables).Traces())}
}

func newWorld(w *meettest.World) *world {
	w.T.Helper()
	all := &world{World: w}
	all.events, all.forum, all.reports = rooms(w.Service)
	for _, create := range []func(context.Context) error{all.events.Create, all.forum.Create, all.reports.Create} {
		require.NoError(w.T, create(w.T.Context()))
	}
	require.NoError(w.T, blog.New(w.Service, blogTables).Create(w.T.Context()))
	w.Handle(w.Triggers(slices.Concat(all.events.Settlers(), all.AllChats.Settlers(), all.forum.Settlers())...))
	return all
}

// theirs are values of a member, and the things where others meet them.
type theirs struct {
	values []string
	chat   string // with anna
	topic  string // of the member
	event  string // which the member made and attends
	past   string // an event that was
	full   string // an event where he waits
	post   string
	report string // about the member, which is closed
}

// live has bob leave a trace wherever a member can.
func live(t *testing.T, w *world) theirs {
	t.Helper()
	ctx, admin, anna, bob, carol := t.Context(), w.Members["admin"], w.Members["anna"],
		w.Members["bob"], w.Members["carol"]
	no, yes := false, true
	must := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	// Once an admin, bob has made an event and an invite.
	must(w.SetRoleOf(ctx, admin, bob.UserID, meet.Admin))
	event := func(by meet.Claim, starts time.Duration) string {
		e, err := w.events.NewEvent(ctx, by, events.Draft{
			Title: "Concert", Start: w.Clock.Now().Add(starts).Format(time.RFC3339), Category: "concert",
			Visibility: events.SecretTeaser, Published: true,
		})
		must(err)
		_, err = w.events.NewInvite(ctx, by, e.ID, events.InviteDraft{Code: "aloe-1"})
		must(err)
		for _, c := range []meet.Claim{bob, carol} {
			_, _, err = w.events.Register(ctx, c, e.ID, "aloe-1", "x")
			must(err)
		}
		return e.ID
	}
	left := theirs{event: event(bob, 1000*time.Hour), past: event(admin, time.Second)}
	one := 1
	full, err := w.events.NewEvent(ctx, admin, events.Draft{
		Title: "Full", Start: w.Clock.Now().Add(time.Second).Format(time.RFC3339), Category: "concert",
		Visibility: events.Public, Published: true, Capacity: &one,
	})
	must(err)
	_, _, err = w.events.Register(ctx, anna, full.ID, "", "x")
	must(err)
	_, _, err = w.events.WaitFor(ctx, bob, full.ID, "", "x")
	must(err)
	post, err := blog.New(w.Service, blogTables).NewPost(ctx, bob,
		blog.Draft{Title: "A post", Content: "A text", Published: true})
	must(err)
	left.post, left.full = post.ID, full.ID
	must(w.SetRoleOf(ctx, admin, bob.UserID, meet.Member))

	me, err := w.SetProfile(ctx, bob, bob.UserID,
		meet.Profile{
			Name: "Bob Xylander", About: account.About{Bio: "Plays the bass at Xanten", Location: "Xanten"},
			Gender: "male", Lat: 51.6, Lon: 6.4, Located: true,
		}, func(string) bool { return true })
	must(err)
	picture, err := w.AddImage(ctx, bob, bob.UserID, meettest.PNG)
	must(err)
	_, err = w.Login(ctx, "bob@example.com", password, meet.Asker{Agent: "Xbrowser 7"})
	must(err)
	token, err := w.NewReset(ctx, "bob@example.com")
	must(err)
	must(w.Pass(ctx, carol, bob.UserID))
	must(w.Pass(ctx, bob, carol.UserID))
	must(w.Block(ctx, w.Members["moderator"], bob.UserID))
	for _, pair := range [][2]meet.Claim{{anna, bob}, {bob, anna}} {
		_, _, err := w.Like(ctx, pair[0], pair[1].UserID, &no)
		must(err)
	}
	_, _, err = w.Like(ctx, bob, admin.UserID, &yes)
	must(err)
	_, _, err = w.Like(ctx, carol, bob.UserID, &yes)
	must(err)
	_, err = w.Deck(ctx, bob, "", 10)
	must(err)
	list, err := w.Chats(ctx, bob, "", 10)
	must(err)
	left.chat = list.Chats[0].ID
	for n := range 3 {
		_, _, err = w.Send(ctx, bob, left.chat, fmt.Sprintf("Xmessage %d", n), fmt.Sprintf("key %d", n))
		must(err)
		_, _, err = w.Send(ctx, anna, left.chat, fmt.Sprintf("Anna's %d", n), "")
		must(err)
	}
	for _, room := range []string{left.chat, chat.OfEvent(left.event)} {
		m, _, err := w.SendImage(ctx, bob, room, meettest.PNG, "")
		must(err)
		left.values = append(left.values, m.Image.ID)
	}
	for who, text := range map[meet.Claim]string{bob: "Xmessage to all", carol: "Carol's"} {
		_, _, err = w.Send(ctx, who, chat.OfEvent(left.event), text, "")
		must(err)
		m, err := w.Messages(ctx, who, chat.OfEvent(left.event), "", "", 1, nil)
		must(err)
		_, err = w.MarkRead(ctx, who, chat.OfEvent(left.event), m.All[0].ID)
		must(err)
	}
	_, err = w.forum.NewSection(ctx, admin, forum.Section{ID: "music", Name: "Music"})
	must(err)
	topic, err := w.forum.NewTopic(ctx, bob, "music", "A topic", "Enough content", "")
	must(err)
	left.topic = topic.ID
	_, err = w.forum.Reply(ctx, bob, topic.ID, "A reply", "")
	must(err)
	_, err = w.forum.NewEventTopic(ctx, admin, left.past, "For some", "Enough content",
		forum.Audience{Visibility: topics.SpecificUsers, Allowed: []string{bob.UserID, anna.UserID}}, "")
	must(err)
	other, err := w.forum.NewTopic(ctx, carol, "music", "Another topic", "Enough content", "")
	must(err)
	_, err = w.forum.Reply(ctx, bob, other.ID, "A reply to another", "")
	must(err)
	var id string
	for target, by := range map[reports.Target]meet.Claim{
		{Kind: "user", UserID: bob.UserID}: anna, {Kind: "topic", TopicID: topic.ID}: carol,
		{Kind: "user", UserID: anna.UserID}:                      bob,
		{Kind: "image", UserID: bob.UserID, ImageID: picture.ID}: anna,
	} {
		got, _, err := w.reports.Report(ctx, by, target, "spam", "Not nice")
		must(err)
		if target.Kind == "user" && target.UserID == bob.UserID {
			id = got
		}
	}
	_, err = w.reports.Close(ctx, admin, id, "dismiss", 0)
	must(err)
	left.report = id
	must(w.Suspend(ctx, admin, bob.UserID, 1, "spam"))
	w.Settle()
	// A message of his was set aside, and one of another.
	for _, who := range []string{bob.UserID, anna.UserID} {
		_, err = w.Queues.Send(ctx, queue.Poison(meet.QueueLists), `{"kind":"user","id":"`+who+`"}`, 0)
		must(err)
	}
	// A mail waits to tell him of an event, and one was set aside.
	must(w.EventChanged(ctx, bob.UserID,
		letters.EventChange{ID: w.NewID(), Title: "Xtitle", Start: w.Clock.Now(), Zone: "UTC"}))
	_, err = w.Queues.Send(ctx, queue.Poison(meet.QueueMails),
		`{"kind":"move","id":"`+bob.UserID+`","to":"Xold@example.com"}`, 0)
	must(err)
	u, err := w.Account(ctx, bob.UserID)
	must(err)
	reset, _ := session.Parse[account.User](account.ResetForm, token)
	left.values = append([]string{
		bob.UserID, bob.SessionID, reset.SessionID, u.Email, u.PasswordHash, u.Shuffle, account.EmailKey(u.Email).Row,
		me.Name, me.Bio, me.Location, picture.ID, "Xbrowser 7", "Xmessage", "Xtitle", "Xold@example.com",
	}, left.values...)
	return left
}

// found returns where values are, in rows, files and messages.
func found(w *world, values []string) (all []string) {
	w.T.Helper()
	ctx := w.T.Context()
	look := func(where, text string) {
		for _, v := range values {
			if strings.Contains(text, v) {
				all = append(all, where+": "+v)
			}
		}
	}
	for _, name := range allTables {
		for _, row := range w.Rows(name) {
			look(name, row.Key.String())
			for _, p := range row.Props {
				look(name+"."+p.Name, text(p.Value))
			}
		}
	}
	for _, container := range []string{meet.ContainerProfiles, meet.ContainerChats, meet.ContainerRemoved} {
		files, err := w.Blobs.List(ctx, container, "", 1000, "")
		require.NoError(w.T, err)
		for _, item := range files.Items {
			look("files", item.Name)
		}
	}
	for _, name := range []string{meet.QueueLists, meet.QueuePairs, meet.QueueMails} {
		for _, name := range []string{name, queue.Poison(name)} {
			list, err := w.Queues.Receive(ctx, name, queue.MaxReceive, time.Second)
			require.NoError(w.T, err)
			for _, m := range list {
				look(name, m.Text)
				_, err := w.Queues.Hide(ctx, name, m.Receipt, 0)
				require.NoError(w.T, err)
			}
		}
	}
	return all
}

// text returns a value as a text to search in.
func text(v table.Value) string {
	if v.Type() == table.TypeString {
		return v.Str()
	}
	return fmt.Sprint(v)
}

// run has the timers do their work, hour by hour.
func run(w *world, hours int) {
	w.T.Helper()
	for range hours {
		w.Clock.Pass(time.Hour)
		require.NoError(w.T, job(w.Service).Run(w.T.Context()))
		require.NoError(w.T, tidy.Job{
			Service: w.Service,
			Walks:   []tidy.Walk{{Name: "snapshots", Step: w.reports.Sweep}},
		}.Run(w.T.Context()))
		w.Settle()
	}
}

const month = 30 * 24 * time.Hour

// TestNothingIsLeft: once a deleted account cannot be restored any more, no row, file or message
// has a value of the member's, but for the snapshot of a report, which goes 180 days after it was
// closed. All that others have stays.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(meettest.New(t))
	ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
	left := live(t, w)
	for _, v := range left.values {
		require.NotEmpty(t, found(w, []string{v}), "the search would find %q", v)
	}
	_, err := w.DeleteMe(ctx, bob, password)
	require.NoError(t, err)
	w.Settle()
	w.Clock.Pass(month - 3*time.Hour)
	run(w, 2)
	require.NotEmpty(t, found(w, left.values[:1]))
	_, err = w.Restore(ctx, "bob@example.com", password, meet.Asker{Agent: "Xbrowser 7"})
	require.NoError(t, err, "up to the last hour all can be restored")
	run(w, 3)
	_, err = w.Person(ctx, w.enter("anna"), bob.UserID)
	require.NoError(t, err, "the timer leaves an account that was restored")

	again := w.enter("bob")
	_, err = w.DeleteMe(ctx, again, password)
	require.NoError(t, err)
	w.Settle()
	left.values = append(left.values, again.SessionID)
	w.Clock.Pass(month)
	run(w, 1)
	require.NoError(t, job(w.Service).Run(ctx))
	u, err := w.Account(ctx, bob.UserID)
	require.NoError(t, err)
	require.NotNil(t, u, "a round begins no sooner than an hour after the mark: a request of before may still write")
	// as of one who blocked her, and no new row of theirs
	require.NoError(t, w.Block(ctx, w.enter("carol"), bob.UserID))
	run(w, 3)
	kept := found(w, left.values)
	for _, where := range kept {
		require.Contains(t, []string{
			"Reports.Snapshot: Bob Xylander", "Reports.Snapshot: Plays the bass at Xanten",
			"Reports.Snapshot: Xanten",
		}, where)
	}
	require.Len(t, kept, 3, "the snapshot of the report that staff has closed: its name, its text and its place")

	rows, err := verify.Store{Service: w.Service, Checks: slices.Concat(w.events.Checks(), w.forum.Checks())}.Verify(
		ctx, func(f meet.Finding) { t.Errorf("%s %s: %s", f.Table, f.Key, f.Says) })
	require.NoError(t, err)
	require.Greater(t, rows, 40)

	// All that others have is there, without bob.
	c, err := w.Chat(ctx, w.enter("anna"), left.chat)
	require.NoError(t, err)
	require.Nil(t, c.Other)
	require.False(t, c.Open)
	m, err := w.Messages(ctx, w.enter("anna"), left.chat, "", "", 50, nil)
	require.NoError(t, err)
	require.Len(t, m.All, 8)
	require.Equal(t, []string{chat.TypeImage, chat.TypeSystem}, []string{m.All[0].Type, m.All[7].Type})
	require.Equal(t, []any{"", "", false}, []any{m.All[0].SenderID, m.All[0].Image.ID, m.All[0].DeletedAt.IsZero()})
	for i, one := range m.All[1:7] {
		require.Equal(t, i%2 == 0, one.SenderID == anna.UserID)
		require.Equal(t, i%2 == 0, one.DeletedAt.IsZero())
	}
	list, err := w.Chats(ctx, w.enter("anna"), "", 10)
	require.NoError(t, err)
	require.Len(t, list.Chats, 1)
	v, err := w.forum.Topic(ctx, w.enter("carol"), left.topic)
	require.NoError(t, err)
	require.Nil(t, v.Author)
	require.Equal(t, "Enough content", v.Content)
	replies, err := w.forum.Replies(ctx, w.enter("carol"), left.topic, "", 10)
	require.NoError(t, err)
	require.Equal(t, "A reply", replies.Replies[0].Content)
	talk, err := w.Messages(ctx, w.enter("carol"), chat.OfEvent(left.event), "", "", 50, nil)
	require.NoError(t, err)
	texts := slices.DeleteFunc(talk.All, func(m chats.Message) bool { return m.Type == chat.TypeSystem })
	require.Len(t, texts, 3, "and carol has come")
	for _, m := range texts {
		require.Equal(t, m.Author == nil, m.Content == "", "bob's has kept its place")
	}
	post, err := blog.New(w.Service, blogTables).Post(ctx, meet.Claim{}, left.post)
	require.NoError(t, err)
	require.Equal(t, []string{"A text", ""}, []string{post.Content, post.AuthorID})
	for _, id := range []string{left.event, left.past} {
		e, err := w.events.Event(ctx, w.enter("admin"), id, "", "")
		require.NoError(t, err)
		require.Equal(t, 1, e.Attendees, "carol alone")
	}
	n, err := w.Queues.Len(ctx, queue.Poison(meet.QueueLists))
	require.NoError(t, err)
	require.Equal(t, 1, n, "anna's")
	_, err = w.Register(ctx, meet.Registration{
		Email: "bob@example.com", Password: password, Name: "Another",
		BirthDate: "2000-01-01", Gender: "male", Language: "en",
	})
	require.NoError(t, err, "the address is free")

	w.Clock.Pass(180 * 24 * time.Hour)
	run(w, 1)
	require.Empty(t, found(w, slices.DeleteFunc(left.values, func(v string) bool {
		return v == "bob@example.com" || v == account.EmailKey("bob@example.com").Row
	})))
}

// secret counts the rows of secret likes that a member has received.
func (w *world) secret(user string) (n int) {
	for _, row := range w.Rows("LikesReceived") {
		if row.Partition == user+"_ANON" {
			n++
		}
	}
	return n
}

// TestSecretLikesOfTheErased: the number of secret likes that a member has is the same after those
// who sent some are erased, and verify says that all is right. It goes with the member's own
// account, also in the same round.
func TestSecretLikesOfTheErased(t *testing.T) {
	t.Parallel()
	w := newWorld(meettest.New(t))
	ctx, anna, bob, carol, yes := t.Context(), w.Members["anna"], w.Members["bob"], w.Members["carol"], true
	for _, pair := range [][2]meet.Claim{{bob, anna}, {bob, carol}, {carol, anna}, {carol, bob}} {
		_, _, err := w.Like(ctx, pair[0], pair[1].UserID, &yes)
		require.NoError(t, err)
	}
	// Bob and carol match, so anna's two are all that are left; then another one is for bob.
	_, _, err := w.Like(ctx, w.Members["moderator"], bob.UserID, &yes)
	require.NoError(t, err)
	require.NoError(t, w.Block(ctx, anna, carol.UserID), "one of a member whom she blocks counts on")
	number := func() int {
		page, err := w.LikesReceived(ctx, w.enter("anna"), "", 10)
		require.NoError(t, err)
		return page.Anonymous
	}
	require.Equal(t, 2, number())
	for _, name := range []string{"moderator", "carol", "bob"} { // the sender is taken out before the reader
		_, err := w.DeleteMe(ctx, w.enter(name), password)
		require.NoError(t, err)
		w.Clock.Pass(time.Second)
	}
	w.Settle()
	require.Equal(t, 2, number())
	w.Clock.Pass(month)
	run(w, 5)
	for _, gone := range []meet.Claim{bob, carol, w.Members["moderator"]} {
		require.Empty(t, found(w, []string{gone.UserID}))
	}
	require.Equal(t, 2, number())
	require.Equal(t, 2, w.secret(anna.UserID))
	_, err = verify.Store{Service: w.Service}.Verify(ctx, func(f meet.Finding) {
		t.Errorf("%s %s: %s", f.Table, f.Key, f.Says)
	})
	require.NoError(t, err)
	run(w, 30)
	require.Equal(t, 2, number(), "tidy leaves them")
	_, err = w.DeleteMe(ctx, w.enter("anna"), password)
	require.NoError(t, err)
	w.Settle()
	w.Clock.Pass(month)
	run(w, 5)
	require.Zero(t, w.secret(anna.UserID))
}

// enter signs a member in again.
func (w *world) enter(name string) meet.Claim {
	w.T.Helper()
	in, err := w.Login(w.T.Context(), name+"@example.com", password, meet.Asker{Agent: "test"})
	require.NoError(w.T, err)
	c, err := meet.ParseAccess(in.Tokens.Access)
	require.NoError(w.T, err)
	return c
}

// TestCrashesOfErasure: after any accident to any call of a run the next runs end the work, and
// the rows of others are whole.
func TestCrashesOfErasure(t *testing.T) {
	t.Parallel()
	for name, hours := range map[string]int{"mark": 0, "round": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := newWorld(meettest.New(t))
			left := live(t, before)
			_, err := before.DeleteMe(t.Context(), before.Members["bob"], password)
			require.NoError(t, err)
			before.Settle()
			before.Clock.Pass(month)
			run(before, hours)
			before.Clock.Pass(time.Hour)
			require.NotEmpty(t, found(before, left.values[:1]))
			calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
				w := newWorld(before.Clone(t))
				err := job(w.Over(crash.Over(w.DB, w.Queues))).Run(t.Context())
				if err != nil {
					require.ErrorIs(t, err, calls.ErrLost)
				}
				crash.Land(w.Pump, w.Clock.Pass)
				w.Settle()
				run(w, 4)
				require.Len(t, found(w, left.values), 3, "the snapshot alone")
				attend, messages := map[string]int{}, 0
				for _, row := range w.Rows("EventAttendees") {
					attend[row.Partition] += int(row.Props.Get("Attendees").Int())
					require.Zero(t, row.Props.Get("Waiting").Int())
					if row.Key.Row != "!event" {
						attend[row.Partition] += 10
					}
				}
				require.Equal(t, map[string]int{left.event: 11, left.past: 11, left.full: 11}, attend,
					"carol is counted, and at one anna")
				for _, row := range w.Rows("Messages") {
					if row.Partition == left.chat && row.Props.Get("Number").Int() > 0 {
						messages++
					}
				}
				require.Equal(t, 7, messages)
				require.Equal(t, 1, w.secret(w.Members["admin"].UserID))
				for _, row := range w.Rows("State") {
					require.Equal(t, tidy.Name, row.Partition, "nothing is left to do")
				}
			})
		})
	}
}
