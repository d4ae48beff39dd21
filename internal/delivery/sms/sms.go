// Package sms sends a text to a phone number: by Azure Communication Services, or, on a developer's
// machine, by printing it.
package sms

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"prompthub/internal/delivery/acs"
)

// A Sender sends texts.
type Sender interface {
	Send(ctx context.Context, to, text string) error
}

// Printed writes each text to a stream. It is for development: the stream must be that of the
// person who signs in.
type Printed struct{ To io.Writer }

// Send prints a text.
func (p Printed) Send(_ context.Context, to, text string) error {
	_, err := fmt.Fprintf(p.To, "SMS to %s: %s\n", to, text)
	return err
}

// ACS sends by the REST interface of Azure Communication Services.
type ACS struct {
	resource *acs.Resource
	from     string
	now      func() time.Time
}

const sendPath = "/sms?api-version=2021-03-07"

// NewACS returns a sender that sends from a number of a resource.
func NewACS(resource *acs.Resource, from string, now func() time.Time) (*ACS, error) {
	if from == "" {
		return nil, errors.New("ACS_FROM must be a number of the resource, such as +18005551234")
	}
	return &ACS{resource, from, now}, nil
}

type recipient struct {
	To                     string `json:"to"`
	RepeatabilityRequestID string `json:"repeatabilityRequestId"`
	RepeatabilityFirstSent string `json:"repeatabilityFirstSent"`
}

type options struct {
	EnableDeliveryReport bool `json:"enableDeliveryReport"`
}

type request struct {
	From          string      `json:"from"`
	SmsRecipients []recipient `json:"smsRecipients"`
	Message       string      `json:"message"`
	Options       options     `json:"smsSendOptions"`
}

// Send sends a text once.
func (a *ACS) Send(ctx context.Context, to, text string) error {
	date := a.now().UTC().Format(http.TimeFormat)
	answer, err := a.resource.Post(ctx, sendPath,
		request{From: a.from, SmsRecipients: []recipient{{to, uuid.NewString(), date}}, Message: text})
	if err != nil {
		return fmt.Errorf("send an SMS: %w", err)
	}
	if answer.Status != http.StatusAccepted {
		return fmt.Errorf("send an SMS: %w", answer.Refused())
	}
	var sent struct {
		Value []struct {
			Successful     bool
			HTTPStatusCode int
			ErrorMessage   string
		}
	}
	if err := json.Unmarshal(answer.Body, &sent); err != nil {
		return fmt.Errorf("send an SMS: read the answer: %w", err)
	}
	if len(sent.Value) != 1 || !sent.Value[0].Successful {
		why := "no recipient"
		if len(sent.Value) == 1 {
			why = cmp.Or(sent.Value[0].ErrorMessage, fmt.Sprintf("status %d", sent.Value[0].HTTPStatusCode))
		}
		return errors.New("send an SMS: the service did not send it: " + why)
	}
	return nil
}
