package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/command"
	"prompthub/internal/memory"
	"prompthub/internal/prompthub/api"
	"prompthub/internal/prompthub/langfuse"
	"prompthub/internal/prompthub/langsmith"
	"prompthub/internal/prompthub/mcp"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/prompthub/web"
	"prompthub/internal/prompthub/worker"
)

// A binding is one of function.json.
type binding struct {
	Type, Direction, Name, AuthLevel, Route, QueueName, Connection, Schedule string
	Methods                                                                  []string
}

// A host is host.json as far as the program depends on it.
type host struct {
	ExtensionBundle struct{ ID string }
	FunctionTimeout string
	Extensions      struct {
		HTTP   struct{ RoutePrefix string }
		Queues struct {
			BatchSize, NewBatchThreshold, MaxDequeueCount          int
			MaxPollingInterval, VisibilityTimeout, MessageEncoding string
		}
	}
	CustomHandler struct {
		EnableForwardingHTTPRequest bool
		Description                 struct{ DefaultExecutablePath string }
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", path))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, v), path)
}

func readHost(t *testing.T) host {
	t.Helper()
	var h host
	readJSON(t, "host.json", &h)
	return h
}

// functions returns the bindings of every function.
func functions(t *testing.T) map[string][]binding {
	t.Helper()
	entries, err := os.ReadDir("../functions")
	require.NoError(t, err)
	all := make(map[string][]binding)
	for _, e := range entries {
		var f struct{ Bindings []binding }
		readJSON(t, filepath.Join("functions", e.Name(), "function.json"), &f)
		all[e.Name()] = f.Bindings
	}
	return all
}

// testApp returns the application over a store in memory.
func testApp() *app {
	store := command.Store{Tables: memory.NewTables(), Queues: memory.NewQueues(time.Now)}
	return newApp(settings{Tables: promptdb.DefaultTables()}, store, slog.New(slog.DiscardHandler), nil)
}

// documented returns "METHOD /path" for every operation of the OpenAPI document.
func documented(t *testing.T) []string {
	t.Helper()
	h := testApp().doors(auth.Dev(), nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), "GET", "http://localhost"+api.Prefix+"/openapi.json", nil))
	require.Equal(t, 200, w.Code)
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	var all []string
	for path, operations := range doc.Paths {
		for method := range operations {
			all = append(all, strings.ToUpper(method)+" "+strings.TrimPrefix(path, api.Prefix))
		}
	}
	require.Greater(t, len(all), 20)
	return all
}

// wholeRoutes are the routes for everything below: of the pages, of what they tell crawlers, and of
// the address without a path, which leads to them; of assistants, and of what stands in for other
// services, whose other methods the program refuses itself.
var wholeRoutes = map[string][]string{
	strings.TrimPrefix(langfuse.Prefix, "/") + "/{*path}":  {"get", "head", "post", "patch", "delete"},
	strings.TrimPrefix(langsmith.Prefix, "/") + "/{*path}": {"get", "head", "post", "patch", "delete"},
	strings.TrimPrefix(mcp.Prefix, "/") + "/{*path}":       {"get", "head", "post", "delete"},
	strings.TrimPrefix(web.Prefix, "/") + "/{*path}":       {"get", "head", "post"},
	strings.TrimPrefix(web.Robots, "/"):                    {"get", "head"},
	"{ignored:maxlength(0)?}":                              {"get", "head"},
	".well-known/{*path}":                                  {"get", "head"}, "u/{handle}/.well-known/{*path}": {"get", "head"}, "t/{tag}/.well-known/{*path}": {"get", "head"},
}

func TestEveryRouteHasAFunctionAndNoOther(t *testing.T) {
	require.Empty(t, readHost(t).Extensions.HTTP.RoutePrefix, "the pages are beside the API")
	var deployed []string
	for name, bindings := range functions(t) {
		if bindings[0].Type != "httpTrigger" {
			continue
		}
		// One input and one output, else the host sends an envelope in place of the request.
		require.Len(t, bindings, 2, name)
		in := bindings[0]
		require.Equal(t, binding{Type: "httpTrigger", Direction: "in", Name: "req", AuthLevel: "anonymous", Route: in.Route, Methods: in.Methods}, in, name)
		require.Equal(t, binding{Type: "http", Direction: "out", Name: "res"}, bindings[1], name)
		if methods, ok := wholeRoutes[in.Route]; ok {
			require.Equal(t, methods, in.Methods, name)
			continue
		}
		require.NotContains(t, in.Route, "*", "%s: only a door of its own may have a route for everything below", name)
		route, ok := strings.CutPrefix("/"+in.Route, api.Prefix)
		require.True(t, ok, "%s: route %s is not under %s", name, in.Route, api.Prefix)
		require.Equal(t, slices.Contains(in.Methods, "get"), slices.Contains(in.Methods, "head"), "%s: HEAD goes with GET", name)
		for _, m := range in.Methods {
			if m != "head" {
				deployed = append(deployed, strings.ToUpper(m)+" "+route)
			}
		}
	}
	require.ElementsMatch(t, documented(t), deployed)
}

func TestEveryTriggerHasAFunctionAndNoOther(t *testing.T) {
	got := make(map[string]binding)
	for name, bindings := range functions(t) {
		if in := bindings[0]; in.Type != "httpTrigger" {
			require.Len(t, bindings, 1, name)
			require.Equal(t, "in", in.Direction)
			got[name] = in
		}
	}
	want := make(map[string]binding)
	for _, trigger := range worker.Triggers(testApp().db, slog.New(slog.DiscardHandler)) {
		if trigger.Queue != "" {
			want[trigger.Name] = binding{Type: "queueTrigger", Direction: "in", Name: "message", QueueName: "%QUEUE_PREFIX%" + trigger.Queue, Connection: "AzureWebJobsStorage"}
		} else {
			want[trigger.Name] = binding{Type: "timerTrigger", Direction: "in", Name: "timer", Schedule: trigger.Schedule}
		}
	}
	require.Equal(t, want, got)
}

func TestHost(t *testing.T) {
	h := readHost(t)
	require.NotEmpty(t, h.ExtensionBundle.ID, "queue triggers need it")
	require.True(t, h.CustomHandler.EnableForwardingHTTPRequest)
	require.Equal(t, "handler", h.CustomHandler.Description.DefaultExecutablePath)

	q := h.Extensions.Queues
	require.Equal(t, "base64", q.MessageEncoding, "what package azure writes")
	retry := timeSpan(t, q.VisibilityTimeout)
	require.Greater(t, retry*time.Duration(q.MaxDequeueCount-1), promptdb.Lease, "a message must not turn to poison while a projection is under way")
	require.LessOrEqual(t, timeSpan(t, q.MaxPollingInterval), 2*time.Second)
	require.Greater(t, timeSpan(t, h.FunctionTimeout), command.AnswerWithin, "an answer is there before the host kills the process")
	require.Greater(t, command.AnswerWithin, promptdb.JobEnds, "a job of a timer ends by itself")
}

var span = regexp.MustCompile(`^(\d\d):(\d\d):(\d\d)$`)

func timeSpan(t *testing.T, s string) time.Duration {
	t.Helper()
	m := span.FindStringSubmatch(s)
	require.NotNil(t, m, s)
	d, err := time.ParseDuration(m[1] + "h" + m[2] + "m" + m[3] + "s")
	require.NoError(t, err)
	return d
}

// The example names settings that somebody reads.
func TestExampleSettings(t *testing.T) {
	var example struct {
		IsEncrypted bool
		Values      map[string]string
	}
	readJSON(t, "local.settings.json.example", &example)
	known := []string{"FUNCTIONS_WORKER_RUNTIME", "AzureWebJobsStorage"}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[settings]()) {
		known = append(known, field.Tag.Get("envconfig"))
	}
	for name := range example.Values {
		require.Contains(t, known, name)
	}
	require.Equal(t, "custom", example.Values["FUNCTIONS_WORKER_RUNTIME"])
}
