package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"prompthub/internal/fault"
	"prompthub/internal/legible"
)

// Limits of a text, in UTF-16 code units.
const (
	DefaultMaxText = 3000   // unless Rules say otherwise
	LimitMaxText   = 131072 // the most that Rules may say; the reader of the setting checks it
)

// Limits of the other members, in UTF-16 code units.
const (
	MaxTitle       = 200
	MaxName        = 255
	MaxDescription = 8192
	MaxShown       = 1024 // of a description, in skills
	MaxBrief       = 160  // of a description, in lists
	MaxMessage     = 500
)

// Limits of tags.
const (
	MaxTags    = 10 // of the catalog
	MaxOwnTags = 50
	MaxOwnTag  = 100 // UTF-16 code units
)

// Rules are what a draft must keep to.
type Rules struct {
	MaxText int // UTF-16 code units of a text; zero means DefaultMaxText
}

// TextLimit returns how long a text may be, in UTF-16 code units.
func (r Rules) TextLimit() int { return cmp.Or(r.MaxText, DefaultMaxText) }

// Check returns d normalised: its title trimmed, its tags in lower case. The
// error is a *fault.Error of the kind Invalid that names every broken rule.
// Whether the tags are in the catalog is not asked here.
func (r Rules) Check(d Draft) (Draft, error) { return r.CheckEdit(d, Draft{}) }

// CheckEdit is Check of an edit of a stored draft. The name and the title that it has already may
// be ones that no new prompt gets.
func (r Rules) CheckEdit(d, was Draft) (Draft, error) {
	var c checker
	if d.Name = c.name("name", d.Name); d.Name != was.Name {
		if what := wrongInPath(d.Name); what != "" {
			c.broken("name", d.Name, "%s", what)
		}
	}
	d.PreviousNames = c.former(d.PreviousNames)
	d.Title = c.title(d.Title)
	if d.Title != was.Title {
		c.readable("title", d.Title)
	}
	if d.Name != was.Name {
		c.readable("name", d.Name)
	}
	d.Description = c.note("description", d.Description, MaxDescription)
	d.Message = c.note("message", d.Message, MaxMessage)
	d.Made = c.made(d.Made)
	d.Labels = c.labels(d.Labels)
	limit := r.TextLimit()
	if len(d.Files) > 0 {
		limit = max(limit, MaxSkillText)
	}
	d = c.content(d, limit)
	d.Tags = c.tags(d.Tags)
	d.OwnTags = c.ownTags(d.OwnTags, d.Tags)
	if d.Visibility != Private && d.Visibility != Public {
		c.broken("visibility", string(d.Visibility), "set the visibility to private or public")
	}
	if len(c.fields) > 0 {
		return Draft{}, &fault.Error{
			Kind: fault.Invalid, Text: "the prompt breaks the rules named here",
			Fields: c.fields,
		}
	}
	return d, d.checkFiles()
}

// made returns who made a version elsewhere, and when, as it is kept.
func (c *checker) made(m Made) Made {
	c.line("madeBy", m.By, MaxMadeBy)
	c.readable("madeBy", m.By)
	if m.At.IsZero() {
		return m
	}
	if m.At = m.At.UTC().Truncate(time.Millisecond); m.At.Year() < 1970 || m.At.Year() > 9999 {
		c.broken("madeAt", m.At.String(), "give a time from 1970 on")
	}
	return m
}

// checkFiles reports what keeps files from being those of a draft.
func (d Draft) checkFiles() error {
	if len(d.Files) > 0 && len(d.Content().Includes()) > 0 {
		return fault.Coded(fault.Invalid, BadSkill, "a prompt with files cannot include other prompts: its SKILL.md must say all that an agent reads; put the text of the other prompt in its place")
	}
	return d.Files.Check()
}

// A checker collects broken rules.
type checker struct {
	fields []fault.Field
}

func (c *checker) broken(location, value, format string, args ...any) {
	c.coded("", location, value, format, args...)
}

// coded notes a broken rule that programs know by a code.
func (c *checker) coded(code fault.Code, location, value, format string, args ...any) {
	c.fields = append(c.fields, fault.Field{
		Name:    location,
		Message: fmt.Sprintf(format, args...),
		Code:    code,
		Value:   short(value),
	})
}

// Codes of refusals that clients decide by.
const (
	TextTooLong       fault.Code = "TEXT_TOO_LONG"
	IncludeUnresolved fault.Code = "INCLUDE_UNRESOLVED"
	NameTaken         fault.Code = "NAME_TAKEN"
	BadSkill          fault.Code = "BAD_SKILL"
	NameDiffers       fault.Code = "NAME_DIFFERS"
	UnknownContent    fault.Code = "UNKNOWN_CONTENT"
)

// CheckUnfinished reports whether what somebody is still writing is longer than it may be. The
// error is a *fault.Error of the kind Invalid.
func (r Rules) CheckUnfinished(title, text string) error {
	var c checker
	if n := units(title); n > MaxTitle {
		c.broken("title", title, "shorten the title to at most %d characters, it has %d", MaxTitle, n)
	}
	if n := units(text); n > r.TextLimit() {
		c.coded(TextTooLong, "text", text, "shorten the text to at most %d characters, it has %d", r.TextLimit(), n)
	}
	if len(c.fields) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Text: "the prompt breaks the rules named here", Fields: c.fields}
}

func (c *checker) title(s string) string {
	const location = "title"
	if !utf8.ValidString(s) {
		c.broken(location, s, "send the title as valid UTF-8")
		return s
	}
	s = strings.TrimSpace(s)
	if s == "" {
		c.broken(location, s, "give the prompt a title")
	}
	if n := units(s); n > MaxTitle {
		c.broken(location, s, "shorten the title to at most %d characters, it has %d", MaxTitle, n)
	}
	if strings.ContainsFunc(s, legible.Breaks) {
		c.broken(location, s, "remove line breaks and other control characters from the title")
	}
	return s
}

// note returns a text that may be empty, trimmed: one line or several.
func (c *checker) note(location, s string, limit int) string {
	if !utf8.ValidString(s) {
		c.broken(location, s, "send valid UTF-8")
		return s
	}
	s = strings.TrimSpace(s)
	if n := units(s); n > limit {
		c.broken(location, s, "shorten it to at most %d characters, it has %d", limit, n)
	}
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	}) {
		c.broken(location, s, "remove control characters")
	}
	return s
}

// text checks the text of a prompt, and reports whether it is no longer than it may be.
func (c *checker) text(s string, limit int) bool {
	const location = "text"
	if !utf8.ValidString(s) {
		c.broken(location, s, "send the text as valid UTF-8")
		return false
	}
	if strings.TrimSpace(s) == "" {
		c.broken(location, s, "write the text of the prompt")
	}
	n := units(s)
	if n > limit {
		c.coded(TextTooLong, location, s, "shorten the text to at most %d characters, it has %d", limit, n)
	}
	if strings.ContainsRune(s, 0) {
		c.broken(location, s, "remove the character U+0000 from the text")
	}
	return n <= limit
}

func (c *checker) tags(tags []Tag) []Tag {
	if len(tags) > MaxTags {
		c.broken("tags", fmt.Sprintf("%d tags", len(tags)), "keep at most %d tags", MaxTags)
		// Enough to see what is wrong, and no answer larger than the request.
		tags = tags[:min(len(tags), 2*MaxTags)]
	}
	var kept []Tag
	for i, raw := range tags {
		location := fmt.Sprintf("tags[%d]", i)
		tag, err := ParseTag(string(raw))
		switch {
		case err != nil:
			c.broken(location, string(raw), "change the tag: %s", tagRule)
		case slices.Contains(kept, tag):
			c.broken(location, string(raw), "remove the second tag %q", tag)
		default:
			kept = append(kept, tag)
		}
	}
	return kept
}

// ownTags returns the tags outside the catalog, trimmed.
func (c *checker) ownTags(list []string, tags []Tag) []string {
	if len(list) > MaxOwnTags {
		c.broken("ownTags", fmt.Sprintf("%d tags", len(list)), "keep at most %d tags of your own", MaxOwnTags)
		return nil
	}
	var kept []string
	for i, s := range list {
		location := fmt.Sprintf("ownTags[%d]", i)
		before := len(c.fields)
		c.line(location, s, MaxOwnTag)
		s = strings.TrimSpace(s)
		switch {
		case len(c.fields) > before:
		case s == "":
			c.broken(location, s, "write the tag, or leave it out")
		case slices.Contains(kept, s) || slices.Contains(tags, Tag(s)):
			c.broken(location, s, "remove the second tag %q", s)
		default:
			kept = append(kept, s)
		}
	}
	return kept
}

// short returns s as an error may show it: valid UTF-8, cut where it is long.
func short(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n == most {
			return strings.ToValidUTF8(s[:i], "\uFFFD") + "…"
		}
		n++
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// units returns the length of s in UTF-16 code units, the characters that all limits count.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
