package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/functiontest"
)

// A process is one run of the program.
type process struct {
	out, err apptest.Output
	code     chan int
	stop     context.CancelFunc
}

// start runs the program during the test, and stops it with the test.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	p := &process{code: make(chan int, 1), stop: stop}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.code <- program().Run(ctx, args, command.Streams{In: strings.NewReader(""), Out: &p.out, Err: &p.err})
	}()
	t.Cleanup(func() {
		stop()
		<-done
		if t.Failed() {
			t.Logf("handler %s\nstdout: %s\nstderr: %s", args, p.out.String(), p.err.String())
		}
	})
	return p
}

// await waits until a stream has text that matches and returns its first group.
func await(t *testing.T, o *apptest.Output, pattern string) string {
	t.Helper()
	expr := regexp.MustCompile(pattern)
	var m []string
	require.Eventually(t, func() bool { m = expr.FindStringSubmatch(o.String()); return m != nil },
		20*time.Second, 5*time.Millisecond, "no %s", pattern)
	return m[len(m)-1]
}

// handler runs the program to its end.
func handler(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return withInput(t, "", args...)
}

func withInput(t *testing.T, in string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = program().Run(t.Context(), args, command.Streams{In: strings.NewReader(in), Out: &out, Err: &err})
	return code, out.String(), err.String()
}

// clean takes away what the environment of the test sets, and sets what is given by name and value.
func clean(t *testing.T, settings ...string) {
	t.Helper()
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		for _, ours := range []string{
			"AzureWebJobsStorage", "AUTH_", "PUBLIC_", "MAX_", "TAGS", "TABLE_", "QUEUE_",
			"LOG_", "FUNCTIONS_", "AZURE_FUNCTIONS_", "JWT_", "WEBSITE_AUTH_",
		} {
			if strings.HasPrefix(name, ours) {
				unset(t, name)
			}
		}
	}
	for i := 0; i < len(settings); i += 2 {
		t.Setenv(settings[i], settings[i+1])
	}
}

func unset(t *testing.T, name string) {
	t.Helper()
	t.Setenv(name, "") // restores it after the test
	require.NoError(t, os.Unsetenv(name))
}

// freePort returns a port on which no process listens.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := functiontest.UnusedPort()
	require.NoError(t, err)
	return strconv.Itoa(port)
}

// file writes a file of the test and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
