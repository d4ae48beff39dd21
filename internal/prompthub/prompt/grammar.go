package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// QueryDoc tells callers of all doors what a query may say besides words.
const QueryDoc = `"a phrase" stands in a row; -word and -"a phrase" leave out; tag:TAG, name:NAME, author:WHO (handle, key or "name")`

// A typed is a query cut into its parts, as ParseQuery documents them.
type typed struct {
	words   []typedWords // in the order in which they were typed
	without []string
	tags    []Tag
	author  string
	name    string
}

// typedWords are words to find, in a row if they were quoted.
type typedWords struct {
	text   string
	quoted bool
}

// cutQuery cuts a query into its parts. A message says which of them cannot be used.
func cutQuery(q string) (x typed, message string) {
	for q = trimLeft(q); q != "" && message == ""; q = trimLeft(q) {
		q, message = x.next(q)
	}
	return x, message
}

func trimLeft(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }

// next reads the first part of a query and returns the rest.
func (x *typed) next(q string) (rest, message string) {
	if body, ok := strings.CutPrefix(q, "-"); ok && body != "" && trimLeft(body) == body {
		if key, _, ok := qualified(body); ok {
			return "", fmt.Sprintf("take the - away before %s: only words and phrases can be left out", key)
		}
		phrase, rest, ok := quotedPhrase(body)
		if !ok {
			phrase, rest = firstWord(body)
		}
		x.without = append(x.without, phrase)
		return rest, ""
	}
	if key, body, ok := qualified(q); ok {
		value, rest, ok := quotedPhrase(body)
		if !ok {
			value, rest = firstWord(body)
		}
		return rest,
			x.qualify(key, strings.Join(strings.FieldsFunc(value, func(r rune) bool {
				return quote(r) || unicode.IsSpace(r)
			}), " "))
	}
	if phrase, rest, ok := quotedPhrase(q); ok {
		x.words = append(x.words, typedWords{phrase, true})
		return rest, ""
	}
	word, rest := firstWord(q)
	x.words = append(x.words, typedWords{word, false})
	return rest, ""
}

// qualify takes the value of a qualifier.
func (x *typed) qualify(key, value string) (message string) {
	one := &x.author
	switch key {
	case "tag:":
		tag, err := ParseTag(value)
		if err != nil {
			return fmt.Sprintf("after tag: name a tag: %s", tagRule)
		}
		if !slices.Contains(x.tags, tag) {
			x.tags = append(x.tags, tag)
		}
		if len(x.tags) > MaxTags {
			return fmt.Sprintf("name at most %d tags: no prompt has more", MaxTags)
		}
		return ""
	case "name:":
		one = &x.name
	}
	if *one != "" && *one != value {
		return fmt.Sprintf("write %s once: a prompt has one", key)
	}
	*one = value
	return ""
}

// qualifiers are the keys of a query, each of which takes the value that stands right after it.
var qualifiers = []string{"tag:", "author:", "name:"}

// qualified reports whether a text begins with a qualifier that has a value, and returns both.
func qualified(s string) (key, rest string, ok bool) {
	for _, key := range qualifiers {
		if len(s) > len(key) && strings.EqualFold(s[:len(key)], key) {
			rest := s[len(key):]
			value, _, isQuoted := quotedPhrase(rest)
			if !isQuoted {
				value, _ = firstWord(rest)
			}
			return key, rest, strings.TrimFunc(value, func(r rune) bool { return quote(r) || unicode.IsSpace(r) }) != ""
		}
	}
	return "", "", false
}

// quote reports whether r opens or closes a phrase. Phones write the curly ones.
func quote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// quotedPhrase returns the phrase that a text begins with. One without an end, as while somebody
// types it, is none: its words are found one by one until then.
func quotedPhrase(s string) (phrase, rest string, ok bool) {
	r, size := utf8.DecodeRuneInString(s)
	if !quote(r) {
		return "", s, false
	}
	end := strings.IndexFunc(s[size:], quote)
	if end < 0 {
		return "", s, false
	}
	_, closing := utf8.DecodeRuneInString(s[size+end:])
	return s[size : size+end], s[size+end+closing:], true
}

// firstWord returns a text up to its first space.
func firstWord(s string) (word, rest string) {
	if end := strings.IndexFunc(s, unicode.IsSpace); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}

// A phrase is words that stand one after the other.
type phrase []term

func (p phrase) String() string {
	words := make([]string, len(p))
	for i, t := range p {
		words[i] = string(t)
	}
	return `"` + strings.Join(words, " ") + `"`
}

// at reports whether the phrase begins at term i. A single word must be a whole one. Where words
// are not parted by spaces, a phrase may begin and end inside a run.
func (p phrase) at(all []term, i int) bool {
	if len(p) == 1 {
		return strings.Contains(string(all[i]), string(p[0])) && p[0].wholeIn(all[i])
	}
	if i+len(p) > len(all) {
		return false
	}
	for j, t := range p {
		other := all[i+j]
		switch {
		case t == other:
		case j == 0 && t.run() && other.run() && strings.HasSuffix(string(other), string(t)):
		case j == len(p)-1 && t.run() && other.run() && strings.HasPrefix(string(other), string(t)):
		default:
			return false
		}
	}
	return true
}

// in reports whether the phrase stands among terms.
func (p phrase) in(all []term) bool {
	for i := range all {
		if p.at(all, i) {
			return true
		}
	}
	return false
}

// row reports whether the phrase stands in a text.
func (x Text) row(p phrase) bool {
	for _, t := range p {
		if !strings.Contains(x.folded(), string(t)) {
			return false // as in most texts
		}
	}
	return p.in(x.terms())
}

// LeavesOut reports whether a prompt has a word or a phrase that the query leaves out.
func (q Query) LeavesOut(normalizedTitle string, text Text) bool {
	if len(q.without) == 0 {
		return false
	}
	title := terms(normalizedTitle)
	return slices.ContainsFunc(q.without, func(p phrase) bool { return p.in(title) || text.row(p) })
}

// Phrased reports whether each phrase of the query stands in a title or in a text.
func (q Query) Phrased(normalizedTitle string, text Text) bool {
	if len(q.phrases) == 0 {
		return true
	}
	title := terms(normalizedTitle)
	return !slices.ContainsFunc(q.phrases, func(p phrase) bool { return !p.in(title) && !text.row(p) })
}

// NeedsText reports whether a prompt's text decides if the query finds it, and not its words alone.
func (q Query) NeedsText() bool { return len(q.phrases) > 0 || q.Excludes() }

// Excludes reports whether the query leaves something out.
func (q Query) Excludes() bool { return len(q.without) > 0 }

// Tags returns the tags that a prompt must have.
func (q Query) Tags() []Tag { return slices.Clone(q.tags) }

// Author returns the handle, the key or the name of the author, "" for any.
func (q Query) Author() string { return q.author }

// MatchAuthor reports whether an author is called as the query asks: each word of the one is a
// whole word of the other.
func (q Query) MatchAuthor(name string) bool {
	wanted, has := terms(NormalizeTitle(q.author)), terms(NormalizeTitle(name))
	for _, t := range wanted {
		if !(phrase{t}).in(has) {
			return false
		}
	}
	return len(wanted) > 0
}

// Name returns the name or the slug that a prompt must have, "" for any.
func (q Query) Name() string { return q.name }

// MatchName reports whether a prompt with this name and slug is the one that the query names.
func (q Query) MatchName(name, slug string) bool {
	return q.name == "" || strings.EqualFold(q.name, name) || strings.EqualFold(q.name, slug)
}

// Qualified reports whether the query asks for more than words.
func (q Query) Qualified() bool {
	return len(q.without) > 0 || len(q.tags) > 0 || q.author != "" || q.name != ""
}

// canonical returns what the query asks for besides its words, in the form that ParseQuery reads.
func (q Query) canonical() []string {
	var phrases []string
	for _, p := range q.phrases {
		phrases = append(phrases, p.String())
	}
	return slices.Concat(sortedOnce(phrases), q.besides())
}

// besides returns what the query asks for besides words and phrases to find.
func (q Query) besides() []string {
	var without []string
	for _, p := range q.without {
		without = append(without, "-"+p.String())
	}
	parts := sortedOnce(without)
	for _, tag := range slices.Sorted(slices.Values(q.tags)) {
		parts = append(parts, "tag:"+string(tag))
	}
	if q.author != "" {
		parts = append(parts, `author:"`+q.author+`"`)
	}
	if q.name != "" {
		parts = append(parts, `name:"`+q.name+`"`)
	}
	return parts
}

func sortedOnce(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
