// Package acs sends requests to a resource of Azure Communication Services. The resource knows the
// application by its identity: there is no key.
package acs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"prompthub/internal/loopback"
)

// Scope is what a token must be for.
const Scope = "https://communication.azure.com//.default" // with two slashes, as Microsoft's SDKs have it

// A Tokens returns an access token of the application for a scope.
type Tokens func(ctx context.Context, scope string) (string, error)

// A Resource is one resource of Communication Services.
type Resource struct {
	endpoint string
	tokens   Tokens
	client   *http.Client
}

const (
	answerWithin = 10 * time.Second
	maxAnswer    = 1 << 20
)

// New returns the resource at an endpoint. http is for a loopback address only. It sends nothing.
func New(endpoint string, tokens Tokens) (*Resource, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil ||
		u.Scheme != "https" && (u.Scheme != "http" || !loopback.IsHost(u.Hostname())) {
		return nil,
			errors.New("ACS_ENDPOINT must be the https address of the resource, such as https://NAME.communication.azure.com")
	}
	client := &http.Client{
		Timeout: answerWithin,
		// a token goes to the resource alone
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Resource{u.Scheme + "://" + u.Host, tokens, client}, nil
}

// An Answer is what the resource answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // up to 1 MiB
}

// Post sends a document to a path of the resource. It sends it once.
func (r *Resource) Post(ctx context.Context, path string, document any) (Answer, error) {
	body, err := json.Marshal(document)
	if err != nil {
		return Answer{}, err
	}
	return r.send(ctx, http.MethodPost, r.endpoint+path, bytes.NewReader(body))
}

// Get reads an address that an answer of the resource named. Another's is refused: it would get the
// token.
func (r *Resource) Get(ctx context.Context, address string) (Answer, error) {
	if !strings.HasPrefix(address, r.endpoint+"/") {
		return Answer{}, fmt.Errorf("the service named the address %.200q, which is not its own", address)
	}
	return r.send(ctx, http.MethodGet, address, http.NoBody)
}

func (r *Resource) send(ctx context.Context, method, address string, body io.Reader) (Answer, error) {
	token, err := r.tokens(ctx, Scope)
	if err != nil {
		return Answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return Answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := r.client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Answer{}, fmt.Errorf("read the answer: %w", err)
	}
	return Answer{resp.StatusCode, resp.Header, text}, nil
}

// Refused returns the error of an answer that was not expected, with the reason in its body. The
// body holds no part of the message.
func (a Answer) Refused() error {
	var said struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(a.Body, &said)
	why := ""
	if said.Error.Code != "" {
		why = fmt.Sprintf(" (%s: %.300s)", said.Error.Code, said.Error.Message)
	}
	hint := ""
	switch a.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = "; give the identity of the application the role Communication and Email Service Owner on the resource"
	}
	return fmt.Errorf("the service answered %d %s%s%s", a.Status, http.StatusText(a.Status), why, hint)
}
