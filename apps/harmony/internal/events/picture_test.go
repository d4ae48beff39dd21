package events_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/gallery"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/internal/fault"
)

// TestPicture: an event shows its picture to those who see the event or its teaser, until another
// one takes its place or the event goes. An edit keeps it.
func TestPicture(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, admin, anna := t.Context(), w.Members["admin"], w.Members["anna"]
	id := w.make(draft(events.SecretHidden))
	_, err := w.events.NewInvite(ctx, admin, id, events.InviteDraft{Code: "open-it"})
	require.NoError(t, err)
	set := func(c meet.Claim, id string, file []byte) (events.View, error) {
		return w.events.SetImage(ctx, c, id, file)
	}
	_, err = set(w.Members["moderator"], id, meettest.PNG)
	meettest.RequireCode(t, meet.RoleRequired, err)
	_, err = set(admin, w.NewID(), meettest.PNG)
	meettest.RequireCode(t, events.EventNotFound, err)
	_, err = set(admin, id, []byte("<svg/>"))
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Zero(t, w.Stored(gallery.ContainerEvents))
	v, err := set(admin, id, meettest.PNG)
	require.NoError(t, err)
	first := meettest.FileOf(v.ImageURL)
	look := func(c meet.Claim, file, code string) (open bool, err error) {
		_, open, err = w.events.Picture(ctx, c, id, file, code, "x")
		return open, err
	}
	_, absent := look(admin, w.NewID()+".jpg", "")
	for what, c := range map[string]struct {
		claim      meet.Claim
		code, file string
		seen       bool
	}{
		"a guest": {meet.Claim{}, "", first, false}, "a member": {anna, "", first, false},
		"an invite":   {meet.Claim{}, "open-it", first, true},
		"staff":       {admin, "", first, true},
		"a small one": {admin, "", strings.Replace(first, ".jpg", "_320.jpg", 1), true},
		"no form":     {admin, "", "x", false},
	} {
		open, err := look(c.claim, c.file, c.code)
		require.False(t, open, what)
		if c.seen {
			require.NoError(t, err, what)
		} else {
			require.EqualError(t, err, absent.Error(), what)
			require.Equal(t, meet.ImageNotFound, fault.CodeOf(err), what)
		}
	}
	for _, visibility := range []string{events.SecretTeaser, events.Public} {
		_, err = w.events.Edit(ctx, admin, id, draft(visibility))
		require.NoError(t, err)
		open, err := look(meet.Claim{}, first, "")
		require.NoError(t, err, visibility)
		require.Equal(t, visibility == events.Public, open)
		p, err := w.events.List(ctx, anna, events.Query{}, "", 9)
		require.NoError(t, err)
		require.Equal(t, v.ImageURL, p.Events[0].ImageURL, "a teaser has it too")
	}
	second, err := set(admin, id, meettest.PNG)
	require.NoError(t, err)
	require.Equal(t, 2, w.Stored(gallery.ContainerEvents), "the earlier picture is gone")
	_, err = look(admin, first, "")
	meettest.RequireCode(t, meet.ImageNotFound, err)
	require.NoError(t, w.events.Delete(ctx, admin, id))
	_, err = look(admin, meettest.FileOf(second.ImageURL), "")
	meettest.RequireCode(t, meet.ImageNotFound, err)
	require.Zero(t, w.Stored(gallery.ContainerEvents))
}

// TestCrashesOfPicture: after any accident to any call of a new picture the event has the old one
// or the new one, whole, and the timer removes the files of the other.
func TestCrashesOfPicture(t *testing.T) {
	t.Parallel()
	old := ""
	crashes(t, func(w *world) string {
		id := w.make(draft(events.Public))
		v, err := w.events.SetImage(w.T.Context(), w.Members["admin"], id, meettest.PNG)
		require.NoError(w.T, err)
		old = v.ImageURL
		return id
	}, func(w *world, s *events.Service, id string) error {
		_, err := s.SetImage(w.T.Context(), w.Members["admin"], id, meettest.PNG)
		return err
	}, func(w *world, id string, err error) {
		ctx := w.T.Context()
		v, unread := w.events.Event(ctx, w.Members["admin"], id, "", "")
		require.NoError(w.T, unread)
		require.NotEmpty(w.T, v.ImageURL)
		if err == nil {
			require.NotEqual(w.T, old, v.ImageURL)
		}
		run := func() {
			job := tidy.Job{
				Service:    w.Service,
				Containers: []tidy.Container{{Name: gallery.ContainerEvents, Named: w.events.Named}},
			}
			require.NoError(w.T, job.Run(ctx))
		}
		before := w.Stored(gallery.ContainerEvents)
		w.Clock.Pass(40 * time.Minute)
		run()
		require.Equal(w.T, before, w.Stored(gallery.ContainerEvents), "a row of theirs could land still")
		w.Clock.Pass(time.Hour)
		run()
		require.Equal(w.T, 2, w.Stored(gallery.ContainerEvents))
		_, _, err = w.events.Picture(ctx, meet.Claim{}, id, meettest.FileOf(v.ImageURL), "", "x")
		require.NoError(w.T, err)
	})
}
