package auth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/http/auth"
)

func TestTokenForm(t *testing.T) {
	t.Parallel()
	form := auth.TokenForm{Prefix: "ab_", IDBytes: 4}
	secret := [auth.SecretBytes]byte(bytes.Repeat([]byte{7}, auth.SecretBytes))
	token := form.Format([]byte("user"), secret)
	require.Equal(t, "ab_ovzwk4q_a4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqprjysia", token)
	id, got, ok := form.Bytes(token)
	require.True(t, ok)
	require.Equal(t, "user", string(id))
	require.Equal(t, secret, got)
	name, hash, ok := form.Parse(token)
	require.True(t, ok)
	require.Equal(t, "ovzwk4q", name)
	_, text, _ := strings.Cut(strings.TrimPrefix(token, "ab_"), "_")
	require.Equal(t, auth.Secret(sha256.Sum256([]byte(text))), hash, "the rows of PromptHub hold it")
	for _, other := range []auth.TokenForm{{Prefix: "ac_", IDBytes: 4}, {Prefix: "ab_", IDBytes: 5}} {
		_, _, ok := other.Bytes(token)
		require.False(t, ok, other)
	}
}

// A text that differs from a token in one place is none.
func TestTokenFormRefuses(t *testing.T) {
	t.Parallel()
	form := auth.TokenForm{Prefix: "ab_", IDBytes: 4}
	rapid.Check(t, func(t *rapid.T) {
		token, _, _ := form.New()
		i := rapid.IntRange(0, len(token)).Draw(t, "place")
		from := i + rapid.IntRange(0, 1).Draw(t, "cut")
		text := token[:i] + rapid.StringN(0, 2, 8).Draw(t, "in its place") + token[min(from, len(token)):]
		_, _, ok := form.Bytes(text)
		require.Equal(t, text == token, ok, text)
		_, _, ok = form.Parse(text)
		require.Equal(t, text == token, ok, text)
	})
}

// TestTokenWithoutBearer: a token that stands alone in Authorization is refused. Without that the
// caller would count as anonymous.
func TestTokenWithoutBearer(t *testing.T) {
	t.Parallel()
	form := auth.TokenForm{Prefix: "ab_", IDBytes: 4}
	token, _, _ := form.New()
	identify := auth.AccessTokens(form, func(context.Context, string, auth.Secret, func() error) (auth.User, error) {
		return auth.User{}, errors.New("it is looked for")
	}, nil, auth.Dev())
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.Header.Set("Authorization", token)
	_, err := identify(r)
	require.EqualError(t, err, "write the word Bearer before the access token: Authorization: Bearer ab_…")
}
