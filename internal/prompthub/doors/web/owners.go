package web

import (
	"cmp"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A holding says whose a prompt is, and what the reader of a page may do with it. For prompts of
// persons it is known without a read.
type holding struct {
	Team *team // nil where a person owns it
	Mine bool  // whether the reader owns it, or is a member of the workspace that does
	library.May
	Ruled    []ruling // the rules of the workspace for labels of the prompt; to its members
	Proposes bool     // whether the reader may propose a version for such a label
}

// A team is the workspace that owns a prompt. Its link leads a member to all prompts, and others to
// the public ones.
type team struct{ Handle, Name, Link string }

// An owned is what is known of a prompt before its owner is read.
type owned struct {
	Owner prompt.UserID
	Names []string // all that lead to it
	Seen  prompt.Visibility
	Mine  bool // whether the reader owns it, or acts for the owner
	Open  map[string]prompt.OpenProposal
}

// holdingOf returns the holding of a prompt.
func (s *web) holdingOf(r *request, o owned) (holding, error) {
	owner, mine := o.Owner, o.Mine
	h := holding{Mine: mine, May: library.May{Edit: mine, Publish: mine}}
	w, err := s.Service.Owning(r.Context(), r.who, owner)
	if err != nil || w == nil {
		return h, err
	}
	h.Team = &team{Handle: w.Handle, Name: w.Name, Link: s.authorAddress(owner)}
	if w.Role != "" {
		h.Team.Link = workspaceAddress(w.Handle)
	}
	if mine {
		h.May, h.Ruled = w.May(o.Seen), rulingsOf(w.Rules, o.Names, o.Open)
		h.Proposes = w.Role.Includes(prompt.RoleAuthor)
	}
	return h, nil
}

// A byline names the person, or the access token, that made a version or moved a label.
type byline struct {
	Name string
	Link string // "" where there is no page of them
}

// people returns the people of some keys, as the versions and labels of a workspace hold them.
// There are none of a person's own prompts, as their author did everything.
func (s *web) people(r *request, h holding, by ...prompt.UserID) (map[prompt.UserID]*byline, error) {
	if h.Team == nil {
		return nil, nil //nolint:nilnil // nobody needs to be named, and nothing is wrong
	}
	known, err := s.Service.People(r.Context(), by)
	if err != nil {
		return nil, err
	}
	lines := make(map[prompt.UserID]*byline, len(by))
	for _, who := range by {
		p, is := known[who]
		switch {
		case is:
			lines[who] = &byline{cmp.Or(p.Name, p.Handle, "a member"), Prefix + "/u/" + cmp.Or(p.Handle, string(who))}
		case prompt.IsTokenKey(who):
			lines[who] = &byline{Name: "an access token"}
		default:
			lines[who] = &byline{Name: "somebody who is gone"}
		}
	}
	return lines, nil
}
