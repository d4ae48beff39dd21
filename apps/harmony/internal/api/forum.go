package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

type (
	// NewSection is what an admin writes about a new section.
	NewSection struct {
		SectionID string `json:"sectionId" doc:"2 to 40 of a to z, digits and hyphens, not beginning with event-" example:"music"`
		SectionEdit
	}
	// SectionEdit is what an admin writes about a section.
	SectionEdit struct {
		Name        string `json:"name" doc:"1 to 200 characters" example:"Музыка"`
		Description string `json:"description" doc:"Up to 1,000 characters" example:"Песни, альбомы, концерты"`
		OrderIndex  int    `json:"orderIndex" doc:"0 to 1,000,000; lower ones come first" example:"0"`
	}
	// Section is a part of the forum.
	Section struct {
		NewSection
		TopicCount *int   `json:"topicCount" doc:"How many topics it has, counted up to 100; null but in the list of sections" example:"12"`
		CreatedAt  string `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
	}
	// NewTopic is the body of a topic that is begun.
	NewTopic struct {
		SectionID string `json:"sectionId" doc:"The section" example:"music"`
		Title     string `json:"title" doc:"5 to 100 characters" example:"Лучший альбом"`
		Content   string `json:"content" doc:"10 to 5,000 characters" example:"Какой альбом вы слушаете чаще других?"`
	}
	// Audience says which members a topic of an event is for.
	Audience struct {
		Visibility     TopicVisibility `json:"visibility" doc:"public: those who see the event without an invite; attendeesOnly: those who attend; specificUsers: those who are named, even if they do not see the event" example:"specificUsers"`
		AllowedUserIDs []string        `json:"allowedUserIds,omitempty" doc:"1 to 200 ids of members, for specificUsers alone" example:"[\"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40\"]"`
	}
	// NewEventTopic is the body of a topic of an event.
	NewEventTopic struct {
		Title   string `json:"title" doc:"5 to 100 characters" example:"Кто поёт"`
		Content string `json:"content" doc:"10 to 5,000 characters" example:"Кто будет петь на концерте?"`
		Audience
	}
	// TopicEdit changes members of a topic that it names.
	TopicEdit struct {
		Title    *string `json:"title,omitempty" doc:"5 to 100 characters; its author may change it" example:"Лучший альбом"`
		Content  *string `json:"content,omitempty" doc:"10 to 5,000 characters; its author may change it" example:"Какой альбом вы слушаете чаще других?"`
		IsPinned *bool   `json:"isPinned,omitempty" doc:"Staff may" example:"true"`
		IsLocked *bool   `json:"isLocked,omitempty" doc:"Staff may" example:"true"`
	}
	// Topic is a conversation in a section.
	Topic struct {
		TopicID        string  `json:"topicId" format:"uuid" doc:"The id of the topic" example:"8d2e3f40-5162-4374-8586-a7b8c9daebf1"`
		SectionID      string  `json:"sectionId" doc:"Its section, event-{eventId} for one of an event that the caller sees, else empty" example:"music"`
		EventID        *string `json:"eventId" doc:"Its event; null for a topic of the forum, and for one of an event that the caller does not see" example:"7c1d2e3f-4051-4263-8475-96a7b8c9dae0"`
		Title          string  `json:"title" doc:"What it is called" example:"Лучший альбом"`
		Content        string  `json:"content" doc:"How it begins; empty in the two that every published event has" example:"Какой альбом вы слушаете чаще других?"`
		Author         *Author `json:"author" doc:"Its author; null for one that the caller may not see"`
		IsPinned       bool    `json:"isPinned" doc:"Whether it stands before others" example:"false"`
		IsLocked       bool    `json:"isLocked" doc:"Whether only staff may reply" example:"false"`
		ReplyCount     int     `json:"replyCount" doc:"How many replies there are that are not deleted" example:"12"`
		Visibility     *string `json:"visibility" doc:"Whom it is for, if it is of an event: public, attendeesOnly or specificUsers; else null" example:"public"`
		CreatedAt      string  `json:"createdAt" format:"date-time" doc:"When it was begun" example:"2026-11-01T12:00:00.000Z"`
		UpdatedAt      string  `json:"updatedAt" format:"date-time" doc:"When it was changed last" example:"2026-11-01T12:00:00.000Z"`
		LastActivityAt string  `json:"lastActivityAt" format:"date-time" doc:"When it was begun or replied to last, to the minute" example:"2026-11-01T12:00:00.000Z"`
	}
	// ReplyText is the body of a reply.
	ReplyText struct {
		Content string `json:"content" doc:"1 to 5,000 characters" example:"Первый!"`
	}
	// Reply is an answer in a topic.
	Reply struct {
		ReplyID   string  `json:"replyId" doc:"The id of the reply; later ones are smaller" example:"2516070383999999999_9e3f4051-6273-4485-8697-b8c9daebf102"`
		TopicID   string  `json:"topicId" format:"uuid" doc:"The topic" example:"8d2e3f40-5162-4374-8586-a7b8c9daebf1"`
		Author    *Author `json:"author" doc:"Its author; null for one that the caller may not see, and once it is deleted"`
		Content   string  `json:"content" doc:"The text; empty once it is deleted" example:"Первый!"`
		CreatedAt string  `json:"createdAt" format:"date-time" doc:"When it was written" example:"2026-11-01T12:00:00.000Z"`
		EditedAt  *string `json:"editedAt" format:"date-time" doc:"When it was changed, or null" example:"2026-11-01T12:00:00.000Z"`
		DeletedAt *string `json:"deletedAt" format:"date-time" doc:"When it was deleted, or null" example:"2026-11-01T12:00:00.000Z"`
	}
	// BySection names a section.
	BySection struct {
		SectionID string `path:"sectionId" doc:"The id of a section" example:"music"`
	}
	// ByTopic names a topic.
	ByTopic struct {
		TopicID string `path:"topicId" doc:"The id of a topic" example:"8d2e3f40-5162-4374-8586-a7b8c9daebf1"`
	}
	// ByReply names a reply.
	ByReply struct {
		ReplyID string `path:"replyId" doc:"The id of a reply" example:"2516070383999999999_9e3f4051-6273-4485-8697-b8c9daebf102"`
	}
)

// TopicVisibility is one of topic.Visibilities.
type TopicVisibility string

// Schema returns the values.
func (TopicVisibility) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(topic.Visibilities) }

func (x Audience) audience() forum.Audience {
	return forum.Audience{Visibility: string(x.Visibility), Allowed: x.AllowedUserIDs}
}

func (x SectionEdit) section(id string) forum.Section {
	return forum.Section{ID: id, Name: x.Name, Description: x.Description, Order: x.OrderIndex}
}

func sectionOf(x forum.Section) Section {
	return Section{
		NewSection: NewSection{x.ID, SectionEdit{x.Name, x.Description, x.Order}},
		CreatedAt:  httpjson.FormatTime(x.CreatedAt),
	}
}

func listedSection(x forum.Section) Section {
	s := sectionOf(x)
	s.TopicCount = &x.Topics
	return s
}

func topicOf(v forum.View) Topic {
	return Topic{
		TopicID: v.ID, SectionID: v.SectionID, EventID: httpjson.OptionalText(v.EventID),
		Visibility: httpjson.OptionalText(v.Visibility), Title: v.Title, Content: v.Content, Author: authorOf(v.Author),
		IsPinned: v.Pinned, IsLocked: v.Locked,
		ReplyCount: v.Replies, CreatedAt: httpjson.FormatTime(v.CreatedAt), UpdatedAt: httpjson.FormatTime(v.UpdatedAt),
		LastActivityAt: httpjson.FormatTime(v.LastActivity),
	}
}

func replyOf(v forum.ReplyView) Reply {
	return Reply{
		v.ID, v.TopicID, authorOf(v.Author), v.Content, httpjson.FormatTime(v.CreatedAt),
		httpjson.OptionalTime(v.EditedAt), httpjson.OptionalTime(v.DeletedAt),
	}
}

func (a *api) forum() {
	op := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		o := huma.Operation{
			OperationID: id, Method: method, Path: "/forum" + path, Tags: []string{"forum"},
			Errors: errors, Summary: summary, Description: description,
		}
		switch method {
		case http.MethodPost:
			o.DefaultStatus = http.StatusCreated
		case http.MethodDelete:
			o.DefaultStatus = http.StatusNoContent
		}
		return o
	}
	route(a, member, Bound{2, 53},
		op("list-sections", http.MethodGet, "/sections", "Sections of the forum",
			"By their order, with the numbers of their topics."),
		func(ctx context.Context, c meet.Claim, in *ByPage) (*openapi.Body[List[Section]], error) {
			after, err := in.after("list-sections", c)
			if err != nil {
				return nil, err
			}
			p, err := a.Forum.Sections(ctx, c, after, in.Limit)
			return openapi.Answer(pageOf("list-sections", c, p.Sections, p.Next, listedSection), err)
		})
	route(a, member, Bound{2, 125},
		op("list-topics", http.MethodGet, "/sections/{sectionId}/topics", "Topics of a section", "Pinned ones first, then those with the last activity. The section event-{eventId} has the topics of an event that the caller sees; if there are none, it is answered as one that is not there.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			BySection
			ByPage
		},
		) (*openapi.Body[List[Topic]], error) {
			list := "list-topics " + in.SectionID
			after, err := in.after(list, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Forum.Topics(ctx, c, in.SectionID, after, in.Limit)
			return openapi.Answer(pageOf(list, c, p.Topics, p.Next, topicOf), err)
		})
	route(a, member, Bound{2, 123}, op("list-found-topics", http.MethodGet, "/search", "Find topics", "Topics of sections whose titles and texts have words that begin as those of q, the newest first. A page looks at 1,000 topics, so it may be short, or empty, before the end."),
		func(ctx context.Context, c meet.Claim, in *struct {
			Q string `query:"q" maxLength:"200" doc:"2 to 100 characters; all its words count, in any case and without accents" example:"лампа"`
			ByPage
		},
		) (*openapi.Body[List[Topic]], error) {
			list := "list-found-topics " + in.Q
			after, err := in.after(list, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Forum.Search(ctx, c, in.Q, after, in.Limit)
			return openapi.Answer(pageOf(list, c, p.Topics, p.Next, topicOf), err)
		})
	route(a, member, Bound{4, 8},
		op("new-topic", http.MethodPost, "/topics", "Begin a topic",
			"In a section. With an Idempotency-Key the same request twice is one topic.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByKey
			Body NewTopic
		},
		) (*openapi.Body[Topic], error) {
			v, err := a.Forum.NewTopic(ctx, c, in.Body.SectionID, in.Body.Title, in.Body.Content, in.Key)
			return openapi.Answer(topicOf(v), err)
		})
	route(a, member, Bound{2, 8},
		op("get-topic", http.MethodGet, "/topics/{topicId}", "A topic", "Its replies have a list of their own.", 404),
		func(ctx context.Context, c meet.Claim, in *ByTopic) (*openapi.Body[Topic], error) {
			v, err := a.Forum.Topic(ctx, c, in.TopicID)
			return openapi.Answer(topicOf(v), err)
		})
	route(a, member, Bound{6, 15}, op("put-topic", http.MethodPut, "/topics/{topicId}", "Change a topic", "Its author changes the text, staff whether it is pinned or locked. Once a lock is answered no reply of a member lands.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByTopic
			Body TopicEdit
		},
		) (*openapi.Body[Topic], error) {
			v, err := a.Forum.Edit(ctx, c, in.TopicID,
				forum.Edit{
					Title: in.Body.Title, Content: in.Body.Content,
					Pinned: in.Body.IsPinned, Locked: in.Body.IsLocked,
				})
			return openapi.Answer(topicOf(v), err)
		})
	route(a, member, Bound{5, 9}, op("delete-topic", http.MethodDelete, "/topics/{topicId}", "Delete a topic",
		"With its replies; its author and staff may.", 404),
		func(ctx context.Context, c meet.Claim, in *ByTopic) (*none, error) {
			return nil, a.Forum.Delete(ctx, c, in.TopicID)
		})
	route(a, member, Bound{2, 66},
		op("list-replies", http.MethodGet, "/topics/{topicId}/replies", "Replies of a topic",
			"The newest first; one that is deleted keeps its place.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByTopic
			ByPage
		},
		) (*openapi.Body[List[Reply]], error) {
			list := "list-replies " + in.TopicID
			after, err := in.after(list, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Forum.Replies(ctx, c, in.TopicID, after, in.Limit)
			return openapi.Answer(pageOf(list, c, p.Replies, p.Next, replyOf), err)
		})
	route(a, member, Bound{5, 10}, op("reply", http.MethodPost, "/topics/{topicId}/replies", "Reply in a topic", "Staff may reply in a locked one; others are answered 409 TOPIC_LOCKED. With an Idempotency-Key the same request twice is one reply, unless 100 others came between.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByTopic
			ByKey
			Body ReplyText
		},
		) (*openapi.Body[Reply], error) {
			v, err := a.Forum.Reply(ctx, c, in.TopicID, in.Body.Content, in.Key)
			return openapi.Answer(replyOf(v), err)
		})
	route(a, member, Bound{3, 7},
		op("put-reply", http.MethodPut, "/topics/{topicId}/replies/{replyId}", "Change a reply",
			"Its author may.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByTopic
			ByReply
			Body ReplyText
		},
		) (*openapi.Body[Reply], error) {
			v, err := a.Forum.EditReply(ctx, c, in.TopicID, in.ReplyID, in.Body.Content)
			return openapi.Answer(replyOf(v), err)
		})
	route(a, member, Bound{3, 7}, op("delete-reply", http.MethodDelete, "/topics/{topicId}/replies/{replyId}",
		"Delete a reply", "It keeps its place, without content and author. Its author and staff may.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByTopic
			ByReply
		},
		) (*none, error) {
			return nil, a.Forum.DeleteReply(ctx, c, in.TopicID, in.ReplyID)
		})
	ofEvent := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		o := op(id, method, "", summary, description, errors...)
		o.Path, o.Tags = "/admin"+path, []string{"admin"}
		return o
	}
	route(a, member, Bound{4, 9},
		ofEvent("new-event-topic", http.MethodPost, "/events/{eventId}/topics", "Begin a topic of an event; admins may",
			"An event has up to 20: 409 TOO_MANY_TOPICS. Two of them, for all who see the event and for those who attend, are there from the day that it is published.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			ByKey
			Body NewEventTopic
		},
		) (*openapi.Body[Topic], error) {
			v, err := a.Forum.NewEventTopic(ctx, c, in.EventID, in.Body.Title,
				in.Body.Content, in.Body.audience(), in.Key)
			return openapi.Answer(topicOf(v), err)
		})
	route(a, member, Bound{4, 11},
		ofEvent("put-audience", http.MethodPut, "/topics/{topicId}",
			"Change which members a topic of an event is for; admins may", "Holds from the next request on.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByTopic
			Body Audience
		},
		) (*openapi.Body[Topic], error) {
			v, err := a.Forum.SetAudience(ctx, c, in.TopicID, in.Body.audience())
			return openapi.Answer(topicOf(v), err)
		})
	section := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		o := op(id, method, "", summary, description, errors...)
		o.Path, o.Tags = "/admin/forum/sections"+path, []string{"admin"}
		return o
	}
	route(a, member, Bound{2, 4},
		section("new-section", http.MethodPost, "", "Make a section; admins may", "Its id stays.", 409),
		func(ctx context.Context, c meet.Claim, in *openapi.Body[NewSection]) (*openapi.Body[Section], error) {
			x, err := a.Forum.NewSection(ctx, c, in.Body.section(in.Body.SectionID))
			return openapi.Answer(sectionOf(x), err)
		})
	route(a, member, Bound{2, 4}, section("put-section", http.MethodPut, "/{sectionId}", "Change a section; admins may",
		"All of it but the id.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			BySection
			Body SectionEdit
		},
		) (*openapi.Body[Section], error) {
			x, err := a.Forum.EditSection(ctx, c, in.Body.section(in.SectionID))
			return openapi.Answer(sectionOf(x), err)
		})
	route(a, member, Bound{2, 5},
		section("delete-section", http.MethodDelete, "/{sectionId}", "Delete a section; admins may",
			"One without topics: 409 SECTION_NOT_EMPTY.", 404, 409),
		func(ctx context.Context, c meet.Claim, in *BySection) (*none, error) {
			return nil, a.Forum.DeleteSection(ctx, c, in.SectionID)
		})
}
