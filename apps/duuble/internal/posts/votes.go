package posts

import (
	"context"
	"slices"
	"time"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

func noSlider() error {
	return fault.Coded(fault.Conflict, NoSlider, "this post has no slider, so there is nothing to vote on")
}

// Vote casts the caller's vote on a post.
func (s *Service) Vote(ctx context.Context, c people.Claim, id string,
	position ballot.Position,
) (ballot.Receipt, error) {
	limit := s.voteLimit(c.UserID)
	var voted people.Window
	var p seen
	u, err := s.People.Member(ctx, c, s.readWindow(limit, &voted), func(ctx context.Context) (err error) {
		p, err = s.lookAtPost(ctx, c.UserID, id)
		return err
	})
	switch {
	case err != nil:
		return ballot.Receipt{}, err
	case p.post == nil:
		return ballot.Receipt{}, noPost()
	case p.post.Slider == nil:
		return ballot.Receipt{}, noSlider()
	case p.voted:
		return ballot.Receipt{}, alreadyVoted()
	case p.post.End.HasCome(s.Now()):
		return ballot.Receipt{}, ballot.Ended()
	}
	if err := limit.Check(voted, s.Now()); err != nil {
		return ballot.Receipt{}, err
	}
	var r ballot.Receipt
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		r, err = s.Ballot.Cast(ctx, ballot.Vote{
			Post: id, Voter: u.ID, Position: position, Hubs: p.counts,
			Shards: p.post.shards, Ends: p.post.Slider.hasEnd(),
		})
		return err
	}, func(ctx context.Context) error {
		// It does not wait for the vote, nor the vote for it: votes that come at the same time may
		// be some more than the limit.
		_ = s.People.Count(ctx, limit, voted, id)
		return nil
	})
	if err == nil {
		s.Hubs.Acted(ctx, u.ID, p.in...)
	}
	return r, err
}

func alreadyVoted() error {
	return fault.Coded(fault.Conflict, ballot.AlreadyVoted, "you have voted on this post; a vote is for ever")
}

// lookAtSlider reads a post that people vote on, as a viewer sees it.
func (s *Service) lookAtSlider(viewer, id string, p *seen) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		if *p, err = s.lookAtEnded(ctx, viewer, id, true); err != nil {
			return err
		}
		switch {
		case p.post == nil:
			return noPost()
		case p.post.Slider == nil:
			return noSlider()
		}
		return nil
	}
}

// lookAtEnded is findPost, and counts the votes first if their end has come.
func (s *Service) lookAtEnded(ctx context.Context, viewer, id string, blocks bool) (seen, error) {
	p, err := s.findPost(ctx, viewer, id, blocks)
	// else the timer does it
	if err != nil || p.post == nil || p.post.End.Counted || !p.post.End.HasCome(s.Now()) ||
		s.Ballot.EndPost(ctx, id) != nil {
		return p, err
	}
	return s.findPost(ctx, viewer, id, blocks)
}

// Result returns how the votes on a post are, and whether the caller is among those who voted.
func (s *Service) Result(ctx context.Context, c people.Claim, id string) (ballot.Result, bool, error) {
	var p seen
	_, err := s.People.Visitor(ctx, c, s.lookAtSlider(c.UserID, id, &p))
	return p.result, p.voted, err
}

// A HubResult is how the votes of a hub are.
type HubResult struct {
	HubName
	ballot.Result
}

// HubResults returns how the votes on a post are in those of its hubs of which the caller is a
// member, and in which votes count. Before, they also counted where others had shared the post.
func (s *Service) HubResults(ctx context.Context, c people.Claim, id string) ([]HubResult, error) {
	var p seen
	_, err := s.People.Member(ctx, c, s.lookAtSlider(c.UserID, id, &p))
	if err != nil {
		return nil, err
	}
	var names map[string]string
	var results []ballot.Result
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		names, err = s.Hubs.Names(ctx, p.in)
		return err
	}, func(ctx context.Context) (err error) {
		results, err = s.Ballot.Results(ctx, id, p.in...)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := []HubResult{}
	for i, one := range nameHubs(p.in, names) {
		results[1+i] = results[1+i].Until(p.post.End)
		if results[1+i].Total > 0 || slices.Contains(p.post.votesIn, one.ID) {
			all = append(all, HubResult{one, results[1+i]})
		}
	}
	return all, nil
}

const voteRows = "uv|"

// FollowVotes writes votes into the lists of those who cast them, counts them there, and tells the
// feeds.
func (s *Service) FollowVotes(ctx context.Context, votes []ballot.Receipt) error {
	return rowstore.Each(ctx, len(votes), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		v := votes[i]
		err := s.People.Reflect(ctx,
			people.Mirror{
				User: v.Voter, Row: voteRows + rowstore.Descending(v.VotedAt) + "|" + v.Post, Version: 1,
				Live: true, Column: "votes_cast_count", Props: table.Props{
					{Name: "post_id", Value: table.String(v.Post)},
					{Name: "voted_at", Value: table.Time(v.VotedAt)},
				},
			})
		if err != nil {
			return err
		}
		if i < len(votes)-1 { // a home shows a post once, so the last vote is enough for those who took part
			return s.feed.TellQuietly(ctx, voteActivity(v))
		}
		return s.feed.Tell(ctx, voteActivity(v))
	})
}

// A Cast is a vote of the caller: on which post, and when.
type Cast struct {
	PostID   string
	Question string // of the post
	VotedAt  time.Time
}

// Votes returns on what the caller has voted, the newest first, without posts that the caller may
// not see any more. The list follows the votes by some seconds.
func (s *Service) Votes(ctx context.Context, c people.Claim, after string,
	limit int,
) (all []Cast, next string, err error) {
	var rows []table.Row
	_, err = s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		rows, next, err = lists.Read(ctx, s.Store,
			lists.List{Table: s.Tables.Users, Partition: schema.User(c.UserID), Prefix: voteRows}, after, limit, nil)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	found := make([]seen, len(rows))
	err = rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.findPost(ctx, c.UserID, rows[i].Props.Get("post_id").Str(), false)
		return err
	})
	if err == nil {
		_, err = s.authorsOf(ctx, c.UserID, found)
	}
	all = []Cast{}
	for i, row := range rows {
		if found[i].post != nil {
			all = append(all, Cast{found[i].post.ID, found[i].post.Slider.Text, row.Props.Get("voted_at").Time()})
		}
	}
	return all, next, err
}
