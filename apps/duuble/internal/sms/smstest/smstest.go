// Package smstest is a service that takes texts as Azure Communication Services does, for tests. It
// refuses a request whose signature is not as the service documents it.
package smstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the access key of the resource.
const Key = "c2VjcmV0IG9mIHRoZSByZXNvdXJjZQ=="

// From is its number.
const From = "+18005551234"

// A Service keeps what it was sent.
type Service struct {
	URL string

	mu     sync.Mutex
	texts  map[string]string
	refuse string
}

// New starts a service, which ends with the test.
func New(t *testing.T) *Service {
	t.Helper()
	s := &Service{texts: map[string]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Last returns the last text to a number.
func (s *Service) Last(to string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[to]
}

// Refuse has the service take requests and send nothing from now on.
func (s *Service) Refuse(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = why
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !signed(r, body) {
		http.Error(w, "denied", http.StatusUnauthorized)
		return
	}
	var sent struct {
		From          string
		SmsRecipients []struct{ To, RepeatabilityRequestID, RepeatabilityFirstSent string }
		Message       string
	}
	if json.Unmarshal(body, &sent) != nil || sent.From != From || len(sent.SmsRecipients) != 1 || sent.SmsRecipients[0].RepeatabilityRequestID == "" || sent.Message == "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to := sent.SmsRecipients[0].To
	if s.refuse == "" {
		s.texts[to] = sent.Message
	}
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(map[string]any{"value": []any{map[string]any{
		"to": to, "messageId": "1", "httpStatusCode": 202, "successful": s.refuse == "", "errorMessage": s.refuse,
	}}})
}

// signed checks the signature, step by step as the service documents it: the headers that the
// Authorization header names, in its order, with their values.
func signed(r *http.Request, body []byte) bool {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "HMAC-SHA256 SignedHeaders=")
	names, signature, both := strings.Cut(rest, "&Signature=")
	sum := sha256.Sum256(body)
	date, err := http.ParseTime(r.Header.Get("x-ms-date"))
	if !ok || !both || names != "x-ms-date;host;x-ms-content-sha256" || err != nil || time.Since(date).Abs() > 5*time.Minute ||
		r.Header.Get("x-ms-content-sha256") != base64.StdEncoding.EncodeToString(sum[:]) {
		return false
	}
	var values []string
	for name := range strings.SplitSeq(names, ";") {
		if name == "host" {
			values = append(values, r.Host)
		} else {
			values = append(values, r.Header.Get(name))
		}
	}
	key, err := base64.StdEncoding.DecodeString(Key)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.Method + "\n" + r.URL.RequestURI() + "\n" + strings.Join(values, ";")))
	return signature == base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
