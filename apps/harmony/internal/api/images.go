package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/openapi"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
)

// imageTypes are those of pictures that members send; all are served as the first.
var imageTypes = picture.Types

// sentImage describes a route that takes a picture.
const sentImage = "The bytes of a JPEG, PNG, WebP or GIF file of up to 8 MiB and 25 megapixels, in place of the picture that it has. " + madeInTurn

const madeInTurn = "One picture of a caller is made at a time; a request that waits longer than 10 seconds gets 503 BUSY."

// imageSent returns an operation whose body is a picture.
func imageSent(o huma.Operation) huma.Operation { return openapi.TakesFile(o, imageTypes...) }

func (a *api) images() {
	route(a, member, Bound{4, 9}, imageSent(huma.Operation{
		OperationID: "add-image", Method: http.MethodPost, Path: "/users/{userId}/images", Tags: []string{"people"},
		DefaultStatus: http.StatusCreated, Errors: []int{404, 409},
		Summary: "Add a picture to my profile", Description: "The bytes of a JPEG, PNG, WebP or GIF file of up to 8 MiB and 25 megapixels. It is turned as EXIF says, made small and written anew as JPEG, without any other data of the file. " + madeInTurn,
	}), func(ctx context.Context, c meet.Claim, in *struct {
		ByUser
		RawBody []byte `contentType:"image/jpeg"`
	},
	) (*openapi.Body[Image], error) {
		i, err := a.Service.AddImage(ctx, c, in.UserID, in.RawBody)
		return openapi.Answer(imageOf(i), err)
	})
	route(a, member, Bound{4, 11}, huma.Operation{
		OperationID: "delete-image", Method: http.MethodDelete, Path: "/users/{userId}/images/{imageId}",
		Tags: []string{"people"}, Errors: []int{404, 409},
		Summary: "Delete a picture of mine", Description: "It is gone at once, and the others move up.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		ByUser
		ImageID string `path:"imageId" doc:"The id of a picture" example:"0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925"`
	},
	) (*none, error) {
		return nil, a.Service.DeleteImage(ctx, c, in.UserID, in.ImageID)
	})
	route(a, member, Bound{4, 7}, huma.Operation{
		OperationID: "order-images", Method: http.MethodPut, Path: "/users/{userId}/images/order",
		Tags: []string{"people"}, Errors: []int{404, 409},
		Summary: "Put my pictures in order", Description: "The first one is shown with my name.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		ByUser
		Body ImageOrder
	},
	) (*openapi.Body[ImageList], error) {
		all, err := a.Service.OrderImages(ctx, c, in.UserID, in.Body.ImageIDs)
		return openapi.Answer(ImageList{imagesOf(all)}, err)
	})
	route(a, visitor, Bound{4, 10}, huma.Operation{
		OperationID: "get-image", Method: http.MethodGet, Path: "/images/{kind}/{ownerId}/{file}",
		Tags: []string{"people"}, Errors: []int{404},
		Summary: "A picture", Description: "Of a member, to those who may see the member; of a chat, to those who take part while its sender is there for them, and once it was reported to staff; of an event or a post, to those who see it; of an item of the store, to everybody.",
		Responses: map[string]*huma.Response{"200": {Description: "The file", Content: openapi.Binary(imageTypes[0])}},
	}, func(ctx context.Context, c meet.Claim, in *struct {
		ByInvite
		Kind    string `path:"kind" doc:"profile, chat, store, event or blog" example:"profile"`
		OwnerID string `path:"ownerId" doc:"The id of the member, the chat, the item, the event or the post" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
		File    string `path:"file" doc:"The id of the picture with .jpg, or _320.jpg for a small one" example:"0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
	},
	) (*openapi.File, error) {
		var b blob.Blob
		var err error
		open := false // to everybody
		switch in.Kind + gallery.Suffix {
		case meet.ContainerProfiles:
			b, err = a.Service.Picture(ctx, c, in.OwnerID, in.File)
		case meet.ContainerChats:
			b, err = a.Chats.SentPicture(ctx, c, in.OwnerID, in.File)
		case gallery.ContainerStore:
			b, err = a.Shop.Picture(ctx, in.OwnerID, in.File)
			open = true
		case gallery.ContainerEvents:
			b, open, err = a.Events.Picture(ctx, c, in.OwnerID, in.File, in.Invite, from(ctx))
		case gallery.ContainerBlog:
			b, open, err = a.Blog.Picture(ctx, c, in.OwnerID, in.File)
		default:
			err = gallery.Missing()
		}
		if err != nil {
			return nil, err
		}
		cache := "private, max-age=600"
		if open {
			cache = "public, max-age=86400, immutable"
		}
		return &openapi.File{ContentType: b.Type, CacheControl: cache, ETag: b.ETag, Body: b.Body}, nil
	})
}
