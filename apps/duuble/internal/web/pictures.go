package web

import (
	"errors"
	"net/http"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
)

// maxUpload is how large a form may be that has a picture.
const maxUpload = assets.MaxBytes + maxForm

// sentPicture returns the picture that a form has: that of its file, or else the one that it had
// before, which the person may have taken off. A form that is shown again has it.
func (s *web) sentPicture(r *request, purpose string) (id string, err error) {
	file, err := pages.SentFile(r.Request, "file")
	if err != nil {
		return "", err
	}
	if file == nil {
		if r.form("nopicture") != "" {
			r.PostForm.Del("picture")
		}
		return r.form("picture"), nil
	}
	if id, err = s.Pictures.Upload(r.Context(), r.claim, purpose, file, r.form("key")); err != nil {
		return "", ofPicture(err)
	}
	r.PostForm.Set("picture", id)
	return id, nil
}

// said returns what a form of a comment or a message says.
func (s *web) said(r *request, purpose string) (posts.Said, error) {
	picture, err := s.sentPicture(r, purpose)
	return posts.Said{Text: lines(r.form("text")), Picture: picture}, err
}

// ofPicture has an error of the bytes of a file stand at the field of the picture.
func ofPicture(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.Invalid {
		for i := range f.Fields {
			if f.Fields[i].Name == "body" {
				f.Fields[i].Name, f.Fields[i].Message = "picture", f.Text
			}
		}
	}
	return err
}

// picture serves a picture to a browser.
func (s *web) picture(r *request) error {
	b, err := s.Pictures.Content(r.Context(), r.claim, r.PathValue("id"), r.URL.Query().Get("size") == "small")
	if err != nil {
		return err
	}
	h := r.w.Header()
	h.Set("Content-Type", b.Type)
	h.Set("ETag", b.ETag)
	h.Set("Cache-Control", "private, max-age=600")
	if has := httpjson.ParseETags(r.Header.Values("If-None-Match")); has.Match(b.ETag) {
		r.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	_, _ = r.w.Write(b.Body) // the client has gone away
	return nil
}
