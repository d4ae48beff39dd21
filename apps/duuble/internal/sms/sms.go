// Package sms sends a text to a phone number: by Azure Communication Services, or, on a developer's
// machine, by printing it.
package sms

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
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
	endpoint string
	from     string
	key      []byte
	now      func() time.Time
	client   *http.Client
}

// sendWithin is how long the service may take.
const sendWithin = 10 * time.Second

const sendPath = "/sms?api-version=2021-03-07"

// NewACS returns a sender for the resource at an endpoint, with an access key of it, which sends
// from a number of the resource. http is for a loopback address only.
func NewACS(endpoint, from, key string, now func() time.Time) (*ACS, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, errors.New("ACS_ENDPOINT must be the https address of the resource, such as https://NAME.communication.azure.com")
	}
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(secret) == 0 {
		return nil, errors.New("ACS_KEY must be an access key of the resource, in base64")
	}
	if from == "" {
		return nil, errors.New("ACS_FROM must be a number of the resource, such as +18005551234")
	}
	return &ACS{u.Scheme + "://" + u.Host, from, secret, now, &http.Client{Timeout: sendWithin}}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
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
	body, err := json.Marshal(request{From: a.from, SmsRecipients: []recipient{{to, uuid.NewString(), date}}, Message: text})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint+sendPath, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	a.sign(r, date, body)
	resp, err := a.client.Do(r)
	if err != nil {
		return fmt.Errorf("send an SMS: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("send an SMS: the service answered %s", resp.Status)
	}
	var answer struct {
		Value []struct {
			Successful     bool
			HTTPStatusCode int
			ErrorMessage   string
		}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer); err != nil {
		return fmt.Errorf("send an SMS: read the answer: %w", err)
	}
	if len(answer.Value) != 1 || !answer.Value[0].Successful {
		why := "no recipient"
		if len(answer.Value) == 1 {
			why = cmp.Or(answer.Value[0].ErrorMessage, fmt.Sprintf("status %d", answer.Value[0].HTTPStatusCode))
		}
		return errors.New("send an SMS: the service did not send it: " + why)
	}
	return nil
}

// sign signs a request with the access key, as the service documents it.
func (a *ACS) sign(r *http.Request, date string, body []byte) {
	sum := sha256.Sum256(body)
	content := base64.StdEncoding.EncodeToString(sum[:])
	mac := hmac.New(sha256.New, a.key)
	fmt.Fprintf(mac, "POST\n%s\n%s;%s;%s", sendPath, date, r.URL.Host, content)
	r.Header.Set("X-Ms-Date", date)
	r.Header.Set("X-Ms-Content-Sha256", content)
	r.Header.Set("Authorization", "HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature="+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
