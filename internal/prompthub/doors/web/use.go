package web

import (
	"html/template"
	"net/url"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
)

// A use is how a program of others uses a prompt or an author's prompts: what to run or to write
// into its settings.
type use struct {
	ID   string // of the element with the text
	Name string
	Text string
	Hint string
}

// uses are what the panel shows.
type uses struct {
	Install template.URL // a link by which VS Code adds the service
	Token   bool         // whether the texts need one
	Items   []use
}

// token is what stands for an access token in a text to copy.
const token = "ph_…"

// usesOf returns how programs use the prompts at an endpoint for assistants. Where everybody may
// read them no token is asked for.
func (s *web) usesOf(r *request, endpoint string, open bool) uses {
	address := httpjson.Origin(r.Request, s.Public) + endpoint
	header, settings := "", ""
	if !open {
		header = ` --header "Authorization: Bearer ` + token + `"`
		settings = `, "headers": {"Authorization": "Bearer ` + token + `"}`
	}
	link := `{"name":"prompthub","type":"http","url":"` + address + `"}`
	return uses{
		Token:   !open,
		Install: template.URL("vscode:mcp/install?" + url.QueryEscape(link)), //nolint:gosec // our own address, escaped
		Items: []use{
			{ID: "use-claude", Name: "Claude Code", Text: "claude mcp add --transport http prompthub " + address + header, Hint: "Then type /prompthub and choose."},
			{ID: "use-vscode", Name: "VS Code, in .vscode/mcp.json", Text: `{"servers": {"prompthub": {"type": "http", "url": "` + address + `"` + settings + `}}}`},
			{ID: "use-cursor", Name: "Cursor, in ~/.cursor/mcp.json", Text: `{"mcpServers": {"prompthub": {"url": "` + address + `"` + settings + `}}}`},
		},
	}
}

// usesOfPrompt returns how programs use one prompt. One without a slug was stored before there were
// names: none can ask for it yet.
func (s *web) usesOfPrompt(r *request, v library.View) uses {
	if v.Slug == "" {
		return uses{}
	}
	open, mine := v.Listed() && s.PublicRead, v.AuthorID == library.IDOf(r.who)
	endpoint, header := "/mcp", ""
	if !mine {
		endpoint = "/mcp/u/" + s.Service.AuthorKey(v.AuthorID)
	}
	if !open {
		header = `-H "Authorization: Bearer ` + token + `" `
	}
	u := s.usesOf(r, endpoint, open && !mine)
	origin := httpjson.Origin(r.Request, s.Public)
	u.Items = append(u.Items, use{ID: "use-curl", Name: "Shell", Text: "curl " + header + origin + "/api/v1/prompts/" + string(v.ID) + "/text", Hint: "With ?var.NAME=… for each variable."})
	if open {
		u.Items = append(u.Items, skillUse(origin, s.Service.AuthorKey(v.AuthorID), " --skill "+v.Slug))
	}
	if mine {
		u.Items = append(u.Items, sdkUses(origin, v.Slug)...)
	}
	return u
}

// sdkUses returns how programs get a prompt by the clients of Langfuse. Where these name no label
// they want production, which a prompt need not have.
func sdkUses(origin, slug string) []use {
	const keys = "The id and the secret of an access token are the keys. Values go into compile. Without a label it is the version with the label production."
	return []use{
		{ID: "use-python", Name: "Python, with the package langfuse", Hint: keys, Text: "from langfuse import Langfuse\n" +
			`Langfuse(host="` + origin + `/lf", public_key="…", secret_key="…").get_prompt("` + slug + `", label="latest").compile()`},
		{ID: "use-js", Name: "JavaScript, with the package @langfuse/client", Hint: keys, Text: `import { LangfuseClient } from "@langfuse/client";` + "\n" +
			`const langfuse = new LangfuseClient({ baseUrl: "` + origin + `/lf", publicKey: "…", secretKey: "…" });` + "\n" +
			`(await langfuse.prompt.get("` + slug + `", { label: "latest" })).compile();`},
	}
}

// usesOfAuthor returns how programs use the public prompts of an author.
func (s *web) usesOfAuthor(r *request, handle string) uses {
	u := s.usesOf(r, "/mcp/u/"+handle, s.PublicRead)
	if s.PublicRead {
		u.Items = append(u.Items, skillUse(httpjson.Origin(r.Request, s.Public), handle, ""))
	}
	return u
}

func skillUse(origin, author, which string) use {
	return use{ID: "use-skill", Name: "As an Agent Skill, for dozens of assistants", Text: "npx skills add " + origin + "/u/" + author + which}
}
