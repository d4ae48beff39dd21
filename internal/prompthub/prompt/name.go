package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gosimple/unidecode"
	"golang.org/x/text/unicode/norm"

	"prompthub/internal/legible"
)

const (
	maxSlug = 64 // characters, all ASCII

	// MaxOldNames is how many old names lead to a prompt.
	MaxOldNames = 8

	// suffixLen is how much of its id tells a default name from another prompt's.
	suffixLen = 6
)

// reserved are names that paths of other programs give a meaning to.
var reserved = []string{"new", "metrics", "prompt-detail"}

var (
	slugs    = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	htmlTags = regexp.MustCompile(`</?[A-Za-z][^>]*>`)

	escapedSlashes = regexp.MustCompile(`(?i)%(25)*2f`) // however often
)

// name returns what programs must call a prompt, trimmed. The empty name asks for the default.
func (c *checker) name(location, s string) string {
	if !utf8.ValidString(s) {
		c.broken(location, s, "send the name as valid UTF-8")
		return s
	}
	s = strings.TrimSpace(s)
	if n := units(s); n > MaxName {
		c.broken(location, s, "shorten the name to at most %d characters, it has %d", MaxName, n)
	}
	if what := wrongName(s); what != "" {
		c.broken(location, s, "%s", what)
	}
	return s
}

// former returns what a prompt was called elsewhere, without names that it has twice.
func (c *checker) former(f PreviousNames) PreviousNames {
	if f.Slug != "" && (!ValidSlug(f.Slug) || slices.Contains(reserved, f.Slug)) {
		c.broken("slug", f.Slug,
			"leave the slug out, or give one of at most %d of a-z, 0-9 and -, with no hyphen at an end or twice",
			maxSlug)
	}
	if n := len(f.OldNames); n > MaxOldNames {
		c.broken("oldNames", "", "give at most %d old names, there are %d", MaxOldNames, n)
		return PreviousNames{Slug: f.Slug}
	}
	var names []string
	for i, name := range f.OldNames {
		location := fmt.Sprintf("oldNames[%d]", i)
		c.readable(location, name)
		if name = c.name(location, name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return PreviousNames{f.Slug, names}
}

func wrongName(s string) string {
	switch {
	case s == "":
		return ""
	case strings.ContainsFunc(s, legible.Breaks):
		return "remove line breaks and other control characters from the name"
	case strings.Contains(s, "|"):
		return "remove | from the name"
	case htmlTags.MatchString(s):
		return "remove HTML tags from the name"
	case strings.HasPrefix(s, "/") || strings.HasSuffix(s, "/") || strings.Contains(s, "//"):
		return "use / only between parts of the name, one at a time"
	case slices.Contains(reserved, s):
		return "choose another name: this one is reserved"
	}
	return ""
}

// wrongInPath returns what is wrong with a name that becomes another one in the path of an address,
// so that programs which ask by name would ask for, or change, something else. Dots are resolved on
// the way. The Functions host does not tell a slash that was escaped twice from one that was
// escaped once.
func wrongInPath(s string) string {
	switch {
	case slices.ContainsFunc(strings.Split(s, "/"), func(part string) bool { return part == "." || part == ".." }):
		return "choose a name of which no part is . or .., which addresses take for another place"
	case escapedSlashes.MatchString(s):
		return "write / in place of its escape: addresses take both for the same name"
	}
	return ""
}

// ValidSlug reports whether s can be a slug.
func ValidSlug(s string) bool { return len(s) <= maxSlug && slugs.MatchString(s) }

// Slug returns a text as a URL and a file can hold it, and "" where nothing of it can be kept.
// Letters of other scripts are transliterated, so that people can type the name.
func Slug(s string) string {
	var b strings.Builder
	gap := false
	add := func(r rune) {
		switch r = unicode.ToLower(r); {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
			// of an accent or a contraction: the letters around it stay together
		default:
			gap = true
		}
	}
	for _, r := range norm.NFKC.String(s) {
		if b.Len() > maxSlug {
			break
		}
		text := norm.NFKD.String(string(r)) // a letter, then its accents
		if first, _ := utf8.DecodeRuneInString(text); first > unicode.MaxASCII && unicode.IsLetter(r) {
			text = unidecode.Unidecode(string(r)) // of a Chinese character, a word and a space
		}
		for _, r := range text {
			add(r)
		}
	}
	return cutSlug(b.String(), maxSlug)
}

// cutSlug cuts a slug, between words where one ends in its second half.
func cutSlug(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if i := strings.LastIndexByte(s[:limit+1], '-'); i > limit/2 {
		return s[:i]
	}
	return strings.TrimRight(s[:limit], "-")
}

// Slugs returns the slugs to try for a prompt of a name, the second where somebody has the first. A
// name of which no slug can be made has only the second.
func Slugs(name string, id ID) (first, second string) {
	first = Slug(name)
	base := first
	if base == "" {
		base = "prompt"
	}
	suffix := strings.ToLower(string(id[len(id)-suffixLen:]))
	second = cutSlug(base, maxSlug-suffixLen-1) + "-" + suffix
	if first == "" || slices.Contains(reserved, first) {
		first = second
	}
	return first, second
}
