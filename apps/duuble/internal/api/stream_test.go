package api_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
)

// stream asks for the stream of a person and returns the answer once it has ended.
func (w *world) stream(token, last string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, api.Prefix+"/notifications/stream", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec
}

// events returns the ids of the events of a stream, and how many have data of a type.
func events(t *testing.T, rec *httptest.ResponseRecorder, kind string) (ids []string, n int) {
	t.Helper()
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Equal(t, "text/event-stream", rec.Header().Get("Content-Type"))
	require.Equal(t, "no-store", rec.Header().Get("Cache-Control"))
	require.True(t, strings.HasPrefix(rec.Body.String(), "retry: 1000\n\n"))
	for lines := bufio.NewScanner(rec.Body); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			ids = append(ids, id)
		}
		if strings.HasPrefix(lines.Text(), "data: ") && strings.Contains(lines.Text(), `"type":"`+kind+`"`) {
			n++
		}
	}
	return ids, n
}

// TestStream: a stream ends with the first notification that comes, goes on after the one that a
// client has, ends after 25 seconds without any, with its session, and with another one of its
// session.
func TestStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))) // a bubble begins in 2000
		w := newWorld(t)
		w.streams(time.Second, 25*time.Second)
		_, ann, _ := w.person(number(1), "Ann")
		_, bob, _ := w.person(number(2), "Bob")
		post := w.post(ann)
		w.comment(bob, post, "")
		w.rest()
		comment := func(after time.Duration) {
			time.Sleep(after)
			w.comment(bob, post, "")
			w.rest()
		}
		answers := make(chan *httptest.ResponseRecorder, 2)
		ask := func(token, last string) { go func() { answers <- w.stream(token, last) }() }

		from := time.Now()
		ask(ann, "")
		comment(3500 * time.Millisecond)
		ids, n := events(t, <-answers, "post_commented")
		require.Equal(t, 1, n, "what was before is not new")
		require.Equal(t, 4*time.Second, time.Since(from))
		comment(time.Second)
		comment(time.Second)
		from = time.Now()
		ask(ann, ids[0])
		ids, n = events(t, <-answers, "post_commented")
		require.Equal(t, 2, n)
		require.Greater(t, ids[0], ids[1], "the oldest first")
		require.Zero(t, time.Since(from))

		ask(ann, ids[1])
		ids, _ = events(t, <-answers, "")
		require.Empty(t, ids)
		require.Equal(t, 25*time.Second, time.Since(from))

		from = time.Now()
		ask(ann, "")
		time.Sleep(2500 * time.Millisecond)
		ask(ann, "")
		_, n = events(t, <-answers, "")
		require.Equal(t, 2500*time.Millisecond, time.Since(from), "the first one has ended")
		require.Zero(t, n)
		status, _ := w.ask("POST", "/auth/logout", ann, `{}`)
		require.Equal(t, 204, status)
		events(t, <-answers, "")
		require.Equal(t, 3500*time.Millisecond, time.Since(from), "and the other one with the session")
		require.Equal(t, 401, w.stream(ann, "").Code)
		time.Sleep(time.Second) // for all that follows the answers
		synctest.Wait()
	})
}
