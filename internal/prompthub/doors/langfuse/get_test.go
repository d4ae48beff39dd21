package langfuse_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
)

func TestGet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann")
	made := c.made(fields{
		"name": "p", "prompt": "prompt", "labels": []string{"production"},
		"config": fields{"temperature": 0.1},
	})
	p := c.got("p", "")
	require.Equal(t, made, p)
	key := w.service.AuthorKey("ann")
	at := time.Date(2026, 3, 1, 12, 0, 0, 1e6, time.UTC)
	require.Equal(t, promptObject{
		ID: p.ID, ProjectID: key, CreatedBy: key, Name: "p", Type: "text", CreatedAt: at, UpdatedAt: at, Version: 1,
		Prompt: "prompt", Config: map[string]any{"temperature": 0.1}, Labels: []string{"production", "latest"},
		Tags: []string{}, IsActive: true,
	}, p)
}

func TestGetOfTheOldRoute(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "a/b c", "prompt": "one", "labels": []string{"production"}})
	old := func(query string) answer { return c.do(http.MethodGet, "/lf/api/public/prompts"+query, "") }
	require.Equal(t, c.got("a/b c", ""), old("?name=a/b%20c").is(200).prompt())
	require.Equal(t, 1, old("?name=a%2Fb+c&version=1").is(200).prompt().Version)
	require.Equal(t, "LangfuseNotFoundError", old("?name=x").says(404, "Prompt not found"))
	old("").says(400, "Invalid request data")
}

// Names stand in the path as one segment, whatever they hold; where somebody decoded it on the way,
// as several.
func TestNamesInPaths(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	for _, name := range []string{
		"promptName?!+ =@#;", "folder/sub folder/name", "a/versions/2", "percent%20encoded", "100%",
		"unicode-名前-тест-🚀", `back\slash`, "...", "a..b/.c", "x;y=z",
		"UPPER_lower.9", "multiple   spaces", "angled[brac]es]",
	} {
		require.Equal(t, name, c.made(fields{"name": name, "prompt": name, "labels": []string{"production"}}).Name)
		require.Equal(t, name, c.got(name, "").Prompt)
		require.Equal(t, []string{"a", "production", "latest"}, c.label(name, "1", "a").is(200).prompt().Labels)
	}
	require.Equal(t, "folder/sub folder/name",
		c.do(http.MethodGet, base+"/folder/sub%20folder/name", "").is(200).prompt().Prompt)
	for _, name := range []string{"folder/sub folder/name", "a/versions/2", "..."} {
		c.delete(name, "").is(204)
		c.get(name, "").is(404)
	}
}

// A name is found as it was sent to make the prompt; and one that a path cannot have is no name.
func TestNamesAsTheyAreSent(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	require.Equal(t, "padded", c.made(fields{"name": " padded ", "prompt": "x", "labels": []string{"production"}}).Name)
	require.Equal(t, "x", c.got(" padded ", "").Prompt)
	require.Contains(t, c.do(http.MethodGet, base+"?name=%20padded%20", "").is(200).body, `"totalItems":1`)
	c.get(" ", "").is(404)
	for _, name := range []string{".", "..", "a/../b", "./a", "a/.."} {
		require.Contains(t, c.post(fields{"name": name, "prompt": "x"}).is(400).body, "no part is . or ..")
	}
}

func TestGetByVersion(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	made := c.made(fields{"name": "p", "prompt": "prompt"})
	require.Equal(t, "LangfuseNotFoundError", c.get("p", "").says(404, "Prompt not found: 'p' with label 'production'"))
	require.Equal(t, made, c.got("p", "?version=1"))
	require.Equal(t, []string{"latest"}, made.Labels)
	require.False(t, made.IsActive)
	for query, text := range map[string]string{
		"?version=2": "Prompt not found: 'p' with version 2", "?version=-1": "with version -1",
		"?version=9999999999":          "with version 9999999999",
		"?version=9223372036854775807": "with version", "?version=0": "with label 'production'",
		"?label=x":        "with label 'x'",
		"?label=" + "%20": "with label ' '",
	} {
		require.Equal(t, "LangfuseNotFoundError", c.get("p", query).says(404, text), query)
	}
	for _, query := range []string{
		"?version=x", "?version=1.5", "?version=99999999999999999999",
		"?version=1&label=latest", "?resolve=maybe",
	} {
		c.get("p", query).is(400)
	}
}

func TestGetByLabel(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "prompt": "dev", "labels": []string{"dev"}})
	c.get("p", "").is(404)
	require.Equal(t, "dev", c.got("p", "?label=dev").Prompt)
	require.Equal(t, "dev", c.got("p", "?label=latest").Prompt)
	c.made(fields{"name": "p", "prompt": "prod", "labels": []string{"production"}})
	c.made(fields{"name": "p", "prompt": "three"})
	require.Equal(t, "prod", c.got("p", "").Prompt)
	require.Equal(t, "dev", c.got("p", "?label=dev").Prompt)
	require.Equal(t, []string{"dev"}, c.got("p", "?label=dev").Labels)
	require.Equal(t, []string{"latest"}, c.got("p", "?label=latest").Labels)
	require.Equal(t, 3, c.got("p", "?label=latest").Version)
	require.NotEqual(t, c.got("p", "?version=1").ID, c.got("p", "?version=2").ID)
}

// A slug is no name here, and a name that a prompt had is one.
func TestNamesAndSlugs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann")
	c.made(fields{"name": "My Prompt", "prompt": "x", "labels": []string{"production"}})
	c.get("my-prompt", "").is(404)
	c.delete("my-prompt", "").is(404)
	require.Equal(t, "LangfuseConflictError",
		c.post(fields{"name": "my-prompt", "prompt": "x"}).says(409, `"My Prompt"`))
}

// An address can hold what is no text; it is refused, and no answer repeats it or a long name.
func TestNamesThatAreNoText(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "prompt": "x"})
	for _, path := range []string{
		base + "/%ff", base + "/p?label=\xff",
		"/lf/api/public/prompts?name=\xff", base + "?tag=\xff",
	} {
		c.do(http.MethodGet, path, "").says(400, "Invalid request data")
	}
	c.do(http.MethodPatch, base+"/%ff/versions/1", `{"newLabels":["a"]}`).says(400, "Invalid request data")
	c.do(http.MethodDelete, base+"/%ff", "").says(400, "Invalid request data")
	require.Less(t, len(c.do(http.MethodGet, base+"/"+strings.Repeat("x", 30_000), "").is(404).body), 1000)
}

// A list that is sent is read in a time that grows with its length.
func TestManyLabelsAndTags(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	many := make([]string, 30_000)
	for i := range many {
		many[i] = strconv.FormatInt(int64(i), 36)
	}
	c.post(fields{"name": "p", "prompt": "x", "labels": many}).is(400)
	c.post(fields{"name": "p", "prompt": "x", "tags": many}).is(400)
	twice := []string{"a", "b", "a", "b"}
	made := c.made(fields{"name": "p", "prompt": "x", "labels": twice, "tags": twice})
	require.Equal(t, []string{"a", "b", "latest"}, made.Labels)
	require.Equal(t, []string{"a", "b"}, made.Tags)
}

// TestPlaceholdersThatClientsFillIn: the SDKs of Langfuse put values into the places of {{name}}
// alone, so no other placeholder goes out; what it said of its variable is told in a header.
func TestPlaceholdersThatClientsFillIn(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	for text, want := range map[string][2]string{
		"Hi {{name}} and {{ other }}":             {"Hi {{name}} and {{ other }}", ""},
		"In {{tone:warm}} words, {{tone}}":        {"In {{tone}} words, {{tone}}", `variables.tone (default "warm")`},
		"In {{tone:dry|warm}} words":              {"In {{tone}} words", `variables.tone (default "dry")`},
		"Hi ${name}, ${my name:Ann}":              {"Hi {{name}}, {{my_name}}", `variables.my_name (default "Ann")`},
		"{{first name}} {{$x}} ${input:y:a hint}": {"{{first_name}} {{x}} {{y}}", ""},
		"{{who | select:options=[\"a\",\"b\"]}}.": {"{{who}}.", "variables.who (choices)"},
		"{{a:\u00fc}} {no} {{{b}}} {{c d: }}": {
			"{{a}} {no} {{{b}}} {{c_d}}",
			`variables.a (default "\u00fc"), variables.c_d (default "")`,
		},
		"A brace { and {{x:{{y}}": {"A brace { and {{x:{{y}}", ""},
	} {
		c.made(fields{"name": "p", "prompt": text, "labels": []string{"production"}})
		for _, query := range []string{"", "?resolve=false"} {
			a := c.get("p", query).is(200)
			require.Equal(t, want[0], a.prompt().Prompt, text)
			require.Equal(t, want[1], a.header.Get("X-PromptHub-Loss"), text)
		}
		c.made(fields{
			"name": "chat", "type": "chat",
			"prompt": messages{{"role": "user", "content": text}, {"type": "placeholder", "name": "history"}},
			"labels": []string{"production"},
		})
		require.Equal(t, want[1], c.get("chat", "").is(200).header.Get("X-PromptHub-Loss"))
	}
}

// A version that was recalled is in no answer: the labels are on the version before, and its number
// is refused with the reason.
func TestRecalledVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client("ann")
	c.made(fields{"name": "p", "prompt": "one", "labels": []string{"production"}})
	c.made(fields{"name": "p", "prompt": "two", "labels": []string{"production"}})
	ann := auth.User{ID: "ann"}
	v, err := w.service.GetByName(t.Context(), ann, "ann", "p", library.WantedVersion{})
	require.NoError(t, err)
	require.NoError(t, w.service.Recall(t.Context(), ann, v.ID, 2, "It lies"))

	require.Equal(t, "one", c.got("p", "").Prompt)
	require.Equal(t, "one", c.got("p", "?label=latest").Prompt)
	c.get("p", "?version=2").says(http.StatusGone, "version 2 was recalled: It lies")
	c.label("p", "2", "production").says(http.StatusGone, "It lies")
	l := c.list("")
	require.Equal(t, [][]int{{1}}, [][]int{l.Data[0].Versions})
	require.Equal(t, []string{"latest", "production"}, l.Data[0].Labels)

	require.NoError(t, w.service.Recall(t.Context(), ann, v.ID, 1, "It lies"))
	require.Empty(t, c.list("").Data)
	c.get("p", "").says(http.StatusNotFound, "Prompt not found")
	c.delete("p", "?version=2").is(http.StatusNoContent)
	c.get("p", "?version=1").says(http.StatusGone, "It lies")
}
