package langfuse_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// publish makes a prompt public.
func publish(t *testing.T, w *world, user, name string) {
	t.Helper()
	who, public := auth.User{ID: user, Name: user}, prompt.Public
	v, err := w.service.GetByName(t.Context(), who, library.IDOf(who), name, library.WantedVersion{})
	require.NoError(t, err)
	_, err = w.service.Patch(t.Context(), who, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Visibility = public
	})
	require.NoError(t, err)
}

func TestLabelsAreAdded(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "prompt": "one", "labels": []string{"production"}})
	c.made(fields{"name": "p", "prompt": "two"})
	require.Equal(t, []string{"new-label", "production"}, c.label("p", "1", "new-label").is(200).prompt().Labels)
	require.Equal(t, []string{"production", "latest"},
		c.label("p", "2", "production", "production").is(200).prompt().Labels)
	require.Equal(t, []string{"new-label"}, c.got("p", "?version=1").Labels)
	require.Equal(t, []string{"production", "latest"}, c.label("p", "2").is(200).prompt().Labels,
		"no labels change nothing")
}

func TestLabelsThatCannotBe(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "prompt": "one"})
	c.label("p", "1", "latest").says(400, "Invalid request data")
	c.label("p", "1", "production", "Upper").says(400, "Invalid request data")
	issues := c.label("p", "1", "").says(400, "Invalid request data").([]any)
	require.Equal(t, []any{"newLabels"}, issues[0].(map[string]any)["path"])
	require.Equal(t, []string{"latest"}, c.got("p", "?version=1").Labels, "all or none")
	c.label("p", "1", many("l", 51)...).is(400)
	c.label("p", "x", "production").is(400)
	for _, version := range []string{"2", "-1", "9999999999"} {
		c.label("p", version, "production").says(404, "Prompt not found: 'p' with version "+version)
	}
	c.label("p", "0", "production").says(404, "Prompt not found: 'p'")
	c.label("unknown", "1", "production").says(404, "Prompt not found: 'unknown'")
	for _, body := range []string{"", "{}", `{"newLabels":"a"}`, `{"newLabels":[1]}`} {
		c.do(http.MethodPatch, path("p", "/versions/1"), body).is(400)
	}
}
