package web_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/heap"
)

// TestMemory shows every page about prompts with the longest texts that a setting allows, and fails
// if sixteen callers of one of them hold more memory than they may. A page whose things are not
// there fails, so that a new one brings its own.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes many of the largest prompts")
	}
	w := newLongWorld(t)
	w.config.PublicRead = true // for the map of the site
	w.pages = web.New(w.config)
	ann, root := w.as("Ann"), w.admin()
	ann.post("/app/me", "handle", "ann", "about", strings.Repeat("字", 500))
	line := "Some *words* in **this** _line_, `code` and ${name:x}.\n\n"
	text := strings.Repeat(line, (prompt.LimitMaxText-100)/len(line))
	page := ""
	for i := range 25 {
		page = ann.write(fmt.Sprintf("Common %d", i), fmt.Sprintf("number%d %s", i, text), "public")
		if i == 0 {
			ann.post("/app/c/me", "name", "all").to("/app/c/ann/all")
		}
		if i < prompt.MaxInCollection {
			ann.post("/app/c/me/all", "do", "add", "prompt", page).to("/app/c/me/all")
		}
	}
	key := ann.get(page).find(`name="key" value="([^"]*)"`)
	fork := ann.post(page+"/fork", "key", key).to("/app/prompts/")[:len(page)]
	ann.edit(page, "Changed. "+text, "public")
	ann.post("/app/w", "handle", "longs").to("/app/w/longs")
	shared := ann.post("/app/prompts/new", "owner", "longs", "title", "Common", "text", text, "visibility",
		"private").to("/app/prompts/")[:len(page)]
	parts := slices.Repeat([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, (prompt.LimitMaxText-100)/20)
	for _, between := range []string{"\n", " "} { // as many lines as there can be, and as many words
		ann.edit(page, strings.Join(parts, between), "public")
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
		ann.edit(page, strings.Join(parts, between), "public")
	}
	for i, between := range []string{"\n", " "} {
		rand.New(rand.NewPCG(3, 4)).Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
		ann.post(shared+"/edit", "title", "Common", "text", strings.Join(parts, between), "visibility", "private",
			"revision", strconv.Itoa(i+1)).to(shared)
	}
	revision := ann.get("/app/w/longs/settings").find(`name="revision" value="(\d+)"`)
	ann.post("/app/w/longs/rules", "revision", revision, "label1", "production", "names1", "*",
		"approvals1", "3").to("/app/w/longs")
	ann.post(shared+"/proposals", "label", "production", "version", "3", "message", strings.Repeat("字", 500)).to(shared)
	last := func(page string) string { return page[strings.LastIndex(page, "/")+1:] }
	values := map[string][]string{
		"id": {last(page), last(fork), last(shared)}, "number": {"1"}, "file": {"app.css"}, "version": {"1"},
		"handle": {"ann"}, "slug": {"all"}, "workspace": {"longs"}, "$": {""},
	}
	var ways []heap.Way
	for _, query := range []string{
		"", "?q=common", "?q=number3", "?path=SKILL.md", "?from=1&to=3",
		"?from=3&to=4", "?from=5&to=6",
	} {
		for _, who := range []person{ann, root} {
			ways = append(ways, func(page string) (status int, answer string) {
				s := who.get(page + query)
				return s.status, s.body
			})
		}
	}
	readsNoRows := []string{
		"/app/static/{file}", "/app/prompts/{id}/fill", "/app/signin",
		"/app/login", "/app/{rest...}",
	}
	heap.CheckPages(t, web.Patterns(), values, readsNoRows, ways...)
}
