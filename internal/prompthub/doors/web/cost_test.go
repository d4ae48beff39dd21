package web_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
)

// The first view of a list costs what the list costs: tags to filter by are those of the prompts
// shown.
func TestStorageOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.PublicRead = true })
	ann := w.as("Ann")
	var page string
	for i := range 30 {
		page = ann.write(fmt.Sprintf("Prompt %d", i), "text", "public", "data", "text")
	}
	// an instance looks whether a user whom it meets was moved, and once a minute who was
	w.as("Bob").get("/app/tags").is(200)
	tests := []struct {
		name, path string
		who        person
		want       int64
	}{
		{"newest", "/app", w.as("Bob"), 6}, // one of them a look for later months, once a minute
		{"newest, nobody", "/app", w.nobody(), 4},
		{"most liked", "/app?sort=most-liked", w.as("Bob"), 5},
		{"hot", "/app?sort=hot", w.as("Bob"), 5},
		{"best", "/app?sort=best", w.as("Bob"), 5},
		{"trending", "/app?sort=trending", w.as("Bob"), 5},
		{"one tag", "/app?tag=data", w.as("Bob"), 5},
		// each of the 20 hits is read in the truth, and where he is a member
		{"one word", "/app?q=prompt", w.as("Bob"), 29},
		{"my prompts", "/app/mine", ann, 5},
		{"a prompt", page, w.as("Bob"), 8},
		{"a version", page + "/versions/1", w.as("Bob"), 6},
		{"versions", page + "/versions", w.as("Bob"), 4},
		{"compared", page + "/compare?from=1&to=1", w.as("Bob"), 4},
		{"labels", page + "/labels", w.as("Bob"), 5},
		{"what became of a label", page + "/labels?label=production", w.as("Bob"), 7},
		{"new prompt", "/app/prompts/new", ann, 4}, // one of them whether she may write for a workspace
		{"all tags", "/app/tags", ann, 3},
		{"sign in", "/app/signin", w.nobody(), 0},
	}
	for _, tt := range tests {
		w.clock.Advance(time.Minute) // nothing is remembered of the tag catalog, which is two reads
		before := w.store.calls.Load()
		tt.who.get(tt.path).is(200)
		require.Equal(t, tt.want, w.store.calls.Load()-before, tt.name)
	}
}
