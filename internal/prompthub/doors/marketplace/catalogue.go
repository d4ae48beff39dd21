package marketplace

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

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
	path      string // below Prefix
	name      string // of the catalogue, by which installers call it
	about     string
	handle    string // of an author, whose public prompts it lists
	workspace string // the handle of one
}

// isOwn reports whether a shelf has private prompts too.
func (s shelf) isOwn() bool { return s.handle == "" }

// shelfOf returns the shelf that a path names.
func shelfOf(r *http.Request) (shelf, error) {
	handle, workspace := r.PathValue("handle"), r.PathValue("workspace")
	switch {
	case workspace != "":
		return shelf{
			path:      "/w/" + workspace,
			name:      skill.MarketplaceName(workspace),
			about:     "The skills of the workspace " + workspace,
			workspace: workspace,
		}, nil
	case handle == "":
		return shelf{path: "/me", name: skill.MarketplaceName("me"), about: "All skills of your own"}, nil
	case handle == library.Me || !prompt.NamesUser(handle):
		return shelf{}, fault.New(fault.NotFound, "there is no such user")
	}
	return shelf{
		path:   "/u/" + handle,
		name:   skill.MarketplaceName(handle),
		about:  "The public skills of " + handle,
		handle: handle,
	}, nil
}

// catalogue answers with the skills of a shelf, and the plugin that brings the library itself. The
// same skills make the same catalogue all day.
func (d *handler) catalogue(w http.ResponseWriter, r *http.Request) error {
	s, err := shelfOf(r)
	if err != nil {
		return err
	}
	c, err := d.Door.Admit(w, r, doors.Need{Scope: auth.ScopeRead, Users: s.isOwn()})
	if err != nil {
		return err
	}
	leave, err := d.Door.AwaitPlace(r.Context(), c.Key)
	if err != nil {
		return err
	}
	defer leave()
	views, err := d.skills(r.Context(), c.User, s)
	if err != nil {
		return err
	}
	origin := httpjson.Origin(r, d.Public)
	all := catalogue{
		Name:     s.name,
		Owner:    owner{cmp.Or(s.handle, s.workspace, c.Name, "me")},
		Metadata: metadata{s.about},
		Plugins:  []plugin{},
	}
	names := map[string]bool{}
	for _, v := range views {
		o := v.ProgramSummary(v.Viewer)
		if o == nil || o.Package == "" || names[v.Slug] {
			continue
		}
		names[v.Slug] = true
		at := address{id: v.ID, version: o.Version, digest: o.Package}
		url := origin + at.path()
		if s.isOwn() || !d.PublicRead {
			if url, err = d.signed(r.Context(), c.User, at, origin); err != nil {
				return err
			}
		}
		all.Plugins = append(all.Plugins, plugin{
			Name: v.Slug, Description: skill.Head(v.Prompt, o.About, o.Version).Description,
			Version: skill.PluginVersion(o.Version), Source: archive{"archive", url, o.Package},
		})
	}
	if !names[libraryName] {
		all.Plugins = append(all.Plugins, libraryPlugin(s, origin))
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b) // the client has gone away
	return nil
}

// skills returns the prompts of a shelf that programs get, the newest first.
func (d *handler) skills(ctx context.Context, who auth.User, s shelf) (views []library.View, err error) {
	if s.workspace != "" {
		if who, err = d.Service.In(ctx, who, s.workspace); err != nil {
			return nil, err
		}
	}
	var p library.Page
	for looked := 0; looked < maxSkills; looked += perPage {
		if s.isOwn() {
			p, err = d.Service.Mine(
				ctx,
				who,
				library.MineQuery{Sort: library.ByNewest, Limit: perPage, Cursor: p.Next, NoVotes: true},
			)
		} else {
			p, err = d.Service.ByAuthor(ctx, auth.User{}, library.AuthorSearch{Handle: s.handle, Limit: perPage, Cursor: p.Next})
		}
		if err != nil {
			return nil, err
		}
		served, err := d.Service.Served(ctx, who, p.Items)
		if err != nil {
			return nil, err
		}
		if views = append(views, served...); p.Next == "" {
			break
		}
	}
	return views, nil
}
