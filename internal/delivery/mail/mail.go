// Package mail sends a mail to one person: by Azure Communication Services, by any SMTP server, or,
// on a developer's machine, by printing it.
package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	netmail "net/mail"
	"strings"
	"time"
	"unicode/utf8"
)

// A Message is plain text to one address.
type Message struct {
	To      string // an address without a name, such as ann@example.org
	Subject string // one line, up to 200 characters
	Text    string // up to 64 KiB

	// Unsubscribe is an https address that ends mails of this kind by a POST without a session, as RFC
	// 8058 has it; "" for a mail that cannot be ended.
	Unsubscribe string
}

// headers returns the headers by which one press in a mail program ends such mails.
func (m Message) headers() map[string]string {
	if m.Unsubscribe == "" {
		return nil
	}
	return map[string]string{
		"List-Unsubscribe":      "<" + m.Unsubscribe + ">",
		"List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	}
}

// A Sender sends mails. It must be safe for concurrent use.
type Sender interface {
	// Send returns when a server has taken the message, which is no promise that it arrives.
	Send(ctx context.Context, m Message) error
}

// sendWithin is how long the servers may take for a message, all steps together.
const sendWithin = 30 * time.Second

const (
	maxSubject = 200
	maxText    = 64 << 10
)

// check refuses a message that a server would refuse, or read otherwise than it is meant.
func (m Message) check() error {
	if !IsAddress(m.To) {
		return fmt.Errorf("send a mail: %.200q is not an address such as ann@example.org", m.To)
	}
	if m.Subject == "" || utf8.RuneCountInString(m.Subject) > maxSubject || !utf8.ValidString(m.Subject) ||
		strings.ContainsFunc(m.Subject, isControl) {
		return errors.New("send a mail: its subject must be one line of 1 to 200 characters")
	}
	if m.Text == "" || len(m.Text) > maxText || !utf8.ValidString(m.Text) {
		return errors.New("send a mail: its text must have 1 byte to 64 KiB of UTF-8")
	}
	if strings.ContainsFunc(m.Unsubscribe, func(r rune) bool { return r <= ' ' || r > '~' || r == '<' || r == '>' }) {
		return errors.New("send a mail: the address that ends such mails must be a URL")
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// IsAddress reports whether s is the address of a mailbox and nothing else, of up to 254 bytes.
func IsAddress(s string) bool {
	a, err := netmail.ParseAddress(s)
	return err == nil && a.Address == s && a.Name == "" && len(s) <= 254 && !strings.ContainsFunc(s, isControl)
}

// Printed writes each mail to a stream, for development.
type Printed struct{ To io.Writer }

// Send prints a mail.
func (p Printed) Send(_ context.Context, m Message) error {
	if err := m.check(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.To, "Mail to %s: %s\n%s\n", m.To, m.Subject, m.Text)
	return err
}
