package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/openapi"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The parts that inputs share. They are exported because huma fills no others.
type (
	// ByID names a prompt.
	ByID struct {
		ID string `path:"id" doc:"The id of a prompt, in either case" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	}
	// Paging cuts a list.
	Paging struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Most prompts in a page"`
		Cursor string `query:"cursor" doc:"The nextCursor of the page before; the other parameters must be the same"`
	}
	// Fields says what else the prompts of a list have.
	Fields struct {
		Fields string `query:"fields" enum:"text,skill" doc:"skill: of those that are skills, characters. text: what each prompt holds now too, its text or messages, config and variables; then limit is at most 20, and a page ends, with a nextCursor, when its contents have 1 MiB"`
	}
	// Filter chooses prompts.
	Filter struct {
		Tag []string `query:"tag" doc:"Only prompts with all of these tags: separated by commas, or the parameter several times" example:"[\"development\"]"`
		Q   Words    `query:"q" example:"code review"`
		In  string   `query:"in" enum:"text,title" default:"text" doc:"Where the words of q are looked for. text: in the title, and as whole words in description, tags and text. title: each as the beginning of a word of the title. What another instance of the service changed is found a second later"`
	}
	// Matching names the version that a change is based on.
	Matching struct {
		IfMatch string `header:"If-Match" doc:"The ETag of the prompt that the change is based on, or *. Required: without it the answer is 428. Only the revision in it is compared" example:"\"3-12-2-l\""`
	}
)

// The values of Fields.
const (
	texted = "text"
	listed = "skill"
)

// The outputs that several routes have.
type (
	promptOutput struct {
		ETag string `header:"ETag" doc:"Revision, likes, dislikes and the caller's vote" example:"\"3-12-2-l\""`
		Body Prompt
	}
	listOutput struct {
		Link string `header:"Link" doc:"The next page, as a relative reference with rel=next; absent at the end"`
		Body PromptList
	}
	foundOutput struct {
		Link string `header:"Link" doc:"The next page, as a relative reference with rel=next; absent at the end"`
		Body SearchList
	}
)

// Words are what a user types to find prompts.
type Words string

// Schema says what they may be.
func (Words) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeString,
		Description: "Words to search for, in says where; at most 200 UTF-16 code units and 20 words. " +
			prompt.QueryDoc,
	}
	s.PrecomputeMessages()
	return s
}

// titles reports whether words are looked for in titles alone.
func (in Filter) titles() bool { return in.In == "title" }

func (in ByID) prompt() (prompt.ID, error) {
	id, err := prompt.FindID(in.ID)
	if err != nil { // people know prompts by their names
		err = fault.New(fault.NotFound, "there is no such prompt: an id has 26 letters and digits. GET "+Prefix+
			"/users/{handle}/prompts/{name} has the id of a name; your own handle is me")
	}
	return id, err
}

// wanted returns the tags and words of a filter.
func (in Filter) wanted() ([]prompt.Tag, prompt.Query, error) {
	var tags []prompt.Tag
	for _, s := range in.Tag {
		if s = strings.TrimSpace(s); s == "" {
			continue // of "a,,b"
		}
		tag, err := prompt.ParseTag(s)
		if err != nil {
			return nil, prompt.Query{}, openapi.Invalid("query.tag", err.Error(), s)
		}
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	if len(tags) > prompt.MaxTags {
		return nil, prompt.Query{}, openapi.Invalid("query.tag",
			fmt.Sprintf("name at most %d tags: no prompt has more", prompt.MaxTags), nil)
	}
	words, err := prompt.ParseQuery(string(in.Q))
	return tags, words, err
}

// check reports a page that is too large for what it must have.
func (in Fields) check(p Paging) error {
	if in.Fields == texted && p.Limit > library.MaxTexts {
		return openapi.Invalid("query.limit",
			fmt.Sprintf("ask for at most %d prompts where you want their texts", library.MaxTexts), p.Limit)
	}
	return nil
}
