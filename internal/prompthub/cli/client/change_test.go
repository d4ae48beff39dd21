package client_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// TestChange: a change sends the members that a file says otherwise than before, and empties those
// that it says no longer, but for those that no prompt is without.
func TestChange(t *testing.T) {
	t.Parallel()
	all := format.Document{
		Name: "n", Title: "T", Description: "D", Text: "x", Config: []byte(`{"a":1}`),
		Variables: []prompt.Variable{{Name: "v", Type: prompt.Line}},
		Tags:      []string{"text"}, OwnTags: []string{"mine"}, Visibility: "public",
		Labels: []string{"l"}, Message: "m",
	}
	other := format.Document{
		Name: "o", Title: "O", Description: "O", Text: "o", Config: []byte(`[]`),
		Variables: []prompt.Variable{{Name: "o", Type: prompt.Date}},
		Tags:      []string{"image"}, OwnTags: []string{"o"}, Visibility: "private",
		Labels: []string{"o"}, Message: "o",
	}
	whole := `"kind":"text","text":"x","messages":null,"labels":["l"],"message":"m"`
	for name, tt := range map[string]struct {
		before, now format.Document
		want        string
	}{
		"the same": {all, all, `{` + whole + `}`},
		"all":      {format.Document{}, all, `{"name":"n","title":"T","description":"D","config":{"a":1},"variables":[{"name":"v","type":"text"}],"tags":["text"],"ownTags":["mine"],"visibility":"public",` + whole + `}`},
		"each":     {other, all, `{"name":"n","title":"T","description":"D","config":{"a":1},"variables":[{"name":"v","type":"text"}],"tags":["text"],"ownTags":["mine"],"visibility":"public",` + whole + `}`},
		"nothing":  {all, format.Document{Text: "x"}, `{"kind":"text","text":"x","messages":null,"description":"","config":null,"variables":null,"tags":null,"ownTags":null}`},
		"less tags": {
			format.Document{Text: "x", Tags: []string{"a", "b"}},
			format.Document{Text: "x", Tags: []string{"a"}},
			`{"kind":"text","text":"x","messages":null,"tags":["a"],"ownTags":null}`,
		},
		"a chat": {
			format.Document{Text: "x"},
			format.Document{Messages: []prompt.Message{{Role: "user", Content: "<hi>"}}, Config: []byte(`{}`)},
			`{"kind":"chat","text":"","messages":[{"role":"user","content":"<hi>"}],"config":{}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent string
			c := newClient(t, func(r *http.Request, body string) (*http.Response, error) {
				require.Equal(t, `"3"`, r.Header.Get("If-Match"))
				sent = body
				return reply(http.StatusOK, `{"id":"1"}`)
			})
			_, err := c.Change(t.Context(), client.Prompt{ID: "1", Revision: 3}, tt.now, tt.before)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, sent)
		})
	}
}
