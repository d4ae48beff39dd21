package prompt

import (
	"fmt"
	"maps"
	"slices"
)

// MergeFiles is Merge for the files of versions, each as a whole, but for SKILL.md: that says what
// the text says, so it is merged as that is.
func MergeFiles(base, mine, theirs Files) (merged Files, clashes []Clash) {
	all := make(map[string][3]File) // by path: those of the base, mine, theirs
	for i, files := range []Files{base, mine, theirs} {
		for _, f := range files {
			at := all[f.Path]
			at[i] = f
			all[f.Path] = at
		}
	}
	delete(all, SkillFile)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		a, b, c := all[path][0], all[path][1], all[path][2]
		f, ok := third(a, b, c, func(a, b File) bool { return a.SHA256 == b.SHA256 && a.Executable == b.Executable })
		switch {
		case !ok:
			clashes = append(clashes, Clash{Field: path, Mine: b.told(), Theirs: c.told()})
		case f.Path != "":
			merged = append(merged, f)
		}
	}
	return merged, clashes
}

// told says what a file is, for those who must choose one.
func (f File) told() string {
	switch {
	case f.Path == "":
		return "no file"
	case f.Executable:
		return fmt.Sprintf("an executable file of %d bytes, SHA-256 %.12s…", f.Size, f.SHA256)
	}
	return fmt.Sprintf("a file of %d bytes, SHA-256 %.12s…", f.Size, f.SHA256)
}
