package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
)

const (
	perPage   = 50  // prompts
	maxListed = 200 // in all pages: clients put every prompt into a menu
	found     = "found"
)

// page returns a page of the prompts that an endpoint lists, with their contents.
func (d *handler) page(ctx context.Context, c *call, cursor string) (prompthub.Page, error) {
	before, cursor, err := splitCursor(cursor)
	if err != nil {
		return prompthub.Page{}, err
	}
	p, err := d.summaries(ctx, c, cursor, min(perPage, maxListed-before))
	if err == nil {
		p, err = d.Service.Contents(ctx, c.User, p)
	}
	before += perPage
	if before >= maxListed || !c.Known() && c.set == (set{}) { // of all prompts there are, nobody in particular is shown the best
		p.Next = ""
	}
	if p.Next != "" {
		p.Next = strconv.Itoa(before) + "." + p.Next
	}
	return p, err
}

// splitCursor returns how many prompts the pages before had room for, and the cursor of the
// service.
func splitCursor(s string) (int, string, error) {
	if s == "" {
		return 0, "", nil
	}
	count, cursor, _ := strings.Cut(s, ".")
	n, err := strconv.Atoi(count)
	if err != nil || n < perPage || n >= maxListed || cursor == "" {
		return 0, "", fault.New(fault.Malformed, "the cursor is damaged; start again without it")
	}
	return n, cursor, nil
}

// summaries returns what the lists of the service hold, without votes.
func (d *handler) summaries(ctx context.Context, c *call, cursor string, limit int) (prompthub.Page, error) {
	nobody := auth.User{}
	switch {
	case c.set.handle != "":
		return d.Service.ByAuthor(ctx, nobody, c.set.handle, limit, cursor)
	case c.set.tag != "":
		return d.Service.Search(ctx, nobody, prompthub.Search{Order: prompthub.MostLiked, Tags: []prompt.Tag{c.set.tag}, Limit: limit, Cursor: cursor})
	case c.Known():
		return d.Service.Mine(ctx, c.User, prompthub.MineQuery{Sort: prompthub.ByNewest, Limit: limit, Cursor: cursor, NoVotes: true})
	}
	return d.Service.Search(ctx, nobody, prompthub.Search{Order: prompthub.MostLiked, Limit: limit, Cursor: cursor})
}

func (d *handler) listPrompts(ctx context.Context, p *sdk.ListPromptsParams) (sdk.Result, error) {
	c := callOf(ctx)
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	page, err := d.page(ctx, c, cursor)
	if err == nil {
		page, err = d.Service.WithIncludes(ctx, c.User, page) // whose variables are arguments too
	}
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	ofOneOwner := c.set.handle != "" || c.set == (set{}) && c.Known()
	res := &sdk.ListPromptsResult{Prompts: []*sdk.Prompt{}, NextCursor: page.Next}
	for _, v := range page.Items {
		res.Prompts = append(res.Prompts, &sdk.Prompt{Name: name(v, ofOneOwner), Description: about(v), Arguments: arguments(v)})
	}
	keep(ctx, &sdk.ListPromptsRequest{Params: p}, &res.Cacheable)
	return res, nil
}

// about describes a prompt; it is never empty. The protocol has no messages of a system.
func about(v prompthub.View) string {
	s := cmp.Or(strings.TrimSpace(v.About()), v.Title)
	if slices.ContainsFunc(v.Messages, func(m prompt.Message) bool { return m.Role == system }) {
		s += " (Its system message comes first, as one of the user.)"
	}
	return s
}

const system = "system"

// maxHints is how long the descriptions of the arguments of one prompt may be together, in bytes.
const maxHints = 4 << 10

// arguments returns the variables of a prompt. Clients that have but one line for all of them give
// the last one the most, so a long text comes last.
func arguments(v prompthub.View) []*sdk.PromptArgument {
	variables := v.Content().Template().Variables
	slices.SortStableFunc(variables, func(a, b prompt.Variable) int { return rank(a) - rank(b) })
	var list []*sdk.PromptArgument
	room := maxHints
	for _, x := range variables {
		hint := cmp.Or(x.Hint(), "The value of "+x.Name+".")
		if room -= len(hint); room < 0 {
			hint = ""
		}
		list = append(list, &sdk.PromptArgument{Name: x.Name, Description: hint, Required: x.Needed()})
	}
	return list
}

func rank(v prompt.Variable) int {
	switch {
	case v.Type == prompt.Multiline:
		return 2
	case !v.Needed():
		return 1
	}
	return 0
}

type foundKey struct{}

// getPrompt looks a prompt up and has next render it, under the name of the one prompt that the
// library of the protocol knows: it completes results of its own prompts alone.
func (d *handler) getPrompt(ctx context.Context, p *sdk.GetPromptParams, next func(context.Context) (sdk.Result, error)) (sdk.Result, error) {
	c := callOf(ctx)
	v, err := d.resolved(ctx, c, p.Name)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	p.Name = found
	return next(context.WithValue(ctx, foundKey{}, v))
}

// renderFound answers with the prompt that getPrompt has found.
func (d *handler) renderFound(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	v, _ := ctx.Value(foundKey{}).(prompthub.View)
	given := values(req.Params)
	if form := ask(req, v, given); form != nil {
		return &sdk.GetPromptResult{InputRequests: form}, nil
	}
	filled, err := d.Service.Fill(ctx, callOf(ctx).User, v, given)
	if err != nil {
		return nil, callOf(ctx).problem(ctx, err)
	}
	return &sdk.GetPromptResult{Description: about(v), Messages: messages(filled.Content)}, nil
}

// messages returns a content as the protocol has it: with the roles user and assistant, and no
// places for others.
func messages(c prompt.Content) []*sdk.PromptMessage {
	if c.Kind != prompt.KindChat {
		return []*sdk.PromptMessage{message("user", c.Text)}
	}
	list := []*sdk.PromptMessage{}
	for _, m := range c.Messages {
		if m.Placeholder == "" {
			list = append(list, message(m.Role, m.Content))
		}
	}
	return list
}

func message(role, text string) *sdk.PromptMessage {
	if role != "assistant" {
		role = "user"
	}
	return &sdk.PromptMessage{Role: sdk.Role(role), Content: &sdk.TextContent{Text: text}}
}

// complete offers the choices of a variable that begin with what was typed.
func (d *handler) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	res := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref.Type != "ref/prompt" {
		return res, nil
	}
	c := callOf(ctx)
	v, err := d.resolved(ctx, c, req.Params.Ref.Name)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	typed := strings.ToLower(req.Params.Argument.Value)
	for _, x := range v.Content().Template().Variables {
		if x.Name != req.Params.Argument.Name {
			continue
		}
		for _, choice := range x.Choices {
			if strings.HasPrefix(strings.ToLower(choice), typed) {
				res.Completion.Values = append(res.Completion.Values, choice)
			}
		}
	}
	res.Completion.Total = len(res.Completion.Values)
	return res, nil
}

// lookup returns the prompt that a client names, as lists name it or as people do.
func (d *handler) lookup(ctx context.Context, c *call, name string) (prompthub.View, error) {
	ref, err := prompt.ParseRef(name)
	if err != nil {
		return prompthub.View{}, fault.New(fault.Invalid, fmt.Sprintf("name a prompt: %v", err))
	}
	if i := strings.LastIndexByte(ref.Name, '_'); i >= 0 {
		if id, ok := prompt.ParseID(ref.Name[i+1:]); ok {
			ref.Name = string(id)
		}
	}
	if ref.Owner == "" {
		ref.Owner = c.set.handle
	}
	return d.Service.Lookup(ctx, c.User, ref)
}

// resolved is lookup for who needs to know all variables: those of prompts that it includes too.
func (d *handler) resolved(ctx context.Context, c *call, name string) (prompthub.View, error) {
	v, err := d.lookup(ctx, c, name)
	if err != nil {
		return v, err
	}
	whole, err := d.Service.Resolve(ctx, c.User, v)
	v.Draft = v.With(whole.Content)
	return v, err
}
