package web

import (
	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// related has the includes of a prompt, and the prompts that include it, for its page.
type related struct {
	Includes []neighbor
	Broken   string     // why nothing stands in the places of what it includes
	Closed   []neighbor // what of it only the author of a public prompt may read
	Mistyped string     // tells the author of a text like an include that is none
	UsedBy   []neighbor
	More     bool // whether more include it
}

// A neighbor is a prompt of the same author, in a version.
type neighbor struct {
	Name    string
	Link    string
	Version int64
}

// maxNeighbors is how many of those that include a prompt its page names.
const maxNeighbors = 10

// relatedTo puts the included texts into their places, for those who may read them, and returns the
// notes about that. Its author also sees the prompts that include it.
func (s *web) relatedTo(r *request, v *library.View) (rel related, err error) {
	mine := v.IsOwn()
	if mine {
		if rel, err = s.usersOf(r, *v); err != nil {
			return rel, err
		}
		rel.Mistyped = v.Content().MistypedInclude()
	}
	resolved, err := s.Service.Resolve(r.Context(), *v)
	switch {
	case fault.Of(err) == fault.Conflict:
		text, _ := describe(err)
		rel.Broken = pages.Sentence(text)
		return rel, nil
	case err != nil:
		return rel, err
	}
	for _, n := range resolved.Graph[resolved.Root] {
		rel.Includes = append(rel.Includes, neighborOf(n.ID, n.Name, n.Version))
	}
	if mine && v.Listed() { // the author sees it whole, and would not know that others do not
		for _, n := range resolved.Closed {
			rel.Closed = append(rel.Closed, neighborOf(n.ID, n.Name, n.Version))
		}
	}
	v.Draft = v.With(resolved.Content)
	return rel, nil
}

// usersOf returns what includes a prompt.
func (s *web) usersOf(r *request, v library.View) (rel related, err error) {
	uses, more, err := s.Service.UsesOf(r.Context(), v)
	rel.More = more || len(uses) > maxNeighbors
	for _, u := range uses[:min(len(uses), maxNeighbors)] {
		rel.UsedBy = append(rel.UsedBy, neighborOf(u.ID, u.Name, u.Version))
	}
	return rel, err
}

func neighborOf(id prompt.ID, name string, version int64) neighbor {
	return neighbor{name, addressOf(id), version}
}
