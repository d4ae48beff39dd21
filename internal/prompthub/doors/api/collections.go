package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) collections() {
	tags := []string{"collections"}
	one := "/collections/{handle}/{slug}"
	route(a, reader, huma.Operation{
		OperationID: "list-collections", Method: http.MethodGet, Path: "/collections", Tags: tags,
		Summary: "The collections of an owner, by their slugs", Errors: fails(badQuery, 404),
		Description: "Mine, or those of another owner that I may see. At most 100.",
	}, a.listCollections)
	route(a, user, answers[Collection](a, http.StatusCreated, "The new collection", huma.Operation{
		OperationID: "create-collection", Method: http.MethodPost, Path: "/collections", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Make a collection of skills", Errors: fails(badBody, 404, 409),
		Description: "Any prompt that the owner may read and that includes no others, in order: at most 20, as agents are shown no more. An owner has at most 100 collections. A public one needs the scope or role that publishes.",
	}), a.createCollection)
	route(a, reader, huma.Operation{
		OperationID: "get-collection", Method: http.MethodGet, Path: one, Tags: tags,
		Summary: "A collection with its skills, as programs get them", Errors: []int{404},
		Description: "A skill that the caller may not see now is left out, as if it were not there. budget says what the list of these skills takes of an agent's context.",
	}, a.getCollection)
	route(a, user, answers[Collection](a, http.StatusOK, "The collection as it is now", huma.Operation{
		OperationID: "patch-collection", Method: http.MethodPatch, Path: one, Tags: tags,
		Summary: "Change some of a collection; its owner may", Errors: fails(badBody, 403, 404, 412, 428),
		Description: "Members that are absent stay as they are: items leaves those that are not shown in the collection, at their places, and notShown removes them. Of a collection that is public before or after, by those who publish.",
		RequestBody: &huma.RequestBody{
			Content: map[string]*huma.MediaType{mergeType: {Schema: &huma.Schema{Ref: schemas + "CollectionPatch"}}},
		},
	}), a.patchCollection)
	route(a, user, huma.Operation{
		OperationID: "delete-collection", Method: http.MethodDelete, Path: one, Tags: tags,
		Summary: "Delete a collection, again as often as you like; its owner may", Errors: []int{403, 404, 412},
		Description: "For good. Its skills stay.",
	}, a.deleteCollection)
}

// A CollectionHead is a collection without its skills.
type CollectionHead struct {
	AuthorID   string `json:"authorId" doc:"Names its owner, as in prompts" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	Handle     string `json:"handle,omitempty" doc:"Of its owner" example:"ann-lee"`
	Slug       string `json:"slug" doc:"Its name in addresses, for ever" example:"support"`
	Name       string `json:"name" doc:"For people" example:"Support"`
	About      string `json:"about" doc:"What it is for" example:"What we use to answer customers."`
	Visibility string `json:"visibility" enum:"private,public" doc:"private: its owner, or the members of the workspace that owns it" example:"public"`
	Version    int64  `json:"version" doc:"How often it was changed, its making included" example:"3"`
	CreatedAt  string `json:"createdAt" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
	UpdatedAt  string `json:"updatedAt" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
}

// A Collection is a collection as one caller sees it.
type Collection struct {
	CollectionHead
	Items    []CollectedSkill `json:"items" nullable:"false" doc:"In order"`
	NotShown []string         `json:"notShown,omitempty" doc:"To its owner: the ids of prompts that it has too and that are no skills now, as they were withdrawn or are not released, or another has their name" example:"[\"01JZ8Q4N2R6V0T3X5Y7B9D1F2G\"]"`
	Budget   Budget           `json:"budget" doc:"What they take of an agent's list of skills"`
}

// A CollectedSkill is a skill of a collection, in the version that programs get.
type CollectedSkill struct {
	ID          string `json:"id" doc:"Of the prompt" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	AuthorID    string `json:"authorId" doc:"As in Prompt" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	AuthorName  string `json:"authorName" doc:"As in Prompt" example:"Ann"`
	Slug        string `json:"slug" doc:"What agents call it" example:"reviews-code"`
	Title       string `json:"title" doc:"For people" example:"Act as a code reviewer"`
	Description string `json:"description" doc:"By which agents choose it" example:"Reviews code for defects."`
	Visibility  string `json:"visibility" enum:"private,public" doc:"Of the prompt" example:"public"`
	Version     int64  `json:"version" doc:"The one with the label production, or else the latest" example:"3"`
	Scripts     int    `json:"scripts,omitempty" doc:"How many of its files may be run" example:"1"`
	Characters  int    `json:"characters" doc:"What its line takes in the list of an agent" example:"53"`
	Cut         bool   `json:"cut,omitempty" doc:"Whether its description finds no room in that list" example:"true"`
}

// A Budget is what skills take of the list that an agent is shown.
type Budget struct {
	Characters int `json:"characters" doc:"Of all lines" example:"53"`
	Limit      int `json:"limit" doc:"That agents give the list; beyond it descriptions are dropped" example:"8000"`
	Cut        int `json:"cut" doc:"How many descriptions are dropped where an agent has no other skills, and used none yet" example:"0"`
}

// A CollectionList is all collections of an owner that a caller may see.
type CollectionList struct {
	Items []CollectionHead `json:"items" nullable:"false" doc:"By their slugs"`
}

// A NewCollection is what POST /collections takes.
type NewCollection struct {
	Slug       string   `json:"slug" doc:"1 to 64 of a-z, 0-9 and -, unique among the owner's collections" example:"support"`
	Workspace  string   `json:"workspace,omitempty" doc:"The handle of a workspace that will own it; without one, the caller" example:"billing"`
	Name       string   `json:"name,omitempty" doc:"For people, at most 100 UTF-16 code units; without one, the slug" example:"Support"`
	About      string   `json:"about,omitempty" doc:"What it is for: at most 1,000 UTF-16 code units" example:"What we use to answer customers."`
	Visibility string   `json:"visibility,omitempty" enum:"private,public" default:"private" doc:"As in Collection" example:"public"`
	Items      []string `json:"items,omitempty" doc:"The ids of its prompts, in order: at most 20" example:"[\"01JZ8Q4N2R6V0T3X5Y7B9D1F2G\"]"`
}

// A CollectionPatch is what PATCH of a collection takes.
type CollectionPatch struct {
	Name       optional[string]            `json:"name,omitzero" doc:"As in POST; null removes it" example:"Support"`
	About      optional[string]            `json:"about,omitzero" doc:"As in POST; null removes it" example:"What we use to answer customers."`
	Visibility optional[prompt.Visibility] `json:"visibility,omitzero" enum:"private,public" doc:"As in POST" example:"public"`
	Items      optional[[]string]          `json:"items,omitzero" nullable:"true" doc:"As in POST, in place of all that are shown; null removes them" example:"[\"01JZ8Q4N2R6V0T3X5Y7B9D1F2G\"]"`
	NotShown   optional[[]string]          `json:"notShown,omitzero" nullable:"true" doc:"Those to keep of the ones that are not shown; null removes them" example:"[\"01JZ8Q4N2R6V0T3X5Y7B9D1F2G\"]"`
}

// ids reads the ids of prompts. One that is none names a prompt that is not there.
func ids(list []string) []prompt.ID {
	all := make([]prompt.ID, len(list))
	for i, s := range list {
		if id, ok := prompt.ParseID(s); ok {
			all[i] = id
		} else {
			all[i] = prompt.ID(s)
		}
	}
	return all
}

func (d NewCollection) draft() prompt.CollectionDraft {
	return prompt.CollectionDraft{
		Name: d.Name, About: d.About, Visibility: prompt.Visibility(d.Visibility),
		Prompts: ids(d.Items),
	}
}

// change returns the change of a collection in which some prompts are not shown. They stay at their
// places where the patch does not say which to keep.
func (p CollectionPatch) change(notShown []prompt.ID) func(*prompt.CollectionDraft) {
	return func(d *prompt.CollectionDraft) {
		p.say(d)
		shown := ids(p.Items.Value)
		if !p.Items.Set {
			shown = slices.DeleteFunc(slices.Clone(d.Prompts), func(id prompt.ID) bool {
				return slices.Contains(notShown, id)
			})
		}
		for i, id := range d.Prompts {
			stays := slices.Contains(notShown, id) && (!p.NotShown.Set || slices.Contains(ids(p.NotShown.Value), id))
			if stays && !slices.Contains(shown, id) {
				shown = slices.Insert(shown, min(i, len(shown)), id)
			}
		}
		d.Prompts = shown
	}
}

func (p CollectionPatch) say(d *prompt.CollectionDraft) {
	library.Set(&d.Name, p.Name.pointer())
	library.Set(&d.About, p.About.pointer())
	library.Set(&d.Visibility, p.Visibility.pointer())
}

func encodeHead(c library.Collection) CollectionHead {
	return CollectionHead{
		AuthorID: c.By.Key, Handle: c.By.Handle, Slug: c.Slug, Name: c.Name, About: c.About,
		Visibility: string(c.Visibility), Version: c.Version,
		CreatedAt: httpjson.FormatTime(c.CreatedAt), UpdatedAt: httpjson.FormatTime(c.UpdatedAt),
	}
}

func (a *api) encodeCollection(c library.Collection) Collection {
	budget := c.Budget()
	all := Collection{
		CollectionHead: encodeHead(c), Items: make([]CollectedSkill, len(c.Skills)),
		Budget: Budget{Characters: budget.Characters, Limit: skill.BudgetCharacters, Cut: budget.Cut()},
	}
	for _, id := range c.NotShown() {
		all.NotShown = append(all.NotShown, string(id))
	}
	for i, v := range c.Skills {
		all.Items[i] = CollectedSkill{
			ID: string(v.ID), AuthorID: a.Service.AuthorKey(v.AuthorID), AuthorName: v.AuthorName,
			Slug: v.Slug, Title: v.Title,
			Description: skill.Head(v.Prompt, v.About(), v.Version).Description,
			Visibility:  string(v.Visibility), Version: max(v.Version, 1),
			Scripts: v.Files.Scripts(), Characters: budget.Skills[i].Characters, Cut: budget.Skills[i].Cut,
		}
	}
	return all
}

// collectionTag begins with the version, which If-Match compares, and changes with all that the
// caller sees.
func collectionTag(c Collection) string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // unreachable: texts and numbers cannot fail
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf(`"%d-%x"`, c.Version, sum[:8])
}

type collectionsInput struct {
	Owner string `query:"owner" default:"me" doc:"Whose: a handle, an authorId, or me" example:"ann-lee"`
}

type collectionsOutput struct {
	Body CollectionList
}

func (a *api) listCollections(ctx context.Context, c call, in *collectionsInput) (*collectionsOutput, error) {
	all, err := a.Service.Collections(ctx, c.User, cmp.Or(in.Owner, library.Me))
	out := &collectionsOutput{CollectionList{Items: make([]CollectionHead, len(all))}}
	for i, one := range all {
		out.Body.Items[i] = encodeHead(one)
	}
	return out, err
}

// ByCollection names a collection.
type ByCollection struct {
	Handle string `path:"handle" doc:"Of its owner: a handle, an authorId, or me" example:"ann-lee"`
	Slug   string `path:"slug" doc:"Its name in addresses" example:"support"`
}

type collectionOutput struct {
	ETag string `header:"ETag" doc:"Begins with the version" example:"\"3-9f86d081884c7d65\""`
	Body Collection
}

// A changedCollectionOutput is the answer to a change of a collection: a Collection or a Known.
type changedCollectionOutput struct {
	ETag string `header:"ETag" doc:"Begins with the version" example:"\"3-9f86d081884c7d65\""`
	Body any
}

// changedCollection returns how the caller is answered that changed a collection.
func (a *api) changedCollection(c call) func(library.Collection, error) (*changedCollectionOutput, error) {
	return func(now library.Collection, err error) (*changedCollectionOutput, error) {
		if err != nil {
			return nil, err
		}
		if !c.May(auth.ScopeRead) {
			return &changedCollectionOutput{fmt.Sprintf("%q", fmt.Sprint(now.Version)), Known{now.Slug, now.Version}},
				nil
		}
		whole := a.encodeCollection(now)
		return &changedCollectionOutput{collectionTag(whole), whole}, nil
	}
}

type newCollectionInput struct {
	Body NewCollection
}

type createdCollectionOutput struct {
	Location string `header:"Location" doc:"Where it is" example:"/api/v1/collections/ann-lee/support"`
	ETag     string `header:"ETag" doc:"Begins with the version" example:"\"1-9f86d081884c7d65\""`
	Body     any
}

func (a *api) createCollection(ctx context.Context, c call, in *newCollectionInput) (*createdCollectionOutput, error) {
	owner, err := a.ownerIn(ctx, c, in.Body.Workspace)
	if err != nil {
		return nil, err
	}
	made, err := a.Service.CreateCollection(ctx, c.User, owner, in.Body.Slug, in.Body.draft())
	out, err := a.changedCollection(c)(made, err)
	if err != nil {
		return nil, err
	}
	return &createdCollectionOutput{
		Prefix + "/collections/" + cmp.Or(made.By.Handle, made.By.Key) + "/" + made.Slug,
		out.ETag, out.Body,
	}, nil
}

func (a *api) getCollection(ctx context.Context, c call, in *ByCollection) (*collectionOutput, error) {
	found, err := a.Service.Collection(ctx, c.User, in.Handle, in.Slug)
	if err != nil {
		return nil, err
	}
	body := a.encodeCollection(found)
	return &collectionOutput{ETag: collectionTag(body), Body: body}, nil
}

type patchCollectionInput struct {
	ByCollection
	IfMatch string `header:"If-Match" doc:"The ETag of the collection that the change is based on, or *. Required: without it the answer is 428" example:"\"3-9f86d081884c7d65\""`
	Body    CollectionPatch
}

func (a *api) patchCollection(ctx context.Context, c call, in *patchCollectionInput) (*changedCollectionOutput, error) {
	if in.IfMatch == "" {
		if err := a.Service.MayEditCollection(ctx, c.User, in.Handle, in.Slug); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.PreconditionRequired,
			"send the ETag of the collection that your change is based on in If-Match")
	}
	change := in.Body.say
	if in.Body.Items.Set || in.Body.NotShown.Set {
		seen, err := a.Service.Collection(ctx, c.User, in.Handle, in.Slug)
		if err != nil {
			return nil, err
		}
		change = in.Body.change(seen.NotShown())
	}
	return a.changedCollection(c)(a.Service.EditCollection(ctx, c.User, in.Handle, in.Slug, match(in.IfMatch), change))
}

type deleteCollectionInput struct {
	ByCollection
	IfMatch string `header:"If-Match" default:"*" doc:"The ETag of the collection, which is then deleted only if it has not changed, or *" example:"\"3-9f86d081884c7d65\""`
}

func (a *api) deleteCollection(ctx context.Context, c call, in *deleteCollectionInput) (*struct{}, error) {
	return nil, a.Service.DeleteCollection(ctx, c.User, in.Handle, in.Slug, match(in.IfMatch))
}
