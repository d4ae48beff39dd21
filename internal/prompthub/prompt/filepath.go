package prompt

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"prompthub/internal/legible"
)

var (
	// devices are names that Windows takes for devices, also before a dot and more.
	devices = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)`)

	// gitNames are names that git takes for its own, and the short ones that Windows gives to them.
	gitNames = regexp.MustCompile(
		`(?i)^(\.git|\.gitmodules|\.gitattributes|(git(mod|att)?|g?|gi|gi7|gi7e(ba?)?|gi7d(29?)?)~[0-9]+)$`)
)

// CheckPath reports which rule the path of a file breaks by itself. The error is a *fault.Error of
// the kind Invalid.
func CheckPath(path string) error {
	broken := func(format string, args ...any) error { return badFile(BadPath, path, format, args...) }
	switch {
	case path == "":
		return broken("give the file a path")
	case len(path) > maxPath:
		return broken("shorten the path to at most %d bytes, it has %d", maxPath, len(path))
	case !utf8.ValidString(path):
		return broken("send the path as valid UTF-8")
	case !norm.NFC.IsNormalString(path):
		return broken("send the path in the normal form C of Unicode")
	}
	for _, r := range path {
		if barredFromPath(r) {
			return broken("take %U out of the path: systems do not agree on what it means in one", r)
		}
	}
	for range legible.Invisible(path) {
		return broken("take characters out of the path that no reader sees")
	}
	parts := strings.Split(path, "/")
	if len(parts) > maxPathParts {
		return broken("the path has %d parts: put the file into at most %d folders", len(parts), maxPathParts-1)
	}
	for _, part := range parts {
		switch {
		case part == "":
			return broken("begin and end the path with a name, and put one slash between two names")
		case part == "." || part == "..":
			return broken("write the path from the root of the folder, without . and ..")
		case strings.HasPrefix(part, " "):
			return broken("take the space away with which %q begins", part)
		case strings.HasSuffix(part, " ") || strings.HasSuffix(part, "."):
			return broken("take the space or dot away with which %q ends", part)
		case devices.MatchString(part):
			return broken("give %q another name: Windows takes it for a device", part)
		case gitNames.MatchString(part):
			return broken("give %q another name: git takes it for its own", part)
		}
	}
	return nil
}

// barredFromPath reports whether a character is one that no path may have: controls, those that
// Windows does not take, and those that are not seen.
func barredFromPath(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r <= 0x9F, strings.ContainsRune(`<>:"|?*\`, r):
		return true
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0xFEFF:
		return true
	}
	return false
}

// checkPaths reports which rule the paths break, each by itself and with one another: no two are
// one where case does not count, be they of files or of the folders that these are in.
func (f Files) checkPaths() error {
	type place struct {
		path string
		file bool
	}
	taken := make(map[string]place, len(f)) // by the path as systems without case compare it
	fold := cases.Fold()
	folded := func(path string) string { return norm.NFD.String(fold.String(norm.NFD.String(path))) }
	skillFile := folded(SkillFile)
	bytes := 0
	for _, x := range f {
		if err := CheckPath(x.Path); err != nil {
			return err
		}
		if bytes += len(x.Path); bytes > maxPaths {
			return badFile(BadPath, x.Path,
				"with it the paths have more than %d bytes together: shorten some", maxPaths)
		}
		if first, _, _ := strings.Cut(x.Path, "/"); x.Path != SkillFile && folded(first) == skillFile {
			return badFile(BadPath, x.Path,
				"call it %s: no other file and no folder at the root is called nearly so", SkillFile)
		}
		for end := 1; end <= len(x.Path); end++ {
			if end < len(x.Path) && x.Path[end] != '/' {
				continue
			}
			here := place{x.Path[:end], end == len(x.Path)}
			key := folded(here.path)
			there, ok := taken[key]
			switch {
			case !ok:
				taken[key] = here
			case there.path != here.path:
				return badFile(PathsCollide, x.Path,
					"give it or %.100q another path: they are one where case does not count", there.path)
			case there.file && here.file:
				return badFile(PathsCollide, x.Path, "send it once, it is here twice")
			case there.file || here.file:
				return badFile(PathsCollide, x.Path,
					"give the file or the folder %.100q another name: nothing can be both", there.path)
			}
		}
	}
	return nil
}
