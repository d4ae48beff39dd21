package web

import (
	"context"
	"net/http"
	"net/url"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
)

// pairs are the pages about other members.
func (s *web) pairs() {
	s.members("GET "+Prefix+"/people", s.people)
	s.members("GET "+Prefix+"/people/{id}", func(r *request) error { return s.person(r, nil) })
	moderate := func(act func(*request, string) error) action {
		return func(r *request) error {
			id := r.PathValue("id")
			if err := act(r, id); err != nil {
				return s.person(r, err)
			}
			goOn(r, Prefix+"/people/"+id+"?done=saved")
			return nil
		}
	}
	s.members("POST "+Prefix+"/people/{id}/suspend", moderate(func(r *request, id string) error {
		return s.Service.Suspend(r.Context(), r.claim, id, number(r.form("days")), r.form("reason"))
	}))
	s.members("POST "+Prefix+"/people/{id}/unsuspend", moderate(func(r *request, id string) error {
		return s.Service.Unsuspend(r.Context(), r.claim, id)
	}))
	s.members("GET "+Prefix+"/likes", s.likes)
	s.members("GET "+Prefix+"/matches", s.matches)
	s.members("GET "+Prefix+"/matches/{id}", s.match)
	yes, no := true, false
	like := func(anonymous *bool) func(context.Context, meet.Claim, string) (bool, error) {
		return func(ctx context.Context, c meet.Claim, id string) (bool, error) {
			l, _, err := s.Service.Like(ctx, c, id, anonymous)
			return l.Match, err
		}
	}
	noMatch := func(act func(context.Context, meet.Claim, string) error) func(context.Context,
		meet.Claim, string) (bool, error) {
		return func(ctx context.Context, c meet.Claim, id string) (bool, error) { return false, act(ctx, c, id) }
	}
	for what, do := range map[string]struct {
		act func(context.Context, meet.Claim, string) (matched bool, err error)
		to  string // the page that follows, "" for that of the member
	}{
		"like": {like(&no), ""}, "secret": {like(&yes), ""}, "unlike": {noMatch(s.Service.Unlike), ""},
		"unmatch": {noMatch(s.Service.Unmatch), ""},
		"pass":    {noMatch(s.Service.Pass), "/people"}, "block": {noMatch(s.Service.Block), "/settings"},
		"unblock": {noMatch(s.Service.Unblock), "/settings"},
		"unpass":  {noMatch(s.Service.Unpass), ""},
	} {
		s.members("POST "+Prefix+"/people/{id}/"+what, func(r *request) error {
			id := r.PathValue("id")
			matched, err := do.act(r.Context(), r.claim, id)
			if err != nil {
				return err
			}
			to, done := do.to, what
			switch {
			case what == "pass":
				goOn(r, Prefix+"/people?done=pass&passed="+url.QueryEscape(id))
				return nil
			case matched:
				goOn(r, Prefix+"/matches/"+id)
				return nil
			case r.form("deck") != "":
				to, done = "/people", "deck."+what
			case to == "":
				to = "/people/" + id
			}
			goOn(r, Prefix+to+"?done="+done)
			return nil
		})
	}
}

// person shows a member, to staff with a form to suspend them, as it was sent if it was refused.
func (s *web) person(r *request, refused error) error {
	p, err := s.Service.Person(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.formPage(r, page{Name: "person", Title: "person.title", Body: p}, url.Values{"days": {"7"}}, refused)
}

// A dealt is what the page of the deck shows: a card at most, with the pictures of the member, and
// the pass before it, which can be taken back.
type dealt struct {
	meet.DeckPage
	Images []meet.Image
	Passed string
}

// people shows one card of the deck after the other. A decision takes its card away, so the page
// has no cursor.
func (s *web) people(r *request) error {
	p, err := s.Service.Deck(r.Context(), r.claim, r.URL.Query().Get("after"), 1)
	if err != nil {
		return err
	}
	b := dealt{DeckPage: p}
	if id := r.URL.Query().Get("passed"); meet.IsID(id) {
		b.Passed = id
	}
	if len(p.Cards) > 0 && p.Cards[0].ProfileImageURL != "" {
		of, err := s.Service.Person(r.Context(), r.claim, p.Cards[0].ID)
		if err != nil && fault.CodeOf(err) != meet.UserNotFound { // one has just left
			return err
		}
		b.Images = of.Images
	}
	return s.render(r, http.StatusOK, page{Name: "people", Title: "people.title", Body: b})
}

// perPage is how many members a page of a list shows.
const perPage = 20

// A likesBody is what the page of likes shows.
type likesBody struct{ Received, Sent meet.Page }

// likes shows the likes that wait for an answer and those that were sent. The links to go on are
// positions in the lists of the reader alone.
func (s *web) likes(r *request) (err error) {
	var b likesBody
	if b.Received, err = s.Service.LikesReceived(r.Context(), r.claim,
		r.URL.Query().Get("received"), perPage); err != nil {
		return err
	}
	if b.Sent, err = s.Service.LikesSent(r.Context(), r.claim, r.URL.Query().Get("sent"), perPage); err != nil {
		return err
	}
	return s.render(r, http.StatusOK, page{Name: "likes", Title: "likes.title", Body: b})
}

// A matchesBody is what the page of matches shows. New are the ids of those that the reader has not
// seen there yet.
type matchesBody struct {
	meet.Page
	New map[string]bool
}

func (s *web) matches(r *request) error {
	after := r.URL.Query().Get("after")
	p, err := s.Service.Matches(r.Context(), r.claim, after, perPage)
	if err != nil {
		return err
	}
	b := matchesBody{p, map[string]bool{}}
	if after == "" && len(p.Entries) > 0 {
		fresh, err := s.Service.NewMatches(r.Context(), r.claim, perPage)
		if err != nil {
			return err
		}
		for _, e := range fresh {
			b.New[e.ID] = true
		}
		if len(fresh) > 0 {
			if err := s.Service.SeeMatches(r.Context(), r.claim, p.Entries[0].At); err != nil {
				return err
			}
		}
	}
	return s.render(r, http.StatusOK, page{Name: "matches", Title: "matches.title", Body: b})
}

// match shows the moment of a match. One who has no other that is new has seen all.
func (s *web) match(r *request) error {
	p, err := s.Service.Person(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	if !p.Match {
		goOn(r, Prefix+"/people/"+p.ID)
		return nil
	}
	fresh, err := s.Service.NewMatches(r.Context(), r.claim, 2)
	if err == nil && len(fresh) == 1 && fresh[0].ID == p.ID {
		err = s.Service.SeeMatches(r.Context(), r.claim, fresh[0].At)
	}
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK, page{Name: "match", Title: "match.title", Body: p})
}

// N returns the words for a number of things: in Russian one, few or many.
func (w words) N(key string, n int) string {
	return w.T(key+"."+string(rules.PluralOf(w.Lang, n)), n)
}

// A carded is a card with the words of its page.
type carded struct {
	words
	meet.Card
	Note string
}

// Card returns a card for a template, with a note on it.
func (w words) Card(c meet.Card, note string) carded { return carded{w, c, note} }

// Near returns the text for a distance in kilometers, "" for none.
func (w words) Near(km *int) string {
	if km == nil {
		return ""
	}
	return w.T("person.near", *km)
}

// Is reports whether something is told and true.
func (words) Is(told *bool) bool { return told != nil && *told }

// Note says of a like that was sent what its receiver does not see, or that it was answered.
func (w words) Note(e meet.Entry) string {
	switch {
	case e.Match:
		return w.T("likes.match")
	case e.Anonymous:
		return w.T("likes.anonymous")
	}
	return ""
}

// Fresh says of a match that it is new.
func (w words) Fresh(is bool) string {
	if !is {
		return ""
	}
	return w.T("matches.new")
}

// An act is a button that does something with another member.
type act struct {
	words
	ID, What, Class string
	Deck            bool // whether the next card of the deck follows
}

// Act returns a button for a template.
func (w words) Act(id, what, class string) act { return act{w, id, what, class, false} }

// Deal returns a button for a card of the deck.
func (w words) Deal(id, what, class string) act { return act{w, id, what, class, true} }

// A sure is a button that asks once more before it does what cannot be taken back. Its words are
// the words of a key, and of keys below it.
type sure struct {
	words
	Action, Asks string
}

// Sure returns such a button for a template.
func (w words) Sure(action, asks string) sure { return sure{w, action, asks} }

// A signature is an author with the words of the page.
type signature struct {
	words
	Author *meet.Author
}

// By returns an author for a template, nil being one that the reader may not see.
func (w words) By(a *meet.Author) signature { return signature{w, a} }
