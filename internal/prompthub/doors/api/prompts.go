package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

// The statuses of errors that routes share.
var (
	badQuery = []int{http.StatusBadRequest, http.StatusUnprocessableEntity}
	badBody  = []int{
		http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
	}
)

func fails(common []int, more ...int) []int { return append(append([]int{}, common...), more...) }

func (a *api) prompts() {
	route(a, reader, huma.Operation{
		OperationID: "list-prompts", Method: http.MethodGet, Path: "/prompts", Tags: []string{"prompts"},
		Summary: "Public prompts, by tags and words", Errors: badQuery,
		Description: "Without tags and words, all of them. Tags must all match. Words are wanted: by relevance a prompt needs a fifth of what they tell together, and the more it has the better; lacks names what it has not. In the other orders it needs all that any prompt has, and with in=title all of those in the title, each as a word or the beginning of one. q also takes phrases, words to leave out and qualifiers, which must match. A word outside of phrases also finds its other forms (plurals and other endings, other accents, joined or split words), the last one words of titles that begin with it, and one that no prompt has in any form words of titles that begin with it or else the known words that are nearest to it; understood tells. A page may hold fewer than limit, even none, though there are more: go on while there is a nextCursor. A walk along the cursors sees each prompt once while its place stays as it is.",
	}, a.search)
	route(a, user, takesZIP(answers[Prompt](a, http.StatusOK,
		"The prompt that the same Idempotency-Key and body created before",
		answers[Prompt](a, http.StatusCreated, "The new prompt", huma.Operation{
			OperationID: "create-prompt", Method: http.MethodPost, Path: "/prompts", Tags: []string{"prompts"},
			DefaultStatus: http.StatusCreated, MaxBodyBytes: anyBody,
			Summary: "Store a new prompt", Errors: fails(badBody, 404, 409),
			Description: "Private unless visibility says otherwise. Send an Idempotency-Key where a request may have to be sent again: the same key with the same body creates nothing further. 404 is of a workspace of which the caller is no member. " + filesDoc,
		}))), a.create)
	route(a, reader, huma.Operation{
		OperationID: "get-prompt", Method: http.MethodGet, Path: "/prompts/{id}", Tags: []string{"prompts"},
		Summary: "A prompt, as it is or in one of its versions", Errors: []int{404, 410, 422},
		Description: "What the prompt holds now, or with version or label another of its versions. A prompt that the caller may not see is answered as one that is not there.",
	}, a.get)
	route(a, user, answers[Prompt](a, http.StatusOK, "The prompt as it is now", huma.Operation{
		OperationID: "replace-prompt", Method: http.MethodPut, Path: "/prompts/{id}", Tags: []string{"prompts"},
		Summary: "Write a prompt anew; its author may", Errors: fails(badBody, 403, 404, 409, 412, 428),
		Description: "Members that are absent become empty, but the name, which stays. A change of the content makes a new version. If-Match as with PATCH.",
	}), a.replace)
	route(a, user, answers[Prompt](a, http.StatusOK, "The prompt as it is now", huma.Operation{
		OperationID: "patch-prompt", Method: http.MethodPatch, Path: "/prompts/{id}",
		Tags: []string{"prompts"}, MaxBodyBytes: anyBody,
		Summary:     "Change some of a prompt by a JSON merge patch; its author may",
		Errors:      fails(badBody, 403, 404, 409, 412, 428),
		Description: "Members that are absent stay as they are, null removes what may be empty. A change of the content makes a new version. If-Match keeps two editors from undoing each other's work: where the prompt was changed since, the answer is 412 and holds the current one.",
		RequestBody: &huma.RequestBody{
			Content: map[string]*huma.MediaType{mergeType: {Schema: &huma.Schema{Ref: schemas + "PromptPatch"}}},
		},
	}), a.patch)
	route(a, user, huma.Operation{
		OperationID: "delete-prompt", Method: http.MethodDelete, Path: "/prompts/{id}", Tags: []string{"prompts"},
		Summary: "Delete a prompt, again as often as you like; its author may, and can restore it for 30 days. One that others include is not deleted: the answer names them", Errors: []int{403, 404, 409, 412},
		Description: "It leaves every public list before the answer is sent, and is purged with its versions and votes after 30 days.",
	}, a.delete)
	route(a, user, answers[Prompt](a, http.StatusOK, "The prompt as it is now", huma.Operation{
		OperationID: "restore-prompt", Method: http.MethodPost, Path: "/prompts/{id}/restore",
		Tags: []string{"prompts"}, DefaultStatus: http.StatusOK,
		Summary:     "Undo the deletion of a prompt; its author may. One whose name was taken meanwhile gets another",
		Errors:      []int{403, 404},
		Description: "It has its versions, labels and votes again, and its places in lists where it was public.",
	}), a.restore)
}

// An Order is the name of an order of public prompts.
type Order string

// Schema lists the orders, and says what comes first in each.
func (Order) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	s.Description = "The order; without one relevance if q has words, else newest. Among equals, newer first."
	for _, o := range library.Orders() {
		s.Enum = append(s.Enum, string(o.Order))
		if o.Doc != "" {
			s.Description += " " + string(o.Order) + ": " + o.Doc + "."
		}
	}
	s.Description += " GET /prompts/{id}/rank explains a place"
	s.PrecomputeMessages()
	return s
}

type searchInput struct {
	Sort     Order  `query:"sort"`
	Scope    string `query:"scope" enum:"public,mine,all" default:"public" doc:"What is searched: public prompts; the caller's own, private ones too; or all: both, and those of the workspaces of which the caller is a member, of more than ten of the ten that were made last. An order of votes is one of public prompts alone"`
	Verbatim bool   `query:"verbatim" doc:"Whether the words of q count as they are alone: not in other forms (plurals, other accents, joined or split), and not as known ones in place of a word that no prompt has" example:"true"`
	Filter
	Fields
	Paging
}

func (a *api) search(ctx context.Context, c call, in *searchInput) (*foundOutput, error) {
	tags, words, err := in.wanted()
	if err != nil {
		return nil, err
	}
	if err := in.check(in.Paging); err != nil {
		return nil, err
	}
	return a.found(ctx, c, in.Fields, in.Limit, func(limit int) (library.Page, error) {
		return a.Service.Search(ctx, c.User, library.Search{
			Order: library.Order(in.Sort), Tags: tags, Words: words, Titles: in.titles(),
			Scope: library.Scope(in.Scope), Verbatim: in.Verbatim, Limit: limit, Cursor: in.Cursor,
		})
	})
}

type createInput struct {
	Key string `header:"Idempotency-Key" pattern:"^[!-~]{1,128}$" patternDescription:"1 to 128 visible ASCII characters" doc:"Makes it safe to send the request again: the same key with the same body creates nothing further" example:"f3b1c2d4-0001"`
	Zipped
	Body NewPrompt
}

type createOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the prompt is" example:"/api/v1/prompts/01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	ETag     string `header:"ETag" doc:"Revision, likes, dislikes and the caller's vote; the revision alone to a token without the scope read" example:"\"1-0-0-n\""`
	Body     any
}

func (a *api) create(ctx context.Context, c call, in *createInput) (*createOutput, error) {
	owner, err := a.ownerIn(ctx, c, in.Body.Workspace)
	if err != nil {
		return nil, err
	}
	d, err := library.WithFiles(PromptDraft{in.Body.Written, in.Body.Visibility}.draft(), sent(in.Body.Files), nil)
	if err != nil {
		return nil, err
	}
	v, isNew, err := a.Service.Create(ctx, owner, d, in.Key)
	if err != nil {
		return nil, err
	}
	out := a.created(c, v, isNew)
	out.Body = tellLeftOut(ctx, out.Body)
	return out, nil
}

func (a *api) created(c call, v library.View, isNew bool) *createOutput {
	status := http.StatusCreated
	if !isNew {
		status = http.StatusOK
	}
	return &createOutput{
		Status: status, Location: Prefix + "/prompts/" + string(v.ID),
		ETag: changedTag(c, v), Body: a.told(c, v),
	}
}

// source returns the file as it must be kept; nil for none, and for one that cannot be.
func (s *Source) source() *prompt.Source {
	if s == nil {
		return nil
	}
	made := &prompt.Source{Format: string(s.Format), File: s.File, Bytes: s.Data, Syntax: s.Syntax}
	if !format.Kept(made) {
		return nil
	}
	return format.Made(made)
}

// takes reports whether a file must become a version of a prompt, be it that this says the same. Of
// a prompt that the caller may not see the change itself tells.
func (a *api) takes(ctx context.Context, c call, id prompt.ID, made *prompt.Source) (bool, error) {
	if made == nil {
		return false, nil
	}
	v, err := a.Service.Get(ctx, c.User, id)
	if err != nil || !v.IsOwn() {
		return false, nil //nolint:nilerr // as told
	}
	takes, _, err := transfer.Takes(ctx, a.Service, v, *made)
	return takes, err
}

func (a *api) output(v library.View) *promptOutput {
	return &promptOutput{ETag: etag(v), Body: a.encode(v)}
}

type getInput struct {
	ByID
	Which
}

func (a *api) get(ctx context.Context, c call, in *getInput) (*promptOutput, error) {
	v, err := a.read(ctx, c, in)
	if err != nil {
		return nil, err
	}
	return a.output(v), nil
}

// read returns a prompt, as it is or in the version that is asked for.
func (a *api) read(ctx context.Context, c call, in *getInput) (library.View, error) {
	id, err := in.prompt()
	if err != nil {
		return library.View{}, err
	}
	want, one, err := in.wanted()
	switch {
	case err != nil:
		return library.View{}, err
	case one:
		v, err := a.Service.GetVersion(ctx, c.User, id, want)
		if err == nil {
			a.Service.Fetched(ctx, c.User, v)
		}
		return v, err
	}
	return a.Service.Get(ctx, c.User, id)
}

// based returns the prompt of a change that names the version that it is based on. Of one that
// names none it is told first that there is no such prompt, where that is so.
func (a *api) based(ctx context.Context, c call, by ByID, m Matching) (prompt.ID, error) {
	id, err := by.prompt()
	if err != nil || m.IfMatch != "" {
		return id, err
	}
	if _, err := a.Service.Get(ctx, c.User, id); err != nil {
		return "", err
	}
	return "", fault.New(fault.PreconditionRequired,
		"send the ETag of the prompt that your change is based on in If-Match")
}

type replaceInput struct {
	ByID
	Matching
	Body PromptDraft
}

func (a *api) replace(ctx context.Context, c call, in *replaceInput) (*changedOutput, error) {
	id, err := a.based(ctx, c, in.ByID, in.Matching)
	if err != nil {
		return nil, err
	}
	d := in.Body.draft()
	if d.Anew, err = a.takes(ctx, c, id, d.Source); err != nil {
		return nil, err
	}
	v, err := a.Service.Replace(ctx, c.User, id, match(in.IfMatch), d)
	if err != nil {
		return nil, err
	}
	return a.changed(c, v), nil
}

type patchInput struct {
	ByID
	Matching
	Body PromptPatch
}

func (a *api) patch(ctx context.Context, c call, in *patchInput) (*changedOutput, error) {
	id, err := a.based(ctx, c, in.ByID, in.Matching)
	if err != nil {
		return nil, err
	}
	takes, err := a.takes(ctx, c, id, in.Body.Source.source())
	if err != nil {
		return nil, err
	}
	v, err := a.Service.PatchWithFiles(ctx, c.User, id, match(in.IfMatch), sent(in.Body.Files), func(d *prompt.Draft) {
		in.Body.change(d)
		d.Anew = takes
	})
	if err != nil {
		return nil, err
	}
	return a.changed(c, v), nil
}

type deleteInput struct {
	ByID
	IfMatch string `header:"If-Match" default:"*" doc:"The ETag of the prompt, which is then deleted only if it has not changed, or *. Only the revision in it is compared" example:"\"3-12-2-l\""`
}

func (a *api) delete(ctx context.Context, c call, in *deleteInput) (*struct{}, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	return nil, a.Service.Delete(ctx, c.User, id, match(in.IfMatch))
}

func (a *api) restore(ctx context.Context, c call, in *ByID) (*changedOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	v, former, err := a.Service.Restore(ctx, c.User, id)
	if err != nil {
		return nil, err
	}
	p := a.encode(v)
	p.FormerName = former
	return &changedOutput{ETag: changedTag(c, v), Body: toldOf(c, p, Known{p.ID, p.Revision})}, nil
}
