package mcp

import (
	"cmp"
	"fmt"
	"time"

	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A Prompt is a prompt as tools list it.
type Prompt struct {
	ID          string   `json:"id"`
	Prompt      string   `json:"prompt" jsonschema:"What prompts/get calls it"`
	Name        string   `json:"name,omitempty"`
	Slug        string   `json:"slug,omitempty"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Author      string   `json:"author"`
	AuthorID    string   `json:"authorId"`
	Tags        []string `json:"tags"`
	Visibility  string   `json:"visibility"`
	Version     int64    `json:"version"`
	Revision    int64    `json:"revision,omitempty" jsonschema:"One more with every edit"`
	Latest      int64    `json:"latest,omitempty"` // get_prompt says what it is: five tools have this schema
	UpdatedAt   string   `json:"updatedAt"`
	Likes       int32    `json:"likes"`
	Dislikes    int32    `json:"dislikes"`
	MyVote      string   `json:"myVote"`
}

// A listedPrompt is a Prompt under a name that does not hide its member of the same name.
type listedPrompt Prompt

// A FullPrompt is a prompt with what it says. Lists have it not: the schema of each tool costs its
// callers tokens.
type FullPrompt struct {
	listedPrompt
	Text      string     `json:"text,omitempty" jsonschema:"As it was written, with the places of its variables"`
	Messages  []Message  `json:"messages,omitempty" jsonschema:"Of a chat, in place of the text"`
	Variables []Variable `json:"variables,omitempty"`
}

// A Message is one of a chat, or a place for others.
type Message struct {
	Role        string `json:"role,omitempty"`
	Content     string `json:"content,omitempty"`
	Placeholder string `json:"placeholder,omitempty" jsonschema:"The name of what is to be put here"`
}

// A Variable is what a prompt takes a value for.
type Variable struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Type        string   `json:"type" jsonschema:"text, multiline, number, boolean, choice or date"`
	Required    bool     `json:"required" jsonschema:"Whether there is nothing to say without a value"`
	Default     string   `json:"default,omitempty"`
	Choices     []string `json:"choices,omitempty"`
}

// encode returns a prompt of a list. It has no revision, because a caller that has not read the
// text cannot base a new one on it.
func (d *handler) encode(c *call, v library.View) Prompt {
	p := Prompt{
		ID: string(v.ID), Prompt: name(v, c.Known() && v.AuthorID == library.IDOf(c.User) && c.set.handle == ""),
		Name: v.Name, Slug: v.Slug, Title: v.Title, Description: about(v),
		Author: v.AuthorName, AuthorID: d.Service.AuthorKey(v.AuthorID), Tags: []string{},
		Visibility: string(v.Visibility),
		Version:    max(v.Version, 1), UpdatedAt: v.UpdatedAt.UTC().Format(time.RFC3339),
		Likes: v.Likes, Dislikes: v.Dislikes, MyVote: v.MyVote.String(),
	}
	for _, tag := range v.Tags {
		p.Tags = append(p.Tags, string(tag))
	}
	return p
}

// listed returns a prompt of a list, in the version that get_prompt reads.
func (d *handler) listed(c *call, v library.View) Prompt {
	p := d.encode(c, v)
	p.Description = describe(v.Title, programSummary(c, v))
	if n := v.Released(cmp.Or(v.Viewer, library.IDOf(c.User))); n > 0 {
		p.Version, p.Latest = n, v.Version
	}
	return p
}

// changed returns a prompt as it was just made.
func (d *handler) changed(c *call, v library.View) Prompt {
	p := d.encode(c, v)
	p.Revision = v.Revision
	return p
}

// fullPrompt returns a prompt with all of its members. An older version has no revision: a text
// based on it would pass for one based on the latest, whose changes would be lost.
func (d *handler) fullPrompt(c *call, v library.View) FullPrompt {
	p := FullPrompt{listedPrompt: listedPrompt(d.encode(c, v)), Text: v.Text, Messages: encodeMessages(v.Content())}
	if p.Revision = v.Revision; older(v) {
		p.Revision, p.Latest = 0, v.Latest
	}
	for _, x := range v.Content().Template().Variables {
		variable := Variable{
			Name: x.Name, Description: x.Description, Type: string(x.Type), Required: x.Needed(), Choices: x.Choices,
		}
		if x.Default != nil {
			variable.Default = *x.Default
		}
		p.Variables = append(p.Variables, variable)
	}
	return p
}

// invisible says that a content has characters that cannot be seen, "" if it has none. People who
// are shown what a program reads do not see these either.
func invisible(c prompt.Content) string {
	if n := c.Invisible(); n > 0 {
		return fmt.Sprintf(
			"The text has %d characters that cannot be seen: they may say what its readers were not shown.", n)
	}
	return ""
}

// older reports whether a view shows another version than the prompt holds.
func older(v library.View) bool {
	return v.ShownVersion.Number > 0 && v.ShownVersion.Number != v.Latest
}

func encodeMessages(c prompt.Content) []Message {
	var list []Message
	for _, m := range c.Messages {
		list = append(list, Message(m))
	}
	return list
}
