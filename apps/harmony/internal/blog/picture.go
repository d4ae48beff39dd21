package blog

import (
	"context"
	"strings"

	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
)

func (s *Service) pictureGallery() gallery.Gallery {
	return gallery.New(s.members, gallery.ContainerBlog)
}

// SetImage gives a post a picture in place of the one that it has; admins may.
func (s *Service) SetImage(ctx context.Context, c meet.Claim, id string, file []byte) (Post, error) {
	url, old := "", ""
	p, err := s.editPost(ctx, c, id, func(was *Post) (_ *Post, err error) {
		if was == nil {
			return nil, noPost()
		}
		if url == "" {
			if url, err = s.pictureGallery().Add(ctx, c, id, file); err != nil {
				return nil, err
			}
		}
		p := *was
		if p.ImageURL != url { // else it landed, and its answer was lost
			old, p.ImageURL = p.ImageURL, url
		}
		return &p, nil
	})
	if err == nil {
		s.pictureGallery().Drop(ctx, old)
	}
	return p, err
}

// Picture returns a file of the picture of a post, to those who see the post. open reports that
// everybody does.
func (s *Service) Picture(ctx context.Context, c meet.Claim, id, file string) (b blob.Blob, open bool, err error) {
	p, err := s.Post(ctx, c, id)
	if fault.CodeOf(err) == PostNotFound || err == nil && !s.pictureGallery().Has(p.ImageURL, id, file) {
		err = gallery.Missing()
	}
	if err != nil {
		return b, false, err
	}
	b, err = s.pictureGallery().File(ctx, id, file)
	return b, p.isSeen(s.Now()), err
}

// Named reports whether a post names a file: others are swept.
func (s *Service) Named(ctx context.Context, file string) (bool, error) {
	id, name, _ := strings.Cut(file, "/")
	p, err := s.readPost(ctx, id)
	return p != nil && s.pictureGallery().Has(p.ImageURL, id, name), err
}
