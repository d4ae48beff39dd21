package functiontest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadApp(t *testing.T) {
	t.Parallel()
	app := application(files{
		"host.json":                  hostJSON(`"http":{"routePrefix":"v1"},"queues":{"batchSize":4,"newBatchThreshold":0,"maxDequeueCount":3,"visibilityTimeout":"1.02:03:04.5"}`),
		"jobs/function.json":         strings.Replace(jobs, `"jobs"`, `"%QUEUE%-Jobs"`, 1),
		"notes/readme.txt":           "no function",
		"zz_rest/deep/function.json": "not looked at",
	})
	a, err := readApp(app.write(t), []string{
		"QUEUE=My", "AzureFunctionsJobHost__extensions__queues__maxDequeueCount=7",
		"AZUREFUNCTIONSJOBHOST__functionTimeout=00:10:00",
		"AZURE_FUNCTIONS_ENVIRONMENT=Development", "AzureWebJobs_tick_Disabled=1",
	})
	require.NoError(t, err)
	require.Equal(t, "v1", a.prefix)
	require.Equal(t, 4, a.queues.BatchSize)
	require.Equal(t, 0, a.queues.NewBatchThreshold)
	require.Equal(t, 7, a.queues.MaxDequeue, "the environment overrides host.json")
	require.Equal(t, 26*time.Hour+3*time.Minute+4500*time.Millisecond, a.queues.RetryDelay)
	require.Equal(t, 2*time.Second, a.queues.MaxPoll)
	require.Equal(t, 10*time.Minute, a.runTime)
	require.Equal(t, 20*time.Second, a.initTime)
	require.True(t, a.base64)
	var names []string
	for _, f := range a.functions {
		names = append(names, f.name)
	}
	require.Equal(t, []string{"guarded", "jobs", "tick", "zz_rest"}, names)
	require.Equal(t, "my-jobs", a.find("jobs").trigger.QueueName)
	require.True(t, a.find("tick").disabled)
}

func TestReadAppDefaults(t *testing.T) {
	t.Parallel()
	a, err := readApp(
		files{
			"host.json":          `{"version":"2.0","customHandler":{"description":{"defaultExecutablePath":"x"}}}`,
			"tick/function.json": tick,
		}.write(t), []string{})
	require.NoError(t, err)
	require.Equal(t, "api", a.prefix)
	require.Equal(t, 16, a.queues.BatchSize)
	require.Equal(t, 8, a.queues.NewBatchThreshold)
	require.Equal(t, 5, a.queues.MaxDequeue)
	require.Zero(t, a.queues.RetryDelay)
	require.Equal(t, time.Minute, a.queues.MaxPoll)
	require.Equal(t, 30*time.Second, a.initTime)
}

func TestReadAppRefuses(t *testing.T) {
	t.Parallel()
	host := func(old, new string) files {
		return files{"host.json": strings.Replace(hostJSON(queues), old, new, 1)}
	}
	rests := func(old, new string) files { return files{"zz_rest/function.json": strings.Replace(rest, old, new, 1)} }
	tests := []struct {
		name   string
		change files
		want   string // part of the error
	}{
		{"no host.json", files{"host.json": ""}, "host.json"},
		{"broken host.json", files{"host.json": "{"}, "host.json"},
		{"old version", host(`"version":"2.0"`, `"version":"1.0"`), "version"},
		{"no executable", host("defaultExecutablePath", "executable"), "defaultExecutablePath"},
		{"requests in envelopes", host("enableForwardingHttpRequest", "forwarding"), "enableForwardingHttpRequest"},
		{"no output", rests(`,{"type":"http","direction":"out","name":"res"}`, ""), "http output"},
		{"no bundle for queues", host("extensionBundle", "bundle"), "extensionBundle"},
		{"batch too large", host(`"batchSize":16`, `"batchSize":33`), "batchsize"},
		{"batch no number", host(`"batchSize":16`, `"batchSize":"many"`), "batchsize"},
		{"no time span", host("00:00:01", "1s"), "visibilitytimeout"},
		{"encoding", host(`"batchSize":16`, `"messageEncoding":"utf8"`), "messageEncoding"},
		{"broken settings", files{"local.settings.json": "{"}, "local.settings.json"},
		{"no functions", files{
			"zz_rest/function.json": "", "jobs/function.json": "", "tick/function.json": "",
			"guarded/function.json": "",
		}, "no functions"},
		{"broken function", files{"zz_rest/function.json": "{"}, "zz_rest"},
		{"name", files{"1st/function.json": tick}, "1st"},
		{"reserved name", files{"host/function.json": tick}, "host"},
		{"same name", files{"Tick/function.json": tick}, "same name"},
		{"no bindings", files{"tick/function.json": "{}"}, "no trigger"},
		{"two triggers", files{"tick/function.json": `{"bindings":[` + tick[13:len(tick)-2] +
			`,{"type":"queueTrigger","name":"b","queueName":"q"}]}`}, "second trigger"},
		{"trigger as output", rests(`"direction":"in"`, `"direction":"out"`), "direction"},
		{"same binding name", rests(`"name":"res"`, `"name":"REQ"`), "taken"},
		{"output binding", rests(`"type":"http",`, `"type":"queue",`), "not modelled"},
		{"reserved route", rests("{*rest}", "admin/x"), "admin"},
		{"same route", files{"other/function.json": rest}, "same route"},
		{"no queue", files{"jobs/function.json": strings.Replace(jobs, "queueName", "queue", 1)}, "queueName"},
		{
			"unknown queue setting",
			files{"jobs/function.json": strings.Replace(jobs, `"jobs"`, `"%NOWHERE%-jobs"`, 1)},
			"%NOWHERE% does not resolve to a value",
		},
		{"type of data", files{"jobs/function.json": strings.Replace(jobs, `"queueName"`,
			`"dataType":"stream","queueName"`, 1)}, "dataType"},
		{"five fields", files{"tick/function.json": strings.Replace(tick, "0 */5", "*/5", 1)}, "schedule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := readApp(application(tt.change).write(t), []string{})
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := readApp(application(files{
		"zz_rest/function.json": strings.Replace(rest, `"route"`, `"methods":["GET"],"route"`, 1),
		"other/function.json":   strings.Replace(rest, `"route"`, `"methods":["post"],"route"`, 1),
	}).write(t), []string{})
	require.NoError(t, err, "the same route with other methods is fine")
}
