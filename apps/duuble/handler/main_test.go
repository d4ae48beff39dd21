package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/internal/delivery/acs/acstest"
	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/testing/apptest"
)

// folder is where in the repository this application is.
const folder = "apps/duuble"

// local runs the application on this machine. Any number of codes may be asked for.
func local(t *testing.T, data string) (url string, stop func() int) {
	t.Helper()
	t.Setenv("OTP_PER_PHONE", "-1")
	t.Setenv("OTP_PER_ADDRESS", "-1")
	t.Setenv("DEV_CODES", "true")
	return without(t, data)
}

// without is local as the settings are.
func without(t *testing.T, data string) (url string, stop func() int) {
	t.Helper()
	return apptest.Local(t, data, func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	})
}

// does runs a command, which must end with a code, and returns what it prints.
func does(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.Equal(t, code, program().Run(t.Context(), args, command.Streams{Out: &out, Err: &out}), "%s: %s",
		args, &out)
	return out.String()
}

// ask sends a request and reads the answer, which must have the status.
func ask[T any](t *testing.T, status int, method, url, token string, body any) T {
	t.Helper()
	headers := []string{"Content-Type", "application/json"}
	if token != "" {
		headers = append(headers, "Authorization", "Bearer "+token)
	}
	return apptest.Ask[T](t, status, method, url, body, headers...)
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
	}, 60*time.Second, 20*time.Millisecond)
	return url + api.Prefix
}

// enter signs in by a code, which code returns for a challenge or a number.
func enter(t *testing.T, at, number string, code func(challenge string) string) api.Tokens {
	t.Helper()
	sent := ask[api.CodeSent](t, 202, "POST", at+"/auth/otp/request", "",
		api.CodeRequest{Channel: "sms", Destination: number, Purpose: "sign_in"})
	return ask[api.Tokens](t, 200, "POST", at+"/auth/otp/verify", "",
		api.CodeTyped{ChallengeID: sent.ChallengeID, Code: code(sent.ChallengeID)})
}

// printed returns the code of a challenge of a developer's server.
func printed(t *testing.T, at string) func(string) string {
	return func(challenge string) string {
		return ask[api.DevCode](t, 200, "GET", at+"/dev/otp/"+challenge, "", nil).Code
	}
}

// settle completes the onboarding of a person.
func settle(t *testing.T, at string, in api.Tokens, name string) {
	t.Helper()
	ask[api.Me](t, 200, "PUT", at+"/onboarding/profile-basics", in.AccessToken,
		api.Basics{Username: name, FullName: name})
	me := ask[api.Me](t, 200, "POST", at+"/onboarding/terms", in.AccessToken,
		api.Terms{TermsVersion: "2026-11", PrivacyVersion: "2026-11"})
	require.True(t, me.IsOnboardingCompleted)
}

// upload uploads a picture, and returns its id.
func upload(t *testing.T, at, token, purpose string) string {
	t.Helper()
	file := duubletest.PNG
	a := ask[api.Asset](t, 201, "POST", at+"/assets", token,
		api.NewAsset{Purpose: api.AssetPurpose(purpose), ContentType: "image/png", FileSizeBytes: int64(len(file))})
	status, answer := apptest.Send(t, "PUT", at+"/assets/"+a.AssetID+"/content", string(file), "Content-Type",
		"image/png", "Authorization", "Bearer "+token)
	require.Equal(t, 200, status, answer)
	return a.AssetID
}

// shown returns the bytes of a picture as a person sees it.
func shown(t *testing.T, at, token, id string) string {
	t.Helper()
	status, file := apptest.Send(t, "GET", at+"/assets/"+id+"/content", "", "Authorization", "Bearer "+token)
	require.Equal(t, 200, status, file)
	require.Equal(t, "image/jpeg", picture.TypeOf([]byte(file)))
	return file
}

// told returns all events that a person has, of a stream that ends with them.
func told(t *testing.T, at, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/notifications/stream", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Last-Event-ID", strings.Repeat("9", 19)+"-"+strings.Repeat("f", 24)) // all are newer
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// TestLocal is a story in one process, which keeps its keys next to its file.
func TestLocal(t *testing.T) {
	data := t.TempDir()
	url, stop := local(t, data)
	at := up(t, url)
	ann := enter(t, at, "+34600000001", printed(t, at))
	require.True(t, ann.IsNewUser)
	settle(t, at, ann, "Ann_1")
	bob := enter(t, at, "+34600000002", printed(t, at))
	ask[httpjson.Problem](t, 409, "PUT", at+"/onboarding/profile-basics", bob.AccessToken,
		api.Basics{Username: "ann_1", FullName: "Bob"})
	settle(t, at, bob, "Bob")
	post := ask[api.Card](t, 201, "POST", at+"/posts", ann.AccessToken,
		api.NewPost{Slider: &api.Slider{Text: "Is tea better than coffee?"}})
	ask[api.VoteCast](t, 201, "POST", at+"/posts/"+post.PostID+"/vote", ann.AccessToken,
		api.NewVote{Position: "strong_left"})
	ask[httpjson.Problem](t, 409, "POST", at+"/posts/"+post.PostID+"/vote", ann.AccessToken,
		api.NewVote{Position: "left"})
	ask[api.VoteCast](t, 201, "POST", at+"/posts/"+post.PostID+"/vote", bob.AccessToken, api.NewVote{Position: "right"})
	require.Eventually(t, func() bool {
		return len(ask[api.MyVotes](t, 200, "GET", at+"/users/me/votes", bob.AccessToken, nil).Items) == 1
	}, 60*time.Second, 20*time.Millisecond, "the list follows")
	hub := ask[api.Hub](t, 201, "POST", at+"/hubs", ann.AccessToken,
		api.NewHub{Name: "Tea", CustomLink: "tea", Picture: upload(t, at, ann.AccessToken, "hub")})
	invited := ask[api.Invitations](t, 201, "POST", at+"/hubs/"+hub.HubID+"/invitations", ann.AccessToken,
		api.Invite{Phones: []string{"+34600000002", "+34600000003"}})
	ask[api.Outcome](t, 200, "POST", at+"/invitations/"+invited.Items[0].Token+"/accept", bob.AccessToken, nil)
	locked := ask[api.Card](t, 201, "POST", at+"/posts", bob.AccessToken,
		api.NewPost{
			Visibility: "private_locked_hub", HubIDs: []string{hub.HubID},
			Slider: &api.Slider{Text: "Green tea?"},
		})
	ask[api.VoteCast](t, 201, "POST", at+"/posts/"+locked.PostID+"/vote", ann.AccessToken,
		api.NewVote{Position: "left"})
	require.Eventually(t, func() bool {
		return len(ask[api.MyVotes](t, 200, "GET", at+"/users/me/votes", ann.AccessToken, nil).Items) == 2
	}, 60*time.Second, 20*time.Millisecond, "the list follows")
	face, ofComment := upload(t, at, ann.AccessToken, "profile"), upload(t, at, bob.AccessToken, "comment")
	ask[api.Me](t, 200, "PATCH", at+"/users/me/profile", ann.AccessToken, api.ProfileChange{Picture: &face})
	ask[api.Comment](t, 201, "POST", at+"/posts/"+locked.PostID+"/comments", bob.AccessToken,
		api.NewComment{AssetID: ofComment})
	looks := shown(t, at, ann.AccessToken, ofComment)
	comment := ask[api.Comment](t, 201, "POST", at+"/posts/"+locked.PostID+"/comments", ann.AccessToken,
		api.NewComment{Text: "Why not?"})
	ask[api.Comment](t, 201, "POST", at+"/posts/"+locked.PostID+"/comments", bob.AccessToken,
		api.NewComment{Text: "Indeed", ParentCommentID: comment.CommentID})
	require.True(t, ask[api.Following](t, 200, "PUT", at+"/users/"+ann.UserID+"/follow",
		bob.AccessToken, nil).Following)
	require.Eventually(t, func() bool {
		home := ask[api.Home](t, 200, "GET", at+"/feed/home", bob.AccessToken, nil)
		return len(home.Items) == 2 && home.Items[0].Activity.Type == "post_commented"
	}, 60*time.Second, 20*time.Millisecond, "the home follows")
	require.Eventually(t, func() bool {
		return strings.Contains(told(t, at, ann.AccessToken), `"type":"user_followed"`)
	}, 60*time.Second, 20*time.Millisecond, "it may come after what happened before")
	running := filepath.Join(t.TempDir(), "running.jsonl")
	does(t, command.OK, "backup", running, "--data", data)
	require.Contains(t, does(t, command.OK, "verify", "--data", data), "rows are as they must be")
	require.Contains(t, does(t, command.OK, "drill", running, "--data", data), "files\t6\n")
	for _, name := range []string{"settle", "purge"} {
		does(t, command.OK, name, "--data", data)
	}
	require.Contains(t, does(t, command.Failed, "promote", "+34600000009", "none", "--data", data), "promote: ")
	require.Equal(t, command.OK, stop())

	info, err := os.Stat(filepath.Join(data, keysFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	file, err := os.ReadFile(filepath.Join(data, "duuble.db"))
	require.NoError(t, err)
	keys, err := os.ReadFile(filepath.Join(data, keysFile))
	require.NoError(t, err)
	for line := range strings.Lines(string(keys)) {
		_, key, _ := strings.Cut(strings.TrimSpace(line), "=")
		plain, err := base64.StdEncoding.DecodeString(key)
		require.NoError(t, err)
		require.NotContains(t, string(file), string(plain))
	}
	require.NotContains(t, string(file), "34600000001")
	require.NotContains(t, string(file), invited.Items[1].Token)

	require.Contains(t, does(t, command.OK, "verify", "--data", data), "rows are as they must be")
	does(t, command.OK, "settle", "--data", data)
	file2 := filepath.Join(t.TempDir(), "backup.jsonl")
	does(t, command.OK, "backup", file2, "--data", data)
	text, err := os.ReadFile(file2)
	require.NoError(t, err)
	for _, secret := range []string{
		"34600000001", `"strong_left":{"int64":1}`,
		strings.Split(strings.TrimSpace(string(keys)), "=")[1],
	} {
		require.NotContains(t, string(text), secret)
	}
	for _, from := range []string{running, file2} {
		other := t.TempDir()
		none, wrong := filepath.Join(t.TempDir(), "none"), t.TempDir()
		_, err := makeKeys(wrong, filepath.Join(wrong, keysFile))
		require.NoError(t, err)
		for _, name := range []string{"restore", "drill"} {
			require.Contains(t, does(t, command.Failed, name, from, "--data", none), "there are no keys")
			require.NoDirExists(t, none)
			require.Contains(t, does(t, command.Failed, name, from, "--data", wrong),
				"the last of SECRET_KEYS is not the key")
		}
		require.NoError(t, os.WriteFile(filepath.Join(other, keysFile), keys, 0o600))
		does(t, command.OK, "restore", from, "--data", other)
		require.NotContains(t, textOf(t, from), `"table":"Sessions"`)
		require.Contains(t, does(t, command.OK, "verify", "--data", other), "rows are as they must be")
		data = other
	}

	url, stop = local(t, data)
	at = up(t, url)
	ask[httpjson.Problem](t, 401, "GET", at+"/users/me", ann.AccessToken, nil)
	ann = enter(t, at, "+34600000001", printed(t, at))
	me := ask[api.Me](t, 200, "GET", at+"/users/me", ann.AccessToken, nil)
	require.Equal(t, "Ann_1", *me.Username)
	require.Equal(t, face, *me.Picture)
	require.Equal(t, looks, shown(t, at, ann.AccessToken, ofComment), "of the backup")
	require.Equal(t, api.MyCounts{Followers: 1, Posts: 1, VotesCast: 2}, me.Counts)
	carol := enter(t, at, "+34600000003", printed(t, at))
	settle(t, at, carol, "Carol")
	require.Nil(t, ask[api.VoteSummary](t, 200, "GET", at+"/posts/"+post.PostID+"/vote/summary", "", nil).LeftCount)
	ask[api.VoteCast](t, 201, "POST", at+"/posts/"+post.PostID+"/vote", carol.AccessToken,
		api.NewVote{Position: "right"})
	for i := range 6 {
		more := enter(t, at, fmt.Sprint("+3460000001", i), printed(t, at))
		settle(t, at, more, fmt.Sprint("More", i))
		ask[api.VoteCast](t, 201, "POST", at+"/posts/"+post.PostID+"/vote", more.AccessToken,
			api.NewVote{Position: "right"})
	}
	sum := ask[api.VoteSummary](t, 200, "GET", at+"/posts/"+post.PostID+"/vote/summary", carol.AccessToken, nil)
	require.EqualValues(t, 9, sum.TotalVotes)
	require.GreaterOrEqual(t, sum.CountedVotes, int64(3), "with those that waited before the backup there are enough")
	require.Equal(t, sum.CountedVotes, *sum.LeftCount+*sum.RightCount)
	ask[api.Tokens](t, 200, "POST", at+"/auth/refresh", "", api.RefreshRequest{RefreshToken: ann.RefreshToken})
	ask[httpjson.Problem](t, 401, "POST", at+"/auth/refresh", "", api.RefreshRequest{RefreshToken: ann.RefreshToken})
	ask[httpjson.Problem](t, 401, "GET", at+"/users/me", ann.AccessToken, nil)
	require.Equal(t, command.OK, stop())

	old, _, _ := strings.Cut(strings.TrimPrefix(string(keys), "SECRET_KEYS="), "\n")
	fresh := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	t.Setenv("SECRET_KEYS", fresh+","+old)
	require.Contains(t, does(t, command.OK, "rekey", "--data", data), "9 accounts")
	require.Contains(t, does(t, command.Failed, "local", "--addr", "127.0.0.1:0", "--data", data), "SECRET_KEYS",
		"the last key is not the one of the data any more")
	t.Setenv("SECRET_KEYS", fresh)
	url, stop = local(t, data)
	at = up(t, url)
	bob = enter(t, at, "+34600000002", printed(t, at))
	ask[any](t, 204, "DELETE", at+"/users/me", bob.AccessToken, nil)
	require.NotNil(t, enter(t, at, "+34600000002", printed(t, at)).DeletedAt)
	again := enter(t, at, "+34600000001", printed(t, at))
	require.Equal(t, ann.UserID, again.UserID)
	carol = enter(t, at, "+34600000003", printed(t, at))
	require.Len(t, ask[api.Items[api.MyInvitation]](t, 200, "GET", at+"/users/me/invitations",
		carol.AccessToken, nil).Items, 1)
	ask[httpjson.Problem](t, 404, "GET", at+"/posts/"+locked.PostID, carol.AccessToken, nil)
	ask[api.Outcome](t, 200, "POST", at+"/invitations/"+invited.Items[1].Token+"/accept", carol.AccessToken, nil)
	ask[api.VoteCast](t, 201, "POST", at+"/posts/"+locked.PostID+"/vote", carol.AccessToken,
		api.NewVote{Position: "left"})
	require.EqualValues(t, 3, ask[api.Card](t, 200, "GET", at+"/posts/"+locked.PostID,
		carol.AccessToken, nil).Counts.Comments)
	in := ask[api.HubVotes](t, 200, "GET", at+"/posts/"+locked.PostID+"/vote/hubs", carol.AccessToken, nil).Items
	require.Len(t, in, 1)
	require.EqualValues(t, 2, in[0].TotalVotes)
	require.Eventually(t, func() bool {
		return len(ask[api.MyVotes](t, 200, "GET", at+"/users/me/votes", carol.AccessToken, nil).Items) == 2
	}, 60*time.Second, 20*time.Millisecond, "the list follows")
	require.Eventually(t, func() bool {
		home := ask[api.Home](t, 200, "GET", at+"/feed/home", again.AccessToken, nil)
		return len(home.Items) > 0 && home.Items[0].Activity.Type == "post_voted" &&
			home.Items[0].Post.PostID == locked.PostID && *home.Items[0].Activity.Actor.Username == "Carol"
	}, 60*time.Second, 20*time.Millisecond, "the home follows")
	require.Equal(t, command.OK, stop())
	require.Contains(t, does(t, command.OK, "verify", "--data", data), "rows are as they must be")
	does(t, command.OK, "purge", "--data", data)
	require.Contains(t, does(t, command.OK, "verify", "--data", data), "rows are as they must be")
	t.Setenv("SECRET_KEYS", "")

	require.NoError(t, os.Remove(filepath.Join(data, keysFile)))
	require.Contains(t, does(t, command.Failed, "local", "--addr", "127.0.0.1:0", "--data", data), "SECRET_KEYS")
}

func textOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// TestCodesStayOnThisMachine: with DEV_CODES nothing listens where others may be, and without it no
// program finds a code.
func TestCodesStayOnThisMachine(t *testing.T) {
	t.Setenv("DEV_CODES", "true")
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:80", "duuble.example:80"} {
		require.Contains(t, does(t, command.Failed, "local", "--addr", addr, "--data", t.TempDir()),
			"DEV_CODES is set", addr)
	}
	url, stop := local(t, t.TempDir())
	at := up(t, url)
	enter(t, at, "+34 600 000 001", func(challenge string) string {
		for _, headers := range [][]string{{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-For", "127.0.0.1"}} {
			apptest.Ask[httpjson.Problem](t, 404, "GET", at+"/dev/otp/"+challenge, nil, headers...)
		}
		code := printed(t, at)(challenge)
		return code[:3] + " " + code[3:]
	})
	require.Zero(t, stop())
	t.Setenv("DEV_CODES", "false")
	url, stop = without(t, t.TempDir())
	sent := ask[api.CodeSent](t, 202, "POST", up(t, url)+"/auth/otp/request", "",
		api.CodeRequest{Channel: "sms", Destination: "0034600000001", Purpose: "sign_in"})
	ask[httpjson.Problem](t, 404, "GET", url+api.Prefix+"/dev/otp/"+sent.ChallengeID, "", nil)
	require.Zero(t, stop())
}

// TestSettings: what cannot be right is refused, under the name of the setting.
func TestSettings(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for _, bad := range [][]string{
		{"SECRET_KEYS", "SECRET_KEYS", "x"},
		{"VOTE_KEYS", "VOTE_KEYS", key + "," + key},
		{"OTP_LASTS", "OTP_LASTS", "11m"},
		{"OTP_PER_PHONE", "OTP_PER_PHONE", "0"},
		{"POSTS_PER_DAY", "POSTS_PER_DAY", "0"},
		{"ASSETS_PER_DAY", "ASSETS_PER_DAY", "0"},
		{"KEEP_DELETED", "KEEP_DELETED", "999ms"},
		{"NOTIFY_POLL", "NOTIFY_POLL", "26s"},
		{"PUBLIC_URL", "PUBLIC_URL", "duuble.example"},
		{"ADMIN_PHONES", "ADMIN_PHONES", "+34600000001,600000002"},
		{"OTP_PER_NETWORK", "OTP_PER_NETWORK", "0"},
		{"OTP_PER_COUNTRY", "OTP_PER_COUNTRY", "-2"},
		{"OTP_PER_HOUR", "OTP_PER_HOUR", "0"},
		{"DEV_CODES", "DEV_CODES", "true", "PUBLIC_URL", "https://duuble.example"},
		{"DEV_CODES", "DEV_CODES", "true", "PUBLIC_URL", "http://127.0.0.1.duuble.example"},
		{
			"DEV_CODES", "DEV_CODES", "true", "SMS_SENDER", "acs", "ACS_ENDPOINT",
			"https://example.com", "ACS_FROM", "+1",
		},
		{"DEV_CODES", "DEV_CODES", "true", "FUNCTIONS_CUSTOMHANDLER_PORT", "7071"},
		{"SMS_SENDER", "SMS_SENDER", "pigeon"},
		{"SMS_SENDER", "SMS_SENDER", "acs"},
		{"SMS_SENDER", "FUNCTIONS_CUSTOMHANDLER_PORT", "7071"},
		{
			"SECRET_KEYS", "FUNCTIONS_CUSTOMHANDLER_PORT", "7071", "SMS_SENDER", "acs", "ACS_ENDPOINT",
			"https://example.com", "ACS_FROM", "+1",
		},
		{
			"VOTE_KEYS", "FUNCTIONS_CUSTOMHANDLER_PORT", "7071", "SMS_SENDER", "acs", "ACS_ENDPOINT",
			"https://example.com", "ACS_FROM", "+1", "SECRET_KEYS", key,
		},
	} {
		t.Run(strings.Join(bad[:3], " "), func(t *testing.T) {
			for i := 1; i < len(bad); i += 2 {
				t.Setenv(bad[i], bad[i+1])
			}
			_, err := readSettings()
			require.ErrorContains(t, err, "setting "+bad[0])
			require.NotContains(t, err.Error(), key)
		})
	}
}

// TestSettingsBeforeADeployment: the line of azure.yaml takes the variables of the README, and
// refuses those with which every answer would be 503, before anything is made.
func TestSettingsBeforeADeployment(t *testing.T) {
	text, err := os.ReadFile("../azure.yaml")
	require.NoError(t, err)
	_, line, ok := strings.Cut(string(text), "go run ./handler ")
	require.True(t, ok)
	line, _, _ = strings.Cut(line, "\n")
	require.Contains(t, string(text), "secrets: { SECRET_KEYS: SECRET_KEYS, VOTE_KEYS: VOTE_KEYS }")
	asks := func(code int) string { return does(t, code, strings.Fields(line)...) }
	for _, arg := range strings.Fields(line)[1:] { // the command sets them
		name, _, _ := strings.Cut(arg, "=")
		t.Setenv(name, "")
	}
	require.Contains(t, asks(command.Failed), "SMS_SENDER is not right", "without ACS_FROM")
	t.Setenv("ACS_FROM", "+34600000000")
	require.Contains(t, asks(command.Failed), "SECRET_KEYS is not set")
	for i, name := range []string{"SECRET_KEYS", "VOTE_KEYS"} {
		t.Setenv(name, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(i + 1)}, 32)))
	}
	require.Contains(t, asks(command.OK), "The settings are taken.")
	t.Setenv("ADMIN_PHONES", "600000001")
	require.Contains(t, asks(command.Failed), "ADMIN_PHONES")
	t.Setenv("ADMIN_PHONES", "")
	t.Setenv("SECRET_KEYS", "c2hvcnQ=")
	require.Contains(t, asks(command.Failed), "SECRET_KEYS")
	require.Contains(t, does(t, command.Usage, "settings", "AUTH_MODE"), "NAME=VALUE")
}

// TestDoctor: all that a deployment makes is looked for, and no keys are made for data that has
// some elsewhere.
func TestDoctor(t *testing.T) {
	run := func(ctx context.Context, args []string, in io.Reader, out io.Writer) int {
		return program().Run(ctx, args, command.Streams{In: in, Out: out, Err: out})
	}
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	apptest.Examined(t, run, "SMS_SENDER=printed", "SECRET_KEYS="+key, "VOTE_KEYS="+key)
	t.Setenv("VOTE_KEYS", "")
	t.Chdir(t.TempDir())
	out := does(t, command.Failed, "doctor")
	require.Contains(t, out, "there are no keys: set SECRET_KEYS and VOTE_KEYS")
	require.Contains(t, out, "NoneUsers", "one fault hides no other")
	require.NoFileExists(t, ".data/"+keysFile)
}

// TestUnderTheHost stages the application as a deployment does and runs it under the test host,
// with a service of the test's own that sends the codes.
func TestUnderTheHost(t *testing.T) {
	texts := acstest.New(t)
	key := func(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }
	settings := append(texts.Identity(), "TABLE_PREFIX=Duuble", "QUEUE_PREFIX=duuble-",
		"SECRET_KEYS="+key(1), "VOTE_KEYS="+key(2),
		"SMS_SENDER=acs", "ACS_ENDPOINT="+texts.URL, "ACS_FROM="+acstest.From)
	h := apptest.UnderTheHost(t, folder, settings...)
	at := up(t, h.URL())
	sent := func(number string) func(string) string {
		return func(challenge string) string {
			ask[httpjson.Problem](t, 404, "GET", at+"/dev/otp/"+challenge, "", nil)
			code, _, _ := strings.Cut(texts.Last(number), " ")
			return code
		}
	}
	ann := enter(t, at, "+34600000001", sent("+34600000001"))
	settle(t, at, ann, "Ann_1")
	post := ask[api.Card](t, 201, "POST", at+"/posts", ann.AccessToken,
		api.NewPost{Slider: &api.Slider{Text: "Is tea better than coffee?"}})
	ask[api.VoteCast](t, 201, "POST", at+"/posts/"+post.PostID+"/vote", ann.AccessToken,
		api.NewVote{Position: "strong_left", Pad: "xxxx"})
	require.EqualValues(t, 1, ask[api.VoteSummary](t, 200, "GET", at+"/posts/"+post.PostID+"/vote/summary", "",
		nil).TotalVotes)
	require.Eventually(t, func() bool {
		return len(ask[api.MyVotes](t, 200, "GET", at+"/users/me/votes", ann.AccessToken, nil).Items) == 1
	}, 2*time.Minute, 100*time.Millisecond, "the queue function runs")
	face := upload(t, at, ann.AccessToken, "profile")
	shown(t, at, ann.AccessToken, face)
	require.Equal(t, "+34•••••01", ask[api.Me](t, 200, "GET", at+"/users/me", ann.AccessToken, nil).Phone)
	ask[httpjson.Problem](t, 429, "POST", at+"/auth/otp/request", "",
		api.CodeRequest{Channel: "sms", Destination: "+34600000001", Purpose: "sign_in"})
	ask[any](t, 204, "POST", at+"/auth/logout", ann.AccessToken, nil)
	ask[httpjson.Problem](t, 401, "GET", at+"/users/me", ann.AccessToken, nil)
	for path, status := range map[string]int{
		"/": 200, "/app": 200, "/app/sign-in": 200, "/app/me": 200,
		"/app/posts/" + post.PostID: 200, "/app/nothing": 404,
	} {
		got, answer := apptest.Send(t, "GET", h.URL()+path, "")
		require.Equal(t, status, got, path)
		require.NotEmpty(t, answer)
	}
}
