package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/posts"
)

// newComment is the answer to a new comment.
type newComment struct {
	Location string `header:"Location" doc:"Where its replies are" example:"/api/v1/posts/01KA0000000000000000000003/comments/01KA0000000000000000000008/replies"`
	Body     Comment
}

// A ByComment names a comment on a post.
type ByComment struct {
	ByID
	Comment string `path:"comment" doc:"The id of the comment" example:"01KA0000000000000000000008"`
}

// commentsAnswer returns the answer to a page of comments.
func commentsAnswer(list string, page posts.CommentPage, err error) (*body[Items[Comment]], error) {
	items := Items[Comment]{Items: []Comment{}, NextCursor: cursorTo(list, page.Next)}
	for _, c := range page.Items {
		items.Items = append(items.Items, commentOf(c))
	}
	return answer(items, err)
}

func (a *api) comments() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("posts", id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{7, 13}, op("create-comment", http.MethodPost, "/posts/{id}/comments", "Comment on a post", "Whoever sees the post may. The same Idempotency-Key again within a day answers with the same comment.", http.StatusCreated, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Key  string `header:"Idempotency-Key" doc:"Up to 100 characters that you choose" example:"4711"`
			Body NewComment
		},
		) (*newComment, error) {
			c, err := a.Posts.Comment(ctx, v.Claim, in.ID, in.Body.Text, in.Body.ParentCommentID, in.Key)
			if err != nil {
				return nil, err
			}
			return &newComment{Prefix + "/posts/" + in.ID + "/comments/" + c.ID + "/replies", commentOf(c)}, nil
		})
	route(a, visitor, Bound{4, 46}, op("list-comments", http.MethodGet, "/posts/{id}/comments", "The comments on a post", "Roots, the newest first. The replies of a root that was deleted are among them.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Paged
		},
		) (*body[Items[Comment]], error) {
			list := "comments " + in.ID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Comments(ctx, v.Claim, in.ID, after, in.Limit)
			return commentsAnswer(list, page, err)
		})
	route(a, visitor, Bound{4, 48}, op("list-replies", http.MethodGet, "/posts/{id}/comments/{comment}/replies", "The replies to a comment", "The oldest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByComment
			Paged
		},
		) (*body[Items[Comment]], error) {
			list := "replies " + in.ID + in.Comment
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Replies(ctx, v.Claim, in.ID, in.Comment, after, in.Limit)
			return commentsAnswer(list, page, err)
		})
	route(a, person, Bound{9, 36}, op("delete-comment", http.MethodDelete, "/posts/{id}/comments/{comment}", "Delete a comment of mine", "Replies to it stay. One that was deleted before is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByComment) (*none, error) {
			return nil, a.Posts.DeleteComment(ctx, v.Claim, in.ID, in.Comment)
		})
}
