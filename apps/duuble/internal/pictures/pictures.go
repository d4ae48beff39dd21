// Package pictures is what people may do with pictures: upload them, and see those of things that
// they see. Package assets keeps them.
package pictures

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
)

// A Service is what people may do with pictures.
type Service struct {
	Assets *assets.Service
	Posts  *posts.Service
	ADay   int // uploads of one person; -1: no limit
}

func (s *Service) limit(user string) people.Limit {
	return people.Limit{
		Bucket: "asset" + user, Size: 24 * time.Hour, Most: s.ADay, Code: posts.Limited,
		Text: "you have uploaded as many pictures as a person may in a day; wait and try again",
	}
}

// Begin makes an asset of the caller, whose bytes follow.
func (s *Service) Begin(ctx context.Context, c people.Claim, a assets.Asset) (assets.Asset, error) {
	a.ID = s.Assets.NewID()
	return s.begin(ctx, c, a)
}

func (s *Service) begin(ctx context.Context, c people.Claim, a assets.Asset) (assets.Asset, error) {
	limit := s.limit(c.UserID)
	var uploaded people.Window
	u, err := s.Posts.People.Caller(ctx, c, func(ctx context.Context) (err error) {
		uploaded, err = s.Posts.People.Window(ctx, limit)
		return err
	})
	if err == nil {
		err = assets.Check(a.Purpose, a.Type, a.Size, a.Checksum)
	}
	if err == nil {
		err = s.Posts.People.Count(ctx, limit, uploaded, a.ID)
	}
	if err != nil {
		return assets.Asset{}, err
	}
	a.UserID = u.ID
	return s.Assets.Begin(ctx, a)
}

// Fill completes an asset of the caller by the bytes of its file.
func (s *Service) Fill(ctx context.Context, c people.Claim, id string, file []byte) (assets.Asset, error) {
	u, err := s.Posts.People.Caller(ctx, c)
	if err != nil {
		return assets.Asset{}, err
	}
	return s.Assets.Fill(ctx, u.ID, id, file)
}

// Upload makes an asset of a file that a form has sent. The same file with the same key of the same
// person, sent again within a day, is the same asset.
func (s *Service) Upload(ctx context.Context, c people.Claim, purpose string, file []byte,
	key string,
) (id string, err error) {
	media := picture.TypeOf(file)
	if media == "" || len(file) > assets.MaxBytes {
		return "", &fault.Error{
			Kind: fault.Invalid, Text: "the request breaks the rules named here",
			Fields: []fault.Field{{
				Name:    "body.picture",
				Message: "give a JPEG, PNG, WebP or GIF picture of up to 5 MiB",
			}},
		}
	}
	a := assets.Asset{ID: s.Assets.NewID(), Purpose: purpose, Type: media, Size: int64(len(file))}
	if key != "" {
		sum := sha256.Sum256(file)
		fresh := a.ID
		// a form that was refused, or to which the person went back, may come with another file
		a.ID, err = s.Posts.Repeats().IDFor(ctx, c.UserID, "picture "+key+" "+hex.EncodeToString(sum[:]), nil, fresh)
		if err != nil {
			return "", err
		}
		if a.ID != fresh {
			there, err := s.Assets.Read(ctx, a.ID)
			if err != nil {
				return "", err
			}
			if there != nil && there.Status == assets.Completed {
				return a.ID, nil
			}
		}
	}
	if _, err := s.begin(ctx, c, a); err != nil {
		return "", err
	}
	_, err = s.Fill(ctx, c, a.ID, file)
	return a.ID, err
}

// Get returns an asset of the caller.
func (s *Service) Get(ctx context.Context, c people.Claim, id string) (assets.Asset, error) {
	var a *assets.Asset
	u, err := s.Posts.People.Caller(ctx, c, func(ctx context.Context) (err error) {
		a, err = s.Assets.Read(ctx, id)
		return err
	})
	if err == nil && (a == nil || a.UserID != u.ID) {
		err = assets.Missing()
	}
	if err != nil {
		return assets.Asset{}, err
	}
	return *a, nil
}

// Content returns a file of an asset, the large one or the small one, to those who see the thing
// whose picture it is, and while it is that of nothing, to its owner.
func (s *Service) Content(ctx context.Context, c people.Claim, id string, small bool) (blob.Blob, error) {
	var a *assets.Asset
	u, err := s.Posts.People.Visitor(ctx, c, func(ctx context.Context) (err error) {
		a, err = s.Assets.Read(ctx, id)
		return err
	})
	if err != nil {
		return blob.Blob{}, err
	}
	if a == nil {
		return blob.Blob{}, assets.Missing()
	}
	seen := ""
	switch kind, of, _ := strings.Cut(a.Thing, "|"); {
	case kind == "" && u.ID != "" && u.ID == a.UserID:
		seen = a.ID
	case kind == "":
	case kind == manage.Reported:
		if _, err = s.Posts.People.Admin(ctx, c); err == nil {
			seen, err = s.Posts.PictureOf(ctx, a.Thing)
		}
	case kind == manage.AHub: // which everybody sees
		seen, err = s.Posts.Hubs.PictureOf(ctx, of)
	default:
		var copied manage.Copy
		copied, err = s.Posts.Manage.Look(ctx, c, manage.Target{Kind: kind, ID: of})
		seen = copied.Picture
	}
	switch fault.Of(err) {
	case fault.NotFound, fault.Forbidden, fault.Unauthenticated:
		err = assets.Missing()
	}
	if err == nil && seen != a.ID {
		err = assets.Missing()
	}
	if err != nil {
		return blob.Blob{}, err
	}
	return s.Assets.File(ctx, a, small)
}

// Sweep removes pictures that are of nothing any more.
func (s *Service) Sweep(ctx context.Context) error {
	return s.Assets.Sweep(ctx, s.Posts.PictureOf)
}
