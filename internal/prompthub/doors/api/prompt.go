package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// This file has what a prompt looks like in requests and answers, and the ways between that and the
// domain.

// A Prompt is a prompt as one caller sees it.
type Prompt struct {
	ID          string          `json:"id" doc:"ULID, upper case" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	AuthorID    string          `json:"authorId" doc:"Names the author: the same in all prompts of one author, and no id of a directory. GET /me tells one's own" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	AuthorName  string          `json:"authorName" doc:"Display name of the author when the prompt was created" example:"Ann"`
	Name        string          `json:"name,omitempty" doc:"What programs call the prompt: unique among its author's" example:"reviews/code"`
	Slug        string          `json:"slug,omitempty" doc:"The name as a URL and a file can hold it: unique among its author's slugs and names; it stays when the name changes" example:"reviews-code"`
	Title       string          `json:"title" doc:"Trimmed" example:"Act as a code reviewer"`
	Description string          `json:"description" doc:"What the prompt is for; the first sentence of the text where its author wrote nothing. Lists have the first 160 UTF-16 code units" example:"Reviews code for defects."`
	Version     int64           `json:"version" doc:"The number of the version: 1, 2, … without reuse; it grows when the content or the description changes" example:"3"`
	Production  int64           `json:"production,omitempty" doc:"The version with the label production, which programs get; in lists where it is another than version, and up to seconds old" example:"2"`
	FormerName  string          `json:"formerName,omitempty" doc:"In the answer to restore alone: the name that it had, which another prompt has taken" example:"reviews/code"`
	Loss        []string        `json:"loss,omitempty" nullable:"false" doc:"In the answer to a copy alone: what it has not" example:"[\"labels (production moves by a proposal alone)\"]"`
	Message     string          `json:"message,omitempty" doc:"Why the content was changed; absent in lists" example:"Names the language first"`
	Characters  int             `json:"characters,omitempty" doc:"With fields=skill: what the line of the version for programs takes in an agent's list of skills" example:"53"`
	Excerpt     string          `json:"excerpt,omitempty" doc:"How the text begins, in one line; in lists" example:"I want you to act as a code reviewer."`
	FoundIn     string          `json:"foundIn,omitempty" enum:"title,text" doc:"In a search of texts: text where one of the words at least is in the text alone" example:"text"`
	Lacks       []string        `json:"lacks,omitempty" nullable:"false" doc:"In a search for words: those that the prompt has in no form" example:"[\"nurse\"]"`
	Snippet     string          `json:"snippet,omitempty" doc:"With foundIn text: the part of the text in which a word was found, in one line" example:"…explain what a regex does, piece by piece…"`
	Text        string          `json:"text,omitempty" doc:"The prompt itself, byte for byte as its author sent it; absent in lists" example:"I want you to act as a code reviewer."`
	Kind        string          `json:"kind,omitempty" enum:"text,chat" doc:"Whether it has a text or messages" example:"text"`
	Messages    []Message       `json:"messages,omitempty" doc:"Of a chat; absent in lists" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config      json.RawMessage `json:"config,omitempty" doc:"Any JSON for programs; absent in lists" example:"{\"model\":\"small\"}"`
	Variables   []Variable      `json:"variables,omitempty" doc:"Declared variables; absent in lists" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	Tags        []string        `json:"tags" nullable:"false" doc:"In the author's order" example:"[\"development\",\"code-review\"]"`
	OwnTags     []string        `json:"ownTags,omitempty" doc:"Tags outside the catalog: the author's own words. Absent in lists of public prompts" example:"[\"kitchen; later\"]"`
	Visibility  string          `json:"visibility" enum:"private,public" doc:"private: only its author; public: everyone who may read" example:"public"`
	CreatedAt   string          `json:"createdAt" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
	UpdatedAt   string          `json:"updatedAt" format:"date-time" doc:"Of the last edit; votes leave it alone" example:"2026-03-04T05:06:07.891Z"`
	Likes       int32           `json:"likes" doc:"Exact in a prompt; in lists up to seconds old" example:"12"`
	Dislikes    int32           `json:"dislikes" doc:"Like likes" example:"2"`
	Score       int32           `json:"score" doc:"likes - dislikes" example:"10"`
	Revision    int64           `json:"revision,omitempty" doc:"One more with every edit; absent in lists of other authors' prompts" example:"3"`
	Origin      *Origin         `json:"origin,omitempty" doc:"What a fork comes from; absent in lists"`
	MyVote      string          `json:"myVote" enum:"like,dislike,none" doc:"The caller's vote" example:"like"`
	Files       *FilesSummary   `json:"files,omitempty" doc:"What files it has beyond a text; absent for none, and in lists"`
	DeletedAt   string          `json:"deletedAt,omitempty" format:"date-time" doc:"In lists of deleted prompts" example:"2026-03-05T00:00:00.000Z"`
	PurgeAt     string          `json:"purgeAt,omitempty" format:"date-time" doc:"Until when a deleted prompt can be restored" example:"2026-04-04T00:00:00.000Z"`
	Hidden      *Hidden         `json:"hidden,omitempty" doc:"That a moderator has hidden the prompt: for its author and for moderators"`
}

// A NewPrompt is what POST /prompts takes.
type NewPrompt struct {
	Written
	Files      []SentFile `json:"files,omitempty" doc:"The files of a skill, as PUT /prompts/{id}/files takes them. With a SKILL.md among them, name, title, text and description may be absent: they are those that it says"`
	Workspace  string     `json:"workspace,omitempty" doc:"The handle of a workspace that will own the prompt, of which the caller is author at least; without one, the caller owns it" example:"billing"`
	Visibility string     `json:"visibility,omitempty" enum:"private,public" default:"private" doc:"private: only its author; public: everyone who may read" example:"public"`
}

// A PromptDraft is what PUT /prompts/{id} takes: all of what an author writes.
type PromptDraft struct {
	Written
	Visibility string `json:"visibility" enum:"private,public" doc:"private: only its author; public: everyone who may read" example:"public"`
}

// Written has the members that an author writes, without the visibility, which has a default in a
// new prompt alone.
type Written struct {
	Name        string          `json:"name,omitempty" doc:"What programs call the prompt: 1 to 255 UTF-16 code units, trimmed, unique among your names and slugs; / parts it into folders; no |, no HTML tag, no / at an end or twice, not new, metrics or prompt-detail. Without one, a new prompt is called as the slug of its title, and one that is written anew keeps its name. A name that it had goes on leading to it until another one of yours takes it" example:"reviews/code"`
	Description string          `json:"description,omitempty" doc:"What the prompt is for: at most 8,192 UTF-16 code units; without one, the first sentence of the text stands for it" example:"Reviews code for defects."`
	Message     string          `json:"message,omitempty" doc:"Why the content is what it is, for the history of versions: at most 500 UTF-16 code units" example:"Names the language first"`
	Labels      []string        `json:"labels,omitempty" doc:"Labels to put on the version of this content: at most 50, each 1 to 36 of a-z 0-9 _ . -, and neither latest nor digits alone" example:"[\"staging\"]"`
	Title       string          `json:"title,omitempty" doc:"Required but with a SKILL.md among files. Trimmed; at most 200 UTF-16 code units, no control characters" example:"Act as a code reviewer"`
	Text        string          `json:"text,omitempty" doc:"Required but of a chat. Any character but U+0000; kept byte for byte. Its limit counts UTF-16 code units" example:"I want you to act as a code reviewer."`
	Kind        string          `json:"kind,omitempty" enum:"text,chat" doc:"text, or chat: messages in its place; chat where there are messages" example:"text"`
	Messages    []Message       `json:"messages,omitempty" doc:"Of a chat: 1 to 200, together no longer than a text" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config      json.RawMessage `json:"config,omitempty" doc:"Any JSON for programs, such as model and parameters: at most 65,536 UTF-16 code units without white space" example:"{\"model\":\"small\"}"`
	Variables   []Variable      `json:"variables,omitempty" doc:"Declared variables, at most 100; they override what the text says of them" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	Tags        []string        `json:"tags,omitempty" doc:"At most 10 tags, each once, in either case: active ones of the catalog, or those that the prompt has. Absent for none" example:"[\"development\",\"code-review\"]"`
	OwnTags     []string        `json:"ownTags,omitempty" doc:"Tags outside the catalog: at most 50, each one line of at most 100 UTF-16 code units. Everyone who may read the prompt sees them; no list of public prompts shows them, and tag: finds by them only private prompts of the caller's own" example:"[\"kitchen; later\"]"`
	Source      *Source         `json:"source,omitempty" doc:"The file that says all this: it is kept with the version that it makes, and GET /prompts/{id}/export gives it back"`
}

// A PromptPatch is what PATCH /prompts/{id} takes: a JSON merge patch.
type PromptPatch struct {
	Name        optional[string]            `json:"name,omitzero" doc:"As in PUT; absent leaves it" example:"reviews/code"`
	Description optional[string]            `json:"description,omitzero" doc:"As in PUT; absent leaves it, an empty one removes it" example:"Reviews code for defects."`
	Message     optional[string]            `json:"message,omitzero" doc:"As in PUT" example:"Names the language first"`
	Labels      optional[[]string]          `json:"labels,omitzero" nullable:"true" doc:"As in PUT" example:"[\"staging\"]"`
	Title       optional[string]            `json:"title,omitzero" doc:"As in PUT; absent leaves it" example:"Act as a strict code reviewer"`
	Text        optional[string]            `json:"text,omitzero" doc:"As in PUT; absent leaves it" example:"I want you to act as a strict code reviewer."`
	Kind        optional[prompt.Kind]       `json:"kind,omitzero" enum:"text,chat" doc:"As in PUT" example:"text"`
	Messages    optional[[]Message]         `json:"messages,omitzero" nullable:"true" doc:"As in PUT" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config      optional[json.RawMessage]   `json:"config,omitzero" doc:"As in PUT, in place of the whole config; null removes it" example:"{\"model\":\"small\"}"`
	Variables   optional[[]Variable]        `json:"variables,omitzero" nullable:"true" doc:"As in PUT, in place of all; null removes them" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	Tags        optional[[]string]          `json:"tags,omitzero" nullable:"true" doc:"As in PUT, in place of all tags; absent leaves them, null removes them" example:"[\"development\"]"`
	OwnTags     optional[[]string]          `json:"ownTags,omitzero" nullable:"true" doc:"As in PUT, in place of all; absent leaves them, null removes them" example:"[\"kitchen; later\"]"`
	Visibility  optional[prompt.Visibility] `json:"visibility,omitzero" enum:"private,public" doc:"As in PUT; absent leaves it" example:"private"`
	Files       []SentFile                  `json:"files,omitempty" doc:"All files of the next version, as PUT /prompts/{id}/files takes them; absent leaves them, an empty list takes them away"`
	Source      *Source                     `json:"source,omitempty" doc:"The file that says all this: it is kept with the version that it makes, and GET /prompts/{id}/export gives it back"`
}

// encode returns a prompt as JSON shows it.
func (a *api) encode(v library.View) Prompt {
	p := Prompt{
		ID: string(v.ID), AuthorID: a.Service.AuthorKey(v.AuthorID), AuthorName: v.AuthorName,
		Name: v.Name, Slug: v.Slug, Title: v.Title, Description: v.About(),
		Version: max(v.Version, 1), Message: v.Message,
		Excerpt: v.Excerpt, Text: v.Text, Tags: texts(v.Tags), OwnTags: v.OwnTags, Visibility: string(v.Visibility),
		CreatedAt: httpjson.FormatTime(v.CreatedAt), UpdatedAt: httpjson.FormatTime(v.UpdatedAt),
		Likes: v.Likes, Dislikes: v.Dislikes, Score: v.Score(), Revision: v.Revision, MyVote: v.MyVote.String(),
	}
	p.Kind, p.Messages, p.Config, p.Variables = encodeContent(v.Content())
	p.Production = v.Labels[prompt.Production]
	p.FoundIn, p.Snippet, p.Lacks = v.Found.String(), v.Snippet, v.Lacks
	if v.ForkedFrom.ID != "" {
		p.Origin = &Origin{ID: string(v.ForkedFrom.ID), Version: v.ForkedFrom.Version}
	}
	if len(v.Files) > 0 {
		p.Files = summaryOf(v.Files)
	}
	if v.Deleted() {
		p.DeletedAt, p.PurgeAt = httpjson.FormatTime(v.DeletedAt), httpjson.FormatTime(library.PurgeAt(v.Prompt))
	}
	if v.Hidden() {
		// Only callers who may know why are given a hidden prompt.
		p.Hidden = &Hidden{At: httpjson.FormatTime(v.HiddenAt), Reason: v.HiddenReason}
	}
	return p
}

// draft returns what an author wrote. The domain checks it.
func (d PromptDraft) draft() prompt.Draft {
	return prompt.Draft{
		Name: d.Name, Title: d.Title, Description: d.Description, Message: d.Message, Labels: d.Labels,
		Kind: prompt.Kind(d.Kind), Text: d.Text,
		Messages: messages(d.Messages), Config: string(d.Config), Variables: variables(d.Variables),
		Tags: names(d.Tags), OwnTags: d.OwnTags, Visibility: prompt.Visibility(d.Visibility),
		Source: d.Source.source(),
	}
}

// change makes the changes that a merge patch asks for.
func (p PromptPatch) change(d *prompt.Draft) {
	d.Message, d.Labels, d.Source = p.Message.Value, p.Labels.Value, p.Source.source()
	library.Set(&d.Name, p.Name.pointer())
	library.Set(&d.Title, p.Title.pointer())
	library.Set(&d.Description, p.Description.pointer())
	library.Set(&d.Kind, p.Kind.pointer())
	library.Set(&d.Text, p.Text.pointer())
	library.Set(&d.OwnTags, p.OwnTags.pointer())
	library.Set(&d.Visibility, p.Visibility.pointer())
	if p.Messages.Set {
		d.Messages = messages(p.Messages.Value)
	}
	if p.Config.Set {
		d.Config = string(p.Config.Value)
	}
	if p.Variables.Set {
		d.Variables = variables(p.Variables.Value)
	}
	if p.Tags.Set {
		d.Tags = names(p.Tags.Value)
	}
}

// limitPrompts does that for the schemas that show or make a prompt.
func (a *api) limitPrompts(all map[string]*huma.Schema) {
	for _, name := range []string{"Prompt", "NewPrompt", "PromptDraft", "PromptPatch"} {
		openapi.Limit(all[name].Properties["title"], "maxLength", prompt.MaxTitle)
		openapi.Limit(all[name].Properties["tags"], "maxItems", prompt.MaxTags)
		openapi.Limit(all[name].Properties["ownTags"], "maxItems", prompt.MaxOwnTags)
		openapi.Limit(all[name].Properties["name"], "maxLength", prompt.MaxName)
		openapi.Limit(all[name].Properties["description"], "maxLength", prompt.MaxDescription)
		openapi.Limit(all[name].Properties["message"], "maxLength", prompt.MaxMessage)
		if name != "Prompt" { // the limit was another when an old one was written
			openapi.Limit(all[name].Properties["text"], "maxLength", a.MaxText)
		}
	}
}
