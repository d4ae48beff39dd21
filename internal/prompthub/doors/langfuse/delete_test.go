package langfuse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	for _, name := range []string{"p", "folder/subfolder/p"} {
		c.made(fields{"name": name, "prompt": "one", "labels": []string{"production"}})
		c.made(fields{"name": name, "prompt": "two"})
		require.Empty(t, c.delete(name, "").is(204).body)
		c.get(name, "").is(404)
		c.get(name, "?version=1").is(404)
		require.Equal(t, "LangfuseNotFoundError", c.delete(name, "").says(404, "Prompt not found"))
		require.Empty(t, c.list("").Data)
		require.Equal(t, 1, c.made(fields{"name": name, "prompt": "new"}).Version, "its name is free")
		c.delete(name, "").is(204)
	}
}

func TestDeleteVersions(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "prompt": "one", "labels": []string{"production"}})
	c.made(fields{"name": "p", "prompt": "two", "labels": []string{"dev"}})
	c.delete("p", "?version=1&label=dev").says(400, "both version and label")
	c.delete("p", "?version=3").says(404, "with version 3")
	c.delete("p", "?label=none").says(404, "with label 'none'")
	c.delete("p", "?version=1").is(204)
	c.get("p", "?version=1").is(404)
	require.Equal(t, 2, c.got("p", "?label=dev").Version)
	c.delete("p", "?label=dev").is(204)
	require.Empty(t, c.list("").Data, "without versions there is no prompt")
	c.get("p", "?label=latest").is(404)
}

func TestLatestMovesBack(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "prompt": "one", "labels": []string{"dev"}})
	c.made(fields{"name": "p", "prompt": "two", "labels": []string{"production"}})
	c.made(fields{"name": "p", "prompt": "three", "labels": []string{"next"}})
	c.delete("p", "?version=3").is(204)
	require.Equal(t, []string{"production", "latest"}, c.got("p", "").Labels)
	require.Equal(t, []string{"dev"}, c.got("p", "?version=1").Labels)
	require.Equal(t, []int{1, 2}, c.list("").Data[0].Versions)
	require.Equal(t, 4, c.made(fields{"name": "p", "prompt": "four"}).Version, "a number is used once")
}

// Others may miss a deleted prompt, so it needs the scope publish.
func TestDeleteNeedsAScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann", auth.ScopeRead, auth.ScopeWrite)
	c.made(fields{"name": "p", "prompt": "one"})
	c.made(fields{"name": "p", "prompt": "two"})
	c.delete("p", "").says(403, "publish")
	c.delete("p", "?version=1").says(403, "publish")
	require.Equal(t, []int{1, 2}, c.list("").Data[0].Versions)
}
