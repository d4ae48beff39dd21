package mcp

import (
	"context"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/fault"
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

// A skillEntry describes a skill with its files.
type skillEntry struct {
	URI         string            `json:"uri"`
	FrontMatter skill.FrontMatter `json:"frontmatter"`
	Resources   []skillFile       `json:"resources"`
}

type skillFile struct {
	URI      string `json:"uri"`
	Digest   string `json:"digest"`
	Size     int    `json:"size"`
	MIMEType string `json:"mimeType"`
}

// entry describes a skill. Files are those of its version, none for one of a text alone.
func entry(p prompt.Prompt, o prompt.ProgramSummary, files prompt.Files) skillEntry {
	folder := skillScheme + strings.ToLower(string(p.ID)) + "/" + p.Slug + "/"
	e := skillEntry{URI: folder + prompt.SkillFile, FrontMatter: skill.Head(p, o.About, o.Version)}
	if len(files) == 0 {
		e.Resources = []skillFile{{URI: e.URI, Digest: o.Digest, Size: o.Size, MIMEType: markdown}}
		return e
	}
	e.FrontMatter.Metadata = skill.Metadata{} // which the author's file has not
	for _, f := range files {
		e.Resources = append(e.Resources, skillFile{
			URI: folder + (&url.URL{Path: f.Path}).EscapedPath(), Digest: "sha256:" + f.SHA256, Size: f.Size, MIMEType: typeOf(f.Path),
		})
	}
	return e
}

// typeOf returns the media type of a file by its name: no more is known of it in a list.
func typeOf(path string) string {
	if strings.HasSuffix(path, ".md") {
		return markdown
	}
	return "application/octet-stream"
}

// listSkills answers skills/list with the prompts that prompts/list has.
func (d *handler) listSkills(ctx context.Context, _ *sdk.ServerSession, p *listSkillsParams) (*listSkillsResult, error) {
	c := callOf(ctx)
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	page, err := d.page(ctx, c, cursor)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	res := &listSkillsResult{extended: extend(ctx), Skills: []skillEntry{}, NextCursor: page.Next}
	summaries, versions := make([]prompt.ProgramSummary, len(page.Items)), make([]int64, len(page.Items))
	for i, v := range page.Items {
		if summaries[i] = programSummary(c, v); summaries[i].Files != nil {
			versions[i] = summaries[i].Version
		}
	}
	files, err := d.Service.FilesIn(ctx, page.Items, versions)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	for i, v := range page.Items {
		if summaries[i].Digest != "" {
			res.Skills = append(res.Skills, entry(v.Prompt, summaries[i], files[i]))
		}
	}
	return res, nil
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
			r := &sdk.Resource{URI: file.URI, Name: s.FrontMatter.Name, MIMEType: file.MIMEType, Size: int64(file.Size)}
			if file.URI == s.URI {
				r.Description = s.FrontMatter.Description
			} else {
				r.Name += "/" + strings.TrimPrefix(file.URI, strings.TrimSuffix(s.URI, prompt.SkillFile))
			}
			res.Resources = append(res.Resources, r)
		}
	}
	return res, nil
}

// getSkill answers skills/get, for every prompt that the caller may read.
func (d *handler) getSkill(ctx context.Context, _ *sdk.ServerSession, p *getSkillParams) (*getSkillResult, error) {
	c := callOf(ctx)
	if p == nil {
		p = &getSkillParams{}
	}
	v, _, err := d.skillAt(ctx, c, p.URI)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	return &getSkillResult{extended: extend(ctx), Skill: entry(v.Prompt, skill.Summarize(v.Prompt), v.Files)}, nil
}

// readSkill answers resources/read.
func (d *handler) readSkill(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	c := callOf(ctx)
	_, f, err := d.skillAt(ctx, c, req.Params.URI)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	contents := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: typeOf(f.Path)}
	if prompt.IsText(f.Bytes) {
		if contents.Text = string(f.Bytes); contents.MIMEType != markdown {
			contents.MIMEType = "text/plain"
		}
	} else {
		contents.Blob = f.Bytes
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
}

// skillAt returns the prompt and the file that the address of a file of a skill names.
func (d *handler) skillAt(ctx context.Context, c *call, uri string) (v library.View, f prompt.FileBytes, err error) {
	rest, ok := strings.CutPrefix(uri, skillScheme)
	text, rest, _ := strings.Cut(rest, "/")
	name, path, isFile := strings.Cut(rest, "/")
	id, isID := prompt.ParseID(text)
	path, err = url.PathUnescape(path)
	if !ok || !isFile || path == "" || !isID || err != nil {
		return v, f, errNoSkill()
	}
	v, f, err = d.skillFile(ctx, c, prompt.Ref{Name: string(id)}, path)
	if err == nil && v.Slug != name {
		err = errNoSkill()
	}
	return v, f, err
}

// skillFile returns a prompt that is a skill, and a file of it.
func (d *handler) skillFile(ctx context.Context, c *call, ref prompt.Ref, path string) (library.View, prompt.FileBytes, error) {
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
