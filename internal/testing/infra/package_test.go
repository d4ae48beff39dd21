package infra

import (
	"archive/zip"
	"context"
	"debug/elf"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/functiontest"
	"prompthub/internal/testing/inputs"
)

// maxPackage keeps the start of an instance, which downloads the package, short.
const maxPackage = 30 << 20

// packDir is where the packages are, once they are made.
var packDir string

// packed is what "make package" makes, twice.
var packed = sync.OnceValues(func() ([2]string, error) {
	var archives [2]string
	dir, err := os.MkdirTemp("", "package")
	if err != nil {
		return archives, err
	}
	packDir = dir
	for i, name := range []string{"first", "second"} {
		archives[i] = filepath.Join(dir, name+".zip")
		cmd := exec.CommandContext(context.Background(), "go", "run", "./stage", "-out",
			filepath.Join(dir, name), "-zip", archives[i])
		cmd.Dir, cmd.Stderr = root, os.Stderr
		if err := cmd.Run(); err != nil {
			return archives, err
		}
	}
	return archives, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if packDir != "" {
		_ = os.RemoveAll(packDir)
	}
	os.Exit(code)
}

func archives(t *testing.T) (first, second string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the package")
	}
	inputs.Packages(t, "./handler", "./stage")
	inputs.Files(t, "host.json", "functions")
	both, err := packed()
	require.NoError(t, err)
	return both[0], both[1]
}

func TestPackageIsReproducible(t *testing.T) {
	first, second := archives(t)
	a, err := os.ReadFile(first)
	require.NoError(t, err)
	b, err := os.ReadFile(second)
	require.NoError(t, err)
	require.Less(t, len(a), maxPackage)
	require.True(t, string(a) == string(b), "the same commit gave two different packages")
}

func TestPackageHoldsWhatTheHostNeeds(t *testing.T) {
	first, _ := archives(t)
	want := []string{"handler", "host.json"}
	for _, f := range functions(t, ours) {
		want = append(want, f.name+"/function.json")
	}
	var names []string
	for name := range unzip(t, first, t.TempDir()) {
		names = append(names, name)
	}
	require.ElementsMatch(t, want, names, "and nothing else, no local settings above all")
}

func TestPackagedHandlerRunsOnFlexConsumption(t *testing.T) {
	first, _ := archives(t)
	dir := t.TempDir()
	require.Equal(t, os.FileMode(0o755), unzip(t, first, dir)["handler"])
	f, err := elf.Open(filepath.Join(dir, "handler"))
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, elf.EM_X86_64, f.Machine)
	libraries, err := f.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries, "linked statically")
}

// unzip unpacks an archive as the platform does and returns the modes of its entries.
func unzip(t *testing.T, archive, dir string) map[string]os.FileMode {
	t.Helper()
	z, err := zip.OpenReader(archive)
	require.NoError(t, err)
	defer z.Close()
	modes := make(map[string]os.FileMode)
	for _, e := range z.File {
		modes[e.Name] = e.Mode()
		path := filepath.Join(dir, filepath.FromSlash(e.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		r, err := e.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, e.Mode()))
	}
	return modes
}

// unpacked is done once, for all who start the package.
var unpacked sync.Once

func unpackedDir() string { return filepath.Join(packDir, "unpacked") }

// startPackage starts the package as it is, with settings.
func startPackage(t *testing.T, settings ...string) *functiontest.Host {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the package is built for linux/amd64")
	}
	first, _ := archives(t)
	unpacked.Do(func() { unzip(t, first, unpackedDir()) })
	return functiontest.Start(t, functiontest.Options{
		AppRoot: unpackedDir(),
		Env:     append([]string{"PATH=" + os.Getenv("PATH"), "QUEUE_PREFIX=package-"}, settings...),
	})
}

// get returns status and body of an answer.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// nowhere is a storage account that does not answer.
const nowhere = "AzureWebJobsStorage=DefaultEndpointsProtocol=http;AccountName=account;AccountKey=a2V5;" +
	"TableEndpoint=http://127.0.0.1:9/account;QueueEndpoint=http://127.0.0.1:9/account"

// A deployment that lacks a setting says so to its callers, and stays up.
func TestPackageSaysWhichSettingIsMissing(t *testing.T) {
	for _, c := range []struct {
		name, want string
		settings   []string
	}{
		{"no storage", "AzureWebJobsStorage", nil},
		{"no way to sign in", "AUTH_MODE", []string{nowhere}},
		{"a mode for developers", "AUTH_MODE", []string{nowhere, "AUTH_MODE=dev"}},
		{"tokens of nobody", "JWT_ISSUER", []string{nowhere, "AUTH_MODE=jwt", "JWT_AUDIENCE=api"}},
		{"tokens for nobody", "JWT_AUDIENCE", []string{nowhere, "AUTH_MODE=jwt", "JWT_ISSUER=https://issuer.test"}},
		{"sign-in that is off", "WEBSITE_AUTH_ENABLED", []string{nowhere, "AUTH_MODE=easyauth"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := startPackage(t, c.settings...)
			status, _ := get(t, h.URL()+"/api/v1/health")
			require.Equal(t, http.StatusOK, status)
			status, body := get(t, h.URL()+"/api/v1/prompts")
			require.Equal(t, http.StatusServiceUnavailable, status)
			require.Contains(t, body, c.want)
		})
	}
}

func TestPackageServes(t *testing.T) {
	h := startPackage(t, "AzureWebJobsStorage="+azurite.Start(t), "TABLE_PREFIX=Package", "PUBLIC_READ=true",
		"AUTH_MODE=jwt", "JWT_ISSUER=https://issuer.test", "JWT_AUDIENCE=api")
	require.Eventually(t, func() bool {
		status, _ := get(t, h.URL()+"/api/v1/ready")
		return status == http.StatusOK
	}, time.Minute, 50*time.Millisecond)
	status, body := get(t, h.URL()+"/api/v1/prompts")
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, body, `"items"`)
}
