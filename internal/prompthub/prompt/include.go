package prompt

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/legible"
)

// Limits of includes.
const (
	MaxIncludes  = 20 // different ones, of one content
	IncludeDepth = 5  // how far below a prompt others may be included

	includeOpens  = "@@@langfusePrompt:"
	includeCloses = "@@@"
	maxInclude    = 4*MaxName + 64 // bytes between the two
)

// An Include stands in a text for the text of another prompt of the same owner:
//
// The form is that of Langfuse, whose clients write it. Anything else is text.
type Include struct {
	Name    string
	Version int64  // or
	Label   string // which may be Latest
}

// String returns the include as stored prompts have it, without what opens and closes it.
func (i Include) String() string {
	if i.Version > 0 {
		return fmt.Sprintf("name=%s|version=%d", i.Name, i.Version)
	}
	return fmt.Sprintf("name=%s|label=%s", i.Name, i.Label)
}

// Placed returns the include as it stands in a text.
func (i Include) Placed() string { return includeOpens + i.String() + includeCloses }

// Which names the include in a message.
func (i Include) Which() string {
	if i.Version > 0 {
		return fmt.Sprintf("%q in version %d", i.Name, i.Version)
	}
	return fmt.Sprintf("%q with the label %s", i.Name, i.Label)
}

// ParseInclude reads what String returns.
func ParseInclude(s string) (Include, bool) {
	first, which, _ := strings.Cut(s, "|")
	name, ok := strings.CutPrefix(first, "name=")
	if !ok || name == "" || name != strings.TrimSpace(name) || units(name) > MaxName ||
		strings.ContainsFunc(name, legible.Breaks) {
		return Include{}, false
	}
	if label, ok := strings.CutPrefix(which, "label="); ok {
		return Include{Name: name, Label: label}, labels.MatchString(label)
	}
	digits, ok := strings.CutPrefix(which, "version=")
	n, err := strconv.ParseInt(digits, 10, 64)
	i := Include{Name: name, Version: n}
	return i, ok && err == nil && n > 0 && i.String() == s
}

// A foundInclude is an include, and where it stands in a text.
type foundInclude struct {
	Include
	from, to int
}

// eachInclude yields the includes of a text.
func eachInclude(text string) iter.Seq[foundInclude] {
	return func(yield func(foundInclude) bool) {
		for at := 0; ; {
			i := strings.Index(text[at:], includeOpens)
			if i < 0 {
				return
			}
			from := at + i
			at = from + len(includeOpens)
			inside, _, ok := strings.Cut(text[at:min(len(text), at+maxInclude)], includeCloses)
			if !ok {
				continue
			}
			if include, ok := ParseInclude(inside); ok {
				at += len(inside) + len(includeCloses)
				if !yield(foundInclude{include, from, at}) {
					return
				}
			}
		}
	}
}

// parseIncludes cuts a text at its includes: the texts around them are one more.
func parseIncludes(text string) (around []string, includes []Include) {
	begin := 0 // of the texts around it
	for i := range eachInclude(text) {
		around, includes = append(around, text[begin:i.from]), append(includes, i.Include)
		begin = i.to
	}
	return append(around, text[begin:]), includes
}

// texts returns what of the content people read: one text, or those of the messages.
func (c Content) texts() []string {
	if c.Kind != KindChat {
		return []string{c.Text}
	}
	texts := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		texts[i] = m.Content
	}
	return texts
}

// withTexts is the way back.
func (c Content) withTexts(texts []string) Content {
	if c.Kind != KindChat {
		c.Text = texts[0]
		return c
	}
	c.Messages = slices.Clone(c.Messages)
	for i, text := range texts {
		c.Messages[i].Content = text
	}
	return c
}

// Includes returns what the content includes, each once. It looks no further than one that is more
// than there may be, which Rules refuse.
func (c Content) Includes() []Include {
	var all []Include
	for _, text := range c.texts() {
		for i := range eachInclude(text) {
			if slices.Contains(all, i.Include) {
				continue
			}
			if all = append(all, i.Include); len(all) > MaxIncludes {
				return all
			}
		}
	}
	return all
}

// nearInclude matches what its author may have meant for an include.
var nearInclude = regexp.MustCompile(`(?i)@@+\s*(?:langfuse[ _-]?)?prompt\s*[:=|][^@\n]*(?:@+|$|\n)`)

// What nearInclude matches may say of the name and the version.
var (
	meantName    = regexp.MustCompile(`(?i)(?:name\s*=|prompt\s*[:=|])\s*([^|@=\n]+?)\s*(?:[|@\n]|$)`)
	meantVersion = regexp.MustCompile(`(?i)version\s*=\s*([0-9]{1,18})`)
	meantLabel   = regexp.MustCompile(`(?i)label\s*=\s*([a-z0-9_.-]+)`)
)

// MistypedInclude says of the first place of a content that looks like an include and is plain text
// what the include must be, and returns "" if there is none.
func (c Content) MistypedInclude() string {
	for _, text := range c.texts() {
		around, _ := parseIncludes(text)
		for _, s := range around {
			if near := nearInclude.FindString(s); near != "" {
				near = strings.TrimSpace(near)
				return fmt.Sprintf("%s is no include, and so plain text: to include a prompt of yours write %s",
					Excerpt(near), meant(near).Placed())
			}
		}
	}
	return ""
}

// meant returns the include that a text was probably meant for.
func meant(near string) Include {
	i := Include{Name: "NAME", Label: Production}
	if m := meantName.FindStringSubmatch(near); m != nil {
		i.Name = m[1]
	}
	if m := meantLabel.FindStringSubmatch(near); m != nil {
		i.Label = strings.ToLower(m[1])
	}
	if m := meantVersion.FindStringSubmatch(near); m != nil {
		i.Version, _ = strconv.ParseInt(m[1], 10, 64) // of at most 18 digits
	}
	if _, ok := ParseInclude(i.String()); !ok {
		return Include{Name: "NAME", Label: Production}
	}
	return i
}

// TextsField names the field that has the texts of a content.
func TextsField(c Content) string {
	if c.Kind == KindChat {
		return "messages"
	}
	return "text"
}

// Splice returns the content with texts in the places of what it includes, and false where it would
// become longer than a text may be, in UTF-16 code units, or than it is, if that is more.
func (c Content) Splice(of map[Include]string, maxText int) (Content, bool) {
	lengths := map[Include]int{}
	for i, text := range of {
		lengths[i] = units(text)
	}
	was, now := 0, 0
	texts := c.texts()
	for _, text := range texts {
		around, includes := parseIncludes(text)
		was += units(text)
		for _, s := range around {
			now += units(s)
		}
		for _, i := range includes {
			now += lengths[i]
		}
	}
	if now > max(maxText, was) {
		return Content{}, false
	}
	for n, text := range texts {
		texts[n] = splice(text, of)
	}
	return c.withTexts(texts), true
}

func splice(text string, of map[Include]string) string {
	var b strings.Builder
	around, includes := parseIncludes(text)
	for n, i := range includes {
		b.WriteString(around[n])
		b.WriteString(of[i])
	}
	b.WriteString(around[len(includes)])
	return b.String()
}
