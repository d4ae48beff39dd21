package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

type skillEntry struct {
	URI         string
	FrontMatter json.RawMessage
	Resources   []struct {
		URI, Digest string
		Size        int
	}
}

// What a list says of a skill holds for the bytes that are read.
func TestSkills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.public("letter", "One.")
	two := "Two."
	_, err := w.hub.Patch(t.Context(), user("ann"), v.ID, library.Match{Any: true},
		func(d *prompt.Draft) { d.Text = two })
	require.NoError(t, err)
	require.NoError(t, w.hub.SetLabel(t.Context(), user("ann"), v.ID, prompt.Production, 1))
	w.settle()
	w.write("ann", prompt.Draft{Title: "Private", Text: "Private.", Visibility: prompt.Private})

	var l struct {
		Skills                 []skillEntry
		ResultType, CacheScope string
		TTL                    int `json:"ttlMs"`
	}
	w.as("ann").call("skills/list", nil).into(&l)
	require.Equal(t, []any{"complete", "private"}, []any{l.ResultType, l.CacheScope})
	require.Positive(t, l.TTL)
	require.Len(t, l.Skills, 2, "one's own private prompts too")
	for _, s := range l.Skills {
		var one struct{ Skill skillEntry }
		w.as("ann").call("skills/get", object{"uri": s.URI}).into(&one)
		require.Equal(t, s, one.Skill)
		var read struct {
			Contents []struct{ URI, MIMEType, Text string }
		}
		w.as("ann").call("resources/read", object{"uri": s.URI}).into(&read)
		require.Equal(t, s.Resources[0].Digest, skill.Digest([]byte(read.Contents[0].Text)))
		require.Equal(t, s.Resources[0].Size, len(read.Contents[0].Text))
		require.Equal(t, "text/markdown", read.Contents[0].MIMEType)
	}
	require.Equal(t, skill.Metadata{ID: string(v.ID), Version: "1"},
		l.Skills[1].head(t).Metadata, "the version for programs")

	var resources struct {
		Resources []struct{ URI, Name string }
	}
	w.as("").call("resources/list", object{}).into(&resources)
	require.Len(t, resources.Resources, 1)
	require.Equal(t, "letter", resources.Resources[0].Name)

	id := strings.ToLower(string(v.ID))
	for _, uri := range []string{
		"", "skill://", "skill://" + id, "skill://" + id + "/other/SKILL.md",
		"skill://" + id + "/letter/other.md", "file:///etc/passwd", "skill://x/letter/SKILL.md",
		"skill://" + id + "/letter/../letter/SKILL.md",
	} {
		w.as("ann").call("skills/get", object{"uri": uri}).fails(invalidParams)
		w.as("ann").call("resources/read", object{"uri": uri}).fails(invalidParams)
	}
}

type index struct {
	Schema string `json:"$schema"`
	Skills []struct{ Name, Type, Description, URL, Digest string }
}

func (c caller) index(path string) index {
	c.w.t.Helper()
	a := c.send(http.MethodGet, path+"/.well-known/agent-skills/index.json", "")
	require.Equal(c.w.t, http.StatusOK, a.status, a.body)
	require.Equal(c.w.t, "public, max-age=60", a.header.Get("Cache-Control"))
	var i index
	require.NoError(c.w.t, json.Unmarshal([]byte(a.body), &i))
	return i
}

func TestIndexOfSkills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("bob", prompt.Draft{Name: "letter", Title: "Bob's letter", Text: "B.", Visibility: prompt.Public})
	w.write("ann", prompt.Draft{
		Name: "letter", Title: "A letter", Text: "A.", Visibility: prompt.Public,
		Tags: []prompt.Tag{"writing"},
	})
	w.public("other", "Other.")
	w.write("ann", prompt.Draft{Title: "Private", Text: "Private.", Visibility: prompt.Private})
	w.handle("ann", "anna")
	tests := []struct {
		path  string
		names []string
	}{
		{"", []string{"other", "letter"}},
		{"/u/anna", []string{"other", "letter"}},
		{"/t/writing", []string{"letter"}},
		{"/t/nothing", []string{}},
	}
	for _, tt := range tests {
		i := w.as("ann").index(tt.path) // the caller makes no difference: all may keep the answer
		require.Equal(t, "https://schemas.agentskills.io/discovery/0.2.0/schema.json", i.Schema)
		names := []string{}
		for _, s := range i.Skills {
			names = append(names, s.Name)
			require.Equal(t, "skill-md", s.Type)
			file := w.as("").send(http.MethodGet, tt.path+"/.well-known/agent-skills/"+s.URL, "")
			require.Equal(t, http.StatusOK, file.status)
			require.Equal(t, s.Digest, skill.Digest([]byte(file.body)))
			require.Equal(t, "text/markdown; charset=utf-8", file.header.Get("Content-Type"))
			again := w.as("").send(http.MethodGet, tt.path+"/.well-known/agent-skills/"+s.URL, "",
				"If-None-Match", file.header.Get("ETag"))
			require.Equal(t, http.StatusNotModified, again.status)
		}
		require.Equal(t, tt.names, names, "of two with one name, one; nothing private")
	}
	require.Equal(t, http.StatusOK, w.as("").send("GET", "/u/anna/.well-known/agent-skills/letter/SKILL.md", "").status,
		"by its slug")
	for _, path := range []string{
		"/u/nobody/.well-known/agent-skills/index.json", "/u/me/.well-known/agent-skills/index.json",
		"/t/%20/.well-known/agent-skills/index.json",
		"/u/anna/.well-known/agent-skills/private/SKILL.md",
		"/u/anna/.well-known/agent-skills/" + string(w.public("x", "X.").ID) + "x/SKILL.md",
		"/.well-known/agent-skills/letter/SKILL.md", "/.well-known/other", "/u/anna/.well-known/other",
		"/u/x/.well-known/agent-skills/letter/SKILL.md",
	} {
		require.Equal(t, http.StatusNotFound, w.as("ann").send("GET", path, "").status, path)
	}
}

// Installers ask for all files at once, more than a caller may have at work.
func TestManyFilesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *mcp.Config) {
		c.Door.Admission = httpjson.NewAdmission(httpjson.Limits{AtWork: 8}, c.Now)
	})
	for i := range 60 {
		w.public(fmt.Sprint("p", i), "Text.")
	}
	w.handle("ann", "anna")
	var g sync.WaitGroup
	for _, s := range w.as("").index("/u/anna").Skills {
		g.Go(func() {
			r, err := http.Get(w.url + "/u/anna/.well-known/agent-skills/" + s.URL)
			if err == nil {
				r.Body.Close()
			}
			if err != nil || r.StatusCode != http.StatusOK {
				t.Errorf("%s: %v %v", s.URL, r, err)
			}
		})
	}
	g.Wait()
}

func TestResourceMetadata(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *mcp.Config) {
		c.Door.PublicRead = false
		c.Issuers, c.Scopes = []string{"https://id.example.com"}, []string{"api://prompts/.default"}
	})
	for path, endpoint := range map[string]string{"": "/mcp", "/mcp": "/mcp", "/mcp/t/writing": "/mcp/t/writing"} {
		a := w.as("").send("GET", "/.well-known/oauth-protected-resource"+path, "")
		require.Equal(t, http.StatusOK, a.status)
		require.JSONEq(t, `{"resource":"`+w.url+endpoint+
			`","resource_name":"PromptHub","authorization_servers":["https://id.example.com"],
			"scopes_supported":["api://prompts/.default"],"bearer_methods_supported":["header"]}`, a.body)
	}
	require.Equal(t, http.StatusNotFound, w.as("").send("GET", "/.well-known/oauth-protected-resource/app", "").status)
	refused := w.as("").at("/mcp/t/writing").call("prompts/list", object{})
	require.Equal(t, http.StatusUnauthorized, refused.status)
	require.Equal(t, `Bearer resource_metadata="`+w.url+
		`/.well-known/oauth-protected-resource/mcp/t/writing", scope="api://prompts/.default"`,
		refused.header.Get("WWW-Authenticate"))
	require.Equal(t, http.StatusUnauthorized, w.as("").send("GET", "/.well-known/agent-skills/index.json", "").status)

	w = newWorld(t, func(c *mcp.Config) {
		c.Issuers, c.Public = []string{"https://id.example.com"}, "https://prompts.example.com"
	})
	require.Contains(t, w.as("").send("GET", "/.well-known/oauth-protected-resource", "").body,
		`"resource":"https://prompts.example.com/mcp"`)
	require.Equal(t, http.StatusNotFound,
		newWorld(t).as("").send("GET", "/.well-known/oauth-protected-resource", "").status)
}

// A client that can show forms is asked for the values that are missing.
func TestMissingValuesAreAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.public("letter", "To {{name}}: {{count}} {{tone:plain|formal}}")
	ask := func(capabilities, more object) gottenForm {
		params := object{"name": "letter"}
		for k, v := range more {
			params[k] = v
		}
		var g gottenForm
		w.as("ann").newAs(capabilities, "prompts/get", "letter", params).into(&g)
		return g
	}
	forms := object{"elicitation": object{"form": object{}}}
	g := ask(forms, object{"arguments": object{"count": "3"}})
	require.Equal(t, "input_required", g.ResultType)
	require.Equal(t, []string{"name"}, g.InputRequests["values"].Params.RequestedSchema.Required)
	g = ask(forms, object{
		"arguments":      object{"count": "3"},
		"inputResponses": object{"values": object{"action": "accept", "content": object{"name": "Bob"}}},
	})
	require.Equal(t, "complete", g.ResultType)
	require.Equal(t, "To Bob: 3 plain", g.Messages[0].Content.Text)
	w.as("ann").newAs(object{}, "prompts/get", "letter", object{"name": "letter"}).fails(invalidParams)
	w.as("ann").newAs(forms, "prompts/get", "letter",
		object{"name": "letter", "inputResponses": object{"values": object{"action": "decline"}}}).fails(invalidParams)
}

type gottenForm struct {
	gotten
	InputRequests map[string]struct {
		Params struct {
			RequestedSchema struct{ Required []string }
		}
	}
}
