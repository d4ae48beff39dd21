package langfuse_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func include(name, which string) string {
	return "@@@langfusePrompt:name=" + name + "|" + which + "@@@"
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	production := []string{"production"}
	child := c.made(fields{"name": "child", "prompt": "I am a child", "labels": production})
	raw := "Parent: " + include("child", "label=production")
	parent := c.made(fields{"name": "parent", "prompt": raw, "labels": production})
	require.Equal(t, raw, parent.Prompt)
	for _, query := range []string{"", "?version=1", "?version=1&resolve=true"} {
		p := c.got("parent", query)
		require.Equal(t, "Parent: I am a child", p.Prompt)
		require.Equal(t, map[string]any{
			"root": map[string]any{"name": "parent", "version": 1., "id": parent.ID},
			"dependencies": map[string]any{
				parent.ID: []any{map[string]any{"name": "child", "version": 1., "id": child.ID}},
			},
		}, p.ResolutionGraph)
	}
	unresolved := c.got("parent", "?resolve=false")
	require.Equal(t, raw, unresolved.Prompt)
	require.Nil(t, unresolved.ResolutionGraph)
	updated := c.made(fields{"name": "child", "prompt": "I am new", "labels": production})
	p := c.got("parent", "")
	require.Equal(t, "Parent: I am new", p.Prompt)
	require.Contains(t, fmt.Sprint(p.ResolutionGraph), updated.ID)
}

func TestIncludesOfAllKinds(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	save := func(name, text string) {
		c.made(fields{"name": name, "prompt": text, "labels": []string{"production"}})
	}
	save("level-3-a", "I am A")
	save("level-3-b", "I am B")
	save("level-2", "Two: "+include("level-3-a", "label=production")+" and "+include("level-3-b", "label=production"))
	save("level-1", "One: "+include("level-2", "label=production"))
	require.Equal(t, "One: Two: I am A and I am B", c.got("level-1", "").Prompt)

	save("child", "I am version 1, $1 \\ \"x\"")
	save("child", "I am version 2")
	save("by version", include("child", "version=1")+" again "+include("child", "version=1"))
	require.Equal(t, "I am version 1, $1 \\ \"x\" again I am version 1, $1 \\ \"x\"", c.got("by version", "").Prompt)

	names := []string{"with-hyphens", "with_underscores", "with.dots", "with123Numbers", "with spaces", "with/slashes"}
	text, want := "", ""
	for _, name := range names {
		save(name, "of "+name)
		text, want = text+include(name, "version=1")+"\n", want+"of "+name+"\n"
	}
	save("special", text)
	require.Equal(t, want, c.got("special", "").Prompt)

	c.made(fields{"name": "chat", "type": "chat", "labels": []string{"production"}, "prompt": messages{
		{"role": "system", "content": "You help"},
		{"type": "placeholder", "name": "history"},
		{"role": "user", "content": "Context: " + include("level-1", "label=latest")},
	}})
	require.Equal(t, []any{
		map[string]any{"role": "system", "content": "You help"},
		map[string]any{"type": "placeholder", "name": "history"},
		map[string]any{"role": "user", "content": "Context: One: Two: I am A and I am B"},
	}, c.got("chat", "").Prompt)
	require.Contains(t, c.got("chat", "?resolve=false").Prompt.([]any)[2].(map[string]any)["content"], "@@@")
}

// Text that is no include stays as it is written.
func TestNoIncludes(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	for i, text := range []string{
		"@@@langfusePrompt:invalid@@@", "@@@langfusePrompt:name=missing-type@@@",
		"@@@langfusePrompt:version=1|name=x@@@", "@@@langfusePrompt:name=x|something=else@@@",
		"@@@langfusePrompt:name=x|version=1|label=a@@@", "@@langfusePrompt:name=test|version=1@@",
		"@@@langfusePrompt:name=test|version=1", "langfusePrompt:name=test|version=1@@@",
		"@@@langfuseMedia:type=image/jpeg|id=cc48838a|source=base64@@@", "@@@langfusePrompt:name=x|version=0@@@",
	} {
		name := fmt.Sprint("p", i)
		c.made(fields{"name": name, "prompt": text, "labels": []string{"production"}})
		p := c.got(name, "")
		require.Equal(t, text, p.Prompt)
		require.Nil(t, p.ResolutionGraph)
	}
}

func TestIncludesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, other := w.client("ann"), w.client("bob")
	production := []string{"production"}
	refused := func(name, text, says string) {
		t.Helper()
		a := c.post(fields{"name": name, "prompt": text, "labels": production}).is(400)
		require.Contains(t, a.body, says)
	}
	other.made(fields{"name": "of another", "prompt": "x", "labels": production})
	refused("p", include("unknown", "version=1"), "there is no such prompt; a text includes its author's own")
	refused("p", include("of another", "version=1"), "there is no such prompt; a text includes its author's own")
	c.made(fields{
		"name": "chat", "type": "chat", "prompt": messages{{"role": "user", "content": "x"}},
		"labels": production,
	})
	refused("p", include("chat", "label=production"), "chat")
	c.made(fields{"name": "a", "prompt": "A", "labels": production})
	c.made(fields{"name": "b", "prompt": include("a", "label=production"), "labels": production})
	refused("a", include("b", "label=production"), "itself")
	refused("b", "Self "+include("b", "version=1"), "itself")
	deep := "deepest"
	for i := range 6 {
		name := fmt.Sprint("depth-", i)
		c.made(fields{"name": name, "prompt": deep, "labels": production})
		deep = include(name, "label=production")
	}
	refused("depth-6", deep, "deep")
}

// An include that a label led away from is told when it is read, and not where it is not wanted.
func TestIncludesThatAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann")
	c.made(fields{"name": "child", "prompt": "x", "labels": []string{"dev"}})
	c.made(fields{"name": "child", "prompt": "y"})
	c.made(fields{"name": "parent", "prompt": include("child", "label=dev"), "labels": []string{"production"}})
	c.made(fields{"name": "by version", "prompt": include("child", "version=2"), "labels": []string{"production"}})
	for query, by := range map[string]string{
		"": "parent", "?version=1": "parent", "?label=dev": "parent",
		"?version=2": "by version",
	} {
		a := c.delete("child", query)
		require.Equal(t, "InvalidRequestError", a.says(400, "included by"), query)
		require.Contains(t, a.body, by, query)
	}
	id := func(name string) prompt.ID {
		v, err := w.service.GetByName(t.Context(), c.user, library.IDOf(c.user), name, library.WantedVersion{})
		require.NoError(t, err)
		return v.ID
	}
	child, parent := id("child"), id("parent")
	require.ErrorContains(t, w.service.SetLabels(t.Context(), c.user, child, []string{"dev"}, 0),
		`the label dev is included by "parent"`)
	// a deleted prompt includes nothing, and may come back
	require.NoError(t, w.service.Delete(t.Context(), c.user, parent, library.Match{Any: true}))
	require.NoError(t, w.service.SetLabels(t.Context(), c.user, child, []string{"dev"}, 0))
	_, _, err := w.service.Restore(t.Context(), c.user, parent)
	require.NoError(t, err)
	require.Equal(t, "LangfuseConflictError", c.get("parent", "").says(409, "the prompt has no such label"))
	require.Equal(t, include("child", "label=dev"), c.got("parent", "?resolve=false").Prompt)
}
