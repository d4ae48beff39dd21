package web

import (
	"cmp"
	"net/http"
	"net/url"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
)

// A bar is a position of a slider, with its share of the votes that are counted.
type bar struct {
	Value   int
	Name    string
	Count   int64
	Percent int64
}

// A hubResult is how the votes of a hub are.
type hubResult struct {
	posts.HubResult
	Bars []bar
}

// A cardBody is a post as its reader sees it, votes on it, and finds the result.
type cardBody struct {
	posts.Item
	Bars    []bar
	Waiting int64
	VoteMin int
	Enough  int         // how many votes must wait
	Least   int         // how many votes an end counts
	Hubs    []hubResult // that differ from the result of all
	Guest   bool
	Back    string // the address of the list in which the post is; "" of its own page
}

// cardOf returns a post of a list, or of its own page if back is "".
func (s *web) cardOf(r *request, item posts.Item, back string) cardBody {
	c := cardBody{Item: item, Waiting: item.Result.Waiting(), Guest: r.who == nil, Back: back}
	c.VoteMin, c.Enough, c.Least = s.VoteMin, ballot.ReleasesAt(s.VoteMin), ballot.MinOfEnd(s.VoteMin)
	if item.Slider != nil {
		c.Bars = bars(*item.Slider, item.Result)
	}
	return c
}

// cardsOf returns the posts of the list that a request shows.
func (s *web) cardsOf(r *request, cards []posts.Card) (all []cardBody) {
	for _, c := range cards {
		all = append(all, s.cardOf(r, posts.Item{Card: c}, s.site.Here(r.Request)))
	}
	return all
}

// MayVote reports whether the reader, or a guest after signing in, may vote.
func (c cardBody) MayVote() bool { return c.Slider != nil && !c.Voted && !c.End.Ended }

// Shows reports whether the result is shown: on the page of the post, and in lists to a reader who
// cannot vote any more.
func (c cardBody) Shows() bool { return c.Result.Counted > 0 && (c.Back == "" || !c.MayVote()) }

// ByAuthor reports whether the post is in a home because its author wrote it.
func (c cardBody) ByAuthor() bool { return c.Activity == nil || c.Actor.ID == c.Author.ID }

// names returns the names of the positions. An end that the author has not named is No or Yes, or
// the opposite of the other end.
func names(s posts.Slider) [5]string {
	left, right := s.LeftLabel, s.RightLabel
	switch {
	case left == "" && right == "":
		return [5]string{"No", "Rather no", "In the middle", "Rather yes", "Yes"}
	case left == "":
		return [5]string{"The opposite", "Rather the opposite", "In the middle", "Rather " + right, right}
	case right == "":
		return [5]string{left, "Rather " + left, "In the middle", "Rather the opposite", "The opposite"}
	}
	return [5]string{left, "Rather " + left, "In the middle", "Rather " + right, right}
}

// bars returns the positions with the votes of a scope.
func bars(slider posts.Slider, r ballot.Result) (all []bar) {
	for i, name := range names(slider) {
		one := bar{Value: i, Name: name, Count: r.Counts[i]}
		if r.Counted > 0 {
			one.Percent = 100 * one.Count / r.Counted
		}
		all = append(all, one)
	}
	return all
}

// addHubs reads how the votes of the hubs of a post are. Of a post for the members of one hub that
// is the result of all.
func (s *web) addHubs(r *request, c *cardBody) error {
	if c.Slider == nil || len(c.In) == 0 || c.Visibility == posts.Locked && len(c.Card.Hubs) == 1 {
		return nil
	}
	all, err := s.Posts.HubResults(r.Context(), r.claim, c.ID)
	for _, one := range all {
		if one.Total > 0 && (one.Total != c.Result.Total || one.Counts != c.Result.Counts) {
			c.Hubs = append(c.Hubs, hubResult{one, bars(*c.Slider, one.Result)})
		}
	}
	return err
}

// vote casts a vote. The form has one digit for each position, so that all requests are as long. It
// leads back to the list in which it was, and a script that asks for it gets the part of the page
// that the vote changes.
func (s *web) vote(r *request) error {
	var position ballot.Position = -1
	if v := r.form("position"); len(v) == 1 && v >= "0" && v <= "4" {
		position = ballot.Position(v[0] - '0')
	}
	if position < 0 {
		return s.post(r, fault.New(fault.Invalid, "choose one of the five positions"))
	}
	id := r.PathValue("id")
	if _, err := s.Posts.Vote(r.Context(), r.claim, id, position); err != nil {
		return s.post(r, err)
	}
	back := r.form("back")
	if back != "" {
		back = s.site.Back(back)
	}
	if r.form("part") != "" {
		card, err := s.Posts.Card(r.Context(), r.claim, id)
		if err != nil {
			return err
		}
		return s.site.Render(r.w, http.StatusOK, "home", "ballot", s.cardOf(r, posts.Item{Card: card}, back))
	}
	to, err := url.Parse(cmp.Or(back, Prefix+"/posts/"+url.PathEscape(id)))
	if err != nil {
		return err // unreachable: Back has parsed it
	}
	q := to.Query()
	q.Set("done", "voted")
	to.RawQuery = q.Encode()
	if back != "" {
		to.Fragment = "p-" + id
	}
	goOn(r, to.String())
	return nil
}
