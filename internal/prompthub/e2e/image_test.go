package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImage builds the container image with buildah, from nothing, and runs the program in it.
// Where there is no buildah, CI does the same with docker.
func TestImage(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("buildah")
	if err != nil || os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("buildah, run by root, is needed to build a container image here (apt-get install buildah)")
	}
	dir := t.TempDir()
	buildah := func(args ...string) (string, error) {
		all := append([]string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs"}, args...)
		cmd := exec.CommandContext(context.Background(), tool, all...)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = errors.Join(err, errors.New(string(exit.Stderr)))
		}
		return string(out), err
	}
	t.Cleanup(func() { _, _ = buildah("rm", "--all") }) // what is left goes with the directory
	imageContext(t, filepath.Join(dir, "context"))
	_, err = buildah("build", "--isolation", "chroot", "--format", "docker", "-t", "prompthub", filepath.Join(dir, "context"))
	require.NoError(t, err)

	text, err := buildah("inspect", "--type", "image", "prompthub")
	require.NoError(t, err)
	var image struct {
		Docker struct {
			Config struct {
				User            string
				Entrypoint, Cmd []string
				Volumes         map[string]struct{}
				Healthcheck     struct{ Test []string }
			} `json:"config"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &image))
	c := image.Docker.Config
	require.Equal(t, "65532:65532", c.User)
	require.Equal(t, []string{"/handler"}, c.Entrypoint)
	require.Contains(t, c.Volumes, "/data")
	require.Equal(t, []string{"CMD", "/handler", "health"}, c.Healthcheck.Test)

	container, err := buildah("from", "--pull-never", "prompthub")
	require.NoError(t, err)
	run := func(args ...string) (string, error) {
		return buildah(append([]string{"run", "--isolation", "chroot", lines(container)[0], "/handler"}, args...)...)
	}
	version, err := run("version")
	require.NoError(t, err)
	require.Contains(t, version, "prompthub ")
	_, err = run("health", "--url", "http://127.0.0.1:9")
	require.ErrorContains(t, err, "connection refused")
	const why = "0.0.0.0:7071 can be reached by others" // in dev mode anybody may claim to be anybody
	for range 5 {
		// Under load buildah sometimes loses what a program said that ends at once.
		if _, err = run(c.Cmd...); err == nil || strings.Contains(err.Error(), why) {
			break
		}
	}
	require.ErrorContains(t, err, why)
	place, err := buildah("mount", lines(container)[0])
	require.NoError(t, err)
	volume, err := os.Stat(filepath.Join(lines(place)[0], "data"))
	require.NoError(t, err)
	require.EqualValues(t, 65532, volume.Sys().(*syscall.Stat_t).Uid, "the user of the image writes there")
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
