package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

type (
	// NewPost is what an admin writes of a post.
	NewPost struct {
		Title       string   `json:"title" doc:"1 to 200 characters" example:"Альбом готов"`
		Excerpt     string   `json:"excerpt" doc:"What a list shows of it, up to 500 characters" example:"Мы записали десять песен"`
		Content     string   `json:"content" doc:"1 to 30,000 characters of Markdown, whose HTML stays to be read" example:"Мы записали десять песен. Одну из них вы уже слышали."`
		Tags        []string `json:"tags" nullable:"false" doc:"Up to 10 of 1 to 30 characters" example:"[\"альбом\"]"`
		IsPublished bool     `json:"isPublished" doc:"Until then admins alone see it" example:"true"`
		PublishedAt *string  `json:"publishedAt,omitempty" nullable:"true" doc:"From when on it is seen, an instant with a zone; absent for now, or as it was" example:"2026-11-01T12:00:00Z"`
	}
	// PostHead is a post as lists have it.
	PostHead struct {
		PostID      string   `json:"postId" format:"uuid" doc:"The id of the post" example:"4b5c6d7e-8f90-4a1b-8c2d-3e4f50617283"`
		Title       string   `json:"title" doc:"What it is called" example:"Альбом готов"`
		Excerpt     string   `json:"excerpt" doc:"What a list shows of it" example:"Мы записали десять песен"`
		Tags        []string `json:"tags" nullable:"false" doc:"What it is about" example:"[\"альбом\"]"`
		IsPublished bool     `json:"isPublished" doc:"False: admins alone see it" example:"true"`
		PublishedAt *string  `json:"publishedAt" format:"date-time" doc:"From when on it is seen; null if no time was given yet" example:"2026-11-01T12:00:00.000Z"`
		ImageURL    *string  `json:"imageUrl" doc:"Its picture of up to 2,048 pixels a side, or null; with _320.jpg at its end a small one" example:"/api/v1/images/blog/4b5c6d7e-8f90-4a1b-8c2d-3e4f50617283/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
		AuthorID    *string  `json:"authorId" doc:"The admin who wrote it; null once they are erased" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
		CreatedAt   string   `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
		UpdatedAt   string   `json:"updatedAt" format:"date-time" doc:"When it was changed last" example:"2026-11-01T12:00:00.000Z"`
	}
	// Post is a text of the blog.
	Post struct {
		PostHead
		Content string `json:"content" doc:"The text" example:"Мы записали десять песен. Одну из них вы уже слышали."`
	}
	// ByPost names a post.
	ByPost struct {
		PostID string `path:"postId" doc:"The id of a post" example:"4b5c6d7e-8f90-4a1b-8c2d-3e4f50617283"`
	}
)

func (n NewPost) draft() blog.Draft {
	d := blog.Draft{Title: n.Title, Excerpt: n.Excerpt, Content: n.Content, Tags: n.Tags, Published: n.IsPublished}
	if n.PublishedAt != nil {
		d.PublishedAt = *n.PublishedAt
	}
	return d
}

func postHeadOf(p blog.Post) PostHead {
	return PostHead{
		PostID: p.ID, Title: p.Title, Excerpt: p.Excerpt, Tags: p.Tags, IsPublished: p.Published,
		PublishedAt: httpjson.OptionalTime(p.PublishedAt),
		ImageURL:    httpjson.OptionalText(p.ImageURL), AuthorID: httpjson.OptionalText(p.AuthorID),
		CreatedAt: httpjson.FormatTime(p.CreatedAt), UpdatedAt: httpjson.FormatTime(p.UpdatedAt),
	}
}

func postOf(p blog.Post) Post { return Post{postHeadOf(p), p.Content} }

func (a *api) blog() {
	op := func(id, method, path, tag, summary, description string, status int, errors ...int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{tag}, DefaultStatus: status,
			Errors: errors, Summary: summary, Description: description,
		}
	}
	const list, all = "list-posts", "list-all-posts"
	route(a, anyone, Bound{2, 21},
		op(list, http.MethodGet, "/blog/posts", "blog", "Posts of the blog",
			"Those that are published, the newest first, without their texts.", http.StatusOK),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByPage
			Tag string `query:"tag" maxLength:"100" doc:"Only posts with a tag, in any case of its letters" example:"альбом"`
		},
		) (*openapi.Body[List[PostHead]], error) {
			list := list + " " + in.Tag
			after, err := in.after(list, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Blog.List(ctx, in.Tag, after, in.Limit)
			return openapi.Answer(pageOf(list, c, p.Posts, p.Next, postHeadOf), err)
		})
	route(a, visitor, Bound{1, 3},
		op("get-post", http.MethodGet, "/blog/posts/{postId}", "blog", "A post",
			"One that is not published is seen by admins alone.", http.StatusOK, 404),
		func(ctx context.Context, c meet.Claim, in *ByPost) (*openapi.Body[Post], error) {
			p, err := a.Blog.Post(ctx, c, in.PostID)
			return openapi.Answer(postOf(p), err)
		})
	route(a, member, Bound{1, 3}, op(all, http.MethodGet, "/admin/blog/posts", "admin", "All posts; admins may",
		"By their ids, those that are not published too.", http.StatusOK),
		func(ctx context.Context, c meet.Claim, in *ByPage) (*openapi.Body[List[PostHead]], error) {
			after, err := in.after(all, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Blog.All(ctx, c, after, in.Limit)
			return openapi.Answer(pageOf(all, c, p.Posts, p.Next, postHeadOf), err)
		})
	route(a, member, Bound{3, 7},
		op("new-post", http.MethodPost, "/admin/blog/posts", "admin", "Make a post; admins may",
			"It is in the list when the answer is there, if it is published. "+sentAgain, http.StatusCreated),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByKey
			Body NewPost
		},
		) (*openapi.Body[Post], error) {
			d := in.Body.draft()
			d.Key = in.Key
			p, err := a.Blog.NewPost(ctx, c, d)
			return openapi.Answer(postOf(p), err)
		})
	route(a, member, Bound{4, 10},
		op("put-post", http.MethodPut, "/admin/blog/posts/{postId}", "admin", "Change a post; admins may",
			"All of it.", http.StatusOK, 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByPost
			Body NewPost
		},
		) (*openapi.Body[Post], error) {
			p, err := a.Blog.Edit(ctx, c, in.PostID, in.Body.draft())
			return openapi.Answer(postOf(p), err)
		})
	route(a, member, Bound{5, 10},
		imageSent(op("put-post-image", http.MethodPut, "/admin/blog/posts/{postId}/image", "admin",
			"Give a post a picture; admins may", sentImage, http.StatusOK, 404)),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByPost
			RawBody []byte `contentType:"image/jpeg"`
		},
		) (*openapi.Body[Post], error) {
			p, err := a.Blog.SetImage(ctx, c, in.PostID, in.RawBody)
			return openapi.Answer(postOf(p), err)
		})
	route(a, member, Bound{4, 12},
		op("delete-post", http.MethodDelete, "/admin/blog/posts/{postId}", "admin", "Delete a post; admins may",
			"At once.", http.StatusNoContent, 404),
		func(ctx context.Context, c meet.Claim, in *ByPost) (*none, error) {
			return nil, a.Blog.Delete(ctx, c, in.PostID)
		})
}
