package web_test

import (
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
)

// TestImage: the page of a public prompt names a picture for those who show where a link leads.
func TestImage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.PublicRead, c.Public = true, "https://prompts.example.org" })
	ann := w.as("Ann")
	seen := map[string]string{}
	for name, title := range map[string]string{
		"short": "Linux terminal", "long": strings.Repeat("A very long title ", 11),
		"one word": strings.Repeat("Wort", 50),
		"greek":    "Δάσκαλος ελληνικών", "chinese": "充当英语翻译和改进者", "hostile": "<b>&\u0301\u200d",
	} {
		page := ann.write(title,
			"I want you to act as **something**. It does what it says, and says what it does, at some length.",
			"public", "development", "text")
		w.nobody().get(page).has(`<meta property="og:image" content="https://prompts.example.org` + page +
			`/image.png">`)
		s := w.nobody().get(page + "/image.png").is(200)
		require.Equal(t, "image/png", s.header.Get("Content-Type"))
		picture, err := png.Decode(strings.NewReader(s.body))
		require.NoError(t, err)
		require.Equal(t, "(1200,630)", picture.Bounds().Max.String())
		require.NotContains(t, seen, s.body)
		for y := 262; name == "short" && y < 300; y++ { // between the title and what it does
			for x := 80; x < 1200; x++ {
				require.Equal(t, picture.At(1199, 0), picture.At(x, y), "something stands at %d, %d", x, y)
			}
		}
		seen[s.body] = name
		require.NoError(t, os.WriteFile(filepath.Join(t.ArtifactDir(), name+".png"), []byte(s.body), 0o600))
		r := httptest.NewRequest(http.MethodGet, "http://localhost:7071"+page+"/image.png", nil)
		r.Header.Set("If-None-Match", s.header.Get("ETag"))
		w.nobody().send(r).is(304)
		ann.post(page+"/visibility", "to", "private").to(page)
		w.nobody().get(page + "/image.png").is(404)
		ann.get(page + "/image.png").is(404)
		ann.get(page).lacks("og:image")
	}
	closed := newWorld(t)
	closed.nobody().get(closed.as("Ann").write("Hers", "text", "public") + "/image.png").is(401)
}
