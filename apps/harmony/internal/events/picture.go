package events

import (
	"context"
	"strings"

	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/storage/blob"
)

func (s *Service) pictureGallery() gallery.Gallery {
	return gallery.New(s.members, gallery.ContainerEvents)
}

// SetImage gives an event a picture in place of the one that it has; admins may.
func (s *Service) SetImage(ctx context.Context, c meet.Claim, id string, file []byte) (View, error) {
	url, was := "", ""
	v, err := s.editEvent(ctx, c, id, func(e *Event) (err error) {
		if url == "" {
			if url, err = s.pictureGallery().Add(ctx, c, id, file); err != nil {
				return err
			}
		}
		if e.ImageURL != url { // else it landed, and its answer was lost
			was, e.ImageURL = e.ImageURL, url
		}
		return nil
	})
	if err == nil {
		s.pictureGallery().Drop(ctx, was)
	}
	return v, err
}

// Picture returns a file of the picture of an event, to those who see the event or its teaser. open
// reports that everybody does.
func (s *Service) Picture(ctx context.Context, c meet.Claim,
	id, file, code, from string,
) (b blob.Blob, open bool, err error) {
	st, err := s.standOf(ctx, c, id, code, from)
	if err != nil {
		return b, false, err
	}
	if st.sightOf() == Unseen || !s.pictureGallery().Has(st.event.ImageURL, id, file) {
		return b, false, gallery.Missing()
	}
	b, err = s.pictureGallery().File(ctx, id, file)
	return b, st.event.Published && !st.event.Secret(), err
}

// Named reports whether an event names a file: others are swept.
func (s *Service) Named(ctx context.Context, file string) (bool, error) {
	id, name, _ := strings.Cut(file, "/")
	e, err := s.readEvent(ctx, id)
	return e != nil && !e.Deleted() && s.pictureGallery().Has(e.ImageURL, id, name), err
}
