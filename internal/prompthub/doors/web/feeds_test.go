package web_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/web"
)

func TestFeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.PublicRead, c.Public = true, "https://prompts.example.org" })
	ann := w.as("Ann")
	ann.write("First & <foremost>", "# Do **this**\n\n& that.", "public", "data")
	page := ann.write("Second", "text \u0007 with a bell", "public", "text")
	ann.write("Secret", "secret", "private", "data")
	author := "/app/u/" + w.service.AuthorKey("Ann")

	type entry struct {
		Title   string `xml:"title"`
		Summary string `xml:"summary"`
		Link    struct {
			Href string `xml:"href,attr"`
		} `xml:"link"`
	}
	read := func(path string) []entry {
		s := w.nobody().get(path).is(200).lacks("ecret")
		require.Equal(t, "application/atom+xml; charset=utf-8", s.header.Get("Content-Type"))
		var feed struct {
			XMLName xml.Name
			Updated string  `xml:"updated"`
			Entry   []entry `xml:"entry"`
		}
		require.NoError(t, xml.Unmarshal([]byte(s.body), &feed))
		require.Equal(t, "http://www.w3.org/2005/Atom", feed.XMLName.Space)
		require.Equal(t, "2026-03-04T05:06:09Z", feed.Updated)
		return feed.Entry
	}
	all := read("/app/feed.atom")
	require.Len(t, all, 2)
	require.Equal(t, []string{"Second", "https://prompts.example.org" + page}, []string{all[0].Title, all[0].Link.Href})
	require.Equal(t, []string{"First & <foremost>", "Do this & that."}, []string{all[1].Title, all[1].Summary})
	require.Len(t, read(author+"/feed.atom"), 2)
	require.Len(t, read("/app/feed.atom?tag=text"), 1)

	var feed struct {
		Version  string
		Title    string
		FeedURL  string `json:"feed_url"`
		HomePage string `json:"home_page_url"`
		Items    []struct{ ID, URL, Title string }
	}
	require.NoError(t, json.Unmarshal([]byte(w.nobody().get("/app/feed.json?tag=data").is(200).body), &feed))
	require.Equal(t, []string{
		"https://jsonfeed.org/version/1.1", "PromptHub: data",
		"https://prompts.example.org/app/feed.json?tag=data", "https://prompts.example.org/app?tag=data",
	},
		[]string{feed.Version, feed.Title, feed.FeedURL, feed.HomePage})
	require.Len(t, feed.Items, 1)
	w.nobody().get(author + "/feed.json").is(200).has(`"authors":[{"name":"Ann"}]`)
	w.nobody().get("/app/u/nosuch/feed.json").is(404)
	w.nobody().get("/app/feed.atom?tag=two%20words").is(422)
	w.nobody().get("/app/feed.json?tag=nosuch").is(200).has(`"items":[]`)

	w.nobody().get("/app?tag=data").has(`rel="alternate"`, `href="/app/feed.atom?tag=data"`)
	w.nobody().get(author).has(`href="` + author + `/feed.json"`)
	w.nobody().get(page).has(`<link rel="canonical" href="https://prompts.example.org`+page+`">`,
		`property="og:title" content="Second"`)
	closed := newWorld(t)
	closed.as("Ann").get(closed.as("Ann").write("Hers", "text", "public")).is(200).lacks("og:", "canonical")
	closed.nobody().get("/app/feed.atom").is(401)
	open := newWorld(t, func(c *web.Config) { c.PublicRead = true })
	open.as("Ann").get(open.as("Ann").write("Hers", "text", "private")).is(200).lacks("og:", "canonical")
}

func TestSiteMap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *web.Config) { c.PublicRead = true })
	ann := w.as("Ann")
	private := ann.write("Private", "text", "private")
	for i := range 120 {
		ann.write(fmt.Sprint("Public ", i), "text", "public")
	}
	s := ann.get("/app/sitemap.xml").is(200).lacks(private)
	require.Equal(t, 121, strings.Count(s.body, "<loc>http://localhost:7071/app"))
	require.NoError(t, xml.Unmarshal([]byte(s.body), new(struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
	})))
	robots := w.nobody().get(web.Robots).is(200).has("Sitemap: http://localhost:7071/app/sitemap.xml\n")
	require.Equal(t, "text/plain; charset=utf-8", robots.header.Get("Content-Type"))
	beside := httptest.NewRecorder()
	web.Mount(http.NotFoundHandler(), w.pages).ServeHTTP(beside,
		httptest.NewRequest(http.MethodGet, "http://localhost:7071"+web.Robots, nil))
	require.Equal(t, http.StatusOK, beside.Code, "it is a page")
	for _, path := range []string{"/app/sitemap.xml", web.Robots} {
		newWorld(t).as("Ann").get(path).is(404).has("PUBLIC_READ is off")
	}
}
