package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	maxFound     = 50
	defaultFound = 10
)

// tools adds what assistants may do. The names and those of their arguments are those of
// prompts.chat where it has the same.
func (d *handler) tools(s *sdk.Server) {
	reads := sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}
	tool(s, &sdk.Tool{
		Name: "search_prompts", Title: "Search prompts", Annotations: &reads,
		Description: "Finds public prompts, the caller's own and those of their workspaces; with mine, own ones alone. Without words it lists public ones. Texts are left out: get_prompt reads one.",
	}, d.searchPrompts)
	tool(s, &sdk.Tool{
		Name: "get_prompt", Title: "Read a prompt", Annotations: &reads,
		Description: "Reads a prompt as it was written, with its variables. Where latest names a newer version, there is no revision: read ID@latest to change the prompt.",
	}, d.readPrompt)
	tool(s, &sdk.Tool{
		Name: "read_file", Title: "Read a file of a skill", Annotations: &reads,
		Description: "Reads a text file of a prompt that has files; get_prompt lists them. A file that is binary, or too long for an answer, is at its uri for resources/read.",
	}, d.readFile)
	tool(s, &sdk.Tool{
		Name: "render_prompt", Title: "Fill a prompt in", Annotations: &reads,
		Description: "Fills in the variables of a prompt and returns the text to follow. What is missing or wrong is named at once.",
	}, d.renderPrompt)
	tool(s, &sdk.Tool{
		Name: "list_tags", Title: "List tags", Annotations: &reads,
		Description: "Lists the tags that prompts can have.",
	}, d.listTags)
	tool(s, &sdk.Tool{
		Name: "suggest", Title: "Look around before saving", Annotations: &reads,
		Description: "For a prompt not saved yet: tags for it, and public prompts like it, which may be enough. Nothing is kept.",
	}, d.suggest)
	tool(s, &sdk.Tool{
		Name: "save_prompt", Title: "Save a prompt",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)},
		Description: "Keeps a new prompt in the caller's library. Nobody else sees it until its author publishes it.",
	}, writing(d, d.savePrompt))
	tool(s, &sdk.Tool{
		Name: "update_prompt", Title: "Change a prompt",
		Annotations: &sdk.ToolAnnotations{IdempotentHint: true, OpenWorldHint: new(bool)},
		Description: "Changes a prompt of the caller's; what is left out stays. A new text is a new version; old ones are kept. " +
			"What others see is changed only with the right to publish.",
	}, writing(d, d.updatePrompt))
	tool(s, &sdk.Tool{
		Name: "vote_prompt", Title: "Vote on a prompt",
		Annotations: &sdk.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: new(bool)},
		Description: "Sets the caller's vote on a prompt.",
	}, writing(d, d.votePrompt))
}

// A task is the work of a tool. The caller is an argument.
type task[In, Out any] func(context.Context, *call, In) (Out, error)

// tool adds a tool with schemas that follow from its types. Mistakes in the arguments of the tool,
// and its errors, are for the model to read.
func tool[In, Out any](s *sdk.Server, t *sdk.Tool, do task[In, Out]) {
	takes := schema[In]()
	t.InputSchema, t.OutputSchema = takes, schema[Out]()
	names := "no arguments"
	if len(takes.PropertyOrder) > 0 {
		names = strings.Join(takes.PropertyOrder, ", ")
	}
	s.AddTool(t, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		arguments, wrong := fitted(takes, jsontext.Value(req.Params.Arguments))
		if len(wrong) > 0 {
			return refusal(fmt.Sprintf("%s; %s takes %s", strings.Join(wrong, "; "), t.Name, names)), nil
		}
		var in In
		if err := json.Unmarshal(arguments, &in); err != nil {
			return refusal(err.Error()), nil
		}
		c := callOf(ctx)
		out, err := do(ctx, c, in)
		if err != nil {
			if c.refuses(err) {
				c.refused = err
			}
			return refusal(sentence(ctx, err)), nil
		}
		said, err := json.Marshal(out)
		if err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{
			Content:           []sdk.Content{&sdk.TextContent{Text: string(said)}},
			StructuredContent: json.RawMessage(said),
		}, nil
	})
}

// refusal is an error of a tool, for the model to read.
func refusal(why string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: cut(why)}}}
}

// writing is a task for those who are known, and counts as a change.
func writing[In, Out any](d *handler, do task[In, Out]) task[In, Out] {
	return func(ctx context.Context, c *call, in In) (out Out, err error) {
		if !c.Known() {
			return out, errSignIn()
		}
		if err := library.Needs(c.User, auth.ScopeWrite); err != nil {
			return out, err
		}
		if err := d.Door.Admission.Admit(ctx, http.Header{}, c.Key, true); err != nil {
			return out, err
		}
		return do(ctx, c, in)
	}
}

// schema returns the schema of a type. A list is a list and not null, which not all clients take.
func schema[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[order](): orderSchema(),
			reflect.TypeFor[words](): wordsSchema(),
		},
	})
	if err != nil {
		panic("mcp: " + err.Error()) // a type of this package that has none
	}
	plainLists(s)
	return s
}

func plainLists(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	s.Minimum, s.Maximum = nil, nil // those of a type of Go
	plainLists(s.Items)
	for _, p := range s.Properties {
		plainLists(p)
	}
}

// A Named argument names a prompt.
type Named struct {
	ID string `json:"id" jsonschema:"The id of the prompt, or its name or slug if it is yours, or @handle/name for one of another user. NAME@LABEL and NAME@3 name a version."`
}

type searchInput struct {
	Query  words    `json:"query,omitempty"`
	Tag    string   `json:"tag,omitempty" jsonschema:"Only prompts with this tag; list_tags lists them"`
	Tags   []string `json:"tags,omitempty" jsonschema:"Only prompts with all of these tags"`
	Mine   bool     `json:"mine,omitempty" jsonschema:"Only the caller's own prompts, private ones too"`
	Order  order    `json:"order,omitempty"`
	Limit  int      `json:"limit,omitempty" jsonschema:"1 to 50; 10 where not given"`
	Cursor string   `json:"cursor,omitempty" jsonschema:"The nextCursor of the page before, if the other arguments are the same"`
}

// Words are what a search is for.
type words string

func wordsSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: "Words; " + prompt.QueryDoc}
}

// An order is the name of an order of public prompts.
type order string

// orderSchema lists the orders. It is no enum: the form of a client sends an empty string for a
// field that its user left empty.
func orderSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: orders() + "; else relevance, or most-liked without query"}
}

// orders returns the names of the orders as a list for people.
func orders() string {
	var names []string
	for _, o := range library.Orders() {
		names = append(names, string(o.Order))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

type searchOutput struct {
	Prompts    []Prompt `json:"prompts"`
	NextCursor string   `json:"nextCursor,omitempty" jsonschema:"Absent at the end"`
	Note       string   `json:"note,omitempty"`
}

func (d *handler) searchPrompts(ctx context.Context, c *call, in searchInput) (searchOutput, error) {
	out := searchOutput{Prompts: []Prompt{}}
	tags, err := parseTags(append(in.Tags, in.Tag))
	if err != nil {
		return out, err
	}
	wanted, err := prompt.ParseQuery(string(in.Query))
	if err != nil {
		return out, err
	}
	if in.Limit == 0 {
		in.Limit = defaultFound
	}
	if in.Limit < 1 || in.Limit > maxFound {
		return out, fault.New(fault.Invalid, "ask for 1 to 50 prompts")
	}
	if in.Order == "" && wanted.Empty() {
		in.Order = order(library.MostLiked)
	}
	if in.Order != "" && !library.IsOrder(string(in.Order)) {
		return out, fault.New(fault.Invalid, "order must be "+orders())
	}
	page, err := d.search(ctx, c, in, tags, wanted)
	for _, v := range page.Items {
		if v.ServesNone(cmp.Or(v.Viewer, library.IDOf(c.User))) {
			continue
		}
		out.Prompts = append(out.Prompts, d.listed(c, v))
	}
	for _, u := range page.Understood {
		if u.Instead {
			out.Note += fmt.Sprintf("No prompt has %q: showing results for %s. ", u.Word, strings.Join(u.As, " or "))
		}
	}
	if absent := page.Absent(); len(absent) > 0 {
		out.Note += fmt.Sprintf("None of these has %q. ", strings.Join(absent, " "))
	}
	if page.Partial {
		out.Note += "Prompts are still being read, so some may be missing. "
	}
	if page.SomeLeftOut {
		out.Note += "Of your workspaces, the ten that were made last were searched."
	}
	out.Note = strings.TrimSpace(out.Note)
	if err == nil && len(out.Prompts) == 0 && page.Next == "" {
		out.Note = "No prompt matches."
	}
	out.NextCursor = page.Next
	return out, err
}

func (d *handler) search(ctx context.Context, c *call, in searchInput, tags []prompt.Tag,
	wanted prompt.Query,
) (library.Page, error) {
	if !in.Mine {
		scope := library.ScopePublic
		if o := library.Order(in.Order); !wanted.Empty() && (o == "" || o == library.Newest || o == library.Relevance) {
			scope = library.ScopeAll
		}
		return d.Service.Search(ctx, c.User,
			library.Search{
				Scope: scope, Order: library.Order(in.Order), Tags: tags, Words: wanted,
				Limit: in.Limit, Cursor: in.Cursor,
			})
	}
	if !c.Known() {
		return library.Page{}, errSignIn()
	}
	q := library.MineQuery{Limit: in.Limit, Cursor: in.Cursor}
	q.Tags, q.Words = tags, wanted
	return d.Service.Mine(ctx, c.User, q)
}

func parseTags(list []string) ([]prompt.Tag, error) {
	var tags []prompt.Tag
	for _, s := range list {
		if s == "" {
			continue
		}
		tag, err := prompt.ParseTag(s)
		if err != nil {
			return nil, err
		}
		tags = append(tags, tag)
	}
	if len(tags) > prompt.MaxTags {
		return nil, fault.New(fault.Invalid, "name fewer tags: no prompt has so many")
	}
	return tags, nil
}

// A readOutput is a prompt with its text, its files and a warning.
type readOutput struct {
	FullPrompt
	Files   []File `json:"files,omitempty" jsonschema:"Of a skill with more than a text; read_file reads one"`
	Warning string `json:"warning,omitempty"`
}

// A File is a file of a version.
type File struct {
	Path       string `json:"path"`
	Size       int    `json:"size" jsonschema:"In bytes"`
	SHA256     string `json:"sha256"`
	Executable bool   `json:"executable,omitempty"`
	Script     bool   `json:"script,omitempty" jsonschema:"Whether somebody may run it: nobody has checked what it does"`
}

func encodeFiles(files prompt.Files) (all []File) {
	for _, f := range files {
		all = append(all, encodeFile(f))
	}
	return all
}

func encodeFile(f prompt.File) File {
	return File{Path: f.Path, Size: f.Size, SHA256: f.SHA256, Executable: f.Executable, Script: f.Script}
}

func (d *handler) readPrompt(ctx context.Context, c *call, in Named) (readOutput, error) {
	v, err := d.lookup(ctx, c, in.ID)
	if err != nil {
		return readOutput{}, err
	}
	return readOutput{d.fullPrompt(c, v), encodeFiles(v.Files), invisible(v.Content())}, nil
}

type fileInput struct {
	Named
	Path    string `json:"path" jsonschema:"Of the file, as get_prompt lists it"`
	Version int64  `json:"version,omitempty" jsonschema:"The number of a version; else that of id"`
}

type fileOutput struct {
	File
	Version int64  `json:"version"`
	Text    string `json:"text"`
	Warning string `json:"warning,omitempty"`
}

// maxRead is how many bytes of a file a model is given.
const maxRead = 128 << 10

func (d *handler) readFile(ctx context.Context, c *call, in fileInput) (fileOutput, error) {
	if in.Version < 0 {
		return fileOutput{}, fault.New(fault.Invalid, "version must be the number of a version")
	}
	ref, err := parseRef(c, in.ID)
	if err != nil {
		return fileOutput{}, err
	}
	if in.Version > 0 {
		ref.Version, ref.Label = in.Version, ""
	}
	v, err := d.Service.Lookup(ctx, c.User, ref)
	if err != nil {
		return fileOutput{}, err
	}
	files, _, err := library.FilesOf(v.Prompt)
	if err != nil {
		return fileOutput{}, err
	}
	f, ok := files.Find(in.Path)
	if !ok {
		return fileOutput{}, fault.New(fault.NotFound,
			"the version has no file at this path: get_prompt lists its files")
	}
	elsewhere := fmt.Sprintf("read %s with resources/read, or take the archive of the prompt in the API",
		fileURI(folderURI(v.Prompt), f.Path))
	if f.Size > maxRead {
		return fileOutput{}, fault.New(fault.Invalid,
			fmt.Sprintf("the file has %d bytes, more than an answer to a model: %s", f.Size, elsewhere))
	}
	folder, err := d.Service.FolderOf(ctx, v, f.Path)
	if err != nil {
		return fileOutput{}, err
	}
	b := folder.Contents[0].Bytes
	if !prompt.IsText(b) {
		return fileOutput{}, fault.New(fault.Invalid,
			fmt.Sprintf("the file is binary, %d bytes with the SHA-256 %s: %s", f.Size, f.SHA256, elsewhere))
	}
	number := max(v.Version, 1)
	if v.ShownVersion.Number > 0 {
		number = v.ShownVersion.Number
	}
	out := fileOutput{File: encodeFile(f), Version: number, Text: string(b)}
	out.Warning = invisible(prompt.Content{Text: out.Text})
	return out, nil
}

type renderInput struct {
	Named
	Values map[string]string `json:"values,omitempty" jsonschema:"The values of the variables by their names, each a text"`
}

type renderOutput struct {
	Text     string    `json:"text" jsonschema:"What the prompt says, filled in"`
	Messages []Message `json:"messages,omitempty" jsonschema:"Of a chat, the same as messages"`
	Version  int64     `json:"version"`
	Warning  string    `json:"warning,omitempty"`
}

func (d *handler) renderPrompt(ctx context.Context, c *call, in renderInput) (renderOutput, error) {
	v, err := d.lookup(ctx, c, in.ID)
	if err != nil {
		return renderOutput{}, err
	}
	r, err := d.Service.Fill(ctx, v, in.Values)
	if err != nil {
		return renderOutput{}, err
	}
	return renderOutput{
		Text: r.Words(), Messages: encodeMessages(r.Content), Version: r.Version,
		Warning: invisible(r.Content),
	}, nil
}

type tagsOutput struct {
	Tags []Tag `json:"tags"`
}

// A Tag is one of the catalog.
type Tag struct {
	Tag  string `json:"tag"`
	Name string `json:"name" jsonschema:"For people"`
}

func (d *handler) listTags(ctx context.Context, c *call, _ struct{}) (tagsOutput, error) {
	all, err := d.Service.Tags(ctx, c.User, false)
	out := tagsOutput{Tags: []Tag{}}
	for _, t := range all {
		out.Tags = append(out.Tags, Tag{Tag: string(t.Tag), Name: t.DisplayName})
	}
	return out, err
}

type suggestInput struct {
	Title   string `json:"title,omitempty" jsonschema:"One line, at most 200 characters"`
	Content string `json:"content,omitempty" jsonschema:"The text"`
}

type suggestOutput struct {
	Tags    []Tag     `json:"tags" jsonschema:"At most three, that which fits best first"`
	Similar []Similar `json:"similar" jsonschema:"At most five, the most alike first"`
}

// A Similar is a public prompt that is like a text.
type Similar struct {
	Prompt Prompt  `json:"prompt"`
	Like   float64 `json:"like" jsonschema:"How much both have in common, from 0.6 to 1; from 0.85 on it is the same prompt to most people"`
}

func (d *handler) suggest(ctx context.Context, c *call, in suggestInput) (suggestOutput, error) {
	out := suggestOutput{Tags: []Tag{}, Similar: []Similar{}}
	found, err := d.Service.Suggest(ctx, c.User, prompt.Draft{Title: in.Title, Text: in.Content}, "")
	for _, t := range found.Tags {
		out.Tags = append(out.Tags, Tag{Tag: string(t.Tag), Name: t.DisplayName})
	}
	for _, s := range found.Similar {
		out.Similar = append(out.Similar, Similar{Prompt: d.listed(c, s.View), Like: s.Like})
	}
	return out, err
}

type saveInput struct {
	Title       string   `json:"title" jsonschema:"One line, at most 200 characters"`
	Content     string   `json:"content" jsonschema:"The text. {{name}} or {{name:default}} is a place for a value."`
	Name        string   `json:"name,omitempty" jsonschema:"What programs call it; the default follows from the title"`
	Description string   `json:"description,omitempty" jsonschema:"What it is for; the default is its first sentence"`
	Tags        []string `json:"tags,omitempty"`
}

func (d *handler) savePrompt(ctx context.Context, c *call, in saveInput) (Prompt, error) {
	tags, err := parseTags(in.Tags)
	if err != nil {
		return Prompt{}, err
	}
	v, _, err := d.Service.Create(ctx, c.User, prompt.Draft{
		Name: in.Name, Title: in.Title, Description: in.Description, Text: in.Content,
		Tags: tags, Visibility: prompt.Private,
	}, "")
	if err != nil {
		return Prompt{}, err
	}
	return d.changed(c, v), nil
}

type updateInput struct {
	Named
	Title       *string            `json:"title,omitempty"`
	Content     *string            `json:"content,omitempty" jsonschema:"The new text"`
	Description *string            `json:"description,omitempty"`
	Tags        *[]string          `json:"tags,omitempty"`
	Visibility  *prompt.Visibility `json:"visibility,omitempty" jsonschema:"public, so that everyone can find it, or private"`
	Files       *filesChange       `json:"files,omitempty" jsonschema:"Files to change; the others stay"`
	Message     string             `json:"message,omitempty" jsonschema:"Why, for the history"`
	Revision    int64              `json:"revision,omitempty" jsonschema:"The revision that the change is based on: it fails where there is a later one. Without it, content is refused where id leads to an older version"`
}

type filesChange struct {
	Set    []sentFile `json:"set,omitempty" jsonschema:"Files to add or to replace. SKILL.md has the text and the description too"`
	Remove []string   `json:"remove,omitempty" jsonschema:"Paths"`
}

type sentFile struct {
	Path       string  `json:"path"`
	Content    *string `json:"content,omitempty" jsonschema:"Its text"`
	Base64     *string `json:"base64,omitempty" jsonschema:"Or its bytes"`
	SHA256     string  `json:"sha256,omitempty" jsonschema:"Or those of a file of the latest version"`
	Executable *bool   `json:"executable,omitempty" jsonschema:"Else as it was"`
}

// changed returns a change as the service takes it.
func (in *filesChange) changed() (library.FilesChange, error) {
	var c library.FilesChange
	if in == nil {
		return c, nil
	}
	for _, f := range in.Set {
		var err error
		sent := library.SentFile{Path: f.Path, KeepsMode: f.Executable == nil}
		library.Set(&sent.Executable, f.Executable)
		switch {
		case f.Content != nil:
			sent.Bytes = []byte(*f.Content)
		case f.Base64 != nil:
			sent.Bytes, err = base64.StdEncoding.DecodeString(*f.Base64)
		case f.SHA256 != "":
			sent.SHA256 = f.SHA256
		default:
			err = errors.New("there is none of these")
		}
		if err != nil {
			return c, fault.New(fault.Invalid,
				fmt.Sprintf("say what is in the file %.100q by content, base64 or sha256: %v", f.Path, err))
		}
		c.Set = append(c.Set, sent)
	}
	c.Remove = in.Remove
	return c, nil
}

type updateOutput struct {
	listedPrompt
	Note string `json:"note,omitempty"`
}

func (d *handler) updatePrompt(ctx context.Context, c *call, in updateInput) (updateOutput, error) {
	var tags *[]prompt.Tag
	if in.Tags != nil {
		list, err := parseTags(*in.Tags)
		if err != nil {
			return updateOutput{}, err
		}
		tags = &list
	}
	match := library.Match{Any: in.Revision == 0, Revisions: []int64{in.Revision}}
	was, err := d.lookup(ctx, c, in.ID)
	if err != nil {
		return updateOutput{}, err
	}
	if match.Any && (in.Content != nil || in.Files != nil) && older(was) && was.IsOwn() {
		// A caller that names no revision has read the prompt of the id.
		return updateOutput{}, stale(was,
			fmt.Sprintf("the id leads to version %d of the prompt, and version %d is newer",
				was.ShownVersion.Number, was.Latest))
	}
	files, err := in.Files.changed()
	if err != nil {
		return updateOutput{}, err
	}
	v, err := d.Service.PatchFiles(ctx, c.User, was.ID, match, files, func(p *prompt.Draft) {
		p.Message = in.Message
		library.Set(&p.Title, in.Title)
		library.Set(&p.Text, in.Content)
		library.Set(&p.Description, in.Description)
		library.Set(&p.Tags, tags)
		library.Set(&p.Visibility, in.Visibility)
	})
	if fault.Of(err) == fault.Stale { // that of the service speaks of headers
		return updateOutput{}, stale(was, "the prompt was changed since you read it")
	}
	if err != nil {
		return updateOutput{}, err
	}
	out := updateOutput{listedPrompt: listedPrompt(d.changed(c, v))}
	if p := v.InProduction; p != nil && p.Version != v.Version {
		out.Note = fmt.Sprintf("Whoever names no version still gets version %d, which has the label production. Its author can release version %d on its page.", p.Version, v.Version)
	}
	return out, nil
}

// stale refuses a change that is not based on what the prompt holds, and says how to base it on
// that.
func stale(v library.View, why string) error {
	return fault.New(fault.Stale,
		fmt.Sprintf(
			"%s; get the latest with get_prompt and the id %s@%s, merge your change into it and send its revision", why,
			v.ID, prompt.Latest))
}

type voteInput struct {
	Named
	Vote string `json:"vote" jsonschema:"like, dislike, or none to take it back"`
}

type voteOutput struct {
	Vote     string `json:"vote"`
	Likes    int32  `json:"likes"`
	Dislikes int32  `json:"dislikes"`
}

func (d *handler) votePrompt(ctx context.Context, c *call, in voteInput) (voteOutput, error) {
	value, ok := prompt.ParseVote(in.Vote)
	if !ok {
		return voteOutput{}, fault.New(fault.Invalid, "vote must be like, dislike or none")
	}
	v, err := d.lookup(ctx, c, in.ID)
	if err != nil {
		return voteOutput{}, err
	}
	b, err := d.Service.Vote(ctx, c.User, v.ID, value)
	return voteOutput{Vote: b.Value.String(), Likes: b.Likes, Dislikes: b.Dislikes}, err
}
