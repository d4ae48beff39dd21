package main

import (
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/http/auth"
	"prompthub/internal/telemetry"
	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/functiontest"
)

// asHandler says in the environment that the test binary is the handler, and that requests which
// ask for it are cut.
const asHandler = "PROMPTHUB_TEST_AS_HANDLER"

// cutHeader asks for a request that is done, and whose answer is cut.
const cutHeader = "X-Test-Cut"

// killHeader asks for a handler that is killed over the request.
const killHeader = "X-Test-Kill"

func TestMain(m *testing.M) {
	if os.Getenv(asHandler) != "" {
		p := program()
		p.Service.Read = cutting(p.Service.Read)
		p.Main()
	}
	os.Exit(m.Run())
}

// cutting returns settings and an application whose answers can be cut.
func cutting(read func() (command.Settings, command.Build, error)) func() (command.Settings, command.Build, error) {
	return func() (command.Settings, command.Build, error) {
		set, build, err := read()
		return set, func(set command.Settings, st command.Store, log *slog.Logger, t *telemetry.Telemetry) command.App {
			a := build(set, st, log, t)
			doors := a.Doors
			a.Doors = func(s command.Serving) http.Handler {
				return cut(doors(s))
			}
			return a
		}, err
	}
}

// streamed is how many bytes an answer has that streamHeader asks for.
const streamed = 300 << 10

func cut(next http.Handler) http.Handler {
	ended := make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get(streamHeader) {
		case "begin":
			_, _ = io.WriteString(w, strings.Repeat("x", streamed-1))
			<-ended
			_, _ = io.WriteString(w, "x")
			return
		case "end":
			close(ended)
			return
		case "wait":
			fmt.Println("it waits")
			<-r.Context().Done()
			fmt.Println("it is left")
			return
		}
		if r.Header.Get(cutHeader) == "" {
			next.ServeHTTP(w, r)
			return
		}
		lost := httptest.NewRecorder()
		next.ServeHTTP(lost, r)
		fmt.Printf("cut %s %s: %d\n", r.Method, r.URL.EscapedPath(), lost.Code)
		panic(http.ErrAbortHandler)
	})
}

// behindHost runs this program under the test host, with host.json and the functions of the
// repository and further settings.
func behindHost(t *testing.T, o functiontest.Options, settings ...string) *functiontest.Host {
	t.Helper()
	clean(t)
	o.AppRoot = t.TempDir()
	require.NoError(t, os.CopyFS(o.AppRoot, os.DirFS("../functions")))
	require.NoError(t, os.Link(absolute(t, "../host.json"), filepath.Join(o.AppRoot, "host.json")))
	exe, err := os.Executable()
	require.NoError(t, err)
	o.Env = append(os.Environ(), asHandler+"=yes",
		"AzureFunctionsJobHost__customHandler__description__defaultExecutablePath="+exe,
		"AUTH_MODE=dev", "AZURE_FUNCTIONS_ENVIRONMENT=Development", "QUEUE_PREFIX=behind-")
	o.Env = append(o.Env, settings...)
	return functiontest.Start(t, o)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

// A signal that only the handler gets, as of an operator or of a platform that is short of memory,
// is no end: the host starts the handler anew, however often that happens.
func TestSignalUnderTheHostIsARestart(t *testing.T) {
	h := behindHost(t, functiontest.Options{}, "AzureWebJobsStorage="+nowhere)
	for range 4 { // more than the failures that end the host
		h.Signal(syscall.SIGTERM)
		require.Eventually(t, func() bool {
			res, err := http.Get(h.URL() + "/api/v1/health")
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			return res.StatusCode == http.StatusOK
		}, 20*time.Second, 20*time.Millisecond)
	}
}

// onAzurite runs this program under the test host on tables of its own, and waits for that.
func onAzurite(t *testing.T, o functiontest.Options) *functiontest.Host {
	t.Helper()
	prefix := map[bool]string{true: "older", false: "newer"}[o.Older]
	h := behindHost(t, o, "TABLE_PREFIX="+prefix, "QUEUE_PREFIX="+prefix+"-", "AzureWebJobsStorage="+azurite.Start(t))
	require.Eventually(t, func() bool {
		status, _ := send(t, "GET", h.URL()+"/api/v1/ready", "")
		return status == http.StatusOK
	}, time.Minute, 50*time.Millisecond)
	return h
}

// A person sends requests through the host.
type person struct {
	*testing.T
	*functiontest.Host
	header http.Header
}

func as(t *testing.T, h *functiontest.Host, user string, more ...string) person {
	p := person{t, h, http.Header{"X-Dev-User": {user}, "If-Match": {"*"}}}
	for i := 0; i < len(more); i += 2 {
		p.header.Set(more[i], more[i+1])
	}
	return p
}

// does sends a request, which has no body if body is empty, and returns the status and the answer.
func (p person) does(method, path, body string) (int, map[string]any) {
	p.Helper()
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(p.Context(), method, p.URL()+path, from)
	require.NoError(p, err)
	r.Header = p.header.Clone()
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(p, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(p, err)
	var answer map[string]any
	if strings.Contains(res.Header.Get("Content-Type"), "json") {
		require.NoError(p, json.Unmarshal(b, &answer), "%s", b)
	}
	return res.StatusCode, answer
}

// did is does for requests that must succeed.
func (p person) did(method, path, body string) map[string]any {
	p.Helper()
	status, answer := p.does(method, path, body)
	require.Less(p, status, 300, "%s %s: %v", method, path, answer)
	return answer
}

const promptsPath = "/api/v1/prompts"

// made makes a prompt of n versions and returns its address.
func (p person) made(n int) string {
	p.Helper()
	address := promptsPath + "/" + p.did("POST", promptsPath,
		`{"title":"A prompt","text":"Text 1","tags":["text"],"visibility":"public"}`)["id"].(string)
	for v := 2; v <= n; v++ {
		p.did("PUT", address, fmt.Sprintf(
			`{"title":"A prompt","text":"Text %d","tags":["text"],"visibility":"public"}`, v))
	}
	return address
}

// withoutBody are the changes that take no body, each with its preconditions.
var withoutBody = map[string]func(ann, bob, root person) (who person, path string){
	"DELETE /me": func(_, bob, _ person) (person, string) { return bob, "/api/v1/me" },
	"POST /me/restore": func(_, bob, _ person) (person, string) {
		bob.did("DELETE", "/api/v1/me", "")
		return bob, "/api/v1/me/restore"
	},
	"DELETE /me/tokens/{token}": func(ann, _, _ person) (person, string) {
		return ann, "/api/v1/me/tokens/" + ann.did("POST", "/api/v1/me/tokens",
			`{"name":"t","scopes":["read"]}`)["id"].(string)
	},
	"DELETE /prompts/{id}": func(ann, _, _ person) (person, string) { return ann, ann.made(1) },
	"DELETE /prompts/{id}/favorite": func(ann, bob, _ person) (person, string) {
		at := ann.made(1) + "/favorite"
		bob.did("PUT", at, "")
		return bob, at
	},
	"PUT /prompts/{id}/favorite": func(ann, bob, _ person) (person, string) { return bob, ann.made(1) + "/favorite" },
	"POST /prompts/{id}/fork":    func(ann, bob, _ person) (person, string) { return bob, ann.made(1) + "/fork" },
	"DELETE /prompts/{id}/hidden": func(ann, _, root person) (person, string) {
		at := ann.made(1) + "/hidden"
		root.did("PUT", at, `{"reason":"because"}`)
		return root, at
	},
	"DELETE /prompts/{id}/labels/{label}": func(ann, _, _ person) (person, string) {
		at := ann.made(1) + "/labels/new"
		ann.did("PUT", at, `{"version":1}`)
		return ann, at
	},
	"POST /prompts/{id}/labels/{label}/undo": func(ann, _, _ person) (person, string) {
		at := ann.made(3) + "/labels/new"
		for v := 1; v <= 3; v++ {
			ann.did("PUT", at, fmt.Sprintf(`{"version":%d}`, v))
		}
		return ann, at + "/undo"
	},
	"POST /prompts/{id}/restore": func(ann, _, _ person) (person, string) {
		at := ann.made(1)
		ann.did("DELETE", at, "")
		return ann, at + "/restore"
	},
	"POST /prompts/{id}/upstream/merge": func(ann, bob, _ person) (person, string) {
		at := ann.made(1)
		fork := promptsPath + "/" + bob.did("POST", at+"/fork", "")["id"].(string)
		ann.did("PUT", at, `{"title":"A prompt","text":"Better","tags":["text"],"visibility":"public"}`)
		return bob, fork + "/upstream/merge"
	},
	"DELETE /prompts/{id}/versions/{version}": func(ann, _, _ person) (person, string) {
		return ann, ann.made(3) + "/versions/2"
	},
	"POST /prompts/{id}/versions/{version}/restore": func(ann, _, _ person) (person, string) {
		return ann, ann.made(2) + "/versions/1/restore"
	},
	"DELETE /prompts/{id}/versions/{version}/recall": func(ann, _, _ person) (person, string) {
		at := ann.made(3) + "/versions/2/recall"
		ann.did("POST", at, `{"reason":"because"}`)
		return ann, at
	},
	"DELETE /prompts/{id}/vote": func(ann, bob, _ person) (person, string) {
		at := ann.made(1) + "/vote"
		bob.did("PUT", at, `{"value":"like"}`)
		return bob, at
	},
	"DELETE /tags/{tag}": func(_, _, root person) (person, string) {
		root.did("PUT", "/api/v1/tags/passing", `{"displayName":"Passing"}`)
		return root, "/api/v1/tags/passing"
	},
	"DELETE /collections/{handle}/{slug}": func(ann, _, _ person) (person, string) {
		ann.did("POST", "/api/v1/collections", `{"slug":"support"}`)
		return ann, "/api/v1/collections/me/support"
	},
	"DELETE /session": func(ann, _, _ person) (person, string) { return ann, "/api/v1/session" },
	"DELETE /invites/{invite}": func(ann, _, _ person) (person, string) {
		handle := strings.TrimPrefix(ann.workspace(), "/api/v1/workspaces/")
		made := ann.did("POST", "/api/v1/invites",
			fmt.Sprintf(`{"workspaces":[{"handle":%q,"role":"reader"}]}`, handle))
		return ann, "/api/v1/invites/" + made["id"].(string)
	},
	"DELETE /prompts/{id}/proposals/{number}": func(ann, _, _ person) (person, string) {
		at := ann.workspace()
		ann.did("PUT", at+"/rules", `{"rules":[{"label":"production","approvals":1}]}`)
		handle := strings.TrimPrefix(at, "/api/v1/workspaces/")
		made := ann.did("POST", promptsPath, fmt.Sprintf(`{"title":"A prompt","text":"Text","workspace":%q}`, handle))
		proposals := promptsPath + "/" + made["id"].(string) + "/proposals"
		ann.did("POST", proposals, `{"label":"production","version":1}`)
		return ann, proposals + "/1"
	},
	"DELETE /workspaces/{workspace}": func(ann, _, _ person) (person, string) { return ann, ann.workspace() },
	"POST /workspaces/{workspace}/restore": func(ann, _, _ person) (person, string) {
		at := ann.workspace()
		ann.did("DELETE", at, "")
		return ann, at + "/restore"
	},
	"DELETE /workspaces/{workspace}/members/{kind}/{principal}": func(ann, _, _ person) (person, string) {
		at := ann.workspace() + "/members/role/cooks"
		ann.did("PUT", at, `{"role":"reader"}`)
		return ann, at
	},
	"DELETE /workspaces/{workspace}/tokens/{token}": func(ann, _, _ person) (person, string) {
		at := ann.workspace() + "/tokens"
		return ann, at + "/" + ann.did("POST", at, `{"name":"t","scopes":["read"]}`)["id"].(string)
	},
}

// workspace makes a workspace and returns its address.
func (p person) workspace() string {
	p.Helper()
	handle := "shelf-" + strings.ToLower(crand.Text())
	p.did("POST", "/api/v1/workspaces", fmt.Sprintf(`{"handle":%q}`, handle))
	return "/api/v1/workspaces/" + handle
}

// The host sends a request without a body again if the connection ends before the first byte of the
// answer: up to four times if it forwards, up to 40 times if it proxies. No change is made twice
// because of that, however its answer is cut.
func TestCutChangesHappenOnce(t *testing.T) {
	t.Setenv("OLDER_HOST", "") // it asks both
	for _, older := range []bool{true, false} {
		t.Run(map[bool]string{true: "older host", false: "host"}[older], func(t *testing.T) {
			cutChangesHappenOnce(t, older)
		})
	}
}

func cutChangesHappenOnce(t *testing.T, older bool) {
	t.Helper()
	var changes []string
	for _, op := range documentedWithoutBody(t) {
		if !strings.HasPrefix(op, "GET ") {
			changes = append(changes, op)
		}
	}
	require.ElementsMatch(t, changes, slices.Collect(maps.Keys(withoutBody)))
	h := onAzurite(t, functiontest.Options{Older: older})
	for i, op := range changes {
		root := as(t, h, "root", "X-Dev-Roles", "admin")
		ann, bob := as(t, h, fmt.Sprintf("ann%d", i)), as(t, h, fmt.Sprintf("bob%d", i))
		who, path := withoutBody[op](ann, bob, root)
		before := who.versions(path)
		method, _, _ := strings.Cut(op, " ")
		who.header.Set(cutHeader, "yes")
		status, problem := who.does(method, path, "")
		require.Equal(t, http.StatusInternalServerError, status, op)
		require.Equal(t, "UNFINISHED", problem["code"], "the client learns what to do: %v", problem)
		line := fmt.Sprintf("cut %s %s: 2", method, path)
		var ran int
		require.Eventually(t, func() bool {
			ran = 0
			for _, l := range h.Logs() {
				if strings.HasPrefix(l.Text, line) {
					ran++
				}
			}
			return ran > 0
		}, 10*time.Second, 5*time.Millisecond, "%s did not succeed: %v", op, h.Logs()[max(0, len(h.Logs())-3):])
		require.Equal(t, 1, ran, op)
		who.header.Del(cutHeader)
		switch op {
		case "POST /prompts/{id}/fork":
			require.Len(t, who.did("GET", "/api/v1/me/prompts", "")["items"], 1, "forks of bob")
		case "POST /prompts/{id}/versions/{version}/restore", "POST /app/prompts/{id}/versions/{version}/restore",
			"POST /prompts/{id}/upstream/merge":
			require.Equal(t, before+1, who.versions(path), "versions after %s", op)
		}
	}
}

// TestChangesOverAKilledHandler: a host that proxies sends each change without a body to the
// handler that it started anew, too. What the killed one had done is done once, and the answer is
// that of a change that was done. A host that forwards does not send it again.
func TestChangesOverAKilledHandler(t *testing.T) {
	t.Setenv("OLDER_HOST", "") // it asks both
	for _, older := range []bool{true, false} {
		t.Run(map[bool]string{true: "older host", false: "host"}[older], func(t *testing.T) {
			changesOverAKilledHandler(t, older)
		})
	}
}

func changesOverAKilledHandler(t *testing.T, older bool) {
	t.Helper()
	var sent atomic.Int64
	h := onAzurite(t, functiontest.Options{Older: older, Faults: functiontest.Faults{Kill: func(r *http.Request) bool {
		return r.Method != http.MethodGet && r.Header.Get(killHeader) != "" && sent.Add(1) == 1
	}}})
	changes := maps.Clone(withoutBody)
	// Forms that have a button alone.
	changes["POST /app/prompts/{id}/versions/{version}/restore"] = func(ann, _, _ person) (person, string) {
		return ann, strings.Replace(ann.made(2), "/api/v1", "/app", 1) + "/versions/1/restore"
	}
	changes["POST /app/prompts/{id}/delete"] = func(ann, _, _ person) (person, string) {
		return ann, strings.Replace(ann.made(1), "/api/v1", "/app", 1) + "/delete"
	}
	for op := range changes {
		user := strings.NewReplacer("/", "-", "{", "", "}", "", " ", "").Replace(op)
		root, ann, bob := as(t, h, "root", "X-Dev-Roles", "admin"), as(t, h, "ann-of-"+user), as(t, h, "bob-of-"+user)
		who, path := changes[op](ann, bob, root)
		before := who.versions(path)
		sent.Store(0)
		who.header.Set(killHeader, "yes")
		method, _, _ := strings.Cut(op, " ")
		status, answer := who.does(method, path, "")
		who.header.Del(killHeader)
		if older {
			require.Equal(t, http.StatusInternalServerError, status, op)
			require.EqualValues(t, 1, sent.Load(), op)
		} else {
			require.Less(t, status, 300, "%s: %v", op, answer)
			require.EqualValues(t, 2, sent.Load(), op)
		}
		switch op {
		case "POST /prompts/{id}/fork":
			require.Len(t, who.did("GET", "/api/v1/me/prompts", "")["items"], 1, "forks of bob")
		case "POST /prompts/{id}/labels/{label}/undo":
			prompt := strings.TrimSuffix(path, "/labels/new/undo")
			require.EqualValues(t, 2, who.did("GET", prompt+"?label=new", "")["version"],
				"one move was taken back, and no more")
		case "POST /prompts/{id}/versions/{version}/restore", "POST /app/prompts/{id}/versions/{version}/restore",
			"POST /prompts/{id}/upstream/merge":
			require.Equal(t, before+1, who.versions(path), "versions after %s", op)
		}
	}
}

// versions returns how many versions the prompt has whose address path begins with, as p sees it.
func (p person) versions(path string) int {
	p.Helper()
	id, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, promptsPath+"/"), "/app/prompts/"), "/")
	_, versions := p.does("GET", promptsPath+"/"+id+"/versions", "")
	items, _ := versions["items"].([]any) // none of a thing that is no prompt
	return len(items)
}

// documentedWithoutBody returns the operations of the OpenAPI document that take no body.
func documentedWithoutBody(t *testing.T) []string {
	t.Helper()
	w := httptest.NewRecorder()
	testApp().doors(command.Serving{Identify: auth.Dev()}).ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/api/v1/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct{ RequestBody *struct{} }
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	var all []string
	for path, operations := range doc.Paths {
		for method, o := range operations {
			if o.RequestBody == nil {
				all = append(all, strings.ToUpper(method)+" "+strings.TrimPrefix(path, "/api/v1"))
			}
		}
	}
	slices.Sort(all)
	return all
}
