package marketplace

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	zip "prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// maxTogether is how many bytes the files of a collection may have in one package: as many as those
// of one version. A larger collection has no package, and its skills are installed one by one.
const maxTogether = prompt.MaxFilesSize

// keptDigests is how many digests of packages of collections an instance keeps.
const keptDigests = 1000

// collectionOf returns the collection of a shelf as a program sees it. One without an access token
// sees what everybody does: it gets addresses that are not signed.
func (d *handler) collectionOf(ctx context.Context, who auth.User, s shelf) (library.Collection, error) {
	if who.Grant == nil || who.Grant.TokenID == "" {
		who = auth.User{}
	}
	return d.Service.Collection(ctx, who, s.handle, s.collection)
}

// collected puts a collection into a catalogue: as one plugin, and each of its skills.
func (r reader) collected(ctx context.Context, to *catalogue) error {
	c, err := r.collectionOf(ctx, r.User, r.shelf)
	if err != nil {
		return err
	}
	to.Metadata.Description = aboutOf(c)
	summaries := make([]prompt.ProgramSummary, len(c.Skills))
	for i, v := range c.Skills {
		summaries[i] = skill.Summarize(v.Prompt)
	}
	if len(c.Skills) > 0 && together(c) <= maxTogether {
		digest, err := r.digest(ctx, c, summaries)
		if err != nil {
			return err
		}
		path := Prefix + r.path + "/" + digest + ending
		p, err := r.plugin(ctx, c.Slug, aboutOf(c), c.PluginVersion(), path, digest)
		if err != nil {
			return err
		}
		to.Plugins = append(to.Plugins, p)
	}
	for i, v := range c.Skills {
		if err := r.add(ctx, to, v, summaries[i]); err != nil {
			return err
		}
	}
	return nil
}

// aboutOf describes the plugin of a collection.
func aboutOf(c library.Collection) string { return cmp.Or(c.About, c.Name) }

// together returns how many bytes the files of a collection have.
func together(c library.Collection) (n int) {
	for _, v := range c.Skills {
		n += max(v.Files.Size(), len(v.Text))
	}
	return n
}

// digest returns the digest of the package of a collection, which follows from those of its skills.
func (d *handler) digest(ctx context.Context, c library.Collection, of []prompt.ProgramSummary) (string, error) {
	var key strings.Builder
	fmt.Fprintf(&key, "%q %q %q", c.Slug, aboutOf(c), c.PluginVersion())
	for _, o := range of {
		key.WriteString(" " + o.Package)
	}
	if digest, ok := d.digests.Get(key.String()); ok {
		return digest, nil
	}
	b, err := d.collectionPackage(ctx, c)
	if err != nil {
		return "", err
	}
	digest := skill.Sum(b)
	d.digests.Add(key.String(), digest)
	return digest, nil
}

// collectionPackage returns the package of a collection: a plugin with all its skills.
func (d *handler) collectionPackage(ctx context.Context, c library.Collection) ([]byte, error) {
	files := []prompt.FileBytes{skill.Manifest(c.Slug, aboutOf(c), c.PluginVersion(), "")}
	slugs := map[string]bool{}
	for _, v := range c.Skills {
		slug := cmp.Or(v.Bundle.Slug, v.Slug) // by which its SKILL.md is named
		if slugs[slug] {
			continue
		}
		slugs[slug] = true
		folder, err := d.Service.FolderOf(ctx, v, "")
		if err != nil {
			return nil, err
		}
		files = append(files, skill.InPlugin(slug, folder.Contents)...)
	}
	return zip.Write(files), nil
}

// packCollection answers with the package of a collection.
func (d *handler) packCollection(w http.ResponseWriter, r *http.Request) error {
	s, err := shelfOf(r)
	if err != nil {
		return err
	}
	digest, isZIP := strings.CutSuffix(r.PathValue("package"), ending)
	if !isZIP {
		return errNoPackage()
	}
	c, leave, err := d.admit(w, r, Prefix+s.path+"/"+digest+ending)
	if err != nil {
		return err
	}
	defer leave()
	of, err := d.collectionOf(r.Context(), c.User, s)
	if err != nil {
		return err
	}
	if together(of) > maxTogether {
		return errNoPackage()
	}
	b, err := d.collectionPackage(r.Context(), of)
	if err != nil {
		return err
	}
	return d.send(w, r, c, b, digest, of.Skills...)
}

func errNoPackage() error { return fault.New(fault.NotFound, "there is no such package") }
