package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
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

	"prompthub/internal/host/command"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/doors/gitdoor"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/doors/marketplace"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/doors/worker"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/testing/golden"
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
	h := testApp().doors(command.Serving{Identify: auth.Dev()})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), "GET",
		"http://localhost"+api.Prefix+"/openapi.json", nil))
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

// getOnly are the methods of a door that only shows.
var getOnly = []string{"get", "head"}

// doorFunctions are the functions beyond the API, by their names: each hands every path below it to
// the program, which refuses the methods that a path does not have.
var doorFunctions = map[string]binding{
	"app": {
		Route:   strings.TrimPrefix(web.Prefix, "/") + "/{*path}",
		Methods: []string{"get", "head", "post"},
	},
	"author-skills":     {Route: "u/{handle}/.well-known/{*path}", Methods: getOnly},
	"collection-skills": {Route: "c/{handle}/{collection}/.well-known/{*path}", Methods: getOnly},
	"git": {
		Route:   strings.TrimPrefix(gitdoor.Prefix, "/") + "/{*path}",
		Methods: []string{"get", "head", "post"},
	},
	"lf": {
		Route:   strings.TrimPrefix(langfuse.Prefix, "/") + "/{*path}",
		Methods: []string{"get", "head", "post", "patch", "delete"},
	},
	"ls": {
		Route:   strings.TrimPrefix(langsmith.Prefix, "/") + "/{*path}",
		Methods: []string{"get", "head", "post", "patch", "delete"},
	},
	"marketplace": {
		Route:   strings.TrimPrefix(marketplace.Prefix, "/") + "/{*path}",
		Methods: []string{"get", "head"},
	},
	"mcp": {
		Route:   strings.TrimPrefix(mcp.Prefix, "/") + "/{*path}",
		Methods: []string{"get", "head", "post", "delete"},
	},
	"robots":     {Route: strings.TrimPrefix(web.Robots, "/"), Methods: getOnly},
	"root":       {Route: "{ignored:maxlength(0)?}", Methods: getOnly}, // the address without a path
	"tag-skills": {Route: "t/{tag}/.well-known/{*path}", Methods: getOnly},
	"well-known": {Route: ".well-known/{*path}", Methods: getOnly},
}

// ownFunctions are the paths of the API that have a function of their own, in place of that of
// their resource.
var ownFunctions = map[string]string{"/prompts/{id}/vote": "prompt-vote", "/openapi.json": "openapi"}

// httpFunctions returns the functions that the HTTP routes of the program need, by their names: one
// for each door, and one for each resource of the API, which is the first part of its paths.
func httpFunctions(t *testing.T) map[string]binding {
	all := maps.Clone(doorFunctions)
	for _, operation := range documented(t) {
		method, path, _ := strings.Cut(operation, " ")
		name, rest, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		f := all[name]
		switch own := ownFunctions[path]; {
		case own != "":
			name, f = own, all[own]
			f.Route = api.Prefix[1:] + path
		case below && rest != "":
			f.Route = api.Prefix[1:] + "/" + name + "/{*rest}"
		default:
			f.Route = cmp.Or(f.Route, api.Prefix[1:]+path)
		}
		f.Methods = append(f.Methods, strings.ToLower(method))
		if method == "GET" {
			f.Methods = append(f.Methods, "head")
		}
		all[name] = f
	}
	order := []string{"get", "head", "post", "put", "patch", "delete"}
	for name, f := range all {
		f.Type, f.Direction, f.Name, f.AuthLevel = "httpTrigger", "in", "req", "anonymous"
		f.Methods = slices.DeleteFunc(slices.Clone(order), func(m string) bool {
			return !slices.Contains(f.Methods, m)
		})
		all[name] = f
	}
	return all
}

// functionJSON is the file of a function of an HTTP route. It has one input and one output, else
// the host sends an envelope in place of the request.
func functionJSON(f binding) string {
	return fmt.Sprintf(`{
  "bindings": [
    {
      "type": "httpTrigger",
      "direction": "in",
      "name": "req",
      "authLevel": "anonymous",
      "methods": ["%s"],
      "route": "%s"
    },
    { "type": "http", "direction": "out", "name": "res" }
  ]
}
`, strings.Join(f.Methods, `", "`), f.Route)
}

// TestEveryRouteHasAFunctionAndNoOther: with -update it writes the folders.
func TestEveryRouteHasAFunctionAndNoOther(t *testing.T) {
	require.Empty(t, readHost(t).Extensions.HTTP.RoutePrefix, "pages and API have paths of their own")
	want := httpFunctions(t)
	if golden.Updating() {
		for name, bindings := range functions(t) {
			if _, ok := want[name]; !ok && bindings[0].Type == "httpTrigger" {
				require.NoError(t, os.RemoveAll(filepath.Join("../functions", name)))
			}
		}
		for name, f := range want {
			require.NoError(t, os.MkdirAll(filepath.Join("../functions", name), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join("../functions", name, "function.json"),
				[]byte(functionJSON(f)), 0o644))
		}
	}
	var got []string
	for name, bindings := range functions(t) {
		if bindings[0].Type == "httpTrigger" {
			b, err := os.ReadFile(filepath.Join("../functions", name, "function.json"))
			require.NoError(t, err)
			got = append(got, name+" "+string(b))
		}
	}
	var files []string
	for name, f := range want {
		files = append(files, name+" "+functionJSON(f))
	}
	require.ElementsMatch(t, files, got, "go test ./handler -update writes them")
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
			want[trigger.Name] = binding{
				Type: "queueTrigger", Direction: "in", Name: "message",
				QueueName: "%QUEUE_PREFIX%" + trigger.Queue, Connection: "AzureWebJobsStorage",
			}
		} else {
			want[trigger.Name] = binding{
				Type: "timerTrigger", Direction: "in",
				Name: "timer", Schedule: trigger.Schedule,
			}
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
	require.Greater(t, retry*time.Duration(q.MaxDequeueCount-1), promptdb.Lease,
		"a message must not turn to poison while a projection is under way")
	require.LessOrEqual(t, timeSpan(t, q.MaxPollingInterval), 2*time.Second)
	require.Greater(t, timeSpan(t, h.FunctionTimeout), command.AnswerWithin,
		"an answer is there before the host kills the process")
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
