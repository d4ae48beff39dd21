package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) labels() {
	tags := []string{"versions"}
	route(a, reader, huma.Operation{
		OperationID: "list-labels", Method: http.MethodGet, Path: "/prompts/{id}/labels", Tags: tags,
		Summary: "The labels of a prompt and their versions", Errors: []int{404},
		Description: "Labels are names for versions, such as production and staging, which programs ask for. latest is that of the newest version, and is never moved by hand.",
	}, a.listLabels)
	route(a, user, huma.Operation{
		OperationID: "set-label", Method: http.MethodPut, Path: "/prompts/{id}/labels/{label}", Tags: tags,
		Summary: "Put a label on a version; its author may", Errors: fails(badBody, 403, 404, 409),
		Description: "Creates the label or moves it. Programs that ask for the label get the version from now on; nothing else changes.",
	}, a.setLabel)
	route(a, user, huma.Operation{
		OperationID: "delete-label", Method: http.MethodDelete, Path: "/prompts/{id}/labels/{label}", Tags: tags,
		Summary: "Take a label away; its author may", Errors: []int{403, 404, 409, 422},
		Description: "Its history stays, and the move can be undone. While another prompt includes this one by the label the answer is 409, which names it.",
	}, a.deleteLabel)
	route(a, reader, huma.Operation{
		OperationID: "get-label-history", Method: http.MethodGet, Path: "/prompts/{id}/labels/{label}/history",
		Tags:    tags,
		Summary: "What became of a label, the last move first", Errors: fails(badQuery, 404),
		Description: "Each move: the user, the time, both versions, and whether it was undone.",
	}, a.labelHistory)
	route(a, user, huma.Operation{
		OperationID: "undo-label", Method: http.MethodPost, Path: "/prompts/{id}/labels/{label}/undo", Tags: tags,
		DefaultStatus: http.StatusNoContent,
		Summary:       "Take back the last move of a label that was not undone yet; its author may",
		Errors:        []int{403, 404, 409},
		Description:   "Moves the label back to where it was before, or takes it away where it was nowhere. Where there is nothing to undo, or another prompt includes this one by the label that would be gone, the answer is 409.",
	}, a.undoLabel)
}

// ALabel names a label of a prompt.
type ALabel struct {
	ByID
	Label string `path:"label" doc:"A label: 1 to 36 of a-z 0-9 _ . -" example:"production"`
}

type labelsOutput struct {
	Body LabelList
}

func sortedLabels(labels map[string]int64) []string { return slices.Sorted(maps.Keys(labels)) }

func (a *api) listLabels(ctx context.Context, c call, in *ByID) (*labelsOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	labels, latest, err := a.Service.Labels(ctx, c.User, id)
	if err != nil {
		return nil, err
	}
	out := &labelsOutput{LabelList{Items: []Label{{Label: prompt.Latest, Version: latest}}}}
	for _, l := range sortedLabels(labels) {
		out.Body.Items = append(out.Body.Items, Label{Label: l, Version: labels[l]})
	}
	return out, nil
}

type labelInput struct {
	ALabel
	Body LabelTarget
}

type labelOutput struct {
	Body Label
}

func (a *api) setLabel(ctx context.Context, c call, in *labelInput) (*labelOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	if err := a.Service.SetLabel(ctx, c.User, id, in.Label, in.Body.Version); err != nil {
		return nil, err
	}
	return &labelOutput{Label{Label: in.Label, Version: in.Body.Version}}, nil
}

func (a *api) deleteLabel(ctx context.Context, c call, in *ALabel) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.SetLabel(ctx, c.User, id, in.Label, 0)
}

type undoInput struct {
	ALabel
	Key string `header:"Idempotency-Key" pattern:"^[!-~]{1,128}$" patternDescription:"1 to 128 visible ASCII characters" doc:"Makes it safe to send the request again: the same key takes back one move; it is known while that move is among the 100 newest of the prompt" example:"f3b1c2d4-0001"`
}

func (a *api) undoLabel(ctx context.Context, c call, in *undoInput) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.UndoLabel(ctx, c.User, id, in.Label, in.Key)
}

type movesInput struct {
	ALabel
	Paging
}

type movesOutput struct {
	Link string `header:"Link" doc:"The next page, as a relative reference with rel=next; absent at the end"`
	Body MoveList
}

func (a *api) labelHistory(ctx context.Context, c call, in *movesInput) (*movesOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	h, err := a.Service.LabelHistory(ctx, c.User, id, in.Label, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &movesOutput{
		Link: nextLink(c, h.Next),
		Body: MoveList{Items: make([]Move, len(h.Items)), NextCursor: h.Next},
	}
	for i, m := range h.Items {
		out.Body.Items[i] = Move{
			From: m.From, To: m.To, By: a.Service.KeyOf(h.Owner, m.By),
			At: httpjson.FormatTime(m.At),
		}
		if m.Undone != (prompt.Change{}) {
			out.Body.Items[i].UndoneBy = a.Service.KeyOf(h.Owner, m.Undone.By)
			out.Body.Items[i].UndoneAt = m.Undone.At.UTC().Format(time.RFC3339Nano)
		}
	}
	return out, nil
}
