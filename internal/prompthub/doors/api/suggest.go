package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) suggestions() {
	route(a, reader, huma.Operation{
		OperationID: "suggest", Method: http.MethodPost, Path: "/suggestions", Tags: []string{"prompts"},
		DefaultStatus: http.StatusOK,
		Summary:       "Before a prompt is saved: tags that it could have, and public prompts that are like it",
		Errors:        badBody,
		Description: "Tags are learned from the words of public prompts once an hour; where there are too few of those, they are the ones that title and text name. " +
			"Similar prompts are found among the newest 20,000 public ones, up to an hour after they were saved; texts of fewer than 20 words only where they are the same. " +
			"Nothing is kept, and nothing keeps anybody from saving.",
	}, a.suggest)
}

// An Unfinished is what POST /suggestions takes: what somebody is writing.
type Unfinished struct {
	Title  string   `json:"title,omitempty" doc:"At most 200 UTF-16 code units" example:"Act as a code reviewer"`
	Text   string   `json:"text,omitempty" doc:"Of a chat, the texts of its messages, one below the other. Its limit counts UTF-16 code units" example:"I want you to act as a code reviewer."`
	Tags   []string `json:"tags,omitempty" doc:"Tags that it has, which are not suggested" example:"[\"development\"]"`
	Prompt string   `json:"prompt,omitempty" doc:"The id of the prompt that is being edited: it is not similar to itself" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
}

// Suggestions are what POST /suggestions answers.
type Suggestions struct {
	Tags    []SuggestedTag  `json:"tags" nullable:"false" doc:"At most 3, active ones of the catalog, that which fits best first"`
	Similar []SimilarPrompt `json:"similar" nullable:"false" doc:"At most 5, the most alike first"`
}

// A SuggestedTag is a tag that a prompt could have.
type SuggestedTag struct {
	Tag         string `json:"tag" doc:"As prompts have it" example:"code-review"`
	DisplayName string `json:"displayName" doc:"For people" example:"Code review"`
}

// A SimilarPrompt is a public prompt that is like what somebody writes.
type SimilarPrompt struct {
	ID         string  `json:"id" doc:"ULID, upper case" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Title      string  `json:"title" doc:"Its title" example:"Code reviewer"`
	AuthorID   string  `json:"authorId" doc:"Names the author" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	AuthorName string  `json:"authorName" doc:"Display name of the author" example:"Ann"`
	Like       float64 `json:"like" doc:"The share of the runs of three words of both that both have, from 0.6 to 1" example:"0.91"`
	Same       bool    `json:"same" doc:"Whether it is the same prompt to most people, from 0.85 on: vote for it or fork it" example:"true"`
}

type suggestInput struct {
	Body Unfinished
}

type suggestOutput struct {
	Body Suggestions
}

func (a *api) suggest(ctx context.Context, c call, in *suggestInput) (*suggestOutput, error) {
	var itself prompt.ID
	if in.Body.Prompt != "" {
		var ok bool
		if itself, ok = prompt.ParseID(in.Body.Prompt); !ok {
			return nil, openapi.Invalid("body.prompt", "must be the id of a prompt", in.Body.Prompt)
		}
	}
	if len(in.Body.Tags) > prompt.MaxTags {
		return nil, fault.New(fault.Invalid, "name fewer tags: no prompt has so many")
	}
	found, err := a.Service.Suggest(ctx, c.User,
		prompt.Draft{Title: in.Body.Title, Text: in.Body.Text, Tags: names(in.Body.Tags)}, itself)
	if err != nil {
		return nil, err
	}
	out := &suggestOutput{Suggestions{Tags: []SuggestedTag{}, Similar: []SimilarPrompt{}}}
	for _, t := range found.Tags {
		out.Body.Tags = append(out.Body.Tags, SuggestedTag{string(t.Tag), t.DisplayName})
	}
	for _, s := range found.Similar {
		out.Body.Similar = append(out.Body.Similar, SimilarPrompt{
			ID: string(s.ID), Title: s.Title, AuthorID: a.Service.AuthorKey(s.AuthorID), AuthorName: s.AuthorName,
			Like: rounded(s.Like), Same: s.Like >= prompt.Same,
		})
	}
	return out, nil
}
