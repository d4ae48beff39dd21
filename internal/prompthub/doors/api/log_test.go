package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/api"
)

// TestLogOfMainJob does the work of users, with mistakes, and reads the log: one line for each
// request, and nothing in it that is somebody's own.
func TestLogOfMainJob(t *testing.T) {
	t.Parallel()
	own := newSigner(t)
	w := newWorld(t, func(c *api.Config) {
		c.Identify = auth.JWT(t.Context(),
			auth.JWTOptions{Issuers: []string{own.url}, Audiences: []string{tokenAudience}, Now: c.Now})
	})
	ann := own.token(claims(own.url, tokenAudience, "ann-secretid", w.clock.Now().Add(time.Hour)))
	bad := []string{"Authorization", "Bearer " + ann[1][8:] + "x"}
	requests := 0
	send := func(method, path, body string, header ...string) answer {
		requests++
		return w.as("").do(method, path, body, header...)
	}
	p := send(http.MethodPost, prompts, draft("Secrettitle words", "text"), ann...).is(201).prompt()
	path := prompts + "/" + p.ID
	send(http.MethodGet, prompts+"?q=secrettitle&tag=text", "", ann...).is(200)
	send(http.MethodGet, prompts, "", ann...).is(200)
	send(http.MethodPut, path+"/vote", `{"value":"like"}`, ann...).is(200)
	send(http.MethodGet, path, "",
		append(ann, "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")...).is(200)
	send(http.MethodPatch, path, `{"text":"secrettext"}`, append(ann, "If-Match", "*")...).is(200)
	send(http.MethodPatch, path, `{"title":"secret\u0007"}`, append(ann, "If-Match", "*")...).is(422)
	send(http.MethodPost, prompts, `{"title":"secret`, ann...).is(400)
	send(http.MethodGet, "/api/v1/secret/path", "", append(ann, "X-Forwarded-For", "192.0.2.1")...).is(404)
	// refusals of one address share a line
	send(http.MethodGet, prompts, "", append(bad, "X-Forwarded-For", "192.0.2.2")...).is(401)
	w.store.fail(errors.New("the storage is away"))
	send(http.MethodGet, path, "", ann...).is(503)
	w.store.fail(nil)
	send(http.MethodDelete, path, "", ann...).is(204)

	lines := strings.Split(strings.TrimSpace(w.logs.String()), "\n")
	require.Len(t, lines, requests, "one line for each request")
	for _, forbidden := range []string{"secret", "Secret", "@", "eyJ", ann[1][20:60], "like", "Bearer"} {
		require.NotContains(t, strings.ReplaceAll(w.logs.String(), "like-", ""), forbidden)
	}
	operations := map[string]float64{}
	for _, text := range lines {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		for _, name := range []string{
			"method", "route", "status", "duration_ms", "bytes",
			"storage_ops", "request_id",
		} {
			require.Contains(t, line, name)
		}
		operations[fmt.Sprint(line["route"], " ", line["status"])] = line["storage_ops"].(float64)
		require.Equal(t, line["status"] == 401.0 || line["status"] == 404.0, line["user"] == nil, text)
	}
	require.Contains(t, w.logs.String(), `"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"`)
	require.Regexp(t, `get \w+: the storage is away`, w.logs.String())
	require.InDelta(t, 4, operations["GET /api/v1/prompts/{id} 200"], 0, "as designed")
	require.InDelta(t, 0, operations["POST /api/v1/prompts 400"], 0)
}
