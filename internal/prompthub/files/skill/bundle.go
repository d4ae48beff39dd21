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
			return p, fault.Coded(fault.Invalid, prompt.BadSkill, "a prompt with files needs a text, of which its SKILL.md is made, or a SKILL.md among the files")
		}
		b := s.File()
		f := prompt.NewFile(prompt.FileBytes{Path: FileName, Bytes: b})
		f.Made = true
		files, all[f.SHA256] = append(files, f), b
		slices.SortFunc(files, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	}
	for i, f := range files {
		b := all[f.SHA256]
		// which another prompt had, or this one before another took its name
		if f.Path == FileName && !f.Made && !p.FilesAsBefore {
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
	p.Bundle = prompt.Bundle{Slug: p.Slug, Archive: sum(archive.Write(folder))}
	p.Bundle.Package = sum(archive.Write(Plugin(p, folder)))
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

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// A manifest is the plugin.json of a plugin, https://agent-plugins.org.
type manifest struct {
	Schema      string `json:"$schema"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

// Plugin returns the files of a plugin with one skill: those of the version of a prompt below
// skills/SLUG, and plugin.json. They depend on nothing but the version, so that the same version
// gives the same plugin from every instance and release.
func Plugin(p prompt.Prompt, folder []prompt.FileBytes) []prompt.FileBytes {
	slug := cmp.Or(p.Bundle.Slug, p.Slug)
	files := []prompt.FileBytes{Manifest(slug, Head(p, p.About(), p.Version).Description, p.Version)}
	for _, f := range folder {
		f.Path = "skills/" + slug + "/" + f.Path
		files = append(files, f)
	}
	return files
}

// Manifest returns the plugin.json of a plugin of a number.
func Manifest(name, description string, n int64) prompt.FileBytes {
	b, err := json.MarshalIndent(manifest{
		Schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
		Name:   name, Version: PluginVersion(n), Description: description,
	}, "", "  ")
	if err != nil {
		panic(err) // unreachable: texts cannot fail
	}
	return prompt.FileBytes{Path: "plugin.json", Bytes: append(b, '\n')}
}

// MarketplaceName returns how installers call the marketplace of an owner, by the handle or the key.
func MarketplaceName(owner string) string { return "prompthub-" + owner }

// PluginVersion returns the version of a plugin of a number: installers compare it with the one
// that they have.
func PluginVersion(n int64) string { return strconv.FormatInt(max(n, 1), 10) + ".0.0" }
