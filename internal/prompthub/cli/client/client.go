// Package client is the other end of the HTTP API: it creates prompts out of a file and
// reads the caller's own. It owns the formats of those files and how patient a caller is with
// a service that is busy, starting or away for a moment.
//
// It knows the service by its API alone, so it works with any deployment.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	strictjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Parallel is how many requests import and export have on their way at once.
const Parallel = 8

const (
	root     = "/api/v1"
	callTime = time.Minute // limit of one request
	// bytes of an answer: the longest is a part of an account, which ends after twenty versions
	// with their files
	maxBody = 64 << 20
)

// Config says whom to call, and as whom.
type Config struct {
	URL   string       // of the deployment, without the path of the API
	Token string       // a bearer token; empty sends none
	User  string       // the name in X-Dev-User, for services in dev mode; empty sends none
	HTTP  *http.Client // nil makes one that is fit for the purpose
	// Workspace is the handle of a workspace whose prompts take the place of the caller's own; empty
	// for none
	Workspace string
}

// A Client calls one deployment. Its methods may be called at once from many goroutines.
type Client struct {
	base      string
	token     string
	user      string
	workspace string
	http      *http.Client
}

// New returns a client. It sends nothing.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not an http or https address, such as %s", c.URL, example(c.URL))
	}
	if c.HTTP == nil {
		c.HTTP = newHTTP()
	}
	// the path is known, and may be given
	service := strings.TrimSuffix(strings.TrimRight(c.URL, "/"), root)
	return &Client{base: service + root, token: c.Token, user: c.User, workspace: c.Workspace, http: c.HTTP}, nil
}

// example returns what somebody may have meant who left out the scheme.
func example(address string) string {
	if u, err := url.Parse("http://" + address); err == nil && u.Hostname() != "" && !strings.Contains(address, "://") {
		return "http://" + address
	}
	return "https://prompts.example.com"
}

// URL returns the address of the deployment.
func (c *Client) URL() string { return strings.TrimSuffix(c.base, root) }

func newHTTP() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = Parallel
	return &http.Client{
		Transport: t,
		Timeout:   callTime,
		// A redirected POST would become a GET, and the token would go to somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// A call is one request, as often as it takes.
type call struct {
	method string
	path   string
	user   string // instead of the client's
	key    string // Idempotency-Key
	match  string // If-Match
	accept string // another type than JSON
	body   []byte
}

// encode returns the body of a call. Text that is not UTF-8 is refused: encoding/json sends another
// text.
func encode(v any) ([]byte, error) {
	b, err := strictjson.Marshal(v, jsonv1.DefaultOptionsV1(), jsontext.AllowInvalidUTF8(false))
	if err != nil {
		return nil, fmt.Errorf("what would be sent cannot be: %w", err)
	}
	return b, nil
}

// An answer is what the service said in the end.
type answer struct {
	status     int
	retryAfter string
	location   string
	link       string
	loss       string // what a file cannot hold
	body       []byte
}

// ask makes a call. The error is a *Problem where the service refused.
func (c *Client) ask(ctx context.Context, k call) (answer, error) {
	a, err := c.patiently(ctx, k)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return answer{}, fmt.Errorf(
			"nothing listens at %s: is the service running there? --url or PROMPTHUB_URL names another address (%w)",
			c.URL(), err)
	case err != nil:
		return answer{}, fmt.Errorf("%s %s: %w", k.method, c.base+k.path, err)
	case a.isElsewhere():
		return a, &Problem{Status: a.status, Detail: "there is no PromptHub at " + c.URL() +
			": give the address of the service alone, without a page's path"}
	}
	if a.status < 200 || a.status > 299 {
		return a, a.problem()
	}
	return a, nil
}

// do makes a call and stores the answer in v, unless that is nil.
func (c *Client) do(ctx context.Context, k call, v any) (status int, err error) {
	a, err := c.ask(ctx, k)
	if err != nil || v == nil {
		return a.status, err
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		return a.status, fmt.Errorf("%s %s: the answer is not PromptHub's: %w", k.method, c.base+k.path, err)
	}
	return a.status, nil
}

// send makes one request of a call.
func (c *Client) send(ctx context.Context, k call) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, k.method, c.base+k.path, bytes.NewReader(k.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Accept", cmp.Or(k.accept, "application/json"))
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range map[string]string{
		"X-Dev-User":      cmp.Or(k.user, c.user),
		"Idempotency-Key": k.key, "If-Match": k.match,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the caller says which request it was
		}
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err == nil && len(body) > maxBody { // the beginning alone would be taken for all of it
		err = fmt.Errorf("it has more than %d MiB", maxBody>>20)
	}
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	h := res.Header
	return answer{
		res.StatusCode, h.Get("Retry-After"), h.Get("Location"), h.Get("Link"),
		h.Get("X-PromptHub-Loss"), body,
	}, nil
}
