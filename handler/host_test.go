package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

// startHost runs the custom handler on a free port and waits as the Functions host does.
func startHost(t *testing.T, settings ...string) (*process, string) {
	t.Helper()
	port := freePort(t)
	clean(t, slices.Concat([]string{"QUEUE_PREFIX", "made-"}, settings,
		[]string{"FUNCTIONS_CUSTOMHANDLER_PORT", port})...)
	p, url := start(t), "http://127.0.0.1:"+port
	require.Eventually(t, func() bool {
		res, err := http.Get(url)
		if err != nil {
			return false
		}
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
		return true
	}, 10*time.Second, 25*time.Millisecond)
	return p, url
}

// invoke posts an envelope as the host does, or, with another Host, as somebody outside could.
func invoke(t *testing.T, url, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/index-repairs",
		strings.NewReader(`{"Data":{"message":"\"not ours\""},"Metadata":{}}`))
	require.NoError(t, err)
	r.ContentLength = -1 // the host sends chunks
	if host != "" {
		r.Host = host
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	var body struct{ Error, Title string }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
	return res.StatusCode, body.Error + body.Title
}

// nowhere is a storage account that does not answer.
const nowhere = "AccountName=a;AccountKey=YQ==;TableEndpoint=http://127.0.0.1:9/a;QueueEndpoint=http://127.0.0.1:9/a"

func TestRefusedConfigurationStaysUp(t *testing.T) {
	for _, tt := range []struct {
		name     string
		settings []string
		setting  string
		triggers bool // they do not need the wrong setting
	}{
		{"no identity", []string{"AzureWebJobsStorage", nowhere}, "AUTH_MODE", true},
		{"dev mode in the cloud", []string{"AzureWebJobsStorage", nowhere, "AUTH_MODE", "dev"}, "AUTH_MODE", true},
		{
			"no storage",
			[]string{"AUTH_MODE", "dev", "AZURE_FUNCTIONS_ENVIRONMENT", "Development"},
			"AzureWebJobsStorage", false,
		},
		{"no names of queues", []string{
			"AzureWebJobsStorage", nowhere, "AUTH_MODE", "dev",
			"AZURE_FUNCTIONS_ENVIRONMENT", "Development", "QUEUE_PREFIX", "",
		}, "QUEUE_PREFIX", false},
		{"a wrong value", []string{"AzureWebJobsStorage", nowhere, "PUBLIC_READ", "maybe"}, "PUBLIC_READ", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, url := startHost(t, tt.settings...)
			for _, path := range []string{"/api/v1/prompts", "/api/v1/ready", "/api/v1/docs", "/nowhere"} {
				res, err := http.Get(url + path)
				require.NoError(t, err)
				var problem struct {
					Title, Code, Detail, RequestID string
					Status                         int
				}
				require.NoError(t, json.NewDecoder(res.Body).Decode(&problem))
				require.NoError(t, res.Body.Close())
				require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
				require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
				require.Equal(t, http.StatusServiceUnavailable, problem.Status)
				require.Contains(t, problem.Detail, "setting "+tt.setting+" ")
				require.EqualValues(t, httpjson.NotConfigured, problem.Code)
				require.NotEmpty(t, problem.RequestID)
			}
			status, body := send(t, "GET", url+"/api/v1/health", "")
			require.Equal(t, 200, status)
			require.Contains(t, body, `"status":"ok"`)

			status, said := invoke(t, url, "")
			if tt.triggers {
				require.Equal(t, http.StatusInternalServerError, status, "the message is not ours")
				require.Contains(t, said, "the invocation failed")
			} else {
				require.Equal(t, http.StatusServiceUnavailable, status)
			}
			p.stop()
			require.Equal(t, command.Restart, <-p.code)
			require.Contains(t, p.out.String(), `"level":"ERROR","msg":"refused configuration"`)
			require.Empty(t, p.err.String(), "the host takes every line there for an error")
		})
	}
}

func TestHostIsUpWhileStorageIsAway(t *testing.T) {
	p, url := startHost(t, "AzureWebJobsStorage", nowhere, "AUTH_MODE", "dev",
		"AZURE_FUNCTIONS_ENVIRONMENT", "Development")
	status, _ := send(t, "GET", url+"/api/v1/health", "")
	require.Equal(t, 200, status)
	status, said := invoke(t, url, "prompthub.example")
	require.Equal(t, http.StatusNotFound, status, "nobody outside reaches a trigger: %s", said)
	status, _ = invoke(t, url, "")
	require.Equal(t, http.StatusInternalServerError, status)
	require.Contains(t, await(t, &p.out, `("msg":"started".*"address":"127\.0\.0\.1:\d+")`), "commit")
}

func TestHostOnAPortInUse(t *testing.T) {
	_, url := startHost(t, "AzureWebJobsStorage", nowhere)
	clean(t, "FUNCTIONS_CUSTOMHANDLER_PORT", url[strings.LastIndex(url, ":")+1:])
	code, _, errs := handler(t)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "address already in use")
}

func TestHostMakesItsTables(t *testing.T) {
	storage := azurite.Start(t)
	p, url := startHost(t, "AzureWebJobsStorage", storage, "AUTH_MODE", "dev", "AZURE_FUNCTIONS_ENVIRONMENT",
		"Development", "TABLE_PREFIX", "made")
	require.Eventually(t, func() bool {
		status, _ := send(t, "GET", url+"/api/v1/ready", "")
		return status == http.StatusOK
	}, 30*time.Second, 50*time.Millisecond)
	// Ready means that all tables and queues are there.
	status, body := send(t, "POST", url+"/api/v1/prompts",
		`{"title":"t","text":"x","tags":["text"],"visibility":"public"}`)
	require.Equal(t, http.StatusCreated, status, body)
	_, me := send(t, "GET", url+"/api/v1/me", "")
	key := regexp.MustCompile(`"authorId":"a_[a-z2-7]{26}"`).FindString(me)
	require.NotEmpty(t, key, me)
	require.Contains(t, body, key)
	account, err := azure.New(azure.Config{ConnectionString: storage})
	require.NoError(t, err)
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} {
		_, err := account.Queues.Len(t.Context(), "made-"+name)
		require.NoError(t, err, "function.json names it so")
	}
	p.stop()
	require.Equal(t, command.Restart, <-p.code)

	code, out, errs := handler(t, "verify")
	require.Equal(t, command.OK, code, "%s%s", out, errs)
	code, out, _ = handler(t, "backup", "-")
	require.Equal(t, command.OK, code)
	require.Contains(t, out, `"title":"t"`)

	t.Setenv("TABLE_PREFIX", "mistyped")
	for _, args := range [][]string{{"verify"}, {"backup", "-"}, {"reindex"}, {"erase", "ann"}} {
		code, out, errs = handler(t, args...)
		require.Equal(t, command.Failed, code)
		require.Empty(t, out)
		require.Contains(t, errs, account.Endpoint)
		require.Contains(t, errs, `there is no library with TABLE_PREFIX "mistyped"`)
	}
	_, err = account.Tables.List(t.Context(), "mistypedPrompts", table.Range{}, 1, "")
	require.ErrorIs(t, err, table.NoTableError("mistypedPrompts"), "none is made")
}
