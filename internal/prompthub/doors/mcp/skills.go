package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The extension of the protocol for skills is SEP-2640. A prompt is a skill of one file, at
// skill://ID/SLUG/SKILL.md.
const (
	skillsExtension = "io.modelcontextprotocol/skills"
	skillScheme     = "skill://"
	markdown        = "text/markdown"
)

// skills adds the methods of the extension.
func (d *handler) skills(s *sdk.Server) {
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "skill", URITemplate: skillScheme + "{id}/{name}/" + skill.FileName, MIMEType: markdown,
		Description: "A prompt as an Agent Skill, by its id and its slug",
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

func entry(p prompt.Prompt, o prompt.ProgramSummary) skillEntry {
	uri := skillScheme + strings.ToLower(string(p.ID)) + "/" + p.Slug + "/" + skill.FileName
	return skillEntry{URI: uri, FrontMatter: skill.Head(p, o.About, o.Version), Resources: []skillFile{
		{URI: uri, Digest: o.Digest, Size: o.Size, MIMEType: markdown},
	}}
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
	for _, v := range page.Items {
		if o := programSummary(c, v); o.Digest != "" {
			res.Skills = append(res.Skills, entry(v.Prompt, o))
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
		file := s.Resources[0]
		res.Resources = append(res.Resources, &sdk.Resource{
			URI: file.URI, Name: s.FrontMatter.Name, Description: s.FrontMatter.Description, MIMEType: file.MIMEType, Size: int64(file.Size),
		})
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
	return &getSkillResult{extended: extend(ctx), Skill: entry(v.Prompt, skill.Summarize(v.Prompt))}, nil
}

// readSkill answers resources/read.
func (d *handler) readSkill(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	c := callOf(ctx)
	_, s, err := d.skillAt(ctx, c, req.Params.URI)
	if err != nil {
		return nil, c.problem(ctx, err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
		{URI: req.Params.URI, MIMEType: markdown, Text: string(s.File())},
	}}, nil
}

// skillAt returns the prompt that the address of a skill names.
func (d *handler) skillAt(ctx context.Context, c *call, uri string) (v library.View, s skill.Skill, err error) {
	path, ok := strings.CutPrefix(uri, skillScheme)
	path, isFile := strings.CutSuffix(path, "/"+skill.FileName)
	text, name, _ := strings.Cut(path, "/")
	id, isID := prompt.ParseID(text)
	if !ok || !isFile || !isID {
		return v, s, errNoSkill()
	}
	v, s, err = d.skill(ctx, c, prompt.Ref{Name: string(id)})
	if err == nil && s.Name != name {
		err = errNoSkill()
	}
	return v, s, err
}

// skill returns a prompt as a skill.
func (d *handler) skill(ctx context.Context, c *call, ref prompt.Ref) (library.View, skill.Skill, error) {
	v, err := d.Service.Lookup(ctx, c.User, ref)
	if fault.Of(err) == fault.NotFound {
		err = errNoSkill()
	}
	if err != nil {
		return v, skill.Skill{}, err
	}
	s, ok := skill.Of(v.Prompt)
	if !ok {
		return v, s, errNoSkill()
	}
	return v, s, nil
}

func errNoSkill() error { return fault.New(fault.NotFound, "there is no such skill") }
