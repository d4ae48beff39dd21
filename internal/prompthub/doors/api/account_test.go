package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

// TestErasureStory: a user who wants to be erased has thirty days to change their mind, and others
// see no difference; an access token cannot ask for it.
func TestErasureStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	ann := w.as("Ann")
	p := ann.create("Public")
	var e, again api.Erasure
	ann.do(http.MethodDelete, "/api/v1/me", "").is(http.StatusAccepted).into(&e)
	at, err := time.Parse(time.RFC3339, e.EraseAt)
	require.NoError(t, err)
	require.Equal(t, w.clock.Now().AddDate(0, 0, 30).UTC().Truncate(time.Millisecond), at.UTC())
	w.clock.Advance(time.Hour)
	ann.do(http.MethodDelete, "/api/v1/me", "").is(http.StatusAccepted).into(&again)
	require.Equal(t, e, again)
	var u api.OwnUser
	ann.get("/api/v1/me/profile").is(200).into(&u)
	require.Equal(t, e.EraseAt, u.EraseAt)
	w.as("Bob").get("/api/v1/prompts/" + p.ID).is(200)
	require.NotContains(t, w.as("Bob").get("/api/v1/users/"+u.ID).is(200).body, "eraseAt")

	token := bearerOf(ann.token("read", "write", "publish"))
	for _, route := range [][2]string{{http.MethodDelete, "/api/v1/me"}, {http.MethodPost, "/api/v1/me/restore"}} {
		w.as("").do(route[0], route[1], "", token...).problem(403)
		w.as("").do(route[0], route[1], "").problem(401)
	}
	ann.do(http.MethodPost, "/api/v1/me/restore", "").is(204)
	ann.do(http.MethodPost, "/api/v1/me/restore", "").is(204)
	require.NotContains(t, ann.get("/api/v1/me/profile").is(200).body, "eraseAt")
}
