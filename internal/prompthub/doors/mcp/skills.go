package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The extension of the protocol for skills is SEP-2640. A prompt is a skill, whose files are at
// skill://ID/SLUG/PATH; one of a text alone has a SKILL.md that is made of it.
const (
	skillsExtension = "io.modelcontextprotocol/skills"
	skillScheme     = "skill://"
	markdown        = "text/markdown"
	directory       = "inode/directory"
)

// skills adds the methods of the extension.
func (d *handler) skills(s *sdk.Server) {
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "skill", URITemplate: skillScheme + "{id}/{name}/{+path}",
		Description: "A file of a prompt as an Agent Skill, by the id and the slug of the prompt; SKILL.md is the one to read first",
	}, d.readSkill)
	for _, err := range []error{
		sdk.AddReceivingCustomMethod(s, "skills/list", d.listSkills),
		sdk.AddReceivingCustomMethod(s, "skills/get", d.getSkill),
		sdk.AddReceivingCustomMethod(s, "resources/directory/read", d.readDirectory),
	} {
		if err != nil {
			panic("mcp: " + err.Error()) // the library has got methods of these names
		}
	}
}

type listSkillsParams struct {
	sdk.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

// An extended is what results of the extension have besides.
type extended struct {
	sdk.ResultBase
	sdk.Cacheable
	ResultType string `json:"resultType"`
}

func extend(ctx context.Context) extended {
	r := extended{ResultType: "complete"}
	keep(ctx, &sdk.ListResourcesRequest{}, &r.Cacheable)
	return r
}

type listSkillsResult struct {
	extended
	Skills     []skillEntry `json:"skills"`
	NextCursor string       `json:"nextCursor,omitempty"`
}

type getSkillParams struct {
	sdk.ParamsBase
	URI string `json:"uri"`
}

type getSkillResult struct {
	extended
	Skill skillEntry `json:"skill"`
}

// A skillEntry describes a skill with its files. The front matter is that of SKILL.md, as JSON.
type skillEntry struct {
	URI         string          `json:"uri"`
	FrontMatter json.RawMessage `json:"frontmatter"`
	Resources   []skillFile     `json:"resources"`

	head skill.FrontMatter
}

type skillFile struct {
	URI      string `json:"uri"`
	Digest   string `json:"digest"`
	Size     int    `json:"size"`
	MIMEType string `json:"mimeType"`

	path string
}

// folderURI returns the address of the folder of a skill.
func folderURI(p prompt.Prompt) string {
	return skillScheme + strings.ToLower(string(p.ID)) + "/" + p.Slug
}

func fileURI(folder, path string) string { return folder + "/" + (&url.URL{Path: path}).EscapedPath() }

// entry describes a skill. Files are those of its version, and file the bytes of their SKILL.md;
// one of a text alone has none.
func entry(p prompt.Prompt, o prompt.ProgramSummary, files prompt.Files, file []byte) (skillEntry, error) {
	folder := folderURI(p)
	e := skillEntry{URI: fileURI(folder, prompt.SkillFile), head: skill.Head(p, o.About, o.Version)}
	var err error
	if len(files) == 0 {
		e.Resources = []skillFile{{
			URI: e.URI, Digest: o.Digest, Size: o.Size,
			MIMEType: markdown, path: prompt.SkillFile,
		}}
		e.FrontMatter, err = json.Marshal(e.head)
		return e, err
	}
	for _, f := range files {
		e.Resources = append(e.Resources, skillFile{
			URI: fileURI(folder, f.Path), Digest: "sha256:" + f.SHA256, Size: f.Size,
			MIMEType: typeOf(f.Path), path: f.Path,
		})
	}
	said, err := format.SkillFrontMatter(file)
	if err != nil { // of a history that was brought over
		e.head.Metadata = skill.Metadata{}
		e.FrontMatter, err = json.Marshal(e.head)
		return e, err
	}
	e.FrontMatter = json.RawMessage(said)
	return e, json.Unmarshal(said, &e.head)
}

// typeOf returns the media type of a file by its name: no more is known of it in a list.
func typeOf(path string) string {
	if strings.HasSuffix(path, ".md") {
		return markdown
	}
	return "application/octet-stream"
}

// maxHeads is how many bytes the front matters of the skills of a page have together; the last may
// go beyond.
const maxHeads = 512 << 10

// listSkills answers skills/list with the prompts that prompts/list has. A page whose front matters
// are too long ends early, as one of a smaller limit.
func (d *handler) listSkills(ctx context.Context, _ *sdk.ServerSession,
	p *listSkillsParams,
) (*listSkillsResult, error) {
	c := callOf(ctx)
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	for limit := perPage; ; {
		page, err := d.page(ctx, c, cursor, limit)
		if err != nil {
			return nil, c.problem(ctx, err)
		}
		entries, looked, err := d.entries(ctx, c, page.Items)
		if err != nil {
			return nil, c.problem(ctx, err)
		}
		if looked == len(page.Items) {
			return &listSkillsResult{extended: extend(ctx), Skills: entries, NextCursor: page.Next}, nil
		}
		limit = looked
	}
}

// entries describes those of a list that are skills. It says how many of the list it looked at.
func (d *handler) entries(ctx context.Context, c *call,
	items []library.View,
) (all []skillEntry, looked int, err error) {
	summaries, versions := make([]prompt.ProgramSummary, len(items)), make([]int64, len(items))
	for i, v := range items {
		if summaries[i] = programSummary(c, v); summaries[i].Files != nil && len(v.Files) == 0 {
			versions[i] = summaries[i].Version
		}
	}
	files, err := d.Service.FilesIn(ctx, items, versions)
	if err != nil {
		return nil, 0, err
	}
	for i, v := range items {
		if len(v.Files) > 0 { // of a prompt that was read by itself
			files[i] = v.Files
		}
	}
	contents, err := d.Service.SkillFilesIn(ctx, items, files)
	if err != nil {
		return nil, 0, err
	}
	all = []skillEntry{}
	size := 0
	for i, v := range items {
		if size > maxHeads {
			return all, i, nil
		}
		head, _, _ := skill.Split(contents[i])
		if size += len(head); summaries[i].Digest == "" {
			continue
		}
		e, err := entry(v.Prompt, summaries[i], files[i], contents[i])
		if err != nil {
			return nil, 0, err
		}
		all = append(all, e)
	}
	return all, len(items), nil
}

// listResources answers resources/list with the files of the same skills, for clients that know no
// skills and no prompts.
func (d *handler) listResources(ctx context.Context, p *sdk.ListResourcesParams) (sdk.Result, error) {
	skills := &listSkillsParams{}
	if p != nil {
		skills.Cursor = p.Cursor
	}
	l, err := d.listSkills(ctx, nil, skills)
	if err != nil {
		return nil, err
	}
	res := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, NextCursor: l.NextCursor, Cacheable: l.Cacheable}
	for _, s := range l.Skills {
		for _, file := range s.Resources {
			r := file.resource(s.head.Name + "/" + file.path)
			if file.URI == s.URI {
				r.Name, r.Description = s.head.Name, s.head.Description
			}
			res.Resources = append(res.Resources, r)
		}
	}
	return res, nil
}

// resource returns a file as a resource of a name.
func (f skillFile) resource(name string) *sdk.Resource {
	return &sdk.Resource{URI: f.URI, Name: name, MIMEType: f.MIMEType, Size: int64(f.Size)}
}

// getSkill answers skills/get, for every prompt that the caller may read.
func (d *handler) getSkill(ctx context.Context, _ *sdk.ServerSession, p *getSkillParams) (*getSkillResult, error) {
	c := callOf(ctx)
	if p == nil {
		p = &getSkillParams{}
	}
	v, f, err := d.skillAt(ctx, c, p.URI)
	if err == nil && f.Path != prompt.SkillFile {
		err = errNoSkill()
	}
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	e, err := entry(v.Prompt, skill.Summarize(v.Prompt), v.Files, f.Bytes)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	return &getSkillResult{extended: extend(ctx), Skill: e}, nil
}

type readDirectoryParams struct {
	sdk.ParamsBase
	URI    string `json:"uri"`
	Cursor string `json:"cursor,omitempty"`
}

type readDirectoryResult struct {
	extended
	Resources []*sdk.Resource `json:"resources"`
}

// readDirectory answers resources/directory/read with the files and folders directly in the folder
// of a skill, or in a folder below it.
func (d *handler) readDirectory(ctx context.Context, _ *sdk.ServerSession,
	p *readDirectoryParams,
) (*readDirectoryResult, error) {
	c := callOf(ctx)
	if p == nil {
		p = &readDirectoryParams{}
	}
	children, err := d.childrenOf(ctx, c, p.URI, p.Cursor)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	return &readDirectoryResult{extended: extend(ctx), Resources: children}, nil
}

func (d *handler) childrenOf(ctx context.Context, c *call, uri, cursor string) ([]*sdk.Resource, error) {
	if cursor != "" { // a folder is one page
		return nil, errCursor()
	}
	id, name, below, ok := splitURI(uri)
	if !ok {
		return nil, errNoFolder()
	}
	v, err := d.Service.Lookup(ctx, c.User, prompt.Ref{Name: string(id)})
	var files prompt.Files
	if err == nil && v.Slug != name {
		err = errNoFolder()
	}
	if err == nil {
		files, _, err = library.FilesOf(v.Prompt)
	}
	if fault.Of(err) == fault.NotFound {
		err = errNoFolder()
	}
	if err != nil {
		return nil, err
	}
	if below != "" {
		below += "/"
	}
	folder, found := folderURI(v.Prompt), map[string]bool{}
	children := []*sdk.Resource{}
	for _, f := range files {
		rest, inside := strings.CutPrefix(f.Path, below)
		child, _, deeper := strings.Cut(rest, "/")
		if !inside || found[child] {
			continue
		}
		found[child] = true
		r := skillFile{URI: fileURI(folder, below+child), Size: f.Size, MIMEType: typeOf(f.Path)}.resource(child)
		if deeper {
			r.Size, r.MIMEType = 0, directory
		}
		children = append(children, r)
	}
	if len(children) == 0 {
		return nil, errNoFolder()
	}
	return children, nil
}

func errNoFolder() error {
	return fault.New(fault.NotFound, "there is no such folder of a skill; a folder has no slash at its end")
}

// readSkill answers resources/read.
func (d *handler) readSkill(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	c := callOf(ctx)
	_, f, err := d.skillAt(ctx, c, req.Params.URI)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	contents := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: typeOf(f.Path)}
	switch {
	case len(f.Bytes) == 0: // the library leaves an empty text out, and clients want either
		contents.Blob = []byte{}
	case !prompt.IsText(f.Bytes):
		contents.Blob = f.Bytes
	default:
		if contents.Text = string(f.Bytes); contents.MIMEType != markdown {
			contents.MIMEType = "text/plain"
		}
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// splitURI returns what the address of a file or a folder of a skill names: the id and the slug of
// the prompt, and the path below its folder, "" for that folder itself.
func splitURI(uri string) (id prompt.ID, name, path string, ok bool) {
	rest, ok := strings.CutPrefix(uri, skillScheme)
	text, rest, _ := strings.Cut(rest, "/")
	name, path, below := strings.Cut(rest, "/")
	id, isID := prompt.ParseID(text)
	path, err := url.PathUnescape(path)
	return id, name, path, ok && isID && err == nil && below == (path != "")
}

// skillAt returns the prompt and the file that the address of a file of a skill names.
func (d *handler) skillAt(ctx context.Context, c *call, uri string) (v library.View, f prompt.FileBytes, err error) {
	id, name, path, ok := splitURI(uri)
	if !ok || path == "" {
		return v, f, errNoSkill()
	}
	v, f, err = d.skillFile(ctx, c, prompt.Ref{Name: string(id)}, path)
	if err == nil && v.Slug != name {
		err = errNoSkill()
	}
	return v, f, err
}

// skillFile returns a prompt that is a skill, and a file of it.
func (d *handler) skillFile(ctx context.Context, c *call, ref prompt.Ref,
	path string,
) (library.View, prompt.FileBytes, error) {
	v, err := d.Service.Lookup(ctx, c.User, ref)
	if err == nil {
		var folder library.Folder
		if folder, err = d.Service.FolderOf(ctx, v, path); err == nil {
			return v, folder.Contents[0], nil
		}
	}
	if fault.Of(err) == fault.NotFound {
		err = errNoSkill()
	}
	return v, prompt.FileBytes{}, err
}

func errNoSkill() error {
	return fault.New(fault.NotFound, "there is no such skill, or it has no such file")
}
