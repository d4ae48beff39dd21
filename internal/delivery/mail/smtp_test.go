package mail

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
	gomail "github.com/wneessen/go-mail"
)

// A server keeps what it was sent. Unless it is open to everybody it takes mails of one user only.
type server struct {
	open bool

	mu       sync.Mutex
	received []string // as they came
	to       []string
}

func (s *server) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }

type session struct {
	*server

	known bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ann@example.org" || password != "s/ecret" {
			return errors.New("wrong user or password")
		}
		s.known = true
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if !s.known && !s.open {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, Message: "no such mailbox"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, string(text))
	return err
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// listen starts a server with TLS from the first byte, after STARTTLS, or without. It returns its
// port and what a client must trust.
func listen(t *testing.T, how string) (*server, string, *tls.Config) {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	t.Cleanup(certified.Close)
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	backend := &server{open: how == "none"}
	s := smtp.NewServer(backend)
	s.AllowInsecureAuth, s.EnableSMTPUTF8 = true, true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	switch how {
	case "tls":
		l = tls.NewListener(l, certified.TLS)
	case "starttls":
		s.TLSConfig = certified.TLS
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.NoError(t, <-done)
	})
	return backend, port, &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
}

// TestSMTP: a mail arrives as it was sent, by each way that a server offers.
func TestSMTP(t *testing.T) {
	t.Parallel()
	m := Message{To: "bob@example.org", Subject: "Your code – 123456", Text: "It is good for 10 minutes.\n.\nGrüße"}
	for how, address := range map[string]string{"tls": "smtps://ann%40example.org:s%2Fecret@", "starttls": "smtp://ann%40example.org:s%2Fecret@", "none": "smtp://"} {
		backend, port, trust := listen(t, how)
		s, err := NewSMTP(address+"127.0.0.1:"+port, "no-reply@example.org")
		require.NoError(t, err)
		s.options = append(s.options, gomail.WithTLSConfig(trust))
		require.NoError(t, s.Send(t.Context(), m), how)
		require.Len(t, backend.received, 1)
		require.Equal(t, []string{"bob@example.org"}, backend.to)
		got, err := netmail.ReadMessage(strings.NewReader(backend.received[0]))
		require.NoError(t, err)
		require.Equal(t, "<no-reply@example.org>", got.Header.Get("From"))
		require.NotEmpty(t, got.Header.Get("Message-Id"))
		subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
		require.NoError(t, err)
		require.Equal(t, m.Subject, subject)
		require.Equal(t, "quoted-printable", got.Header.Get("Content-Transfer-Encoding"))
		text, err := io.ReadAll(quotedprintable.NewReader(got.Body))
		require.NoError(t, err)
		require.Equal(t, m.Text, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))

		require.ErrorContains(t, s.Send(t.Context(), Message{To: "nobody@example.org", Subject: "x", Text: "x"}), "no such mailbox")
		if how == "none" { // which asks for no password
			continue
		}
		wrong, err := NewSMTP(strings.Replace(address, "s%2Fecret", "other", 1)+"127.0.0.1:"+port, "no-reply@example.org")
		require.NoError(t, err)
		wrong.options = append(wrong.options, gomail.WithTLSConfig(trust))
		err = wrong.Send(t.Context(), m)
		require.ErrorContains(t, err, "wrong user or password")
		require.NotContains(t, err.Error(), "other")
		require.Len(t, backend.received, 1)
	}
}

// TestSMTPWithoutTLS: to a server elsewhere nothing is sent without TLS, the password least of all.
func TestSMTPWithoutTLS(t *testing.T) {
	t.Parallel()
	backend, port, _ := listen(t, "none")
	s, err := NewSMTP("smtp://ann%40example.org:s%2Fecret@smtp.example.org:"+port, "no-reply@example.org")
	require.NoError(t, err)
	s.host = "127.0.0.1" // where the name would lead
	require.ErrorContains(t, s.Send(t.Context(), Message{To: "bob@example.org", Subject: "x", Text: "x"}), "STARTTLS")
	require.Empty(t, backend.received)
	require.Empty(t, backend.to)
}
