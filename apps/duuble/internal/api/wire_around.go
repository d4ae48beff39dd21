package api

import (
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/http/httpjson"
)

// NewComment is what a person says about a post.
type NewComment struct {
	Text            string `json:"text,omitempty" doc:"Up to 2,000 characters; 1 at least without a picture" example:"Tea, and why not?"`
	AssetID         string `json:"assetId,omitempty" doc:"A picture of the purpose comment" example:"01KA000000000000000000000C"`
	ParentCommentID string `json:"parentCommentId,omitempty" doc:"The comment on the same post to which it replies. A reply to a reply hangs on the same root" example:"01KA0000000000000000000008"`
}

// Comment is a text under a post.
type Comment struct {
	CommentID       string  `json:"commentId" doc:"The id of the comment" example:"01KA0000000000000000000008"`
	PostID          string  `json:"postId" doc:"The post" example:"01KA0000000000000000000003"`
	Author          Person  `json:"author" doc:"Who wrote it"`
	Text            string  `json:"text" doc:"What it says" example:"Tea, and why not?"`
	AssetID         *string `json:"assetId" doc:"Its picture, or null" example:"01KA000000000000000000000C"`
	ParentCommentID *string `json:"parentCommentId" doc:"The root to which it replies, which may be deleted, or null" example:"01KA0000000000000000000008"`
	ReplyCount      int64   `json:"replyCount" doc:"How many replies it has" example:"2"`
	CreatedAt       string  `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
}

func commentOf(c posts.Comment) Comment {
	return Comment{
		c.ID, c.PostID, personOf(c.Author), c.Text, httpjson.OptionalText(c.Picture),
		httpjson.OptionalText(c.Parent), c.Replies, httpjson.FormatTime(c.CreatedAt),
	}
}

// Following is whether the caller follows a person.
type Following struct {
	Following bool   `json:"following" doc:"Always true" example:"true"`
	CreatedAt string `json:"createdAt" format:"date-time" doc:"Since when. A follow that comes back keeps its date" example:"2026-11-01T12:00:00.000Z"`
}

// Blocked is whether the caller blocks a person.
type Blocked struct {
	Blocked   bool   `json:"blocked" doc:"Always true" example:"true"`
	CreatedAt string `json:"createdAt" format:"date-time" doc:"Since when. A block that comes back keeps its date" example:"2026-11-01T12:00:00.000Z"`
}
