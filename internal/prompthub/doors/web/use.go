package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A use is how a program of others uses a prompt or an author's prompts: what to run or to write
// into its settings.
type use struct {
	ID   string // of the element with the text
	Tab  string // a short name
	Name string
	Text string
	Hint string
}

// uses are what the panel shows.
type uses struct {
	Install  template.URL // a link by which VS Code adds the service
	Token    bool         // whether the texts need one
	For      prompt.ID    // the prompt that they are about, "" for none
	Released string       // which version they all get, where it is not the one shown
	Items    []use
}

// keys are what texts to copy have where an access token is needed: one that was just made, or dots
// in place of one.
type keys struct{ ID, Token string }

var noKeys = keys{ID: "…", Token: "ph_…"}

// secret returns the secret key for clients of Langfuse.
func (k keys) secret() string {
	if k == noKeys {
		return "…"
	}
	return k.Token
}

// usesOf returns how programs use the prompts at an endpoint for assistants. Where everybody may
// read them no token is asked for.
func (s *web) usesOf(r *request, endpoint string, open bool, k keys) uses {
	address := httpjson.Origin(r.Request, s.Public) + endpoint
	var header, settings, asking, inputs string
	if !open {
		header = ` --header "Authorization: Bearer ` + k.Token + `"`
		settings = `, "headers": {"Authorization": "Bearer ` + k.Token + `"}`
		// People share this file with their team: the editor asks for the token and keeps it elsewhere.
		asking = `, "headers": {"Authorization": "Bearer ${input:prompthub}"}`
		inputs = `,
  "inputs": [{"id": "prompthub", "type": "promptString", "description": "Access token of PromptHub", "password": true}]`
	}
	link := `{"name":"prompthub","type":"http","url":"` + address + `"}`
	return uses{
		Token:   !open,
		Install: template.URL("vscode:mcp/install?" + url.QueryEscape(link)), //nolint:gosec // our own address, escaped
		Items: []use{
			{
				ID: "use-claude", Tab: "Claude Code", Name: "Claude Code",
				Text: "claude mcp add --transport http prompthub " + address + header, Hint: "Then type /prompthub in the chat, choose the prompt, and give its values, in quotes if they have spaces.",
			},
			{ID: "use-vscode", Tab: "VS Code", Name: "VS Code, in .vscode/mcp.json", Text: `{
  "servers": {"prompthub": {"type": "http", "url": "` + address + `"` + asking + `}}` + inputs + `
}`, Hint: vscodeHint(open)},
			{
				ID: "use-cursor", Tab: "Cursor", Name: "Cursor, in ~/.cursor/mcp.json",
				Text: `{"mcpServers": {"prompthub": {"url": "` + address + `"` + settings + `}}}`,
			},
		},
	}
}

// vscodeHint says what to do after the settings are there.
func vscodeHint(open bool) string {
	if open {
		return "Then type /prompthub in the chat, and choose the prompt: the editor asks for its values."
	}
	return "Start the server there: the editor asks for the token. Then type /prompthub in the chat, and choose the prompt: it asks for its values."
}

// usesOfPrompt returns how programs use one prompt, with its variables. One without a slug was
// stored before there were names: none can ask for it yet. The prompt of the view has the texts of
// those that it includes in it; skilled says whether it is a skill as it was written.
func (s *web) usesOfPrompt(r *request, v library.View, fields []field, skilled bool, k keys) uses {
	if v.Slug == "" {
		return uses{}
	}
	open, mine := v.Listed() && s.PublicRead, v.AuthorID == library.IDOf(r.who)
	endpoint, header := "/mcp", ""
	if !mine {
		endpoint = "/mcp/u/" + s.Service.AuthorKey(v.AuthorID)
	}
	if !open {
		header = `-H "Authorization: Bearer ` + k.Token + `" `
	}
	u := s.usesOf(r, endpoint, open && !mine, k)
	u.For = v.ID
	origin := httpjson.Origin(r.Request, s.Public)
	values, label := exampleValues(fields), "latest"
	arguments := v.Content().Arguments()
	if n := v.Labels[prompt.Production]; n > 0 {
		label = prompt.Production
		if p := v.InProduction; n != v.Version && p != nil && p.Version == n {
			// Programs that name no version get that one, and it may take other values.
			values, arguments = neededOf(p.Arguments), p.Arguments
			u.Released = fmt.Sprintf("All of these get version %d, which has the label production.", n)
		}
	}
	if len(arguments) > 1 {
		u.Items[0].Hint = "Then type /prompthub in the chat, choose the prompt, and give " + inOrder(arguments) +
			", in this order, in quotes if they have spaces."
	}
	u.Items = append(u.Items,
		use{
			ID: "use-cli", Tab: "Command line", Name: "Command line",
			Text: "prompthub get " + string(v.ID) + joinedBy(values, " \\\n  --var ", shellValue("")),
			Hint: "With PROMPTHUB_URL=" + origin,
		},
		use{ID: "use-curl", Tab: "Shell", Name: "Shell", Text: "curl " + header + getFlag(values) + origin +
			"/api/v1/prompts/" + string(v.ID) + "/text" +
			joinedBy(values, " \\\n  --data-urlencode ", shellValue("var."))},
	)
	if open && skilled {
		author := s.Service.AuthorKey(v.AuthorID)
		u.Items = append(u.Items, skillUse(origin, author, " --skill "+v.Slug))
		u.Items = append(u.Items, pluginUse(origin, "u/"+author, v.Slug)...)
		u.Items = append(u.Items, gitUse(origin, "u/"+author+"/"+v.Slug,
			"Each version is a commit with a tag, each label a branch."))
	}
	if mine {
		u.Items = append(u.Items, sdkUses(origin, v.Slug, label, values, k)...)
	}
	if open {
		k.Token = ""
	}
	u.Items = append(u.Items, microsoftUses(origin+"/api/v1/prompts/"+string(v.ID), label, values, k.Token)...)
	return u
}

// A value is one that an example gives a variable.
type value struct{ Name, Text string }

const (
	maxExampleValues = 8  // the names of all could be longer than a page
	maxExampleValue  = 40 // bytes
)

// exampleValues returns values for examples.
func exampleValues(fields []field) []value {
	var all []value
	for _, f := range fields[:min(len(fields), maxExampleValues)] {
		all = append(all, value{f.Name, exampleOf(f)})
	}
	return all
}

// exampleOf returns a value that the variable takes: the default if it is short and in one line,
// else dots to be replaced, or where these would be refused one that would not.
func exampleOf(f field) string {
	text := f.Hint()
	switch {
	case text != "" && len(text) <= maxExampleValue && !strings.ContainsFunc(text, unicode.IsControl):
		return text
	case f.Type == prompt.Choice && len(f.Choices) > 0:
		return f.Choices[0]
	case f.Type == prompt.Number:
		return "1"
	case f.Type == prompt.Boolean:
		return "true"
	case f.Type == prompt.Date:
		return "2026-01-31"
	}
	return "…"
}

// inOrder returns the names of arguments, in their order.
func inOrder(arguments []prompt.Argument) string {
	var names []string
	for _, a := range arguments[:min(len(arguments), maxExampleValues)] {
		names = append(names, a.Name)
	}
	if len(arguments) > maxExampleValues {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// neededOf returns dots for what another version needs. Its defaults are its own.
func neededOf(arguments []prompt.Argument) []value {
	var all []value
	for _, a := range arguments[:min(len(arguments), maxExampleValues)] {
		if a.Required {
			all = append(all, value{a.Name, "…"})
		}
	}
	return all
}

// joinedBy returns how a program is given values, each after a text.
func joinedBy(values []value, after string, say func(value) string) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(after + say(v))
	}
	return b.String()
}

// shellValue returns how a shell says a value whose name begins with a prefix.
func shellValue(prefix string) func(value) string {
	return func(v value) string {
		return "'" + prefix + v.Name + "=" + strings.ReplaceAll(v.Text, "'", `'\''`) + "'"
	}
}

// getFlag has curl put values into the address.
func getFlag(values []value) string {
	if len(values) == 0 {
		return ""
	}
	return "-G "
}

// quoted returns a text as Python and JavaScript write it.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// pythonWord matches names that Python takes for arguments; keywords aside, which few variables
// are.
var pythonWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// sdkUses returns how programs get the version with a label by the clients of Langfuse. If these
// name no label they want production, which a prompt need not have.
func sdkUses(origin, slug, label string, values []value, k keys) []use {
	const hint = "The id of an access token and the token itself are the keys. The label latest is the newest version; production is the one that you have released."
	object := ""
	if len(values) > 0 {
		object = nested(values)
	}
	return []use{
		{
			ID: "use-python", Tab: "Python", Name: "Python, with the package langfuse", Hint: hint,
			Text: "from langfuse import Langfuse\n\n" +
				`langfuse = Langfuse(host="` + origin + `/lf", public_key="` + k.ID +
				`", secret_key="` + k.secret() + `")` + "\n" +
				`prompt = langfuse.get_prompt("` + slug + `", label="` + label + `")` + "\n" +
				`text = prompt.compile(` + pythonArguments(values) + `)`,
		},
		{
			ID: "use-js", Tab: "JavaScript", Name: "JavaScript, with the package @langfuse/client", Hint: hint,
			Text: `import { LangfuseClient } from "@langfuse/client";` + "\n\n" +
				`const langfuse = new LangfuseClient({ baseUrl: "` + origin + `/lf", publicKey: "` + k.ID +
				`", secretKey: "` + k.secret() + `" });` + "\n" +
				`const prompt = await langfuse.prompt.get("` + slug + `", { label: "` + label + `" });` + "\n" +
				`const text = prompt.compile(` + object + `);`,
		},
	}
}

// pythonArguments returns values as those of a call, in Python.
func pythonArguments(values []value) string {
	python := func(v value) string { return v.Name + "=" + quoted(v.Text) }
	if slices.ContainsFunc(values, func(v value) bool { return !pythonWord.MatchString(v.Name) }) {
		return "**" + pythonDict(values, "")
	}
	return strings.TrimPrefix(joinedBy(values, ", ", python), ", ")
}

// pythonDict returns values as a dictionary, whose names begin with a prefix.
func pythonDict(values []value, prefix string) string {
	pairs := func(v value) string { return quoted(prefix+v.Name) + ": " + quoted(v.Text) }
	return "{" + strings.TrimPrefix(joinedBy(values, ", ", pairs), ", ") + "}"
}

// microsoftUses returns how programs in C#, and those with the frameworks of Microsoft, get the
// prompt at an address of the API. Without a token it is one that everybody may read.
func microsoftUses(address, label string, values []value, token string) []use {
	var http, headers string
	if token != "" {
		http = `http.DefaultRequestHeaders.Add("Authorization", "Bearer ` + token + `");` + "\n"
		headers = `, headers={"Authorization": "Bearer ` + token + `"}`
	}
	var csharp strings.Builder
	for i, v := range values {
		between := "&"
		if i == 0 {
			between = "?"
		}
		csharp.WriteString("\n    + " + quoted(between+"var."+url.QueryEscape(v.Name)+"=") +
			" + Uri.EscapeDataString(" + quoted(v.Text) + ")")
	}
	text, query := address+"/text", ""
	if len(values) > 0 {
		query = ` + "?" + urllib.parse.urlencode(` + pythonDict(values, "var.") + `)`
	}
	export := address + "/export?format=semantic-kernel&label=" + label
	return []use{
		{
			ID: "use-csharp", Tab: "C#", Name: "C#", Text: "using var http = new HttpClient();\n" + http +
				`string text = await http.GetStringAsync("` + text + `"` + csharp.String() + ");",
			Hint: "In Agent Framework for .NET: new ChatClientAgent(client, instructions: text).",
		},
		{
			ID: "use-kernel", Tab: "Semantic Kernel", Name: "Python, with the package semantic-kernel",
			Text: "import urllib.request\n" +
				"from semantic_kernel.functions import KernelArguments, KernelFunctionFromPrompt\n\n" +
				`request = urllib.request.Request("` + export + `"` + headers + ")\n" +
				"function = KernelFunctionFromPrompt.from_yaml(urllib.request.urlopen(request).read().decode())\n" +
				"arguments = KernelArguments(" + pythonArguments(values) + ")",
			Hint: "Then: await kernel.invoke(function, arguments). For .NET the same file is read by KernelFunctionYaml.FromPromptYaml(yaml, new HandlebarsPromptTemplateFactory()).",
		},
		{
			ID: "use-agent", Tab: "Agent Framework", Name: "Python, with the package agent-framework",
			Text: "import urllib.parse, urllib.request\n" +
				"from agent_framework import Agent\n\n" +
				`request = urllib.request.Request("` + text + `"` + query + headers + ")\n" +
				"text = urllib.request.urlopen(request).read().decode()\n" +
				"agent = Agent(client=client, instructions=text)",
			Hint: "The client is that of your model. Instructions are no template there, so the text comes filled in.",
		},
	}
}

// nested returns values as an object of JavaScript. Its client looks for a.b in an object a, so a
// name with dots is a path there; one that is the beginning of another stays as it is.
func nested(values []value) string {
	var list []string
	for i, v := range values {
		name, rest, dotted := strings.Cut(v.Name, ".")
		if !dotted || slices.ContainsFunc(values, func(w value) bool { return w.Name == name }) {
			list = append(list, quoted(v.Name)+": "+quoted(v.Text))
			continue
		}
		if slices.ContainsFunc(values[:i], func(w value) bool { return strings.HasPrefix(w.Name, name+".") }) {
			continue // which is in that object
		}
		inner := []value{{rest, v.Text}}
		for _, w := range values[i+1:] {
			if rest, ok := strings.CutPrefix(w.Name, name+"."); ok {
				inner = append(inner, value{rest, w.Text})
			}
		}
		list = append(list, quoted(name)+": "+nested(inner))
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

// usesOfAuthor returns how programs use the public prompts of an author.
func (s *web) usesOfAuthor(r *request, handle string) uses {
	u := s.usesOf(r, "/mcp/u/"+handle, s.PublicRead, noKeys)
	if s.PublicRead {
		origin := httpjson.Origin(r.Request, s.Public)
		u.Items = append(u.Items, skillUse(origin, handle, ""))
		u.Items = append(u.Items, pluginUse(origin, "u/"+handle, "")...)
		u.Items = append(u.Items, gitUse(origin, "u/"+handle, gitHint))
	}
	return u
}

func skillUse(origin, author, which string) use {
	return use{
		ID: "use-skill", Tab: "Agent Skill", Name: "As an Agent Skill, for dozens of assistants",
		Text: "npx skills add " + origin + "/u/" + author + which,
	}
}

// pluginUse returns how Claude Code installs the skills of a shelf as plugins, or one of them. It
// takes plugins over https alone.
func pluginUse(origin, shelf, slug string) []use {
	if !strings.HasPrefix(origin, "https://") {
		return nil
	}
	parts := strings.Split(shelf, "/")
	if len(parts) > 1 {
		parts = parts[1:]
	}
	name := skill.MarketplaceName(parts...)
	u := use{
		ID: "use-plugin", Tab: "Plugin", Name: "As a plugin of Claude Code, which updates itself",
		Text: "claude plugin marketplace add " + origin + "/marketplace/" + shelf + "/marketplace.json",
		Hint: "Then: claude plugin install NAME@" + name,
	}
	if slug != "" {
		u.Text += "\nclaude plugin install " + slug + "@" + name
		u.Hint = ""
	}
	return []use{u}
}

// gitUse returns how git clones a repository.
func gitUse(origin, repository, hint string) use {
	return use{
		ID: "use-git", Tab: "git", Name: "git", Text: "git clone " + origin + "/git/" + repository + ".git",
		Hint: hint,
	}
}

// gitHint is of a repository of many skills.
const gitHint = "Each skill is a plugin there. Copilot CLI, Codex and Claude Code add it as a marketplace by this address; git pull brings what changed."

// usesOfToken returns what to put where programs look for an access token that was just made:
// settings for every prompt, and those of assistants unless a prompt is shown with them.
func (s *web) usesOfToken(r *request, k keys, assistants bool) uses {
	origin := httpjson.Origin(r.Request, s.Public)
	var u uses
	if assistants {
		u = s.usesOf(r, "/mcp", false, k)
	}
	u.Items = append([]use{
		{
			ID: "use-env", Tab: "Shell", Name: "Command line, curl and docs",
			Hint: "prompthub reads the first two. The commands of the documentation read the others.",
			Text: "export PROMPTHUB_URL=" + origin + " PROMPTHUB_TOKEN=" + k.Token + "\nexport URL=" + origin +
				" TOKEN=" + k.Token + " TOKEN_ID=" + k.ID,
		},
		{
			ID: "use-langfuse", Tab: "Langfuse", Name: "Langfuse, in every language",
			Hint: "The client of a program that has these needs no arguments.",
			Text: "export LANGFUSE_BASE_URL=" + origin + "/lf LANGFUSE_HOST=" + origin +
				"/lf\nexport LANGFUSE_PUBLIC_KEY=" + k.ID + "\nexport LANGFUSE_SECRET_KEY=" + k.Token,
		},
		{
			ID: "use-langsmith", Tab: "LangSmith", Name: "LangSmith and LangChain",
			Hint: "Then: Client().pull_prompt(\"NAME\").",
			Text: "export LANGSMITH_ENDPOINT=" + origin + "/ls\nexport LANGSMITH_API_KEY=" + k.Token,
		},
	}, u.Items...)
	u.Items = append(u.Items, pluginUse(withToken(origin, k), "me", "")...)
	u.Items = append(u.Items, gitUse(withToken(origin, k), "me", gitHint))
	return u
}

// withToken returns an origin as Claude Code takes it with an access token.
func withToken(origin string, k keys) string {
	return strings.Replace(origin, "https://", "https://prompthub:"+k.Token+"@", 1)
}
