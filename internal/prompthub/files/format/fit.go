package format

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"prompthub/internal/prompthub/prompt"
)

// untitled is how long a title is that is made of a text.
const untitled = 60

// Prepared returns the document as every import takes it in: readable, fitted, its tags parted into
// those of the catalog and others, and with a visibility if the file does not say one.
func (d Document) Prepared(catalog []string, visibility prompt.Visibility) Document {
	d = d.Readable().Fitted().Sorted(catalog)
	if d.Visibility == "" {
		d.Visibility, d.assumed = string(visibility), true
	}
	return d
}

// Said returns the document without a visibility that its file does not say.
func (d Document) Said() Document {
	if d.assumed {
		d.Visibility, d.assumed = "", false
	}
	return d
}

// Fitted returns the document as the library can hold it, with a warning for each part that was
// left out, which the file keeps. A title that is missing is made of the text; one that is too
// long, like a description, is cut at a word; messages that say nothing go.
func (d Document) Fitted() Document {
	d.Warnings = slices.Clip(d.Warnings)
	warn := func(format string, of ...any) {
		d.Warnings = append(d.Warnings, Warning{Text: fmt.Sprintf(format, of...)})
	}
	said := slices.DeleteFunc(slices.Clone(d.Messages), func(m prompt.Message) bool {
		return m.Placeholder == "" && strings.TrimSpace(m.Content) == ""
	})
	if gone := len(d.Messages) - len(said); gone > 0 && len(said) > 0 {
		d.Messages = said
		warn("messages that say nothing are left out: %d of them", gone)
	}
	// which follows
	d.Labels = slices.DeleteFunc(slices.Clone(d.Labels), func(l string) bool { return l == prompt.Latest })
	if v := strings.ToLower(strings.TrimSpace(d.Visibility)); v == "" ||
		v == string(prompt.Private) || v == string(prompt.Public) {
		d.Visibility = v
	} else {
		warn("the visibility %.40q is neither private nor public, and the prompt is private", d.Visibility)
		d.Visibility = string(prompt.Private)
	}
	if strings.TrimSpace(d.Titled().Title) == "" {
		title, isHeading := heading(d.words())
		if d.Title = cutAt(title, untitled); d.Title != "" && !isHeading {
			warn("there is no title, and the prompt is called as its text begins, %q: give it one", d.Title)
		}
	}
	if strings.ContainsFunc(strings.TrimSpace(d.Title), unicode.IsControl) {
		d.Title = strings.Join(strings.Fields(d.Title), " ")
		warn("the title had several lines, which became one")
	}
	for _, f := range documentFields {
		text, isText := f.of(&d).(*string)
		if !isText || f.most == 0 {
			continue
		}
		if n := unitsOf(strings.TrimSpace(*text)); n > f.most {
			*text = cutAt(strings.TrimSpace(*text), f.most)
			warn("the %s has %d characters and was cut after %d, of %d that it may have: shorten it",
				f.name, n, unitsOf(*text), f.most)
		}
	}
	return d
}

// fewTags returns the document with as many tags as a prompt may have: of the catalog, and of its
// own, which are in one line and short. They say the least of a file, and never keep it out.
func (d Document) fewTags() Document {
	d.Warnings = slices.Clip(d.Warnings)
	if n := len(d.Tags); n > prompt.MaxTags {
		d.OwnTags = append(slices.Clone(d.Tags[prompt.MaxTags:]), d.OwnTags...)
		d.Tags = slices.Clone(d.Tags[:prompt.MaxTags])
		d.Warnings = append(d.Warnings,
			Warning{
				Text: fmt.Sprintf("%d tags are in the catalog, and a prompt has %d of these: the others are its own", n,
					prompt.MaxTags),
			})
	}
	var own []string
	for _, tag := range d.OwnTags {
		tag = strings.Join(strings.FieldsFunc(tag, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
		if short := cutAt(tag, prompt.MaxOwnTag); short != tag {
			d.Warnings = append(d.Warnings,
				Warning{Text: fmt.Sprintf("the tag %.40q was cut after %d characters, of %d that it may have", tag,
					unitsOf(short), prompt.MaxOwnTag)})
			tag = short
		}
		if tag != "" && !slices.Contains(own, tag) && !slices.Contains(d.Tags, tag) && len(own) <= prompt.MaxOwnTags {
			own = append(own, tag)
		}
	}
	if len(own) > prompt.MaxOwnTags {
		own = own[:prompt.MaxOwnTags]
		d.Warnings = append(d.Warnings,
			Warning{Text: fmt.Sprintf("there are more than %d tags outside the catalog, and the others are left out",
				prompt.MaxOwnTags)})
	}
	d.OwnTags = own
	return d
}

// heading returns the first heading of Markdown in a text, or else its first line with a letter or
// a digit, and which it is.
func heading(text string) (first string, isHeading bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "#"); ok {
			if rest = strings.TrimSpace(strings.TrimLeft(rest, "#")); rest != "" {
				return rest, true
			}
		}
		if first == "" && strings.ContainsFunc(line, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r)
		}) {
			first = line
		}
	}
	return first, false
}

func unitsOf(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// cutAt cuts a text to some UTF-16 code units: at a word if one ends in the second half.
func cutAt(s string, most int) string {
	n := 0
	for i, r := range s {
		if n += max(utf16.RuneLen(r), 1); n > most {
			cut := s[:i]
			if word := strings.LastIndexFunc(cut, unicode.IsSpace); word > len(cut)/2 {
				cut = cut[:word]
			}
			return strings.TrimSpace(cut)
		}
	}
	return s
}
