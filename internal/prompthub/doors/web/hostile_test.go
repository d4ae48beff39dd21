package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// newLongWorld returns a world with the largest limit of a text.
func newLongWorld(t testing.TB) *world {
	w := newWorld(t)
	w.service = library.New(w.db, prompt.Rules{MaxText: prompt.LimitMaxText}, w.clock.Now)
	w.config.Service, w.config.MaxText = w.service, prompt.LimitMaxText
	w.pages = web.New(w.config)
	return w
}

// TestHostilePages shows texts that make much of little: no page is longer than eight times its
// text and 64 KiB, and one that would be says so and shows the text as it is.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	w := newLongWorld(t)
	ann := w.as("Ann")
	repeat := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	for _, size := range []int{3000, prompt.LimitMaxText} {
		half := size / 2
		tests := []struct {
			name, text string
			plain      bool // not rendered
			noFill     bool
		}{
			{"ordinary", repeat("Act as **${role:an expert}**.\n\n- one\n- two\n\n", size), false, false},
			{"nested defaults", "${a:" + repeat("x", half) + "}" + repeat("${a}", half-10), false, true},
			{
				"wide table", repeat("|", half/2) + "\n" + repeat("|-", half/2) + "|\n" + repeat("|\n", half-10),
				false, false,
			},
			{"references", "[a]: http://" + repeat("x", half) + "\n\n" + repeat("[a]", half-20), true, false},
			{"deep quotes", repeat(">", size), true, false},
			{"deep lists", repeat("- ", size-2) + "x", true, false},
			{"emphasis", repeat("*a**b*", size), size > 3000, false},
			{"emphasis without an end", repeat("*a_", size), size > 3000, false},
			{"code without an end", repeat("\\``", size), true, false},
			{
				"much emphasis", repeat("Some *words* in **this** _line_, `code` and snake_case_words.\n\n", size),
				false, false,
			},
			{"a listing", repeat("snake_case_words\n", size), false, false},
			{"links", repeat("<a:b>", size), false, false},
			{"brackets", repeat("[", size), true, false},
			{"separators", repeat(strings.Repeat("-", 80)+"\n"+strings.Repeat("- ", 40)+"\n\n", size), false, false},
			{"ampersands", repeat("&", size), size > 3000, false},
		}
		for _, tt := range tests {
			page := ann.write(tt.name, tt.text, "public")
			s := ann.get(page).is(200)
			require.LessOrEqual(t, len(s.body), 8*len(tt.text)+64<<10, "%s, %d", tt.name, size)
			require.Equal(t, tt.plain, !strings.Contains(s.body, `id="rendered"`), "%s, %d: rendered", tt.name, size)
			require.Equal(t, tt.plain, strings.Contains(s.body, "Shown as plain text"), "%s, %d", tt.name, size)
			require.Equal(t, strings.Contains(tt.text, "${") && !tt.noFill,
				strings.Contains(s.body, `<mark data-v="0">`), "%s, %d: filled in", tt.name, size)
			s.has(`<div id="source"`)
		}
	}
}

// TestHostileValues fills values into a text that has the same variable at hundreds of places.
func TestHostileValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	page := ann.write("Variables", strings.Repeat("${a}", 700), "public")
	fill := page + "/fill"
	ann.post(fill, "v0", "short").is(200).has("short")
	ann.post(fill, "v0", strings.Repeat("x", 17)).is(200)
	ann.post(fill, "v0", strings.Repeat("x", 18)).is(422).has("class=\"wrong\" role=\"alert\"")
	ann.post(fill, "v0", strings.Repeat("x", 2001)).is(422)
	ann.post(fill, "v0", strings.Repeat("x", 65<<10)).is(422).lacks("form is too long")
	ann.post(fill, "v0", strings.Repeat("x", 65<<10+9*4*prompt.DefaultMaxText)).is(422).has("form is too long")
	one := ann.write("One", "Dear ${a}", "public")
	ann.post(one+"/fill", "v0", strings.Repeat("x", 2000)).is(200)
	var pairs []string
	for i := range 30 {
		pairs = append(pairs, fmt.Sprintf("v%d", i), strings.Repeat("x", 1000))
	}
	many := ""
	for i := range 30 {
		many += fmt.Sprintf("${v%d}", i)
	}
	ann.post(ann.write("Many", many, "public")+"/fill", pairs...).is(422)
}

// TestLongAddress holds that an address, which stands in each link of a page, is no longer than one
// that a page makes.
func TestLongAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.LessOrEqual(t, len(w.as("Ann").get("/app/tags?q="+strings.Repeat("x", 6000)).is(422).has("too long").body),
		16<<10)
	require.LessOrEqual(t, len(w.as("Ann").get("/app/"+strings.Repeat("x", 6000)).is(422).body), 16<<10)
	w.nobody().get("/app/mine?q=" + strings.Repeat("x", 6000)).is(422)
	w.as("Ann").get("/app/tags?q=" + strings.Repeat("%E5%85%A5", 200) + "&cursor=" + strings.Repeat("x", 2048)).is(200)
}
