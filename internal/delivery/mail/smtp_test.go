package mail

import (
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	gomail "github.com/wneessen/go-mail"

	"prompthub/internal/delivery/mail/mailtest"
)

// TestSMTP: a mail arrives as it was sent, by each way that a server offers.
func TestSMTP(t *testing.T) {
	t.Parallel()
	m := Message{
		To: "bob@example.org", Subject: "Your code – 123456", Text: "It is good for 10 minutes.\n.\nGrüße",
		Unsubscribe: "https://example.org/stop?token=" + strings.Repeat("x", 100),
	}
	for how, address := range map[string]string{
		"tls":      "smtps://ann%40example.org:s%2Fecret@",
		"starttls": "smtp://ann%40example.org:s%2Fecret@", "none": "smtp://",
	} {
		backend, port, trust := mailtest.Listen(t, how)
		s, err := NewSMTP(address+"127.0.0.1:"+port, "no-reply@example.org")
		require.NoError(t, err)
		s.options = append(s.options, gomail.WithTLSConfig(trust))
		require.NoError(t, s.Send(t.Context(), m), how)
		require.Len(t, backend.Received(), 1)
		require.Equal(t, []string{"bob@example.org"}, backend.To())
		got, err := netmail.ReadMessage(strings.NewReader(backend.Received()[0]))
		require.NoError(t, err)
		require.Equal(t, "<no-reply@example.org>", got.Header.Get("From"))
		require.NotEmpty(t, got.Header.Get("Message-Id"))
		require.Equal(t, "<"+m.Unsubscribe+">", got.Header.Get("List-Unsubscribe"))
		require.Equal(t, "List-Unsubscribe=One-Click", got.Header.Get("List-Unsubscribe-Post"))
		subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
		require.NoError(t, err)
		require.Equal(t, m.Subject, subject)
		require.Equal(t, "quoted-printable", got.Header.Get("Content-Transfer-Encoding"))
		text, err := io.ReadAll(quotedprintable.NewReader(got.Body))
		require.NoError(t, err)
		require.Equal(t, m.Text, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))

		require.ErrorContains(t, s.Send(t.Context(), Message{To: "nobody@example.org", Subject: "x", Text: "x"}),
			"no such mailbox")
		if how == "none" { // which asks for no password
			continue
		}
		wrong, err := NewSMTP(strings.Replace(address, "s%2Fecret", "other", 1)+"127.0.0.1:"+port,
			"no-reply@example.org")
		require.NoError(t, err)
		wrong.options = append(wrong.options, gomail.WithTLSConfig(trust))
		err = wrong.Send(t.Context(), m)
		require.ErrorContains(t, err, "wrong user or password")
		require.NotContains(t, err.Error(), "other")
		require.Len(t, backend.Received(), 1)
	}
}

// TestSMTPWithoutTLS: to a server elsewhere nothing is sent without TLS, the password least of all.
func TestSMTPWithoutTLS(t *testing.T) {
	t.Parallel()
	backend, port, _ := mailtest.Listen(t, "none")
	s, err := NewSMTP("smtp://ann%40example.org:s%2Fecret@smtp.example.org:"+port, "no-reply@example.org")
	require.NoError(t, err)
	s.host = "127.0.0.1" // where the name would lead
	require.ErrorContains(t, s.Send(t.Context(), Message{To: "bob@example.org", Subject: "x", Text: "x"}), "STARTTLS")
	require.Empty(t, backend.Received())
	require.Empty(t, backend.To())
}
