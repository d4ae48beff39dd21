package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A world is the door over stores in memory, on a real server.
type world struct {
	t   testing.TB
	db  *promptdb.DB
	hub *library.Service
	now time.Time

	store  table.DB
	queues queue.Queues
	url    string
}

func newWorld(t testing.TB, change ...func(*mcp.Config)) *world {
	return newWorldOf(t, prompt.Rules{}, change...)
}

// newWorldOf returns a world whose prompts are held to rules.
func newWorldOf(t testing.TB, rules prompt.Rules, change ...func(*mcp.Config)) *world {
	w := &world{t: t, now: time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.store, w.queues = memory.NewTables(), memory.NewQueues(clock)
	w.db = promptdb.New(promptdb.Config{
		Store: w.store, Queues: w.queues, Tables: promptdb.DefaultTables(), Now: clock,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, w.db.Create(t.Context()))
	w.hub = library.New(w.db, rules, clock)
	admission := httpjson.NewAdmission(httpjson.Limits{}, clock)
	c := mcp.Config{
		Door: doors.Door{
			Identify: w.hub.WithTokens(auth.Dev(), true, admission.Guess), PublicRead: true,
			Admission: admission, Service: w.hub,
		},
		Log: slog.New(slog.DiscardHandler), Now: clock, Version: "test", MaxText: rules.MaxText,
	}
	for _, f := range change {
		f(&c)
	}
	server := httptest.NewServer(mcp.New(c))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func user(name string) auth.User { return auth.User{ID: name, Name: name} }

// write stores a prompt of a user, a second after the last.
func (w *world) write(who string, d prompt.Draft) library.View {
	w.t.Helper()
	w.now = w.now.Add(2 * time.Second)
	v, _, err := w.hub.Create(w.t.Context(), user(who), d, "")
	require.NoError(w.t, err)
	return v
}

// settle runs the jobs of labels that were moved, and of votes.
func (w *world) settle() {
	w.t.Helper()
	jobs := map[string]func(context.Context, string) error{
		promptdb.QueueRepairs: w.db.Repair,
		promptdb.QueueMoves:   w.db.Move,
	}
	for left := 1; left > 0; {
		left = 0
		w.now = w.now.Add(4 * time.Second)
		for name, do := range jobs {
			messages, err := w.queues.Receive(w.t.Context(), name, queue.MaxReceive, time.Minute)
			require.NoError(w.t, err)
			for _, m := range messages {
				require.NoError(w.t, do(w.t.Context(), m.Text))
				require.NoError(w.t, w.queues.Delete(w.t.Context(), name, m.Receipt))
			}
			n, err := w.queues.Len(w.t.Context(), name)
			require.NoError(w.t, err)
			left += n
		}
	}
}

// public stores a public prompt of Ann's.
func (w *world) public(name, text string) library.View {
	w.t.Helper()
	return w.write("ann", prompt.Draft{Name: name, Title: name, Text: text, Visibility: prompt.Public})
}

func (w *world) handle(who, handle string) {
	w.t.Helper()
	_, err := w.hub.PutProfile(w.t.Context(), user(who), prompt.Profile{Handle: handle})
	require.NoError(w.t, err)
}

// A caller sends messages to an endpoint under a name; "" is anonymous. Header holds further names
// and values in turn.
type caller struct {
	w      *world
	name   string
	path   string
	header []string
}

func (w *world) as(name string, header ...string) caller { return caller{w, name, mcp.Prefix, header} }

func (c caller) at(path string) caller {
	c.path = path
	return c
}

// An answer is what came back.
type answer struct {
	t      testing.TB
	status int
	header http.Header
	body   string
}

func (c caller) send(method, path, body string, header ...string) answer {
	t := c.w.t
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.w.url+path, strings.NewReader(body))
	require.NoError(t, err)
	if c.name != "" {
		r.Header.Set(auth.DevUserHeader, c.name)
	}
	all := append(append([]string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"},
		c.header...), header...)
	for i := 0; i < len(all); i += 2 {
		r.Header.Set(all[i], all[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return answer{t, resp.StatusCode, resp.Header, string(b)}
}

// call sends one message of the protocol before 2026-07-28.
func (c caller) call(method string, params any) answer {
	c.w.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(c.w.t, err)
	return c.send(http.MethodPost, c.path, string(body))
}

// new sends one message of the protocol of 2026-07-28.
func (c caller) new(method, name string, params object) answer {
	c.w.t.Helper()
	return c.newAs(object{}, method, name, params)
}

// newAs is new by a client that has capabilities.
func (c caller) newAs(capabilities object, method, name string, params object) answer {
	c.w.t.Helper()
	const version = "2026-07-28"
	params["_meta"] = object{
		"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": capabilities,
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(c.w.t, err)
	return c.send(http.MethodPost, c.path, string(body), "Mcp-Protocol-Version", version,
		"Mcp-Method", method, "Mcp-Name", name)
}

type object = map[string]any

// into decodes the result of a call that succeeded.
func (a answer) into(v any) {
	a.t.Helper()
	require.Equal(a.t, http.StatusOK, a.status, a.body)
	var message struct{ Result, Error json.RawMessage }
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &message), a.body)
	require.Empty(a.t, message.Error, a.body)
	require.NoError(a.t, json.Unmarshal(message.Result, v))
}

// fails requires an error of the protocol, and returns its message.
func (a answer) fails(code int) string {
	a.t.Helper()
	var message struct {
		Error struct {
			Code    int
			Message string
		}
	}
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &message), a.body)
	require.Equal(a.t, code, message.Error.Code, a.body)
	return message.Error.Message
}

// A promptList is a page of prompts/list.
type promptList struct {
	Prompts                            []listedPrompt
	NextCursor, CacheScope, ResultType string
	TTL                                int `json:"ttlMs"`
}

type listedPrompt struct {
	Name, Description string
	Arguments         []struct {
		Name, Description string
		Required          bool
	}
}

func (l promptList) names() []string {
	names := []string{}
	for _, p := range l.Prompts {
		names = append(names, p.Name)
	}
	return names
}

func (c caller) list(params object) promptList {
	c.w.t.Helper()
	var l promptList
	c.call("prompts/list", params).into(&l)
	return l
}

// A gotten is the result of prompts/get.
type gotten struct {
	Description, ResultType string
	Messages                []struct {
		Role    string
		Content struct{ Type, Text string }
	}
}

func (c caller) get(name string, arguments object) answer {
	c.w.t.Helper()
	return c.call("prompts/get", object{"name": name, "arguments": arguments})
}

// text requires one message, and returns what it says.
func (a answer) text() string {
	a.t.Helper()
	var g gotten
	a.into(&g)
	require.Len(a.t, g.Messages, 1)
	return g.Messages[0].Content.Text
}
