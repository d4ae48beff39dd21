package meet_test

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/delivery/mail"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

// stored is the schema: for each table the keys and the properties with their types.
var stored = map[string]string{
	"Users": `USER_{c} / {id}: Age Int32, Bio String, BirthDate DateTime, CreatedAt DateTime, Email String, Gender String, IsDeleted Boolean, LastSeen DateTime, ` +
		`LatTenths Int32, Location String, LonTenths Int32, Moves Int32, MovesOn String, Name String, NewEmail String, PasswordHash String, ProfileImageUrl String, Registered Boolean, Role String, SessionsAfter DateTime, ` +
		`Shuffle String, SuspendedReason String, UpdatedAt DateTime, Version Int64`,
	"UserEmails": `EMAIL_{hh} / {hash}: UserId String`,
	"Mails": `DAY_{yyyyMMdd} / all: Count Int32; DAY_{yyyyMMdd} / join_{hash}: Count Int32; ` +
		`JOIN_{c} / {id}: Age Int32, Bio String, BirthDate DateTime, CreatedAt DateTime, Email String, EndsAt DateTime, Gender String, IsDeleted Boolean, Language String, LastSeen DateTime, Location String, ` +
		`Name String, PasswordHash String, ProfileImageUrl String, Registered Boolean, Role String, SecretHash String, Shuffle String, SuspendedReason String, UpdatedAt DateTime, Version Int64`,
	"Sessions":      `{id} / {id}: AccessEndsAt DateTime, AccessHash String, CreatedAt DateTime, Device String, EndsAt DateTime, PreviousHash String, RefreshHash String, Salt String, UsedAt DateTime`,
	"UserImages":    `{id} / !images: Count Int32, Version Int64; {id} / {id}: BlobUrl String, Bytes Int32, Height Int32, OrderIndex Int32, UploadedAt DateTime, Width Int32`,
	"Likes":         `{id} / DAY_{yyyyMMdd}: Count Int32; {id} / {inv}_{id}: CreatedAt DateTime, FromUserId String, IsMatch Boolean, ToUserId String`,
	"LikesReceived": `{id} / {inv}_{id}: CreatedAt DateTime, FromUserId String, IsMatch Boolean, ToUserId String; {id}_ANON / {inv}_{id}: CreatedAt DateTime, FromUserId String, IsMatch Boolean, ToUserId String`,
	"Matches":       `{id} / {id}: ChatId String, CreatedAt DateTime, IsActive Boolean, User1Id String, User2Id String, Version Int64`,
	"Blocks":        `{id} / {inv}_{id}: CreatedAt DateTime; {id}_BY / {inv}_{id}: CreatedAt DateTime`,
	"Pairs": `{id} / {id}: Anonymous1 Boolean, Anonymous2 Boolean, Attempt1 String, Attempt2 String, Block1 Int64, Block2 Int64, Kept1 Int64, Kept2 Int64, Last Int64, Like1 Int64, Like2 Int64, ` +
		`MatchNumber Int64, MatchedAt Int64, Pass1 Int64, Pass2 Int64, Version Int64`,
	"UserPreferences": `{id} / PREFS: AgeRangeMax Int32, AgeRangeMin Int32, Changes Int32, ChangesOn String, MaxDistanceKm Int32, ShowMe String, UpdatedAt DateTime; {id} / PLACE: Place String, UpdatedAt DateTime`,
	"UserSettings":    `{id} / SETTINGS: AnonymousLikes Boolean, EmailNotifications Boolean, Language String, NotificationsEnabled Boolean, ProfileVisibility String, UpdatedAt DateTime`,
	"Chats":           `CHAT_private_{c} / {id}: CreatedAt DateTime, Participants String, Type String, UpdatedAt DateTime`,
	"UserChats":       `{id} / {id}: LastAt DateTime, OtherId String`,
	"Messages": `{id} / !open: CreatedAt DateTime, IsOpen Boolean, User1Id String, User2Id String, Version Int64; ` +
		`{id} / !chat: Last Int64, Read1 Int64, Read2 Int64, Sent1 Int64, Sent2 Int64, UpdatedAt DateTime, Version Int64; ` +
		`{id} / ~{hash}: ContentHash String, CreatedAt DateTime, MessageKey String; ` +
		`{id} / {inv}_{id}: Content String, MessageId String, Number Int64, OtherNumber Int64, SenderId String, SentAt DateTime, Type String; ` +
		`{id} / {inv}_{id}: Content String, EditedAt DateTime, MessageId String, Number Int64, OtherNumber Int64, SenderId String, SentAt DateTime, Type String; ` +
		`{id} / {inv}_{id}: Content String, DeletedAt DateTime, MessageId String, Number Int64, OtherNumber Int64, SenderId String, SentAt DateTime, Type String`,
	"Deck": `{gender}_{h} / {shuffle}_{id}: AgeRangeMax Int32, AgeRangeMin Int32, BirthDate DateTime, Gender String, IsOut Boolean, MaxDistanceKm Int32, ShowMe String, UpdatedAt DateTime; ` +
		`{gender}_{h} / {shuffle}_{id}: AgeRangeMax Int32, AgeRangeMin Int32, BirthDate DateTime, Gender String, IsOut Boolean, LatTenths Int32, LonTenths Int32, MaxDistanceKm Int32, ShowMe String, UpdatedAt DateTime; ` +
		`P_{lat}_{lon} / {shuffle}_{id}: AgeRangeMax Int32, AgeRangeMin Int32, BirthDate DateTime, Gender String, IsOut Boolean, LatTenths Int32, LonTenths Int32, MaxDistanceKm Int32, ShowMe String, UpdatedAt DateTime`,
}

// forms turn keys into their forms, longest first.
var forms = []struct {
	form string
	key  *regexp.Regexp
}{
	{"{id}", regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)},
	{"CHAT_private_{c}", regexp.MustCompile(`^CHAT_private_[0-9a-f]$`)},
	{"{shuffle}_", regexp.MustCompile(`^[0-9a-f]{16}_`)},
	{"P_{lat}_{lon}", regexp.MustCompile(`^P_-?[0-9]{1,2}_-?[0-9]{1,3}$`)},
	{"{gender}_{h}", regexp.MustCompile(`^(male|female|non-binary|prefer-not-to-say)_[0-9a-f]$`)},
	{"{inv}_", regexp.MustCompile(`^[0-9]{19}_`)},
	{"DAY_{yyyyMMdd}", regexp.MustCompile(`^DAY_[0-9]{8}$`)},
	{"{hash}", regexp.MustCompile(`[0-9a-f]{64}`)},
	{"EMAIL_{hh}", regexp.MustCompile(`EMAIL_[0-9a-f]{2}$`)},
	{"JOIN_{c}", regexp.MustCompile(`JOIN_[0-9a-f]$`)},
	{"USER_{c}", regexp.MustCompile(`USER_[0-9a-f]$`)},
}

func form(key string) string {
	for _, f := range forms {
		key = f.key.ReplaceAllString(key, f.form)
	}
	return key
}

var typeNames = map[table.Type]string{
	table.TypeString: "String", table.TypeInt32: "Int32", table.TypeInt64: "Int64",
	table.TypeBool: "Boolean", table.TypeTime: "DateTime",
}

func described(row table.Row) string {
	var props []string
	for _, p := range row.Props {
		props = append(props, p.Name+" "+typeNames[p.Value.Type()])
	}
	slices.Sort(props)
	return fmt.Sprintf("%s / %s: %s", form(row.Partition), form(row.Key.Row), strings.Join(props, ", "))
}

// TestRowsOnAzurite makes one of everything and compares what Table Storage holds with the schema.
func TestRowsOnAzurite(t *testing.T) {
	t.Parallel()
	account, err := azure.New(azure.Config{ConnectionString: azurite.WithBlobs(t, azurite.Account(t)), Blobs: true})
	require.NoError(t, err)
	w := newWorld(t)
	w.blobs = account.Blobs
	w.Service = w.over(account.Tables, account.Queues)
	w.AllChats = meettest.Talks(w.Service)
	ctx := t.Context()
	require.NoError(t, w.Create(ctx))
	in := w.register("anna")
	c := claim(t, in.Tokens)
	_, err = w.SetProfile(ctx, c, in.Me.ID,
		meet.Profile{Name: "Анна", Gender: "female", Lat: 55.75, Lon: -0.05, Located: true},
		func(string) bool { return true })
	require.NoError(t, err)
	require.NoError(t, w.SetPreferences(ctx, c, rules.NewPreferences()))
	require.NoError(t, w.SetPrivacy(ctx, c, rules.NewPrivacy("en")))
	require.NoError(t, w.ChangePassword(ctx, c, secret, "eleven lamps over tea"))
	renewed, err := w.Refresh(ctx, in.Tokens.Refresh)
	require.NoError(t, err)
	picture, err := w.AddImage(ctx, claim(t, renewed), in.Me.ID, meettest.PNG)
	require.NoError(t, err)
	require.Equal(t, []string{in.Me.ID + "/" + picture.ID + ".jpg", in.Me.ID + "/" + picture.ID + "_320.jpg"},
		w.files())
	now := claim(t, renewed)
	matched, blocked, secretly := w.enter("bob"), w.enter("carol"), w.enter("dave")
	yes := true
	for _, like := range [][2]meet.Claim{{matched, now}, {now, matched}, {secretly, now}, {now, blocked}} {
		_, _, err = w.Like(ctx, like[0], like[1].UserID, nil)
		require.NoError(t, err)
	}
	require.NoError(t, w.Unlike(ctx, secretly, in.Me.ID))
	_, _, err = w.Like(ctx, secretly, in.Me.ID, &yes)
	require.NoError(t, err)
	_, _, err = w.Like(ctx, now, secretly.UserID, nil)
	require.NoError(t, err)
	require.NoError(t, w.Unmatch(ctx, now, secretly.UserID))
	_, _, err = w.Like(ctx, secretly, in.Me.ID, &yes)
	require.NoError(t, err)
	require.NoError(t, w.Block(ctx, blocked, in.Me.ID))
	_, _, err = w.Like(ctx, blocked, matched.UserID, nil)
	require.NoError(t, err)
	match, err := w.Person(ctx, now, matched.UserID)
	require.NoError(t, err)
	chat := match.ChatID
	said, _, err := w.Send(ctx, now, chat, "hello", "key")
	require.NoError(t, err)
	_, err = w.MarkRead(ctx, matched, chat, said.ID)
	require.NoError(t, err)
	_, err = w.EditMessage(ctx, now, chat, said.ID, "hello again")
	require.NoError(t, err)
	require.Equal(t, []string{"hello again"}, w.texts(matched, chat))
	require.Equal(t, 0, w.unread(matched, chat))
	_, _, err = w.Send(ctx, now, chat, "plain", "")
	require.NoError(t, err)
	gone, _, err := w.Send(ctx, matched, chat, "gone", "")
	require.NoError(t, err)
	require.NoError(t, w.DeleteMessage(ctx, matched, chat, gone.ID))
	dealt, err := w.Deck(ctx, blocked, "", 10)
	require.NoError(t, err)
	require.NotEmpty(t, dealt.Cards)
	w.Mail, w.Site, w.MailsADay = mail.Printed{To: io.Discard}, "https://harmony.example", -1
	require.NoError(t, w.Join(ctx, someone("eve")))
	_, err = w.MoveTo(ctx, now, "eleven lamps over tea", "anna@example.org")
	require.NoError(t, err)
	for _, trigger := range w.Triggers() {
		if trigger.Queue == meet.QueueMails {
			list, err := account.Queues.Receive(ctx, trigger.Queue, queue.MaxReceive, time.Minute)
			require.NoError(t, err)
			require.NotEmpty(t, list)
			require.NoError(t, trigger.Run(ctx, function.Invocation{Text: list[0].Text, Inserted: list[0].Inserted}))
		}
	}
	for _, name := range tables.All() {
		if name == tables.State {
			continue // of package tidy
		}
		seen := map[string]bool{}
		for row, err := range table.All(ctx, account.Tables, name, table.Range{}) {
			require.NoError(t, err)
			if name == "Users" && row.Key.Row != in.Me.ID {
				continue // entered without a position
			}
			seen[described(row)] = true
		}
		want := map[string]bool{}
		for row := range strings.SplitSeq(stored[name], "; ") {
			want[row] = true
		}
		require.Equal(t, want, seen, name)
	}
	me, err := w.login("anna", "eleven lamps over tea")
	require.NoError(t, err)
	require.Equal(t, rules.Position{Lat: 557, Lon: -1}, *me.Me.Position)
	require.Equal(t, "2000-02-29", me.Me.BirthDate.Format("2006-01-02"))
}
