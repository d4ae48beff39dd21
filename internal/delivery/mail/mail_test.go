package mail_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/delivery/acs"
	"prompthub/internal/delivery/acs/acstest"
	"prompthub/internal/delivery/mail"
)

var hello = mail.Message{
	To: "ann@example.org", Subject: "Your code – 123456",
	Text: "It is good for 10 minutes.\n.\nGrüße", Unsubscribe: "https://example.org/stop",
}

// sender returns a sender by a service that takes mails as Azure Communication Services does.
func sender(t *testing.T, service *acstest.Service, from string) *mail.ACS {
	t.Helper()
	resource, err := acs.New(service.URL, acstest.Tokens)
	require.NoError(t, err)
	s, err := mail.NewACS(resource, from)
	require.NoError(t, err)
	return s
}

// TestACS: a mail is sent when the service says so, however often it says that it is still at work.
func TestACS(t *testing.T) {
	t.Parallel()
	service := acstest.New(t)
	service.Run(2)
	require.NoError(t, sender(t, service, acstest.Mailbox).Send(t.Context(), hello))
	require.Equal(t, acstest.Mail{Subject: hello.Subject, Text: hello.Text, Unsubscribe: "<" + hello.Unsubscribe + ">"},
		service.LastMail(hello.To))

	require.ErrorContains(t, sender(t, service, "other@example.org").Send(t.Context(), hello), "InvalidSenderUserName")

	service.Refuse("the domain does not exist")
	err := sender(t, service, acstest.Mailbox).Send(t.Context(),
		mail.Message{To: "bob@example.org", Subject: "Code", Text: "654321"})
	require.ErrorContains(t, err, "the domain does not exist")
	require.NotContains(t, err.Error(), "654321")
}

// TestACSGivesUp: a service that never ends is waited for as long as the caller has time.
func TestACSGivesUp(t *testing.T) {
	t.Parallel()
	service := acstest.New(t)
	service.Run(1 << 30)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, sender(t, service, acstest.Mailbox).Send(ctx, hello), context.DeadlineExceeded)
}

// TestTokenStaysWithTheResource: an address that the service names, and that is not its own, is not
// asked.
func TestTokenStaysWithTheResource(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	stranger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
	}))
	t.Cleanup(stranger.Close)
	service := acstest.New(t)
	for _, address := range []string{
		stranger.URL + "/emails/operations/1", service.URL + ".example.org/",
		"/emails/operations/1", "x",
	} {
		service.Lead(address)
		require.ErrorContains(t, sender(t, service, acstest.Mailbox).Send(t.Context(), hello), "not its own")
	}
	redirect := httptest.NewServer(http.RedirectHandler(stranger.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirect.Close)
	resource, err := acs.New(redirect.URL, acstest.Tokens)
	require.NoError(t, err)
	s, err := mail.NewACS(resource, acstest.Mailbox)
	require.NoError(t, err)
	require.ErrorContains(t, s.Send(t.Context(), hello), "307")
	require.Empty(t, asked)
}

// TestMessagesThatAreNone: each is refused by every sender before anything is sent.
func TestMessagesThatAreNone(t *testing.T) {
	t.Parallel()
	service := acstest.New(t)
	smtp, err := mail.NewSMTP("smtp://127.0.0.1:1", "a@example.org")
	require.NoError(t, err)
	var printed strings.Builder
	for name, bad := range map[string]mail.Message{
		"no address":           {To: "", Subject: "s", Text: "t"},
		"a name":               {To: "Ann <ann@example.org>", Subject: "s", Text: "t"},
		"two addresses":        {To: "ann@example.org,bob@example.org", Subject: "s", Text: "t"},
		"a line in an address": {To: "ann@example.org\r\nBcc: bob@example.org", Subject: "s", Text: "t"},
		"a long address":       {To: strings.Repeat("a", 250) + "@example.org", Subject: "s", Text: "t"},
		"no subject":           {To: "ann@example.org", Text: "t"},
		"a line in a subject":  {To: "ann@example.org", Subject: "s\r\nBcc: bob@example.org", Text: "t"},
		"a long subject":       {To: "ann@example.org", Subject: strings.Repeat("s", 201), Text: "t"},
		"no text":              {To: "ann@example.org", Subject: "s"},
		"a long text":          {To: "ann@example.org", Subject: "s", Text: strings.Repeat("t", 64<<10+1)},
		"a line in a header": {
			To: "ann@example.org", Subject: "s", Text: "t",
			Unsubscribe: "https://example.org/x\r\nBcc: bob@example.org",
		},
		"no UTF-8": {To: "ann@example.org", Subject: "s", Text: "\xff"},
	} {
		for _, s := range []mail.Sender{sender(t, service, acstest.Mailbox), smtp, mail.Printed{To: &printed}} {
			require.ErrorContains(t, s.Send(t.Context(), bad), "send a mail: ", name)
		}
	}
	require.Empty(t, service.LastMail("ann@example.org"))
	require.Empty(t, printed.String())
	require.NoError(t, mail.Printed{To: &printed}.Send(t.Context(), hello))
	require.Contains(t, printed.String(), "123456")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, bad := range [][2]string{
		{"", "a@example.org"},
		{"http://example.org", "a@example.org"},
		{"smtp://", "a@example.org"},
		{"smtp://ann:secret@example.org/x", "a@example.org"},
		{"smtp://ann:secret@example.org?x=1", "a@example.org"},
		{"smtp://ann:secret@example.org:99999", "a@example.org"},
		{"smtp://ann:secret@example.org", "Ann <a@example.org>"},
		{"smtp://ann:secret@example.org", ""},
	} {
		_, err := mail.NewSMTP(bad[0], bad[1])
		require.Error(t, err, bad)
		require.NotContains(t, err.Error(), "secret")
	}
	for _, good := range []string{
		"smtp://example.org", "smtps://ann:secret@example.org",
		"smtp://ann%40example.org:s%2Fecret@example.org:2525/",
	} {
		_, err := mail.NewSMTP(good, "a@example.org")
		require.NoError(t, err)
	}
}
