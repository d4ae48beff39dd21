package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/testing/apptest"
)

// said runs a command, which must end with a code, and returns what it prints and what it says.
func said(t *testing.T, code int, args ...string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	got := program().Run(t.Context(), args, command.Streams{Out: &o, Err: &e})
	require.Equal(t, code, got, "%s\n%s%s", args, &o, &e)
	return o.String(), e.String()
}

// bytesOf returns a picture.
func bytesOf(t *testing.T, at, url, token string) string {
	t.Helper()
	status, body := apptest.Send(t, http.MethodGet, strings.TrimSuffix(at, api.Prefix)+url, "",
		"Authorization", "Bearer "+token)
	require.Equal(t, http.StatusOK, status)
	return body
}

// TestBackup: the backup of a running service is restored elsewhere, with its pictures byte for
// byte. A member who forgot the password needs no stop. No backup has the sessions and tokens that
// open an account.
func TestBackup(t *testing.T) {
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "harmony.jsonl")
	url, stop := local(t, data)
	at := up(t, url)
	anna := ask[api.Session](t, 201, "POST", at+"/auth/register", "", newcomer("anna"))
	status, answer := apptest.Send(t, "POST", at+"/users/"+anna.User.UserID+"/images", photo(t), "Content-Type",
		"image/png", "Authorization", "Bearer "+anna.AccessToken)
	require.Equal(t, 201, status, answer)
	picture := ask[api.Person](t, 200, "GET", at+"/users/"+anna.User.UserID, anna.AccessToken, nil).ProfileImageURL
	want := bytesOf(t, at, *picture, anna.AccessToken)

	bob := ask[api.Session](t, 201, "POST", at+"/auth/register", "", newcomer("bob"))
	ask[api.Like](t, 201, "POST", at+"/likes", anna.AccessToken, map[string]any{"toUserId": bob.User.UserID})
	room := *ask[api.Like](t, 201, "POST", at+"/likes", bob.AccessToken,
		map[string]any{"toUserId": anna.User.UserID}).ChatID
	status, answer = apptest.Send(t, "POST", at+"/chats/"+room+"/images", photo(t), "Content-Type", "image/png",
		"Authorization", "Bearer "+bob.AccessToken)
	require.Equal(t, 201, status, answer)
	sent := ask[api.Chat](t, 200, "GET", at+"/chats/"+room, anna.AccessToken, nil).LastMessage.ImageURL
	wantSent := bytesOf(t, at, *sent, anna.AccessToken)

	_, errs := said(t, command.OK, "backup", file, "--data", data)
	require.Contains(t, errs, " rows, 4 files\n")
	require.Contains(t, does(t, command.OK, "verify", "--data", data), "rows are as they must be")
	require.Equal(t, "anna@example.com is admin now\n",
		does(t, command.OK, "role", "anna@example.com", "admin", "--data", data))
	token := strings.TrimSpace(does(t, command.OK, "reset", "anna@example.com", "--data", data))
	ask[any](t, 204, "POST", at+"/auth/reset", "", api.PasswordReset{Token: token, Password: "eleven lamps over tea"})
	out, _ := said(t, command.OK, "drill", file, "--data", data)
	require.Contains(t, out, "files\t4\n")
	_, errs = said(t, command.Failed, "restore", file, "--data", data)
	require.Contains(t, errs, "another process")
	require.Equal(t, command.OK, stop())
	_, errs = said(t, command.Failed, "restore", file, "--data", data)
	require.Contains(t, errs, "the store is not empty")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"table":"Sessions"`)
	require.Contains(t, strings.SplitN(string(text), "\n", 2)[0], `"without":["Sessions","Mails"]`)

	elsewhere := t.TempDir()
	said(t, command.OK, "restore", file, "--data", elsewhere)
	does(t, command.OK, "verify", "--data", elsewhere)
	url, stop = local(t, elsewhere)
	at = up(t, url)
	ask[httpjson.Problem](t, 401, "GET", at+"/auth/me", anna.AccessToken, nil)
	again := ask[api.Session](t, 200, "POST", at+"/auth/login", "",
		api.Credentials{Email: "anna@example.com", Password: "tea under seven lamps"})
	require.Equal(t, want, bytesOf(t, at, *picture, again.AccessToken))
	require.Equal(t, wantSent, bytesOf(t, at, *sent, again.AccessToken))
	require.Equal(t, command.OK, stop())
}
