// Package mailtest is a server that takes mails by SMTP, for tests.
package mailtest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// A Server keeps what it was sent. Unless it is open to everybody it takes mails of one user only.
type Server struct {
	open bool

	mu       sync.Mutex
	received []string // as they came
	to       []string
}

// NewSession begins a conversation with a client.
func (s *Server) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{Server: s}, nil }

type session struct {
	*Server

	known bool
}

// AuthMechanisms are the ways to sign in.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth signs a client in.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ann@example.org" || password != "s/ecret" {
			return errors.New("wrong user or password")
		}
		s.known = true
		return nil
	}), nil
}

// Mail begins a mail.
func (s *session) Mail(string, *smtp.MailOptions) error {
	if !s.known && !s.open {
		return smtp.ErrAuthRequired
	}
	return nil
}

// Rcpt takes an address.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, Message: "no such mailbox"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, to)
	return nil
}

// Data takes a mail.
func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, string(text))
	return err
}

// Reset forgets a mail that was begun.
func (s *session) Reset() {}

// Logout ends a conversation.
func (s *session) Logout() error { return nil }

// Listen starts a server with TLS from the first byte, after STARTTLS, or without. It returns its
// port and what a client must trust.
func Listen(t *testing.T, how string) (*Server, string, *tls.Config) {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	t.Cleanup(certified.Close)
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	backend := &Server{open: how == "none"}
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

// Received returns the mails that came, as they came.
func (s *Server) Received() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// To returns the addresses of the mails that came.
func (s *Server) To() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.to)
}

// Await returns the text of the first mail to an address that was not returned before, once it has
// come, and its header.
func (s *Server) Await(t *testing.T, to string) (netmail.Header, string) {
	t.Helper()
	var found string
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		i := slices.Index(s.to, to)
		if i < 0 || i >= len(s.received) {
			return false
		}
		found = s.received[i]
		s.received, s.to = slices.Delete(s.received, i, i+1), slices.Delete(s.to, i, i+1)
		return true
	}, 30*time.Second, 10*time.Millisecond, "no mail to %s", to)
	got, err := netmail.ReadMessage(strings.NewReader(found))
	require.NoError(t, err)
	text, err := io.ReadAll(quotedprintable.NewReader(got.Body))
	require.NoError(t, err)
	return got.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
}
