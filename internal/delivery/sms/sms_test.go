package sms_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/delivery/acs"
	"prompthub/internal/delivery/acs/acstest"
	"prompthub/internal/delivery/sms"
)

func sender(t *testing.T, url, from string, tokens acs.Tokens) *sms.ACS {
	t.Helper()
	resource, err := acs.New(url, tokens)
	require.NoError(t, err)
	s, err := sms.NewACS(resource, from, time.Now)
	require.NoError(t, err)
	return s
}

// TestACS: a service that knows the identity takes a text; an identity without the role is refused
// with what to do, and one that was taken and not sent is an error.
func TestACS(t *testing.T) {
	t.Parallel()
	service := acstest.New(t)
	known := sender(t, service.URL, acstest.From, acstest.Tokens)
	require.NoError(t, known.Send(t.Context(), "+34600000001", "Your code is 123456"))
	require.Equal(t, "Your code is 123456", service.Last("+34600000001"))

	require.Error(t, sender(t, service.URL, "+1", acstest.Tokens).Send(t.Context(), "+34600000002", "x"))
	other := func(context.Context, string) (string, error) { return "of another", nil }
	require.ErrorContains(t, sender(t, service.URL, acstest.From, other).Send(t.Context(), "+34600000002", "x"),
		"role Communication and Email Service Owner")
	none := func(context.Context, string) (string, error) { return "", errors.New("no identity here") }
	require.ErrorContains(t, sender(t, service.URL, acstest.From, none).Send(t.Context(), "+34600000002", "x"),
		"no identity here")
	require.Empty(t, service.Last("+34600000002"))

	service.Refuse("the number is not reachable")
	err := known.Send(t.Context(), "+34600000003", "Your code is 654321")
	require.ErrorContains(t, err, "not reachable")
	require.NotContains(t, err.Error(), "654321")
}

func TestACSAnswers(t *testing.T) {
	t.Parallel()
	for _, answer := range []struct {
		status int
		body   string
	}{{200, `{"value":[{"successful":true}]}`}, {202, `{"value":[]}`}, {202, `x`}, {500, ``}} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(answer.status)
			_, _ = w.Write([]byte(answer.body))
		}))
		require.Error(t, sender(t, server.URL, acstest.From, acstest.Tokens).Send(t.Context(),
			"+34600000001", "x"), answer)
		server.Close()
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"http://example.com", "https://example.com/x", "https://ann@example.com",
		"https://example.com?x", "",
	} {
		_, err := acs.New(bad, acstest.Tokens)
		require.ErrorContains(t, err, "ACS_ENDPOINT", bad)
	}
	resource, err := acs.New("https://example.communication.azure.com/", acstest.Tokens)
	require.NoError(t, err)
	_, err = sms.NewACS(resource, "", time.Now)
	require.ErrorContains(t, err, "ACS_FROM")
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, sms.Printed{To: &b}.Send(t.Context(), "+34600000001", "Your code is 123456"))
	require.Equal(t, "SMS to +34600000001: Your code is 123456\n", b.String())
}
