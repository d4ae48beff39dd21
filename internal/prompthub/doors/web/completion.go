package web

import (
	"maps"
	"slices"
	"strings"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// maxCompletions is how many tags, and how many authors, complete what is typed.
const maxCompletions = 5

// A completion is a link to what somebody who types may mean.
type completion struct {
	countedTag
	Kind string
	Live bool // whether it leads to another state of the list, with other words in the box
}

// complete offers the authors whose names have the words of the search, and the tags that begin
// with the last of them. Titles need no offer: those that have the words stand first in the list.
// All of it is of public prompts, and was read with the catalog.
func (l *listing) complete(c library.Catalog, chosen []prompt.Tag, authorAddress func(prompt.UserID) string) {
	if l.Query == "" || l.words.Empty() || l.words.Nothing() {
		return
	}
	named := 0
	for _, a := range c.Prolific {
		if named < maxCompletions && l.words.Match(prompt.NormalizeTitle(a.Name)) {
			named++
			l.Offers = append(l.Offers,
				completion{countedTag{choice{Name: a.Name, Link: authorAddress(a.ID)}, a.Prompts}, "Author", false})
		}
	}
	last := strings.LastIndexFunc(l.Query, func(r rune) bool { return r == ' ' || r == '\u3000' }) + 1
	rest := strings.TrimSpace(l.Query[:last])
	word, err := prompt.ParseQuery(l.Query[last:])
	if err != nil || word.Empty() || word.Nothing() || word.Qualified() || strings.Count(rest, `"`)%2 == 1 {
		return
	}
	tagged := 0
	for _, t := range c.Tags {
		fits := word.Match(prompt.NormalizeTitle(t.DisplayName)) || word.Match(string(t.Tag))
		if tagged == maxCompletions || !fits || t.Prompts == 0 || slices.Contains(chosen, t.Tag) {
			continue
		}
		tagged++
		with := view{l.view.path, maps.Clone(l.view.values)}
		with.values.Del("q")
		if rest != "" {
			with.values.Set("q", rest)
		}
		l.Offers = append(l.Offers, completion{
			countedTag{choice{Name: t.DisplayName, Link: with.with("tag", plus(chosen, t.Tag))}, 0}, "Tag", true,
		})
	}
}

// wayOn says where one may go who searched and found nothing.
func (l *listing) wayOn() {
	if l.Query == "" || len(l.Cards) > 0 {
		return
	}
	all := choice{Name: "All prompts", Link: Prefix}
	if !strings.ContainsAny(l.Query, `"“”„:`) && !l.words.Excludes() {
		if l.Other = all; l.Instead.Link == "" {
			l.Instead, l.Other = all, choice{}
		}
		return
	}
	l.Empty, l.Instead = "No prompt fits all of this. Take something away.", all
	if plain := l.words.Typed(); plain != "" {
		l.Other = l.Instead
		l.Instead = choice{Name: "Search for the words alone", Link: l.view.with("q", plain)}
	}
}
