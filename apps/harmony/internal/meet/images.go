package meet

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// ContainerProfiles is where pictures of members are.
const ContainerProfiles = "profile-images"

// ContainerChats is where pictures of messages are.
const ContainerChats = "chat-images"

// profileSide is how long the longer side of a picture of a member is.
const profileSide = 1200

// ContainerRemoved is where files lie for a week that the timer tidy has taken out of a container,
// whose name stands before theirs.
const ContainerRemoved = "removed-images"

// maxImages is how many pictures a profile has.
const maxImages = 10

// Pictures of members.
type (
	// Image is a picture.
	Image = account.Image
	// Images are the pictures of a member.
	Images = account.Images
)

// readImages reads the pictures of a member.
func (s *Service) readImages(ctx context.Context, user string) (Images, error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.UserImages, table.Range{Partition: user}, table.MaxPage)
	all := account.ParseImages(user, rows)
	return all, err
}

// changeImages writes the pictures that change makes of those that there are, under the ETag of
// their head. If another writer came first it reads them anew, and calls change again.
func (s *Service) changeImages(ctx context.Context, caller Caller, was Images,
	change func(Images) ([]Image, error),
) ([]Image, error) {
	for try := 0; ; try++ {
		next, err := change(was)
		if err != nil {
			return nil, err
		}
		ops := []table.Op{headOp(was, caller.ID, len(next))}
		for i := range next {
			next[i].Order = i
			switch at := slices.IndexFunc(was.All, func(old Image) bool { return old.ID == next[i].ID }); {
			case at < 0:
				ops = append(ops, table.Op{Kind: table.Insert, Row: next[i].Row()})
			case was.All[at].Order != i:
				row := next[i].Row()
				row.ETag = table.Any // the head has been changed by no other
				ops = append(ops, table.Op{Kind: table.Replace, Row: row})
			}
		}
		for _, old := range was.All {
			if !slices.ContainsFunc(next, func(n Image) bool { return n.ID == old.ID }) {
				ops = append(ops, rowstore.Removal(old.Row().Key))
			}
		}
		err = s.Write(ctx, s.Tables.UserImages, ops)
		if err == nil {
			return next, nil
		}
		if !rowstore.Overtaken(err) {
			return nil, rowstore.Unavailable(err)
		}
		if err := s.Retry(ctx, try, err); err != nil {
			return nil, err
		}
		if was, err = s.readImages(ctx, caller.ID); err != nil {
			return nil, err
		}
	}
}

// headOp writes the head of pictures that no other writer has changed.
func headOp(all Images, user string, count int) table.Op {
	row := table.Row{Key: table.Key{Partition: user, Row: account.ImagesHead}, ETag: all.Head, Props: table.Props{
		{Name: "Count", Value: table.Int32(int32(count))},
		{Name: "Version", Value: table.Int64(all.Version + 1)},
	}}
	if all.Head == "" {
		return table.Op{Kind: table.Insert, Row: row}
	}
	return table.Op{Kind: table.Replace, Row: row}
}

// followFirst has a profile show the first of its pictures. The row of the user was read before
// those pictures were, so no later change is undone. It is written even if it says the same:
// another process may be about to write what was first before.
func (s *Service) followFirst(ctx context.Context, u User, first string) error {
	for try := 0; ; try++ {
		next := u
		if u.ProfileImageURL != first {
			next.ProfileImageURL, next.UpdatedAt = first, s.Now().UTC()
			next.Version++
		}
		err := s.Write(ctx, s.Tables.Users, []table.Op{{Kind: table.Replace, Row: next.Row(s.Now())}})
		if err == nil || errors.Is(err, table.ErrNotFound) {
			return nil
		}
		if err := s.Retry(ctx, try, err); err != nil {
			return err
		}
		again, err := s.readUser(ctx, u.ID)
		if err != nil || again == nil {
			return err
		}
		all, err := s.readImages(ctx, u.ID)
		if err != nil {
			return err
		}
		u, first = *again, all.First()
	}
}

// AddImage adds a picture to the caller's profile.
func (s *Service) AddImage(ctx context.Context, c Claim, user string, file []byte) (Image, error) {
	if user != c.UserID {
		return Image{}, s.notYours(ctx, c, user)
	}
	caller, was, err := s.ownImages(ctx, c)
	if err != nil {
		return Image{}, err
	}
	if len(was.All) >= maxImages {
		return Image{}, tooManyImages()
	}
	made, err := s.Pictures.Make(ctx, c.UserID, file, profileSide)
	if err != nil {
		return Image{}, err
	}
	image := Image{
		ID: s.newID(), UserID: c.UserID, UploadedAt: s.Now().UTC(), Width: made.Width,
		Height: made.Height, Bytes: len(made.Large),
	}
	ctx = s.Outbox().Begin(ctx)
	wake, err := s.wakeImages(ctx, c.UserID, func(ctx context.Context) error {
		names := image.Blobs()
		return rowstore.Both(ctx, func(ctx context.Context) error {
			return s.PutFile(ctx, ContainerProfiles, names[0], made.Large)
		},
			func(ctx context.Context) error { return s.PutFile(ctx, ContainerProfiles, names[1], made.Thumb) })
	})
	if err != nil {
		return Image{}, err
	}
	next, err := s.changeImages(ctx, caller, was, func(was Images) ([]Image, error) {
		if len(was.All) >= maxImages {
			return nil, tooManyImages()
		}
		return append(slices.Clone(was.All), image), nil
	})
	if fault.CodeOf(err) == TooManyImages {
		s.DropFiles(ctx, ContainerProfiles, image.Blobs())
	}
	if err != nil {
		return Image{}, err
	}
	image.Order = len(next) - 1
	return image, s.followImages(ctx, caller, next, wake)
}

func tooManyImages() error {
	return fault.Coded(fault.Conflict, TooManyImages, "a profile has at most 10 pictures; delete one first")
}

// ownImages reads the pictures of the caller.
func (s *Service) ownImages(ctx context.Context, c Claim) (caller Caller, all Images, err error) {
	caller, err = s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		all, err = s.readImages(ctx, c.UserID)
		return err
	})
	return caller, all, err
}

// PutFile puts a file of a picture, whose name is new.
func (s *Service) PutFile(ctx context.Context, container, name string, body []byte) error {
	return rowstore.PutBlob(ctx, s.Blobs, container, name, body)
}

// DropFiles deletes files that no row names any more, after the answer.
func (s *Service) DropFiles(ctx context.Context, container string, names []string) {
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		if err := s.deleteFiles(ctx, container, names); err != nil {
			s.Log.WarnContext(ctx, "a file of a picture stays without a row", slog.String("error", err.Error()))
		}
	})
}

// deleteFiles deletes files, and what package tidy has taken out of them. It deletes these later:
// tidy looks for the file once it has made a copy.
func (s *Service) deleteFiles(ctx context.Context, container string, names []string) error {
	var failures []error
	for _, name := range names {
		failures = append(failures,
			s.Blobs.Delete(ctx, container, name), s.Blobs.Delete(ctx, ContainerRemoved, container+"/"+name))
	}
	return errors.Join(failures...)
}

// finishDeleting deletes the files of pictures whose rows a change has removed.
func (s *Service) finishDeleting(ctx context.Context, c userChange) error {
	if len(c.Deletes) == 0 {
		return nil
	}
	all, err := s.readImages(ctx, c.ID)
	if err != nil {
		return err
	}
	return s.deletePictures(ctx, c.ID, slices.DeleteFunc(slices.Clone(c.Deletes), func(id string) bool {
		return slices.ContainsFunc(all.All, func(i Image) bool { return i.ID == id })
	}))
}

// deletePictures deletes the files of pictures of a member.
func (s *Service) deletePictures(ctx context.Context, user string, ids []string) error {
	for _, id := range ids {
		if err := s.deleteFiles(ctx, ContainerProfiles, Image{ID: id, UserID: user}.Blobs()); err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// DeleteImage deletes a picture of the caller. It is gone at once.
func (s *Service) DeleteImage(ctx context.Context, c Claim, user, id string) error {
	if user != c.UserID {
		return s.notYours(ctx, c, user)
	}
	caller, was, err := s.ownImages(ctx, c)
	if err != nil {
		return err
	}
	return s.removeImage(ctx, caller, was, id)
}

// RemoveImage deletes a picture of a member, as staff have decided.
func (s *Service) RemoveImage(ctx context.Context, user, id string) error {
	u, err := s.readUser(ctx, user)
	if err != nil || u == nil {
		return err
	}
	was, err := s.readImages(ctx, user)
	if err != nil {
		return err
	}
	return s.removeImage(ctx, Caller{User: *u}, was, id)
}

func (s *Service) removeImage(ctx context.Context, of Caller, was Images, id string) error {
	_, err := s.rearrangeOf(ctx, of, was, []string{id}, func(was Images) ([]Image, error) {
		at := slices.IndexFunc(was.All, func(i Image) bool { return i.ID == id })
		if at < 0 {
			return nil, NoImage()
		}
		return slices.Delete(slices.Clone(was.All), at, at+1), nil
	})
	return err
}

// NoImage refuses a picture that there is not.
func NoImage() error {
	return fault.Coded(fault.NotFound, ImageNotFound, "there is no such picture")
}

// OrderImages puts the caller's pictures in the order of ids, which names all of them once.
func (s *Service) OrderImages(ctx context.Context, c Claim, user string, ids []string) ([]Image, error) {
	if user != c.UserID {
		return nil, s.notYours(ctx, c, user)
	}
	return s.rearrangeImages(ctx, c, func(was Images) ([]Image, error) {
		var next []Image
		for _, id := range ids {
			at := slices.IndexFunc(was.All, func(i Image) bool { return i.ID == id })
			if at < 0 || slices.ContainsFunc(next, func(i Image) bool { return i.ID == id }) {
				break
			}
			next = append(next, was.All[at])
		}
		if len(next) != len(was.All) || len(next) != len(ids) {
			return nil, &fault.Error{
				Kind: fault.Invalid, Code: rules.ValidationError, Text: "the request breaks the rules named here",
				Fields: []fault.Field{{Name: "body.imageIds", Message: "give the ids of all pictures, each once"}},
			}
		}
		return next, nil
	})
}

// rearrangeImages changes the caller's pictures without a new one.
func (s *Service) rearrangeImages(ctx context.Context, c Claim, change func(Images) ([]Image, error)) ([]Image, error) {
	caller, was, err := s.ownImages(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.rearrangeOf(ctx, caller, was, nil, change)
}

// rearrangeOf changes the pictures of a member. Those that the change deletes are named in its
// message, which stays until their files are gone: they may not lie with what tidy takes out.
func (s *Service) rearrangeOf(
	ctx context.Context, of Caller, was Images, deletes []string, change func(Images) ([]Image, error),
) ([]Image, error) {
	if _, err := change(was); err != nil {
		return nil, err
	}
	ctx = s.Outbox().Begin(ctx)
	wake, err := s.Outbox().Send(ctx,
		userChange{Kind: KindUser, ID: of.ID, Deletes: deletes, Until: s.Outbox().Landed(ctx)})
	if err != nil {
		return nil, err
	}
	next, err := s.changeImages(ctx, of, was, change)
	if err == nil {
		err = s.followFirst(ctx, of.User, Images{All: next}.First())
	}
	if err != nil || len(deletes) == 0 {
		return next, s.Outbox().Finish(ctx, wake, err)
	}
	ctx = context.WithoutCancel(ctx)
	s.Background(func() {
		if err := s.deletePictures(ctx, of.ID, deletes); err != nil {
			s.Log.WarnContext(ctx, "files of a picture are deleted later", slog.String("error", err.Error()))
			return
		}
		s.Outbox().Cancel(ctx, wake)
	})
	return next, nil
}

// Picture returns a file of a picture of a member to one who may see it; a guest sees none.
func (s *Service) Picture(ctx context.Context, c Claim, user, file string) (blob.Blob, error) {
	id, small := account.CutImage(file)
	if c.UserID == "" || !IsID(user) || !IsID(id) {
		return blob.Blob{}, NoImage()
	}
	var row *table.Row
	seen, err := s.readSight(ctx, c, user, func(ctx context.Context) (err error) {
		row, err = s.GetRow(ctx, s.Tables.UserImages, table.Key{Partition: user, Row: id})
		return err
	})
	if fault.CodeOf(err) == UserNotFound ||
		err == nil && (row == nil || seen.Sight != Whole && row.Props.Get("OrderIndex").Int() != 0) {
		return blob.Blob{}, NoImage()
	}
	if err != nil {
		return blob.Blob{}, err
	}
	return s.File(ctx, ContainerProfiles, Image{ID: id, UserID: user}.Blobs()[small])
}

// File reads a file of a picture.
func (s *Service) File(ctx context.Context, container, name string) (blob.Blob, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	b, err := s.Blobs.Get(ctx, container, name)
	if errors.Is(err, blob.ErrNotFound) {
		return blob.Blob{}, NoImage()
	}
	if err != nil {
		return blob.Blob{}, rowstore.Unavailable(err)
	}
	return b, nil
}

// wakeImages sends the message of a change of pictures, and does the work that comes before it at
// the same time.
func (s *Service) wakeImages(ctx context.Context, user string,
	before func(context.Context) error,
) (wake queue.Receipt, err error) {
	err = rowstore.Both(ctx, before, func(ctx context.Context) (err error) {
		wake, err = s.Outbox().Send(ctx, userChange{Kind: KindUser, ID: user, Until: s.Outbox().Landed(ctx)})
		return err
	})
	return wake, err
}

// followImages has the profile follow its pictures, after which no message needs to.
func (s *Service) followImages(ctx context.Context, caller Caller, all []Image, wake queue.Receipt) error {
	return s.Outbox().Finish(ctx, wake, s.followFirst(ctx, caller.User, Images{All: all}.First()))
}
