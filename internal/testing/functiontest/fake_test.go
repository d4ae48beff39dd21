package functiontest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	functions "prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
)

// The test binary is the handler too, where the environment says so.
const asHandler = "FUNCTIONTEST_HANDLER"

// And it is a whole host of an application, which this names, to be killed.
const asHost = "FUNCTIONTEST_HOST"

func TestMain(m *testing.M) {
	if how := os.Getenv(asHandler); how != "" {
		fakeHandler(how)
	}
	if root := os.Getenv(asHost); root != "" {
		fakeHost(root)
	}
	os.Exit(m.Run())
}

// fakeHost starts an application and prints where its handler listens.
func fakeHost(root string) {
	h := must(newHost(Options{AppRoot: root, Env: []string{asHandler + "=serve"}}, func(string, ...any) {}))
	if err := h.start(); err != nil {
		panic(err)
	}
	fmt.Println(h.worker.addr)
	select {}
}

// seen is what the fake handler saw of a forwarded request.
type seen struct {
	Method, URI, Host string
	Header            http.Header
	Length            int64
	Trailer           http.Header
	Body              string
}

// fakeHandler serves until it is killed or told to exit.
func fakeHandler(how string) {
	fmt.Println("hello from", filepath.Base(must(os.Getwd())), os.Getenv("SETTING"), strings.Join(os.Args[1:], ","))
	fmt.Fprintln(os.Stderr, "a Warning")
	fmt.Fprint(os.Stderr, "no end of line")
	if code, err := strconv.Atoi(how); err == nil {
		os.Exit(code)
	}
	if how == "mute" {
		select {}
	}
	addr := "127.0.0.1:" + os.Getenv("FUNCTIONS_CUSTOMHANDLER_PORT")
	guarded := functions.Handler(
		[]functions.Trigger{{
			Name: "guarded", Queue: "guarded",
			Run: func(_ context.Context, in functions.Invocation) error {
				fmt.Println("guarded ran:", in.Text)
				return nil
			},
		}}, addr, slog.New(slog.DiscardHandler), http.HandlerFunc(fakeRoutes))
	panic(http.Serve(must(net.Listen("tcp", addr)), guarded))
}

// goOn is closed when a request that pauses may go on.
var goOn = make(chan struct{})

func fakeRoutes(w http.ResponseWriter, r *http.Request) {
	body := string(must(io.ReadAll(r.Body)))
	switch {
	case r.URL.Path == "/api/cut" || strings.Contains(body, "please hang up"):
		fmt.Println("hung up on", r.Method, r.URL.Path, "of", r.ContentLength, "bytes")
		if r.URL.Query().Has("begun") {
			_, _ = io.WriteString(w, strings.Repeat("x", 10000))
		}
		panic(http.ErrAbortHandler)
	case r.URL.Path == "/api/raw": // an answer as it stands
		fmt.Println("hung up on", r.Method, r.URL.Path)
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(c, r.URL.Query().Get("text"))
		_ = c.Close()
	case r.URL.Path == "/api/header":
		for _, value := range r.URL.Query()["value"] {
			w.Header().Add(r.URL.Query().Get("name"), value)
		}
	case r.URL.Path == "/api/exit":
		os.Exit(must(strconv.Atoi(r.URL.Query().Get("code"))))
	case r.URL.Path == "/api/answer":
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Trailer", "X-Trailer")
		w.WriteHeader(must(strconv.Atoi(r.URL.Query().Get("status"))))
		fmt.Fprint(w, "answered")
		w.Header().Set("X-Trailer", "late")
	case r.URL.Path == "/api/pause":
		fmt.Println("paused")
		select {
		case <-goOn:
			fmt.Println("went on")
		case <-r.Context().Done():
			fmt.Println("saw the client go")
		}
	case r.URL.Path == "/api/goon":
		close(goOn)
	case r.URL.Path == "/api/events":
		fmt.Fprint(w, "data: first\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case r.URL.Path == "/api/sleep":
		time.Sleep(time.Hour)
	case r.URL.Path == "/jobs" || r.URL.Path == "/tick":
		fakeTrigger(w, body)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(seen{r.Method, r.RequestURI, r.Host, r.Header, r.ContentLength, r.Trailer, body})
	}
}

// fakeTrigger answers as the message asks for and returns the envelope as a line of the log.
func fakeTrigger(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	asks := func(what string) bool { return strings.Contains(body, "please "+what) }
	switch {
	case asks("fail"):
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "{}")
	case asks("null"):
		fmt.Fprint(w, "null")
	case asks("be empty"):
		w.WriteHeader(http.StatusNoContent)
	case asks("send text"):
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "{}")
	case asks("be blank"):
		fmt.Fprint(w, "  \n ")
	case asks("send wrong logs"):
		fmt.Fprint(w, `{"Logs":"x"}`)
	case asks("send a mark and more"):
		fmt.Fprint(w, "\uFEFF{} and more")
	case asks("send numbers"):
		fmt.Fprint(w, `{"Logs":[1]}`)
	case asks("send an array"):
		fmt.Fprint(w, "[]")
	case asks("redirect"):
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusMovedPermanently)
		fmt.Fprint(w, "{}")
	case asks("sleep"):
		fmt.Println("the job sleeps")
		time.Sleep(time.Hour)
	default:
		_ = json.NewEncoder(w).Encode(
			map[string]any{"Outputs": map[string]any{}, "Logs": []string{body}, "ReturnValue": nil})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// files is an application, by path.
type files map[string]string

const (
	bundle  = `"extensionBundle":{"id":"Microsoft.Azure.Functions.ExtensionBundle","version":"[4.*, 5.0.0)"}`
	queues  = `"queues":{"batchSize":16,"visibilityTimeout":"00:00:01","maxPollingInterval":"00:00:00.1"}`
	jobs    = `{"bindings":[{"type":"queueTrigger","direction":"in","name":"msg","queueName":"jobs","connection":"AzureWebJobsStorage"}]}`
	guarded = `{"bindings":[{"type":"queueTrigger","direction":"in","name":"msg","queueName":"guarded"}]}`
	tick    = `{"bindings":[{"type":"timerTrigger","direction":"in","name":"timer","schedule":"0 */5 * * * *"}]}`
	rest    = `{"bindings":[{"type":"httpTrigger","direction":"in","name":"req","authLevel":"anonymous","route":"{*rest}"},{"type":"http","direction":"out","name":"res"}]}`
)

// hostJSON returns a host.json for the fake handler with more of its sections.
func hostJSON(extensions string) string {
	exe := must(json.Marshal(must(os.Executable())))
	return fmt.Sprintf(`{"version":"2.0",%s,"extensions":{%s},"customHandler":{"description":{"defaultExecutablePath":%s,"arguments":["--x=%%SETTING%%","%%NONE%%"]},
		"enableForwardingHttpRequest":true,"initializationTimeout":"00:00:20"}}`, bundle, extensions, exe)
}

// app returns the usual application with changes.
func application(change files) files {
	all := files{
		"host.json": hostJSON(queues), "zz_rest/function.json": rest, "jobs/function.json": jobs,
		"guarded/function.json": guarded, "tick/function.json": tick,
	}
	for path, content := range change {
		if content == "" {
			delete(all, path)
			continue
		}
		all[path] = content
	}
	return all
}

func (f files) write(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range f {
		at := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(content), 0o644))
	}
	return root
}

// complaints takes the place of a test that the host would fail.
type complaints struct {
	mu  sync.Mutex
	all []string
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, fmt.Sprintf(format, args...))
}

func (c *complaints) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.all...)
}

// boot starts an application whose handler behaves as how says and returns the host, what it
// complains about, and whether it started.
func boot(t *testing.T, app files, how string, o Options, env ...string) (*Host, *complaints, error) {
	t.Helper()
	o.AppRoot = app.write(t)
	o.Env = append(os.Environ(), append(env, asHandler+"="+cmp.Or(how, "serve"))...)
	c := &complaints{}
	h, err := newHost(o, c.add)
	require.NoError(t, err)
	t.Cleanup(h.Stop)
	return h, c, h.start()
}

// up is boot for a host that has to start and has nothing to complain about.
func up(t *testing.T, app files, o Options, env ...string) *Host {
	t.Helper()
	h, c, err := boot(t, app, "", o, env...)
	require.NoError(t, err)
	t.Cleanup(func() { require.Empty(t, c.list()) })
	return h
}

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 30*time.Second, 10*time.Millisecond)
}

// size returns how many messages a queue holds; one that does not exist holds none.
func size(q queue.Queues, name string) int {
	n, err := q.Len(context.Background(), name)
	if err != nil {
		return 0
	}
	return n
}
