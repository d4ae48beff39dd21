package shop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/calls"
)

var tables = rowstore.DefaultTables[shop.Tables]()

// parts returns the item and the file that the address of a picture names.
func parts(url string) (item, file string) {
	all := strings.Split(url, "/")
	return all[len(all)-2], all[len(all)-1]
}

// TestPicture: an admin gives an item a picture, which everybody sees until another one takes its
// place, or the item goes. An edit keeps it.
func TestPicture(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	s := shop.New(w.Service, tables)
	ctx, admin := t.Context(), w.Members["admin"]
	require.NoError(t, s.Create(ctx))
	i, err := s.New(ctx, admin, item("LP"), "")
	require.NoError(t, err)
	_, err = s.SetImage(ctx, w.Members["moderator"], i.ID, meettest.PNG)
	meettest.RequireCode(t, meet.RoleRequired, err)
	_, err = s.SetImage(ctx, admin, w.NewID(), meettest.PNG)
	meettest.RequireCode(t, shop.ItemNotFound, err)
	_, err = s.SetImage(ctx, admin, i.ID, []byte("<svg/>"))
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Zero(t, w.Stored(gallery.ContainerStore))
	first, err := s.SetImage(ctx, admin, i.ID, meettest.PNG)
	require.NoError(t, err)
	got, err := s.Item(ctx, i.ID)
	require.NoError(t, err)
	require.Equal(t, first, got)
	id, name := parts(first.ImageURL)
	require.Equal(t, i.ID, id)
	for _, name := range []string{name, strings.Replace(name, ".jpg", "_320.jpg", 1)} {
		b, err := s.Picture(ctx, id, name)
		require.NoError(t, err)
		require.Equal(t, "image/jpeg", b.Type)
	}
	for _, wrong := range [][2]string{
		{id, "x.jpg"},
		{"x", name},
		{w.NewID(), name},
		{id, strings.TrimSuffix(name, ".jpg")},
	} {
		_, err := s.Picture(ctx, wrong[0], wrong[1])
		meettest.RequireCode(t, meet.ImageNotFound, err)
	}
	_, err = s.Edit(ctx, admin, i.ID, item("Another LP"))
	require.NoError(t, err)
	second, err := s.SetImage(ctx, admin, i.ID, meettest.PNG)
	require.NoError(t, err)
	require.Equal(t, "Another LP", second.Title)
	require.NotEqual(t, first.ImageURL, second.ImageURL)
	require.Equal(t, 2, w.Stored(gallery.ContainerStore), "the earlier picture is gone")
	require.NoError(t, s.Delete(ctx, admin, i.ID))
	require.Zero(t, w.Stored(gallery.ContainerStore))
}

// TestCrashesOfPicture: after any accident to any call of a new picture the item has the old one or
// the new one, whole, and the timer removes the files of the other.
func TestCrashesOfPicture(t *testing.T) {
	t.Parallel()
	calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
		w := meettest.New(t)
		s := shop.New(w.Service, tables)
		ctx, admin := t.Context(), w.Members["admin"]
		require.NoError(t, s.Create(ctx))
		i, err := s.New(ctx, admin, item("LP"), "")
		require.NoError(t, err)
		old, err := s.SetImage(ctx, admin, i.ID, meettest.PNG)
		require.NoError(t, err)
		set, err := shop.New(w.Over(crash.Over(w.DB, w.Queues)), tables).SetImage(ctx, admin, i.ID, meettest.PNG)
		crash.Land(w.Clock.Pass, w.Clock.Pass)
		got, unread := s.Item(ctx, i.ID)
		require.NoError(t, unread)
		if err == nil {
			require.Equal(t, set.ImageURL, got.ImageURL)
		} else if got.ImageURL != old.ImageURL {
			require.NotEmpty(t, got.ImageURL)
		}
		run := func() {
			require.NoError(t, tidy.Job{
				Service:    w.Service,
				Containers: []tidy.Container{{Name: gallery.ContainerStore, Named: s.Named}},
			}.Run(ctx))
		}
		before := w.Stored(gallery.ContainerStore)
		w.Clock.Pass(50 * time.Minute)
		run()
		require.Equal(t, before, w.Stored(gallery.ContainerStore), "a row of theirs could land still")
		w.Clock.Pass(time.Hour)
		run()
		require.Equal(t, 2, w.Stored(gallery.ContainerStore))
		for _, row := range w.Rows("StoreItems") {
			found, err := s.Checks()[0].Look(ctx, row)
			require.NoError(t, err)
			require.Empty(t, found)
		}
	})
}
