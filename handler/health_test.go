package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/ready" {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(status)
	}))
	defer srv.Close()
	for _, end := range []string{"", "/"} {
		code, _, _ := handler(t, "health", "--url", srv.URL+end)
		require.Equal(t, command.OK, code)
	}
	status = http.StatusServiceUnavailable
	code, _, errs := handler(t, "health", "--url", srv.URL)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "/api/v1/ready was answered 503")
	srv.Close()
	code, _, errs = handler(t, "health", "--url", srv.URL)
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "is the service running there?")
}
