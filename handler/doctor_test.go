package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/storage/queue"
	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/functiontest"
)

// examined runs doctor, and returns what it alerts of by name.
func examined(t *testing.T, args ...string) (alerts map[string]command.Fact) {
	t.Helper()
	code, out, errs := handler(t, append([]string{"doctor", "--json"}, args...)...)
	alerts = map[string]command.Fact{}
	for line := range strings.Lines(out) {
		var f command.Fact
		require.NoError(t, json.Unmarshal([]byte(line), &f), "%s %s", out, errs)
		if f.Alert != "" {
			alerts[f.Name] = f
		}
	}
	want := command.OK
	if len(alerts) > 0 {
		want = command.Failed
	}
	require.Equal(t, want, code, errs)
	return alerts
}

// one returns the one thing that is told to be wrong.
func one(t *testing.T, alerts map[string]command.Fact, name, value, alert string) {
	t.Helper()
	require.Len(t, alerts, 1, "%v", alerts)
	require.Contains(t, alerts[name].Value, value)
	require.Contains(t, alerts[name].Alert, alert)
}

// TestDoctorOfAnAccount: each fault of a storage account (Azurite) and of the settings is told by
// itself, with what to do.
func TestDoctorOfAnAccount(t *testing.T) {
	clean(t)
	storage := azurite.WithBlobs(t, azurite.Start(t))
	t.Setenv("AzureWebJobsStorage", storage)
	t.Setenv("TABLE_PREFIX", "Doctor")
	t.Setenv("QUEUE_PREFIX", "doctor-")
	t.Setenv("CONTAINER_PREFIX", "doctor-")
	t.Setenv("AUTH_MODE", "easyauth")
	t.Setenv("WEBSITE_AUTH_ENABLED", "true")
	none := t.TempDir() // has no host.json

	alerts := examined(t, "--app", none)
	require.Contains(t, alerts["Tables"].Value, "does not exist")
	require.Contains(t, alerts["Queues"].Value, "does not exist")
	require.Contains(t, alerts["Queues"].Alert, "The service makes it when it starts")

	s, err := readSettings()
	require.NoError(t, err)
	st, err := service().OpenStore("", s.QueuePrefix)
	require.NoError(t, err)
	a := newApp(s, st, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, a.db.Create(t.Context()))
	require.NoError(t, st.Blobs.Create(t.Context(), "doctor-backups")) // as the deployment does
	require.Empty(t, examined(t, "--app", none))

	poison := queue.Poison("index-repairs")
	_, err = st.Queues.Send(t.Context(), poison, "x", 0)
	require.NoError(t, err)
	one(t, examined(t, "--app", none), "Queue index-repairs", "1 set aside", "redrive")

	t.Setenv("TABLE_PREFIX", "Another")
	one(t, examined(t, "--app", none), "Tables", "does not exist", "TABLE_PREFIX")
	t.Setenv("TABLE_PREFIX", "Doctor")

	t.Setenv("QUEUE_PREFIX", "another-")
	one(t, examined(t, "--app", none), "Queues", "does not exist", "QUEUE_PREFIX")
	t.Setenv("QUEUE_PREFIX", "doctor-")
	t.Setenv("CONTAINER_PREFIX", "another-")
	one(t, examined(t, "--app", none), "Containers", "does not exist", "azd provision")
	t.Setenv("CONTAINER_PREFIX", "doctor-")
	t.Setenv("AzureWebJobsStorage", azuriteWithoutBlobs(storage))
	one(t, examined(t, "--app", none), "Containers", "refused", "firewall")
	t.Setenv("AzureWebJobsStorage", storage)

	for kind, role := range map[string]string{"Queue": "Queues", "Blob": "Containers"} {
		t.Setenv("AzureWebJobsStorage", mayOnlyRead(t, storage, kind))
		one(t, examined(t, "--app", none), role, "403", "Storage Queue Data Contributor")
	}
	t.Setenv("AzureWebJobsStorage", storage)

	t.Setenv("QUEUE_PREFIX", "")
	require.Contains(t, examined(t, "--app", none)["Settings"].Value, "QUEUE_PREFIX")
	t.Setenv("QUEUE_PREFIX", "doctor-")

	t.Setenv("AUTH_MODE", "nonsense")
	require.Contains(t, examined(t, "--app", none)["Settings"].Value, "AUTH_MODE")
	t.Setenv("AUTH_MODE", "easyauth")

	t.Setenv("AzureWebJobsStorage", "")
	for _, kind := range []string{"table", "queue", "blob"} {
		t.Setenv("AzureWebJobsStorage__"+kind+"ServiceUri", "https://127.0.0.1:9")
	}
	identities := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"statusCode":400,"message":"there is no such identity"}`)
	}))
	defer identities.Close()
	t.Setenv("IDENTITY_ENDPOINT", identities.URL)
	t.Setenv("IDENTITY_HEADER", "x")
	t.Setenv("AzureWebJobsStorage__credential", "managedidentity")
	for _, kind := range []string{"Tables", "Queues", "Containers"} {
		alert := examined(t, "--app", none)[kind]
		require.Contains(t, alert.Value, "no token of an identity: ")
		require.Contains(t, alert.Value, "there is no such identity")
		require.NotContains(t, alert.Value, "\n")
		require.Contains(t, alert.Alert, "az login")
	}
	t.Setenv("AzureWebJobsStorage", storage)

	_, rest, _ := strings.Cut(storage, "AccountKey=")
	key, _, _ := strings.Cut(rest, ";")
	t.Setenv("AzureWebJobsStorage", strings.ReplaceAll(storage, key, "bm90IHRoZSBrZXk="))
	alerts = examined(t, "--app", none)
	require.Contains(t, alerts["Tables"].Value, "403")
	require.Contains(t, alerts["Tables"].Alert, "a key that is valid")

	t.Setenv("AzureWebJobsStorage", "AccountName=x")
	require.Contains(t, examined(t, "--app", none)["Store"].Alert, "AzureWebJobsStorage")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close()) // nothing listens there any more
	away := fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=%s;TableEndpoint=http://%[2]s/a;QueueEndpoint=http://%[2]s/a;BlobEndpoint=http://%[2]s/a;", key, l.Addr())
	t.Setenv("AzureWebJobsStorage", away)
	require.Contains(t, examined(t, "--app", none)["Tables"].Alert, "firewall")
}

// azuriteWithoutBlobs returns a connection string of which the blob service is not there.
func azuriteWithoutBlobs(storage string) string {
	_, rest, _ := strings.Cut(storage, "BlobEndpoint=")
	endpoint, _, _ := strings.Cut(rest, ";")
	return strings.Replace(storage, endpoint, "http://127.0.0.1:9/a", 1)
}

// mayOnlyRead returns a connection string whose queues or blobs are those of another, where a write
// is refused as if an identity had the role of a reader.
func mayOnlyRead(t *testing.T, storage, kind string) string {
	t.Helper()
	_, rest, _ := strings.Cut(storage, kind+"Endpoint=")
	endpoint, _, _ := strings.Cut(rest, ";")
	at, err := url.Parse(endpoint)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: at.Scheme, Host: at.Host})
		r.Out.Host = at.Host
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("X-Ms-Error-Code", "AuthorizationPermissionMismatch")
			w.WriteHeader(http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(storage, endpoint, server.URL+at.Path, 1)
}

// TestDoctorOfAStore: an embedded store is examined as status does it, also while a service has it.
func TestDoctorOfAStore(t *testing.T) {
	clean(t)
	t.Setenv("AUTH_MODE", "dev")
	none, data := t.TempDir(), t.TempDir()
	one(t, examined(t, "--app", none, "--data", data), "Store", "there is no store", "--data")
	p := start(t, "local", "--addr", "127.0.0.1:0", "--data", data)
	url := await(t, &p.err, `(http://127\.0\.0\.1:\d+)`)
	alerts := examined(t, "--app", none, "--data", data, "--url", url)
	delete(alerts, "Newest backup") // it was told to write none
	delete(alerts, "Free on its disk")
	require.Empty(t, alerts)
	p.stop()
	require.Zero(t, <-p.code)
	p.code <- 0
	require.NoError(t, os.WriteFile(filepath.Join(data, "prompthub.db"), []byte("damaged"), 0o600))
	one(t, examined(t, "--app", none, "--data", data), "Store", "", "restore a backup")
}

// TestDoctorOfFunctions: host.json and the folders of functions are held against the program.
func TestDoctorOfFunctions(t *testing.T) {
	clean(t)
	t.Setenv("AUTH_MODE", "dev")
	look := func(app string) map[string]command.Fact {
		alerts := examined(t, "--app", app, "--data", t.TempDir())
		delete(alerts, "Store") // there is none
		return alerts
	}
	require.Empty(t, look(".."), "the repository's own")
	copied := func() string {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(filepath.Join(dir, "functions"), os.DirFS("../functions")))
		text, err := os.ReadFile("../host.json")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "host.json"), text, 0o600))
		return dir
	}
	dir := copied()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "functions", "index-repairs")))
	one(t, look(dir), "Functions", "no folder for index-repairs", "this release")
	dir = copied()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "functions", "entropy"), os.DirFS("../functions/anti-entropy")))
	one(t, look(dir), "Functions", "does not know entropy", "same release")
	for _, fault := range [][4]string{ // file, text, another text in its place, the fault as it is told
		{"functions/tags/function.json", `{`, ``, "tags/function.json: "},
		{
			"functions/prompts/function.json", "api/v1/", "api/v2/",
			`prompts: bindings[0].route is "api/v2/prompts/{*rest}"`,
		},
		{"functions/prompts/function.json", "httpTrigger", "htpTrigger", "prompts: bindings[0].type"},
		{
			"functions/index-repairs/function.json", "index-repairs", "index-repair",
			"index-repairs: bindings[0].queueName",
		},
		{
			"functions/index-repairs/function.json", "AzureWebJobsStorage", "Storage",
			"index-repairs: bindings[0].connection",
		},
		{"functions/backups/function.json", "0 50 ", "0 99 ", "backups: bindings[0].schedule"},
		{"host.json", `"routePrefix": ""`, `"routePrefix": "api"`, `extensions.http.routePrefix is "api" and not ""`},
		{"host.json", "base64", "none", "extensions.queues.messageEncoding"},
		{"host.json", "Microsoft.Azure.Functions.ExtensionBundle", "x", "extensionBundle.id"},
		{"host.json", `"handler"`, `"handlr"`, "customHandler.description.defaultExecutablePath"},
		{"host.json", "00:05:00", "00:00:10", "functionTimeout"},
		{
			"host.json", `"enableProxyingHttpRequest": true`, `"enableProxyingHttpRequest": false`,
			"customHandler.enableProxyingHttpRequest is false and not true",
		},
		{"host.json", `"version"`, `version`, "invalid character"},
	} {
		dir := copied()
		text, err := os.ReadFile(filepath.Join(dir, fault[0]))
		require.NoError(t, err)
		require.Contains(t, string(text), fault[1], fault[0])
		require.NoError(t, os.WriteFile(filepath.Join(dir, fault[0]),
			[]byte(strings.Replace(string(text), fault[1], fault[2], 1)), 0o600))
		name := "Functions"
		if fault[0] == "host.json" {
			name = "host.json"
		}
		one(t, look(dir), name, fault[3], "the release that runs")
	}
}

// TestDoctorOfADeployedFolder: after azd has deployed, doctor has azd's variables and its folder,
// in which "local" may have been tried. It examines the deployment alone.
func TestDoctorOfADeployedFolder(t *testing.T) {
	clean(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("AUTH_MODE", "dev")
	p := start(t, "local", "--addr", "127.0.0.1:0")
	await(t, &p.err, `(http://127\.0\.0\.1:\d+)`)
	p.stop()
	require.Zero(t, <-p.code)
	p.code <- 0
	require.FileExists(t, filepath.Join(dir, ".data", "prompthub.db"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"ok","version":"1"}`)
	}))
	defer server.Close()
	t.Setenv("AUTH_MODE", "easyauth") // outputs of the deployment
	t.Setenv("QUEUE_PREFIX", "prompthub-")
	t.Setenv("FUNCTION_APP_URL", server.URL)
	require.Empty(t, examined(t))
	require.Contains(t, examined(t, "--data", ".data"), "Settings", "a store that is named is examined")
}

// TestDoctorOfADeployment: faults of a service are told apart: no service, another one, one
// whose store is away, an old host, a clock that is wrong.
func TestDoctorOfADeployment(t *testing.T) {
	clean(t)
	t.Setenv("AUTH_MODE", "dev")
	none := t.TempDir()
	look := func(h http.HandlerFunc) map[string]command.Fact {
		server := httptest.NewServer(h)
		defer server.Close()
		return examined(t, "--app", none, "--url", server.URL+"/")
	}
	answers := func(change func(http.ResponseWriter, *http.Request) bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if change != nil && change(w, r) {
				return
			}
			_, _ = io.WriteString(w, `{"status":"ok","version":"1"}`)
		}
	}
	require.Empty(t, look(answers(nil)))
	one(t, look(answers(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(500); return true })),
		"Service", "500", "host's log")
	one(t, look(answers(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(404); return true })),
		"Service", "does not know its function", "Deploy the folders")
	one(t, look(answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == service().Ready {
			w.WriteHeader(503)
			_, _ = io.WriteString(w,
				`{"code":"UNAVAILABLE","detail":"the storage does not answer at the moment; try again"}`)
			return true
		}
		return false
	})), "Store of the service", "does not answer", "has its roles on the account")
	one(t, look(answers(func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(403); return true })),
		"Service", "403", "stopped")
	one(t, look(answers(func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = io.WriteString(w, "<html>Your app is up and running</html>")
		return true
	})), "Service", "200", "another application")
	one(t, look(answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != service().Ready {
			return false
		}
		w.WriteHeader(503)
		_, _ = io.WriteString(w, `{"code":"NOT_CONFIGURED","detail":"the setting AUTH_MODE is not set"}`)
		return true
	})), "Store of the service", "NOT_CONFIGURED the setting AUTH_MODE is not set", "Mend what it says")
	require.Empty(t, look(answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.ContentLength >= 0 {
			return false
		}
		w.WriteHeader(500)
		return true
	})), "an old host is none that can be mended")
	for wrong, side := range map[time.Duration]string{
		-10 * time.Minute: "behind the clock of this machine",
		10 * time.Minute:  "ahead of the clock of this machine",
	} {
		one(t, look(answers(func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Date", time.Now().Add(wrong).UTC().Format(http.TimeFormat))
			return false
		})), "Clock of the service", side, "NTP")
	}
	server := httptest.NewServer(answers(nil))
	server.Close()
	one(t, examined(t, "--app", none, "--url", server.URL), "Service", "refused", "function app is started")
	asked := 0
	starting := httptest.NewServer(answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != service().Health || r.Method != http.MethodGet {
			return false
		}
		if asked++; asked > 1 {
			return false
		}
		w.WriteHeader(502)
		return true
	}))
	defer starting.Close()
	require.Empty(t, examined(t, "--app", none, "--url", starting.URL, "--within", "1m"), "it is asked again")
	stays := httptest.NewServer(answers(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != service().Ready {
			return false
		}
		w.WriteHeader(503)
		_, _ = io.WriteString(w, `{"code":"NOT_CONFIGURED","detail":"the setting AUTH_MODE is not set"}`)
		return true
	}))
	defer stays.Close()
	// at once
	one(t, examined(t, "--app", none, "--url", stays.URL, "--within", "240h"), "Store of the service",
		"NOT_CONFIGURED", "Mend what it says")
}

// TestDoctorUnderTheHost: under the test host, in both modes and with the platform's front end,
// doctor tells the modes apart, what came of chunks, and the address that limits count, which no
// caller can choose.
func TestDoctorUnderTheHost(t *testing.T) {
	t.Setenv("OLDER_HOST", "")
	for _, older := range []bool{false, true} {
		t.Run(map[bool]string{true: "older host", false: "host"}[older], func(t *testing.T) {
			h := behindHost(t, functiontest.Options{Older: older, FrontEnd: true}, "AzureWebJobsStorage="+nowhere,
				"WEBSITE_SITE_NAME=prompthub")
			said := map[string]command.Fact{}
			_, out, _ := handler(t, "doctor", "--json", "--app", t.TempDir(), "--url", h.URL())
			for line := range strings.Lines(out) {
				var f command.Fact
				require.NoError(t, json.Unmarshal([]byte(line), &f))
				said[f.Name] = f
			}
			chunks, mode := "come through", "proxies"
			if older {
				chunks, mode = "an old one", "forwards"
			}
			require.Contains(t, said["Bodies in chunks"].Value, chunks)
			require.Contains(t, said["Host"].Value, mode)
			require.Contains(t, said["Address of a caller"].Value, "127.0.0.1, from ")
			require.Empty(t, said["Address of a caller"].Alert)
			require.Equal(t, command.Fact{
				Name:  "Routes",
				Value: "the host knows all 29 functions that answer requests",
			}, said["Routes"])
		})
	}
	// A function that the host did not load is none of its own.
	lost := behindHost(t, functiontest.Options{}, "AzureWebJobsStorage="+nowhere, "AzureWebJobs.prompts.Disabled=true",
		"AzureWebJobs.import.Disabled=true")
	require.Contains(t, examined(t, "--app", t.TempDir(), "--url", lost.URL())["Routes"].Value,
		"the host does not know import, prompts")
	// Without the front end the caller alone writes Client-IP.
	h := behindHost(t, functiontest.Options{}, "AzureWebJobsStorage="+nowhere, "WEBSITE_SITE_NAME=prompthub")
	_, out, _ := handler(t, "doctor", "--app", t.TempDir(), "--url", h.URL())
	require.Contains(t, out, "that which a caller claims is believed")
}
