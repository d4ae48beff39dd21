package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) forks() {
	tags := []string{"forks"}
	route(a, user, answers[Prompt](a, http.StatusOK, "The fork that the same Idempotency-Key created before",
		answers[Prompt](a, http.StatusCreated, "The fork", huma.Operation{
			OperationID: "fork-prompt", Method: http.MethodPost, Path: "/prompts/{id}/fork", Tags: tags,
			DefaultStatus: http.StatusCreated,
			Summary:       "Store a private copy that knows where it comes from. What the text includes must be among the caller's own prompts",
			Description:   "The copy is the caller's own. Its origin stays known, so that later changes there can be seen and merged. With an Idempotency-Key it is safe to send again.",
			Errors:        fails(badQuery, 404, 409),
		})), a.fork)
	route(a, user, huma.Operation{
		OperationID: "get-upstream", Method: http.MethodGet, Path: "/prompts/{id}/upstream", Tags: tags,
		Summary:     "What was changed in the prompt that a fork comes from: word by word as JSON, or as diff -u writes it with Accept: text/plain; the author of the fork may",
		Description: "Compares the version that was forked, or last merged, with what that prompt holds now.",
		Errors:      []int{403, 404, 409},
		Responses: map[string]*huma.Response{"200": {
			Description: "What became of it", Content: map[string]*huma.MediaType{
				jsonType: {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Upstream](), true,
					"Upstream")},
				textType: {Schema: &huma.Schema{Type: huma.TypeString}, Example: "--- version 1\n+++ version 2\n"},
			},
		}},
	}, a.upstream)
	route(a, user, answers[Prompt](a, http.StatusOK, "The fork as it is now", huma.Operation{
		OperationID: "merge-upstream", Method: http.MethodPost, Path: "/prompts/{id}/upstream/merge", Tags: tags,
		DefaultStatus: http.StatusOK,
		Summary:       "Merge the changes of the prompt that a fork comes from into the fork, as a new version; for its author. If both changed the same lines, the answer says which, and nothing is changed",
		Description:   "Three versions are merged by line: the one that was forked, the fork's and the origin's.",
		Errors:        fails(badQuery, 403, 404, 409),
	}), a.mergeUpstream)
}

type forkInput struct {
	ByID
	Which
	Key string `header:"Idempotency-Key" pattern:"^[!-~]{1,128}$" patternDescription:"1 to 128 visible ASCII characters" doc:"Makes it safe to send the request again: the same key creates nothing further" example:"f3b1c2d4-0001"`
}

func (a *api) fork(ctx context.Context, c call, in *forkInput) (*createOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	want, _, err := in.wanted()
	if err != nil {
		return nil, err
	}
	v, isNew, err := a.Service.Fork(ctx, c.User, id, want, in.Key)
	if err != nil {
		return nil, err
	}
	return a.created(c, v, isNew), nil
}

type upstreamInput struct {
	ByID
	Accept string `header:"Accept" hidden:"true"`
}

func (a *api) upstream(ctx context.Context, c call, in *upstreamInput) (*compareOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	u, err := a.Service.Upstream(ctx, c.User, id)
	if err != nil {
		return nil, err
	}
	out := &compareOutput{Vary: "Accept"}
	if strings.HasPrefix(strings.TrimSpace(in.Accept), textType) {
		out.ContentType = textType + "; charset=utf-8"
		if u.Changed() {
			files, err := a.Service.CompareFiles(ctx, u.Origin.ID, u.Base, u.Now.ShownVersion)
			if err != nil {
				return nil, err
			}
			out.Body = []byte(prompt.UnifiedWith(u.Base, u.Now.ShownVersion, files))
		}
		return out, nil
	}
	body := Upstream{ID: string(u.Origin.ID), Version: u.Origin.Version, Changed: u.Changed(), Runs: []Run{}}
	if u.Now.ID != "" {
		now := a.encode(u.Now)
		body.Latest = u.Now.Version
		body.Title, body.AuthorID, body.AuthorName = now.Title, now.AuthorID, now.AuthorName
	}
	if u.Changed() {
		for _, r := range prompt.Words(u.Base.Transcript(), u.Now.ShownVersion.Transcript()) {
			body.Runs = append(body.Runs, Run{Op: string(r.Op), Text: r.Text})
		}
	}
	out.ContentType = jsonType
	out.Body, err = json.Marshal(body)
	return out, err
}

type mergeInput struct {
	ByID
	Take string `query:"take" enum:"mine,theirs" doc:"Take one content as it is: mine keeps mine and marks the other as merged, theirs takes the other; absent merges line by line"`
}

func (a *api) mergeUpstream(ctx context.Context, c call, in *mergeInput) (*changedOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	v, _, err := a.Service.MergeUpstream(ctx, c.User, id, library.Side(in.Take))
	if err != nil {
		return nil, err
	}
	return a.changed(c, v), nil
}
