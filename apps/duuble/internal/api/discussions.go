package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// NewDiscussion says what is discussed.
type NewDiscussion struct {
	PostID string `json:"postId" doc:"A post that is in the hub, also by a share" example:"01KA0000000000000000000003"`
}

// Discussion is what members of a hub say about a post.
type Discussion struct {
	DiscussionID  string  `json:"discussionId" doc:"The id of the discussion" example:"01KA0000000000000000000010"`
	HubID         string  `json:"hubId" doc:"The hub" example:"01KA0000000000000000000004"`
	Post          Card    `json:"post" doc:"The post that it is about"`
	MessageCount  int64   `json:"messageCount" doc:"How many messages and replies there are" example:"2"`
	LastMessageAt *string `json:"lastMessageAt" format:"date-time" doc:"When the last one came, or null" example:"2026-11-01T12:00:00.000Z"`
	CreatedAt     string  `json:"createdAt" format:"date-time" doc:"When it was begun" example:"2026-11-01T12:00:00.000Z"`
	Saved         bool    `json:"saved" doc:"Whether the caller has saved it" example:"false"`
}

func (a *api) discussionOf(d discussions.Discussion) Discussion {
	return Discussion{
		d.ID, d.HubID, a.cardOf(d.Post), d.Messages, httpjson.OptionalTime(d.LastMessageAt),
		httpjson.FormatTime(d.CreatedAt), d.Saved,
	}
}

// NewMessage is what a person says in a discussion.
type NewMessage struct {
	Text            string `json:"text,omitempty" doc:"Up to 2,000 characters; 1 at least without a picture" example:"Green tea, and why not?"`
	AssetID         string `json:"assetId,omitempty" doc:"A picture of the purpose message" example:"01KA000000000000000000000C"`
	ParentMessageID string `json:"parentMessageId,omitempty" doc:"The message of the same discussion to which it replies. A reply to a reply hangs on the same root" example:"01KA0000000000000000000011"`
}

// Message is a text in a discussion.
type Message struct {
	MessageID       string  `json:"messageId" doc:"The id of the message" example:"01KA0000000000000000000011"`
	Author          Person  `json:"author" doc:"Who wrote it"`
	Text            string  `json:"text" doc:"What it says" example:"Green tea, and why not?"`
	AssetID         *string `json:"assetId" doc:"Its picture, or null" example:"01KA000000000000000000000C"`
	ParentMessageID *string `json:"parentMessageId" doc:"The message to which it replies, or null" example:"01KA0000000000000000000011"`
	ReplyCount      int64   `json:"replyCount" doc:"How many replies it has" example:"2"`
	CreatedAt       string  `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	DeletedBy       string  `json:"deletedBy,omitempty" enum:"author,admin,manager" doc:"Who has deleted it, so that its text is empty: its author, an admin of the hub, or somebody who manages the service. Absent of one that is there" example:"admin"`
}

func messageOf(m discussions.Message) Message {
	return Message{
		m.ID, personOf(m.Author), m.Text, httpjson.OptionalText(m.Picture), httpjson.OptionalText(m.Parent),
		m.Replies, httpjson.FormatTime(m.CreatedAt), m.DeletedBy,
	}
}

// Saved is whether the caller has saved a discussion.
type Saved struct {
	Saved   bool   `json:"saved" doc:"Always true" example:"true"`
	SavedAt string `json:"savedAt" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
}

// A ByDiscussion names a discussion of a hub.
type ByDiscussion struct {
	ByID
	Discussion string `path:"discussion" doc:"The id of the discussion" example:"01KA0000000000000000000010"`
}

// begun is the answer to a discussion that was begun now, or before.
type begun struct {
	Status   int
	Location string `header:"Location" doc:"Where the discussion is" example:"/api/v1/hubs/01KA0000000000000000000004/discussions/01KA0000000000000000000010"`
	Body     Discussion
}

// newMessage is the answer to a new message.
type newMessage struct {
	Location string `header:"Location" doc:"Where its replies are" example:"/api/v1/hubs/01KA0000000000000000000004/discussions/01KA0000000000000000000010/messages/01KA0000000000000000000011/replies"`
	Body     Message
}

func messagesAnswer(list string, page discussions.MessagePage, err error) (*openapi.Body[Items[Message]], error) {
	return pageOf(list, page.Items, page.Next, err, messageOf)
}

func (a *api) discussions() {
	const path = "/hubs/{id}/discussions"
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("hubs", id, method, path, summary, description, status, errors...)
	}
	start := op("start-discussion", http.MethodPost, path, "Discuss a post in a hub", "Members do. A post has one discussion in a hub: where it is there already, the answer is 200 with it. No one is told of discussions and messages.", http.StatusCreated, 404)
	start.Responses = map[string]*huma.Response{
		"200": {
			Description: "The discussion was there already",
			Content: map[string]*huma.MediaType{"application/json": {
				Schema: &huma.Schema{Ref: "#/components/schemas/Discussion"},
			}},
		},
	}
	route(a, person, Bound{6, 20}, start, func(ctx context.Context, v visit, in *struct {
		ByID
		Body NewDiscussion
	},
	) (*begun, error) {
		d, isNew, err := a.Discussions.Start(ctx, v.Claim, in.ID, in.Body.PostID)
		if err != nil {
			return nil, err
		}
		status := http.StatusOK
		if isNew {
			status = http.StatusCreated
		}
		return &begun{status, Prefix + "/hubs/" + in.ID + "/discussions/" + d.ID, a.discussionOf(d)}, nil
	})
	route(a, person, Bound{4, 150}, op("list-discussions", http.MethodGet, path, "The discussions of a hub", "For its members, those in which somebody wrote last first, to the minute. A page may have fewer than the limit.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Paged
		},
		) (*openapi.Body[Items[Discussion]], error) {
			list := "discussions " + in.ID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Discussions.List(ctx, v.Claim, in.ID, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, a.discussionOf)
		})
	route(a, person, Bound{6, 155},
		op("list-saved-discussions", http.MethodGet, "/users/me/saved-discussions", "Discussions that I have saved", "Of the hubs of which the caller is a member now, the last that were saved first. A page may have fewer than the limit.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Items[Discussion]], error) {
			list := "saved " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Discussions.Saved(ctx, v.Claim, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, a.discussionOf)
		})
	route(a, person, Bound{4, 15},
		op("get-discussion", http.MethodGet, path+"/{discussion}", "A discussion",
			"For members of the hub who see its post.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByDiscussion) (*openapi.Body[Discussion], error) {
			d, err := a.Discussions.Get(ctx, v.Claim, in.ID, in.Discussion)
			if err != nil {
				return nil, err
			}
			return openapi.Answer(a.discussionOf(d), nil)
		})
	route(a, person, Bound{3, 35},
		op("list-messages", http.MethodGet, path+"/{discussion}/messages", "The messages of a discussion",
			"Those that are no replies, the newest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByDiscussion
			Paged
		},
		) (*openapi.Body[Items[Message]], error) {
			list := "messages " + in.ID + in.Discussion
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Discussions.Messages(ctx, v.Claim, in.ID, in.Discussion, "", after, in.Limit)
			return messagesAnswer(list, page, err)
		})
	route(a, person, Bound{7, 20},
		op("delete-message", http.MethodDelete, path+"/{discussion}/messages/{message}", "Delete a message", "Its author does, and admins of the hub. It keeps its place and its replies, and loses its text for good. One that is deleted already is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *struct {
			ByDiscussion
			Message string `path:"message" doc:"The id of the message" example:"01KA0000000000000000000011"`
		},
		) (*none, error) {
			return nil, a.Discussions.DeleteMessage(ctx, v.Claim, in.ID, in.Discussion, in.Message)
		})
	route(a, person, Bound{11, 26},
		op("create-message", http.MethodPost, path+"/{discussion}/messages", "Write into a discussion",
			"Messages are not edited. The same Idempotency-Key again within a day answers with the same message.",
			http.StatusCreated, 404),
		func(ctx context.Context, v visit, in *struct {
			ByDiscussion
			Key  string `header:"Idempotency-Key" doc:"Up to 100 characters that you choose" example:"4711"`
			Body NewMessage
		},
		) (*newMessage, error) {
			m, err := a.Discussions.Say(ctx, v.Claim, in.ID, in.Discussion,
				posts.Said{Text: in.Body.Text, Picture: in.Body.AssetID}, in.Body.ParentMessageID, in.Key)
			if err != nil {
				return nil, err
			}
			return &newMessage{Prefix + "/hubs/" + in.ID + "/discussions/" + in.Discussion + "/messages/" + m.ID +
				"/replies", messageOf(m)}, nil
		})
	route(a, person, Bound{4, 42},
		op("list-message-replies", http.MethodGet, path+"/{discussion}/messages/{message}/replies",
			"The replies to a message", "The oldest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByDiscussion
			Message string `path:"message" doc:"The id of the message" example:"01KA0000000000000000000011"`
			Paged
		},
		) (*openapi.Body[Items[Message]], error) {
			list := "replies " + in.ID + in.Discussion + in.Message
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Discussions.Messages(ctx, v.Claim, in.ID, in.Discussion, in.Message, after, in.Limit)
			return messagesAnswer(list, page, err)
		})
	route(a, person, Bound{5, 15},
		op("save-discussion", http.MethodPut, path+"/{discussion}/saved", "Save a discussion",
			"One that is saved already stays so, since the same time. No one else learns of it.",
			http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *ByDiscussion) (*openapi.Body[Saved], error) {
			at, err := a.Discussions.Save(ctx, v.Claim, in.ID, in.Discussion)
			return openapi.Answer(Saved{true, httpjson.FormatTime(at)}, err)
		})
	route(a, person, Bound{3, 8},
		op("unsave-discussion", http.MethodDelete, path+"/{discussion}/saved", "Save a discussion no longer",
			"One that is not saved is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByDiscussion) (*none, error) {
			return nil, a.Discussions.Unsave(ctx, v.Claim, in.ID, in.Discussion)
		})
}
