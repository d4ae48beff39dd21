package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	perPage   = 50  // prompts
	maxListed = 200 // in all pages: clients put every prompt into a menu
	found     = "found"
)

// page returns a page of at most limit of the prompts that an endpoint lists.
func (d *handler) page(ctx context.Context, c *call, cursor string, limit int) (library.Page, error) {
	before, cursor, err := splitCursor(cursor)
	if err != nil {
		return library.Page{}, err
	}
	most := maxListed
	if !c.Known() && c.set == (set{}) { // an anonymous caller is shown the best of all prompts
		most = perPage
	}
	limit = min(limit, most-before)
	if limit < 1 {
		return library.Page{}, errCursor()
	}
	p, err := d.summaries(ctx, c, cursor, limit)
	if before += limit; before >= most {
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
	if err != nil || n < 1 || n >= maxListed || cursor == "" {
		return 0, "", errCursor()
	}
	return n, cursor, nil
}

func errCursor() error {
	return fault.New(fault.Malformed, "the cursor is damaged; start again without it")
}

// summaries returns what the lists of the service hold and programs get, without votes. Of prompts
// of workspaces with a rule for production, the labels are read; no other prompt is read by itself.
func (d *handler) summaries(ctx context.Context, c *call, cursor string, limit int) (library.Page, error) {
	p, err := d.list(ctx, c, cursor, limit)
	if err != nil || c.set.collection != "" { // whose prompts are read as programs get them
		return p, err
	}
	p.Items, err = d.Service.Served(ctx, c.User, p.Items)
	return p, err
}

func (d *handler) list(ctx context.Context, c *call, cursor string, limit int) (library.Page, error) {
	nobody := auth.User{}
	switch {
	case c.set.collection != "":
		return d.collected(ctx, c, cursor, limit)
	case c.set.handle != "":
		return d.Service.ByAuthor(ctx, nobody, library.AuthorSearch{Handle: c.set.handle, Limit: limit, Cursor: cursor})
	case c.set.tag != "":
		return d.Service.Search(ctx, nobody,
			library.Search{Order: library.MostLiked, Tags: []prompt.Tag{c.set.tag}, Limit: limit, Cursor: cursor})
	case c.Known():
		return d.Service.Mine(ctx, c.User,
			library.MineQuery{Sort: library.ByNewest, Limit: limit, Cursor: cursor, NoVotes: true})
	}
	return d.Service.Search(ctx, nobody, library.Search{Order: library.MostLiked, Limit: limit, Cursor: cursor})
}

// collected returns a page of the skills of a collection.
func (d *handler) collected(ctx context.Context, c *call, cursor string, limit int) (library.Page, error) {
	of, err := d.Service.Collection(ctx, c.User, c.set.handle, c.set.collection)
	if err != nil {
		return library.Page{}, err
	}
	first := 0
	if cursor != "" {
		if first, err = strconv.Atoi(cursor); err != nil || first < 1 || first > prompt.MaxInCollection {
			return library.Page{}, errCursor()
		}
	}
	first = min(first, len(of.Skills))
	end := min(first+limit, len(of.Skills))
	p := library.Page{Items: of.Skills[first:end]}
	if end < len(of.Skills) {
		p.Next = strconv.Itoa(end)
	}
	return p, nil
}

func (d *handler) listPrompts(ctx context.Context, p *sdk.ListPromptsParams) (sdk.Result, error) {
	c := callOf(ctx)
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	page, err := d.page(ctx, c, cursor, perPage)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	ofOneOwner := c.set.author() != "" || c.set == (set{}) && c.Known()
	res := &sdk.ListPromptsResult{Prompts: []*sdk.Prompt{}, NextCursor: page.Next}
	for _, v := range page.Items {
		o := programSummary(c, v)
		res.Prompts = append(res.Prompts,
			&sdk.Prompt{
				Name: name(v, ofOneOwner), Title: v.Title, Description: describe(v.Title, o),
				Arguments: arguments(o),
			})
	}
	keep(ctx, &sdk.ListPromptsRequest{Params: p}, &res.Cacheable)
	return res, nil
}

// programSummary returns what a list tells of a prompt. A row that was written before there were
// summaries tells its description alone: such a prompt has no arguments here and is no skill until
// reindex, or anti-entropy, has written the row again.
func programSummary(c *call, v library.View) prompt.ProgramSummary {
	if o := v.ProgramSummary(cmp.Or(v.Viewer, library.IDOf(c.User))); o != nil {
		return *o
	}
	if c.set.collection != "" {
		return skill.Summarize(v.Prompt)
	}
	return prompt.ProgramSummary{About: v.About()}
}

// about describes a prompt.
func about(v library.View) string {
	return describe(v.Title, prompt.ProgramSummary{About: v.About(), System: v.Content().HasSystem()})
}

// describe says what a prompt is for; it is never empty. The protocol has no messages of a system.
func describe(title string, o prompt.ProgramSummary) string {
	s := cmp.Or(strings.TrimSpace(o.About), title)
	if o.System {
		s += " (Its system message comes first, as one of the user.)"
	}
	return s
}

// arguments returns what a prompt takes. Clients want a description of each.
func arguments(o prompt.ProgramSummary) []*sdk.PromptArgument {
	var list []*sdk.PromptArgument
	for _, a := range o.Arguments {
		hint := cmp.Or(a.Hint, "The value of "+a.Name+".")
		list = append(list, &sdk.PromptArgument{Name: a.Name, Description: hint, Required: a.Required})
	}
	return list
}

type foundKey struct{}

// getPrompt looks a prompt up and has next render it, under the name of the one prompt that the
// library of the protocol knows: it completes results of its own prompts alone.
func (d *handler) getPrompt(ctx context.Context, p *sdk.GetPromptParams,
	next func(context.Context) (sdk.Result, error),
) (sdk.Result, error) {
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
	v, _ := ctx.Value(foundKey{}).(library.View)
	given := values(req.Params)
	if form := ask(req, v, given); form != nil {
		return &sdk.GetPromptResult{InputRequests: form}, nil
	}
	filled, err := d.Service.Fill(ctx, v, given)
	if err != nil {
		return nil, callOf(ctx).problem(ctx, err)
	}
	description := about(v)
	if warning := invisible(filled.Content); warning != "" {
		description += " " + warning
	}
	return &sdk.GetPromptResult{Description: description, Messages: messages(filled.Content)}, nil
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

// complete offers the choices of a variable that begin with the typed text.
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
func (d *handler) lookup(ctx context.Context, c *call, name string) (library.View, error) {
	ref, err := parseRef(c, name)
	if err != nil {
		return library.View{}, err
	}
	return d.Service.Lookup(ctx, c.User, ref)
}

// parseRef returns what a client names a prompt by.
func parseRef(c *call, name string) (prompt.Ref, error) {
	ref, err := prompt.ParseRef(name)
	if err != nil {
		return ref, fault.New(fault.Invalid, fmt.Sprintf("name a prompt: %v", err))
	}
	if i := strings.LastIndexByte(ref.Name, '_'); i >= 0 {
		if id, ok := prompt.ParseID(ref.Name[i+1:]); ok {
			ref.Name = string(id)
		}
	}
	if ref.Owner == "" {
		ref.Owner = c.set.author()
	}
	return ref, nil
}

// resolved is lookup with all variables, also those of included prompts.
func (d *handler) resolved(ctx context.Context, c *call, name string) (library.View, error) {
	v, err := d.lookup(ctx, c, name)
	if err != nil {
		return v, err
	}
	resolved, err := d.Service.Resolve(ctx, v)
	v.Draft = v.With(resolved.Content)
	return v, err
}
