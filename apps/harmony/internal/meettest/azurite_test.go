package meettest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

const (
	eventProps = `Attendees Int32, Capacity Int32, Category String, CreatedAt DateTime, Currency String, Description String, EndDate DateTime, IsDeleted Boolean, IsPublished Boolean, ` +
		`IsSecret Boolean, Location String, OrganizerId String, Price Int64, Queued Int64, Sequence Int64, StartDate DateTime, TimeZone String, Title String, UpdatedAt DateTime, Version Int64, Visibility String, Waiting Int32`
	topicProps = `Content String, CreatedAt DateTime, IsDeleted Boolean, IsLocked Boolean, IsPinned Boolean, Last Int64, LastActivityAt DateTime, Moves Int64, ` +
		`ReplyCount Int32, SectionId String, Title String, UpdatedAt DateTime`
	reportProps = `Action String, CreatedAt DateTime, Kind String, Reason String, ReplyId String, ReporterId String, Snapshot String, Text String, TopicId String, UserId String`
)

// stored is the schema of the rooms: for each table the keys and the properties with their types.
var stored = map[string]string{
	"Events": `EVENT_all / {t}_{id}_{n}: EventId String; EVENT_concert / {t}_{id}_{n}: EventId String; PAST_all / {t}_{id}_{n}: EventId String; PAST_concert / {t}_{id}_{n}: EventId String; ` +
		`STAFF / {t}_{id}_{n}: EventId String`,
	"EventAttendees": `{id} / !event: ` + eventProps +
		`; {id} / {id}: Attended Boolean, InChat Boolean, RegisteredAt DateTime, Told Boolean; ` +
		`{id} / ~{id}: Number Int64, Since DateTime`,
	"UserEvents":    `{id} / {t}_{id}: EventId String, StartDate DateTime; {id} / {t}_{id}: EventId String, StartDate DateTime, Waiting Boolean`,
	"EventInvites":  `{id} / ALOE-1: CreatedAt DateTime, CreatedBy String, ExpiresAt DateTime, Revoked Boolean, Uses Int32; CODE_ALOE-1 / {id}: EventId String`,
	"ForumSections": `FORUM / music: CreatedAt DateTime, Description String, Name String, OrderIndex Int32`,
	"ForumTopics":   `SEARCH / s_{t}_{id}_{n}: AuthorId String, Words String; SECTION_music / 1_{t}_{id}_{n}: AuthorId String; SECTION_event-{id} / 1_{t}_{id}_{n}: AuthorId String`,
	"ForumReplies": `TOPIC_{id} / !topic: AuthorId String, ` + topicProps +
		`; TOPIC_{id} / !topic: AllowedUserIds String, AuthorId String, ` + topicProps + `, Visibility String; ` +
		`TOPIC_{id} / {t}_{id}: AuthorId String, Content String, CreatedAt DateTime, EditedAt DateTime, ReplyId String`,
	"StoreItems": `STORE / {id}: Category String, CreatedAt DateTime, Currency String, Description String, ExternalPurchaseUrl String, ImageUrl String, IsAvailable Boolean, Price Int64, StockQuantity Int32, Title String, UpdatedAt DateTime`,
	"Chats":      `CHAT_group_{c} / {id}: CreatedAt DateTime, Description String, EventId String, Name String, Type String, UpdatedAt DateTime`,
	"UserChats":  `{id} / {id}: EventId String, LastAt DateTime, ReadUpTo String`,
	"Messages": `{id} / !open: CreatedAt DateTime, EventId String, IsOpen Boolean; ` +
		`{id} / !chat: Last Int64, Read1 Int64, Read2 Int64, Sent1 Int64, Sent2 Int64, UpdatedAt DateTime, Version Int64; ` +
		`{id} / {t}_{id}: Content String, EditedAt DateTime, MessageId String, Number Int64, OtherNumber Int64, SenderId String, SentAt DateTime, Type String; ` +
		`{id} / {t}_{id}: Content String, MessageId String, Number Int64, OtherNumber Int64, SenderId String, SentAt DateTime, Type String; ` +
		`{id} / {t}_{id}: Content String, Height Int32, ImageId String, MessageId String, Number Int64, OtherNumber Int64, SenderId String, SentAt DateTime, Type String, Width Int32; ` +
		`{id} / ~i_{id}: CreatedAt DateTime, MessageKey String, SenderId String; {id} / ~{hash}: ContentHash String, CreatedAt DateTime, MessageKey String`,
	"BlogPosts": `POST_{c} / {id}: AuthorId String, Content String, CreatedAt DateTime, Excerpt String, IsPublished Boolean, PostId String, PublishedAt DateTime, Tags String, Title String, UpdatedAt DateTime, Version Int64; ` +
		`BLOG / {t}_{id}_{n}: PostId String; TAG_ca7cad8166758cb97d37edf143196ab6 / {t}_{id}_{n}: PostId String`,
	"Reports": `BY_{id} / {hash}: ReportId String; REPORT / open_{t}_{id}: ` + reportProps +
		`; REPORT / done_{t}_{id}: ` + strings.Replace(reportProps, "CreatedAt", "ClosedAt DateTime, CreatedAt", 1),
}

var forms = []struct {
	form string
	key  *regexp.Regexp
}{
	{"{id}", regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)},
	{"{hash}", regexp.MustCompile(`[0-9a-f]{64}`)},
	{"{t}", regexp.MustCompile(`[0-9]{19}`)},
	{"POST_{c}", regexp.MustCompile(`^POST_[0-9a-f]$`)},
	{"CHAT_group_{c}", regexp.MustCompile(`^CHAT_group_[0-9a-f]$`)},
	{"_{n}", regexp.MustCompile(`_[0-9]+$`)},
}

func described(row table.Row) string {
	key := [2]string{row.Partition, row.Key.Row}
	for i := range key {
		for _, f := range forms {
			key[i] = f.key.ReplaceAllString(key[i], f.form)
		}
	}
	names := map[table.Type]string{
		table.TypeString: "String", table.TypeInt32: "Int32", table.TypeInt64: "Int64",
		table.TypeBool: "Boolean", table.TypeTime: "DateTime",
	}
	var props []string
	for _, p := range row.Props {
		props = append(props, p.Name+" "+names[p.Value.Type()])
	}
	slices.Sort(props)
	return fmt.Sprintf("%s / %s: %s", key[0], key[1], strings.Join(props, ", "))
}

// TestRowsOnAzurite makes one of everything in the rooms and compares what Table Storage holds with
// the schema.
func TestRowsOnAzurite(t *testing.T) {
	t.Parallel()
	account, err := azure.New(azure.Config{ConnectionString: azurite.Account(t)})
	require.NoError(t, err)
	ctx := t.Context()
	s := meettest.New(t).Over(account.Tables, account.Queues)
	happens := events.New(s, meettest.EventTables, meettest.ForumTables)
	talk := forum.New(s, happens, meettest.ForumTables)
	told := reports.New(s, chats.New(s, happens), talk, rowstore.DefaultTables[reports.Tables]())
	require.NoError(t, s.Create(ctx))
	require.NoError(t, happens.Create(ctx))
	require.NoError(t, talk.Create(ctx))
	require.NoError(t, told.Create(ctx))
	sold := shop.New(s, rowstore.DefaultTables[shop.Tables]())
	require.NoError(t, sold.Create(ctx))
	claims := map[string]meet.Claim{}
	for _, name := range []string{"admin", "anna"} {
		in, err := s.Register(ctx, meet.Registration{
			Email: name + "@example.com", Password: "tea under seven lamps", Name: name, BirthDate: "2000-02-29",
			Gender: "female", Language: "en", By: meet.Asker{Agent: "test"},
		})
		require.NoError(t, err)
		claims[name], err = meet.ParseAccess(in.Tokens.Access)
		require.NoError(t, err)
	}
	_, err = s.SetRole(ctx, "admin@example.com", meet.Admin)
	require.NoError(t, err)
	admin, anna, places := claims["admin"], claims["anna"], 1
	d := events.Draft{
		Title: "Concert", Start: meettest.Began.Add(time.Hour).Format(time.RFC3339),
		End: meettest.Began.Add(2 * time.Hour).Format(time.RFC3339), Capacity: &places,
		Category: "party", Price: &rules.Price{Minor: 1, Currency: "EUR"},
		Visibility: events.SecretHidden, Published: true,
	}
	e, err := happens.NewEvent(ctx, admin, d)
	require.NoError(t, err)
	d.Category, d.Visibility = "concert", events.SecretTeaser
	_, err = happens.Edit(ctx, admin, e.ID, d)
	require.NoError(t, err)
	_, err = happens.NewInvite(ctx, admin, e.ID, events.InviteDraft{Code: "aloe-1", ExpiresAt: d.Start})
	require.NoError(t, err)
	for range 2 {
		_, created, err := happens.Register(ctx, anna, e.ID, "aloe-1", "anna")
		require.NoError(t, err)
		require.True(t, created)
		require.NoError(t, happens.Unregister(ctx, anna, e.ID))
	}
	_, _, err = happens.Register(ctx, anna, e.ID, "aloe-1", "anna")
	require.NoError(t, err)
	_, _, err = happens.WaitFor(ctx, admin, e.ID, "", "admin")
	require.NoError(t, err)
	posts := blog.New(s, rowstore.DefaultTables[blog.Tables]())
	require.NoError(t, posts.Create(ctx))
	_, err = posts.NewPost(ctx, admin,
		blog.Draft{Title: "A post", Content: "A text", Tags: []string{"album"}, Published: true})
	require.NoError(t, err)
	room := meettest.Talks(s)
	said, _, err := room.Send(ctx, anna, chat.OfEvent(e.ID), "hello", "")
	require.NoError(t, err)
	_, err = room.EditMessage(ctx, anna, chat.OfEvent(e.ID), said.ID, "hello again")
	require.NoError(t, err)
	_, _, err = room.SendImage(ctx, anna, chat.OfEvent(e.ID), meettest.PNG, "")
	require.NoError(t, err)
	_, err = room.MarkRead(ctx, admin, chat.OfEvent(e.ID), said.ID)
	require.NoError(t, err)
	thing, err := sold.New(ctx, admin,
		shop.Item{
			Title: "LP", Price: &rules.Price{Minor: 1, Currency: "EUR"}, Category: "music",
			Link: "https://example.com",
		}, "")
	require.NoError(t, err)
	_, err = sold.SetImage(ctx, admin, thing.ID, meettest.PNG)
	require.NoError(t, err)
	_, err = talk.NewSection(ctx, admin, forum.Section{ID: "music", Name: "Music"})
	require.NoError(t, err)
	topic, err := talk.NewTopic(ctx, anna, "music", "A topic", "Enough content", "")
	require.NoError(t, err)
	reply, err := talk.Reply(ctx, anna, topic.ID, "A reply", "")
	require.NoError(t, err)
	_, err = talk.EditReply(ctx, anna, topic.ID, reply.ID, "Another reply")
	require.NoError(t, err)
	_, _, err = told.Report(ctx, admin, reports.Target{Kind: "topic", TopicID: topic.ID}, "spam", "")
	require.NoError(t, err)
	id, _, err := told.Report(ctx, admin, reports.Target{Kind: "user", UserID: anna.UserID}, "spam", "")
	require.NoError(t, err)
	_, err = told.Close(ctx, admin, id, "dismiss", 0)
	require.NoError(t, err)
	for name, schema := range stored {
		seen, want := map[string]bool{}, map[string]bool{}
		for row, err := range table.All(ctx, account.Tables, name, table.Range{}) {
			require.NoError(t, err)
			seen[described(row)] = true
		}
		for row := range strings.SplitSeq(schema, "; ") {
			want[row] = true
		}
		require.Equal(t, want, seen, name)
	}
}
