package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/doors/web/markdown"
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
		if k != "cursor" && k != before && k != key {
			values[k] = all
		}
	}
	if value != "" {
		values.Set(key, value)
	}
	return address(v.path, values)
}

// before is how addresses say how many prompts of a list come before those that they show. It says
// so to readers and to nothing else.
const before = "before"

func address(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// further returns the address of the next page of the same list, and that of its first one; ""
// where there is none, or this is it.
func (v view) further(next string) (more, start string) {
	if next != "" {
		on := view{v.path, maps.Clone(v.values)}
		on.values.Set("cursor", next)
		more = address(on.path, on.values)
	}
	if v.get("cursor") != "" {
		start = v.with("cursor", "")
	}
	return more, start
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
	view       view
	tagged     func(prompt.Tag) string // what a tag of a card leads to; nil: public prompts with it
	Query      string                  // the search, as typed
	words      prompt.Query            // the same, read
	Offers     []completion            // links to authors and tags with its words
	Texts      bool                    // texts are, too
	Kept       url.Values
	Choices    []choice
	Titles     choice   // leaves texts out of a search, or takes them in again; no link where nothing is searched for
	Filters    []choice // tags that must match: the link takes one away
	Offered    []choice // tags of the prompts shown: the link adds one
	Rail       *rail    // nil where there is none
	AllTags    string   // address of the page with all tags
	Cards      []card
	Place      place
	Counted    bool                 // whether the list is of public prompts, which are counted, and no word narrows it
	More       string               // address of the next page, "" at the end
	Start      string               // address of the first page, "" there
	Wrong      string               // why nothing was searched for
	Whole      bool                 // whether nothing narrows the list down
	Understood []library.Understood // words that others were searched for in place of
	Verbatim   string               // the address of the search for the words as they are, "" if there is none
	Absent     []string             // words that none of the prompts has
	Partial    bool                 // whether prompts may be missing
	LeftOut    string               // where workspaces are that were not searched, "" for none
	Near       []choice             // prompts that are offered if none is found
	Empty      string               // the message of an empty list
	Starter    bool                 // whether prompts to begin with are offered
	Instead    choice               // where one may go then; no link: nowhere
	Other      choice               // where else
	Manage     bool                 // whether cards show what their author wants to know
	of         *library.Workspace   // that owns all of them, nil for none
	Feeds      []feedLink
}

func (l *listing) head(string) head { return head{Feeds: l.Feeds} }

// A card is a prompt in a list.
type card struct {
	library.View
	Topics      []choice
	Ballot      ballot
	Manage      bool
	library.May              // with one's own, or one of a workspace
	Live        int64        // the version that programs get, 0 where that is the newest
	words       prompt.Query // that found it
}

// A piece is a part of a line. It is marked if the search found it.
type piece struct {
	Text  string
	Found bool
}

// pieces cuts a line into the parts that a search found and the rest.
func pieces(q prompt.Query, line string) []piece {
	var all []piece
	last := 0
	for _, m := range q.Marks(line) {
		all = append(all, piece{line[last:m.From], false}, piece{line[m.From:m.To], true})
		last = m.To
	}
	return append(all, piece{line[last:], false})
}

// TitlePieces, AboutPieces and PassagePieces are the title, About and Passage, with the words found
// marked.
func (c card) TitlePieces() []piece   { return pieces(c.words, c.Title) }
func (c card) AboutPieces() []piece   { return pieces(c.words, c.About()) }
func (c card) PassagePieces() []piece { return pieces(c.words, c.Passage()) }

// About returns the line of a prompt in a list: its description, or how it begins.
func (c card) About() string {
	if strings.HasPrefix(c.Excerpt, strings.TrimSuffix(c.Description, "…")) { // it has no other
		return markdown.Words(c.Excerpt)
	}
	return c.Description
}

// Passage returns where in the text a search found the prompt.
func (c card) Passage() string { return cmp.Or(markdown.Words(c.Snippet), c.About()) }

// Shared reports whether it is a prompt of a workspace of which the reader is a member.
func (c card) Shared() bool { return prompt.IsWorkspace(c.Viewer) }

// InText reports whether a search found the prompt by its text alone.
func (c card) InText() bool { return c.Found == prompt.InText }

// A place says which prompts of a list are shown. Total is 0 where it is not known.
type place struct{ From, To, Total int }

// All reports whether the whole list is shown.
func (p place) All() bool { return p.From == 1 && p.To == p.Total }

// A rail stands next to a list in a wide window: tags and authors, those with the most public
// prompts first.
type rail struct {
	Tags    []countedTag
	Authors []countedTag
}

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

// namesIn returns what a catalog calls its tags.
func namesIn(c library.Catalog) names {
	n := make(names, len(c.Tags))
	for _, t := range c.Tags {
		n[t.Tag] = t.DisplayName
	}
	return n
}

// names returns what the catalog calls tags.
func (s *web) names(r *request) (names, error) {
	c, err := s.Service.Catalog(r.Context(), r.who, false)
	return namesIn(c), err
}

// usualKind is the tag of those prompts that files call neither structured nor pictures.
const usualKind prompt.Tag = "text"

// tells reports whether a tag tells prompts of a library apart. That one is on more than half of
// them says nothing about a prompt, nor does the usual kind.
func tells(c library.Catalog, t prompt.Tag) bool {
	if t == usualKind {
		return false
	}
	at := slices.IndexFunc(c.Tags, func(i prompt.TagInfo) bool { return i.Tag == t })
	return at < 0 || c.Prompts < perPage || 2*c.Tags[at].Prompts <= c.Prompts
}

// byTag returns the address of the public prompts with a tag.
func byTag(t prompt.Tag) string { return view{path: Prefix}.with("tag", string(t)) }

// Path returns the address of the list without its state.
func (l *listing) Path() string { return l.view.path }

// cards fits a page of prompts into a listing whose prompts all have some tags.
func (l *listing) cards(who auth.User, p library.Page, c library.Catalog, tags []prompt.Tag) {
	v, tag, called := l.view, l.tagged, namesIn(c)
	l.words, _ = prompt.ParseQuery(l.Query) // what cannot be read has found nothing
	found := l.words
	if !p.Searched.Empty() {
		found = p.Searched
	}
	if tag == nil {
		tag = byTag
	}
	for _, item := range p.Items {
		card := card{
			View: item, Ballot: ballotOf(who, item, address(v.path, v.values)+"#p-"+string(item.ID)),
			Manage: l.Manage, words: found, May: library.May{Edit: true, Publish: true},
			Live: item.Released(cmp.Or(item.Viewer, library.IDOf(who))),
		}
		if l.of != nil {
			card.May, card.Live = l.of.May(item.Visibility), item.Released(l.of.ID)
		}
		for _, t := range item.Tags {
			if !slices.Contains(tags, t) && tells(c, t) {
				card.Topics = append(card.Topics, choice{Name: called.of(t), Link: tag(t)})
			}
		}
		l.Cards = append(l.Cards, card)
	}
	passed, err := strconv.ParseUint(v.get(before), 10, 30)
	if err != nil || v.get("cursor") == "" {
		passed = 0
	}
	l.Place.From, l.Place.To = int(passed)+1, int(passed)+len(l.Cards)
	switch {
	case p.Next == "":
		l.Place.Total = l.Place.To
	case l.Place.Total <= l.Place.To: // it was counted a while ago
		l.Place.Total = 0
	}
	if p.Next != "" {
		next := view{v.path, maps.Clone(v.values)}
		next.values.Set("cursor", p.Next)
		next.values.Set(before, strconv.Itoa(l.Place.To))
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

// found fits what was found into a listing whose prompts all have some tags, and returns the
// catalog of tags. If the address says something wrong, the listing says so in its place; any other
// error is returned.
func (s *web) found(r *request, l *listing, p library.Page, tags []prompt.Tag, err error) (library.Catalog, error) {
	if kind := fault.Of(err); err != nil && (kind == fault.Malformed || kind == fault.Invalid) {
		l.Wrong, l.Start = reason(err), l.view.with("cursor", "")
	} else if err != nil {
		return library.Catalog{}, err
	}
	c, err := s.Service.Catalog(r.Context(), r.who, false)
	if err == nil {
		if l.Counted {
			l.Place.Total = total(c, tags)
		}
		l.tellUnderstood(p)
		l.cards(r.who, p, c, tags)
	}
	return c, err
}

// total returns how many public prompts have all of some tags, as far as that is counted, else 0.
func total(c library.Catalog, tags []prompt.Tag) int {
	switch len(tags) {
	case 0:
		return c.Prompts
	case 1:
		if at := slices.IndexFunc(c.Tags, func(t prompt.TagInfo) bool { return t.Tag == tags[0] }); at >= 0 {
			return c.Tags[at].Prompts
		}
	}
	return 0
}

const (
	maxRailTags    = 14
	maxRailAuthors = 8
)

// rail returns the rail of the catalog, and says how many prompts each link leads to. Tags stay in
// their places when one is chosen. The link of the chosen tag takes it away, and that of another
// replaces it. Next to words the rail has the tags of the prompts shown without counts, as others
// might lead to nothing. If words or tags narrow the list down, its authors are those of the
// prompts shown.
func (s *web) rail(l *listing, c library.Catalog, chosen []prompt.Tag) *rail {
	var r rail
	words := l.Query != ""
	if words {
		for _, t := range l.Offered {
			r.Tags = append(r.Tags, countedTag{choice: t})
		}
	} else {
		all := slices.Clone(c.Tags)
		slices.SortStableFunc(all, func(a, b prompt.TagInfo) int { return b.Prompts - a.Prompts })
		for _, t := range all {
			on, to := slices.Contains(chosen, t.Tag), string(t.Tag)
			if on {
				to = minus(chosen, t.Tag)
			}
			if on || len(r.Tags) < maxRailTags && (t.Prompts > 0 || c.Prompts == 0) {
				r.Tags = append(r.Tags, countedTag{choice{t.DisplayName, l.view.with("tag", to), on}, t.Prompts})
			}
		}
	}
	if !words && len(chosen) == 0 {
		for _, a := range c.Prolific[:min(len(c.Prolific), maxRailAuthors)] {
			r.Authors = append(r.Authors, countedTag{choice{Name: a.Name, Link: s.authorAddress(a.ID)}, a.Prompts})
		}
		return &r
	}
	seen := map[prompt.UserID]bool{}
	for _, card := range l.Cards {
		if len(r.Authors) < maxRailAuthors && !seen[card.AuthorID] {
			seen[card.AuthorID] = true
			r.Authors = append(r.Authors,
				countedTag{choice: choice{Name: card.AuthorName, Link: s.authorAddress(card.AuthorID)}})
		}
	}
	return &r
}

// listFound answers with a list of the prompts that were found, if no filter narrows it down.
func (s *web) listFound(r *request, name, title string, l *listing, p library.Page, err error) error {
	if _, err := s.found(r, l, p, nil, err); err != nil {
		return err
	}
	return s.list(r, name, title, l.Wrong, l)
}

// badAddress returns the status of a list whose address has a mistake, or none.
func badAddress(wrong string) int {
	if wrong != "" {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// list answers with a list: the whole page, or only what changes with its state.
func (s *web) list(r *request, name, title, wrong string, body any) error {
	status := badAddress(wrong)
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
		return pages.Sentence(text)
	case fields[0].Name == "cursor":
		return "This address does not belong to this list any more."
	}
	return pages.Sentence(fields[0].Message)
}
