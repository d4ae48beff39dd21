package shop

import (
	"context"
	"errors"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Container is where the pictures of items are: two files each.
const Container = "store-images"

// imagePath is where the doors serve pictures of items.
const imagePath = "/api/v1/images/store/"

// side is how long the longer side of a picture is.
const side = 2048

func imageURL(item, image string) string { return imagePath + item + "/" + image + ".jpg" }

// files returns the names of the files of the picture that an address leads to.
func files(url string) []string {
	name, ok := strings.CutSuffix(strings.TrimPrefix(url, imagePath), ".jpg")
	if !ok {
		return nil
	}
	return []string{name + ".jpg", name + account.ThumbSuffix}
}

// SetImage gives an item a picture in place of the one that it has; admins may. The files come
// before the row, so a row never names a picture that is not there.
func (s *Service) SetImage(ctx context.Context, c meet.Claim, id string, file []byte) (Item, error) {
	i, err := s.existing(ctx, c, id)
	if err != nil {
		return Item{}, err
	}
	made, err := s.members.Pictures.Make(ctx, file, side)
	if err != nil {
		return Item{}, err
	}
	was := i.ImageURL
	i.ImageURL, i.UpdatedAt = imageURL(id, s.members.NewID()), s.Now().UTC()
	names := files(i.ImageURL)
	err = rowstore.Both(ctx, func(ctx context.Context) error { return s.members.PutFile(ctx, Container, names[0], made.Large) },
		func(ctx context.Context) error { return s.members.PutFile(ctx, Container, names[1], made.Thumb) })
	if err != nil {
		return Item{}, err
	}
	err = s.Write(ctx, s.tables.StoreItems, []table.Op{{Kind: table.Merge, Row: table.Row{Key: itemKey(id), ETag: table.Any, Props: table.Props{
		{Name: "ImageUrl", Value: table.String(i.ImageURL)}, {Name: "UpdatedAt", Value: table.Time(i.UpdatedAt)},
	}}}})
	switch {
	case rowstore.Overtaken(err):
		return Item{}, noItem()
	case err != nil:
		return Item{}, rowstore.Unavailable(err)
	}
	s.members.DropFiles(ctx, Container, files(was))
	return i, nil
}

// Picture returns a file of a picture of an item. Everybody may ask.
func (s *Service) Picture(ctx context.Context, item, file string) (blob.Blob, error) {
	if image, _ := account.CutImage(file); !meet.IsID(item) || !meet.IsID(image) {
		return blob.Blob{}, fault.Coded(fault.NotFound, meet.ImageNotFound, "there is no such picture")
	}
	return s.members.File(ctx, Container, item+"/"+file)
}

// Named reports whether an item names a file: others are swept.
func (s *Service) Named(ctx context.Context, file string) (bool, error) {
	id, _, _ := strings.Cut(file, "/")
	row, err := s.GetRow(ctx, s.tables.StoreItems, itemKey(id))
	if err != nil || row == nil {
		return false, err
	}
	return slices.Contains(files(row.Props.Get("ImageUrl").Str()), file), nil
}

// Checks look for the files of pictures.
func (s *Service) Checks() []meet.Check {
	return []meet.Check{{Name: "items", Table: s.tables.StoreItems, Look: func(ctx context.Context, row table.Row) (found []meet.Finding, err error) {
		for _, name := range files(row.Props.Get("ImageUrl").Str()) {
			_, err := s.members.Blobs.Get(ctx, Container, name)
			if errors.Is(err, blob.ErrNotFound) {
				found = append(found, meet.Finding{Table: s.tables.StoreItems, Key: row.Key, Says: "a file of the picture is missing"})
			} else if err != nil {
				return nil, err
			}
		}
		return found, nil
	}}}
}
