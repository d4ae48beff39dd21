package web_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
)

// The panel shows what to type elsewhere, with the address of this service, and asks for a token
// where one is needed.
func TestUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.Public, c.PublicRead = "https://prompts.example.com", true })
	public := w.as("Ann").write("Write a letter", "Write.", "public")
	private := w.as("Ann").write("Mine alone", "Mine.", "private")

	w.as("Bob").get(public).has(
		"claude mcp add --transport http prompthub https://prompts.example.com/mcp/u/a_",
		"--skill write-a-letter", `data-copy="use-skill"`,
		"curl https://prompts.example.com/api/v1/prompts/", `href="vscode:mcp/install?%7B%22name%22`,
		"/write-a-letter.git<",
	).lacks("Bearer ph_", "input:prompthub")
	w.as("Ann").get(private).has(
		`https://prompts.example.com/mcp --header &#34;Authorization: Bearer ph_`,
		`.get_prompt(&#34;mine-alone&#34;, label=&#34;latest&#34;)`, `prompt.compile()`,
		`.prompt.get(&#34;mine-alone&#34;, { label: &#34;latest&#34; });`, `curl -H &#34;Authorization`,
	).lacks("npx skills add")
	includes := w.as("Ann").write("Two letters", "@@@langfusePrompt:name=write-a-letter|label=latest@@@", "public")
	w.as("Bob").get(includes).has("claude mcp add").lacks("npx skills add") // a prompt that includes others is no skill
	filled := w.as("Ann").write("Filled in", "{{who}} and ${tone:it's \"so\"} and ${long:"+
		strings.Repeat("x", 41)+"}", "private")
	w.as("Ann").get(filled).has(
		` \`+"\n"+`  --var &#39;who=…&#39; \`+"\n"+`  --var &#39;tone=it&#39;\&#39;&#39;s &#34;so&#34;&#39; \`,
		`--data-urlencode &#39;var.who=…&#39;`, "-G https://prompts.example.com/api/v1/prompts/",
		`prompt.compile(who=&#34;…&#34;, tone=&#34;it&#39;s \&#34;so\&#34;&#34;, long=&#34;…&#34;)`,
		`prompt.compile({ &#34;who&#34;: &#34;…&#34;,`,
	)
	w.as("Ann").get(w.as("Ann").write("Named oddly", "{{a.b}} {{c}}", "private")).has(
		`prompt.compile(**{&#34;a.b&#34;: &#34;…&#34;, &#34;c&#34;: &#34;…&#34;})`)
	w.as("Ann").post("/app/me", "handle", "ann-lee", "name", "Ann")
	w.as("Bob").get("/app/u/ann-lee").has("npx skills add https://prompts.example.com/u/ann-lee<",
		"https://prompts.example.com/mcp/u/ann-lee",
		"claude plugin marketplace add https://prompts.example.com/marketplace/u/ann-lee/marketplace.json<",
		"git clone https://prompts.example.com/git/u/ann-lee.git<")

	w = newWorld(t, func(c *web.Config) { c.PublicRead = false })
	w.as("Bob").get(w.as("Ann").write("Closed", "Text.", "public")).has("Bearer ph_",
		"Bearer ${input:prompthub}").lacks("npx skills add")
}

// TestTokenIsPutIn: where a token was made the settings of programs stand with it, whole: for all
// prompts, and for the one that somebody came from.
func TestTokenIsPutIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.Public, c.PublicRead = "https://prompts.example.com", true })
	ann := w.as("Ann")
	page := ann.write("Mine alone", "Write to {{name}}.", "private")
	id := strings.TrimPrefix(page, "/app/prompts/")
	ann.get(page).has(`href="/app/me/tokens?for=` + id + `"`)
	ann.get("/app/me/tokens?for="+id).has(`<input type="hidden" name="for" value="`+id+`">`,
		"Mine alone</a>: all that programs need").lacks("<pre")
	made := func(pairs ...string) (s shown, token, id string) {
		s = ann.post("/app/me/tokens", append(pairs, "name", "laptop", "scope", "read", "days", "7")...).is(200)
		token = s.find(`<code id="token">([^<]*)</code>`)
		id, _, _ = strings.Cut(strings.TrimPrefix(token, "ph_"), "_")
		return s.has("id <code>" + id + "</code>"), token, id
	}
	s, token, key := made()
	s.has(
		"export PROMPTHUB_URL=https://prompts.example.com PROMPTHUB_TOKEN="+token, "TOKEN_ID="+key,
		"LANGFUSE_BASE_URL=https://prompts.example.com/lf ",
		"\nexport LANGFUSE_PUBLIC_KEY="+key+"\nexport LANGFUSE_SECRET_KEY="+token+"<",
		"\nexport LANGSMITH_API_KEY="+token+"<", "Authorization: Bearer "+token, `data-tab="VS Code"`,
		"claude plugin marketplace add https://prompthub:"+token+
			"@prompts.example.com/marketplace/me/marketplace.json<",
		"git clone https://prompthub:"+token+"@prompts.example.com/git/me.git<",
	).lacks("ph_…", "use-python")
	s, token, key = made("for", id)
	s.has(
		"https://prompts.example.com/mcp --header &#34;Authorization: Bearer "+token,
		`public_key=&#34;`+key+`&#34;, secret_key=&#34;`+token+`&#34;)`,
		`get_prompt(&#34;mine-alone&#34;`, `publicKey: &#34;`+key+`&#34;`, "export LANGFUSE_SECRET_KEY="+token,
	).lacks("ph_…", "&#34;…&#34;, s")
	require.Equal(t, 1, strings.Count(s.body, `id="use-claude"`), "no id stands twice")
	s, _, _ = made("for", strings.TrimPrefix(w.as("Bob").write("Of Bob", "text", "private"), "/app/prompts/"))
	s.lacks("Of Bob", "use-python").has("use-langfuse")
	ann.get("/app/me/tokens").lacks(token).has("id <code>" + key + "</code>")
}

// TestUseOfAReleasedVersion: where programs get another version than the page shows, what they run
// names its variables, and says which version it is.
func TestUseOfAReleasedVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.Public = "https://prompts.example.com" })
	ann := w.as("Ann")
	page := ann.write("Note", "Write of {{product}} in {{tone:a friendly voice}}.", "private")
	ann.post(page+"/labels", "label", "production", "version", "1")
	ann.post(page+"/edit", "title", "Note", "text", "Write in {{lang}}.", "visibility", "private", "revision",
		"1").to(page + "?done=saved")
	ann.get(page).has("--var &#39;product=…&#39;", "var.product=…",
		"All of these get version 1, which has the label production.", "and give product, tone, in this order",
		`label=&#34;production&#34;`, `compile(product=`).lacks("--var &#39;lang=", "var.lang=", "tone=")
	ann.post(page+"/labels", "label", "production", "version", "2")
	ann.get(page).has("--var &#39;lang=…&#39;").lacks("All of these get", "--var &#39;product=")
}
