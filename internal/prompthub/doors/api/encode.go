package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func texts[T ~string](tags []T) []string {
	list := make([]string, len(tags))
	for i, t := range tags {
		list[i] = string(t)
	}
	return list
}

// names is the way back. The domain checks what comes out.
func names(list []string) []prompt.Tag {
	tags := make([]prompt.Tag, len(list))
	for i, s := range list {
		tags[i] = prompt.Tag(s)
	}
	return tags
}

// etag changes with all that the caller sees of a prompt and that can change. That it is hidden is
// no edit, and yet its author must see it. One version has another tag than the prompt has, even if
// the prompt holds it.
func etag(v library.View) string {
	if v.ShownVersion.Number > 0 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d %s %d", v.ShownVersion.Hash, v.Revision, v.Likes, v.Dislikes,
			v.MyVote, v.HiddenAt.UnixMilli()))
		return fmt.Sprintf(`"v%d-%x"`, v.ShownVersion.Number, sum[:8])
	}
	production := ""
	if n := v.Labels[prompt.Production]; n > 0 {
		production = fmt.Sprintf("-p%d", n)
	}
	hidden := ""
	if v.Hidden() {
		hidden = "-h" + strconv.FormatInt(v.HiddenAt.UnixMilli(), 36)
	}
	return fmt.Sprintf(`"%d-%d-%d-%c%s%s"`, v.Revision, v.Likes, v.Dislikes, v.MyVote.String()[0], production, hidden)
}

// match reads If-Match. Only the revision in a tag counts, so that a vote never breaks an edit; a
// tag that is none of ours names a version that never was.
func match(header string) library.Match {
	list := httpjson.ParseETags([]string{header})
	m := library.Match{Any: list.Any}
	for _, tag := range list.Tags {
		digits, _, _ := strings.Cut(tag, "-")
		if revision, err := strconv.ParseUint(digits, 10, 63); err == nil {
			m.Revisions = append(m.Revisions, int64(revision))
		}
	}
	return m
}

// found answers with a page of a search, and with how the search understood its words.
func (a *api) found(ctx context.Context, c call, in Fields, limit int,
	read func(limit int) (library.Page, error),
) (*foundOutput, error) {
	out := &foundOutput{}
	page, err := a.page(ctx, c, in, limit, func(limit int) (library.Page, error) {
		p, err := read(limit)
		out.Body.Understood, out.Body.Partial, out.Body.LeftOut = nil, p.Partial, p.SomeLeftOut
		for _, u := range p.Understood {
			out.Body.Understood = append(out.Body.Understood, Understood(u))
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	out.Link, out.Body.PromptList = page.Link, page.Body
	return out, nil
}

// page answers with a page of at most limit prompts, and with texts where they are wanted.
func (a *api) page(ctx context.Context, c call, in Fields, limit int,
	read func(limit int) (library.Page, error),
) (*listOutput, error) {
	if in.Fields == texted {
		p, err := a.Service.WithTexts(ctx, c.User, limit, read)
		return a.list(c, p), err
	}
	p, err := read(limit)
	out := a.list(c, p)
	if in.Fields == listed {
		for i, v := range p.Items {
			if o := v.ProgramSummary(cmp.Or(v.Viewer, library.IDOf(c.User))); o != nil && o.Digest != "" {
				out.Body.Items[i].Characters = skill.Line(v.Slug, v.Slug,
					skill.Head(v.Prompt, o.About, o.Version).Description).Characters
			}
		}
	}
	return out, err
}

// list answers with a page, and a link to the next one.
func (a *api) list(c call, p library.Page) *listOutput {
	out := &listOutput{Body: PromptList{Items: make([]Prompt, len(p.Items)), NextCursor: p.Next}}
	for i, v := range p.Items {
		out.Body.Items[i] = a.encode(v)
		out.Body.Items[i].Production = v.Released(cmp.Or(v.Viewer, library.IDOf(c.User)))
	}
	out.Link = nextLink(c, p.Next)
	return out
}

// nextLink returns what Link says of the next page of a list.
func nextLink(c call, cursor string) string {
	if cursor == "" {
		return ""
	}
	query := c.url.Query()
	query.Set("cursor", cursor)
	return "<" + c.url.EscapedPath() + "?" + query.Encode() + `>; rel="next"`
}

func encodeContent(c prompt.Content) (kind string, list []Message, config json.RawMessage, declared []Variable) {
	for _, m := range c.Messages {
		list = append(list, Message(m))
	}
	for _, v := range c.Variables {
		declared = append(declared, Variable{
			Name: v.Name, Label: v.Label, Description: v.Description, Type: string(v.Type), Required: v.Required,
			Default: v.Default, Choices: v.Choices,
		})
	}
	return cmp.Or(string(c.Kind), "text"), list, json.RawMessage(c.Config), declared
}

// messages is the way back, as are variables. The domain checks what comes out.
func messages(list []Message) []prompt.Message {
	var all []prompt.Message
	for _, m := range list {
		all = append(all, prompt.Message(m))
	}
	return all
}

func variables(list []Variable) []prompt.Variable {
	var all []prompt.Variable
	for _, v := range list {
		all = append(all, prompt.Variable{
			Name: v.Name, Label: v.Label, Description: v.Description, Type: prompt.VariableType(v.Type),
			Required: v.Required,
			Default:  v.Default, Choices: v.Choices,
		})
	}
	return all
}
