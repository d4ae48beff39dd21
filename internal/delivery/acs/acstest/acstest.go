// Package acstest is a service that takes texts and mails as Azure Communication Services does, for
// tests. It refuses a request without the token that its Tokens hands out.
package acstest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"prompthub/internal/delivery/acs"
)

// From is the number of the resource, and Mailbox its address of mail.
const (
	From    = "+18005551234"
	Mailbox = "DoNotReply@example.azurecomm.net"
)

// A Service keeps what it was sent.
type Service struct {
	URL string

	mu        sync.Mutex
	texts     map[string]string
	mails     map[string]Mail
	refuse    string
	running   int // answers of an operation that say that it still runs
	elsewhere string
}

// A Mail is one that was sent.
type Mail struct{ Subject, Text, Unsubscribe string }

// token is what the identity with this id has, which may send.
const (
	token    = "token-of-the-application"
	clientID = "11111111-2222-3333-4444-555555555555"
)

// New starts a service, which ends with the test.
func New(t *testing.T) *Service {
	t.Helper()
	s := &Service{texts: map[string]string{}, mails: map[string]Mail{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sms", s.sms)
	mux.HandleFunc("POST /emails:send", s.mail)
	mux.HandleFunc("GET /emails/operations/{id}", s.operation)
	// As the platform has it for managed identities of function apps.
	mux.HandleFunc("GET /identity", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-IDENTITY-HEADER") != "secret" || r.FormValue("client_id") != clientID ||
			r.FormValue("resource")+"/.default" != acs.Scope {
			http.Error(w, "no such identity", http.StatusBadRequest)
			return
		}
		answer(w, http.StatusOK, map[string]string{
			"access_token": token, "token_type": "Bearer",
			"expires_on": "4102444800", "resource": r.FormValue("resource"),
		})
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/identity" && r.Header.Get("Authorization") != "Bearer "+token {
			answer(w, http.StatusForbidden,
				map[string]any{"error": map[string]string{
					"code":    "Denied",
					"message": "Denied by the resource provider.",
				}})
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Tokens hands out the token of an identity that may send.
func Tokens(_ context.Context, scope string) (string, error) {
	if scope != acs.Scope {
		return "", errors.New("no token for " + scope)
	}
	return token, nil
}

// Identity returns the settings by which a program finds the identity, as the platform and
// the template of the application set them.
func (s *Service) Identity() []string {
	return []string{
		"IDENTITY_ENDPOINT=" + s.URL + "/identity", "IDENTITY_HEADER=secret",
		"AzureWebJobsStorage__credential=managedidentity", "AzureWebJobsStorage__clientId=" + clientID,
	}
}

// Last returns the last text to a number.
func (s *Service) Last(to string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[to]
}

// LastMail returns the last mail to an address.
func (s *Service) LastMail(to string) Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mails[to]
}

// Refuse has the service take requests and send nothing from now on.
func (s *Service) Refuse(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = why
}

// Run has the service answer a number of times that it is still sending a mail.
func (s *Service) Run(times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = times
}

// Lead has the service name an address for what became of a mail.
func (s *Service) Lead(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.elsewhere = address
}

func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

func (s *Service) sms(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		From          string
		SmsRecipients []struct{ To, RepeatabilityRequestID, RepeatabilityFirstSent string }
		Message       string
	}
	if json.NewDecoder(r.Body).Decode(&sent) != nil || r.FormValue("api-version") == "" || sent.From != From ||
		len(sent.SmsRecipients) != 1 ||
		sent.SmsRecipients[0].RepeatabilityRequestID == "" || sent.SmsRecipients[0].RepeatabilityFirstSent == "" ||
		sent.Message == "" {
		answer(w, http.StatusBadRequest, nil)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to := sent.SmsRecipients[0].To
	if s.refuse == "" {
		s.texts[to] = sent.Message
	}
	answer(w, http.StatusAccepted, map[string]any{"value": []any{map[string]any{
		"to": to, "messageId": "1", "httpStatusCode": 202, "successful": s.refuse == "", "errorMessage": s.refuse,
	}}})
}

func (s *Service) mail(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		SenderAddress string
		Recipients    struct{ To []struct{ Address string } }
		Content       struct{ Subject, PlainText string }
		Headers       map[string]string
	}
	if json.NewDecoder(r.Body).Decode(&sent) != nil || r.FormValue("api-version") == "" ||
		sent.SenderAddress != Mailbox ||
		len(sent.Recipients.To) != 1 || sent.Content.Subject == "" || sent.Content.PlainText == "" {
		answer(w, http.StatusBadRequest,
			map[string]any{"error": map[string]string{"code": "InvalidSenderUserName", "message": "Invalid sender."}})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse == "" {
		s.mails[sent.Recipients.To[0].Address] = Mail{
			sent.Content.Subject, sent.Content.PlainText,
			sent.Headers["List-Unsubscribe"],
		}
	}
	at := s.URL + "/emails/operations/1?api-version=2023-03-31"
	if s.elsewhere != "" {
		at = s.elsewhere
	}
	w.Header().Set("Operation-Location", at)
	w.Header().Set("Retry-After", "0")
	answer(w, http.StatusAccepted, map[string]string{"id": "1", "status": "Running"})
}

func (s *Service) operation(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.running > 0:
		s.running--
		w.Header().Set("Retry-After", "0")
		answer(w, http.StatusOK, map[string]string{"id": "1", "status": "Running"})
	case s.refuse != "":
		answer(w, http.StatusOK, map[string]any{
			"id": "1", "status": "Failed",
			"error": map[string]string{"code": "EmailDropped", "message": s.refuse},
		})
	default:
		answer(w, http.StatusOK, map[string]string{"id": "1", "status": "Succeeded"})
	}
}
