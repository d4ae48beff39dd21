package keyring_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/keyring"
)

func key(b byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, keyring.KeyBytes))
}

func TestParse(t *testing.T) {
	t.Parallel()
	r, err := keyring.Parse(key(1) + ", " + key(2))
	require.NoError(t, err)
	require.Len(t, r, 2)
	for _, bad := range []string{"", "x", key(1) + ",", key(1)[4:], key(1) + "," + key(1), key(1) + key(2)} {
		_, err := keyring.Parse(bad)
		require.Error(t, err, bad)
		if len(bad) > 20 {
			require.NotContains(t, err.Error(), bad[:20])
		}
	}
}

// TestRotation: what the old first key sealed opens as long as that key is there; names are of the
// last key; a text of one purpose or place opens in no other.
func TestRotation(t *testing.T) {
	t.Parallel()
	ring := func(text string) keyring.Ring {
		r, err := keyring.Parse(text)
		require.NoError(t, err)
		return r
	}
	old, both, after := ring(key(1)), ring(key(2)+","+key(1)), ring(key(2))
	sealed := old.Seal("phone", "here", "+34600000001")
	require.NotEqual(t, sealed, old.Seal("phone", "here", "+34600000001"))
	text, err := both.Open("phone", "here", sealed)
	require.NoError(t, err)
	require.Equal(t, "+34600000001", text)
	_, err = after.Open("phone", "here", sealed)
	require.Error(t, err)
	text, err = after.Open("phone", "here", both.Seal("phone", "here", "x"))
	require.NoError(t, err, "the first key seals")
	require.Equal(t, "x", text)
	for _, other := range [][2]string{{"code", "here"}, {"phone", "there"}} {
		_, err := both.Open(other[0], other[1], sealed)
		require.Error(t, err)
	}
	_, err = both.Open("phone", "here", sealed[1:])
	require.Error(t, err)
	require.Equal(t, old.LastMAC("phone", "x"), both.LastMAC("phone", "x"))
	require.NotEqual(t, old.LastMAC("phone", "x"), after.LastMAC("phone", "x"))
	require.NotEqual(t, old.LastMAC("phone", "x"), old.LastMAC("code", "x"))
	require.Contains(t, both.MACs("code", "x"), old.MACs("code", "x")[0])
}
