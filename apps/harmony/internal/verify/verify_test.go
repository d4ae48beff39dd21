package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/apps/harmony/internal/verify"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// A world has the rooms that are compared.
type world struct {
	*meettest.World
	events *events.Service
	forum  *forum.Service
	blog   *blog.Service
}

// over returns the rooms over a service.
func over(w *meettest.World, s *meet.Service) *world {
	happens := events.New(s, meettest.EventTables, meettest.ForumTables)
	return &world{
		w, happens, forum.New(s, happens, meettest.ForumTables),
		blog.New(s, rowstore.DefaultTables[blog.Tables]()),
	}
}

func newWorld(w *meettest.World) *world {
	w.T.Helper()
	all := over(w, w.Service)
	require.NoError(w.T, all.blog.Create(w.T.Context()))
	require.NoError(w.T, all.events.Create(w.T.Context()))
	require.NoError(w.T, all.forum.Create(w.T.Context()))
	w.Handle(w.Triggers(slices.Concat(all.events.Settlers(), all.AllChats.Settlers(), all.forum.Settlers())...))
	return all
}

func (w *world) compared() verify.Store {
	return verify.Store{Service: w.Service, Checks: slices.Concat(w.events.Checks(), w.forum.Checks(), w.blog.Checks())}
}

// differs returns what is not as it must be.
func (w *world) differs() (all []meet.Finding) {
	w.T.Helper()
	rows, err := w.compared().Verify(w.T.Context(), func(f meet.Finding) { all = append(all, f) })
	require.NoError(w.T, err)
	require.Greater(w.T, rows, 50)
	return all
}

// copied copies the files of pictures.
func copied(t *testing.T, from, to blob.Store) {
	t.Helper()
	list, err := from.List(t.Context(), meet.ContainerProfiles, "", 100, "")
	require.NoError(t, err)
	for _, item := range list.Items {
		b, err := from.Get(t.Context(), meet.ContainerProfiles, item.Name)
		require.NoError(t, err)
		require.NoError(t, to.Put(t.Context(), meet.ContainerProfiles, item.Name, b.Body))
	}
}

// live has members leave rows of every kind.
func live(t *testing.T, w *world) {
	t.Helper()
	ctx, admin, anna, bob, carol := t.Context(), w.Members["admin"], w.Members["anna"],
		w.Members["bob"], w.Members["carol"]
	must := func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
	}
	must(w.SetProfile(ctx, anna, anna.UserID,
		meet.Profile{Name: "Anna", Gender: "female", Lat: 55, Lon: 37, Located: true},
		func(string) bool { return true }))
	must(w.AddImage(ctx, anna, anna.UserID, meettest.PNG))
	must(w.AddImage(ctx, anna, anna.UserID, meettest.PNG))
	no, yes := false, true
	like := func(by, of meet.Claim, secret *bool) {
		t.Helper()
		_, _, err := w.Like(ctx, by, of.UserID, secret)
		require.NoError(t, err)
	}
	like(anna, bob, &no)
	like(bob, anna, &no)
	like(carol, anna, &no)
	like(carol, bob, &yes)
	like(anna, admin, &no)
	like(admin, anna, &no)
	require.NoError(t, w.Unmatch(ctx, anna, admin.UserID))
	require.NoError(t, w.Block(ctx, carol, w.Members["moderator"].UserID))
	chats, err := w.Chats(ctx, anna, "", 10)
	require.NoError(t, err)
	for _, c := range chats.Chats {
		if c.Open {
			for range 3 {
				_, _, err := w.Send(ctx, anna, c.ID, "Are you coming?", "")
				require.NoError(t, err)
			}
		}
	}
	places := 2
	e, err := w.events.NewEvent(ctx, admin, events.Draft{
		Title: "Concert", Start: w.Clock.Now().Add(1000 * time.Hour).Format(time.RFC3339), Category: "concert",
		Capacity: &places, Visibility: events.SecretTeaser, Published: true,
	})
	must(e, err)
	must(w.events.NewInvite(ctx, admin, e.ID, events.InviteDraft{Code: "aloe-1"}))
	for _, c := range []meet.Claim{anna, bob} {
		_, _, err = w.events.Register(ctx, c, e.ID, "aloe-1", "x")
		require.NoError(t, err)
	}
	must(w.AllChats.MarkRead(ctx, admin, chat.OfEvent(e.ID), func() string {
		m, _, err := w.Send(ctx, anna, chat.OfEvent(e.ID), "Hello", "")
		require.NoError(t, err)
		return m.ID
	}()))
	must(w.forum.NewSection(ctx, admin, forum.Section{ID: "music", Name: "Music"}))
	topic, err := w.forum.NewTopic(ctx, anna, "music", "A topic", "Enough content", "")
	must(topic, err)
	must(w.forum.Reply(ctx, bob, topic.ID, "A reply", ""))
	must(w.blog.NewPost(ctx, admin,
		blog.Draft{Title: "A post", Content: "A text", Tags: []string{"album"}, Published: true}))
	w.Settle()
}

// TestVerify damages a row of each kind: verify names it and changes nothing, and tidy mends those
// for which another row says how they must be.
func TestVerify(t *testing.T) {
	t.Parallel()
	before := newWorld(meettest.New(t))
	live(t, before)
	require.Empty(t, before.differs())
	gone := func(name, part string) func(*world) []table.Row {
		return func(w *world) []table.Row { return w.damage(name, part, nil) }
	}
	set := func(name, part string, props ...table.Prop) func(*world) []table.Row {
		return func(w *world) []table.Row { return w.damage(name, part, props) }
	}
	number := func(name string, n int64) table.Prop { return table.Prop{Name: name, Value: table.Int64(n)} }
	count := func(name string, n int32) table.Prop { return table.Prop{Name: name, Value: table.Int32(n)} }
	flag := func(name string, is bool) table.Prop { return table.Prop{Name: name, Value: table.Bool(is)} }
	word := func(name, s string) table.Prop { return table.Prop{Name: name, Value: table.String(s)} }
	id, inverse := before.NewID(), "2516000000000000000_"
	for name, tt := range map[string]struct {
		damage func(*world) []table.Row
		named  string // the table of the row that is named
		mended bool
	}{
		"a like sent is gone":        {gone("Likes", "_"), "Likes", true},
		"a like says it is no match": {set("Likes", "mutual", flag("IsMatch", false)), "Likes", true},
		"a like says it is a match":  {set("Likes", "lonely", flag("IsMatch", true)), "Likes", true},
		"a like of nobody": {
			set("Likes", id+" / "+inverse+id, flag("IsMatch", false)), "Likes", true,
		},
		"a like received is gone":        {gone("LikesReceived", "_"), "LikesReceived", true},
		"a secret like received is gone": {gone("LikesReceived", "_ANON"), "LikesReceived", true},
		"a like received of nobody": {
			set("LikesReceived", id+"_ANON / "+inverse+id, flag("IsMatch", false)), "LikesReceived", true,
		},
		"a block is gone":   {gone("Blocks", "_"), "Blocks", true},
		"a block of nobody": {set("Blocks", id+"_BY / "+inverse+id), "Blocks", true},
		"a match is gone":   {gone("Matches", "true"), "Matches", true},
		"a match is ended": {
			set("Matches", "true", flag("IsActive", false)), "Matches", true,
		},
		"an ended match is there": {
			set("Matches", "false", flag("IsActive", true)), "Matches", true,
		},
		"a match of nobody": {
			set("Matches", id+" / "+before.NewID(), flag("IsActive", true)), "Matches", true,
		},
		"both like, and match not":      {set("Pairs", "matched", number("MatchedAt", 0)), "Pairs", false},
		"they match, and one likes not": {set("Pairs", "matched", number("Like1", 0)), "Pairs", false},
		"a block and likes":             {set("Pairs", "matched", number("Block1", 5)), "Pairs", false},
		"a chat is closed": {
			set("Messages", "open", flag("IsOpen", false)), "Messages", true,
		},
		"a chat has no head":    {gone("Messages", "open"), "Messages", true},
		"a chat is in no table": {gone("Chats", "CHAT_"), "Chats", true},
		"a chat is in no list":  {gone("UserChats", "of two"), "UserChats", true},
		"a chat of an event is closed": {
			set("Messages", "talk", flag("IsOpen", false)), "Messages", true,
		},
		"a chat of an event has no head":   {gone("Messages", "talk"), "Messages", true},
		"a chat of an event is in no list": {gone("UserChats", "hears"), "UserChats", true},
		"a list has a chat of an event that is none": {
			set("UserChats", id+" / "+id, word("EventId", id)), "UserChats", false,
		},
		"a chat counts wrong": {
			set("Messages", "!chat", number("Sent1", 17)), "Messages", false,
		},
		"a message is gone": {gone("Messages", "counted"), "Messages", false},
		"more is read than sent": {
			set("Messages", "!chat", number("Read1", 17), number("Read2", 17)), "Messages", false,
		},
		"an account has no address":     {gone("UserEmails", "EMAIL_"), "Users", false},
		"an address has no account":     {gone("Users", "USER_"), "UserEmails", false},
		"an account has no preferences": {gone("UserPreferences", "PREFS"), "UserPreferences", true},
		"an account has no settings":    {gone("UserSettings", "SETTINGS"), "UserSettings", true},
		"settings of nobody": {
			set("UserSettings", id+" / SETTINGS", word("Language", "en")), "UserSettings", true,
		},
		"a session of nobody": {
			set("Sessions", id+" / "+id, word("Device", "x")), "Sessions", true,
		},
		"a profile shows another picture": {
			set("Users", "images", word("ProfileImageUrl", "/x.jpg")), "Users", true,
		},
		"pictures are counted wrong": {
			set("UserImages", "!images", count("Count", 5)), "UserImages", false,
		},
		"a member is in no deck":   {gone("Deck", "female_"), "Deck", true},
		"a member is in no square": {gone("Deck", "P_"), "Deck", true},
		"a row of decks is of old": {set("Deck", "female_", count("AgeRangeMin", 40)), "Deck", true},
		"a row of decks of nobody": {
			set("Deck", "male_0 / 0000000000000000_"+id, flag("IsOut", false)), "Deck", true,
		},
		"a row of decks at another place": {set("Deck", "another", flag("IsOut", false)), "Deck", true},
		"an event is in no list":          {gone("Events", "EVENT_all"), "Events", true},
		"a list has no such event": {
			set("Events", "EVENT_all / "+inverse+id+"_0", word("EventId", id)), "Events", true,
		},
		"an event counts wrong": {
			set("EventAttendees", "!event", count("Attendees", 1)), "EventAttendees", true,
		},
		"an event counts who wait wrong": {
			set("EventAttendees", "!event", count("Waiting", 3)), "EventAttendees", true,
		},
		"an invite is found by no code": {gone("EventInvites", "CODE_"), "EventInvites", true},
		"a code of no invite": {
			set("EventInvites", "CODE_ALOE-2 / "+id, word("EventId", id)), "EventInvites", true,
		},
		"an attendee is gone": {gone("EventAttendees", "attendee"), "EventAttendees", true},
		"there are too many attendees": {
			set("EventAttendees", "!event", count("Capacity", 1)), "EventAttendees", false,
		},
		"a place is in no list": {gone("UserEvents", "_"), "UserEvents", true},
		"a place of nobody": {
			set("UserEvents", id+" / "+inverse+id, word("EventId", id)), "UserEvents", true,
		},
		"an invite of no event": {
			set("EventInvites", id+" / ALOE-2", flag("Revoked", false)), "EventInvites", true,
		},
		"a topic of an event is gone": {gone("ForumReplies", "event's"), "ForumReplies", true},
		"a topic is in no list":       {gone("ForumTopics", "SECTION_"), "ForumTopics", true},
		"a list names another author": {
			set("ForumTopics", "SECTION_", word("AuthorId", id)), "ForumTopics", true,
		},
		"a topic is found by no words": {gone("ForumTopics", "SEARCH"), "ForumTopics", true},
		"words of no topic": {
			set("ForumTopics", "SEARCH / s_"+inverse+id+"_0", word("Words", " x")), "ForumTopics", true,
		},
		"a list has no such topic": {
			set("ForumTopics", "SECTION_music / 1_"+inverse+id+"_0", word("AuthorId", id)), "ForumTopics", true,
		},
		"a topic counts wrong": {
			set("ForumReplies", "!topic", count("ReplyCount", 7)), "ForumReplies", true,
		},
		"a post is in no list":      {gone("BlogPosts", "BLOG"), "BlogPosts", true},
		"a post is found by no tag": {gone("BlogPosts", "TAG_"), "BlogPosts", true},
		"a tag has no such post": {
			set("BlogPosts", "TAG_0 / "+inverse+id+"_0", word("PostId", id)), "BlogPosts", true,
		},
		"a list has no such post": {
			set("BlogPosts", "BLOG / "+inverse+id+"_0", word("PostId", id)), "BlogPosts", true,
		},
		"a section is gone": {gone("ForumSections", "FORUM"), "ForumReplies", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(before.Clone(t))
			copied(t, before.Blobs, w.Blobs)
			require.Empty(t, w.differs())
			tt.damage(w)
			found := w.differs()
			require.NotEmpty(t, found, "it is not seen")
			require.True(t, slices.ContainsFunc(found, func(f meet.Finding) bool { return f.Table == tt.named }),
				"%v", found)
			require.Len(t, w.differs(), len(found), "it changes nothing")
			w.Clock.Pass(25 * time.Hour)
			for range 2 {
				require.NoError(t, tidy.Job{Service: w.Service, Walks: w.compared().Walks()}.Run(t.Context()))
				w.Clock.Pass(25 * time.Hour)
			}
			left := w.differs()
			require.Equal(t, tt.mended, len(left) == 0, "%v", left)
			if !tt.mended {
				require.True(t, slices.ContainsFunc(left, func(f meet.Finding) bool { return f.Mend == nil }),
					"a person must decide")
			}
		})
	}

	t.Run("a file is gone", func(t *testing.T) {
		t.Parallel()
		w := newWorld(before.Clone(t))
		found := w.differs()
		require.NotEmpty(t, found)
		for _, f := range found {
			require.Equal(t, "UserImages", f.Table)
			require.Nil(t, f.Mend)
		}
	})
}

// damage removes a row, or sets some of its properties. part names it: by a part of its key, by its
// whole key, or by what it is.
func (w *world) damage(name, part string, props table.Props) []table.Row {
	w.T.Helper()
	write := func(op table.Op) []table.Row {
		_, err := w.DB.Write(w.T.Context(), name, op)
		require.NoError(w.T, err)
		return []table.Row{op.Row}
	}
	if partition, key, ok := strings.Cut(part, " / "); ok {
		return write(table.Op{
			Kind: table.Insert,
			Row:  table.Row{Key: table.Key{Partition: partition, Row: key}, Props: props},
		})
	}
	is := func(row table.Row) bool {
		switch p := row.Props; part {
		case "true", "false":
			return p.Get("IsActive").Bool() == (part == "true")
		case "mutual":
			return p.Get("IsMatch").Bool()
		case "lonely":
			return !p.Get("IsMatch").Bool() && !strings.HasPrefix(row.Key.Row, "DAY_")
		case "matched":
			return p.Get("MatchedAt").Int() > 0
		case "open":
			return row.Key.Row == "!open" && p.Get("IsOpen").Bool() && p.Get("EventId").Str() == ""
		case "talk":
			return row.Key.Row == "!open" && p.Get("EventId").Str() != ""
		case "counted":
			return p.Get("Number").Int() > 0 // what the service says has none
		case "of two":
			return p.Get("OtherId").Str() != ""
		case "hears":
			return p.Get("EventId").Str() != "" && row.Partition != w.Members["admin"].UserID
		case "images":
			return p.Get("ProfileImageUrl").Str() != ""
		case "event's":
			return row.Key.Row == "!topic" && p.Get("Visibility").Str() != ""
		case "attendee":
			return row.Key.Row != "!event"
		case "another":
			return true
		}
		return strings.Contains(row.Key.String(), part) && !strings.Contains(row.Key.Row, "DAY_")
	}
	for _, row := range w.Rows(name) {
		if !is(row) {
			continue
		}
		if part == "another" {
			row.Partition, row.ETag = "male_"+row.Key.Row[:1], ""
			return write(table.Op{Kind: table.Insert, Row: table.Row{Key: row.Key, Props: props}})
		}
		if props == nil {
			return write(table.Op{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}})
		}
		return write(table.Op{Kind: table.Merge, Row: table.Row{Key: row.Key, ETag: table.Any, Props: props}})
	}
	require.Fail(w.T, "there is no such row", "%s %s", name, part)
	return nil
}

// written has accidents happen to writes alone: a read changes no row.
type written struct {
	table.DB
	crash table.DB
}

// Write applies operations, unless an accident happens.
func (d written) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	return d.crash.Write(ctx, name, ops...)
}

// TestCrashesOfMending: after any accident to any write of the timer its next run mends the rest,
// and no row is worse than before.
func TestCrashesOfMending(t *testing.T) {
	t.Parallel()
	before := newWorld(meettest.New(t))
	live(t, before)
	number := func(name string, n int32) table.Props { return table.Props{{Name: name, Value: table.Int32(n)}} }
	before.damage("Likes", "_", nil)
	before.damage("Matches", "true", table.Props{{Name: "IsActive", Value: table.Bool(false)}})
	before.damage("Messages", "open", table.Props{{Name: "IsOpen", Value: table.Bool(false)}})
	before.damage("Messages", "talk", nil)
	before.damage("UserChats", "hears", nil)
	before.damage("UserSettings", "SETTINGS", nil)
	before.damage("Deck", "female_", nil)
	before.damage("Events", "EVENT_all", nil)
	before.damage("EventAttendees", "!event", number("Attendees", 1))
	before.damage("UserEvents", "_", nil)
	before.damage("ForumTopics", "SECTION_", nil)
	before.damage("ForumReplies", "!topic", number("ReplyCount", 7))
	before.damage("BlogPosts", "BLOG", nil)
	before.Clock.Pass(25 * time.Hour)
	calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
		w := newWorld(before.Clone(t))
		copied(t, before.Blobs, w.Blobs)
		accidents, queues := crash.Over(w.DB, w.Queues)
		late := w.Over(written{w.DB, accidents}, queues)
		compared := over(w.World, late).compared()
		compared.Service = late
		if err := (tidy.Job{Service: late, Walks: compared.Walks()}).Run(t.Context()); err != nil {
			require.ErrorIs(t, err, calls.ErrLost)
		}
		crash.Land(w.Pump, w.Clock.Pass)
		for range 2 {
			w.Clock.Pass(25 * time.Hour)
			require.NoError(t, tidy.Job{Service: w.Service, Walks: w.compared().Walks()}.Run(t.Context()))
		}
		require.Empty(t, w.differs())
	})
}
