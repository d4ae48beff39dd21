package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
)

// A part of a member's own data has up to dataPages pages of messages, goes through up to
// dataChats chats, and has up to dataPage of each other list.
const (
	dataPages = 40
	dataPage  = 50
	dataChats = 100
)

// OwnSession is where a member is signed in.
type OwnSession struct {
	Device   string `json:"device" doc:"The name of the browser or the program" example:"Chrome on Android"`
	IssuedAt string `json:"issuedAt" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
	UsedAt   string `json:"usedAt" format:"date-time" doc:"When it was used last" example:"2026-11-01T12:00:00.000Z"`
}

// Toward is a like, a match or a block.
type Toward struct {
	UserID string `json:"userId" format:"uuid" doc:"The other member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	At     string `json:"at" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
}

// OwnChat is a chat of two with its messages.
type OwnChat struct {
	ChatID   string    `json:"chatId" doc:"The id of the chat" example:"5d3c2b1a-0f9e-4d8c-8b7a-695847362514"`
	With     string    `json:"with" format:"uuid" doc:"The other member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	Messages []Message `json:"messages" nullable:"false" doc:"The newest first"`
}

// OwnData is the data of a member that the service keeps.
type OwnData struct {
	Account    Me           `json:"account" doc:"The account and the profile"`
	Settings   Settings     `json:"settings" doc:"What the member looks for and shows"`
	Sessions   []OwnSession `json:"sessions" nullable:"false" doc:"Where the member is signed in"`
	LikesSent  []Toward     `json:"likesSent" nullable:"false" doc:"Likes of the member, up to 50, as GET /likes/sent shows them"`
	Matches    []Toward     `json:"matches" nullable:"false" doc:"Whom the member matches, up to 50, as GET /matches shows them"`
	Blocked    []Toward     `json:"blocked" nullable:"false" doc:"Whom the member has blocked, up to 50, as GET /blocks shows them"`
	Events     []Event      `json:"events" nullable:"false" doc:"Events that the member attends, up to 50, the newest registration first"`
	Chats      []OwnChat    `json:"chats" nullable:"false" doc:"Chats of two that the member sees, with up to 2,000 messages in all"`
	NextCursor string       `json:"nextCursor,omitempty" doc:"Send it as cursor to get the next part, with older messages; absent at the end" example:"AQ"`
}

type ownFile struct {
	Disposition string `header:"Content-Disposition" doc:"It is a file" example:"attachment; filename=\"harmony.json\""`
	Body        OwnData
}

// ownList returns the first page of a list of the caller. The lists say who is in them: to know of
// a row that they do not show would tell a block from a deletion.
func ownList(ctx context.Context, c meet.Claim,
	list func(context.Context, meet.Claim, string, int) (meet.Page, error),
) ([]Toward, error) {
	p, err := list(ctx, c, "", dataPage)
	all := make([]Toward, len(p.Entries))
	for i, e := range p.Entries {
		all[i] = Toward{e.ID, httpjson.FormatTime(e.At)}
	}
	return all, err
}

func (a *api) ownData() {
	const list = "list-my-data"
	route(a, visitor, Bound{400, 2000}, huma.Operation{
		OperationID: list, Method: http.MethodGet, Path: "/auth/me/data", Tags: []string{"account"}, Errors: []int{401},
		Summary: "What is kept of me, as a file", Description: "The account, settings, sessions, likes, matches, blocks and events, and chats of two as the caller sees them, in parts of up to 2,000 messages. The first part once an hour: then 429 DATA_TOO_OFTEN. A suspended member may ask too, and gets the account, the settings and the sessions.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		Cursor string `query:"cursor" maxLength:"512" doc:"The nextCursor of the part before"`
	},
	) (*ownFile, error) {
		if c.UserID == "" {
			return nil, session.SignIn()
		}
		at, err := ByPage{Cursor: in.Cursor}.after(list, c)
		if err != nil {
			return nil, err
		}
		own, err := a.Service.OwnData(ctx, c, in.Cursor == "")
		if err != nil {
			return nil, err
		}
		out := &ownFile{`attachment; filename="harmony.json"`, OwnData{
			Account: meOf(own.Me), Sessions: []OwnSession{}, LikesSent: []Toward{},
			Matches: []Toward{}, Blocked: []Toward{}, Events: []Event{}, Chats: []OwnChat{},
			Settings: Settings{
				preferencesOf(own.Settings.Preferences), privacyOf(own.Settings.Privacy),
				httpjson.FormatTime(own.Settings.PreferencesUpdated), httpjson.FormatTime(own.Settings.PrivacyUpdated),
			},
		}}
		for _, s := range own.Sessions {
			out.Body.Sessions = append(out.Body.Sessions,
				OwnSession{s.Device, httpjson.FormatTime(s.IssuedAt), httpjson.FormatTime(s.UsedAt)})
		}
		if own.Me.Suspended(a.Now()) { // they take part in nothing meanwhile
			return out, nil
		}
		if out.Body.LikesSent, err = ownList(ctx, c, a.Service.LikesSent); err != nil {
			return nil, err
		}
		if out.Body.Matches, err = ownList(ctx, c, a.Service.Matches); err != nil {
			return nil, err
		}
		if out.Body.Blocked, err = ownList(ctx, c, a.Service.Blocked); err != nil {
			return nil, err
		}
		going, err := a.Events.Mine(ctx, c, "", dataPage)
		if err != nil {
			return nil, err
		}
		for _, v := range going.Events {
			out.Body.Events = append(out.Body.Events, eventOf(v))
		}
		var next string
		out.Body.Chats, next, err = a.ownChats(ctx, c, at)
		out.Body.NextCursor = cursor.Seal(list+" "+c.UserID, next)
		return out, err
	})
}

// ownChats returns chats of the caller with their messages, from a place on, and the place where
// the next part goes on. A place is the position of a chat, and while its messages go on its id,
// the other member and the message after which: a chat in which somebody writes meanwhile is
// elsewhere.
func (a *api) ownChats(ctx context.Context, c meet.Claim, place string) (all []OwnChat, next string, err error) {
	all = []OwnChat{}
	pages := 0
	read := func(id, with, after string) (on string, err error) {
		one := OwnChat{ChatID: id, With: with, Messages: []Message{}}
		for {
			p, err := a.Chats.Messages(ctx, c, id, after, "", dataPage, nil)
			if fault.CodeOf(err) == chat.NotFound { // the caller sees it no more, or it is not opened yet
				return "", nil
			}
			if err != nil {
				return "", err
			}
			for _, m := range p.All {
				one.Messages = append(one.Messages, messageOf(id, m, false))
			}
			after = p.Next
			if pages++; after == "" || pages == dataPages {
				break
			}
		}
		all = append(all, one)
		if after == "" {
			return "", nil
		}
		return " " + id + " " + with + " " + after, nil
	}
	before, rest, _ := strings.Cut(place, " ")
	if one := strings.Split(rest, " "); len(one) == 3 {
		if on, err := read(one[0], one[1], one[2]); err != nil || on != "" {
			return all, before + on, err
		}
	}
	listed, more, err := a.Service.Rooms().List(ctx, c.UserID, before, dataChats)
	if err != nil {
		return nil, "", err
	}
	for _, l := range listed {
		if pages == dataPages {
			return all, before, nil
		}
		before = l.Position()
		if l.Event != "" { // there are others' messages, and no list of one's own
			continue
		}
		if on, err := read(l.Chat, l.Other, ""); err != nil || on != "" {
			return all, before + on, err
		}
	}
	if more {
		return all, before, nil
	}
	return all, "", nil
}
