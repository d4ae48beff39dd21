package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth/authtest"
)

// TestImage builds the container image with buildah, from nothing, and runs the program in it.
// Where there is no buildah, CI does the same with docker.
func TestImage(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("buildah")
	if err != nil || os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("buildah, run by root, is needed to build a container image here (apt-get install buildah)")
	}
	work(t)
	dir := t.TempDir()
	b := buildah{tool, []string{
		"--root", filepath.Join(dir, "root"), "--runroot",
		filepath.Join(dir, "run"), "--storage-driver", "vfs",
	}}
	t.Cleanup(func() { _, _ = b.do("rm", "--all") }) // the rest goes with the directory
	imageContext(t, filepath.Join(dir, "context"))
	_, err = b.do("build", "--isolation", "chroot", "--format", "docker", "-t", "prompthub",
		filepath.Join(dir, "context"))
	require.NoError(t, err)
	c := b.config(t)
	require.Equal(t, "65532:65532", c.User)
	require.Equal(t, []string{"/handler"}, c.Entrypoint)
	require.Equal(t, []string{"local", "--addr", "0.0.0.0:7071", "--data", "/data"}, c.Cmd)
	require.Contains(t, c.Volumes, "/data")
	require.Equal(t, []string{"CMD", "/handler", "health"}, c.Healthcheck.Test)

	said, err := b.do("from", "--pull-never", "prompthub")
	require.NoError(t, err)
	container := lines(said)[0]
	run := func(args ...string) (string, error) {
		return b.do(append([]string{"run", "--isolation", "chroot", container, "/handler"}, args...)...)
	}
	version, err := run("version")
	require.NoError(t, err)
	require.Contains(t, version, "prompthub ")
	const why = "0.0.0.0:7071 can be reached by others" // in dev mode anybody may claim to be anybody
	for range 5 {
		// Under load buildah sometimes loses what a program said that ends at once.
		if _, err = run(c.Cmd...); err == nil || strings.Contains(err.Error(), why) {
			break
		}
	}
	require.ErrorContains(t, err, why)
	place, err := b.do("mount", container)
	require.NoError(t, err)
	volume, err := os.Stat(filepath.Join(lines(place)[0], "data"))
	require.NoError(t, err)
	require.EqualValues(t, 65532, volume.Sys().(*syscall.Stat_t).Uid, "the user of the image writes there")

	a := newLocal(t, "image")
	_, err = run("health", "--url", a.url())
	require.ErrorContains(t, err, "connection refused")
	signsIn(t, b, container, c.Cmd, a)
	_, err = run("health", "--url", a.url())
	require.NoError(t, err)
}

// signsIn runs the command of the image as docs/self-host.md has it, but for the port: it listens
// to everyone, keeps its data in the volume, and sends people to their provider.
func signsIn(t *testing.T, b buildah, container string, cmd []string, a *local) {
	t.Helper()
	provider := authtest.Start(t,
		authtest.Options{
			Redirects: []string{a.url() + "/app/signin/callback"},
			Logouts:   []string{a.url() + "/app"}, TokenSeconds: 600,
		})
	args := append(slices.Clone(b.where), "run", "--isolation", "chroot")
	for _, v := range oidcSettings(provider.Issuer, a.url()) {
		args = append(args, "--env", v)
	}
	_, port, err := net.SplitHostPort(a.addr)
	require.NoError(t, err)
	args = append(args, container, "/handler")
	for _, arg := range cmd {
		args = append(args, strings.Replace(arg, ":7071", ":"+port, 1))
	}
	run := exec.CommandContext(context.Background(), b.tool, args...)
	run.Stdout, run.Stderr, run.SysProcAttr = a.log, a.log, &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-run.Process.Pid, syscall.SIGKILL) // buildah does not take what it runs with it
		_ = run.Wait()
	})
	awaitReady(t, a.url())

	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]int{
		"/app/mine":         http.StatusUnauthorized,
		"/app/signin/start": http.StatusSeeOther,
	} {
		resp, err := client.Get(a.url() + path)
		require.NoError(t, err)
		body := readAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, resp.StatusCode, body)
		if want == http.StatusSeeOther {
			require.Contains(t, resp.Header.Get("Location"), provider.Issuer+"/auth?client_id="+authtest.ClientID)
		} else {
			require.Contains(t, body, `href="/app/signin/start?back=%2fapp%2fmine"`)
		}
	}
	require.Contains(t, a.printed(t), "Data is in /data/prompthub.db")
}

// A buildah is the program that builds images, and where it keeps them.
type buildah struct {
	tool  string
	where []string
}

func (b buildah) do(args ...string) (string, error) {
	out, err := exec.CommandContext(context.Background(), b.tool, append(slices.Clone(b.where), args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = errors.Join(err, errors.New(string(exit.Stderr)))
	}
	return string(out), err
}

// An imageConfig is what an image says of how it is run.
type imageConfig struct {
	User            string
	Entrypoint, Cmd []string
	Volumes         map[string]struct{}
	Healthcheck     struct{ Test []string }
}

func (b buildah) config(t *testing.T) imageConfig {
	t.Helper()
	text, err := b.do("inspect", "--type", "image", "prompthub")
	require.NoError(t, err)
	var image struct {
		Docker struct {
			Config imageConfig `json:"config"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &image))
	return image.Docker.Config
}

// imageContext makes what "make image" makes.
func imageContext(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data"), 0o755))
	recipe, err := os.ReadFile(root + "/deploy/Containerfile")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Containerfile"), recipe, 0o600))
	program, err := os.ReadFile(binary(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "handler"), program, 0o755))
}
