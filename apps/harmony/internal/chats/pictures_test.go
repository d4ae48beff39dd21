package chats_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/verify"
	"prompthub/internal/fault"
	pictures "prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

func (w *world) match(a, b meet.Claim) string {
	w.T.Helper()
	return meettest.Match(w.T, w.Service, a, b)
}

// picture sends a picture.
func (w *world) picture(c meet.Claim, room string) chats.Message {
	w.T.Helper()
	m, created, err := w.SendImage(w.T.Context(), c, room, meettest.PNG, "")
	require.NoError(w.T, err)
	require.True(w.T, created)
	return m
}

// sees reports whether a member sees both files of the picture of a message. One who does not is
// answered as if there were none.
func (w *world) sees(c meet.Claim, room string, m chats.Message) bool {
	w.T.Helper()
	seen := 0
	for _, file := range []string{m.Image.ID + ".jpg", m.Image.ID + "_320.jpg"} {
		b, err := w.SentPicture(w.T.Context(), c, room, file)
		if err == nil {
			require.Equal(w.T, "image/jpeg", b.Type)
			seen++
			continue
		}
		require.Equal(w.T, meet.NoImage().Error(), err.Error())
		meettest.RequireCode(w.T, meet.ImageNotFound, err)
	}
	require.NotEqual(w.T, 1, seen)
	return seen == 2
}

// TestPicturesOfTwo: a picture of a chat of two is seen by the two while its sender is there for
// the other, and by staff once it was reported.
func TestPicturesOfTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, anna, bob, carol, moderator := t.Context(), w.Members["admin"], w.Members["anna"], w.Members["bob"],
		w.Members["carol"], w.Members["moderator"]
	room := w.match(anna, bob)
	m := w.picture(anna, room)
	require.Equal(t, []any{chat.TypeImage, "", 8, 8}, []any{m.Type, m.Content, m.Image.Width, m.Image.Height})
	everybody := map[string]meet.Claim{"anna": anna, "bob": bob, "carol": carol, "moderator": moderator, "a guest": {}}
	see := func() (all []string) {
		for _, name := range []string{"anna", "bob", "carol", "moderator", "a guest"} {
			if w.sees(everybody[name], room, m) {
				all = append(all, name)
			}
		}
		return all
	}
	require.Equal(t, []string{"anna", "bob"}, see(), "staff read no chat of two")
	require.False(t, w.sees(anna, w.match(anna, carol), m), "it is of another chat")
	require.NoError(t, w.ReportImage(ctx, room, m.Image.ID))
	require.Equal(t, []string{"anna", "bob", "moderator"}, see(), "once it was reported")
	require.NoError(t, w.Unmatch(ctx, bob, anna.UserID))
	require.Equal(t, []string{"anna", "bob", "moderator"}, see(), "what was written can still be read")
	require.NoError(t, w.Block(ctx, anna, bob.UserID))
	require.Equal(t, []string{"anna", "moderator"}, see(), "a block hides its sender")
	require.NoError(t, w.Unblock(ctx, anna, bob.UserID))
	require.NoError(t, w.Suspend(ctx, admin, anna.UserID, 1, "spam"))
	require.False(t, w.sees(bob, room, m))
	require.NoError(t, w.Unsuspend(ctx, admin, anna.UserID))
	require.True(t, w.sees(bob, room, m))
	_, err := w.DeleteMe(ctx, anna, "tea under seven lamps")
	require.NoError(t, err)
	require.False(t, w.sees(bob, room, m), "its sender has left")
	require.True(t, w.sees(moderator, room, m), "the report is still there")
}

// TestPicturesOfEvents: attendees and staff see the pictures of the chat of an event, and no
// others.
func TestPicturesOfEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob, carol := t.Context(), w.Members["anna"], w.Members["bob"], w.Members["carol"]
	id, room := w.event(anna, bob)
	m := w.picture(anna, room)
	require.True(t, w.sees(bob, room, m))
	require.True(t, w.sees(w.Members["moderator"], room, m), "staff take part")
	require.False(t, w.sees(carol, room, m))
	require.Equal(t, 1, w.unread(bob, room))
	require.NoError(t, w.events.Unregister(ctx, bob, id))
	require.False(t, w.sees(bob, room, m))
	w.attend(bob, id)
	require.NoError(t, w.Block(ctx, bob, anna.UserID))
	require.False(t, w.sees(bob, room, m))
}

// TestPictures: a request that is sent again is one picture; one that was deleted is gone at once,
// with its files; a closed chat takes none, and a day has an end of them.
func TestPictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
	room := w.match(anna, bob)
	first, created, err := w.SendImage(ctx, anna, room, meettest.PNG, "k")
	require.NoError(t, err)
	require.True(t, created)
	again, created, err := w.SendImage(ctx, anna, room, meettest.PNG, "k")
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first.ID, again.ID)
	require.Equal(t, 2, w.Stored(meet.ContainerChats), "the files of the second request are gone")
	var other bytes.Buffer
	require.NoError(t, png.Encode(&other, image.NewGray(image.Rect(0, 0, 9, 9))))
	_, _, err = w.SendImage(ctx, anna, room, other.Bytes(), "k")
	meettest.RequireCode(t, chat.KeyReused, err)
	_, _, err = w.SendImage(ctx, anna, room, []byte("no picture"), "")
	meettest.RequireCode(t, pictures.NotAnImage, err)
	_, err = w.EditMessage(ctx, anna, room, first.ID, "words")
	meettest.RequireCode(t, chat.NotAText, err)
	meettest.RequireCode(t, chat.NotYours, w.DeleteMessage(ctx, bob, room, first.ID))
	require.Equal(t, 1, w.unreadOfTwo(bob, room))
	require.NoError(t, w.DeleteMessage(ctx, anna, room, first.ID))
	require.NoError(t, w.DeleteMessage(ctx, anna, room, first.ID), "there is no harm in doing it again")
	require.False(t, w.sees(anna, room, first))
	require.Zero(t, w.Stored(meet.ContainerChats))
	p, err := w.Messages(ctx, bob, room, "", "", 1, nil)
	require.NoError(t, err)
	require.Equal(t, []any{chat.TypeImage, "", false},
		[]any{p.All[0].Type, p.All[0].Image.ID, p.All[0].DeletedAt.IsZero()})

	system, err := w.Messages(ctx, bob, room, p.All[0].ID, "", 1, nil)
	require.NoError(t, err)
	require.Equal(t, chat.SaysMatched, system.All[0].Content)
	meettest.RequireCode(t, chat.NotYours, w.DeleteMessage(ctx, bob, room, system.All[0].ID))

	for code := fault.Code(""); code == ""; {
		_, _, err = w.SendImage(ctx, anna, room, []byte("no picture"), "")
		if code = fault.CodeOf(err); code == pictures.NotAnImage {
			code = ""
		}
	}
	meettest.RequireCode(t, meet.PicturesUsedUp, err)
	_, _, err = w.SendImage(ctx, bob, room, meettest.PNG, "")
	require.NoError(t, err, "others have their own")
	require.NoError(t, w.Unmatch(ctx, bob, anna.UserID))
	_, _, err = w.SendImage(ctx, bob, room, meettest.PNG, "")
	meettest.RequireCode(t, chat.Closed, err)
	require.Equal(t, 2, w.Stored(meet.ContainerChats))
}

// unreadOfTwo returns how many messages a member has not read in a chat of two.
func (w *world) unreadOfTwo(c meet.Claim, room string) int {
	w.T.Helper()
	one, err := w.Chat(w.T.Context(), c, room)
	require.NoError(w.T, err)
	return one.Unread
}

// TestComeAndGone: the chat of an event says once that a member has come, and once that they have
// left. It does not count as unread.
func TestComeAndGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, anna, bob, carol := t.Context(), w.Members["admin"], w.Members["anna"],
		w.Members["bob"], w.Members["carol"]
	id, room := w.event(anna)
	w.attend(bob, id)
	w.attend(bob, id)
	w.attend(carol, id)
	require.NoError(t, w.events.Unregister(ctx, carol, id))
	require.NoError(t, w.events.Unregister(ctx, carol, id))
	w.Clock.Pass(time.Second)
	w.attend(carol, id)
	require.NoError(t, w.events.Remove(ctx, admin, id, carol.UserID))
	require.Equal(t, []string{"anna joined", "bob joined", "carol joined", "carol left", "carol joined", "carol left"},
		w.all(anna, room))
	require.Zero(t, w.unread(anna, room))
	require.NoError(t, w.Block(ctx, carol, anna.UserID))
	require.Equal(t, []string{"anna joined", "bob joined"}, w.all(anna, room), "as a message of theirs")
	_, err := w.DeleteMe(ctx, bob, "tea under seven lamps")
	require.NoError(t, err)
	w.Settle()
	in, err := w.Login(ctx, "anna@example.com", "tea under seven lamps", meet.Asker{Agent: "test"})
	require.NoError(t, err)
	anna, err = meet.ParseAccess(in.Tokens.Access)
	require.NoError(t, err)
	require.Equal(t, []string{"anna joined"}, w.all(anna, room), "as after a block")
}

// TestManyCome: the chat of an event says of the first fifty that they have come, and of those
// alone that they leave.
func TestManyCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crowd := w.Crowd(52)
	id, room := w.event(crowd...)
	require.Len(t, w.all(w.Members["admin"], room), 50)
	require.NoError(t, w.events.Unregister(t.Context(), crowd[51], id))
	require.Len(t, w.all(w.Members["admin"], room), 50)
	require.NoError(t, w.events.Unregister(t.Context(), crowd[49], id))
	require.Len(t, w.all(w.Members["admin"], room), 51)
}

// TestCrashesOfPictures: after any accident to any call of a picture, or of its deletion, each
// message has its picture and its files, and one that is gone has none.
func TestCrashesOfPictures(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s *chats.Service, c meet.Claim, room, first string) error{
		"send": func(s *chats.Service, c meet.Claim, room, _ string) error {
			_, _, err := s.SendImage(t.Context(), c, room, meettest.PNG, "k")
			return err
		},
		"delete": func(s *chats.Service, c meet.Claim, room, first string) error {
			return s.DeleteMessage(t.Context(), c, room, first)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
				w := newWorld(t)
				ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
				room := w.match(anna, bob)
				first := w.picture(anna, room)
				err := do(meettest.Talks(w.Over(crash.Over(w.DB, w.Queues))), anna, room, first.ID)
				crash.Land(w.Pump, w.Clock.Pass)
				w.Settle()
				held, named := 0, 0
				for _, row := range w.Rows("Messages") {
					if strings.HasPrefix(row.Key.Row, "~i_") {
						held++
					}
					named += len(chats.Files(row)) / 2
				}
				require.Equal(t, held, named)
				_, failed := verify.Store{Service: w.Service}.Verify(ctx, func(f meet.Finding) {
					if f.Table == "Messages" {
						t.Errorf("%s: %s", f.Key, f.Says)
					}
				})
				require.NoError(t, failed)
				switch {
				case name == "delete" && (err == nil || named == 0):
					require.Zero(t, named)
					require.Zero(t, w.Stored(meet.ContainerChats), "its files are gone")
				case name == "send":
					again, _, sent := w.SendImage(ctx, anna, room, meettest.PNG, "k")
					require.NoError(t, sent)
					p, failed := w.Messages(ctx, bob, room, "", "", 10, nil)
					require.NoError(t, failed)
					require.Len(t, texts(p), 2, "it is there once")
					require.True(t, w.sees(bob, room, again))
				}
			})
		})
	}
}

// TestDamagedPictures: a picture without its message, or without a file, is named.
func TestDamagedPictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna, bob := t.Context(), w.Members["anna"], w.Members["bob"]
	room := w.match(anna, bob)
	m := w.picture(anna, room)
	found := func() (all []string) {
		_, err := verify.Store{Service: w.Service}.Verify(ctx, func(f meet.Finding) { all = append(all, f.Says) })
		require.NoError(t, err)
		return all
	}
	require.Empty(t, found())
	require.NoError(t, w.Blobs.Delete(ctx, meet.ContainerChats, room+"/"+m.Image.ID+"_320.jpg"))
	require.Equal(t, []string{"a file of the picture is missing"}, found())
	is, err := w.Named(ctx, room+"/"+m.Image.ID+".jpg")
	require.NoError(t, err)
	require.True(t, is)
	_, err = w.DB.Write(ctx, "Messages",
		table.Op{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: room, Row: m.ID}, ETag: table.Any}})
	require.NoError(t, err)
	require.Contains(t, found(), "no message has this picture")
	is, err = w.Named(ctx, room+"/"+w.NewID()+".jpg")
	require.NoError(t, err)
	require.False(t, is)
}
