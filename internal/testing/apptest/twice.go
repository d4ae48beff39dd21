package apptest

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/table"
)

// Twice returns h as a host that proxies calls it over a handler that is killed before its answer
// comes out: a change without a body is done by one handler, and then by another one, whose answer
// is returned. The first answer must be a success. The second one must not differ in anything that
// state tells, which is asked when all work has ended, and must be a success too, unless told says
// that it is lost: the client of a change that cannot be told from a wrong one learns that it must
// look.
func Twice(t *testing.T, h http.Handler, state func() string, lost func(*http.Request) bool) http.Handler {
	t.Helper()
	dir, n := t.TempDir(), 0
	send := func(r *http.Request, id string) *httptest.ResponseRecorder {
		r = r.Clone(r.Context())
		for name, value := range map[string]string{
			"X-Ms-Invocation-Id": id, "X-Azure-Functions-Invocationid": id, "X-Forwarded-Host": r.Host,
		} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		function.AsSent(false, command.SentAgain(dir, slog.New(slog.DiscardHandler), h)).ServeHTTP(w, r)
		return w
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !function.Bare(r) {
			h.ServeHTTP(w, r)
			return
		}
		n++
		id, what := fmt.Sprintf("invocation-%d", n), r.Method+" "+r.URL.Path
		first := send(r, id)
		done := state()
		again := send(r, id)
		require.Less(t, first.Code, 400, "%s: %s", what, first.Body)
		require.Equal(t, done, state(), "%s is done twice", what)
		if lost(r) {
			require.Equal(t, http.StatusInternalServerError, again.Code, "%s: %s", what, again.Body)
			require.Contains(t, again.Body.String(), "UNFINISHED")
			again = first
		}
		require.Less(t, again.Code, 400, "%s was answered %d, again: %s", what, first.Code, again.Body)
		for name, values := range again.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(again.Code)
		_, _ = w.Write(again.Body.Bytes()) // to a recorder
	})
}

// Rows returns all rows of some tables as text.
func Rows(t *testing.T, db table.DB, names ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range names {
		for row, err := range table.All(t.Context(), db, name, table.Range{}) {
			require.NoError(t, err)
			row.ETag = ""
			fmt.Fprintf(&all, "%s %+v\n", name, row)
		}
	}
	return all.String()
}
