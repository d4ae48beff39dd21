package loopback_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/loopback"
)

func TestIsHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"} {
		require.True(t, loopback.IsHost(host), host)
	}
	for _, host := range []string{
		"", "localhost.example.org", "127.0.0.1.example.org", "127.0.0.1:80", "[::1]",
		"0.0.0.0", "::", "10.0.0.1", "128.0.0.1",
	} {
		require.False(t, loopback.IsHost(host), host)
	}
}
