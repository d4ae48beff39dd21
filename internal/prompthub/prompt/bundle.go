package prompt

import "slices"

// MaxSkillText is how long the text of a prompt with files may be, in UTF-16 code units, whatever
// the limit of others is.
const MaxSkillText = 131_072

// A Bundle names the archives that are made of all files of a version, each by its SHA-256 in hex.
// Those who install a skill check by it what arrives.
type Bundle struct {
	Slug    string `json:"slug,omitempty"`    // of the prompt when they were made, by which they call the skill
	Archive string `json:"archive,omitempty"` // the ZIP of the files alone
	Package string `json:"package,omitempty"` // the ZIP of a plugin with them
}

// Written returns the files without a SKILL.md that the program made of the text.
func (f Files) Written() Files {
	return slices.DeleteFunc(slices.Clone(f), func(file File) bool { return file.Made })
}

// Same reports whether two versions have the same files, but for a SKILL.md that the program made,
// which follows from what else they say.
func (f Files) Same(g Files) bool {
	same := func(a, b File) bool { return a.Path == b.Path && a.SHA256 == b.SHA256 && a.Executable == b.Executable }
	return slices.EqualFunc(f.Written(), g.Written(), same)
}

// SkillFile returns the SKILL.md of a version, and whether it has one among its files.
func (f Files) SkillFile() (File, bool) {
	i := slices.IndexFunc(f, func(file File) bool { return file.Path == SkillFile })
	if i < 0 {
		return File{}, false
	}
	return f[i], true
}

// WrittenSkill reports whether the author wrote the SKILL.md, which then says what the text and the
// description say.
func (f Files) WrittenSkill() bool {
	_, written := f.Written().SkillFile()
	return written
}
