package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

func (a *api) versions() {
	tags := []string{"versions"}
	route(a, reader, huma.Operation{
		OperationID: "list-versions", Method: http.MethodGet, Path: "/prompts/{id}/versions", Tags: tags,
		Summary: "The versions of a prompt, the newest first, without their texts", Errors: fails(badQuery, 404),
		Description: "A version is made by every change of the content, and none by changes of title, tags, visibility or votes.",
	}, a.listVersions)
	route(a, reader, huma.Operation{
		OperationID: "get-version", Method: http.MethodGet, Path: "/prompts/{id}/versions/{version}", Tags: tags,
		Summary: "A version of a prompt", Errors: []int{404, 422},
		Description: "With its text or messages, config, variables and labels. Versions never change.",
	}, a.getVersion)
	route(a, user, huma.Operation{
		OperationID: "list-uses", Method: http.MethodGet, Path: "/prompts/{id}/used-by", Tags: tags,
		Summary: "Which of my prompts include one of mine", Errors: []int{403, 404},
		Description: "Each with the version that does. A prompt that others include cannot be deleted before they stop.",
	}, a.listUses)
	route(a, user, huma.Operation{
		OperationID: "delete-version", Method: http.MethodDelete, Path: "/prompts/{id}/versions/{version}", Tags: tags,
		Summary:     "Delete a version and take its labels away; its number is used for good; its author may",
		Errors:      []int{403, 404, 409, 422},
		Description: "Where the prompt holds it, it gets the content of the highest that is left; the only version stays: delete the prompt instead.",
	}, a.deleteVersion)
	route(a, user, huma.Operation{
		OperationID: "list-fetches", Method: http.MethodGet, Path: "/prompts/{id}/fetches", Tags: tags,
		Summary: "Which version each access token fetched last, in the last 30 days; its author may know, or administrators of its workspace", Errors: []int{403, 404},
		Description: "A fetch is an answer to a program: a render, a text, a file, an archive, a version or label by its address, and the same through other doors. Tokens of others have no name here.",
	}, a.listFetches)
	route(a, user, huma.Operation{
		OperationID: "recall-version", Method: http.MethodPost, Path: "/prompts/{id}/versions/{version}/recall",
		Tags:    tags,
		Summary: "Withdraw a version from programs; its author may", Errors: fails(badBody, 403, 404, 409),
		Description: "Its labels go back to the versions that they were on before, and it gets none again. Without such a version for production, programs get 404. The version itself is 410 with the reason; the history shows it.",
	}, a.recallVersion)
	route(a, user, huma.Operation{
		OperationID: "reinstate-version", Method: http.MethodDelete, Path: "/prompts/{id}/versions/{version}/recall",
		Tags:    tags,
		Summary: "Take the recall of a version back; its author may", Errors: []int{403, 404, 422},
		Description: "Labels that are still where the recall put them go back to the version.",
	}, a.reinstateVersion)
	route(a, user, answers[Prompt](a, http.StatusOK, "The prompt as it is now", huma.Operation{
		OperationID: "restore-version", Method: http.MethodPost, Path: "/prompts/{id}/versions/{version}/restore",
		Tags: tags, DefaultStatus: http.StatusOK,
		Summary: "Make a new version with the content of an old one; its author may", Errors: []int{403, 404, 422},
		Description: "The history keeps all versions between.",
	}), a.restoreVersion)
	route(a, reader, huma.Operation{
		OperationID: "compare-versions", Method: http.MethodGet, Path: "/prompts/{id}/versions/{version}/diff/{other}",
		Tags:    tags,
		Summary: "What differs between two versions: word by word as JSON, or as diff -u writes it with Accept: text/plain", Errors: []int{404, 422},
		Description: "The first number is that of the old one, the second that of the new one. Of files the lines of texts of at most 1 MiB each and 4 MiB together are compared; others are said to differ.",
		Responses: map[string]*huma.Response{"200": {
			Description: "The difference", Content: map[string]*huma.MediaType{
				jsonType: {Schema: a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Diff](), true, "Diff")},
				textType: {Schema: &huma.Schema{Type: huma.TypeString}, Example: "--- version 1\n+++ version 2\n"},
			},
		}},
	}, a.compareVersions)
}

// Which asks for one version of a prompt.
type Which struct {
	Version int64  `query:"version" minimum:"1" maximum:"9999999998" doc:"The prompt as it was in this version"`
	Label   string `query:"label" doc:"The prompt as it is in the version with this label; latest is what it holds now"`
}

// wanted returns the version, and false where none is asked for.
func (in Which) wanted() (library.WantedVersion, bool, error) {
	if in.Version > 0 && in.Label != "" {
		return library.WantedVersion{}, false,
			openapi.Invalid("query.label", "name a version or a label, not both", in.Label)
	}
	return library.WantedVersion{Number: in.Version, Label: in.Label}, in.Version > 0 || in.Label != "", nil
}

// AVersion names a version of a prompt.
type AVersion struct {
	ByID
	Version int64 `path:"version" minimum:"1" maximum:"9999999998" doc:"The number of a version" example:"3"`
}

type versionsInput struct {
	ByID
	Paging
}

type versionsOutput struct {
	Link string `header:"Link" doc:"The next page, as a relative reference with rel=next; absent at the end"`
	Body VersionList
}

func (a *api) listVersions(ctx context.Context, c call, in *versionsInput) (*versionsOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	h, err := a.Service.Versions(ctx, c.User, id, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &versionsOutput{
		Link: nextLink(c, h.Next),
		Body: VersionList{Items: make([]Version, len(h.Items)), NextCursor: h.Next},
	}
	for i, v := range h.Items {
		out.Body.Items[i] = a.encodeVersion(h.AuthorID, v)
		out.Body.Items[i].Labels = labelsOn(h.Labels, v.Number, h.Latest)
	}
	return out, nil
}

func (a *api) encodeVersion(owner prompt.UserID, v prompt.Version) Version {
	kind, list, config, declared := encodeContent(v.Content)
	if v.Content.Words() == "" { // of a list
		kind = ""
	}
	var description *string
	if kind != "" && !v.Undescribed {
		description = &v.Description
	}
	var recall *Recall
	if r := v.Recall; r != nil {
		recall = &Recall{Reason: r.Reason, By: a.Service.KeyOf(owner, r.By), At: httpjson.FormatTime(r.At)}
	}
	madeAt := ""
	if !v.Made.At.IsZero() {
		madeAt = httpjson.FormatTime(v.Made.At)
	}
	return Version{
		MadeBy: v.Made.By, MadeAt: madeAt,
		Recall: recall, Description: description, FileHash: v.FileHash,
		Kind: kind, Messages: list, Config: config, Variables: declared,
		Version: v.Number, Text: v.Text, Message: v.Message, CreatedBy: a.Service.KeyOf(owner, v.By),
		CreatedAt: httpjson.FormatTime(v.At), Hash: v.Hash, Labels: []string{},
	}
}

// labelsOn returns the labels of a version, latest first.
func labelsOn(labels map[string]int64, n, latest int64) []string {
	list := []string{}
	if n == latest {
		list = append(list, prompt.Latest)
	}
	for _, l := range sortedLabels(labels) {
		if labels[l] == n {
			list = append(list, l)
		}
	}
	return list
}

type versionOutput struct {
	Body Version
}

func (a *api) getVersion(ctx context.Context, c call, in *AVersion) (*versionOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	at, _, err := a.Service.Compare(ctx, c.User, id, in.Version, in.Version)
	if err != nil {
		return nil, err
	}
	v := at.ShownVersion
	labels, latest, err := a.Service.Labels(ctx, c.User, id)
	if err != nil {
		return nil, err
	}
	body := a.encodeVersion(at.AuthorID, v)
	body.Labels = labelsOn(labels, v.Number, latest)
	return &versionOutput{body}, nil
}

type usesOutput struct {
	Body UseList
}

func (a *api) listUses(ctx context.Context, c call, in *ByID) (*usesOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	uses, more, err := a.Service.UsedBy(ctx, c.User, id)
	if err != nil {
		return nil, err
	}
	out := &usesOutput{UseList{Items: make([]Use, len(uses)), More: more}}
	for i, u := range uses {
		out.Body.Items[i] = Use{ID: string(u.ID), Name: u.Name, Title: u.Title, Version: u.Version}
		for _, include := range u.Includes {
			out.Body.Items[i].Includes = append(out.Body.Items[i].Includes,
				Included{Version: include.Version, Label: include.Label})
		}
	}
	return out, nil
}

func (a *api) deleteVersion(ctx context.Context, c call, in *AVersion) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.DeleteVersion(ctx, c.User, id, in.Version)
}

type fetchesOutput struct {
	Body FetchList
}

func (a *api) listFetches(ctx context.Context, c call, in *ByID) (*fetchesOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	f, err := a.Service.Fetches(ctx, c.User, id)
	if err != nil {
		return nil, err
	}
	out := &fetchesOutput{FetchList{Items: make([]Fetch, len(f.ByToken)), WithoutToken: f.Without, More: f.More}}
	for i, x := range f.ByToken {
		out.Body.Items[i] = Fetch{Token: x.Token, Version: x.Version, On: x.On.Format(time.DateOnly)}
	}
	return out, nil
}

type recallInput struct {
	AVersion
	Body Reason
}

func (a *api) recallVersion(ctx context.Context, c call, in *recallInput) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.Recall(ctx, c.User, id, in.Version, in.Body.Reason)
}

func (a *api) reinstateVersion(ctx context.Context, c call, in *AVersion) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.Reinstate(ctx, c.User, id, in.Version)
}

func (a *api) restoreVersion(ctx context.Context, c call, in *AVersion) (*changedOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	v, _, err := a.Service.RestoreVersion(ctx, c.User, id, in.Version)
	if err != nil {
		return nil, err
	}
	return a.changed(c, v), nil
}

type compareInput struct {
	AVersion
	Other  int64  `path:"other" minimum:"1" maximum:"9999999998" doc:"The number of the version to compare it with" example:"4"`
	Accept string `header:"Accept" hidden:"true"`
}

type compareOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Vary        string `header:"Vary" hidden:"true"`
	Body        []byte
}

func (a *api) compareVersions(ctx context.Context, c call, in *compareInput) (*compareOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	left, right, err := a.Service.Compare(ctx, c.User, id, in.Version, in.Other)
	if err != nil {
		return nil, err
	}
	files, err := transfer.CompareFiles(ctx, a.Service, left, right)
	if err != nil {
		return nil, err
	}
	one, other := left.ShownVersion, right.ShownVersion
	folder, err := a.Service.CompareFiles(ctx, id, one, other)
	if err != nil {
		return nil, err
	}
	file := prompt.UnifiedFiles(one, other, files.Name, files.From, files.To)
	out := &compareOutput{Vary: "Accept"}
	if strings.HasPrefix(strings.TrimSpace(in.Accept), textType) {
		out.ContentType, out.Body = textType+"; charset=utf-8", []byte(prompt.UnifiedWith(one, other, folder)+file)
		return out, nil
	}
	d := Diff{From: one.Number, To: other.Number, File: file, Runs: []Run{}, Files: encodeFileDiffs(folder)}
	if from, to := prompt.Descriptions(one, other); from != to {
		d.Description = &DescriptionsDiff{from, to}
	}
	runs := prompt.Words(one.Transcript(), other.Transcript())
	d.Runs = make([]Run, 0, len(runs))
	for _, r := range runs {
		d.Runs = append(d.Runs, Run{Op: string(r.Op), Text: r.Text})
	}
	out.ContentType = jsonType
	out.Body, err = json.Marshal(d)
	return out, err
}
