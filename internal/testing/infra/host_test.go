package infra

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/host/function/queuetrigger"
)

// A hostFile is the part of host.json that this application uses. An unknown key is a mistake:
// the host passes over it without a word.
type hostFile struct {
	Schema          string          `json:"$schema"`
	Version         string          `json:"version"`
	ExtensionBundle extensionBundle `json:"extensionBundle"`
	FunctionTimeout string          `json:"functionTimeout"`
	HealthMonitor   json.RawMessage `json:"healthMonitor"`
	Extensions      struct {
		HTTP   httpExtension   `json:"http"`
		Queues queuesExtension `json:"queues"`
	} `json:"extensions"`
	CustomHandler customHandler `json:"customHandler"`
	Logging       struct {
		LogLevel            map[string]string `json:"logLevel"`
		ApplicationInsights struct {
			EnableDependencyTracking bool     `json:"enableDependencyTracking"`
			SamplingSettings         sampling `json:"samplingSettings"`
		} `json:"applicationInsights"`
	} `json:"logging"`
}

type extensionBundle struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

type httpExtension struct {
	RoutePrefix             string          `json:"routePrefix"`
	MaxOutstandingRequests  int             `json:"maxOutstandingRequests"`
	MaxConcurrentRequests   int             `json:"maxConcurrentRequests"`
	DynamicThrottlesEnabled bool            `json:"dynamicThrottlesEnabled"`
	HSTS                    json.RawMessage `json:"hsts"`
}

type queuesExtension struct {
	BatchSize         int    `json:"batchSize"`
	NewBatchThreshold int    `json:"newBatchThreshold"`
	MaxPollingTime    string `json:"maxPollingInterval"`
	RetryDelay        string `json:"visibilityTimeout"`
	MaxDequeueCount   int    `json:"maxDequeueCount"`
	MessageEncoding   string `json:"messageEncoding"`
}

type customHandler struct {
	Description struct {
		DefaultExecutablePath string `json:"defaultExecutablePath"`
	} `json:"description"`
	EnableForwardingHTTPRequest bool `json:"enableForwardingHttpRequest"`
	EnableProxyingHTTPRequest   bool `json:"enableProxyingHttpRequest"`
}

type sampling struct {
	IsEnabled                  bool    `json:"isEnabled"`
	MaxTelemetryItemsPerSecond float64 `json:"maxTelemetryItemsPerSecond"`
	ExcludedTypes              string  `json:"excludedTypes"`
}

// strict reads a JSON file that may hold nothing unknown.
func strict(t *testing.T, data []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(into))
}

func host(t *testing.T, app application) hostFile {
	t.Helper()
	var h hostFile
	strict(t, content(t, string(app), "host.json"), &h)
	return h
}

// span reads "hh:mm:ss" as the host does.
func span(t *testing.T, text string) time.Duration {
	t.Helper()
	at, err := time.Parse(time.TimeOnly, text)
	require.NoError(t, err)
	return at.Sub(at.Truncate(24 * time.Hour))
}

func TestHostFile(t *testing.T) {
	t.Parallel()
	each(t, hostFileFits)
}

func hostFileFits(t *testing.T, app application) {
	h := host(t, app)
	require.Equal(t, "2.0", h.Version)
	require.Equal(t, "Microsoft.Azure.Functions.ExtensionBundle", h.ExtensionBundle.ID)
	require.Regexp(t, `^\[4\.\*, 5\.0\.0\)$`, h.ExtensionBundle.Version)
	require.Equal(t, "handler", h.CustomHandler.Description.DefaultExecutablePath)
	require.True(t, h.CustomHandler.EnableProxyingHTTPRequest, "hosts from 4.1041 on")
	require.True(t, h.CustomHandler.EnableForwardingHTTPRequest, "older ones")
	require.Empty(t, h.Extensions.HTTP.RoutePrefix, "pages and API have routes of their own")

	q := h.Extensions.Queues
	require.LessOrEqual(t, q.BatchSize, 32)
	require.Positive(t, q.NewBatchThreshold)
	require.Equal(t, "base64", q.MessageEncoding)
	require.LessOrEqual(t, span(t, q.MaxPollingTime), 5*time.Second, "lists follow a vote within seconds")
	require.LessOrEqual(t, span(t, h.FunctionTimeout), 10*time.Minute)

	require.Greater(t, span(t, h.FunctionTimeout), command.AnswerWithin,
		"an answer ends before the host ends the handler")
	require.Greater(t, command.StuckAfter, span(t, h.FunctionTimeout)+time.Minute-1,
		"the program is more patient than the host")
	local := command.LocalQueues()
	require.Equal(t, queuetrigger.Settings{
		BatchSize: q.BatchSize, NewBatchThreshold: q.NewBatchThreshold, MaxDequeue: q.MaxDequeueCount,
		RetryDelay: span(t, q.RetryDelay),
		Lock:       local.Lock, MaxPoll: local.MaxPoll,
	}, local, "local does as the host does")

	s := h.Logging.ApplicationInsights.SamplingSettings
	require.Contains(t, strings.Split(s.ExcludedTypes, ";"), "Request",
		"alerts count requests, so none may be left out")
	require.Contains(t, strings.Split(s.ExcludedTypes, ";"), "Exception")

	// Of what the host says of each run only the alert on projection age reads a line, that of queues.
	levels := map[string]string{
		"default": "Information", "Function": "Warning", "Host.Aggregator": "Warning",
		"Host.Results": "Information", "Azure.Core": "Warning",
	}
	for _, f := range functions(t, app) {
		if f.trigger().Type == "queueTrigger" {
			levels["Function."+f.name] = "Information"
		}
	}
	require.Equal(t, levels, h.Logging.LogLevel)
	require.False(t, h.Logging.ApplicationInsights.EnableDependencyTracking,
		"the host would log its call of the handler once more for every request")
}

// A function is a folder with its function.json.
type function struct {
	name     string
	Bindings []binding `json:"bindings"`
}

type binding struct {
	Type         string   `json:"type"`
	Direction    string   `json:"direction"`
	Name         string   `json:"name"`
	AuthLevel    string   `json:"authLevel"`
	Methods      []string `json:"methods"`
	Route        string   `json:"route"`
	QueueName    string   `json:"queueName"`
	Connection   string   `json:"connection"`
	Schedule     string   `json:"schedule"`
	RunOnStartup *bool    `json:"runOnStartup"`
	UseMonitor   *bool    `json:"useMonitor"`
	DataType     string   `json:"dataType"`
}

func (f function) trigger() binding { return f.Bindings[0] }

func functions(t *testing.T, app application) []function {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, string(app), "functions"))
	require.NoError(t, err)
	var all []function
	for _, e := range entries {
		f := function{name: e.Name()}
		strict(t, content(t, string(app), "functions", e.Name(), "function.json"), &f)
		require.NotEmpty(t, f.Bindings, e.Name())
		all = append(all, f)
	}
	return all
}

var functionName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,127}$`)

func TestFunctionFiles(t *testing.T) {
	t.Parallel()
	each(t, functionFilesFit)
}

func functionFilesFit(t *testing.T, app application) {
	methods := []string{"get", "head", "post", "put", "patch", "delete"}
	for _, f := range functions(t, app) {
		require.Regexp(t, functionName, f.name)
		b := f.trigger()
		require.Equal(t, "in", b.Direction, f.name)
		require.NotEmpty(t, b.Name, f.name)
		switch b.Type {
		case "httpTrigger":
			require.Equal(t, "anonymous", b.AuthLevel,
				"%s: who calls is checked by the platform or the application", f.name)
			require.NotEmpty(t, b.Methods, f.name)
			for _, m := range b.Methods {
				require.True(t, slices.Contains(methods, m), "%s: method %s", f.name, m)
			}
			require.False(t, strings.HasPrefix(b.Route, "admin") || strings.HasPrefix(b.Route, "runtime"), f.name)
			require.Equal(t, []binding{{Type: "http", Direction: "out", Name: "res"}}, f.Bindings[1:], f.name)
		case "queueTrigger":
			require.Equal(t, "AzureWebJobsStorage", b.Connection, f.name)
			require.Len(t, f.Bindings, 1, f.name)
		case "timerTrigger":
			require.Len(t, strings.Fields(b.Schedule), 6, "%s: seconds come first", f.name)
			require.Len(t, f.Bindings, 1, f.name)
		default:
			require.Fail(t, "unknown trigger", "%s: %s", f.name, b.Type)
		}
	}
}

func TestLocalSettingsExample(t *testing.T) {
	t.Parallel()
	each(t, localSettingsFit)
}

func localSettingsFit(t *testing.T, app application) {
	var local struct {
		IsEncrypted bool
		Values      map[string]string
		Host        struct {
			LocalHTTPPort   int `json:"LocalHttpPort"`
			CORS            string
			CORSCredentials bool
		}
	}
	strict(t, content(t, string(app), "local.settings.json.example"), &local)
	require.Equal(t, "custom", local.Values["FUNCTIONS_WORKER_RUNTIME"])
	require.Equal(t, "UseDevelopmentStorage=true", local.Values["AzureWebJobsStorage"])
	known := settings(t, app)
	for name := range local.Values {
		if name != "FUNCTIONS_WORKER_RUNTIME" && name != "AzureWebJobsStorage" &&
			!strings.HasPrefix(name, "AzureFunctionsJobHost__") {
			require.Contains(t, known, name, "nobody reads the setting")
		}
	}
}
