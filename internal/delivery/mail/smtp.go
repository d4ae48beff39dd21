package mail

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	gomail "github.com/wneessen/go-mail"

	"prompthub/internal/loopback"
)

// SMTP sends by a server that takes mails for others to deliver.
type SMTP struct {
	host    string
	options []gomail.Option
	from    string
}

// NewSMTP returns a sender by the server at an address: smtp://USER:PASSWORD@HOST, which must offer
// STARTTLS, or smtps://, with TLS from the first byte. The port is 587 or 465 unless it is given.
// Only a server on a loopback address may do without TLS, and then without a password. It sends
// nothing.
func NewSMTP(address, from string) (*SMTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" ||
		u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		// it is not told: it has a password
		return nil, errors.New("SMTP_URL must be an address such as smtps://USER:PASSWORD@smtp.example.org")
	}
	if !IsAddress(from) {
		return nil, errors.New("MAIL_FROM must be an address such as no-reply@example.org")
	}
	port := 587
	if u.Scheme == "smtps" {
		port = 465
	}
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return nil, errors.New("SMTP_URL: the port must be 1 to 65535")
		}
	}
	s := &SMTP{
		host: u.Hostname(), from: from,
		options: []gomail.Option{gomail.WithPort(port), gomail.WithTimeout(sendWithin)},
	}
	switch {
	case u.Scheme == "smtps":
		s.options = append(s.options, gomail.WithSSL())
	case loopback.IsHost(u.Hostname()):
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		s.options = append(s.options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(u.User.Username()), gomail.WithPassword(password))
	}
	if _, err := gomail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("SMTP_URL: %w", err)
	}
	return s, nil
}

// Send hands a mail to the server.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	if err := m.check(); err != nil {
		return err
	}
	msg := gomail.NewMsg()
	err := msg.From(s.from)
	if err == nil {
		err = msg.To(m.To)
	}
	if err != nil {
		return fmt.Errorf("send a mail: %w", err)
	}
	msg.Subject(m.Subject)
	msg.SetDate()
	msg.SetMessageID()
	for name, value := range m.headers() {
		msg.SetGenHeaderPreformatted(gomail.Header(name), value)
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	client, err := gomail.NewClient(s.host, s.options...) // one for each mail: a client has one connection
	if err != nil {
		return fmt.Errorf("send a mail: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("send a mail: %w", err)
	}
	return nil
}
