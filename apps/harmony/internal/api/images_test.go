package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
)

// TestPictureIsServed: a picture comes as a JPEG file with an ETag, by which it does not come
// again, and a member whom its owner blocks gets neither from then on.
func TestPictureIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	anna, annaAccess, _ := w.account("anna")
	bob, bobAccess, _ := w.account("bob")
	status, picture := w.ask("POST", "/users/"+anna+"/images", annaAccess, pixel)
	require.Equal(t, 201, status, picture)
	get := func(path, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+bobAccess)
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		return rec
	}
	for _, name := range []string{"url", "thumbUrl"} {
		path := picture[name].(string)
		require.True(t, strings.HasPrefix(path, api.Prefix+"/images/profile/"+anna+"/"))
		rec := get(path, "")
		require.Equal(t, http.StatusOK, rec.Code)
		require.Equal(t, "\xff\xd8\xff", rec.Body.String()[:3])
		for header, want := range map[string]string{
			"Content-Type": "image/jpeg", "X-Content-Type-Options": "nosniff",
			"Cache-Control": "private, max-age=600",
		} {
			require.Equal(t, want, rec.Header().Get(header), header)
		}
		etag := rec.Header().Get("ETag")
		require.NotEmpty(t, etag)
		rec = get(path, etag)
		require.Equal(t, http.StatusNotModified, rec.Code)
		require.Empty(t, rec.Body.Bytes())
		require.Equal(t, http.StatusOK, get(path, `"another"`).Code)
	}
	status, p := w.ask("POST", "/users/"+bob+"/block", annaAccess, "")
	require.Equal(t, 204, status, p)
	for _, name := range []string{"url", "thumbUrl"} {
		require.Equal(t, http.StatusNotFound, get(picture[name].(string), "").Code)
	}
}
