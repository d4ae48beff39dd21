package httpjson_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /things/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Id", r.PathValue("id"))
	})
	mux.HandleFunc("GET /folder/", func(http.ResponseWriter, *http.Request) {})
	tests := []struct {
		method, path string
		status       int
		id, allow    string
	}{
		{http.MethodGet, "/things/a%2Fb", 200, "a/b", ""},
		{http.MethodGet, "/folder/x", 200, "", ""},
		{http.MethodPut, "/things/1", 405, "", "GET, HEAD"},
		{http.MethodGet, "/nosuch", 404, "", ""},
		{http.MethodGet, "//things/1", 404, "", ""},
		{http.MethodGet, "/folder/../things/1", 404, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			httpjson.Routes(mux).ServeHTTP(w, httptest.NewRequest(tt.method, "http://localhost"+tt.path, nil))
			require.Equal(t, tt.status, w.Code)
			require.Equal(t, tt.id, w.Header().Get("Id"))
			require.Equal(t, tt.allow, w.Header().Get("Allow"))
			if tt.status != 200 {
				require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
			}
		})
	}
}

func TestRouteIsLogged(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /things/{id}", func(http.ResponseWriter, *http.Request) {})
	_, line := observe(t, get("/things/secret"), httpjson.Routes(mux).ServeHTTP)
	require.Equal(t, "GET /things/{id}", line["route"])
}

// TestNoRedirect covers what a mux does besides cleaning a path: it sends /folder to /folder/.
func TestNoRedirect(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/folder/", func(http.ResponseWriter, *http.Request) {})
	w := httptest.NewRecorder()
	httpjson.Routes(mux).ServeHTTP(w, get("/folder"))
	require.Equal(t, 404, w.Code)
	require.Empty(t, w.Header().Get("Location"))
}
