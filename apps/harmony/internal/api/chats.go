package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// A Chat is a chat as the caller sees it.
type Chat struct {
	ChatID           string  `json:"chatId" format:"uuid" doc:"The id of the chat" example:"5d3c2b1a-0f9e-4d8c-8b7a-695847362514"`
	Type             string  `json:"type" enum:"private,group" doc:"private: of two members who match; group: of those who attend an event" example:"private"`
	Name             *string `json:"name" doc:"The title of the event, else null" example:"Концерт на крыше"`
	Description      *string `json:"description" doc:"That of the event, else null" example:"Все песни подряд"`
	EventID          *string `json:"eventId" doc:"The event, or null" example:"7c1d2e3f-4051-4263-8475-96a7b8c9dae0"`
	Other            *Other  `json:"other" doc:"The other member of a chat of two; null if the caller may not see them"`
	ParticipantCount int     `json:"participantCount" doc:"How many members take part; staff of an event are not counted" example:"2"`
	LastMessage      *Last   `json:"lastMessage" doc:"The newest message, or null"`
	Unread           int     `json:"unread" doc:"How many messages of others the caller has not read; of an event up to 99" example:"3"`
	IsActive         bool    `json:"isActive" doc:"Whether it takes messages" example:"true"`
	CreatedAt        string  `json:"createdAt" format:"date-time" doc:"When the chat was made" example:"2026-11-01T12:00:00.000Z"`
	UpdatedAt        string  `json:"updatedAt" format:"date-time" doc:"When something in it was changed last" example:"2026-11-01T12:00:00.000Z"`
}

// Members that may be null.
type (
	// Other is the card of the other member of a chat.
	Other Card
	// Last is the newest message of a chat.
	Last Message
)

// Schema returns that of a card, or null.
func (Other) Schema(r huma.Registry) *huma.Schema { return orNull[Card](r) }

// Schema returns that of a message, or null.
func (Last) Schema(r huma.Registry) *huma.Schema { return orNull[Message](r) }

// orNull returns the schema of an object that may be null. A reference cannot say so.
func orNull[T any](r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), false, "")
	s.Nullable = true
	return &s
}

// A Message is a message of a chat.
type Message struct {
	ID        string  `json:"id" doc:"Ids sort as time does, newest first" example:"2516000000000000000_0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925"`
	SenderID  *string `json:"senderId" doc:"The member who sent it; null if the caller may not see their profile" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	Sender    *string `json:"senderName" doc:"Their name in the chat of an event, null if the caller may not see them; null in a chat of two" example:"Анна"`
	Content   string  `json:"content" doc:"The text, empty after a deletion and of a picture; of the type system matched, joined or left" example:"Ты на концерте?"`
	Type      string  `json:"type" enum:"text,image,system" doc:"system: the service says that the two match, or that the sender has come into the chat of an event, or left it" example:"text"`
	ImageURL  *string `json:"imageUrl" doc:"A picture of up to 1,200 pixels a side, or null; with _320.jpg at its end a small one" example:"/api/v1/images/chat/5d3c2b1a-0f9e-4d8c-8b7a-695847362514/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
	Width     *int    `json:"imageWidth" doc:"Of the picture in pixels, or null" example:"1200"`
	Height    *int    `json:"imageHeight" doc:"Of the picture, or null" example:"900"`
	SentAt    string  `json:"sentAt" format:"date-time" doc:"When it was sent; no two of a chat are equal" example:"2026-11-01T12:00:00.000Z"`
	IsRead    *bool   `json:"isRead" doc:"Whether the other of the two has read up to it; null in the chat of an event, and of the type system" example:"false"`
	EditedAt  *string `json:"editedAt" doc:"When it was edited last, or null" example:"2026-11-01T12:05:00.000Z"`
	DeletedAt *string `json:"deletedAt" doc:"When it was deleted, or null" example:"2026-11-01T12:10:00.000Z"`
}

// messageOf returns a message of a chat as it is answered. In the chat of an event no caller is
// told by whom it was read.
func messageOf(room string, m chats.Message, event bool) Message {
	one := Message{
		ID: m.ID, SenderID: httpjson.OptionalText(m.SenderID), Content: m.Content, Type: m.Type,
		ImageURL: httpjson.OptionalText(chats.ImageURL(room, m.Message)),
		SentAt:   httpjson.FormatTime(m.SentAt), EditedAt: httpjson.OptionalTime(m.EditedAt),
		DeletedAt: httpjson.OptionalTime(m.DeletedAt),
	}
	if one.ImageURL != nil {
		one.Width, one.Height = &m.Image.Width, &m.Image.Height
	}
	if m.Author != nil {
		one.Sender = &m.Author.Name
	}
	if !event && m.Type != chat.TypeSystem {
		one.IsRead = &m.Read
	}
	return one
}

// stampUnless writes an instant, nil if it is none.
func chatOf(c chats.Chat) Chat {
	one := Chat{
		ChatID: c.ID, Type: "private", ParticipantCount: c.People, Unread: c.Unread, IsActive: c.Open,
		CreatedAt: httpjson.FormatTime(c.CreatedAt), UpdatedAt: httpjson.FormatTime(c.UpdatedAt),
	}
	if e := c.Event; e != nil {
		one.Type, one.Name, one.Description, one.EventID = "group", &e.Title, &e.Description, &e.ID
	}
	if c.Other != nil {
		card := Other(cardOf(*c.Other))
		one.Other = &card
	}
	if c.Last != nil {
		m := Last(messageOf(c.ID, *c.Last, c.Event != nil))
		one.LastMessage = &m
	}
	return one
}

// Schema parts of chats, exported because huma fills no others.
type (
	// ByKey tells requests that are sent again.
	ByKey struct {
		Key string `header:"Idempotency-Key" maxLength:"128" doc:"Any text of your own; the same for a request that is sent again" example:"8f14e45f"`
	}
	// ByChat names a chat.
	ByChat struct {
		ChatID string `path:"chatId" doc:"The id of a chat" example:"5d3c2b1a-0f9e-4d8c-8b7a-695847362514"`
	}
	// ByMessage names a message.
	ByMessage struct {
		ByChat
		MessageID string `path:"messageId" doc:"The id of a message" example:"2516000000000000000_0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925"`
	}
	// ChatList is a page of chats.
	ChatList struct {
		Items      []Chat `json:"items" nullable:"false" doc:"Those with the newest messages first"`
		NextCursor string `json:"nextCursor,omitempty" doc:"Send it as cursor to get the next page; absent at the end" example:"AQ"`
	}
	// MessageList is a page of messages.
	MessageList struct {
		Items      []Message `json:"items" nullable:"false" doc:"Newest first"`
		NextCursor string    `json:"nextCursor,omitempty" doc:"Send it as cursor to get older ones; absent at the end" example:"AQ"`
		Unread     int       `json:"unread" doc:"How many messages of others the caller has not read; of an event up to 99" example:"3"`
	}
	// NewMessage is the body of a message.
	NewMessage struct {
		Content string `json:"content" doc:"1 to 4,000 characters" example:"Ты на концерте?"`
	}
	// ReadUpTo says how far the caller has read.
	ReadUpTo struct {
		UpTo string `json:"upTo" doc:"The id of a message" example:"2516000000000000000_0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925"`
	}
	// Unread is what is left to read.
	Unread struct {
		Unread int `json:"unread" doc:"How many messages of others the caller has not read; of an event up to 99" example:"0"`
	}
)

type messageOutput struct {
	Status int
	Body   Message
}

type messagesOutput struct {
	ETag string `header:"ETag" doc:"Of the chat: it changes with every change of the chat" example:"\"17\""`
	Body MessageList
}

// sentMessage answers with a message that was sent, or was there.
func sentMessage(room string, m chats.Message, created bool, err error) (*messageOutput, error) {
	if err != nil {
		return nil, err
	}
	out := &messageOutput{Status: http.StatusOK, Body: messageOf(room, m, m.Author != nil)}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (a *api) chats() {
	in := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/chats" + path, Tags: []string{"chats"},
			Errors: errors, Summary: summary, Description: description,
		}
	}
	route(a, member, Bound{3, 145}, in("list-chats", http.MethodGet, "", "My chats", "In pages: of members who match, also those that take no messages any more, and of events that the caller attends."),
		func(ctx context.Context, c meet.Claim, in *ByPage) (*openapi.Body[ChatList], error) {
			after, err := in.after("list-chats", c)
			if err != nil {
				return nil, err
			}
			p, err := a.Chats.Chats(ctx, c, after, in.Limit)
			l := ChatList{Items: make([]Chat, len(p.Chats)), NextCursor: cursor.Seal("list-chats "+c.UserID, p.Next)}
			for i, one := range p.Chats {
				l.Items[i] = chatOf(one)
			}
			return openapi.Answer(l, err)
		})
	route(a, member, Bound{3, 12},
		in("get-chat", http.MethodGet, "/{chatId}", "A chat",
			"Of the caller's. One who attends an event beyond the first 1,000 is not in its chat: 409 CHAT_FULL.", 404,
			409),
		func(ctx context.Context, c meet.Claim, in *ByChat) (*openapi.Body[Chat], error) {
			one, err := a.Chats.Chat(ctx, c, in.ChatID)
			return openapi.Answer(chatOf(one), err)
		})
	route(a, member, Bound{3, 160}, in("list-messages", http.MethodGet, "/{chatId}/messages", "Messages of a chat", "Newest first. Give after, the id of a message, to get newer ones alone. To poll, send the ETag as If-None-Match. To get messages is not to have read them.", 404, 409), a.messages)
	send := in("send-message", http.MethodPost, "/{chatId}/messages", "Write a message", "With an Idempotency-Key the same request twice is one message, for two days; the second one is answered 200.", 404, 409)
	send.DefaultStatus = http.StatusCreated
	send.Responses = map[string]*huma.Response{
		"200": {
			Description: "The message was there",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Message"}},
			},
		},
	}
	route(a, member, Bound{3, 7}, send, func(ctx context.Context, c meet.Claim, in *struct {
		ByChat
		ByKey
		Body NewMessage
	},
	) (*messageOutput, error) {
		m, created, err := a.Chats.Send(ctx, c, in.ChatID, in.Body.Content, in.Key)
		return sentMessage(in.ChatID, m, created, err)
	})
	image := imageSent(in("send-image", http.MethodPost, "/{chatId}/images", "Send a picture", "The bytes of a JPEG, PNG, WebP or GIF file of up to 8 MiB and 25 megapixels; it is made small and written anew as JPEG, without any other data of the file. "+madeInTurn+" 100 a day: 429 PICTURES_USED_UP. With an Idempotency-Key the same request twice is one message, for two days; the second one is answered 200.", 404, 409))
	image.DefaultStatus, image.Responses = http.StatusCreated, send.Responses
	route(a, member, Bound{6, 11}, image, func(ctx context.Context, c meet.Claim, in *struct {
		ByChat
		ByKey
		RawBody []byte `contentType:"image/jpeg"`
	},
	) (*messageOutput, error) {
		m, created, err := a.Chats.SendImage(ctx, c, in.ChatID, in.RawBody, in.Key)
		return sentMessage(in.ChatID, m, created, err)
	})
	route(a, member, Bound{4, 7},
		in("edit-message", http.MethodPut, "/{chatId}/messages/{messageId}", "Edit a message of mine",
			"For 15 minutes, while the chat takes messages.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByMessage
			Body NewMessage
		},
		) (*openapi.Body[Message], error) {
			m, err := a.Chats.EditMessage(ctx, c, in.ChatID, in.MessageID, in.Body.Content)
			return openapi.Answer(messageOf(in.ChatID, m, m.Author != nil), err)
		})
	route(a, member, Bound{4, 7},
		in("delete-message", http.MethodDelete, "/{chatId}/messages/{messageId}", "Delete a message of mine",
			"It keeps its place and loses its content, and still counts as unread until it is read.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *ByMessage) (*none, error) {
			return nil, a.Chats.DeleteMessage(ctx, c, in.ChatID, in.MessageID)
		})
	route(a, member, Bound{6, 12},
		in("read-chat", http.MethodPost, "/{chatId}/read", "Say how far I have read",
			"It never goes back. A message of the caller's own stands for all that the other had sent by then.", 404,
			409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByChat
			Body ReadUpTo
		},
		) (*openapi.Body[Unread], error) {
			n, err := a.Chats.MarkRead(ctx, c, in.ChatID, in.Body.UpTo)
			return openapi.Answer(Unread{n}, err)
		})
}

// messages answers a page of messages. A cursor keeps the message after which they began.
func (a *api) messages(ctx context.Context, c meet.Claim, in *struct {
	ByChat
	IfNoneMatch string `header:"If-None-Match" hidden:"true"`

	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"50" doc:"The size of a page" example:"50"`
	Cursor string `query:"cursor" maxLength:"512" doc:"The nextCursor of the page before"`
	After  string `query:"after" maxLength:"100" doc:"The id of a message: only newer ones are answered" example:"2516000000000000000_0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925"`
},
) (*messagesOutput, error) {
	scope := "list-messages " + in.ChatID + " " + c.UserID
	position, until := "", in.After
	if in.Cursor != "" {
		at, err := cursor.Open(scope, in.Cursor)
		if err != nil || in.After != "" {
			return nil, cursor.Refuse()
		}
		position, until, _ = strings.Cut(at, " ")
	}
	if until != "" && !chat.IsMessage(until) {
		return nil, &fault.Error{Kind: fault.NotFound, Code: chat.MessageNotFound, Text: "there is no such message"}
	}
	p, err := a.Chats.Messages(ctx, c, in.ChatID, position, until, in.Limit, func(tag string) bool {
		return in.IfNoneMatch != "" && httpjson.ParseETags([]string{in.IfNoneMatch}).Match(`"`+tag+`"`)
	})
	if err != nil {
		return nil, err
	}
	out := &messagesOutput{
		ETag: `"` + p.Tag + `"`,
		Body: MessageList{Items: make([]Message, len(p.All)), Unread: p.Unread},
	}
	for i, m := range p.All {
		out.Body.Items[i] = messageOf(in.ChatID, m, p.Event)
	}
	if p.Next != "" {
		out.Body.NextCursor = cursor.Seal(scope, p.Next+" "+until)
	}
	return out, nil
}
