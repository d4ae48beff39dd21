package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/openapi/openapitest"
)

// event makes an event and returns its id.
func (w *world) event(token, body string) string {
	w.t.Helper()
	status, e := w.ask("POST", "/admin/events", token, body)
	require.Equal(w.t, 201, status, e)
	return e["eventId"].(string)
}

// TestSecrets: a hidden event is answered as one that does not exist, to the letter, on every
// route; every answer is as the OpenAPI document says.
func TestSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, admin, _ := w.account("admin")
	_, err := w.service.SetRole(t.Context(), "admin@example.com", meet.Admin)
	require.NoError(t, err)
	id, anna, _ := w.account("anna")
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	const body = `{"title":"Тайный концерт","description":"","startDate":"2126-12-31T20:00:00Z","location":"","price":{"amountMinor":1,"currency":"EUR"},"category":"concert","capacity":2,"visibility":"secretHidden","isPublished":true}`
	hidden := w.event(admin, body)
	_, invite := w.ask("POST", "/admin/events/"+hidden+"/invites", admin, `{"expiresAt":"2126-12-31T20:00:00Z"}`)
	letter := func(method, path, token, body string) string {
		status, p := w.ask(method, path, token, body)
		require.Equal(t, 404, status, path)
		require.NotEmpty(t, p["requestId"])
		delete(p, "requestId")
		b, err := json.Marshal(p)
		require.NoError(t, err)
		return string(b)
	}
	const absent = "7c1d2e3f-4051-4263-8475-96a7b8c9dae0"
	for _, r := range []struct{ method, path, body string }{
		{"GET", "", ""},
		{"GET", "?invite=wrong", ""},
		{"POST", "/register", `{}`},
		{"POST", "/register", `{"inviteCode":"wrong"}`},
		{"DELETE", "/register", ""},
		{"GET", "/attendees", ""},
		{"GET", "/attendees?limit=1", ""},
		{"GET", "/calendar.ics", ""},
		{"GET", "/calendar.ics?invite=wrong", ""},
	} {
		require.Equal(t, letter(r.method, "/events/"+absent+r.path, anna, r.body),
			letter(r.method, "/events/"+hidden+r.path, anna, r.body), "%s %s", r.method, r.path)
	}
	require.Equal(t, letter("GET", "/events/"+absent, "", ""), letter("GET", "/events/"+hidden, "", ""))
	_, list := w.ask("GET", "/events", "", "")
	require.Empty(t, list["items"])
	status, e := w.ask("GET", "/events/"+hidden+"?invite="+invite["code"].(string), "", "")
	require.Equal(t, 200, status)
	require.Equal(t, []any{"Тайный концерт", float64(2), false, float64(0), true},
		[]any{e["title"], e["capacity"], e["teaser"], e["attendeeCount"], e["isSecret"]})
	status, r := w.ask("POST", "/events/"+hidden+"/register", anna, `{"inviteCode":"`+invite["code"].(string)+`"}`)
	require.Equal(t, 201, status, r)
	status, again := w.ask("POST", "/events/"+hidden+"/register", anna, `{}`)
	require.Equal(t, 200, status)
	require.Equal(t, r, again)
	_, list = w.ask("GET", "/events?mine=true", anna, "")
	require.Len(t, list["items"], 1)
	_, list = w.ask("GET", "/events/"+hidden+"/attendees", anna, "")
	require.Equal(t, id, list["items"].([]any)[0].(map[string]any)["user"].(map[string]any)["userId"])

	status, _ = w.ask("PUT", "/admin/events/"+hidden, admin, `{"title":"Концерт","description":"Много","startDate":"2126-12-31T20:00:00Z","endDate":null,"capacity":null,"location":"Тут","category":"concert","visibility":"secretTeaser","isPublished":true}`)
	require.Equal(t, 200, status)
	_, list = w.ask("GET", "/events", anna, "")
	e = list["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"Концерт", "", "", nil, nil, true, true},
		[]any{
			e["title"], e["description"], e["location"], e["attendeeCount"], e["price"],
			e["teaser"], e["isAttending"],
		})
	status, _ = w.ask("GET", "/events?mine=true", "", "")
	require.Equal(t, 401, status)
}

// TestCalendarOfAnEvent: an event is told in its zone, and comes as a file for calendars; a time
// that its clocks skip, or show twice, is refused by its code.
func TestCalendarOfAnEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, admin, _ := w.account("admin")
	_, err := w.service.SetRole(t.Context(), "admin@example.com", meet.Admin)
	require.NoError(t, err)
	w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
	body := func(start string) string {
		return `{"title":"Concert","description":"","timeZone":"Europe/Berlin","startDate":"` + start +
			`","location":"","category":"concert","visibility":"public","isPublished":true}`
	}
	for start, code := range map[string]string{"2126-03-31T02:30": "TIME_SKIPPED", "2126-10-27T02:30": "TIME_TWICE"} {
		status, p := w.ask("POST", "/admin/events", admin, body(start))
		require.Equal(t, 422, status)
		require.Equal(t, code, p["errors"].([]any)[0].(map[string]any)["code"])
	}
	status, e := w.ask("POST", "/admin/events", admin, body("2126-12-31T20:00"))
	require.Equal(t, 201, status, e)
	require.Equal(t, []any{"2126-12-31T19:00:00.000Z", "Europe/Berlin", false},
		[]any{e["startDate"], e["timeZone"], e["isCancelled"]})
	r := httptest.NewRequest(http.MethodGet, "https://example.org/api/v1/events/"+
		e["eventId"].(string)+"/calendar.ics", nil)
	got := httptest.NewRecorder()
	w.Handler.ServeHTTP(got, r)
	require.Equal(t, 200, got.Code)
	require.Equal(t, []string{"text/calendar; charset=utf-8", `attachment; filename="event.ics"`, "private, no-cache"},
		[]string{
			got.Header().Get("Content-Type"), got.Header().Get("Content-Disposition"),
			got.Header().Get("Cache-Control"),
		})
	require.Contains(t, got.Body.String(), "\r\nDTSTART:21261231T190000Z\r\n")
	require.Contains(t, strings.ReplaceAll(got.Body.String(), "\r\n ", ""),
		"\r\nURL:https://example.org/app/events/"+e["eventId"].(string)+"\r\n")
}
