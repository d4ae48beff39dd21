package pages_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
)

// newSite returns a site with a page for members, named in a cookie, and the steps that its last
// visit took.
func newSite(t *testing.T, limits httpjson.Limits) (h http.Handler, steps *[]string) {
	t.Helper()
	s := &pages.Site{
		Prefix: "/app", Admission: httpjson.NewAdmission(limits, time.Now),
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	s.Open(files, nil)
	steps = new([]string)
	fail := func(w http.ResponseWriter, r *http.Request, err error) {
		s.Fail(w, r, err, func(p *httpjson.Problem) error {
			return s.Render(w, p.Status, "two", "frame", pages.Sentence(p.Detail))
		})
	}
	begin := func(w http.ResponseWriter, r *http.Request) pages.Visit {
		*steps = nil
		step := func(name string) { *steps = append(*steps, name) }
		user := pages.Cookies("tea").Read(r, "user")
		v := pages.Visit{
			MaxForm: 10, Fail: func(err error) { step("fail"); fail(w, r, err) },
			Renew: func(ended bool) error {
				if ended {
					step("renew")
					user = ""
				}
				return nil
			},
			Allow: func() error {
				step("allow")
				if user == "" {
					return fault.New(fault.Unauthenticated, "sign in")
				}
				return nil
			},
			Act: func(func()) error { step("act"); return s.Render(w, http.StatusOK, "one", "frame", user) },
		}
		if user != "" {
			v.Find = func() (string, error) {
				step("find")
				if user == "gone" {
					return "", fault.New(fault.Unauthenticated, "the session has ended")
				}
				return user, nil
			}
		}
		return v
	}
	s.Serve("GET /app/page", begin)
	s.Serve("POST /app/page", begin)
	require.Equal(t, []string{"GET /app/page", "POST /app/page"}, s.Patterns)
	return s.Handler(func(w http.ResponseWriter, r *http.Request) { fail(w, r, fault.New(fault.Forbidden, "no")) }),
		steps
}

// TestSite: each step of a visit comes after the one before, and only if that refused nothing.
func TestSite(t *testing.T) {
	t.Parallel()
	h, steps := newSite(t, httpjson.Limits{})
	for _, tt := range []struct {
		method, user, form string
		status             int
		steps, want        string
	}{
		{"GET", "ann", "", 200, "find allow act", "one ann"},
		{"POST", "ann", "a=1", 200, "find allow act", "one ann"},
		{"POST", "ann", "a=12345678901", 422, "find allow fail", "two The form is too long: this page takes 0 KiB, and it has 1 KiB; shorten the text, or send it by the API."},
		{"GET", "gone", "", 303, "find renew allow fail", "/app/sign-in?back=" + url.QueryEscape("/app/page?x=1")},
		{"GET", "", "", 303, "allow fail", "/app/sign-in?back=" + url.QueryEscape("/app/page?x=1")},
		{"POST", "", "a=12345678901", 303, "allow fail", "/app/sign-in?back=%2Fapp"},
	} {
		r := httptest.NewRequest(tt.method, "http://localhost/app/page?x=1", strings.NewReader(tt.form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if tt.user != "" {
			r.AddCookie(&http.Cookie{Name: "tea-user", Value: tt.user})
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, tt)
		require.Equal(t, tt.steps, strings.Join(*steps, " "), tt)
		require.Contains(t, w.Body.String()+w.Header().Get("Location"), tt.want, tt)
		require.Equal(t, "private, no-store", w.Header().Get("Cache-Control"))
	}
	for from, back := range map[string]string{
		"http://localhost/app/page?x=2": "/app/page?x=2", "http://elsewhere/app/page": "/app",
		"http://localhost/other": "/app", "http://localhost/app/sign-in": "/app", "%": "/app",
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/app/page", strings.NewReader("a=1"))
		r.Header.Set("Referer", from)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Equal(t, "/app/sign-in?back="+url.QueryEscape(back), w.Header().Get("Location"),
			"a form leads back to the page that it is on")
	}
	few, steps := newSite(t, httpjson.Limits{Reads: 1, ReadBurst: 1})
	require.Equal(t, 303, get(few, http.MethodGet, "/app/page").Code)
	require.Equal(t, 429, get(few, http.MethodGet, "/app/page").Code)
	require.Equal(t, []string{"fail"}, *steps, "a caller over the limit costs no more than the page of the error")
	require.Equal(t, 403, get(h, http.MethodPost, "/app/page", "Sec-Fetch-Site", "cross-site").Code)
}

// TestCookies: a cookie comes back as it was kept, is of this site alone, and over https has a name
// that no other site can set.
func TestCookies(t *testing.T) {
	t.Parallel()
	const cookies = pages.Cookies("tea")
	for scheme, name := range map[string]string{"http": "tea-user", "https": "__Host-tea-user"} {
		r := httptest.NewRequest(http.MethodGet, scheme+"://example.com/app", http.NoBody)
		r.Header.Set("X-Forwarded-Proto", scheme)
		w := httptest.NewRecorder()
		cookies.Keep(w, r, "user", "ann", time.Hour)
		kept := w.Result().Cookies()[0]
		require.Equal(t, name, kept.Name)
		require.Equal(t, []any{3600, true, http.SameSiteLaxMode, scheme == "https"},
			[]any{kept.MaxAge, kept.HttpOnly, kept.SameSite, kept.Secure})
		require.Empty(t, cookies.Read(r, "user"))
		r.AddCookie(kept)
		require.Equal(t, "ann", cookies.Read(r, "user"))
		w = httptest.NewRecorder()
		cookies.Forget(w, r, "user")
		require.Negative(t, w.Result().Cookies()[0].MaxAge)
	}
}
