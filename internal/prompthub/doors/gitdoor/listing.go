package gitdoor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

// A listing is what a snapshot is made of. The JSON of its parts is that of stored rows.
type listing struct {
	about
	skills map[string]listed // by their slugs
}

// An about is what a repository says of itself.
type about struct {
	Name    string  `json:"name"` // by which installers call it
	About   string  `json:"about"`
	Owner   string  `json:"owner"`
	More    int     `json:"more,omitempty"`    // how many prompts it leaves out
	Bundle  *bundle `json:"bundle,omitempty"`  // of a collection
	Library string  `json:"library,omitempty"` // the address of the library for assistants
	IsOwn   bool    `json:"own,omitempty"`     // whether that needs a token
}

// A bundle is the plugin with all skills of a collection.
type bundle struct {
	Slug    string `json:"slug"`
	Version string `json:"version,omitempty"`
}

// A listed is a skill of a listing.
type listed struct {
	ID      prompt.ID `json:"id"`
	Version int64     `json:"v"`
	Slug    string    `json:"slug"`
	Title   string    `json:"title,omitempty"`
	// the description of a version that has none of its own
	About string `json:"about,omitempty"`
}

// A change is how a listing differs from the one before.
type change struct {
	About *about   `json:"about,omitempty"`
	Put   []listed `json:"put,omitempty"`
	Gone  []string `json:"gone,omitempty"` // their slugs
}

// changeTo returns the change that makes another listing of one.
func (l listing) changeTo(next listing) (c change) {
	if !l.same(next.about) {
		c.About = &next.about
	}
	for _, slug := range slices.Sorted(maps.Keys(next.skills)) {
		if l.skills[slug] != next.skills[slug] {
			c.Put = append(c.Put, next.skills[slug])
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(l.skills)) {
		if _, stays := next.skills[slug]; !stays {
			c.Gone = append(c.Gone, slug)
		}
	}
	return c
}

func (a about) same(b about) bool { return string(jsonOf(a)) == string(jsonOf(b)) }

// apply makes the change of a listing.
func (l *listing) apply(c change) {
	if c.About != nil {
		l.about = *c.About
	}
	for _, slug := range c.Gone {
		delete(l.skills, slug)
	}
	for _, s := range c.Put {
		l.skills[s.Slug] = s
	}
}

func jsonOf(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: texts and numbers cannot fail
	}
	return b
}

// maxLines is how many skills the message of a snapshot names.
const maxLines = 50

// message returns the message of the snapshot that makes another listing of one.
func (l listing) message(next listing, begins bool) string {
	c := l.changeTo(next)
	var lines []string
	subject := ""
	for _, s := range c.Put {
		was, there := l.skills[s.Slug]
		subject = fmt.Sprintf("%s: version %d", s.Slug, s.Version)
		switch {
		case !there:
			lines = append(lines, fmt.Sprintf("+ %s %d", s.Slug, s.Version))
		case was.Version != s.Version:
			lines = append(lines, fmt.Sprintf("~ %s %d to %d", s.Slug, was.Version, s.Version))
		default:
			lines = append(lines, fmt.Sprintf("~ %s %d", s.Slug, s.Version))
		}
	}
	for _, slug := range c.Gone {
		lines = append(lines, "- "+slug)
		subject = slug + ": taken out"
	}
	switch {
	case begins:
		subject = "History begins anew"
	case len(lines) == 0:
		return "Another description\n"
	case len(lines) > 1:
		subject = fmt.Sprintf("%d skills changed", len(lines))
	}
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines], fmt.Sprintf("and %d more", more))
	}
	return subject + "\n\n" + strings.Join(lines, "\n") + "\n"
}

// A catalogue is a marketplace.json whose plugins are folders of the repository.
type catalogue struct {
	Name     string            `json:"name"`
	Owner    map[string]string `json:"owner"`
	Metadata map[string]string `json:"metadata"`
	Plugins  []entry           `json:"plugins"`
}

type entry struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Version     string `json:"version"`
	Source      string `json:"source"`
}

// pluginPath is where the plugin of a name is.
func pluginPath(name string) string { return "plugins/" + name }

// hasLibrary reports whether the listing has the plugin of the library: a skill of this name is the
// one that its author means.
func (l listing) hasLibrary() bool {
	_, taken := l.skills[skill.LibraryName]
	return l.Library != "" && !taken
}

// marketplace returns the catalogue of a listing, whose skills are these plugins.
func (l listing) marketplace(plugins map[string]plugin) []byte {
	c := catalogue{
		Name: l.Name, Owner: map[string]string{"name": l.Owner},
		Metadata: map[string]string{"description": l.about.About}, Plugins: []entry{},
	}
	add := func(name, about, version string) {
		c.Plugins = append(c.Plugins, entry{name, about, version, "./" + pluginPath(name)})
	}
	if l.Bundle != nil && len(l.skills) > 0 {
		add(l.Bundle.Slug, l.about.About, l.Bundle.Version)
	}
	for _, slug := range slices.Sorted(maps.Keys(l.skills)) {
		if l.Bundle == nil || slug != l.Bundle.Slug {
			add(slug, plugins[slug].about, skill.PluginVersion(l.skills[slug].Version))
		}
	}
	if l.hasLibrary() {
		add(skill.LibraryName, skill.LibraryAbout, skill.LibraryVersion)
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic(err) // unreachable: texts cannot fail
	}
	return append(b, '\n')
}

// readme returns the README.md of a listing.
func (l listing) readme() []byte {
	var b strings.Builder
	plain := strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;")
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", l.Name, plain.Replace(l.about.About))
	fmt.Fprintf(&b, "Skills: %d. Each is a plugin in `plugins/`, and `.claude-plugin/marketplace.json` lists them.\n",
		len(l.skills))
	if l.More > 0 {
		fmt.Fprintf(&b, "The newest are here; %d more are left out.\n", l.More)
	}
	b.WriteString("\nThis repository follows a prompt library, and is read only. `git pull` brings what changed.\n" +
		"Where something was withdrawn, its history begins anew: `git fetch && git reset --hard origin/main`.\n")
	return []byte(b.String())
}
