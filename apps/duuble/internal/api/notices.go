package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// A NoticeType says what happened.
type NoticeType string

// Schema returns the values.
func (NoticeType) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(notices.Types()) }

// A Notification is what its reader is told.
type Notification struct {
	NotificationID string     `json:"notificationId" doc:"The id of the notification" example:"2516087663999999999-36c92e25aed2a57cacc40610"`
	Type           NoticeType `json:"type" doc:"What happened" example:"post_commented"`
	Actor          Person     `json:"actor" doc:"Who did it"`
	PostID         *string    `json:"postId" doc:"The post that it is about, or null" example:"01KA0000000000000000000003"`
	SourcePostID   *string    `json:"sourcePostId" doc:"Of a repost: the post of the reader, or null" example:"01KA0000000000000000000003"`
	CommentID      *string    `json:"commentId" doc:"The comment, or null" example:"01KA0000000000000000000008"`
	HubID          *string    `json:"hubId" doc:"The hub, or null" example:"01KA0000000000000000000004"`
	InvitationID   *string    `json:"invitationId" doc:"The invitation of a hub_invite_received, or null" example:"01KA0000000000000000000005"`
	JoinRequestID  *string    `json:"joinRequestId" doc:"The request to join, or null" example:"01KA0000000000000000000006"`
	IsRead         bool       `json:"isRead" doc:"Whether its reader has read it" example:"false"`
	CreatedAt      string     `json:"createdAt" format:"date-time" doc:"When it happened" example:"2026-11-01T12:00:00.000Z"`
}

func notificationOf(n posts.Notification) Notification {
	one := Notification{
		NotificationID: n.ID(), Type: NoticeType(n.Type), Actor: personOf(n.Actor),
		PostID: httpjson.OptionalText(n.Post), HubID: httpjson.OptionalText(n.Hub), IsRead: n.IsRead,
		CreatedAt: httpjson.FormatTime(n.At),
	}
	switch n.Type {
	case notices.PostCommented:
		one.CommentID = httpjson.OptionalText(n.Thing)
	case notices.InviteReceived:
		one.InvitationID = httpjson.OptionalText(n.Thing)
	case notices.RequestCreated, notices.RequestApproved, notices.RequestRejected:
		one.JoinRequestID = httpjson.OptionalText(n.Thing)
	case notices.PostReposted:
		one.SourcePostID = httpjson.OptionalText(n.Thing)
	}
	return one
}

// An UnreadCount is how many notifications are not read.
type UnreadCount struct {
	Unread int `json:"unread" doc:"How many; 20 means 20 or more" example:"3"`
}

// HubSettings are how a member is told of a hub.
type HubSettings struct {
	ContentMuted bool    `json:"contentMuted" doc:"Whether the member is told of no posts of the hub" example:"false"`
	MutedUntil   *string `json:"mutedUntil" format:"date-time" doc:"Until when the member is told of none, within a year, or null" example:"2026-11-02T12:00:00.000Z"`
}

func hubSettingsOf(m hubs.Mute) HubSettings {
	return HubSettings{m.Always, httpjson.OptionalTime(m.Until)}
}

func (a *api) notices() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("notifications", id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{7, 210},
		op("list-notifications", http.MethodGet, "/notifications", "My notifications",
			"The newest first, of the last 30 days: those that are about what the caller may see now.", http.StatusOK),
		func(ctx context.Context, v visit, in *struct {
			Unread bool `query:"unread" doc:"true: those that are not read" example:"true"`
			Paged
		},
		) (*openapi.Body[Items[Notification]], error) {
			list := "notifications " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Notifications(ctx, v.Claim, in.Unread, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, notificationOf)
		})
	route(a, person, Bound{7, 210},
		op("get-unread-count", http.MethodGet, "/notifications/unread-count",
			"How many notifications I have not read", "Up to 20.", http.StatusOK),
		func(ctx context.Context, v visit, _ *none) (*openapi.Body[UnreadCount], error) {
			n, err := a.Posts.Unread(ctx, v.Claim)
			return openapi.Answer(UnreadCount{n}, err)
		})
	route(a, person, Bound{3, 4},
		op("read-notification", http.MethodPost, "/notifications/{id}/read", "Note that I have read a notification",
			"One that was read before is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *struct {
			ID string `path:"id" doc:"The id of the notification" example:"2516087663999999999-36c92e25aed2a57cacc40610"`
		},
		) (*none, error) {
			return nil, a.Posts.ReadNotification(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{2, 3},
		op("read-all-notifications", http.MethodPost, "/notifications/read-all",
			"Note that I have read all notifications", "All that are there now.", http.StatusNoContent),
		func(ctx context.Context, v visit, _ *none) (*none, error) {
			return nil, a.Posts.ReadNotification(ctx, v.Claim, "")
		})
	route(a, person, Bound{1, 4}, op("get-hub-settings", http.MethodGet, "/hubs/{id}/notification-settings",
		"How I am told of a hub", "To its members.", http.StatusOK, 403, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[HubSettings], error) {
			m, err := a.Hubs.Muted(ctx, v.Claim, in.ID)
			return openapi.Answer(hubSettingsOf(m), err)
		})
	route(a, person, Bound{3, 6}, op("put-hub-settings", http.MethodPut, "/hubs/{id}/notification-settings",
		"Choose how I am told of a hub", "A mute keeps away notifications of posts and shares in the hub, and no others. It ends with the membership.", http.StatusOK, 403, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body HubSettings
		},
		) (*openapi.Body[HubSettings], error) {
			to := hubs.Mute{Always: in.Body.ContentMuted}
			if in.Body.MutedUntil != nil {
				var err error
				if to.Until, err = time.Parse(time.RFC3339, *in.Body.MutedUntil); err != nil {
					return nil, err
				}
			}
			m, err := a.Hubs.SetMuted(ctx, v.Claim, in.ID, to)
			return openapi.Answer(hubSettingsOf(m), err)
		})
}
