package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/internal/http/httpjson"
)

// chats are the pages about the reader's chats.
func (s *web) chats() {
	s.members("GET "+Prefix+"/chats", s.chatList)
	s.members("GET "+Prefix+"/chats/{id}", func(r *request) error { return s.chat(r, nil) })
	s.members("GET "+Prefix+"/chats/{id}/messages", s.messages)
	s.members("POST "+Prefix+"/chats/{id}/messages", s.sendMessage)
	s.pictures("POST "+Prefix+"/chats/{id}/images", s.sendImage)
	s.members("POST "+Prefix+"/chats/{id}/messages/{message}", s.editMessage)
	s.members("POST "+Prefix+"/chats/{id}/messages/{message}/delete", s.deleteMessage)
	s.members("POST "+Prefix+"/chats/{id}/read", s.markRead)
}

func (s *web) chatList(r *request) error {
	list, err := s.Chats.Chats(r.Context(), r.claim, r.URL.Query().Get("after"), perPage)
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK, page{Name: "chats", Title: "chats.title", Body: list})
}

// A talk is a part of a chat as its page shows it.
type talk struct {
	words
	chats.Chat
	InEvent  bool
	Messages []line // the newest last
	Older    string // the message before which older ones are, "" if there are none
	Newest   string // the newest message that is shown
	FirstNew string // the first message that the reader has not read, of those that are shown
	Tag      string // changes with all that is shown
	Before   string // set on a page of older ones
	Key      string // of the next message: a form that is sent twice is one message
	ImageKey string // of the next picture
	Editing  string // the message that the form changes
}

// A line is a message of a talk.
type line struct {
	chats.Message
	Mine     bool
	Editable bool
}

// messagesPerPage is how many messages a page of a chat shows.
const messagesPerPage = 50

// talk reads a part of a chat. It needs no look at the other member.
func (s *web) talk(r *request, before string, known func(tag string) bool) (talk, error) {
	m, err := s.Chats.Messages(r.Context(), r.claim, r.PathValue("id"), before, "", messagesPerPage, known)
	if err != nil {
		return talk{}, err
	}
	t := talk{
		words: r.words(), Chat: chats.Chat{ID: r.PathValue("id"), Open: m.Open, Unread: m.Unread},
		InEvent: m.Event, Before: before,
	}
	editable := 0
	for _, one := range slices.Backward(m.All) {
		mine := one.SenderID == r.who.ID && one.Type != chat.TypeSystem
		l := line{one, mine, mine && m.Open && one.Type == chat.TypeText && one.DeletedAt.IsZero() &&
			s.Now().Sub(one.SentAt) < chat.Editable}
		if l.Editable {
			editable++
		}
		t.Messages = append(t.Messages, l)
	}
	unread := m.Unread
	for _, one := range m.All {
		if unread > 0 && one.SenderID != r.who.ID && one.Type != chat.TypeSystem {
			t.FirstNew = one.ID
			unread--
		}
	}
	if len(m.All) > 0 {
		t.Newest = m.All[0].ID
	}
	t.Older = m.Next
	t.Tag = fmt.Sprintf(`"%s.%d.%s"`, m.Tag, editable, t.Lang)
	return t, nil
}

// chat shows a chat, and a message that was refused as it was written.
func (s *web) chat(r *request, refused error) error {
	before := r.URL.Query().Get("before")
	if before != "" && !chat.IsMessage(before) {
		before = ""
	}
	t, err := s.talk(r, before, nil)
	if err != nil {
		return err
	}
	if t.Chat, err = s.Chats.Chat(r.Context(), r.claim, r.PathValue("id")); err != nil {
		return err
	}
	t.Key, t.ImageKey = uuid.NewString(), uuid.NewString()
	p := page{Name: "chat", Title: "chat.title"}
	now := map[string][]string{}
	edit := r.PathValue("message")
	if refused == nil {
		edit = r.URL.Query().Get("edit")
	}
	for _, one := range t.Messages {
		if one.ID == edit && one.Editable {
			t.Editing = edit
			now["content"] = []string{one.Content}
		}
	}
	p.Body = t
	return s.formPage(r, p, now, refused)
}

// messages answers the messages of a chat alone, for a page that polls. The tag changes with the
// chat, and when a message can be edited no more.
func (s *web) messages(r *request) error {
	has := httpjson.ParseETags(r.Header.Values("If-None-Match"))
	t, err := s.talk(r, "", func(tag string) bool { return has.Match(`"` + tag + ".0." + r.words().Lang + `"`) })
	if err != nil {
		return err
	}
	r.w.Header().Set("ETag", t.Tag)
	if has.Match(t.Tag) {
		r.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return s.site.Render(r.w, http.StatusOK, "chat", "messages", t)
}

// said goes back to a chat after a form, or shows why it was refused.
func (s *web) said(r *request, err error) error {
	if err != nil {
		return s.chat(r, err)
	}
	goOn(r, Prefix+"/chats/"+r.PathValue("id")+"#sent")
	return nil
}

// sendMessage writes a message. One who answers has read what the page shows.
func (s *web) sendMessage(r *request) error {
	_, _, err := s.Chats.Send(r.Context(), r.claim, r.PathValue("id"), r.form("content"), r.form("key"))
	return s.answered(r, err)
}

// sendImage sends a picture, likewise.
func (s *web) sendImage(r *request) error {
	file, err := r.photo()
	if err == nil {
		_, _, err = s.Chats.SendImage(r.Context(), r.claim, r.PathValue("id"), file, r.form("key"))
	}
	return s.answered(r, err)
}

// answered notes what a member who has sent something has read before.
func (s *web) answered(r *request, err error) error {
	if upTo := r.form("upTo"); err == nil && upTo != "" {
		_, err = s.Chats.MarkRead(r.Context(), r.claim, r.PathValue("id"), upTo)
	}
	return s.said(r, err)
}

// smallSide is how long the longer side of a small picture is.
const smallSide = 320

// ImageURL is where the small picture of a message is, and FullURL the larger one.
func (t talk) ImageURL(m line) string { return t.Small(t.FullURL(m)) }

// FullURL is where the picture of a message is.
func (t talk) FullURL(m line) string { return chats.ImageURL(t.ID, m.Message.Message) }

// small returns a side of a small picture, of which the longer side is known.
func small(side, longer int) int {
	if longer <= smallSide {
		return side
	}
	return max(1, (side*smallSide+longer/2)/longer)
}

// Wide and High are the sides of the small picture of a message, so that its place is kept.
func (l line) Wide() int { return small(l.Image.Width, max(l.Image.Width, l.Image.Height)) }

// High is its height.
func (l line) High() int { return small(l.Image.Height, max(l.Image.Width, l.Image.Height)) }

func (s *web) editMessage(r *request) error {
	_, err := s.Chats.EditMessage(r.Context(), r.claim, r.PathValue("id"), r.PathValue("message"), r.form("content"))
	return s.said(r, err)
}

func (s *web) deleteMessage(r *request) error {
	return s.said(r, s.Chats.DeleteMessage(r.Context(), r.claim, r.PathValue("id"), r.PathValue("message")))
}

func (s *web) markRead(r *request) error {
	_, err := s.Chats.MarkRead(r.Context(), r.claim, r.PathValue("id"), r.form("upTo"))
	return s.said(r, err)
}
