package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

const firstLink = `(http://127\.0\.0\.1:\d+/app/join#phi_\w+)\n`

var linkOf = regexp.MustCompile(`#(ph[ir]_\w+)`)

// secretOf returns the secret of a link in a text.
func secretOf(t *testing.T, text string) string {
	t.Helper()
	found := linkOf.FindStringSubmatch(text)
	require.NotNil(t, found, text)
	return found[1]
}

const aPassword = "correct horse battery"

// accept makes an account by an invitation.
func accept(t *testing.T, url, secret, handle string) (int, string) {
	t.Helper()
	return apptest.Send(t, http.MethodPost, url+"/api/v1/invites/accept",
		`{"secret":"`+secret+`","handle":"`+handle+`","password":"`+aPassword+`"}`, "Content-Type", "application/json")
}

// TestInvitedStart: each start prints a link of the first administrator and the one before is dead,
// until there is one. Commands make links while the service runs.
func TestInvitedStart(t *testing.T) {
	clean(t, "AUTH_MODE", "invited", "LOG_LEVEL", "warn")
	data := t.TempDir()
	p, _ := startLocal(t, data)
	dead := secretOf(t, await(t, &p.err, firstLink))
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	p, url := startLocal(t, data)
	first := secretOf(t, await(t, &p.err, firstLink))
	status, body := accept(t, url, dead, "chief")
	require.Equal(t, 404, status, body)
	status, body = accept(t, url, first, "chief")
	require.Equal(t, 200, status, body)
	status, body = accept(t, url, first, "other")
	require.Equal(t, 409, status, body)

	code, out, errs := handler(t, "invite", "--data", data)
	require.Equal(t, command.OK, code, errs)
	status, body = accept(t, url, secretOf(t, out), "second")
	require.Equal(t, 200, status, body)
	code, out, errs = handler(t, "reset", "second", "--data", data)
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, out, url+"/app/reset#phr_")
	status, body = apptest.Send(t, http.MethodPost, url+"/api/v1/resets/accept",
		`{"secret":"`+secretOf(t, out)+`","password":"another password"}`, "Content-Type", "application/json")
	require.Equal(t, 204, status, body)
	code, _, errs = handler(t, "reset", "nobody-here", "--data", data)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "nobody of this name has an account")
	code, _, errs = handler(t, "verify", "--data", data)
	require.Equal(t, command.OK, code, errs)
	p.stop()
	require.Equal(t, command.OK, <-p.code)

	p, _ = startLocal(t, data)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
	require.NotContains(t, p.err.String(), "/app/join#", "there is an administrator")
	code, out, errs = handler(t, "invite", "--data", data) // on the store itself
	require.Equal(t, command.OK, code, errs)
	require.Contains(t, out, "https://ADDRESS-OF-THE-SERVICE/app/join#phi_")

	clean(t, "AUTH_MODE", "dev")
	code, _, errs = handler(t, "invite", "--data", data)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "nobody has a password here")
}

// TestLogin signs a command line in by a browser, as a person does, and out.
func TestLogin(t *testing.T) {
	clean(t, "AUTH_MODE", "invited", "LOG_LEVEL", "warn")
	config := filepath.Join(t.TempDir(), "made", "config.json")
	t.Setenv("PROMPTHUB_CONFIG", config)
	t.Setenv("PROMPTHUB_NO_BROWSER", "1")
	p, address := startLocal(t, t.TempDir())
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	post := func(path string, form url.Values) string {
		resp, err := browser.PostForm(address+path, form)
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(b)
	}
	post("/app/join", url.Values{
		"secret": {secretOf(t, await(t, &p.err, firstLink))}, "accept": {"1"},
		"name": {"Chief"}, "handle": {"chief"}, "password": {aPassword},
	})

	login := func(answer string, flags ...string) (code int, told string) {
		var out, errs apptest.Output
		ended := make(chan int, 1)
		go func() {
			args := append([]string{"login"}, append(flags, address)...)
			ended <- program().Run(t.Context(), args,
				command.Streams{In: strings.NewReader(answer), Out: &out, Err: &errs})
		}()
		page, err := url.Parse(await(t, &errs, `(http://\S+/app/login\?\S+)\n`))
		require.NoError(t, err)
		shown := post("/app/login", page.Query())
		finish := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?[^"]+`).FindString(shown)
		require.NotEmpty(t, finish, shown)
		finish = strings.ReplaceAll(finish, "&amp;", "&")
		for _, foreign := range []string{
			strings.Replace(finish, "state=", "state=x", 1),
			strings.Replace(finish, "code=", "c=", 1),
		} {
			resp, err := http.Get(foreign)
			require.NoError(t, err)
			require.Equal(t, 404, resp.StatusCode)
			resp.Body.Close()
		}
		resp, err := http.Get(finish)
		require.NoError(t, err)
		resp.Body.Close()
		return <-ended, errs.String()
	}
	for _, no := range []string{"n\n", "", "\n", "yess\n"} {
		code, told := login(no)
		require.Equal(t, command.Failed, code, told)
		require.Contains(t, told, `as "Chief"? [y/N]`)
		require.NoFileExists(t, config)
	}
	listed, err := browser.Get(address + "/app/me/tokens")
	require.NoError(t, err)
	tokens, err := io.ReadAll(listed.Body)
	listed.Body.Close()
	require.NoError(t, err)
	require.Equal(t, 200, listed.StatusCode)
	require.NotContains(t, string(tokens), "prompthub on ", "those tokens were revoked")
	code, told := login("", "--yes")
	require.Equal(t, command.OK, code, told)
	require.NoError(t, os.Remove(config))
	code, told = login("y\n")
	require.Equal(t, command.OK, code, told)
	require.Contains(t, told, `Signed in to `+address+` as "Chief"`)
	info, err := os.Stat(config)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	code, _, text := handler(t, "save", file(t, "hello.md", "Hello"))
	require.Equal(t, command.OK, code, text)
	kept, err := os.ReadFile(config)
	require.NoError(t, err)
	code, _, text = handler(t, "logout")
	require.Equal(t, command.OK, code, text)
	code, _, _ = handler(t, "logout")
	require.Equal(t, command.Failed, code, "once")
	code, _, text = handler(t, "get", "hello")
	require.Equal(t, command.Failed, code, text)
	require.NoError(t, os.WriteFile(config, kept, 0o600))
	code, _, text = handler(t, "get", "hello")
	require.Equal(t, command.Failed, code, "the token was revoked: "+text)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
}

// TestLoginOverHTTP: a token goes to another machine in the clear only where somebody says so.
func TestLoginOverHTTP(t *testing.T) {
	clean(t, "PROMPTHUB_CONFIG", filepath.Join(t.TempDir(), "config.json"))
	code, _, told := handler(t, "login", "--paste", "http://prompts.invalid")
	require.Equal(t, command.Usage, code)
	require.Contains(t, told, "--insecure")
	code, _, told = handler(t, "login", "--paste", "--insecure", "http://prompts.invalid")
	require.Equal(t, command.Failed, code)
	require.Contains(t, told, "no token on standard input")
}

// TestSignInPageTellsNoName: strangers do not learn the user of the operating system.
func TestSignInPageTellsNoName(t *testing.T) {
	clean(t, "AUTH_MODE", "invited", "LOG_LEVEL", "warn", "USER", "somebody-here")
	p, address := startLocal(t, t.TempDir())
	status, body := apptest.Send(t, http.MethodGet, address+"/app/signin", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, `id="name" name="name" value=""`)
	p.stop()
	require.Equal(t, command.OK, <-p.code)
}
