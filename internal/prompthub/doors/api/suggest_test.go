package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

// TestSuggestions: before a prompt is saved its author is told of tags and of public prompts that
// are like it. Nothing private is found, and nothing keeps him from saving the same once more.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	const chef = "I want you to act as a chef who cooks for many guests, who tells what to buy, in which order to cook it, and what can be done the day before."
	save := func(title, text, tag, visibility string) string {
		return ann.do(http.MethodPost, prompts,
			fmt.Sprintf(`{"title":%q,"text":%q,"tags":[%q],"visibility":%q}`, title, text, tag, visibility)).is(
			201).prompt().ID
	}
	for i := range 6 {
		save(fmt.Sprint("Lawyer ", i), fmt.Sprint("Number ", i, ": contracts of parties."), "legal", "public")
	}
	public := save("Chef", chef, "health", "public")
	save("Secret chef", chef, "math", "private")

	ask := func(c person, body string) (s api.Suggestions) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(c.do(http.MethodPost, "/api/v1/suggestions", body).is(200).body), &s))
		return s
	}
	found := ask(bob, fmt.Sprintf(`{"title":"Cook for my health","text":%q}`, chef+" Please."))
	require.Equal(t, []api.SuggestedTag{{Tag: "health", DisplayName: "Health"}}, found.Tags)
	require.Len(t, found.Similar, 1)
	require.Equal(t, []any{public, "Chef", "Ann", true},
		[]any{found.Similar[0].ID, found.Similar[0].Title, found.Similar[0].AuthorName, found.Similar[0].Same})
	require.InDelta(t, 0.97, found.Similar[0].Like, 0.03)
	require.Empty(t, ask(ann, fmt.Sprintf(`{"text":%q,"prompt":%q}`, chef, public)).Similar, "it is not like itself")
	require.Empty(t, ask(bob, `{"title":"A contract","tags":["legal"]}`).Tags, "what it has")
	require.Equal(t, api.Suggestions{Tags: []api.SuggestedTag{}, Similar: []api.SimilarPrompt{}}, ask(w.as(""), `{}`))
	bob.do(http.MethodPost, prompts, fmt.Sprintf(`{"title":"Chef","text":%q,"visibility":"public"}`, chef)).is(201)

	for _, body := range []string{
		fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 3001)), fmt.Sprintf(`{"title":%q}`, strings.Repeat("x", 201)),
		`{"prompt":"x"}`,
		`{"tags":["a","b","c","d","e","f","g","h","i","j","k"]}`, `{"unknown":1}`,
	} {
		bob.do(http.MethodPost, "/api/v1/suggestions", body).problem(422)
	}
}
