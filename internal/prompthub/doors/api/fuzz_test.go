package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

// FuzzCreate holds that any body is either refused with a problem or stored as the standard library
// reads it.
func FuzzCreate(f *testing.F) {
	for _, body := range []string{
		draft("T", "text"), `{"title":"\ud83d\ude80","text":"\u0000"}`,
		`{"title":"T","text":"X","tags":null}`, `{"title":"\ud800"}`,
		`{"title":"T","title":"T"}`, `{"Title":"T"}`, `[]`, `null`, `1e999`, `{"title":"T","text":"\u2028\r\n"}`,
		"\ufeff{}", `{"a/~b":[{"0":1,"0":2}]}`,
	} {
		f.Add(body)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, prompts, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("X-Dev-User", "Ann")
		rec := httptest.NewRecorder()
		w.api.ServeHTTP(rec, r)
		a := answer{t, rec.Code, rec.Header(), rec.Body.String()}
		require.True(t, utf8.ValidString(a.body))
		if a.status != http.StatusCreated {
			require.Contains(t, []int{400, 413, 422}, a.status)
			a.problem(a.status)
			return
		}
		var sent api.NewPrompt
		require.NoError(t, json.Unmarshal([]byte(body), &sent))
		got := a.prompt()
		require.Equal(t, sent.Text, got.Text)
		require.Equal(t, strings.TrimSpace(sent.Title), got.Title)
		require.Len(t, got.Tags, len(sent.Tags))
	})
}
