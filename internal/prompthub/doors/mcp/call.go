package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A call is a request as methods see it, besides their parameters.
type call struct {
	doors.Caller
	set     set
	refused error // why the caller may not do what it asked for: it is told by the status
}

// A set is the prompts that an endpoint lists: those under a tag, those of an author, those of a
// collection, or, of none, the caller's own. At the endpoint of a workspace the caller acts for it.
type set struct {
	tag        prompt.Tag
	handle     string // of an author, or of the owner of a collection
	collection string // its slug
}

// author returns the handle of the author of all prompts of a set, "" for none.
func (s set) author() string {
	if s.collection != "" {
		return ""
	}
	return s.handle
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call) // serve has put it there
	return c
}

// serve answers one message of the protocol.
func (d *handler) serve(w http.ResponseWriter, r *http.Request) error {
	c, err := d.admit(w, r)
	if err != nil {
		return err
	}
	body, err := d.Door.Admission.ReadBody(w, r, doors.BodyLimit(d.MaxText))
	if err != nil {
		return err
	}
	if e := checkEnvelope(body); e != nil {
		return failure{Version: "2.0", Error: e}.send(w, http.StatusBadRequest)
	}
	if texts := withValues(body); !bytes.Equal(texts, body) {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(texts)), int64(len(texts))
	}
	leave, err := d.Door.Admission.Enter(r.Context(), c.Key)
	if err != nil {
		return err
	}
	defer leave()
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	r.Header = r.Header.Clone()
	r.Header.Del("Last-Event-Id") // of a stream to be resumed: there are none
	if name, ok := encodedName(r.Header.Get(nameHeader)); ok {
		r.Header.Set(nameHeader, name)
	}
	a := &answer{header: w.Header(), status: http.StatusOK}
	d.protocol.ServeHTTP(a, r)
	switch {
	case c.refused != nil:
		return c.refused
	case a.status >= http.StatusBadRequest && !strings.HasPrefix(a.header.Get("Content-Type"), "application/json"):
		// about a body that is no message the library answers in plain text
		return failure{Version: "2.0", Error: invalid(cut(strings.TrimSpace(a.body.String())))}.send(w, a.status)
	}
	a.send(w)
	return nil
}

// admit returns the caller, or why the call goes no further. A message is counted as a read; a
// change is counted once more by its tool, as a write.
func (d *handler) admit(w http.ResponseWriter, r *http.Request) (*call, error) {
	who, err := d.Door.Admit(w, r, doors.Need{Scope: auth.ScopeRead})
	c := &call{Caller: who}
	if err == nil {
		c.set, err = setOf(r)
	}
	if workspace := r.PathValue("workspace"); err == nil && workspace != "" {
		c.User, err = d.Service.In(r.Context(), c.User, workspace)
	}
	return c, err
}

func errSignIn() error { return fault.New(fault.Unauthenticated, "sign in to use this") }

func setOf(r *http.Request) (set, error) {
	var s set
	if text := r.PathValue("tag"); text != "" {
		tag, err := prompt.ParseTag(text)
		if err != nil {
			return s, fault.New(fault.NotFound, "there is no such tag")
		}
		s.tag = tag
	}
	s.handle, s.collection = r.PathValue("handle"), r.PathValue("collection")
	if s.handle == library.Me || s.handle != "" && !prompt.NamesUser(s.handle) {
		return s, fault.New(fault.NotFound, "there is no such user")
	}
	return s, nil
}

const (
	nameHeader = "Mcp-Name"
	maxID      = 256 // bytes of the id of a message, which is in its answer
	// bytes of the message of an error of the protocol, which may quote a request
	maxNotation = 1 << 10
)

// checkEnvelope refuses what is no JSON that all readers understand alike; what the protocol of no
// version but 2025-03-26 has, several messages in one body, as they would be one request to the
// limits; and an id that would make the answer long. It tells names that differ in case apart, as
// the library does.
func checkEnvelope(body []byte) *jsonrpc.Error {
	if err := httpjson.CheckJSON(body); fault.CodeOf(err) != "" {
		return invalid(err.Error())
	} else if err != nil {
		f := httpjson.BrokenJSON(err)
		return &jsonrpc.Error{
			Code:    jsonrpc.CodeParseError,
			Message: "the body is not valid JSON: " + f.Location + ": " + f.Message,
		}
	}
	var message struct {
		ID jsontext.Value `json:"id"`
	}
	err := json.Unmarshal(body, &message)
	switch {
	case jsontext.Value(body).Kind() == '[':
		return invalid("send one message at a time: there are no batches")
	case err != nil:
		return invalid("the message is no JSON object")
	case len(message.ID) > maxID:
		return invalid("the id of the message is too long")
	case message.ID != nil && !comesBack(message.ID):
		return invalid("the id of a message is a text, or an integer of at most 53 bits")
	}
	return nil
}

func invalid(what string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: what}
}

// comesBack reports whether the library answers with the id that it gets: it makes an int64 of
// every number.
func comesBack(id jsontext.Value) bool {
	const most = 1<<53 - 1
	n, err := strconv.ParseInt(string(id), 10, 64)
	return id.Kind() == '"' || err == nil && -most <= n && n <= most
}

// A failure is a message of the protocol that reports an error. One about a message that could not
// be read has no id.
type failure struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Error   *jsonrpc.Error `json:"error"`
}

// send answers with the failure alone.
func (f failure) send(w http.ResponseWriter, status int) error {
	b, err := json.Marshal(f)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client has gone away
	return nil
}

// An answer keeps what the library answers until it is known whether the caller may have it.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader keeps the status.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write keeps a part of the body.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// send sends the answer. The library quotes parameters that it cannot read in its errors, which
// makes them as long as the request; they are cut. Names of Go types in them are left out.
func (a *answer) send(w http.ResponseWriter) {
	body := a.body.Bytes()
	if begin := body[:min(len(body), 2*maxID)]; a.status >= http.StatusBadRequest ||
		bytes.Contains(begin, []byte(`"error":{`)) {
		if len(body) > maxNotation || bytes.Contains(body, []byte(" into Go ")) {
			body = shortened(body)
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // the client has gone away
}

// shortened returns an error of the protocol with a short message, or the beginning of one that is
// none.
func shortened(body []byte) []byte {
	var f failure
	if json.Unmarshal(body, &f) == nil && f.Error != nil {
		f.Error.Message, f.Error.Data = cut(untyped(f.Error.Message)), nil
		if b, err := json.Marshal(f); err == nil {
			return b
		}
	}
	return []byte(cut(string(body)))
}

func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxNotation)], "") }

// receive is asked before every method of the protocol. Those that need a stream or a session there
// are not. The library calls it on a goroutine of its own, where a panic would end the process.
func (d *handler) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if v := recover(); v != nil {
				res, err = nil, callOf(ctx).problem(ctx, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			}
		}()
		switch p := req.GetParams().(type) {
		case *sdk.ListPromptsParams:
			return d.listPrompts(ctx, p)
		case *sdk.ListResourcesParams:
			return d.listResources(ctx, p)
		case *sdk.GetPromptParams:
			return d.getPrompt(ctx, p, func(ctx context.Context) (sdk.Result, error) { return next(ctx, method, req) })
		}
		switch method {
		case "subscriptions/listen", "resources/subscribe", "resources/unsubscribe", "logging/setLevel":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is no " + method + " here"}
		}
		return next(ctx, method, req)
	}
}

// keep says how long a client may keep a result, and whether it may show it to others.
func keep(ctx context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.TTLMs, c.CacheScope = int(keepLists.Milliseconds()), "public"
	switch req.GetParams().(type) {
	case *sdk.ListToolsParams, *sdk.DiscoverParams, *sdk.ListResourceTemplatesParams:
		c.TTLMs = int(keepStatic.Milliseconds())
	}
	if callOf(ctx).Known() {
		c.CacheScope = "private"
	}
}

// problem makes an error of a method one of the protocol. What the caller may not do is told by the
// status, too.
func (c *call) problem(ctx context.Context, err error) error {
	if c.refuses(err) {
		c.refused = err
	}
	code := int64(jsonrpc.CodeInvalidParams)
	switch fault.Of(err) {
	case fault.Internal, fault.Unavailable, fault.Limited:
		code = jsonrpc.CodeInternalError
	default:
	}
	return &jsonrpc.Error{Code: code, Message: sentence(ctx, err)}
}

// refuses reports whether an error says that the caller lacks the right, or is anonymous.
func (c *call) refuses(err error) bool {
	var missing *auth.MissingScope
	return fault.Of(err) == fault.Unauthenticated || errors.As(err, &missing)
}

// sentence is an error as assistants read it: the mistake, and where it is.
func sentence(ctx context.Context, err error) string {
	p := httpjson.Describe(ctx, err)
	var b strings.Builder
	b.WriteString(p.Detail)
	for i, f := range p.Errors {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		where, isValue := strings.CutPrefix(f.Location, prompt.ValuesField+".")
		if !isValue { // of a value the message says what it is: "x is required"
			where += ":"
		}
		b.WriteString(sep + where + " " + f.Message)
	}
	return b.String()
}
