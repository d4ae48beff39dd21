package command

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
)

// TestSentAgain: what a change is answered that the host sends once more.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	for method, statuses := range map[string]map[int]int{
		http.MethodDelete: {200: 200, 204: 204, 404: 204, 410: 204, 401: 500, 409: 500, 412: 500, 503: 500},
		http.MethodPost:   {201: 201, 303: 303, 404: 500, 409: 500, 500: 500},
		http.MethodGet:    {404: 404},
	} {
		for status, want := range statuses {
			dir, ran, again := t.TempDir(), 0, false
			killed := new(atomic.Bool)
			next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ran, again = ran+1, httpjson.IsAgain(r.Context())
				if killed.Load() {
					panic("killed") // before the answer
				}
				w.Header().Set("Etag", `"1"`)
				w.Header().Set("Content-Type", "text/plain")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, "an answer")
			})
			send := func(id string) *httptest.ResponseRecorder {
				r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
				for _, name := range []string{
					"X-Ms-Invocation-Id", "X-Azure-Functions-Invocationid",
					"X-Forwarded-Host",
				} {
					r.Header.Set(name, id)
				}
				w := httptest.NewRecorder()
				SentAgain(dir, slog.New(slog.DiscardHandler), next).ServeHTTP(w, r)
				return w
			}
			what := method + " " + strconv.Itoa(status)
			require.Equal(t, status, send("../a").Code, what)
			if status >= 400 {
				files, err := os.ReadDir(dir)
				require.NoError(t, err)
				require.Empty(t, files, "%s: refusals are free", what)
				killed.Store(true)
				require.PanicsWithValue(t, "killed", func() { send("../a") })
				killed.Store(false)
			}
			require.Equal(t, status, send("b").Code, "%s: another change", what)
			require.False(t, again)
			w := send("../a")
			require.Equal(t, want, w.Code, what)
			require.Equal(t, map[bool]int{true: 4, false: 3}[status >= 400], ran,
				"it runs: only it finds out what is left to do")
			require.Equal(t, method != http.MethodGet, again)
			switch {
			case want == status:
				require.Equal(t, "an answer", w.Body.String(), what)
			case want == http.StatusNoContent:
				require.Empty(t, w.Body.String(), what)
				require.Empty(t, w.Header().Get("Content-Type"), what)
			default:
				require.Contains(t, w.Body.String(), "UNFINISHED", what)
				require.Empty(t, w.Header().Get("Etag"), what)
			}
		}
	}
}

// TestBegunChangesAreForgotten: the file of a change that has begun is removed a minute after its
// answer, or by the next handler if the one that ran it was killed.
func TestBegunChangesAreForgotten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "changes")
	synctest.Test(t, func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/", nil)
		for _, name := range []string{"X-Ms-Invocation-Id", "X-Azure-Functions-Invocationid", "X-Forwarded-Host"} {
			r.Header.Set(name, "a")
		}
		h := SentAgain(dir, slog.New(slog.DiscardHandler),
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		h.ServeHTTP(httptest.NewRecorder(), r)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1)
		time.Sleep(againWithin)
		synctest.Wait()
		files, err = os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, files)
	})
	old, young := filepath.Join(dir, "old"), filepath.Join(dir, "young")
	for name, age := range map[string]time.Duration{old: 2 * begunFor, young: begunFor / 2} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
		require.NoError(t, os.Chtimes(name, time.Now(), time.Now().Add(-age)))
	}
	SentAgain(dir, slog.New(slog.DiscardHandler), http.NotFoundHandler())
	require.NoFileExists(t, old)
	require.FileExists(t, young)
}
