package posts_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// files are the names of all files of pictures.
func (w *world) files() (all []string) {
	w.t.Helper()
	page, err := w.blobs.List(w.t.Context(), assets.Container, "", blob.MaxPage, "")
	require.NoError(w.t, err)
	for _, item := range page.Items {
		all = append(all, item.Name)
	}
	return all
}

// upload uploads a picture.
func (w *world) upload(c people.Claim, purpose string) string {
	w.t.Helper()
	return duubletest.Picture(w.t, w.people.Assets, c, purpose)
}

// sees reports whether a person sees a picture.
func (w *world) sees(c people.Claim, id string) bool {
	w.t.Helper()
	b, err := w.shown.Content(w.t.Context(), c, id, false)
	if fault.CodeOf(err) == assets.NotFound {
		return false
	}
	require.NoError(w.t, err)
	require.Equal(w.t, "image/jpeg", picture.TypeOf(b.Body))
	return true
}

// face gives a person a picture, "" for none.
func (w *world) face(c people.Claim, id string) {
	w.t.Helper()
	me, err := w.people.SetBasics(w.t.Context(), c, people.Basics{Picture: &id})
	require.NoError(w.t, err)
	require.Equal(w.t, id, me.Picture)
}

// TestUploads: an asset is completed once, by its owner, as it was announced, and is that of one
// thing.
func TestUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, bob := t.Context(), w.enter(2)
	sum := sha256.Sum256(duubletest.PNG)
	checksum := hex.EncodeToString(sum[:])
	said := assets.Asset{
		Purpose: assets.Profile, Type: "image/png",
		Size: int64(len(duubletest.PNG)), Checksum: checksum,
	}
	for name, bad := range map[string]assets.Asset{
		"no purpose":             {Type: "image/png", Size: 1},
		"the purpose of reports": {Purpose: "report", Type: "image/png", Size: 1},
		"a text":                 {Purpose: assets.Hub, Type: "text/html", Size: 1},
		"no bytes":               {Purpose: assets.Hub, Type: "image/png"},
		"too many bytes":         {Purpose: assets.Hub, Type: "image/png", Size: assets.MaxBytes + 1},
		"no checksum":            {Purpose: assets.Hub, Type: "image/png", Size: 1, Checksum: "ABC"},
	} {
		_, err := w.shown.Begin(ctx, w.ann, bad)
		require.Equal(t, fault.Invalid, fault.Of(err), name)
	}
	a, err := w.shown.Begin(ctx, w.ann, said)
	require.NoError(t, err)
	require.Equal(t, assets.Pending, a.Status)
	_, err = w.shown.Get(ctx, bob, a.ID)
	require.Equal(t, assets.NotFound, fault.CodeOf(err))
	_, err = w.shown.Fill(ctx, bob, a.ID, duubletest.PNG)
	require.Equal(t, assets.NotFound, fault.CodeOf(err))
	_, err = w.people.SetBasics(ctx, w.ann, people.Basics{Picture: &a.ID})
	require.Equal(t, fault.Invalid, fault.Of(err), "it is pending")
	require.False(t, w.sees(w.ann, a.ID))

	other := bytes.Clone(duubletest.PNG)
	other[len(other)-1]++
	for _, file := range [][]byte{nil, other, duubletest.PNG[1:], append(bytes.Clone(duubletest.PNG), 0)} {
		_, err = w.shown.Fill(ctx, w.ann, a.ID, file)
		require.Equal(t, assets.Mismatch, fault.CodeOf(err))
	}
	for range 2 { // the same bytes again
		a, err = w.shown.Fill(ctx, w.ann, a.ID, duubletest.PNG)
		require.NoError(t, err)
		require.Equal(t, assets.Completed, a.Status)
		require.Equal(t, checksum, a.Checksum, "that of the upload")
		require.Equal(t, 8, a.Width)
	}
	_, err = w.shown.Fill(ctx, w.ann, a.ID, other)
	require.Equal(t, assets.AlreadyCompleted, fault.CodeOf(err))
	require.Len(t, w.files(), 2)
	require.True(t, w.sees(w.ann, a.ID), "its owner sees it")
	require.False(t, w.sees(bob, a.ID))
	require.False(t, w.sees(people.Claim{}, a.ID))

	for name, id := range map[string]string{
		"none": "x", "another person's": w.upload(bob, assets.Profile),
		"of another purpose": w.upload(w.ann, assets.Hub),
	} {
		_, err = w.people.SetBasics(ctx, w.ann, people.Basics{Picture: &id})
		require.Equal(t, fault.Invalid, fault.Of(err), name)
	}
	w.face(w.ann, a.ID)
	w.face(w.ann, a.ID)
	require.True(t, w.sees(people.Claim{}, a.ID))
	require.Empty(t, w.differences())
	p, err := w.people.Profile(ctx, bob, w.ann.UserID)
	require.NoError(t, err)
	require.Equal(t, a.ID, p.Picture)
}

// TestPictureOfOneThing: a picture is that of one thing, and of no other one afterwards.
func TestPictureOfOneThing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.post(w.ann, posts.Public)
	shown := w.upload(w.ann, assets.Comment)
	_, err := w.posts.Comment(t.Context(), w.ann, id, posts.Said{Picture: shown}, "", "")
	require.NoError(t, err)
	_, err = w.posts.Comment(t.Context(), w.ann, id, posts.Said{Picture: shown}, "", "")
	require.Equal(t, assets.InUse, fault.CodeOf(err))
}

// TestHostileUploads: of files that are not what they say nothing is kept.
func TestHostileUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := func(width, height int) []byte { // says that it has more pixels than it has
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))))
		file := b.Bytes()
		copy(file[16:], []byte{
			byte(width >> 24), byte(width >> 16), byte(width >> 8), byte(width), byte(height >> 24),
			byte(height >> 16), byte(height >> 8), byte(height),
		})
		return file
	}
	for name, file := range map[string][]byte{
		"20,000 by 20,000 pixels": large(20_000, 20_000), "more pixels than a telephone has": large(4000, 4000),
		"cut":         duubletest.PNG[:len(duubletest.PNG)/2],
		"a signature": []byte("\x89PNG\r\n\x1a\n"), "GIF and a script": []byte("GIF89a/*\x00\x00*/=1;alert(1)//"),
		"a GIF without a frame": []byte("GIF89a\x20\x4e\x20\x4e\x00\x00\x00;"),
		"JPEG and a page":       []byte("\xff\xd8\xff<html><script>alert(1)</script>"),
	} {
		a, err := w.shown.Begin(t.Context(), w.ann,
			assets.Asset{Purpose: assets.Profile, Type: picture.TypeOf(file), Size: int64(len(file))})
		require.NoError(t, err, name)
		_, err = w.shown.Fill(t.Context(), w.ann, a.ID, file)
		require.Equal(t, picture.NotAnImage, fault.CodeOf(err), name)
	}
	for name, file := range map[string][]byte{
		"nothing": nil, "a page": []byte("<html>"),
		"SVG": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "PDF": []byte("%PDF-1.7"),
	} {
		_, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, file, "")
		require.Equal(t, fault.Invalid, fault.Of(err), name)
		a, err := w.shown.Begin(t.Context(), w.ann,
			assets.Asset{Purpose: assets.Profile, Type: "image/png", Size: int64(max(len(file), 1))})
		require.NoError(t, err, name)
		_, err = w.shown.Fill(t.Context(), w.ann, a.ID, file)
		require.Equal(t, assets.Mismatch, fault.CodeOf(err), name)
	}
	require.Empty(t, w.files())
	tail := append(bytes.Clone(duubletest.PNG), "<script>alert(1)</script>"...)
	id, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, tail, "")
	require.NoError(t, err)
	b, err := w.shown.Content(t.Context(), w.ann, id, false)
	require.NoError(t, err)
	require.NotContains(t, string(b.Body), "script")
}

// TestUploadsAreLimited: a person uploads some pictures a day, in which the same key counts once.
func TestUploadsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shown.ADay = 3
	first, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG, "key")
	require.NoError(t, err)
	for range 3 {
		again, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG, "key")
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	for range 2 {
		_, err = w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG, "")
		require.NoError(t, err)
	}
	_, err = w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG, "")
	require.Equal(t, fault.Limited, fault.Of(err))
	w.Pass(49 * time.Hour)
	_, err = w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG, "")
	require.NoError(t, err)
}

// TestUploadAfterAnother: a file that comes with the key of another one is one, too, however often
// it is sent: of a form that was refused because of its picture there is one comment.
func TestUploadAfterAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG[:40], "key")
	require.Equal(t, picture.NotAnImage, fault.CodeOf(err))
	first, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG, "key")
	require.NoError(t, err)
	again, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, duubletest.PNG, "key")
	require.NoError(t, err)
	require.Equal(t, first, again)
}

// TestSweptPictures: a picture that is of nothing goes after a week, one that was replaced soon,
// and one of a thing stays.
func TestSweptPictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, bob := t.Context(), w.enter(2)
	_, err := w.shown.Begin(ctx, bob, assets.Asset{Purpose: assets.Profile, Type: "image/png", Size: 1})
	require.NoError(t, err)
	unused, worn := w.upload(bob, assets.Profile), w.upload(w.ann, assets.Profile)
	w.face(w.ann, worn)
	w.pump(6 * 24 * time.Hour)
	require.True(t, w.sees(bob, unused))
	w.pump(25 * time.Hour)
	w.pump(time.Hour)
	require.False(t, w.sees(bob, unused))
	require.True(t, w.sees(bob, worn))
	require.Len(t, w.files(), 2)
	require.Len(t, w.rowsOf("Names", "as|"), 1)
	require.Empty(t, w.rowsOf("Admin", "due|asset|"))

	next := w.upload(w.ann, assets.Profile)
	w.face(w.ann, next)
	require.False(t, w.sees(w.ann, worn), "at once, also for its owner")
	w.pump(6 * time.Minute)
	require.Len(t, w.files(), 2)
	require.True(t, slices.ContainsFunc(w.files(), func(name string) bool {
		return strings.Contains(name, strings.ToLower(next))
	}))
	w.face(w.ann, "")
	require.False(t, w.sees(w.ann, next))
	w.pump(6 * time.Minute)
	require.Empty(t, w.files())
	require.Empty(t, w.differences())
}

// rowsOf returns the keys of rows whose partitions begin with a prefix.
func (w *world) rowsOf(name, prefix string) (all []string) {
	w.t.Helper()
	for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
		require.NoError(w.t, err)
		if strings.HasPrefix(row.Partition, prefix) {
			all = append(all, row.Partition+" "+row.Row)
		}
	}
	return all
}

// TestWhoSeesPictures is the matrix of pictures and people: each sees those of the things that they
// see, and no others, before and after a block, a departure, a deletion and a return.
func TestWhoSeesPictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.people.Admins = []string{duubletest.Number(9)}
	by := map[string]people.Claim{"guest": {}}
	for i, name := range []string{
		"owner", "founder", "member", "follower", "stranger",
		"blocked", "former", "manager",
	} {
		by[name] = w.enter(2 + i)
	}
	owner, founder := by["owner"], by["founder"]
	hub := w.group(founder, map[int]people.Claim{2: owner, 4: by["member"], 7: by["blocked"], 8: by["former"]})
	of, err := w.posts.Hubs.Get(ctx, owner, hub)
	require.NoError(t, err)
	pictures := map[string]string{
		"none": w.upload(owner, assets.Post), "profile": w.upload(owner, assets.Profile), "hub": of.Picture,
		"public post": w.upload(owner, assets.Post), "locked post": w.upload(owner, assets.Post),
		"comment": w.upload(owner, assets.Comment), "locked comment": w.upload(owner, assets.Comment),
		"message": w.upload(owner, assets.Message),
	}
	w.face(owner, pictures["profile"])
	media := func(picture string) *posts.Article { return &posts.Article{Kind: "media", Picture: pictures[picture]} }
	public, err := w.posts.Create(ctx, owner, posts.Draft{Article: media("public post")}, "")
	require.NoError(t, err)
	locked, err := w.posts.Create(ctx, owner,
		posts.Draft{Article: media("locked post"), Visibility: posts.Locked, Hubs: []string{hub}}, "")
	require.NoError(t, err)
	comment, err := w.posts.Comment(ctx, owner, public.ID, posts.Said{Picture: pictures["comment"]}, "", "")
	require.NoError(t, err)
	_, err = w.posts.Comment(ctx, owner, locked.ID, posts.Said{Picture: pictures["locked comment"]}, "", "")
	require.NoError(t, err)
	talk := w.discussed(founder, hub, locked.ID)
	message, err := w.talks.Say(ctx, owner, hub, talk, posts.Said{Picture: pictures["message"]}, "", "")
	require.NoError(t, err)
	_, err = w.people.Follow(ctx, by["follower"], owner.UserID, true)
	require.NoError(t, err)
	_, err = w.people.Block(ctx, by["blocked"], owner.UserID, true)
	require.NoError(t, err)
	require.NoError(t, w.posts.Hubs.Remove(ctx, by["former"], hub, by["former"].UserID))

	everybody := []string{"profile", "hub", "public post", "comment"}
	inHub := append(slices.Clone(everybody), "locked post", "locked comment", "message")
	want := map[string][]string{
		"owner": append(slices.Clone(inHub), "none"), "founder": inHub, "member": inHub, "follower": everybody,
		"stranger": everybody, "guest": everybody, "former": everybody, "manager": everybody,
		"blocked": {"hub"},
	}
	holds := func(what string) {
		t.Helper()
		for name, c := range by {
			for kind, id := range pictures {
				require.Equal(t, slices.Contains(want[name], kind), w.sees(c, id), "%s: %s, %s", what, name, kind)
			}
		}
	}
	holds("at first")

	// What a reporter saw managers see, also after it went.
	var copies []string
	for _, target := range []manage.Target{
		{Kind: manage.APerson, ID: owner.UserID},
		{Kind: manage.AHub, ID: hub},
		{Kind: manage.APost, ID: locked.ID},
		{Kind: manage.AComment, ID: public.ID + "|" + comment.ID},
		{Kind: manage.AMessage, ID: hub + "|" + talk + "|" + message.ID},
	} {
		r, _, err := w.posts.Manage.Report(ctx, by["member"], target, "abuse", "")
		require.NoError(t, err)
		require.NotEmpty(t, r.Copy.Picture, target.Kind)
		copies = append(copies, r.Copy.Picture)
	}
	reported := func() {
		t.Helper()
		for i, id := range copies {
			for name, c := range by {
				require.Equal(t, name == "manager", w.sees(c, id), "%d, %s", i, name)
			}
		}
	}
	reported()

	require.NoError(t, w.posts.Hubs.Remove(ctx, by["member"], hub, by["member"].UserID))
	want["member"] = everybody
	holds("a member has left")
	require.NoError(t, w.posts.Delete(ctx, owner, public.ID))
	for name := range want {
		want[name] = slices.DeleteFunc(slices.Clone(want[name]), func(kind string) bool {
			return kind == "public post" || kind == "comment"
		})
	}
	holds("a post is deleted")
	_, err = w.posts.Restore(ctx, owner, public.ID)
	require.NoError(t, err)
	for name := range want {
		if name != "blocked" {
			want[name] = append(want[name], "public post", "comment")
		}
	}
	holds("it is back")
	require.NoError(t, w.posts.DeleteComment(ctx, owner, public.ID, comment.ID))
	require.NoError(t, w.talks.DeleteMessage(ctx, founder, hub, talk, message.ID))
	for name := range want {
		want[name] = slices.DeleteFunc(slices.Clone(want[name]), func(kind string) bool {
			return kind == "message" || kind == "comment"
		})
	}
	holds("a comment and a message are deleted")
	reported()
	require.NoError(t, w.people.Leave(ctx, owner))
	delete(by, "owner")
	for name := range want {
		want[name] = slices.DeleteFunc(slices.Clone(want[name]), func(kind string) bool { return kind == "profile" })
	}
	holds("the owner has left")
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	w.Pass(keep)
	w.pump(time.Hour)
	w.purge()
	require.Empty(t, w.traces(owner.UserID))
	by["manager"], by["founder"] = w.again(9), w.again(3)
	require.True(t, w.sees(people.Claim{}, pictures["hub"]))
	require.True(t, w.sees(by["manager"], copies[1]), "of the hub")
	require.Len(t, w.files(), 4)
	require.Empty(t, w.differences())
}

// TestCrashesOfPictures: after any accident to any call of an upload, of naming a picture in each
// kind of thing, and of a deletion, sent again, all is as if it had been sent once; a week later
// each file belongs to a thing that is there.
func TestCrashesOfPictures(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(w *world, s *posts.Service, shown *pictures.Service, c crashing) error{
		"upload": func(w *world, _ *posts.Service, shown *pictures.Service, _ crashing) error {
			_, err := shown.Upload(w.t.Context(), w.ann, assets.Profile, duubletest.PNG, "key")
			return err
		},
		"profile": func(w *world, s *posts.Service, _ *pictures.Service, c crashing) error {
			_, err := s.People.SetBasics(w.t.Context(), w.ann, people.Basics{Picture: &c.next})
			return err
		},
		"hub": func(w *world, s *posts.Service, _ *pictures.Service, c crashing) error {
			_, err := s.Hubs.Edit(w.t.Context(), w.ann, c.hub, hubs.Change{Picture: &c.ofHub})
			return err
		},
		"post": func(w *world, s *posts.Service, _ *pictures.Service, c crashing) error {
			_, err := s.Create(w.t.Context(), w.ann,
				posts.Draft{Article: &posts.Article{Kind: "media", Picture: c.ofPost}}, "key")
			return err
		},
		"comment": func(w *world, s *posts.Service, _ *pictures.Service, c crashing) error {
			_, err := s.Comment(w.t.Context(), w.ann, c.post, posts.Said{Picture: c.ofComment}, "", "key")
			return err
		},
		"message": func(w *world, s *posts.Service, _ *pictures.Service, c crashing) error {
			_, err := discussions.New(s).Say(w.t.Context(), w.ann, c.hub, c.talk,
				posts.Said{Picture: c.ofMessage}, "", "key")
			return err
		},
		"delete message": func(w *world, s *posts.Service, _ *pictures.Service, c crashing) error {
			return discussions.New(s).DeleteMessage(w.t.Context(), w.ann, c.hub, c.talk, c.message)
		},
		"report": func(w *world, s *posts.Service, _ *pictures.Service, c crashing) error {
			_, _, err := s.Manage.Report(w.t.Context(), w.ann,
				manage.Target{Kind: manage.AMessage, ID: c.hub + "|" + c.talk + "|" + c.message}, "spam", "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				w := newWorld(t)
				c := w.crashing()
				crash := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
				over := w.stopping(crash)
				_ = do(w, over, &pictures.Service{Assets: over.People.Assets, Posts: over, ADay: -1}, c)
				w.shown.ADay = -1
				require.NoError(t, do(w, w.posts, w.shown, c), "call %d", n)
				for range 2 {
					w.pump(4 * 24 * time.Hour)
				}
				w.pump(time.Hour)
				require.Empty(t, w.differences(), "call %d", n)
				var named []string
				for row, err := range table.All(t.Context(), w.db, "Names",
					table.Range{FromPartition: "as|", ToPartition: "as}"}) {
					require.NoError(t, err)
					require.NotEmpty(t, row.Props.Get("attached_to").Str(), "call %d: a picture of nothing stays", n)
					path := row.Props.Get("gcs_object_path").Str()
					named = append(named, path, strings.TrimSuffix(path, ".jpg")+"_320.jpg")
				}
				slices.Sort(named)
				require.Equal(t, named, w.files(), "call %d", n)
				if crash.Left > 0 {
					require.Greater(t, n, 3)
					break
				}
			}
		})
	}
}

// crashing has things of Ann with pictures, and pictures of nothing.
type crashing struct{ next, hub, ofHub, ofPost, post, ofComment, talk, ofMessage, message string }

func (w *world) crashing() (c crashing) {
	w.t.Helper()
	c.hub = w.group(w.ann, nil)
	w.face(w.ann, w.upload(w.ann, assets.Profile))
	c.post = w.locked(w.ann, c.hub)
	c.talk = w.discussed(w.ann, c.hub, c.post)
	m, err := w.talks.Say(w.t.Context(), w.ann, c.hub, c.talk,
		posts.Said{Picture: w.upload(w.ann, assets.Message)}, "", "")
	require.NoError(w.t, err)
	c.message = m.ID
	c.next, c.ofHub, c.ofPost = w.upload(w.ann, assets.Profile),
		w.upload(w.ann, assets.Hub), w.upload(w.ann, assets.Post)
	c.ofComment, c.ofMessage = w.upload(w.ann, assets.Comment), w.upload(w.ann, assets.Message)
	return c
}

// TestSweepAgainstAttaching: a picture that becomes that of a thing before a sweep, or between any
// two calls of it, stays if the thing names it then, and goes with the next sweep otherwise.
func TestSweepAgainstAttaching(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		w := newWorld(t)
		ctx := t.Context()
		named, forgotten := w.upload(w.ann, assets.Profile), w.upload(w.ann, assets.Hub)
		w.Pass(assets.UnusedFor + time.Hour)
		w.ann = w.again(1)
		attached := map[string]error{}
		attach := func() {
			attached[named] = w.people.Assets.Attach(ctx, w.ann.UserID, named, assets.Profile,
				"user|"+w.ann.UserID, "profileAssetId")
			attached[forgotten] = w.people.Assets.Attach(ctx, w.ann.UserID, forgotten, assets.Hub,
				"hub|never", "profileAssetId")
		}
		left := n
		hook := func(ctx context.Context, c calls.Call) error {
			if left--; left == 0 {
				attach()
			}
			_, err := c.Do(ctx)
			return err
		}
		if n == 0 {
			attach()
		}
		over := w.overBlobs(calls.Tables(w.db, hook), calls.Blobs(w.blobs, hook), w.queues)
		require.NoError(t, (&pictures.Service{Assets: over.People.Assets, Posts: over}).Sweep(ctx))
		if left > 0 {
			require.Greater(t, n, 10)
			return
		}
		if attached[named] == nil {
			w.face(w.ann, named)
			require.True(t, w.sees(people.Claim{}, named), "call %d", n)
		}
		w.pump(10 * time.Minute)
		w.pump(10 * time.Minute)
		files := w.files()
		require.Len(t, files, map[bool]int{true: 2}[attached[named] == nil], "call %d", n)
		require.Empty(t, w.differences(), "call %d", n)
	}
}
