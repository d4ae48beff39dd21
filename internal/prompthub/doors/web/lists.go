package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) lists() {
	s.handle("GET "+Prefix, reader, s.catalog)
	s.handle("GET "+Prefix+"/tags", reader, s.tags)
	s.handle("GET "+Prefix+"/mine", user, s.mine)
	s.handle("GET "+Prefix+"/votes", user, s.myVotes)
	s.handle("GET "+Prefix+"/favorites", user, s.favorites)
}

// orders returns the orders of the catalog, as addresses and pages name them; the first is the
// default, which an address leaves out. Only a search for words has an order of relevance.
func orders(words bool) (all [][2]string) {
	for _, o := range library.Orders() {
		if o.Order != library.Relevance || words {
			all = append(all, [2]string{string(o.Order), o.Title})
		}
	}
	all[0][0] = ""
	return all
}

// catalog shows public prompts.
func (s *web) catalog(r *request) error {
	v := viewOf(r, "sort", "tag", "q", "in", "verbatim", "cursor", before)
	l := listing{view: v, Query: v.get("q"), Choices: v.choices("sort", orders(v.get("q") != "")...), Texts: true}
	l.Kept = url.Values{"sort": v.values["sort"], "tag": v.values["tag"], "in": v.values["in"]}
	if l.Query != "" {
		l.Titles = v.titlesOnly()
	}
	l.AllTags = view{Prefix + "/tags", v.values}.with("cursor", "")
	tags, p, err := s.search(r, v)
	l.Verbatim = v.with("verbatim", "1")
	l.tagged = func(t prompt.Tag) string { return v.with("tag", plus(tags, t)) }
	l.Counted = l.Query == ""
	catalog, err := s.found(r, &l, p, tags, err)
	if err != nil {
		return err
	}
	l.filters(tags, namesIn(catalog))
	l.Whole = len(tags) == 0 && l.Query == "" && l.Start == ""
	switch {
	case len(l.Cards) > 0:
		l.Rail = s.rail(&l, catalog, tags)
		if l.Whole { // where the rail has no room, its tags are offered above the list
			l.Offered = nil
			for _, t := range l.Rail.Tags[:min(len(l.Rail.Tags), maxOffered)] {
				l.Offered = append(l.Offered, t.choice)
			}
		}
	case l.More == "": // nothing to put in an order
		l.Choices = nil
		if l.Whole { // an empty library has no tags to choose, either
			l.AllTags = ""
		}
	}
	l.nothing(r.who, len(tags) > 0)
	if s.SignIn == Nowhere {
		l.Instead = choice{} // as there is nothing that a browser may do
	}
	l.wayOn()
	l.complete(catalog, tags, s.authorAddress)
	l.Feeds = feedsOf(Prefix, tags)
	return s.list(r, "catalog", "Prompts", l.Wrong, &l)
}

// tellUnderstood says that a search took other words in place of some, which ones none of the
// prompts has, that prompts may be missing, and which ones are near if none is found.
func (l *listing) tellUnderstood(p library.Page) {
	l.Partial, l.Absent = p.Partial, p.Absent()
	if p.SomeLeftOut {
		l.LeftOut = workspacesPath
	}
	for _, item := range p.Near {
		l.Near = append(l.Near, choice{Name: item.Title, Link: Prefix + "/prompts/" + string(item.ID)})
	}
	for _, u := range p.Understood {
		if u.Instead {
			l.Understood = append(l.Understood, u)
		}
	}
}

// inTitles is how addresses say that texts are not searched.
const inTitles = "title"

// titlesOnly leaves texts out of a search, or takes them in again.
func (v view) titlesOnly() choice {
	if v.get("in") == inTitles {
		return choice{"Titles only", v.with("in", ""), true}
	}
	return choice{"Titles only", v.with("in", inTitles), false}
}

// Where those go who find nothing and may write.
var (
	newPrompt = choice{Name: "New prompt", Link: Prefix + "/prompts/new"}
	takeIn    = choice{Name: "Import prompts", Link: importPath}
)

// nothing says of the catalog what to do where it has nothing to show.
func (l *listing) nothing(who auth.User, tagged bool) {
	switch {
	case tagged && l.Query != "":
		l.Empty = "No prompt matches. Search for fewer words or take a tag away."
	case tagged:
		l.Empty = "No public prompt has all of these tags. Take one away."
	case l.Query != "":
		where := "its title or its text"
		if l.view.get("in") == inTitles {
			where = "its title"
		}
		l.Empty = "No prompt has these words in " + where + ". Search for fewer words, or for other ones."
		if who.Known() {
			l.Instead = choice{
				Name: fmt.Sprintf("New prompt “%s”", l.Query),
				Link: newPrompt.Link + "?" + url.Values{"title": {l.Query}}.Encode(),
			}
		}
	default:
		l.Empty = "Nobody has shared a prompt yet."
		if who.Known() {
			l.Instead, l.Other, l.Starter = newPrompt, takeIn, true
		} else {
			l.Instead = choice{Name: "Sign in to share the first", Link: Prefix + "/signin"}
		}
	}
}

// search reads what an address asks for.
func (s *web) search(r *request, v view) ([]prompt.Tag, library.Page, error) {
	tags, words, err := wanted(v)
	if err != nil {
		return tags, library.Page{}, err
	}
	var order library.Order
	if sort := v.get("sort"); library.IsOrder(sort) {
		order = library.Order(sort)
	}
	scope := library.ScopePublic
	if !words.Empty() && (order == "" || order == library.Newest || order == library.Relevance) {
		scope = library.ScopeAll
	}
	p, err := s.Service.Search(r.Context(), r.who,
		library.Search{
			Scope: scope, Order: order, Tags: tags, Words: words, Titles: v.get("in") == inTitles,
			Verbatim: v.get("verbatim") != "", Limit: perPage, Cursor: v.get("cursor"),
		})
	return tags, p, err
}

// wanted returns the tags and the words that an address asks for.
func wanted(v view) ([]prompt.Tag, prompt.Query, error) {
	tags, err := tagsOf(v.get("tag"))
	if err != nil {
		return nil, prompt.Query{}, err
	}
	words, err := prompt.ParseQuery(v.get("q"))
	return tags, words, err
}

// tagsOf reads tags that are separated by commas.
func tagsOf(list string) ([]prompt.Tag, error) {
	var tags []prompt.Tag
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		tag, err := prompt.ParseTag(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) > prompt.MaxTags {
		return nil, fault.New(fault.Invalid, "no prompt has so many tags; take some away")
	}
	return tags, nil
}

func plus(tags []prompt.Tag, tag prompt.Tag) string {
	if slices.Contains(tags, tag) {
		return joined(tags)
	}
	return joined(append(slices.Clone(tags), tag))
}

func minus(tags []prompt.Tag, tag prompt.Tag) string {
	return joined(slices.DeleteFunc(slices.Clone(tags), func(t prompt.Tag) bool { return t == tag }))
}

func joined(tags []prompt.Tag) string {
	names := make([]string, len(tags))
	for i, t := range tags {
		names[i] = string(t)
	}
	return strings.Join(names, ",")
}

// A tagsPage is all tags to choose from.
type tagsPage struct {
	Tags    []countedTag
	Prompts int    // public ones
	Back    string // the address of the list that they narrow down
}

// A countedTag is a tag, or an author, with how many public prompts have it; 0 where that is not
// said.
type countedTag struct {
	choice
	Prompts int
}

// tags shows the whole catalog of tags, to choose from.
func (s *web) tags(r *request) error {
	v := viewOf(r, "sort", "tag", "q", "in")
	v.path = Prefix
	chosen, err := tagsOf(v.get("tag"))
	if err != nil {
		return err
	}
	catalog, err := s.Service.Catalog(r.Context(), r.who, false)
	if err != nil {
		return err
	}
	page := tagsPage{Prompts: catalog.Prompts, Back: v.with("cursor", "")}
	for _, t := range catalog.Tags {
		c := choice{t.DisplayName, v.with("tag", plus(chosen, t.Tag)), slices.Contains(chosen, t.Tag)}
		if c.On {
			c.Link = v.with("tag", minus(chosen, t.Tag))
		}
		page.Tags = append(page.Tags, countedTag{c, t.Prompts})
	}
	return s.render(r, http.StatusOK, "tags", "All tags", page)
}

// mine shows the prompts of the caller.
func (s *web) mine(r *request) error {
	v := viewOf(r, "show", "sort", "q", "cursor", before)
	l := ownListing(v)
	l.Empty = map[string]string{
		"": "You have written no prompt yet.", "public": "You have shared no prompt yet.",
		"private": "You have no private prompts.",
		"deleted": "Nothing is deleted. What you delete can be restored here for 30 days.",
	}[v.get("show")]
	switch {
	case l.Query != "":
		l.Empty = "None of your prompts matches."
		l.Instead = choice{Name: "All my prompts", Link: v.with("q", "")}
	case v.get("show") != "deleted":
		l.Instead, l.Other = newPrompt, takeIn
	}
	p, err := listOwn(v, func(q library.MineQuery) (library.Page, error) {
		return s.Service.Mine(r.Context(), r.who, q)
	})
	return s.listFound(r, "mine", "My prompts", &l, p, err)
}

// ownListing returns the list of the prompts of an owner, for those who manage them.
func ownListing(v view) listing {
	l := listing{
		view: v, Query: v.get("q"), Texts: true,
		Kept: url.Values{"show": v.values["show"], "sort": v.values["sort"]}, Manage: true,
	}
	l.Choices = v.choices("show", [2]string{"", "All"}, [2]string{"public", "Public"}, [2]string{"private", "Private"},
		[2]string{"deleted", "Deleted"})
	return l
}

// listOwn reads what the address of such a list asks for.
func listOwn(v view, find func(library.MineQuery) (library.Page, error)) (library.Page, error) {
	q := library.MineQuery{Limit: perPage, Cursor: v.get("cursor")}
	switch show := v.get("show"); show {
	case "public", "private":
		q.Visibility = prompt.Visibility(show)
	case "deleted":
		q.Deleted, q.Sort = true, library.ByUpdated // the last deleted first
	}
	var err error
	if q.Words, err = prompt.ParseQuery(v.get("q")); err != nil {
		return library.Page{}, err
	}
	p, err := find(q)
	if q.Deleted && fault.Of(err) == fault.Invalid { // there are too many prompts for this order
		q.Sort = library.ByNewest
		p, err = find(q)
	}
	return p, err
}

// myVotes shows what the caller voted on.
func (s *web) myVotes(r *request) error {
	v := viewOf(r, "value", "cursor", before)
	l := listing{view: v, Instead: choice{Name: "Browse prompts", Link: Prefix}}
	l.Choices = v.choices("value", [2]string{"", "All"}, [2]string{"like", "Liked"}, [2]string{"dislike", "Disliked"})
	value, _ := prompt.ParseVote(v.get("value")) // anything else is all
	did := map[prompt.Vote]string{prompt.None: "voted on", prompt.Like: "liked", prompt.Dislike: "disliked"}[value]
	l.Empty = "There is no prompt to show that you " + did + ". Those that are private now are left out."
	p, err := s.Service.MyVotes(r.Context(), r.who, value, perPage, v.get("cursor"))
	return s.listFound(r, "votes", "My votes", &l, p, err)
}

// favorites shows what the caller keeps.
func (s *web) favorites(r *request) error {
	v := viewOf(r, "q", "cursor", before)
	l := listing{view: v, Query: v.get("q"), Texts: true, Empty: "There is no favorite of yours to show. Those that are private now are left out. A prompt becomes one on its page.", Instead: choice{Name: "Browse prompts", Link: Prefix}}
	if l.Query != "" {
		l.Empty, l.Instead = "None of your favorites matches.", choice{Name: "All favorites", Link: v.with("q", "")}
	}
	words, err := prompt.ParseQuery(v.get("q"))
	if err != nil {
		return s.listFound(r, "favorites", "Favorites", &l, library.Page{}, err)
	}
	p, err := s.Service.Favorites(r.Context(), r.who,
		library.FavoriteQuery{Words: words, Limit: perPage, Cursor: v.get("cursor")})
	return s.listFound(r, "favorites", "Favorites", &l, p, err)
}
