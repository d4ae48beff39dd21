// Package apptest is for the tests of programs. It starts a sibling application for its own tests,
// which run in its folder handler: alone as "local" does, or staged as a deployment does it.
package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/azure"
	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/functiontest"
	"prompthub/internal/testing/inputs"
)

// root is the root of the repository, from where the tests of a sibling's handler run.
const root = "../../.."

// An Output is a standard stream that can be read while it is written.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps what is written.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// String returns what was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

var listens = regexp.MustCompile(`listens on (http://\S+)\n`)

// unlimited are settings of an application that takes as many requests of one caller as come. A
// request is charged for the time that it takes, so the slower the machine is the fewer are taken
// otherwise.
var unlimited = []string{"LIMIT_WRITES=-1", "LIMIT_READS=-1"}

// Environ returns the environment of an application that is started as a program of its own, with
// settings: it keeps its data in its own store and takes as many requests as come.
func Environ(settings ...string) []string {
	return slices.Concat(os.Environ(), []string{"AzureWebJobsStorage="}, unlimited, settings)
}

// Local runs "local" with its data in a folder and returns its address, and a function that stops
// it and returns its exit code. Settings of the environment that would change it are not set, and
// it takes as many requests as come.
func Local(t *testing.T, data string,
	run func(ctx context.Context, args []string, in io.Reader, out io.Writer) int,
) (url string, stop func() int) {
	t.Helper()
	for _, name := range []string{
		"AzureWebJobsStorage", "AUTH_MODE", "QUEUE_PREFIX",
		"TABLE_PREFIX", "CONTAINER_PREFIX",
	} {
		t.Setenv(name, "")
	}
	for _, setting := range unlimited {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	ctx, end := context.WithCancel(t.Context())
	var out Output
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"local", "--addr", "127.0.0.1:0", "--data", data}, bytes.NewReader(nil), &out)
	}()
	stop = sync.OnceValue(func() int { end(); return <-code })
	t.Cleanup(func() { stop() })
	var found []string
	require.Eventually(t, func() bool { found = listens.FindStringSubmatch(out.String()); return found != nil },
		20*time.Second, 5*time.Millisecond)
	return found[1], stop
}

// Send sends a request with headers, names and values by turns, and returns the status and the body
// of the answer.
func Send(t *testing.T, method, url, body string, headers ...string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b)
}

// Ask sends a request with a body as JSON, none for nil, and headers as Send does. It reads the
// answer, which must have the status.
func Ask[T any](t *testing.T, status int, method, url string, body any, headers ...string) T {
	t.Helper()
	var text []byte
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		require.NoError(t, err)
	}
	got, answer := Send(t, method, url, string(text), headers...)
	require.Equal(t, status, got, "%s %s: %s", method, url, answer)
	var v T
	if answer != "" {
		require.NoError(t, json.Unmarshal([]byte(answer), &v), "%s", answer)
	}
	return v
}

// UnderTheHost stages the application in a folder of the repository and runs it under the test
// host, in development mode on storage of its own in Azurite, with further settings.
func UnderTheHost(t *testing.T, folder string, settings ...string) *functiontest.Host {
	t.Helper()
	staged := Stage(t, folder)
	storage := azurite.WithBlobs(t, azurite.Account(t))
	account, err := azure.New(azure.Config{ConnectionString: storage, RawMessages: true})
	require.NoError(t, err)
	return functiontest.Start(t, functiontest.Options{
		AppRoot: staged, Queues: account.Queues,
		Env: Environ(append([]string{"AzureWebJobsStorage=" + storage, "AZURE_FUNCTIONS_ENVIRONMENT=Development"},
			settings...)...),
	})
}

// Stage stages the application in a folder of the repository as a deployment does, and returns
// where.
func Stage(t *testing.T, folder string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the package")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the package is built for linux/amd64")
	}
	inputs.Packages(t, "./"+folder+"/handler", "./stage")
	inputs.Files(t, folder)
	staged := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./stage", "-app", folder, "-out", staged)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return staged
}
