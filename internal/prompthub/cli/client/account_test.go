package client_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/cli/client"
)

// TestHistoryOfManyParts: a history whose JSON has more elements and members than the service takes
// in one entry comes in parts that it takes, with all versions.
func TestHistoryOfManyParts(t *testing.T) {
	t.Parallel()
	message := `{"role":"user","content":"x"}`
	var versions []string
	for n := range 400 {
		versions = append(versions, fmt.Sprintf(`{"version":%d,"kind":"chat","messages":[%s%s]}`, n+1,
			strings.Repeat(message+",", 99), message))
	}
	history := `{"name":"chat","title":"Chat","tags":[],"visibility":"private","versions":[` +
		strings.Join(versions, ",") + "]}\n"
	require.Less(t, len(history), 3<<20)
	var sent [][]byte
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			sent = append(sent, body)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items":[{"place":"line 1","name":"chat","outcome":"updated"}],"entries":1}`)
	}))
	defer service.Close()
	c, err := client.New(client.Config{URL: service.URL})
	require.NoError(t, err)
	told := 0
	require.NoError(t, c.ImportAccount(t.Context(), []byte(history), func(client.Entry) { told++ }))
	require.Equal(t, 1, told)
	next := int64(1)
	for _, body := range sent {
		require.NoError(t, jsonsize.Check(bytes.TrimSpace(body)))
		var line struct{ Versions []struct{ Version int64 } }
		require.NoError(t, json.Unmarshal(body, &line))
		for _, v := range line.Versions {
			require.Equal(t, next, v.Version)
			next++
		}
	}
	require.Equal(t, int64(401), next)
}

// TestAccountTellsWhatIsLost of every line, the one where a history goes on too.
func TestAccountTellsWhatIsLost(t *testing.T) {
	t.Parallel()
	const export = `{"profile":{}}
{"name":"a","tags":[],"versions":[{"version":1,"text":"x","loss":["source"]},{"version":2,"text":"y"}]}
{"of":"a","versions":[{"version":21,"text":"\"loss\":[","loss":["source"]}]}
{"name":"b","tags":[],"versions":[{"version":1,"text":"x"}]}
`
	c := newClient(t, func(*http.Request, string) (*http.Response, error) { return reply(http.StatusOK, export) })
	var b bytes.Buffer
	var told []string
	require.NoError(t, c.Account(t.Context(), &b, func(name string, version int64, lost string) {
		told = append(told, fmt.Sprintf("%s %d %s", name, version, lost))
	}))
	require.Equal(t, export, b.String())
	require.Equal(t, []string{"a 1 source", "a 21 source"}, told)
}
