package langfuse_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
)

type messages []fields

func TestCreateChat(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	chat := messages{{"role": "system", "content": "You are a bot"}, {"role": "user", "content": "What's up?"}}
	made := c.made(fields{
		"name": "p", "prompt": chat, "type": "chat", "labels": []string{"production"},
		"commitMessage": "chore: setup",
	})
	p := c.got("p", "")
	require.Equal(t, made, p)
	require.Equal(t, "chat", p.Type)
	require.Equal(t, 1, p.Version)
	require.Equal(t, "chore: setup", *p.CommitMessage)
	require.Equal(t, map[string]any{}, p.Config)
	require.Equal(t, []any{
		map[string]any{"role": "system", "content": "You are a bot"},
		map[string]any{"role": "user", "content": "What's up?"},
	}, p.Prompt)
}

func TestCreateChatWithPlaceholders(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "type": "chat", "labels": []string{"production"}, "prompt": messages{
		{"type": "chatmessage", "role": "system", "content": "You are helpful."},
		{"type": "placeholder", "name": "conversation_history"},
		{"role": "user", "content": "{{user_question}}"},
	}})
	require.Equal(t, []any{
		map[string]any{"role": "system", "content": "You are helpful."},
		map[string]any{"type": "placeholder", "name": "conversation_history"},
		map[string]any{"role": "user", "content": "{{user_question}}"},
	}, c.got("p", "").Prompt)
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	bot := messages{{"role": "system", "content": "You are a bot"}}
	with := func(f fields) fields {
		all := fields{"name": "p", "prompt": "text"}
		for name, value := range f {
			all[name] = value
		}
		return all
	}
	for _, tc := range []struct {
		what  string
		sent  fields
		where []any
	}{
		{"a text as a chat", with(fields{"type": "chat"}), []any{"prompt"}},
		{"a chat as a text", with(fields{"type": "text", "prompt": bot}), []any{"prompt"}},
		{"a chat without its type", with(fields{"prompt": bot}), []any{"prompt"}},
		{
			"a message without content",
			with(fields{"type": "chat", "prompt": messages{bot[0], {"role": "user", "message": "What's up?"}}}),
			[]any{"prompt", 1.},
		},
		{"a message that is none", with(fields{"type": "chat", "prompt": []any{1}}), []any{"prompt"}},
		{
			"a content that is no text",
			with(fields{"type": "chat", "prompt": messages{{"role": "user", "content": []any{"a"}}}}),
			[]any{"prompt"},
		},
		{
			"a placeholder without name",
			with(fields{"type": "chat", "prompt": messages{bot[0], {"type": "placeholder"}}}),
			[]any{"prompt", 1., "name"},
		},
		{
			"a placeholder with a space",
			with(fields{"type": "chat", "prompt": messages{{"type": "placeholder", "name": "a b"}}}),
			[]any{"prompt", 0., "name"},
		},
		{"no messages", with(fields{"type": "chat", "prompt": messages{}}), []any{"prompt"}},
		{"another type", with(fields{"type": "image"}), []any{"type"}},
		{"no prompt", fields{"name": "p"}, []any{"prompt"}},
		{"an empty prompt", with(fields{"prompt": ""}), []any{"prompt"}},
		{"a label in upper case", with(fields{"labels": []string{"ok", "Prod"}}), []any{"labels", 1.}},
		{"a long label", with(fields{"labels": []string{strings.Repeat("a", 37)}}), []any{"labels", 0.}},
		{"labels that are none", with(fields{"labels": "production"}), []any{"labels"}},
		{"too many labels", with(fields{"labels": many("l", 51)}), []any{"labels"}},
		{"too many tags", with(fields{"tags": many("t", 51)}), []any{"tags"}},
		{"a long commit message", with(fields{"commitMessage": strings.Repeat("x", 501)}), []any{"commitMessage"}},
		{"a large config", with(fields{"config": strings.Repeat("x", 65536)}), []any{"config"}},
		{"a number that no reader takes", with(fields{"config": json.RawMessage(`{"e":1e400}`)}), []any{"config"}},
		{"no name", fields{"prompt": "text"}, []any{"name"}},
		{"an empty name", with(fields{"name": " "}), []any{"name"}},
		{"a slash first", with(fields{"name": "/invalid-name"}), []any{"name"}},
		{"a slash last", with(fields{"name": "invalid-name/"}), []any{"name"}},
		{"two slashes", with(fields{"name": "invalid//name"}), []any{"name"}},
		{"a pipe", with(fields{"name": "invalid|name"}), []any{"name"}},
		{"a name of a page", with(fields{"name": "new"}), []any{"name"}},
		{"HTML", with(fields{"name": "Test <div>"}), []any{"name"}},
		{"a long name", with(fields{"name": strings.Repeat("a", 256)}), []any{"name"}},
		{"a name that is none", with(fields{"name": 1}), []any{"name"}},
	} {
		issues := c.post(tc.sent).says(http.StatusBadRequest, "Invalid request data").([]any)
		require.Equal(t, tc.where, issues[0].(map[string]any)["path"], tc.what)
		require.NotEmpty(t, issues[0].(map[string]any)["message"], tc.what)
	}
	for _, body := range []string{
		"", "{", "null", `{"name":"p","name":"q","prompt":"x"}`,
		"{\"name\":\"p\xff\",\"prompt\":\"x\"}", "[]", strings.Repeat("[", 100_000),
	} {
		c.do(http.MethodPost, base, body).is(http.StatusBadRequest)
	}
	c.do(http.MethodPost, base, `{"name":"`+strings.Repeat("x", 300<<10)).says(
		http.StatusRequestEntityTooLarge, "larger than")
	c.do(http.MethodPost, base, `{"prompt":[`+strings.Repeat("0,", 50_001)).says(http.StatusBadRequest,
		"more than 50000 elements and members")
	require.Empty(t, c.list("").Data)
}

func many(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(prefix, i)
	}
	return list
}

func TestCreateKeepsTheKind(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	chat := fields{
		"name": "p", "type": "chat", "prompt": messages{{"role": "user", "content": "x"}},
		"labels": []string{"production"},
	}
	c.made(chat)
	require.Equal(t, "InvalidRequestError",
		c.post(fields{"name": "p", "prompt": "text", "version": 2}).says(400, "another kind"))
	require.Equal(t, "chat", c.got("p", "").Type)
	c.get("p", "?version=2").is(404)
}

func TestLabelsMove(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	one := c.made(fields{"name": "p", "prompt": "prompt1", "labels": []string{"production", "staging", "development"}})
	two := c.made(fields{
		"name": "p", "prompt": "prompt2",
		"labels": []string{"production", "production", "staging", "latest"},
	})
	three := c.made(fields{"name": "p", "prompt": "prompt3", "labels": []string{"staging"}, "isActive": false})
	require.Equal(t, []string{"production", "staging", "latest"}, two.Labels)
	require.Equal(t, two.ID, c.got("p", "").ID)
	require.Equal(t, []string{"production"}, c.got("p", "").Labels)
	require.Equal(t, one.ID, c.got("p", "?version=1").ID)
	require.Equal(t, []string{"development"}, c.got("p", "?version=1").Labels)
	require.Equal(t, three.ID, c.got("p", "?version=3").ID)
	require.Equal(t, []string{"staging", "latest"}, c.got("p", "?version=3").Labels)
}

// The same content is a version of its own: what a client sent twice it can ask for twice.
func TestSameContentAgain(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	c.made(fields{"name": "p", "prompt": "x", "labels": []string{"production"}, "commitMessage": "first"})
	again := c.made(fields{"name": "p", "prompt": "x"})
	require.Equal(t, 2, again.Version)
	require.Nil(t, again.CommitMessage)
	require.Equal(t, 1, c.got("p", "").Version)
	require.Equal(t, "first", *c.got("p", "").CommitMessage)
	require.Equal(t, again, c.got("p", "?version=2"))
}

func TestConfigs(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	for name, config := range map[string]any{
		"none": nil, "empty": fields{}, "list": []any{1., "a"}, "text": "x",
		"nested": map[string]any{"a": map[string]any{"b": nil}}, "zero": 0.,
	} {
		want := config
		if name == "none" || name == "empty" {
			want = map[string]any{}
		}
		require.Equal(t, want, c.made(
			fields{"name": name, "prompt": "x", "config": config, "labels": []string{"production"}}).Config, name)
		require.Equal(t, want, c.got(name, "").Config, name)
	}
}

func TestTagsOfAllVersions(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	for i, tc := range []struct {
		sent any
		want []string
	}{
		{[]string{"tag"}, []string{"tag"}},
		{nil, []string{"tag"}},
		{[]string{"tag1", "tag2", "tag1", "Tag 3; of mine"}, []string{"tag1", "tag2", "Tag 3; of mine"}},
		{[]string{"mine", "text"}, []string{"text", "mine"}}, // the catalog's first
		{[]string{}, []string{}},
	} {
		f := fields{"name": "p", "prompt": "This is a test prompt"}
		if tc.sent != nil {
			f["tags"] = tc.sent
		}
		require.Equal(t, tc.want, c.made(f).Tags)
		for v := 1; v <= i+1; v++ {
			p := c.got("p", fmt.Sprint("?version=", v))
			require.Equal(t, tc.want, p.Tags)
			require.Equal(t, v, p.Version)
		}
	}
}

func TestVariablesAndPlaceholdersDiffer(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	says := c.post(fields{"name": "p", "type": "chat", "prompt": messages{
		{"role": "system", "content": "Hello {{userName}} of {{place}}"},
		{"type": "placeholder", "name": "userName"},
		{"role": "user", "content": "How are you?"},
	}})
	require.Equal(t, "InvalidRequestError",
		says.says(400, "variables and placeholders must be unique, the following are not: userName"))
	c.made(fields{
		"name": "q", "type": "chat",
		"prompt": messages{{"role": "system", "content": "You are a helpful {{history}}"}},
	})
	two := c.made(fields{
		"name": "q", "type": "chat",
		"prompt": messages{{"role": "system", "content": "{{other}}"}, {"type": "placeholder", "name": "history"}},
	})
	require.Equal(t, 2, two.Version)
}

// Writers of one name at once each make a version of their own.
func TestWritersAtOnce(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	const writers = 8
	var wg sync.WaitGroup
	versions := make([]promptObject, writers)
	for i := range writers {
		wg.Go(func() {
			for a := c.post(fields{"name": "p", "prompt": fmt.Sprint(i)}); ; a = c.post(
				fields{"name": "p", "prompt": fmt.Sprint(i)}) {
				if a.status == http.StatusCreated {
					versions[i] = a.prompt()
					return
				}
				if a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests {
					a.is(http.StatusCreated)
				}
			}
		})
	}
	wg.Wait()
	seen := map[int]bool{}
	for i, v := range versions {
		require.False(t, seen[v.Version])
		seen[v.Version] = true
		require.Equal(t, fmt.Sprint(i), c.got("p", fmt.Sprint("?version=", v.Version)).Prompt)
	}
	require.Len(t, c.list("").Data[0].Versions, writers)
}

// What a client makes is private, and a prompt that is public stays so: that needs another scope.
func TestVisibility(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, writer := w.client("ann"), w.client("ann", auth.ScopeRead, auth.ScopeWrite)
	writer.made(fields{"name": "p", "prompt": "x"})
	writer.made(fields{"name": "p", "prompt": "y"})
	publish(t, w, "ann", "p")
	require.Equal(t, "ForbiddenError", writer.post(fields{"name": "p", "prompt": "z"}).says(403, "publish"))
	c.made(fields{"name": "p", "prompt": "z"})
}
