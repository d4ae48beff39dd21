package web_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/example/internal/api"
	"prompthub/apps/example/internal/notes"
	"prompthub/apps/example/internal/web"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/repeatable"
)

// doors returns the API, whose answers are held against its document, and the pages.
func doors(t *testing.T) (programs, pages http.Handler, clock *repeatable.Clock) {
	t.Helper()
	clock = repeatable.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	log := slog.New(slog.DiscardHandler)
	book := notes.New(notes.Config{
		Store: &rowstore.Store{
			DB: memory.NewTables(), Now: clock.Now, Log: log, Background: func(do func()) { do() },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Tables: rowstore.DefaultTables[notes.Tables](), Queues: memory.NewQueues(clock.Now),
		Entropy: repeatable.Seeded(1), Passwords: password.NewTestHasher(),
	})
	require.NoError(t, book.Create(t.Context()))
	admission := httpjson.NewAdmission(httpjson.Limits{}, clock.Now)
	programs = api.New(api.Config{Book: book, Admission: admission, Log: log, Now: clock.Now, Version: "test"})
	pages = web.New(web.Config{Book: book, Admission: admission, Log: log, Now: clock.Now})
	return openapitest.New(t, programs).Enforce(t, programs), pages, clock
}

const right = "correct horse battery staple"

// TestPages: a person signs up, writes and deletes a note and signs out, with a browser that keeps
// cookies and runs no script.
func TestPages(t *testing.T) {
	t.Parallel()
	_, h, clock := doors(t)
	var cookie *http.Cookie
	send := func(method, path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if cookie != nil {
			r.AddCookie(cookie)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		for _, c := range w.Result().Cookies() {
			if cookie = c; c.MaxAge < 0 {
				cookie = nil
			}
		}
		return w
	}
	goes := func(w *httptest.ResponseRecorder, to string) {
		t.Helper()
		require.Equal(t, []any{http.StatusSeeOther, to}, []any{w.Code, w.Header().Get("Location")}, "%s", w.Body)
	}
	goes(send("GET", "/app", nil), "/app/sign-in?back=%2Fapp")
	w := send("POST", "/app/sign-in", url.Values{"name": {"<ann>"}, "password": {right}})
	require.Equal(t, http.StatusUnauthorized, w.Code)
	require.Contains(t, w.Body.String(), `value="&lt;ann&gt;"`)
	require.Contains(t, w.Body.String(), "The name or the password is wrong.")
	goes(send("POST", "/app/sign-up", url.Values{"name": {"ann"}, "password": {right}, "back": {"//elsewhere"}}),
		"/app")
	require.Contains(t, send("GET", "/app", nil).Body.String(), "There are none yet.")
	goes(send("POST", "/app/notes", url.Values{"text": {"<b>milk</b>"}}), "/app")
	page := send("GET", "/app", nil).Body.String()
	require.Contains(t, page, "<p>&lt;b&gt;milk&lt;/b&gt;</p>")
	require.Equal(t, 422, send("POST", "/app/notes", url.Values{"text": {" "}}).Code)

	clock.Pass(20 * time.Minute) // the access token is over
	before := cookie.Value
	require.Equal(t, page, send("GET", "/app", nil).Body.String())
	require.NotEqual(t, before, cookie.Value)
	_, address, _ := strings.Cut(page, `action="/app/notes/`)
	address, _, _ = strings.Cut(address, `"`)
	goes(send("POST", "/app/notes/"+address, nil), "/app")
	require.Contains(t, send("GET", "/app", nil).Body.String(), "There are none yet.")
	goes(send("POST", "/app/sign-out", nil), "/app/sign-in")
	require.Nil(t, cookie)
}

// TestAPI: every answer is as the document says, whose operations all have examples.
func TestAPI(t *testing.T) {
	t.Parallel()
	h, _, _ := doors(t)
	send := func(status int, method, path, token, body string) (answer map[string]any) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, api.Prefix+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, status, w.Code, "%s", w.Body)
		if w.Body.Len() > 0 {
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		}
		return answer
	}
	const ann = `{"name":"ann","password":"` + right + `"}`
	send(401, "POST", "/auth/sign-in", "", ann)
	send(200, "POST", "/auth/sign-up", "", ann)
	send(409, "POST", "/auth/sign-up", "", ann)
	send(422, "POST", "/auth/sign-up", "", `{"name":"a b","password":"short"}`)
	tokens := send(200, "POST", "/auth/sign-in", "", ann)
	tokens = send(200, "POST", "/auth/refresh", "", `{"refreshToken":"`+tokens["refreshToken"].(string)+`"}`)
	token := tokens["accessToken"].(string)
	send(401, "GET", "/notes", "", "")
	send(401, "GET", "/notes", "ea_wrong", "")
	note := send(201, "POST", "/notes", token, `{"text":"Buy milk"}`)
	send(201, "POST", "/notes", token, `{"text":"Buy bread"}`)
	send(422, "POST", "/notes", token, `{"text":" "}`)
	page := send(200, "GET", "/notes?limit=1", token, "")
	rest := send(200, "GET", "/notes?cursor="+page["nextCursor"].(string), token, "")
	require.Len(t, rest["items"], 1)
	send(400, "GET", "/notes?cursor=wrong", token, "")
	send(204, "DELETE", "/notes/"+note["id"].(string), token, "")
	send(404, "DELETE", "/notes/none", token, "")
	send(204, "POST", "/auth/sign-out", token, "")
	send(401, "POST", "/notes", token, `{"text":"late"}`)
	require.Greater(t, openapitest.New(t, h).Examples(t), 20)
}
