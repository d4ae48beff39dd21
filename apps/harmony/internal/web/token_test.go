package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/web"
	"prompthub/internal/http/httpjson"
)

// TestWrongTokens: a link of a mail that is not good any more says so, to a member who is signed in
// as well.
func TestWrongTokens(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	h := web.New(web.Config{
		Service: w.Service, Admission: httpjson.NewAdmission(httpjson.Limits{}, w.Now),
		Log: slog.New(slog.DiscardHandler), Now: w.Now,
	})
	in, err := w.Login(t.Context(), "anna@example.com", "tea under seven lamps", meet.Asker{Agent: "test"})
	require.NoError(t, err)
	for _, session := range []string{"", in.Tokens.Access + "." + in.Tokens.Refresh} {
		for _, path := range []string{"/confirm", "/confirm-email", "/reset", "/unsubscribe"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, web.Prefix+path,
				strings.NewReader("token=hm_x&password=tea+under+seven+lamps"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept-Language", "en")
			if session != "" {
				r.AddCookie(&http.Cookie{Name: "harmony-session", Value: session})
			}
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			require.Equal(t, 422, rec.Code, path)
			require.Contains(t, rec.Body.String(), "The token is wrong, or not good any more.")
		}
	}
}
