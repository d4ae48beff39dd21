package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const siteMapPath = Prefix + "/sitemap.xml"

// The names of feeds, under the pages whose newest prompts they have.
const (
	atomFile = "/feed.atom"
	jsonFile = "/feed.json"
)

func (s *web) feeds() {
	s.handle("GET "+siteMapPath, anyone, s.siteMap)
	s.handle("GET "+Robots, anyone, s.robots)
	for file, write := range map[string]func(*request, feed) error{atomFile: writeAtom, jsonFile: writeJSONFeed} {
		s.handle("GET "+Prefix+file, reader, func(r *request) error {
			f, err := s.newestFeed(r)
			if err != nil {
				return err
			}
			return write(r, f)
		})
		s.handle("GET "+Prefix+"/u/{handle}"+file, reader, func(r *request) error {
			f, err := s.authorFeed(r)
			if err != nil {
				return err
			}
			return write(r, f)
		})
	}
}

// maxSite is how many prompts a site map has, and sitePage how many are read at once.
const (
	maxSite  = 1000
	sitePage = 100
)

func errNoSite() error {
	return fault.New(fault.NotFound,
		"there is no site map here: prompts are read by those alone who sign in (PUBLIC_READ is off)")
}

// robots tells search engines where the site map is, where there is one.
func (s *web) robots(r *request) error {
	if !s.PublicRead {
		return errNoSite()
	}
	r.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := fmt.Fprintf(r.w, "User-agent: *\nAllow: /\n\nSitemap: %s%s\n",
		httpjson.Origin(r.Request, s.Public), siteMapPath)
	return err
}

// siteMap lists the newest public prompts for search engines, where everyone may read them.
func (s *web) siteMap(r *request) error {
	if !s.PublicRead {
		return errNoSite()
	}
	type location struct {
		URL     string `xml:"loc"`
		Changed string `xml:"lastmod,omitempty"`
	}
	var site struct {
		XMLName   xml.Name   `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		Locations []location `xml:"url"`
	}
	origin := httpjson.Origin(r.Request, s.Public)
	site.Locations = []location{{URL: origin + Prefix}}
	search := library.Search{Order: library.Newest, Limit: sitePage}
	for range maxSite / sitePage {
		p, err := s.Service.Search(r.Context(), auth.User{}, search)
		if err != nil {
			return err
		}
		for _, v := range p.Items {
			site.Locations = append(site.Locations, location{origin + addressOf(v.ID), stamp(v.UpdatedAt)})
		}
		if search.Cursor = p.Next; p.Next == "" {
			break
		}
	}
	return writeXML(r, "application/xml; charset=utf-8", site)
}

// A feed is the newest prompts of a list, for programs that look for new ones.
type feed struct {
	title string
	home  string // the URL of the list
	self  string // that of the feed
	items []feedItem
}

// A feedItem is a prompt in a feed. It has the same as a card in a list.
type feedItem struct {
	url, title, author, about string
	tags                      []string
	created, updated          time.Time
}

// newestFeed is of all public prompts, or those with some tags.
func (s *web) newestFeed(r *request) (feed, error) {
	v := viewOf(r, "tag")
	tags, err := tagsOf(v.get("tag"))
	if err != nil {
		return feed{}, err
	}
	p, err := s.Service.Search(r.Context(), r.who, library.Search{Order: library.Newest, Tags: tags, Limit: perPage})
	if err != nil {
		return feed{}, err
	}
	f := feed{title: "PromptHub", home: address(Prefix, v.values)}
	if len(tags) > 0 {
		f.title += ": " + strings.ReplaceAll(joined(tags), ",", ", ")
	}
	return s.feed(r, f, p), nil
}

// authorFeed is of the public prompts of a user.
func (s *web) authorFeed(r *request) (feed, error) {
	handle := r.PathValue("handle")
	p, err := s.Service.ByAuthor(r.Context(), r.who, library.AuthorSearch{Handle: handle, Limit: perPage})
	f := feed{title: "PromptHub", home: Prefix + "/u/" + handle}
	if len(p.Items) > 0 {
		f.title += ": " + p.Items[0].AuthorName
	}
	return s.feed(r, f, p), err
}

// feed completes a feed with a page of its list.
func (s *web) feed(r *request, f feed, p library.Page) feed {
	origin := httpjson.Origin(r.Request, s.Public)
	f.home, f.self = origin+f.home, origin+r.URL.RequestURI()
	for _, v := range p.Items {
		item := feedItem{
			url: origin + addressOf(v.ID), title: v.Title, author: v.AuthorName, about: card{View: v}.About(),
			created: v.CreatedAt, updated: v.UpdatedAt,
		}
		for _, t := range v.Tags {
			item.tags = append(item.tags, string(t))
		}
		f.items = append(f.items, item)
	}
	return f
}

// updated returns when something in the feed changed last.
func (f feed) updated() time.Time {
	last := time.Unix(0, 0)
	for _, item := range f.items {
		if item.updated.After(last) {
			last = item.updated
		}
	}
	return last
}

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string      `xml:"title"`
	ID      string      `xml:"id"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Title      string         `xml:"title"`
	ID         string         `xml:"id"`
	Link       atomLink       `xml:"link"`
	Author     string         `xml:"author>name"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Summary    string         `xml:"summary"`
	Categories []atomCategory `xml:"category"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

func writeAtom(r *request, f feed) error {
	doc := atomFeed{
		Title: f.title, ID: f.home, Updated: stamp(f.updated()),
		Links: []atomLink{{"alternate", f.home}, {"self", f.self}},
	}
	for _, item := range f.items {
		entry := atomEntry{
			Title: item.title, ID: item.url, Link: atomLink{"alternate", item.url}, Author: item.author,
			Published: stamp(item.created), Updated: stamp(item.updated), Summary: item.about,
		}
		for _, t := range item.tags {
			entry.Categories = append(entry.Categories, atomCategory{t})
		}
		doc.Entries = append(doc.Entries, entry)
	}
	return writeXML(r, "application/atom+xml; charset=utf-8", doc)
}

func writeXML(r *request, kind string, doc any) error {
	b, err := xml.Marshal(doc)
	if err != nil {
		return err
	}
	return writeFile(r, kind, append([]byte(xml.Header), b...))
}

type jsonFeed struct {
	Version string         `json:"version"`
	Title   string         `json:"title"`
	Home    string         `json:"home_page_url"`
	Self    string         `json:"feed_url"`
	Items   []jsonFeedItem `json:"items"`
}

type jsonFeedItem struct {
	ID        string           `json:"id"`
	URL       string           `json:"url"`
	Title     string           `json:"title"`
	Text      string           `json:"content_text"`
	Published string           `json:"date_published"`
	Modified  string           `json:"date_modified"`
	Authors   []jsonFeedAuthor `json:"authors"`
	Tags      []string         `json:"tags,omitempty"`
}

type jsonFeedAuthor struct {
	Name string `json:"name"`
}

func writeJSONFeed(r *request, f feed) error {
	doc := jsonFeed{
		Version: "https://jsonfeed.org/version/1.1", Title: f.title, Home: f.home,
		Self: f.self, Items: []jsonFeedItem{},
	}
	for _, item := range f.items {
		doc.Items = append(doc.Items, jsonFeedItem{
			ID: item.url, URL: item.url, Title: item.title, Text: item.about, Published: stamp(item.created),
			Modified: stamp(item.updated),
			Authors:  []jsonFeedAuthor{{item.author}}, Tags: item.tags,
		})
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(doc); err != nil {
		return err
	}
	return writeFile(r, "application/feed+json; charset=utf-8", b.Bytes())
}

func writeFile(r *request, kind string, body []byte) error {
	r.w.Header().Set("Content-Type", kind)
	pages.Send(r.w, r.Request, http.StatusOK, body, func() []byte {
		return pages.Compress(body, gzip.DefaultCompression)
	})
	return nil
}

// feedsOf returns the feeds of the prompts of a page.
func feedsOf(path string, tags []prompt.Tag) []feedLink {
	at := func(file string) string { return view{path: path + file}.with("tag", joined(tags)) }
	return []feedLink{{"application/atom+xml", at(atomFile)}, {"application/feed+json", at(jsonFile)}}
}
