package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) votes() {
	route(a, user, answers[Ballot](a, http.StatusOK, "The vote, and what all votes add up to", huma.Operation{
		OperationID: "set-vote", Method: http.MethodPut, Path: "/prompts/{id}/vote", Tags: []string{"votes"},
		Summary: "Vote on a prompt", Errors: fails(badBody, http.StatusNotFound),
		Description: "Sets the vote to a value, and never toggles: sending it again changes nothing. Lists follow within seconds.",
	}), a.vote)
	route(a, user, huma.Operation{
		OperationID: "get-vote", Method: http.MethodGet, Path: "/prompts/{id}/vote", Tags: []string{"votes"},
		Summary: "My vote on a prompt", Errors: []int{http.StatusNotFound},
		Description: "With what all votes add up to, exactly.",
	}, a.voteOf)
	route(a, user, answers[Ballot](a, http.StatusOK, "The vote, and what all votes add up to", huma.Operation{
		OperationID: "delete-vote", Method: http.MethodDelete, Path: "/prompts/{id}/vote", Tags: []string{"votes"},
		Summary: "Take my vote on a prompt back", Errors: []int{http.StatusNotFound},
		Description: "The same as voting none; again as often as you like.",
	}), a.unvote)
}

type voteInput struct {
	ByID
	Body Vote
}

type ballotOutput struct {
	Body Ballot
}

func ballot(b library.Ballot, err error) (*ballotOutput, error) {
	if err != nil {
		return nil, err
	}
	return &ballotOutput{Ballot{Value: b.Value.String(), Likes: b.Likes, Dislikes: b.Dislikes, Score: b.Score()}}, nil
}

// A votedOutput is the answer to a vote: a Ballot or a Known.
type votedOutput struct {
	Body any
}

func (a *api) setVote(ctx context.Context, c call, id prompt.ID, value prompt.Vote) (*votedOutput, error) {
	out, err := ballot(a.Service.Vote(ctx, c.User, id, value))
	if err != nil {
		return nil, err
	}
	return &votedOutput{toldOf(c, out.Body, Known{ID: string(id)})}, nil
}

func (a *api) vote(ctx context.Context, c call, in *voteInput) (*votedOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	value, _ := prompt.ParseVote(in.Body.Value) // the schema lets no other pass
	return a.setVote(ctx, c, id, value)
}

func (a *api) voteOf(ctx context.Context, c call, in *ByID) (*ballotOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return ballot(a.Service.VoteOf(ctx, c.User, id))
}

func (a *api) unvote(ctx context.Context, c call, in *ByID) (*votedOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return a.setVote(ctx, c, id, prompt.None)
}
