package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"prompthub/internal/fault"
)

const (
	fetchTime   = 5 * time.Second // for one document of an issuer
	maxDocument = 256 << 10
	firstRetry  = time.Second
	lastRetry   = 30 * time.Second
	calm        = 10 * time.Second // between two fetches that went well
)

// A link fetches documents of an issuer, which are JSON objects. Any status but 200 is an error, a
// redirect too: documents are where the issuer says.
type link struct{ transport http.RoundTripper }

// RoundTrip returns an answer that was read to its end, or the error.
func (l *link) RoundTrip(r *http.Request) (*http.Response, error) {
	// A timeout of the client would make a text of every error.
	ctx, cancel := context.WithTimeout(r.Context(), fetchTime)
	defer cancel()
	resp, err := l.transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	var object map[string]json.RawMessage
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &object) != nil {
		return nil, fmt.Errorf("answered %s with %d bytes, want 200 with a JSON object of less than %d",
			resp.Status, len(body), maxDocument)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// paced is a transport that keeps a pace.
type paced struct {
	transport http.RoundTripper
	pace      *pace
}

// RoundTrip passes a request on unless it is too early.
func (p *paced) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := p.pace.ready(); err != nil {
		return nil, err
	}
	resp, err := p.transport.RoundTrip(r)
	if err := p.pace.done(err); err != nil {
		return nil, err
	}
	return resp, nil
}

// A pace spaces out the fetches of one document, more so while they fail.
type pace struct {
	now func() time.Time

	mu       sync.Mutex
	next     time.Time // no fetch before it
	failures int       // in a row
	err      error     // why the last fetch failed
}

// errTooSoon says that the document was fetched a moment ago.
var errTooSoon = errors.New("fetched a moment ago")

// ready returns nil where a fetch may begin, else errTooSoon or, of the kind Unavailable, why the
// last one failed.
func (p *pace) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := p.next.Sub(p.now())
	switch {
	case wait <= 0:
		return nil
	case p.err != nil:
		return unavailable(p.err, wait)
	}
	return errTooSoon
}

// done takes note of how a fetch ended. It returns the error with the kind Unavailable.
func (p *pace) done(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		return p.failed(err)
	}
	p.err, p.failures, p.next = nil, 0, p.now().Add(calm)
	return nil
}

// useless takes note that the last fetch brought nothing of use. Only the first of the callers that
// waited for it delays the next fetch.
func (p *pace) useless(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return p.failed(err)
	}
	return unavailable(p.err, max(0, p.next.Sub(p.now())))
}

// failed delays the next fetch. The caller holds the lock.
func (p *pace) failed(err error) error {
	delay := min(firstRetry<<min(p.failures, 10), lastRetry)
	p.err, p.next = err, p.now().Add(delay)
	p.failures++
	return unavailable(err, delay)
}

func unavailable(cause error, retry time.Duration) *fault.Error {
	return &fault.Error{
		Kind: fault.Unavailable, Text: "the identity provider does not answer: try again in a moment",
		RetryAfter: retry, Cause: cause,
	}
}
