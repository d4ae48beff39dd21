package skill

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
)

// Bundled returns a prompt with the files of its version complete, and with the names of the
// archives that are made of them. All has the bytes of the files by their SHA-256; it gets those of
// a SKILL.md that is made of the text.
func Bundled(p prompt.Prompt, all map[string][]byte) (prompt.Prompt, error) {
	files := p.Files.Written()
	if _, written := files.SkillFile(); !written {
		s, ok := Of(p)
		if !ok {
			return p, fault.Coded(fault.Invalid, prompt.BadSkill,
				"a prompt with files needs a text, of which its SKILL.md is made, or a SKILL.md among the files")
		}
		b := s.File()
		f := prompt.NewFile(prompt.FileBytes{Path: prompt.SkillFile, Bytes: b})
		f.Made = true
		files, all[f.SHA256] = append(files, f), b
		slices.SortFunc(files, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	}
	for i, f := range files {
		b := all[f.SHA256]
		// which another prompt had, or this one before another took its name
		if f.Path == prompt.SkillFile && !f.Made && !p.FilesAsBefore {
			b = WithName(b, p.Slug)
		}
		files[i] = prompt.NewFile(prompt.FileBytes{Path: f.Path, Bytes: b, Executable: f.Executable})
		files[i].Made, all[files[i].SHA256] = f.Made, b
	}
	if err := files.Check(); err != nil {
		return p, err
	}
	p.Files = files
	folder := Folder(files, all)
	p.Bundle = prompt.Bundle{Slug: p.Slug, Archive: Sum(archive.Write(folder))}
	p.Bundle.Package = Sum(archive.Write(Plugin(p, folder)))
	return p, nil
}

// Folder returns files with their bytes.
func Folder(files prompt.Files, all map[string][]byte) []prompt.FileBytes {
	list := make([]prompt.FileBytes, len(files))
	for i, f := range files {
		list[i] = prompt.FileBytes{Path: f.Path, Bytes: all[f.SHA256], Executable: f.Executable}
	}
	return list
}

// Sum returns the SHA-256 of bytes, in hex.
func Sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// A manifest is the plugin.json of a plugin, https://agent-plugins.org.
type manifest struct {
	Schema      string `json:"$schema"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	License     string `json:"license,omitempty"`
}

// Plugin returns the files of a plugin with one skill: those of the version of a prompt below
// skills/SLUG, and plugin.json. They depend on nothing but the version, so that the same version
// gives the same plugin from every instance and release.
func Plugin(p prompt.Prompt, folder []prompt.FileBytes) []prompt.FileBytes {
	slug := cmp.Or(p.Bundle.Slug, p.Slug)
	license := ""
	for _, f := range folder {
		if f.Path == prompt.SkillFile {
			license = LicenseIn(f.Bytes)
		}
	}
	about := Head(p, p.About(), p.Version).Description
	return append([]prompt.FileBytes{Manifest(slug, about, PluginVersion(p.Version), license)},
		InPlugin(slug, folder)...)
}

// InPlugin returns the files of a skill as a plugin has them.
func InPlugin(slug string, folder []prompt.FileBytes) []prompt.FileBytes {
	var files []prompt.FileBytes
	for _, f := range folder {
		f.Path = "skills/" + slug + "/" + f.Path
		files = append(files, f)
	}
	return files
}

// Manifest returns the plugin.json of a plugin; its license may be "".
func Manifest(name, description, version, license string) prompt.FileBytes {
	b, err := json.MarshalIndent(manifest{
		Schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
		Name:   name, Version: version, Description: description, License: license,
	}, "", "  ")
	if err != nil {
		panic(err) // unreachable: texts cannot fail
	}
	return prompt.FileBytes{Path: "plugin.json", Bytes: append(b, '\n')}
}

// MarketplaceName returns how installers call a marketplace: by the handle or the key of its owner,
// and by the slug of a collection. Neither has two hyphens, so no two marketplaces have one name.
func MarketplaceName(parts ...string) string { return "prompthub-" + strings.Join(parts, "--") }

// PluginVersion returns the version of a plugin of a number: installers compare it with the one
// that they have.
func PluginVersion(n int64) string { return strconv.FormatInt(max(n, 1), 10) + ".0.0" }
