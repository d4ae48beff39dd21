package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) users() {
	route(a, user, huma.Operation{
		OperationID: "get-profile", Method: http.MethodGet, Path: "/me/profile", Tags: []string{"me"},
		Summary:     "What others see of me",
		Description: "Until one is written it has the name that the caller signed in with, and no handle.",
	}, a.profile)
	route(a, user, answers[User](a, http.StatusOK, "The profile as it is now", huma.Operation{
		OperationID: "put-profile", Method: http.MethodPut, Path: "/me/profile", Tags: []string{"me"},
		Summary: "Change what others see of me. A handle is chosen once, and never given to another", Errors: badBody,
		Description: "Replaces the whole profile. A user whose handle was made of their name, after their first prompt, can choose another one, once; both lead to them. Two callers who choose one handle at once: one gets it, the other 409.",
	}), a.putProfile)
	route(a, reader, huma.Operation{
		OperationID: "get-user", Method: http.MethodGet, Path: "/users/{handle}", Tags: []string{"users"},
		Summary: "A user, as everyone may see him", Errors: []int{http.StatusNotFound},
		Description: "By a handle, or by the authorId that prompts show.",
	}, a.user)
	route(a, reader, huma.Operation{
		OperationID: "list-user-prompts", Method: http.MethodGet, Path: "/users/{handle}/prompts",
		Tags:    []string{"users"},
		Summary: "The public prompts of a user, the newest first", Errors: fails(badQuery, http.StatusNotFound),
		Description: "By a handle, or by the authorId that prompts show.",
	}, a.userPrompts)
}

type profileOutput struct {
	Body User
}

type ownProfileOutput struct {
	Body OwnUser
}

func encodeUser(u library.User, err error) (*profileOutput, error) {
	if err != nil {
		return nil, err
	}
	return &profileOutput{User{ID: u.Key, Handle: u.Handle, Name: u.Name, About: u.About}}, nil
}

func (a *api) profile(ctx context.Context, c call, _ *struct{}) (*ownProfileOutput, error) {
	u, err := encodeUser(a.Service.Profile(ctx, c.User))
	if err != nil {
		return nil, err
	}
	at, err := a.Service.ErasedAt(ctx, c.User)
	return &ownProfileOutput{OwnUser{User: u.Body, EraseAt: until(at)}}, err
}

// until writes a time that something may end at; nothing for the zero one.
func until(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return httpjson.FormatTime(at)
}

// A changedProfileOutput is the answer to a change of the profile: a User or a Known.
type changedProfileOutput struct {
	Body any
}

type profileInput struct {
	Body Profile
}

func (a *api) putProfile(ctx context.Context, c call, in *profileInput) (*changedProfileOutput, error) {
	u, err := encodeUser(a.Service.PutProfile(ctx, c.User,
		prompt.Profile{Handle: in.Body.Handle, Name: in.Body.Name, About: in.Body.About}))
	if err != nil {
		return nil, err
	}
	return &changedProfileOutput{toldOf(c, u.Body, Known{ID: u.Body.ID})}, nil
}

// ByHandle names a user.
type ByHandle struct {
	Handle string `path:"handle" doc:"The handle of a user, the authorId that a prompt has, or me" example:"ann-lee"`
}

func (a *api) user(ctx context.Context, c call, in *ByHandle) (*profileOutput, error) {
	return encodeUser(a.Service.UserByHandle(ctx, c.User, in.Handle))
}

type userPromptsInput struct {
	ByHandle
	Filter
	Fields
	Paging
}

func (a *api) userPrompts(ctx context.Context, c call, in *userPromptsInput) (*foundOutput, error) {
	if err := in.check(in.Paging); err != nil {
		return nil, err
	}
	tags, words, err := in.wanted()
	if err != nil {
		return nil, err
	}
	return a.found(ctx, c, in.Fields, in.Limit, func(limit int) (library.Page, error) {
		return a.Service.ByAuthor(ctx, c.User,
			library.AuthorSearch{
				Handle: in.Handle, Tags: tags, Words: words, Titles: in.titles(),
				Limit: limit, Cursor: in.Cursor,
			})
	})
}
