package meet_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// files returns the names of all files of pictures.
func (w *world) files() []string {
	w.t.Helper()
	page, err := w.blobs.List(w.t.Context(), meet.ContainerProfiles, "", blob.MaxPage, "")
	require.NoError(w.t, err)
	var names []string
	for _, item := range page.Items {
		names = append(names, item.Name)
	}
	return names
}

func addresses(all []meet.Image) []string {
	var urls []string
	for _, i := range all {
		urls = append(urls, i.URL())
	}
	return urls
}

// TestImages: pictures have an order, the first is shown with the name, and deletion closes the
// gap.
func TestImages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	in := w.register("anna")
	c, id := claim(t, in.Tokens), in.Me.ID
	var all []meet.Image
	for n := range 3 {
		i, err := w.AddImage(ctx, c, id, meettest.PNG)
		require.NoError(t, err)
		require.Equal(t, n, i.Order)
		all = append(all, i)
	}
	me, err := w.Me(ctx, c)
	require.NoError(t, err)
	require.Equal(t, addresses(all), addresses(me.Images.All))
	require.Equal(t, all[0].URL(), me.ProfileImageURL)
	got, err := w.Picture(ctx, c, id, all[1].ID+"_320.jpg")
	require.NoError(t, err)
	require.Equal(t, "image/jpeg", got.Type)

	for _, ids := range [][]string{
		{},
		{all[0].ID, all[1].ID},
		{all[0].ID, all[1].ID, all[1].ID},
		{all[0].ID, all[1].ID, all[2].ID, id},
	} {
		_, err = w.OrderImages(ctx, c, id, ids)
		requireCode(t, rules.ValidationError, err)
	}
	_, err = w.OrderImages(ctx, c, id, []string{all[2].ID, all[0].ID, all[1].ID})
	require.NoError(t, err)
	require.NoError(t, w.DeleteImage(ctx, c, id, all[2].ID))
	requireCode(t, meet.ImageNotFound, w.DeleteImage(ctx, c, id, all[2].ID))
	_, err = w.Picture(ctx, c, id, all[2].ID+".jpg")
	requireCode(t, meet.ImageNotFound, err)
	me, err = w.Me(ctx, c)
	require.NoError(t, err)
	require.Equal(t, addresses(all[:2]), addresses(me.Images.All))
	require.Equal(t, 1, me.Images.All[1].Order)
	require.Equal(t, all[0].URL(), me.ProfileImageURL)
	require.Len(t, w.files(), 4)
	require.NoError(t, w.DeleteImage(ctx, c, id, all[0].ID))
	require.NoError(t, w.DeleteImage(ctx, c, id, all[1].ID))
	me, err = w.Me(ctx, c)
	require.NoError(t, err)
	require.Empty(t, me.ProfileImageURL)
	require.Empty(t, w.files())
}

// TestImagesOfOthers: a picture is seen by those who may see its owner, and changed by the owner.
func TestImagesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	anna, bob := w.register("anna"), w.register("bob")
	a, b, id := claim(t, anna.Tokens), claim(t, bob.Tokens), anna.Me.ID
	i, err := w.AddImage(ctx, a, id, meettest.PNG)
	require.NoError(t, err)
	_, err = w.Picture(ctx, b, id, i.ID+".jpg")
	require.NoError(t, err)
	_, err = w.AddImage(ctx, b, id, meettest.PNG)
	requireCode(t, meet.NotYours, err)
	requireCode(t, meet.NotYours, w.DeleteImage(ctx, b, id, i.ID))
	_, err = w.OrderImages(ctx, b, id, []string{i.ID})
	requireCode(t, meet.NotYours, err)
	_, err = w.Picture(ctx, meet.Claim{}, id, i.ID+".jpg")
	requireCode(t, meet.ImageNotFound, err)
	for _, file := range []string{
		"", "x.jpg", i.ID, strings.ToUpper(i.ID) + ".jpg",
		bob.Me.ID + ".jpg", i.ID + ".png",
	} {
		_, err = w.Picture(ctx, b, id, file)
		requireCode(t, meet.ImageNotFound, err)
	}
	require.NoError(t, w.SetPrivacy(ctx, a, rules.Privacy{Visibility: "private", Language: "en"}))
	_, err = w.Picture(ctx, b, id, i.ID+".jpg")
	requireCode(t, meet.ImageNotFound, err)
	requireCode(t, meet.UserNotFound, w.DeleteImage(ctx, b, id, i.ID))
}

// TestTenImages: of fifteen that come at once ten are kept, and no file of the others.
func TestTenImages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.register("anna")
	c, id := claim(t, in.Tokens), in.Me.ID
	errs := make([]error, 15)
	var wg sync.WaitGroup
	for n := range errs {
		wg.Go(func() { _, errs[n] = w.AddImage(t.Context(), c, id, meettest.PNG) })
	}
	wg.Wait()
	kept := 0
	for _, err := range errs {
		if err == nil {
			kept++
		} else {
			requireCode(t, meet.TooManyImages, err)
		}
	}
	require.Equal(t, 10, kept)
	me, err := w.Me(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, me.Images.All, 10)
	require.Len(t, w.files(), 20)
	require.Equal(t, me.Images.All[0].URL(), me.ProfileImageURL)
	for n, i := range me.Images.All {
		require.Equal(t, n, i.Order)
	}
	_, err = w.AddImage(t.Context(), c, id, []byte("<svg/>"))
	requireCode(t, meet.TooManyImages, err)
	require.NoError(t, w.DeleteImage(t.Context(), c, id, me.Images.All[0].ID))
	_, err = w.AddImage(t.Context(), c, id, []byte("<svg/>"))
	requireCode(t, picture.NotAnImage, err)
}

// TestCrashesOfImages: after any accident to any call of an upload or a deletion the profile shows
// the first of its pictures, and each picture has its files.
func TestCrashesOfImages(t *testing.T) {
	t.Parallel()
	var c meet.Claim
	var id string
	var first meet.Image
	ready := func(w *world) table.DB {
		in := w.register("anna")
		c, id = claim(t, in.Tokens), in.Me.ID
		return w.db
	}
	whole := func(w *world, err error) {
		if err != nil && !errors.Is(err, calls.ErrLost) {
			require.Equal(w.t, fault.Unavailable, fault.Of(err))
		}
		w.settle()
		again, err := w.login("anna", secret)
		require.NoError(w.t, err)
		me, err := w.Me(w.t.Context(), claim(w.t, again.Tokens))
		require.NoError(w.t, err)
		shown := ""
		for n, i := range me.Images.All {
			if n == 0 {
				shown = i.URL()
			}
			require.Equal(w.t, n, i.Order)
			require.Subset(w.t, w.files(), []string{id + "/" + i.ID + ".jpg", id + "/" + i.ID + "_320.jpg"})
		}
		require.Equal(w.t, shown, me.ProfileImageURL)
	}
	crashes(t, ready, func(w *world, s *meet.Service) error {
		_, err := s.AddImage(w.t.Context(), c, id, meettest.PNG)
		return err
	}, whole)
	crashes(t, func(w *world) table.DB {
		db := ready(w)
		var err error
		first, err = w.AddImage(w.t.Context(), c, id, meettest.PNG)
		require.NoError(w.t, err)
		_, err = w.AddImage(w.t.Context(), c, id, meettest.PNG)
		require.NoError(w.t, err)
		return db
	}, func(w *world, s *meet.Service) error { return s.DeleteImage(w.t.Context(), c, id, first.ID) },
		func(w *world, err error) {
			whole(w, err)
			require.Len(w.t, w.files(), 2*(len(w.rows("UserImages"))-1), "what is deleted is gone")
		})
}

// stuck are blobs that cannot be deleted while they are held.
type stuck struct {
	blob.Store
	held bool
}

func (s *stuck) Delete(ctx context.Context, container, name string) error {
	if s.held {
		return blob.ErrBusy
	}
	return s.Store.Delete(ctx, container, name)
}

// TestDeletedLater: the files of a picture that a member has deleted go as soon as they can.
func TestDeletedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.register("anna")
	c := claim(t, in.Tokens)
	i, err := w.AddImage(t.Context(), c, in.Me.ID, meettest.PNG)
	require.NoError(t, err)
	blobs := &stuck{w.Blobs, true}
	w.Blobs = blobs
	require.NoError(t, w.DeleteImage(t.Context(), c, in.Me.ID, i.ID))
	require.Len(t, w.files(), 2)
	blobs.held = false
	w.settle()
	require.Empty(t, w.files())
}

// TestPictureGoneBeforeItWasShown: a picture that is deleted while the profile is about to show it
// is not shown.
func TestPictureGoneBeforeItWasShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	in := w.register("anna")
	c, id := claim(t, in.Tokens), in.Me.ID
	_, err := w.over(&calls.Rival{DB: w.db, Before: calls.WritesTo("Users"), Do: func() {
		me, err := w.Me(ctx, c)
		require.NoError(t, err)
		require.NoError(t, w.DeleteImage(ctx, c, id, me.Images.All[0].ID))
	}}, w.queues).AddImage(ctx, c, id, meettest.PNG)
	require.NoError(t, err)
	me, err := w.Me(ctx, c)
	require.NoError(t, err)
	require.Empty(t, me.Images.All)
	require.Empty(t, me.ProfileImageURL)
}
