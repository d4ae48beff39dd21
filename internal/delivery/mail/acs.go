package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"prompthub/internal/delivery/acs"
)

// ACS sends by the REST interface of Azure Communication Services.
type ACS struct {
	resource *acs.Resource
	from     string
}

const mailPath = "/emails:send?api-version=2023-03-31"

// NewACS returns a sender that sends from an address of a domain that is linked to a resource.
func NewACS(resource *acs.Resource, from string) (*ACS, error) {
	if !IsAddress(from) {
		return nil,
			errors.New(
				"MAIL_FROM must be an address of a domain that is linked to the resource, such as DoNotReply@DOMAIN")
	}
	return &ACS{resource, from}, nil
}

type mailbox struct {
	Address string `json:"address"`
}

type recipients struct {
	To []mailbox `json:"to"`
}

type content struct {
	Subject   string `json:"subject"`
	PlainText string `json:"plainText"`
}

type request struct {
	SenderAddress string     `json:"senderAddress"`
	Recipients    recipients `json:"recipients"`
	Content       content    `json:"content"`

	Headers map[string]string `json:"headers,omitempty"`
}

// Send hands a mail to the service and waits until it has taken it over.
func (a *ACS) Send(ctx context.Context, m Message) error {
	if err := m.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	answer, err := a.resource.Post(ctx, mailPath,
		request{a.from, recipients{[]mailbox{{m.To}}}, content{m.Subject, m.Text}, m.headers()})
	if err != nil {
		return fmt.Errorf("send a mail: %w", err)
	}
	if answer.Status != http.StatusAccepted {
		return fmt.Errorf("send a mail: %w", answer.Refused())
	}
	operation := answer.Header.Get("Operation-Location")
	for {
		if err := pause(ctx, answer.Header); err != nil {
			return fmt.Errorf("send a mail: the service did not say in time what became of it: %w", err)
		}
		if answer, err = a.resource.Get(ctx, operation); err != nil {
			return fmt.Errorf("send a mail: %w", err)
		}
		if answer.Status != http.StatusOK {
			return fmt.Errorf("send a mail: %w", answer.Refused())
		}
		var sent struct {
			Status string
			Error  struct{ Message string }
		}
		if err := json.Unmarshal(answer.Body, &sent); err != nil {
			return fmt.Errorf("send a mail: read the answer: %w", err)
		}
		switch sent.Status {
		case "Succeeded":
			return nil
		case "NotStarted", "Running":
		default:
			return fmt.Errorf("send a mail: the service did not send it: %.50s %.300s", sent.Status, sent.Error.Message)
		}
	}
}

const (
	leastPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// pause waits as long as an answer asks for.
func pause(ctx context.Context, header http.Header) error {
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if err != nil {
		seconds = 1
	}
	timer := time.NewTimer(min(max(time.Duration(seconds)*time.Second, leastPause), mostPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
