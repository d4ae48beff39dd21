package main

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/delivery/acs/acstest"
	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/apptest"
)

// folder is where in the repository this application is.
const folder = "apps/harmony"

// local runs the application on this machine.
func local(t *testing.T, data string) (url string, stop func() int) {
	t.Helper()
	return apptest.Local(t, data, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	})
}

// does runs a command, which must end with a code, and returns what it prints.
func does(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.Equal(t, code, program().Run(t.Context(), args, command.Streams{Out: &out, Err: io.Discard}), args)
	return out.String()
}

// ask sends a request and reads the answer, which must have the status.
func ask[T any](t *testing.T, status int, method, url, token string, body any) T {
	t.Helper()
	return apptest.Ask[T](t, status, method, url, body, "Content-Type", "application/json",
		"Authorization", "Bearer "+token)
}

// up waits until the service is.
func up(t *testing.T, url string) string {
	t.Helper()
	require.Eventually(t, func() bool {
		resp, err := http.Get(url + api.Prefix + "/ready") //nolint:noctx // in a loop with an end
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, 30*time.Second, 20*time.Millisecond)
	return url + api.Prefix
}

// photo is a PNG file that is green.
func photo(t testing.TB) string {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 640, 480), color.Palette{color.RGBA{20, 108, 74, 255}})
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.String()
}

func newcomer(name string) api.NewAccount {
	return api.NewAccount{
		Email: name + "@example.com", Password: "tea under seven lamps", Name: name,
		BirthDate: "2000-02-29", Gender: "female", Language: "ru",
	}
}

// TestLocal is the story of an account in one process, with operators at work in between.
func TestLocal(t *testing.T) {
	data := t.TempDir()
	url, stop := local(t, data)
	at := up(t, url)
	s := ask[api.Session](t, 201, "POST", at+"/auth/register", "", newcomer("anna"))
	ask[httpjson.Problem](t, 409, "POST", at+"/auth/register", "", newcomer("anna"))
	require.Equal(t, command.OK, stop())
	require.FileExists(t, filepath.Join(data, "harmony.db"))

	require.Equal(t, "anna@example.com is admin now\n",
		does(t, command.OK, "role", "anna@example.com", "admin", "--data", data))
	does(t, command.Failed, "role", "bob@example.com", "admin", "--data", data)
	does(t, command.Usage, "role", "anna@example.com", "owner", "--data", data)
	does(t, command.Failed, "reset", "anna@example.com", "--data", t.TempDir())
	token := strings.TrimSpace(does(t, command.OK, "reset", "anna@example.com", "--data", data))

	url, stop = local(t, data)
	at = up(t, url)
	require.Equal(t, api.Role("admin"), ask[api.Me](t, 200, "GET", at+"/auth/me", s.AccessToken, nil).Role)
	ask[any](t, 204, "POST", at+"/auth/reset", "", api.PasswordReset{Token: token, Password: "eleven lamps over tea"})
	ask[httpjson.Problem](t, 401, "GET", at+"/auth/me", s.AccessToken, nil)
	ask[httpjson.Problem](t, 401, "POST", at+"/auth/login", "",
		api.Credentials{Email: "anna@example.com", Password: "tea under seven lamps"})
	s = ask[api.Session](t, 200, "POST", at+"/auth/login", "",
		api.Credentials{Email: "anna@example.com", Password: "eleven lamps over tea"})
	status, answer := apptest.Send(t, "POST", at+"/users/"+s.User.UserID+"/images", photo(t), "Content-Type",
		"image/png", "Authorization", "Bearer "+s.AccessToken)
	require.Equal(t, 201, status, answer)
	ask[api.Tokens](t, 200, "POST", at+"/auth/refresh", "", api.RefreshToken{RefreshToken: s.RefreshToken})
	require.Equal(t, command.OK, stop())

	require.Regexp(t, `^\d+ rows are as they must be\n$`, does(t, command.OK, "verify", "--data", data))
	st, err := service().OpenExisting(data, "")
	require.NoError(t, err)
	_, err = st.Tables.Write(t.Context(), "UserSettings",
		table.Op{Kind: table.Delete, Row: table.Row{Key: account.SettingsKey(s.User.UserID), ETag: table.Any}})
	require.NoError(t, errors.Join(err, st.Close()))
	require.Equal(t, "UserSettings\t"+s.User.UserID+" / SETTINGS\tit is missing\n",
		does(t, command.Failed, "verify", "--data", data))
	does(t, command.Usage, "verify", "now", "--data", data)
}

// TestDoctor: all that a deployment makes is looked for.
func TestDoctor(t *testing.T) {
	apptest.Examined(t, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	})
}

// TestUnderTheHost stages the application as a deployment does and runs it under the test host.
func TestUnderTheHost(t *testing.T) {
	mails := acstest.New(t)
	h := apptest.UnderTheHost(t, folder,
		append(mails.Identity(), "TABLE_PREFIX=Harmony", "QUEUE_PREFIX=harmony-", "CONTAINER_PREFIX=harmony-",
			"MAIL_SENDER=acs", "ACS_ENDPOINT="+mails.URL, "MAIL_FROM="+acstest.Mailbox,
			"WEBSITE_HOSTNAME=harmony.example")...)
	at := up(t, h.URL())
	join := func(name string) api.Session {
		t.Helper()
		who := newcomer(name)
		ask[any](t, 202, "POST", at+"/auth/register", "", who)
		var token string
		require.Eventually(t, func() bool {
			_, after, found := strings.Cut(mails.LastMail(who.Email).Text, "https://harmony.example/app/confirm?token=")
			token, _, _ = strings.Cut(after, "\n")
			return found
		}, 30*time.Second, 20*time.Millisecond)
		return ask[api.Session](t, 201, "POST", at+"/auth/confirm", "",
			api.Confirmation{Token: token, Password: who.Password})
	}
	s, other := join("anna"), join("bob")
	me := ask[api.Me](t, 200, "PUT", at+"/users/"+s.User.UserID, s.AccessToken,
		api.Profile{Name: "Анна", Gender: "female", Position: &api.Position{Lat: 55.75, Lon: 37.61}})
	require.Equal(t, &api.Position{Lat: 55.7, Lon: 37.6}, me.Position)
	require.Equal(t, "Анна", ask[api.Person](t, 200, "GET", at+"/users/"+s.User.UserID, other.AccessToken, nil).Name)
	status, answer := apptest.Send(t, "POST", at+"/users/"+s.User.UserID+"/images", photo(t), "Content-Type",
		"image/png", "Authorization", "Bearer "+s.AccessToken)
	require.Equal(t, 201, status, answer)
	for _, bearer := range []string{s.AccessToken, "x"} {
		status, answer = apptest.Send(t, "POST", at+"/users/"+s.User.UserID+"/images", strings.Repeat("x", 9<<20),
			"Content-Type", "image/png", "Authorization", "Bearer "+bearer)
		require.Equal(t, map[bool]int{true: 413, false: 401}[bearer != "x"], status)
		require.Contains(t, answer, `"code":`)
	}
	url := *ask[api.Person](t, 200, "GET", at+"/users/"+s.User.UserID, other.AccessToken, nil).ProfileImageURL
	status, answer = apptest.Send(t, "GET", h.URL()+url, "", "Authorization", "Bearer "+other.AccessToken)
	require.Equal(t, 200, status, answer)
	_, err := jpeg.Decode(strings.NewReader(answer))
	require.NoError(t, err)
	ask[httpjson.Problem](t, 401, "GET", h.URL()+url, "x", nil)
	require.Equal(t, s.User.UserID,
		ask[api.DeckList](t, 200, "GET", at+"/users", other.AccessToken, nil).Items[0].UserID)
	ask[api.Like](t, 201, "POST", at+"/likes", other.AccessToken, api.NewLike{ToUserID: s.User.UserID})
	chat := at + "/chats/" + *ask[api.Like](t, 201, "POST", at+"/likes", s.AccessToken,
		api.NewLike{ToUserID: other.User.UserID}).ChatID
	m := ask[api.Message](t, 201, "POST", chat+"/messages", s.AccessToken, api.NewMessage{Content: "Ты на концерте?"})
	require.Equal(t, 1, ask[api.ChatList](t, 200, "GET", at+"/chats", other.AccessToken, nil).Items[0].Unread)
	require.Equal(t, m, ask[api.MessageList](t, 200, "GET", chat+"/messages", other.AccessToken, nil).Items[0])
	require.Zero(t, ask[api.Unread](t, 200, "POST", chat+"/read", other.AccessToken, api.ReadUpTo{UpTo: m.ID}).Unread)
	ask[any](t, 204, "DELETE", at+"/matches/"+s.User.UserID, other.AccessToken, nil)
	ask[httpjson.Problem](t, 409, "POST", chat+"/messages", s.AccessToken, api.NewMessage{Content: "Ты там?"})
	ask[api.Privacy](t, 200, "PUT", at+"/settings/privacy", s.AccessToken,
		api.Privacy{ProfileVisibility: "private", Language: "en"})
	ask[httpjson.Problem](t, 404, "GET", at+"/users/"+s.User.UserID, other.AccessToken, nil)
	ask[any](t, 204, "POST", at+"/auth/logout", s.AccessToken, nil)
	ask[httpjson.Problem](t, 401, "GET", at+"/auth/me", s.AccessToken, nil)
	for path, status := range map[string]int{
		"/": 200, "/app": 200, "/app/sign-up": 200,
		"/app/me": 200, "/app/nothing": 404,
	} {
		got, answer := apptest.Send(t, "GET", h.URL()+path, "")
		require.Equal(t, status, got, path)
		require.NotEmpty(t, answer)
	}
}

// TestEraseAfter: an account is erased after days, or never.
func TestEraseAfter(t *testing.T) {
	for days, wrong := range map[string]bool{"-1": false, "0": false, "-2": true} {
		t.Setenv("ERASE_AFTER_DAYS", days)
		_, err := readSettings()
		require.Equal(t, wrong, err != nil, "%s: %v", days, err)
	}
}
