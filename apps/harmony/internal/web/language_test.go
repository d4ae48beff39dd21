package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/web"
	"prompthub/internal/http/httpjson"
)

// TestLanguage: a guest reads pages in the language that the browser asks for, or in the one that
// was chosen, and choosing one leads nowhere else.
func TestLanguage(t *testing.T) {
	t.Parallel()
	h := web.New(web.Config{
		Service: meettest.New(t).Service, Admission: httpjson.NewAdmission(httpjson.Limits{}, time.Now),
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	ask := func(method, path, form, accept string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, web.Prefix+path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept-Language", accept)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	chosen := func(language string) *http.Cookie { return &http.Cookie{Name: "harmony-language", Value: language} }
	require.Contains(t, ask("GET", "/sign-in", "", "de").Body.String(), `<html lang="en">`)
	require.Contains(t, ask("GET", "/sign-in", "", "").Body.String(), `<html lang="ru">`)
	require.Contains(t, ask("GET", "/sign-in", "", "de", chosen("ru")).Body.String(), `<html lang="ru">`)
	require.Contains(t, ask("GET", "/sign-in", "", "de", chosen("tlh")).Body.String(), `<html lang="en">`)
	for back, want := range map[string]string{
		"/app/sign-up?x=1": "/app/sign-up?x=1", "": web.Prefix, "https://example.com/app": web.Prefix,
		"//example.com": web.Prefix, "/app/language": web.Prefix,
	} {
		w := ask("POST", "/language", url.Values{"to": {"ru"}, "back": {back}}.Encode(), "de")
		require.Equal(t, 303, w.Code, w.Body)
		require.Equal(t, want, w.Header().Get("Location"))
		kept := w.Result().Cookies()[0]
		require.Equal(t, []any{"harmony-language", "ru", true}, []any{kept.Name, kept.Value, kept.HttpOnly})
	}
	for _, to := range []string{"", "de", "RU", "ru\r\nSet-Cookie: x"} {
		w := ask("POST", "/language", url.Values{"to": {to}}.Encode(), "de")
		require.Equal(t, 422, w.Code)
		require.Contains(t, w.Body.String(), "Choose one of the list.")
		require.Empty(t, w.Result().Cookies())
	}
}
