package sms_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/sms"
	"prompthub/apps/duuble/internal/sms/smstest"
)

// TestACS: a service that checks the signature takes a text; one by another key is refused, and one
// that was taken and not sent is an error.
func TestACS(t *testing.T) {
	t.Parallel()
	service := smstest.New(t)
	sender, err := sms.NewACS(service.URL, smstest.From, smstest.Key, time.Now)
	require.NoError(t, err)
	require.NoError(t, sender.Send(t.Context(), "+34600000001", "Your code is 123456"))
	require.Equal(t, "Your code is 123456", service.Last("+34600000001"))

	for _, wrong := range []struct{ from, key string }{{smstest.From, "b3RoZXI="}, {"+1", smstest.Key}} {
		other, err := sms.NewACS(service.URL, wrong.from, wrong.key, time.Now)
		require.NoError(t, err)
		require.Error(t, other.Send(t.Context(), "+34600000002", "x"))
	}
	late, err := sms.NewACS(service.URL, smstest.From, smstest.Key, func() time.Time { return time.Now().Add(-time.Hour) })
	require.NoError(t, err)
	require.Error(t, late.Send(t.Context(), "+34600000002", "x"))
	require.Empty(t, service.Last("+34600000002"))

	service.Refuse("the number is not reachable")
	err = sender.Send(t.Context(), "+34600000003", "Your code is 654321")
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
		sender, err := sms.NewACS(server.URL, smstest.From, smstest.Key, time.Now)
		require.NoError(t, err)
		require.Error(t, sender.Send(t.Context(), "+34600000001", "x"), answer)
		server.Close()
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for _, bad := range [][3]string{
		{"http://example.com", smstest.From, smstest.Key},
		{"https://example.com/x", smstest.From, smstest.Key},
		{"", smstest.From, smstest.Key},
		{"https://example.com", "", smstest.Key},
		{"https://example.com", smstest.From, "?"},
		{"https://example.com", smstest.From, ""},
	} {
		_, err := sms.NewACS(bad[0], bad[1], bad[2], time.Now)
		require.Error(t, err, bad)
	}
	_, err := sms.NewACS("https://example.communication.azure.com/", smstest.From, smstest.Key, time.Now)
	require.NoError(t, err)
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, sms.Printed{To: &b}.Send(t.Context(), "+34600000001", "Your code is 123456"))
	require.Equal(t, "SMS to +34600000001: Your code is 123456\n", b.String())
}
