package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// The answer to any message is short and the door goes on.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.public("greeting", "Greet {{name}}.")
	long := strings.Repeat("x", 200_000)
	nested := any("x")
	for range 500 {
		nested = []any{object{"a": nested}}
	}
	values := []any{
		long, nested, nil, 1e300, -1, true,
		[]any{},
		object{},
		[]string{long},
		object{long: long},
		"\x00",
		"\u202e", "../../etc/passwd", strings.Repeat("@", 1000), strings.Repeat("_", 1000),
	}
	methods := map[string][]string{
		"prompts/list": {"cursor"}, "prompts/get": {"name", "arguments"}, "skills/list": {"cursor"},
		"skills/get": {"uri"}, "resources/read": {"uri"}, "resources/directory/read": {"uri", "cursor"},
		"resources/list": {"cursor"}, "resources/templates/list": {"cursor"}, "tools/list": {"cursor"},
		"completion/complete": {"ref", "argument", "context"},
		"tools/call":          {"name", "arguments"}, "initialize": {"protocolVersion", "capabilities", "clientInfo"},
		"server/discover": {"x"}, "none": {"x"},
	}
	arguments := map[string][]string{
		"search_prompts": {"query", "tag", "tags", "mine", "limit", "cursor"}, "get_prompt": {"id"},
		"read_file": {"id", "path", "version"}, "render_prompt": {"id", "values"},
		"list_tags": {"x"}, "suggest": {"title", "content"},
		"save_prompt": {"title", "content", "name", "description", "tags"}, "vote_prompt": {"id", "vote"},
		"update_prompt": {
			"id", "title", "content", "description", "tags", "visibility",
			"message", "revision", "files",
		},
	}
	sent := 0
	check := func(a answer) {
		sent++
		require.Less(t, a.status, 500, a.body[:min(len(a.body), 500)])
		require.Less(t, len(a.body), 16<<10, a.body[:min(len(a.body), 500)])
	}
	for i, value := range values {
		for method, params := range methods {
			for _, p := range params {
				check(w.as("ann").call(method, object{"name": "greeting", "uri": "skill://x", p: value}))
				check(w.as("ann").new(method, "greeting", object{"name": "greeting", "uri": "skill://x", p: value}))
			}
			check(w.as("ann").call(method, value))
		}
		for tool, names := range arguments {
			for _, n := range names {
				check(w.as("bob").tool(tool, object{"id": "@anna/greeting", n: value}))
			}
		}
		check(w.as("ann", "Mcp-Name", "=?base64?"+fmt.Sprint(i)+"?=").call("prompts/get", object{"name": "greeting"}))
	}
	require.Greater(t, sent, 500)
	require.Equal(t, "Greet Ann.", w.as("ann").get("greeting", object{"name": "Ann"}).text())
}

// A megabyte is refused before it is read as a message, and nesting ends where readers differ.
func TestMegabytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	around := func(value string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"x","arguments":` + value + `}}`
	}
	const size = 1 << 20
	for _, value := range []string{
		`{"a":"` + strings.Repeat("x", size) + `"}`, strings.Repeat("[", size),
		strings.Repeat(`{"a":`, size/5),
	} {
		a := w.as("").send("POST", "/mcp", around(value))
		require.Equal(t, 413, a.status)
		require.Less(t, len(a.body), 1<<10)
	}
	const deep = 30_000
	for _, value := range []string{
		strings.Repeat("[", deep) + strings.Repeat("]", deep),
		strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep/2),
	} {
		a := w.as("").send("POST", "/mcp", around(value))
		require.Equal(t, 400, a.status)
		require.Less(t, len(a.body), 4<<10)
	}
}

// A defect is a store that panics where it is asked for anything but what the door reads itself.
type defect struct{ table.DB }

func (d defect) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if tables := promptdb.DefaultTables(); name != tables.SystemState && name != tables.Users {
		panic("a defect")
	}
	return d.DB.Get(ctx, name, key)
}

func (d defect) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if name != promptdb.DefaultTables().Users {
		panic("a defect")
	}
	return d.DB.List(ctx, name, r, limit, next)
}

// A defect is an error of one call, and no end of the process.
func TestPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *mcp.Config) {
		store := defect{memory.NewTables()}
		require.NoError(t, store.Create(t.Context(), promptdb.DefaultTables().SystemState,
			promptdb.DefaultTables().Users))
		db := promptdb.New(promptdb.Config{Store: store, Tables: promptdb.DefaultTables(), Now: c.Now, Log: c.Log})
		c.Service = library.New(db, prompt.Rules{}, c.Now)
	})
	const internal = -32603
	require.Contains(t, w.as("ann").call("prompts/list", object{}).fails(internal), "something went wrong")
	require.Contains(t, w.as("ann").tool("get_prompt", object{"id": "x"}).fails(internal), "something went wrong")
}

// What no reader understands, or not all of them alike, goes no further and is not quoted.
func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const parse, invalid = -32700, -32600
	const list = `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`
	long := `"` + strings.Repeat("x", 200_000) + `"`
	for body, code := range map[string]int{
		"": parse, "{": parse, list + list: parse, list + "x": parse, strings.Replace(list, "list", "li\xff", 1): parse,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"prompts/list"}`:                        parse,
		`{"jsonrpc":"2.0","method":"prompts/list","id":` + long + `}`:                    invalid,
		`{"jsonrpc":"2.0","method":"prompts/list","id":` + long + `,"ID":1}`:             invalid,
		`{"jsonrpc":"2.0","method":"prompts/list","iD":1,"id":` + long + `}`:             invalid,
		strings.Repeat(`{"`+long[1:100]+`":`, 1000) + "\xff" + strings.Repeat("}", 1000): parse,
		"[" + list + "," + list + "]":                                                    invalid,
		" \n[" + list + "]":                                                              invalid,
		`"x"`:                                                                            invalid, "1": invalid,
		`{"params":[` + strings.Repeat("0,", 50_001): invalid, // broken, but counted first
	} {
		a := w.as("ann").send(http.MethodPost, mcp.Prefix, body)
		require.Equal(t, http.StatusBadRequest, a.status, body[:min(len(body), 100)])
		require.Equal(t, "application/json", a.header.Get("Content-Type"))
		require.NotEmpty(t, a.fails(code))
		require.Less(t, len(a.body), 500)
		require.NotContains(t, a.body, `"id"`)
	}
}

// An id comes back as it was sent, or the message is refused. What no session needs is ignored.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(id string, header ...string) answer {
		return w.as("").send("POST", "/mcp", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list"}`, header...)
	}
	for _, id := range []string{`1`, `0`, `-9007199254740991`, `9007199254740991`, `"a"`, `""`, `"\u00e9"`} {
		a := send(id)
		var is struct{ ID, Result any }
		require.NoError(t, json.Unmarshal([]byte(a.body), &is))
		var want any
		require.NoError(t, json.Unmarshal([]byte(id), &want))
		require.Equal(t, want, is.ID)
		require.NotNil(t, is.Result)
	}
	for _, id := range []string{
		`9007199254740993`, `99999999999999999999999999`, `1.5`, `1e3`,
		`null`, `true`, `{"a":1}`, `[1]`,
	} {
		a := send(id)
		require.Equal(t, 400, a.status, id)
		a.fails(-32600)
	}
	for _, header := range [][]string{{"Last-Event-ID", "7"}, {"Mcp-Session-Id", "none"}} {
		a := send(`1`, header...)
		require.Equal(t, 200, a.status, a.body)
		require.Empty(t, a.header.Get("Mcp-Session-Id"))
	}
	send(`1`, "Mcp-Protocol-Version", "1999-01-01").fails(-32600)
	for _, method := range []string{"GET", "DELETE", "PUT"} {
		a := w.as("").send(method, "/mcp", "")
		require.Equal(t, []any{405, "POST"}, []any{a.status, a.header.Get("Allow")})
	}
	require.Equal(t, 202, w.as("").send("POST", "/mcp",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`).status)
}
