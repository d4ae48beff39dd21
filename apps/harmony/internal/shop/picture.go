package shop

import (
	"context"
	"strings"

	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

func (s *Service) pictureGallery() gallery.Gallery {
	return gallery.New(s.members, gallery.ContainerStore)
}

// SetImage gives an item a picture in place of the one that it has; admins may.
func (s *Service) SetImage(ctx context.Context, c meet.Claim, id string, file []byte) (Item, error) {
	i, err := s.readItem(ctx, c, id)
	if err != nil {
		return Item{}, err
	}
	was := i.ImageURL
	if i.ImageURL, err = s.pictureGallery().Add(ctx, c, id, file); err != nil {
		return Item{}, err
	}
	i.UpdatedAt = s.Now().UTC()
	err = s.Write(ctx, s.tables.StoreItems,
		[]table.Op{{Kind: table.Merge, Row: table.Row{Key: itemKey(id), ETag: table.Any, Props: table.Props{
			{Name: "ImageUrl", Value: table.String(i.ImageURL)}, {Name: "UpdatedAt", Value: table.Time(i.UpdatedAt)},
		}}}})
	switch {
	case rowstore.Overtaken(err):
		return Item{}, noItem()
	case err != nil:
		return Item{}, rowstore.Unavailable(err)
	}
	s.pictureGallery().Drop(ctx, was)
	return i, nil
}

// Picture returns a file of a picture of an item. Everybody may ask.
func (s *Service) Picture(ctx context.Context, item, file string) (blob.Blob, error) {
	return s.pictureGallery().File(ctx, item, file)
}

// Named reports whether an item names a file: others are swept.
func (s *Service) Named(ctx context.Context, file string) (bool, error) {
	id, name, _ := strings.Cut(file, "/")
	row, err := s.GetRow(ctx, s.tables.StoreItems, itemKey(id))
	if err != nil || row == nil {
		return false, err
	}
	return s.pictureGallery().Has(row.Props.Get("ImageUrl").Str(), id, name), nil
}

// Checks look for the files of pictures.
func (s *Service) Checks() []meet.Check {
	return []meet.Check{{
		Name: "items", Table: s.tables.StoreItems,
		Look: func(ctx context.Context, row table.Row) ([]meet.Finding, error) {
			return s.pictureGallery().Check(ctx, s.tables.StoreItems, row)
		},
	}}
}
