package blog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// TestPicture: a post shows its picture to those who see the post, until another one takes its
// place or the post goes. An edit keeps it.
func TestPicture(t *testing.T) {
	t.Parallel()
	w := over(meettest.New(t))
	ctx, admin := t.Context(), w.Members["admin"]
	d := draft("A post")
	d.Published = false
	p, err := w.blog.NewPost(ctx, admin, d)
	require.NoError(t, err)
	_, err = w.blog.SetImage(ctx, w.Members["moderator"], p.ID, meettest.PNG)
	meettest.RequireCode(t, meet.RoleRequired, err)
	_, err = w.blog.SetImage(ctx, admin, w.NewID(), meettest.PNG)
	meettest.RequireCode(t, blog.PostNotFound, err)
	_, err = w.blog.SetImage(ctx, admin, p.ID, []byte("<svg/>"))
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Zero(t, w.Stored(gallery.ContainerBlog))
	first, err := w.blog.SetImage(ctx, admin, p.ID, meettest.PNG)
	require.NoError(t, err)
	look := func(c meet.Claim, file string) (open bool, err error) {
		_, open, err = w.blog.Picture(ctx, c, p.ID, file)
		return open, err
	}
	_, err = look(meet.Claim{}, meettest.FileOf(first.ImageURL))
	meettest.RequireCode(t, meet.ImageNotFound, err)
	open, err := look(admin, meettest.FileOf(first.ImageURL))
	require.NoError(t, err)
	require.False(t, open)
	edited, err := w.blog.Edit(ctx, admin, p.ID, draft("A post"))
	require.NoError(t, err)
	require.Equal(t, first.ImageURL, edited.ImageURL)
	open, err = look(meet.Claim{}, meettest.FileOf(first.ImageURL))
	require.NoError(t, err)
	require.True(t, open)
	second, err := w.blog.SetImage(ctx, admin, p.ID, meettest.PNG)
	require.NoError(t, err)
	require.Equal(t, 2, w.Stored(gallery.ContainerBlog), "the earlier picture is gone")
	_, err = look(admin, meettest.FileOf(first.ImageURL))
	meettest.RequireCode(t, meet.ImageNotFound, err)
	require.NoError(t, w.blog.Delete(ctx, admin, p.ID))
	_, err = look(admin, meettest.FileOf(second.ImageURL))
	meettest.RequireCode(t, meet.ImageNotFound, err)
	require.Zero(t, w.Stored(gallery.ContainerBlog))
}

// TestCrashesOfPicture: after any accident to any call of a new picture the post has the old one or
// the new one, whole, and the timer removes the files of the other.
func TestCrashesOfPicture(t *testing.T) {
	t.Parallel()
	calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
		w := over(meettest.New(t))
		ctx, admin := t.Context(), w.Members["admin"]
		p, err := w.blog.NewPost(ctx, admin, draft("A post"))
		require.NoError(t, err)
		old, err := w.blog.SetImage(ctx, admin, p.ID, meettest.PNG)
		require.NoError(t, err)
		set, err := blog.New(w.Over(crash.Over(w.DB, w.Queues)), tables).SetImage(ctx, admin, p.ID, meettest.PNG)
		crash.Land(w.Pump, w.Clock.Pass)
		w.Settle()
		got, unread := w.blog.Post(ctx, meet.Claim{}, p.ID)
		require.NoError(t, unread)
		if err == nil {
			require.Equal(t, set.ImageURL, got.ImageURL)
			require.NotEqual(t, old.ImageURL, got.ImageURL)
		}
		require.Equal(t, []string{"A post"}, w.titles())
		run := func() {
			job := tidy.Job{
				Service:    w.Service,
				Containers: []tidy.Container{{Name: gallery.ContainerBlog, Named: w.blog.Named}},
			}
			require.NoError(t, job.Run(ctx))
		}
		before := w.Stored(gallery.ContainerBlog)
		w.Clock.Pass(40 * time.Minute)
		run()
		require.Equal(t, before, w.Stored(gallery.ContainerBlog), "a row of theirs could land still")
		w.Clock.Pass(time.Hour)
		run()
		require.Equal(t, 2, w.Stored(gallery.ContainerBlog))
		_, _, err = w.blog.Picture(ctx, meet.Claim{}, p.ID, meettest.FileOf(got.ImageURL))
		require.NoError(t, err)
	})
}
