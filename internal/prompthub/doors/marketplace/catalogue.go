package marketplace

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	catalogueName = "marketplace.json"
	maxSkills     = 500 // of a catalogue, the newest
	perPage       = 100
)

// A catalogue is a marketplace.json.
type catalogue struct {
	Name     string   `json:"name"`
	Owner    owner    `json:"owner"`
	Metadata metadata `json:"metadata"`
	Plugins  []plugin `json:"plugins"`
}

type owner struct {
	Name string `json:"name"`
}

type metadata struct {
	Description string `json:"description"`
}

// A plugin is an entry of a catalogue. Installers take a version that differs from theirs, a lower
// one too.
type plugin struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Version     string  `json:"version"`
	Source      archive `json:"source"`
}

type archive struct {
	Source string `json:"source"`
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

// A shelf is whose prompts a catalogue lists: the caller's own, unless it has a handle.
type shelf struct {
	path       string // below Prefix
	name       string // of the catalogue, by which installers call it
	about      string
	handle     string // of an author, whose public prompts it lists, or of the owner of a collection
	workspace  string // the handle of one
	collection string // the slug of one
}

// isOwn reports whether a shelf is for its owner alone.
func (s shelf) isOwn() bool { return s.handle == "" }

// shelfOf returns the shelf that a path names.
func shelfOf(r *http.Request) (shelf, error) {
	handle, workspace, collection := r.PathValue("handle"), r.PathValue("workspace"), r.PathValue("collection")
	switch {
	case workspace != "":
		return shelf{
			path: "/w/" + workspace, name: skill.MarketplaceName(workspace), workspace: workspace,
			about: "The skills of the workspace " + workspace,
		}, nil
	case handle == "":
		return shelf{path: "/me", name: skill.MarketplaceName("me"), about: "All skills of your own"}, nil
	case handle == library.Me:
		return shelf{}, fault.New(fault.NotFound, "there is no such user")
	case collection != "":
		return shelf{
			path: "/c/" + handle + "/" + collection, name: skill.MarketplaceName(handle, collection),
			handle: handle, collection: collection,
		}, nil
	case !prompt.NamesUser(handle):
		return shelf{}, fault.New(fault.NotFound, "there is no such user")
	}
	return shelf{
		path: "/u/" + handle, name: skill.MarketplaceName(handle), handle: handle,
		about: "The public skills of " + handle,
	}, nil
}

// A reader reads a shelf for a caller, and gives out addresses for them.
type reader struct {
	*handler
	shelf
	doors.Caller
	origin string
}

// isSigned reports whether a package of the shelf is at an address that the caller's token signs.
func (r reader) isSigned() bool {
	return r.isOwn() || !r.PublicRead || r.collection != "" && r.Grant != nil
}

// plugin returns an entry for the package at a path.
func (r reader) plugin(ctx context.Context, name, about, version, path, digest string) (p plugin, err error) {
	p = plugin{Name: name, Description: about, Version: version, Source: archive{"archive", r.origin + path, digest}}
	if r.isSigned() {
		p.Source.URL, err = r.signed(ctx, r.User, path, r.origin)
	}
	return p, err
}

// catalogue answers with the skills of a shelf. The same skills make the same catalogue all day.
func (d *handler) catalogue(w http.ResponseWriter, req *http.Request) error {
	s, err := shelfOf(req)
	if err != nil {
		return err
	}
	c, err := d.Door.Admit(w, req, doors.Need{Scope: auth.ScopeRead, Users: s.isOwn()})
	if err != nil {
		return err
	}
	leave, err := d.Door.AwaitPlace(req.Context(), c.Key)
	if err != nil {
		return err
	}
	defer leave()
	r := reader{d, s, c, httpjson.Origin(req, d.Public)}
	all := catalogue{
		Name: s.name, Owner: owner{cmp.Or(s.handle, s.workspace, c.Name, "me")},
		Metadata: metadata{s.about}, Plugins: []plugin{},
	}
	if s.collection != "" {
		err = r.collected(req.Context(), &all)
	} else {
		err = r.skills(req.Context(), &all)
	}
	if err != nil {
		return err
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the client has gone away
	return nil
}

// add puts a version of a prompt into a catalogue, unless it is no skill or another has its name.
func (r reader) add(ctx context.Context, to *catalogue, v library.View, o prompt.ProgramSummary) error {
	isNamed := func(p plugin) bool { return p.Name == v.Slug }
	if o.Package == "" || slices.ContainsFunc(to.Plugins, isNamed) {
		return nil
	}
	about := skill.Head(v.Prompt, o.About, o.Version).Description
	path := address{id: v.ID, version: o.Version, digest: o.Package}.path()
	p, err := r.plugin(ctx, v.Slug, about, skill.PluginVersion(o.Version), path, o.Package)
	to.Plugins = append(to.Plugins, p)
	return err
}

// skills puts the skills of a person or a workspace into a catalogue, the newest first, and the
// plugin that brings the library itself.
func (r reader) skills(ctx context.Context, to *catalogue) (err error) {
	who := r.User
	if r.workspace != "" {
		if who, err = r.Service.In(ctx, who, r.workspace); err != nil {
			return err
		}
	}
	var p library.Page
	for looked := 0; looked < maxSkills; looked += perPage {
		if r.isOwn() {
			q := library.MineQuery{Sort: library.ByNewest, Limit: perPage, Cursor: p.Next, NoVotes: true}
			p, err = r.Service.Mine(ctx, who, q)
		} else {
			q := library.AuthorSearch{Handle: r.shelf.handle, Limit: perPage, Cursor: p.Next}
			p, err = r.Service.ByAuthor(ctx, auth.User{}, q)
		}
		if err != nil {
			return err
		}
		served, err := r.Service.Served(ctx, who, p.Items)
		if err != nil {
			return err
		}
		for _, v := range served {
			if o := v.ProgramSummary(v.Viewer); o != nil {
				if err := r.add(ctx, to, v, *o); err != nil {
					return err
				}
			}
		}
		if p.Next == "" {
			break
		}
	}
	if !slices.ContainsFunc(to.Plugins, func(p plugin) bool { return p.Name == libraryName }) {
		to.Plugins = append(to.Plugins, libraryPlugin(r.shelf, r.origin))
	}
	return nil
}
