package web_test

import (
	"testing"

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
		"claude mcp add --transport http prompthub https://prompts.example.com/mcp/u/a_", "--skill write-a-letter", `data-copy="use-skill"`,
		"curl https://prompts.example.com/api/v1/prompts/", `href="vscode:mcp/install?%7B%22name%22`,
	).lacks("Bearer ph_")
	w.as("Ann").get(private).has(
		`https://prompts.example.com/mcp --header &#34;Authorization: Bearer ph_`, `.get_prompt(&#34;mine-alone&#34;, label=&#34;latest&#34;).compile()`, `.prompt.get(&#34;mine-alone&#34;, { label: &#34;latest&#34; })).compile();`, `curl -H &#34;Authorization`,
	).lacks("npx skills add")
	w.as("Ann").post("/app/me", "handle", "ann-lee", "name", "Ann")
	w.as("Bob").get("/app/u/ann-lee").has("npx skills add https://prompts.example.com/u/ann-lee<", "https://prompts.example.com/mcp/u/ann-lee")

	w = newWorld(t, func(c *web.Config) { c.PublicRead = false })
	w.as("Bob").get(w.as("Ann").write("Closed", "Text.", "public")).has("Bearer ph_").lacks("npx skills add")
}
