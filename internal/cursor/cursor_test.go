package cursor_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/cursor"
	"prompthub/internal/fault"
)

func TestSealedPositionOpens(t *testing.T) {
	token := cursor.Seal("newest", "0123|ID")
	got, err := cursor.Open("newest", token)
	require.NoError(t, err)
	require.Equal(t, "0123|ID", got)
}

// TestResume: a list begins without a token and ends without one, and a token of another list is
// refused as an error of its caller.
func TestResume(t *testing.T) {
	require.Empty(t, cursor.Seal("newest", ""))
	got, err := cursor.Resume("newest", "")
	require.NoError(t, err)
	require.Empty(t, got)
	got, err = cursor.Resume("newest", cursor.Seal("newest", "0123|ID"))
	require.NoError(t, err)
	require.Equal(t, "0123|ID", got)
	_, err = cursor.Resume("newest", cursor.Seal("hot", "0123|ID"))
	require.Equal(t, fault.Malformed, fault.Of(err))
}

func TestOpenRefuses(t *testing.T) {
	token := cursor.Seal("newest", "0123|ID")
	raw, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	newer := append([]byte{2}, raw[1:]...)
	for name, bad := range map[string]string{
		"empty":                        "",
		"not base64":                   "!!!",
		"padding":                      token + "=",
		"cut":                          token[:len(token)-2],
		"only a header":                token[:12],
		"another query":                cursor.Seal("newest2", "0123|ID"),
		"scope and position shifted":   cursor.Seal("newes", "t0123|ID"),
		"unknown version":              base64.RawURLEncoding.EncodeToString(newer),
		"edited":                       "B" + token[1:],
		"longer than any that we make": strings.Repeat("A", cursor.MaxLen+1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cursor.Open("newest", bad)
			require.ErrorIs(t, err, cursor.ErrInvalid)
		})
	}
}

func TestEveryEditIsSeen(t *testing.T) {
	token := cursor.Seal("q", "0123456789|01ARZ3NDEKTSV4RRFFQ69G5FAV")
	for i := range token {
		for _, c := range "AZaz09-_" {
			if edited := token[:i] + string(c) + token[i+1:]; edited != token {
				_, err := cursor.Open("q", edited)
				require.ErrorIs(t, err, cursor.ErrInvalid, "character %d", i)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add("q", cursor.Seal("q", "p"))
	f.Fuzz(func(t *testing.T, scope, token string) {
		position, err := cursor.Open(scope, token)
		if err == nil && cursor.Seal(scope, position) != token {
			t.Errorf("token %q opens as %q, which seals as %q", token, position, cursor.Seal(scope, position))
		}
	})
}
