package gitdoor

import (
	"context"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/git"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A plugin is a skill as a repository of many has it. It is zero for a version that is no skill.
type plugin struct {
	tree        git.ID // of its folder
	name        string // of the skill: its slug when its files were saved
	skill       git.ID // of the folder of the skill
	manifest    []byte // its plugin.json
	about       string
	undescribed bool // whether it shows the description that the prompt has now
}

// entries returns what is in the folder of the plugin, and adds the manifest to a repository, if
// one is given.
func (p plugin) entries(r *repository) []git.Entry {
	e := git.Entry{Name: "plugin.json", Mode: git.File, ID: git.BlobID(p.manifest)}
	if r != nil {
		e = r.putMade(e.Name, func() []byte { return p.manifest })
	}
	return []git.Entry{e, {Name: "skills/" + p.name, Mode: git.Folder, ID: p.skill}}
}

// at returns a prompt as it is in a listing: with a version, and with the names that it had.
func at(p prompt.Prompt, of listed, v prompt.Version) prompt.Prompt {
	if v.Undescribed && of.About != "" {
		p.Description = of.About
	}
	p.Slug, p.Title = of.Slug, of.Title
	return p.At(v)
}

// plugin returns a skill of a listing as a plugin.
func (x reader) plugin(ctx context.Context, one library.Standing, of listed) (plugin, error) {
	key := of
	if p, ok := x.plugins.Get(key); ok && (!p.undescribed || of.About != "") {
		return p, nil
	}
	if !one.Shows(of.Version) { // the line would have begun anew
		return plugin{}, errDiffers
	}
	v, err := x.Service.VersionOf(ctx, one.Prompt, of.Version)
	if err != nil || v.Recall != nil { // recalled a moment ago
		return plugin{}, err
	}
	version := at(one.Prompt, of, v)
	files, made, err := library.FilesOf(version)
	if fault.Of(err) == fault.NotFound {
		x.plugins.Add(key, plugin{})
		return plugin{}, nil
	}
	if err != nil {
		return plugin{}, err
	}
	if f, ok := files.SkillFile(); ok && made == nil {
		bytes, err := x.Service.FileBytes(ctx, one.ID, prompt.Files{f})
		if err != nil {
			return plugin{}, err
		}
		made = bytes[f.SHA256]
	}
	as := skill.Plugin(version, []prompt.FileBytes{{Path: prompt.SkillFile, Bytes: made}})
	p := plugin{
		name: version.Bundle.Slug, manifest: as[0].Bytes,
		about: skill.Head(version, version.About(), of.Version).Description, undescribed: v.Undescribed,
	}
	if p.name == "" {
		p.name = of.Slug
	}
	p.skill = git.MakeTrees(files.Entries(), nil)
	p.tree = git.MakeTrees(p.entries(nil), nil)
	if v.Undescribed {
		key.About = version.Description
	}
	x.plugins.Add(key, p)
	return p, nil
}

// skillFolder reads the files of a skill of a listing.
func (x reader) skillFolder(ctx context.Context, one library.Standing, of listed) (folder, error) {
	v, err := x.Service.VersionOf(ctx, one.Prompt, of.Version)
	if err != nil {
		return folder{}, err
	}
	files, made, err := library.FilesOf(at(one.Prompt, of, v))
	return folder{one.ID, files, made}, err
}

// each calls f for every number below n, some at once.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAtOnce)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}
