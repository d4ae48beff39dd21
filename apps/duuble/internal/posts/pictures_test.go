package posts_test

import (
	"bytes"
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
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/table"
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

// TestUploads: an asset is completed once, by its owner, with what was said of it, and is that of one
// thing.
func TestUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, bob := t.Context(), w.enter(2)
	sum := sha256.Sum256(duubletest.PNG)
	checksum := hex.EncodeToString(sum[:])
	said := assets.Asset{Purpose: assets.Profile, Type: "image/png", Size: int64(len(duubletest.PNG)), Checksum: checksum}
	for name, bad := range map[string]assets.Asset{
		"no purpose": {Type: "image/png", Size: 1}, "the purpose of reports": {Purpose: "report", Type: "image/png", Size: 1}, "a text": {Purpose: assets.Hub, Type: "text/html", Size: 1},
		"no bytes": {Purpose: assets.Hub, Type: "image/png"}, "too many bytes": {Purpose: assets.Hub, Type: "image/png", Size: assets.MaxBytes + 1}, "no checksum": {Purpose: assets.Hub, Type: "image/png", Size: 1, Checksum: "ABC"},
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

	for name, id := range map[string]string{"none": "x", "another person's": w.upload(bob, assets.Profile), "of another purpose": w.upload(w.ann, assets.Hub)} {
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

// TestHostileUploads: of files that are not what they say nothing is kept.
func TestHostileUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := func(width, height int) []byte { // says that it has more pixels than it has
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))))
		file := b.Bytes()
		copy(file[16:], []byte{byte(width >> 24), byte(width >> 16), byte(width >> 8), byte(width), byte(height >> 24), byte(height >> 16), byte(height >> 8), byte(height)})
		return file
	}
	for name, file := range map[string][]byte{
		"20,000 by 20,000 pixels": large(20_000, 20_000), "more pixels than a telephone has": large(4000, 4000), "cut": duubletest.PNG[:len(duubletest.PNG)/2],
		"a signature": []byte("\x89PNG\r\n\x1a\n"), "GIF and a script": []byte("GIF89a/*\x00\x00*/=1;alert(1)//"), "a GIF without a frame": []byte("GIF89a\x20\x4e\x20\x4e\x00\x00\x00;"), "JPEG and a page": []byte("\xff\xd8\xff<html><script>alert(1)</script>"),
	} {
		a, err := w.shown.Begin(t.Context(), w.ann, assets.Asset{Purpose: assets.Profile, Type: picture.TypeOf(file), Size: int64(len(file))})
		require.NoError(t, err, name)
		_, err = w.shown.Fill(t.Context(), w.ann, a.ID, file)
		require.Equal(t, picture.NotAnImage, fault.CodeOf(err), name)
	}
	for name, file := range map[string][]byte{"nothing": nil, "a page": []byte("<html>"), "SVG": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), "PDF": []byte("%PDF-1.7")} {
		_, err := w.shown.Upload(t.Context(), w.ann, assets.Profile, file, "")
		require.Equal(t, fault.Invalid, fault.Of(err), name)
		a, err := w.shown.Begin(t.Context(), w.ann, assets.Asset{Purpose: assets.Profile, Type: "image/png", Size: int64(max(len(file), 1))})
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

// TestSweptPictures: a picture that is of nothing goes after a week, one that was replaced soon, and
// one of a thing stays.
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
	require.True(t, slices.ContainsFunc(w.files(), func(name string) bool { return strings.Contains(name, strings.ToLower(next)) }))
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
