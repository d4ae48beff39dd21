package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/storage/blob/picture"
)

// An AssetPurpose is what a picture is of.
type AssetPurpose string

// Schema returns the values.
func (AssetPurpose) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(assets.Purposes) }

// An AssetType is the media type of a file that is sent.
type AssetType string

// Schema returns the values.
func (AssetType) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(picture.Types) }

// A NewAsset says what file follows.
type NewAsset struct {
	Purpose        AssetPurpose `json:"purpose" doc:"What it is a picture of" example:"profile"`
	ContentType    AssetType    `json:"contentType" doc:"The type of the file" example:"image/png"`
	FileSizeBytes  int64        `json:"fileSizeBytes" doc:"Its size: 1 to 5242880" example:"70"`
	ChecksumSHA256 string       `json:"checksumSha256,omitempty" doc:"Its SHA-256, 64 of 0-9 a-f. If it is given, no other file is taken" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
}

// An Asset is a picture of the caller.
type Asset struct {
	AssetID        string       `json:"assetId" doc:"The id of the picture" example:"01KA000000000000000000000C"`
	Purpose        AssetPurpose `json:"purpose" doc:"What it is a picture of" example:"profile"`
	ContentType    AssetType    `json:"contentType" doc:"The type of the file that is sent" example:"image/png"`
	FileSizeBytes  int64        `json:"fileSizeBytes" doc:"The size of that file" example:"70"`
	ChecksumSHA256 *string      `json:"checksumSha256" doc:"The SHA-256 of that file, or null while it is not known" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Status         string       `json:"status" enum:"pending,completed" doc:"Whether the bytes are there" example:"completed"`
	UploadURL      string       `json:"uploadUrl" doc:"Where PUT sends the bytes" example:"/api/v1/assets/01KA000000000000000000000C/content"`
	IsAttached     bool         `json:"isAttached" doc:"Whether it is that of a thing. A picture of nothing is removed after 7 days" example:"false"`
	Width          *int         `json:"width" doc:"Of the picture that is kept, in pixels, or null" example:"1600"`
	Height         *int         `json:"height" doc:"Its height, or null" example:"1200"`
	CreatedAt      string       `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
}

func assetOf(a assets.Asset) Asset {
	one := Asset{
		AssetID: a.ID, Purpose: AssetPurpose(a.Purpose), ContentType: AssetType(a.Type), FileSizeBytes: a.Size,
		ChecksumSHA256: httpjson.OptionalText(a.Checksum),
		Status:         a.Status, UploadURL: Prefix + "/assets/" + a.ID + "/content", IsAttached: a.Thing != "",
		CreatedAt: httpjson.FormatTime(a.CreatedAt),
	}
	if a.Status == assets.Completed {
		one.Width, one.Height = &a.Width, &a.Height
	}
	return one
}

func (a *api) assets() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return operation("pictures", id, method, path, summary, description, status, errors...)
	}
	route(a, person, Bound{4, 8},
		op("create-asset", http.MethodPost, "/assets", "Begin a picture",
			"The bytes follow by PUT. Up to 100 a day.", http.StatusCreated),
		func(ctx context.Context, v visit, in *openapi.Body[NewAsset]) (*openapi.Body[Asset], error) {
			b := in.Body
			made, err := a.Pictures.Begin(ctx, v.Claim,
				assets.Asset{
					Purpose: string(b.Purpose), Type: string(b.ContentType),
					Size: b.FileSizeBytes, Checksum: b.ChecksumSHA256,
				})
			return openapi.Answer(assetOf(made), err)
		})
	route(a, person, Bound{5, 9},
		openapi.TakesFile(op("put-asset-content", http.MethodPut, "/assets/{id}/content", "Send the bytes of a picture",
			"Of the size, the type and the checksum that were said. The picture is turned as EXIF says, made small and written anew as JPEG, without any other data of the file; of a GIF the first frame. The same bytes again are as good. One picture of a caller is made at a time; a request that waits longer than 10 seconds gets 503 BUSY.", http.StatusOK, 404, 409), picture.Types...),
		func(ctx context.Context, v visit, in *struct {
			ByID
			RawBody []byte `contentType:"image/png"`
		},
		) (*openapi.Body[Asset], error) {
			made, err := a.Pictures.Fill(ctx, v.Claim, in.ID, in.RawBody)
			return openapi.Answer(assetOf(made), err)
		})
	route(a, person, Bound{1, 3},
		op("get-asset", http.MethodGet, "/assets/{id}", "A picture of mine",
			"What there is of it.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Asset], error) {
			one, err := a.Pictures.Get(ctx, v.Claim, in.ID)
			return openapi.Answer(assetOf(one), err)
		})
	get := op("get-asset-content", http.MethodGet, "/assets/{id}/content", "See a picture",
		"To those who see the thing whose picture it is, and to its owner while it is that of nothing.",
		http.StatusOK, 404)
	get.Responses = map[string]*huma.Response{"200": {Description: "The file", Content: openapi.Binary("image/jpeg")}}
	route(a, visitor, Bound{7, 16}, get,
		func(ctx context.Context, v visit, in *struct {
			ByID
			Size string `query:"size" enum:"large,small" default:"large" doc:"The longer side has up to 1,600 pixels, or 320" example:"small"`
		},
		) (*openapi.File, error) {
			b, err := a.Pictures.Content(ctx, v.Claim, in.ID, in.Size == "small")
			if err != nil {
				return nil, err
			}
			return &openapi.File{
				ContentType: b.Type, CacheControl: "private, max-age=600",
				ETag: b.ETag, Body: b.Body,
			}, nil
		})
}
