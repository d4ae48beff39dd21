package e2e

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/functiontest"
	"prompthub/internal/testing/inputs"
)

// root is the root of the repository.
const root = "../../.."

// stageDir is where the application is staged.
var stageDir string

func TestMain(m *testing.M) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		fmt.Println("skipped: the staged application is built for linux/amd64")
		return
	}
	if flag.Parse(); testing.Short() {
		fmt.Println("skipped: builds the program, and waits for it")
		return
	}
	// The places of work and workOnAzurite keep the machine from too much at once. With fewer tests
	// side by side those that hold places would wait for those that want some.
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "prompthub")
	if err != nil {
		panic(err)
	}
	stageDir = filepath.Join(dir, "functionapp")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// staging makes the function app once, for the first test that asks.
var staging struct {
	once sync.Once
	done bool
}

// appRoot returns the directory of the staged function app.
func appRoot(t testing.TB) string {
	t.Helper()
	staging.once.Do(func() {
		inputs.Packages(t, "./handler", "./stage")
		inputs.Files(t, "host.json", "functions", "internal/tools/azurite", "internal/tools/web")
		cmd := exec.CommandContext(context.Background(), "go", "run", "./stage", "-out", stageDir)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "stage: %s", out)
		staging.done = true
	})
	require.True(t, staging.done, "the function app was not staged")
	return stageDir
}

func binary(t testing.TB) string {
	t.Helper()
	if other := os.Getenv("PROMPTHUB_BINARY"); other != "" { // to compare with an earlier one
		return other
	}
	return filepath.Join(appRoot(t), "handler")
}

// full reports whether the tests must do all that they can and not what is enough for every run.
func full() bool { return os.Getenv("E2E_FULL") != "" }

// An app is a running PromptHub.
type app interface {
	url() string
	env() []string     // for commands on its store
	data() string      // directory of the embedded store
	kill(t testing.TB) // SIGKILL, and start again
	what() string
}

// command runs the program to its end and returns its exit code and what it printed.
func command(t testing.TB, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(context.Background(), binary(t), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &out, &errs
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatalf("%v: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// A local is "handler local".
type local struct {
	dir  string
	vars []string
	addr string
	cmd  *exec.Cmd
	log  *os.File
	kind string
}

func startLocal(t testing.TB, kind string, env ...string) *local {
	t.Helper()
	a := newLocal(t, kind)
	a.vars = env
	a.start(t)
	return a
}

// newLocal returns one that is yet to be started, so that its address can be a part of its
// settings.
func newLocal(t testing.TB, kind string) *local {
	t.Helper()
	port, err := functiontest.UnusedPort()
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(t.TempDir(), "local.log"))
	require.NoError(t, err)
	a := &local{dir: t.TempDir(), addr: fmt.Sprintf("127.0.0.1:%d", port), log: log, kind: kind}
	t.Cleanup(func() {
		a.stop()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the last of what local printed:\n%s", text[max(0, len(text)-4000):])
		}
	})
	return a
}

func (a *local) start(t testing.TB) {
	t.Helper()
	a.cmd = exec.CommandContext(context.Background(), binary(t), "local", "--addr", a.addr, "--data", a.dir)
	a.cmd.Env, a.cmd.Stdout, a.cmd.Stderr = append(os.Environ(), a.vars...), a.log, a.log
	require.NoError(t, a.cmd.Start())
	awaitReady(t, a.url())
}

func (a *local) stop() {
	if a.cmd != nil && a.cmd.Process != nil {
		_ = a.cmd.Process.Kill() // gone already is as good
		_ = a.cmd.Wait()
	}
}

// printed returns what it has printed so far.
func (a *local) printed(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(a.log.Name())
	require.NoError(t, err)
	return string(text)
}

func (a *local) url() string   { return "http://" + a.addr }
func (a *local) env() []string { return a.vars }
func (a *local) data() string  { return a.dir }
func (a *local) what() string  { return a.kind }

func (a *local) kill(t testing.TB) {
	t.Helper()
	a.stop()
	a.start(t)
}

// quit stops it for good, so that commands can open its store.
func (a *local) quit(t testing.TB) {
	t.Helper()
	require.NoError(t, a.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, a.cmd.Wait(), "local ends well on an interrupt")
	a.cmd = nil
}

// A hosted is the staged application under the test host, on Azurite.
type hosted struct {
	*functiontest.Host
	vars []string
}

// queuePrefix goes before the names of queues on Azurite.
const queuePrefix = "e2e-"

// azureEnv returns the environment of an application on a storage account of its own: applications
// that share queues take each other's messages.
func azureEnv(t testing.TB) []string {
	t.Helper()
	return []string{"AzureWebJobsStorage=" + azurite.Account(t), "QUEUE_PREFIX=" + queuePrefix}
}

func startHosted(t testing.TB, faults functiontest.Faults) *hosted {
	t.Helper()
	return hostOn(t, azureEnv(t), functiontest.Options{Faults: faults})
}

// hostOn runs the application under the host on a storage account. The lock of a message is short,
// so that the work of a killed handler comes again soon.
func hostOn(t testing.TB, vars []string, o functiontest.Options) *hosted {
	t.Helper()
	o.AppRoot, o.Queues, o.Lock = appRoot(t), openAzure(t, vars, true).Queues, 30*time.Second
	o.Env = append(os.Environ(), vars...)
	o.Env = append(o.Env, "AUTH_MODE=dev", "AZURE_FUNCTIONS_ENVIRONMENT=Development",
		"AzureFunctionsJobHost__extensions__queues__maxPollingInterval=00:00:01")
	h := &hosted{vars: vars, Host: functiontest.Start(t, o)}
	awaitReady(t, h.url())
	return h
}

func (h *hosted) url() string   { return h.URL() }
func (h *hosted) env() []string { return h.vars }
func (h *hosted) data() string  { return "unused" }
func (h *hosted) what() string  { return "host" }

func (h *hosted) kill(t testing.TB) {
	t.Helper()
	h.Kill()
	awaitReady(t, h.url())
}

// awaitReady waits until the storage answers.
func awaitReady(t testing.TB, url string) {
	t.Helper()
	require.Eventually(t, func() bool {
		r, err := http.Get(url + "/api/v1/ready")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		return r.StatusCode == http.StatusOK
	}, time.Minute, 50*time.Millisecond, "%s does not become ready", url)
}

// atWork are the places for tests that keep the processors busy. With more of them, on two
// processors, an emulator of storage misses the deadlines of its callers. Who mostly waits takes no
// place, so that waits run side by side.
var atWork = make(chan struct{}, 4)

// work takes a place, and returns a function that gives it back before the test ends. A test with a
// long wait or more work than others ahead takes one before t.Parallel, and so gets it before all
// others. TestBrowser, TestKilledInTheMiddle and TestStorageFaults take all four so: a test that
// took a fifth there would wait forever.
func work(t testing.TB) (done func()) {
	t.Helper()
	atWork <- struct{}{}
	done = sync.OnceFunc(func() { <-atWork })
	t.Cleanup(done)
	return done
}

// loadAzurite are the places of those at work who load Azurite, which has one processor: where a
// call of it waits longer than it may, a prompt keeps its lease for more than a minute.
var loadAzurite = make(chan struct{}, 2)

// workOnAzurite takes a place of both kinds.
func workOnAzurite(t testing.TB) (done func()) {
	t.Helper()
	loadAzurite <- struct{}{}
	release := sync.OnceFunc(func() { <-loadAzurite })
	t.Cleanup(release)
	working := work(t)
	return func() {
		working()
		release()
	}
}

// lines returns the lines of a text.
func lines(text string) []string {
	var all []string
	s := bufio.NewScanner(strings.NewReader(text))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		all = append(all, s.Text())
	}
	return all
}

func readAll(r io.Reader) string {
	b, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
