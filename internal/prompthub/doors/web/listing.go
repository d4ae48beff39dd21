package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A view is the state of a list, all of which is in its address.
type view struct {
	path   string
	values url.Values
}

// viewOf reads the state out of an address; other parameters are dropped.
func viewOf(r *request, keys ...string) view {
	v := view{r.URL.Path, url.Values{}}
	for _, key := range keys {
		if value := strings.TrimSpace(r.URL.Query().Get(key)); value != "" {
			v.values.Set(key, value)
		}
	}
	return v
}

// with returns the address of the same list with another value, from its beginning.
func (v view) with(key, value string) string {
	values := url.Values{}
	for k, all := range v.values {
		if k != "cursor" && k != key {
			values[k] = all
		}
	}
	if value != "" {
		values.Set(key, value)
	}
	return address(v.path, values)
}

func address(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

func (v view) get(key string) string { return v.values.Get(key) }

// A choice is a link that changes the state of a list.
type choice struct {
	Name string
	Link string
	On   bool
}

func (v view) choices(key string, names ...[2]string) []choice {
	all := make([]choice, len(names))
	for i, n := range names {
		all[i] = choice{n[1], v.with(key, n[0]), v.get(key) == n[0]}
	}
	return all
}

// A listing is a page of a list.
type listing struct {
	view    view
	tagged  func(prompt.Tag) string // what a tag of a card leads to; nil: public prompts with it
	Query   string                  // the words of the search
	Texts   bool                    // texts are, too
	Kept    url.Values
	Choices []choice
	Filters []choice // tags that must match: the link takes one away
	Offered []choice // tags of the prompts shown: the link adds one
	AllTags string   // address of the page with all tags
	Cards   []card
	More    string // address of the next page, "" at the end
	Start   string // address of the first page, "" there
	Wrong   string // why nothing was searched for
	Empty   string // the message of an empty list
	Starter bool   // whether prompts to begin with are offered
	Instead choice // where one may go then; no link: nowhere
	Beside  choice // where else
	Manage  bool   // whether cards show what their author wants to know
	Feeds   []feedLink
}

func (l *listing) head(string) head { return head{Feeds: l.Feeds} }

// A card is a prompt in a list.
type card struct {
	library.View
	Topics []choice
	Ballot ballot
	Manage bool
}

// About returns the line of a prompt in a list: its description, or how it begins.
func (c card) About() string {
	if strings.HasPrefix(c.Excerpt, strings.TrimSuffix(c.Description, "…")) { // it has no other
		return words(c.Excerpt)
	}
	return c.Description
}

// Passage returns where in the text a search found the prompt.
func (c card) Passage() string { return cmp.Or(words(c.Snippet), c.About()) }

// InText reports whether a search found the prompt by its text alone.
func (c card) InText() bool { return c.Found == prompt.InText }

// names are what people call tags.
type names map[prompt.Tag]string

// of returns what people call a tag; one that the catalog does not offer any more is called as it
// is.
func (n names) of(t prompt.Tag) string {
	if name, ok := n[t]; ok {
		return name
	}
	return string(t)
}

// names returns what the catalog calls tags.
func (s *web) names(r *request) (names, error) {
	all, err := s.Service.Tags(r.Context(), r.who, false)
	n := make(names, len(all))
	for _, t := range all {
		n[t.Tag] = t.DisplayName
	}
	return n, err
}

// byTag returns the address of the public prompts with a tag.
func byTag(t prompt.Tag) string { return view{path: Prefix}.with("tag", string(t)) }

// Path returns the address of the list without its state.
func (l *listing) Path() string { return l.view.path }

// cards fits a page of prompts into a listing.
func (l *listing) cards(who auth.User, p library.Page, called names) {
	v, tag := l.view, l.tagged
	if tag == nil {
		tag = byTag
	}
	for _, item := range p.Items {
		c := card{View: item, Ballot: ballotOf(who, item, address(v.path, v.values)+"#p-"+string(item.ID)), Manage: l.Manage}
		for _, t := range item.Tags {
			c.Topics = append(c.Topics, choice{Name: called.of(t), Link: tag(t)})
		}
		l.Cards = append(l.Cards, c)
	}
	if p.Next != "" {
		next := view{v.path, url.Values{}}
		for k, all := range v.values {
			next.values[k] = all
		}
		next.values.Set("cursor", p.Next)
		l.More = address(next.path, next.values)
	}
	if v.get("cursor") != "" {
		l.Start = v.with("cursor", "")
	}
}

const maxOffered = 8

// filters offers what narrows a list down, out of the list itself: that costs no read.
func (l *listing) filters(tags []prompt.Tag, called names) {
	v := l.view
	for _, t := range tags {
		l.Filters = append(l.Filters, choice{called.of(t), v.with("tag", minus(tags, t)), true})
	}
	count := make(map[prompt.Tag]int)
	var seen []prompt.Tag
	for _, c := range l.Cards {
		for _, t := range c.Tags {
			if count[t]++; count[t] == 1 && !slices.Contains(tags, t) {
				seen = append(seen, t)
			}
		}
	}
	slices.SortStableFunc(seen, func(a, b prompt.Tag) int { return count[b] - count[a] })
	for _, t := range seen[:min(len(seen), maxOffered)] {
		l.Offered = append(l.Offered, choice{called.of(t), v.with("tag", plus(tags, t)), false})
	}
}

// found fits what was found into a listing, and says what the catalog calls tags. Where what the
// address says was wrong, the listing says so in its place; any other error is returned.
func (s *web) found(r *request, l *listing, p library.Page, err error) (names, error) {
	if kind := fault.Of(err); err != nil && (kind == fault.Malformed || kind == fault.Invalid) {
		l.Wrong, l.Start = reason(err), l.view.with("cursor", "")
	} else if err != nil {
		return nil, err
	}
	called, err := s.names(r)
	if err == nil {
		l.cards(r.who, p, called)
	}
	return called, err
}

// listFound answers with a list of the prompts that were found, if no filter narrows it down.
func (s *web) listFound(r *request, name, title string, l *listing, p library.Page, err error) error {
	if _, err := s.found(r, l, p, err); err != nil {
		return err
	}
	return s.list(r, name, title, l.Wrong, l)
}

// list answers with a list: the whole page, or only what changes with its state.
func (s *web) list(r *request, name, title, wrong string, body any) error {
	status := http.StatusOK
	if wrong != "" {
		status = http.StatusBadRequest
	}
	if r.URL.Query().Get("part") == "results" {
		return s.write(r, status, name, "results", page{User: r.who, Body: body})
	}
	return s.render(r, status, name, title, body)
}

// reason returns what a user did wrong.
func reason(err error) string {
	text, fields := describe(err)
	switch {
	case len(fields) == 0:
		return sentence(text)
	case fields[0].Name == "cursor":
		return "This address does not belong to this list any more."
	}
	return sentence(fields[0].Message)
}
