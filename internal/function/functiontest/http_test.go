package functiontest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEnvelopeOfRequest shows what happens to an HTTP function where forwarding is off.
func TestEnvelopeOfRequest(t *testing.T) {
	t.Parallel()
	h := up(t, application(files{"inner/function.json": inner, "host.json": hostJSON(false, queues)}), Options{})
	a := exchange(t, h, http.MethodPost, "/api/inner/7?x=1&x=2", strings.NewReader("hello"), "Host", "app.example")
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, "{}", string(a.body), "the reply has no output for the response")
	var e envelope
	for _, line := range h.Logs() {
		if strings.HasPrefix(line.Text, `{"Data"`) {
			require.NoError(t, json.Unmarshal([]byte(line.Text), &e))
		}
	}
	req := e.Data["req"].(map[string]any)
	require.Equal(t, "https://app.example/api/inner/7?x=1&x=2", req["Url"])
	require.Equal(t, "hello", req["Body"])
	require.Equal(t, map[string]any{"id": "7"}, req["Params"])
	require.Equal(t, map[string]any{"x": "1,2"}, req["Query"])
	require.Equal(t, `"7"`, e.Metadata["id"])

	a = exchange(t, h, http.MethodPost, "/api/inner", strings.NewReader("please set a status"))
	require.Equal(t, http.StatusCreated, a.status)
	require.Equal(t, "b", a.header.Get("X-A"))
	require.Equal(t, "made", string(a.body))

	a = exchange(t, h, http.MethodPost, "/api/inner", strings.NewReader("please fail"))
	require.Equal(t, http.StatusInternalServerError, a.status)
	require.Empty(t, a.body)
}
