package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
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
func commentsAnswer(list string, page posts.CommentPage, err error) (*openapi.Body[Items[Comment]], error) {
	return pageOf(list, page.Items, page.Next, err, commentOf)
}

func (a *api) comments() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("posts", id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{6, 22}, op("delete-post", http.MethodDelete, "/posts/{id}", "Delete a post of mine", "At once it is not there for anybody, nor is what is around it. One that was deleted before is as good. The author can bring it back for 30 days; then it is removed for good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Posts.Delete(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{9, 31},
		op("restore-post", http.MethodPost, "/posts/{id}/restore", "Bring back a post that I deleted",
			"With its votes and comments. One that is locked comes back while one is a member of all its hubs. "+
				"One that is there is as good.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Card], error) {
			c, err := a.Posts.Restore(ctx, v.Claim, in.ID)
			if err != nil {
				return nil, err
			}
			return openapi.Answer(a.cardOf(c), nil)
		})
	route(a, person, Bound{9, 19},
		op("create-comment", http.MethodPost, "/posts/{id}/comments", "Comment on a post",
			"Whoever sees the post may. The same Idempotency-Key again within a day answers with the same comment.",
			http.StatusCreated, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Key  string `header:"Idempotency-Key" doc:"Up to 100 characters that you choose" example:"4711"`
			Body NewComment
		},
		) (*newComment, error) {
			c, err := a.Posts.Comment(ctx, v.Claim, in.ID, posts.Said{Text: in.Body.Text, Picture: in.Body.AssetID},
				in.Body.ParentCommentID, in.Key)
			if err != nil {
				return nil, err
			}
			return &newComment{Prefix + "/posts/" + in.ID + "/comments/" + c.ID + "/replies", commentOf(c)}, nil
		})
	route(a, visitor, Bound{4, 54},
		op("list-comments", http.MethodGet, "/posts/{id}/comments", "The comments on a post",
			"Roots, the newest first. The replies of a root that was deleted are among them.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Paged
		},
		) (*openapi.Body[Items[Comment]], error) {
			list := "comments " + in.ID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Comments(ctx, v.Claim, in.ID, after, in.Limit)
			return commentsAnswer(list, page, err)
		})
	route(a, visitor, Bound{4, 56},
		op("list-replies", http.MethodGet, "/posts/{id}/comments/{comment}/replies", "The replies to a comment",
			"The oldest first.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *struct {
			ByComment
			Paged
		},
		) (*openapi.Body[Items[Comment]], error) {
			list := "replies " + in.ID + in.Comment
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Replies(ctx, v.Claim, in.ID, in.Comment, after, in.Limit)
			return commentsAnswer(list, page, err)
		})
	route(a, person, Bound{9, 39},
		op("delete-comment", http.MethodDelete, "/posts/{id}/comments/{comment}",
			"Delete a comment of mine, or on a post of mine",
			"Replies to it stay. One of the caller that was deleted before is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByComment) (*none, error) {
			return nil, a.Posts.DeleteComment(ctx, v.Claim, in.ID, in.Comment)
		})
}

// personsAnswer returns the answer to a page of people.
func personsAnswer(list string, page people.PersonPage, err error) (*openapi.Body[Items[Person]], error) {
	return pageOf(list, page.Items, page.Next, err, personOf)
}

func (a *api) ties() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("people", id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{4, 20},
		op("follow", http.MethodPut, "/users/{id}/follow", "Follow a person",
			"A person who is followed already stays so, since the same time.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Following], error) {
			at, err := a.People.Follow(ctx, v.Claim, in.ID, true)
			return openapi.Answer(Following{true, httpjson.FormatTime(at)}, err)
		})
	route(a, person, Bound{5, 19},
		op("unfollow", http.MethodDelete, "/users/{id}/follow", "Follow a person no longer",
			"One who is not followed is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			_, err := a.People.Follow(ctx, v.Claim, in.ID, false)
			return nil, err
		})
	route(a, person, Bound{18, 36}, op("block", http.MethodPut, "/users/{id}/block", "Block a person", "At once neither of the two finds the other, nor posts and comments of the other: each is to the other as if deleted. The follows of both end. Votes stay counted.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Blocked], error) {
			at, err := a.People.Block(ctx, v.Claim, in.ID, true)
			return openapi.Answer(Blocked{true, httpjson.FormatTime(at)}, err)
		})
	route(a, person, Bound{10, 26},
		op("unblock", http.MethodDelete, "/users/{id}/block", "Block a person no longer",
			"Follows do not come back by themselves.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			_, err := a.People.Block(ctx, v.Claim, in.ID, false)
			return nil, err
		})
	route(a, person, Bound{2, 30}, op("search-users", http.MethodGet, "/users/search", "Find people", "Whose username, or a word of whose name, begins as each word of q does; case and accents do not count. In the order of these words. People who are hidden from the caller, and those who have left, are not found.", http.StatusOK),
		func(ctx context.Context, v visit, in *Searched) (*openapi.Body[Items[Person]], error) {
			name := "people with " + in.Q
			after, err := in.after(name)
			if err != nil {
				return nil, err
			}
			page, err := a.People.Search(ctx, v.Claim, in.Q, after, in.Limit)
			return personsAnswer(name, page, err)
		})
	for _, list := range []struct {
		id, path, summary string
		read              func(ctx context.Context, c people.Claim, user, after string,
			limit int) (people.PersonPage, error)
	}{
		{"list-followers", "/users/{id}/followers", "Who follows a person", a.People.Followers},
		{"list-following", "/users/{id}/following", "Whom a person follows", a.People.Following},
	} {
		route(a, visitor, Bound{2, 30},
			op(list.id, http.MethodGet, list.path, list.summary,
				"The newest first. A page may have fewer than the limit.", http.StatusOK, 404),
			func(ctx context.Context, v visit, in *struct {
				ByID
				Paged
			},
			) (*openapi.Body[Items[Person]], error) {
				name := list.id + " " + in.ID
				after, err := in.after(name)
				if err != nil {
					return nil, err
				}
				page, err := list.read(ctx, v.Claim, in.ID, after, in.Limit)
				return personsAnswer(name, page, err)
			})
	}
	route(a, person, Bound{2, 23},
		op("list-blocks", http.MethodGet, "/users/me/blocks", "Whom I block",
			"In the order of their ids.", http.StatusOK),
		func(ctx context.Context, v visit, in *Paged) (*openapi.Body[Items[Person]], error) {
			list := "blocks " + v.UserID
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.People.Blocks(ctx, v.Claim, after, in.Limit)
			return personsAnswer(list, page, err)
		})
}
