package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/delivery/mail/mailtest"
	"prompthub/internal/testing/apptest"
)

// A visitor sends forms of pages, as a browser without a script does.
type visitor struct {
	t    *testing.T
	http *http.Client
	at   string
}

func newVisitor(t *testing.T, at string) visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return visitor{t, &http.Client{Jar: jar}, at}
}

// sends sends a form, which must lead to a page.
func (v visitor) sends(page, leads string, fields ...string) {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	resp, err := v.http.PostForm(v.at+page, form) //nolint:noctx // of a test
	require.NoError(v.t, err)
	defer resp.Body.Close()
	require.Equal(v.t, leads, strings.TrimPrefix(resp.Request.URL.String(), v.at))
}

// followed opens the link of a mail, requires that there is a page, and returns the token of the
// link.
func (v visitor) followed(text string) (page, token string) {
	v.t.Helper()
	link := regexp.MustCompile(`https://harmony\.example(/app/[^\s]+)`).FindStringSubmatch(text)
	require.NotNil(v.t, link, text)
	status, _ := apptest.Send(v.t, http.MethodGet, v.at+link[1], "")
	require.Equal(v.t, 200, status)
	page, token, _ = strings.Cut(link[1], "?token=")
	return page, token
}

// TestMails: people register, forget their password and change their address by the mails of a
// service that sends them to an SMTP server.
func TestMails(t *testing.T) {
	server, port, _ := mailtest.Listen(t, "none")
	for name, value := range map[string]string{
		"MAIL_SENDER": "smtp", "MAIL_FROM": "no-reply@harmony.example",
		"SMTP_URL": "smtp://127.0.0.1:" + port, "PUBLIC_URL": "https://harmony.example",
	} {
		t.Setenv(name, value)
	}
	site, _ := local(t, t.TempDir())
	up(t, site)
	anna := newVisitor(t, site)
	newcomer := []string{
		"email", "anna@example.org", "password", "tea under seven lamps", "name", "Anna", "birthDate",
		"2000-02-29", "gender", "female", "back", "/app/events/e",
	}
	const back = "&back=%2Fapp%2Fevents%2Fe"
	anna.sends("/app/sign-up", "/app/sign-in?done=mail-join"+back, newcomer...)
	header, text := server.Await(t, "anna@example.org")
	require.Equal(t, "<no-reply@harmony.example>", header.Get("From"))
	page, token := anna.followed(text)
	token, wanted := strings.CutSuffix(token, back)
	require.True(t, wanted, "the link leads on to where she was")
	anna.sends(page, "/app/confirm", "token", token, "password", "not this one")
	anna.sends(page, "/app/me?done=registered"+back, "token", token, "password", "tea under seven lamps", "back",
		"/app/events/e")
	stranger := newVisitor(t, site)
	stranger.sends("/app/sign-up", "/app/sign-in?done=mail-join"+back, newcomer...)
	_, text = server.Await(t, "anna@example.org")
	page, _ = stranger.followed(text)
	require.Equal(t, "/app/forgot", page)

	stranger.sends("/app/forgot", "/app/sign-in?done=mail-reset", "email", "unknown@example.org")
	stranger.sends("/app/forgot", "/app/sign-in?done=mail-reset", "email", "anna@example.org")
	_, text = server.Await(t, "anna@example.org")
	page, token = stranger.followed(text)
	stranger.sends(page, "/app/sign-in?done=password", "token", token, "password", "eleven lamps over tea")
	// the reset has ended her session
	anna.sends("/app/settings/email", "/app/sign-in?back=%2Fapp", "email", "anna@example.com",
		"emailPassword", "eleven lamps over tea")
	anna.sends("/app/sign-in", "/app", "email", "anna@example.org", "password", "eleven lamps over tea")
	anna.sends("/app/settings/email", "/app/settings?done=mail-email", "email", "anna@example.com",
		"emailPassword", "eleven lamps over tea")
	_, text = server.Await(t, "anna@example.com")
	page, token = anna.followed(text)
	anna.sends(page, "/app/settings?done=email", "token", token)
	anna.sends("/app/sign-in", "/app/sign-in", "email", "anna@example.org", "password", "eleven lamps over tea")
	require.NotContains(t, server.To(), "unknown@example.org")
}

// TestMailSettings: what no mail can be sent with is refused.
func TestMailSettings(t *testing.T) {
	for _, tt := range []struct{ sender, from, smtp, public, wrong string }{
		{"", "", "", "", ""},
		{"printed", "", "", "http://127.0.0.1:7071", ""},
		{"printed", "", "", "", "PUBLIC_URL"},
		{"smtp", "a@example.org", "smtps://u:p@smtp.example.org", "https://harmony.example", ""},
		{"smtp", "a@example.org", "smtps://u:p@smtp.example.org", "https://harmony.example/app", "PUBLIC_URL"},
		{"smtp", "a@example.org", "", "https://harmony.example", "SMTP_URL"},
		{"smtp", "Anna <a@example.org>", "smtps://u:p@smtp.example.org", "https://harmony.example", "MAIL_FROM"},
		{"pigeon", "", "", "https://harmony.example", "MAIL_SENDER"},
	} {
		for name, value := range map[string]string{
			"MAIL_SENDER": tt.sender, "MAIL_FROM": tt.from,
			"SMTP_URL": tt.smtp, "PUBLIC_URL": tt.public,
		} {
			t.Setenv(name, value)
		}
		_, err := readSettings()
		if tt.wrong == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, tt.wrong)
		}
	}
	t.Setenv("FUNCTIONS_CUSTOMHANDLER_PORT", "1")
	for name, value := range map[string]string{"MAIL_SENDER": "printed", "PUBLIC_URL": "https://harmony.example"} {
		t.Setenv(name, value)
	}
	_, err := readSettings()
	require.ErrorContains(t, err, "handler local")
}
