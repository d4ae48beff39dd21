package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Names that other programs have for the title and the text of a prompt. The first that an object
// has counts.
var (
	titleMembers = []string{fieldTitle, "act", "key", fieldName}
	textMembers  = []string{fieldText, "prompt", "content", "value", "body"}
)

// isOther reports whether an object has a title and a text under names of other programs, and is no
// line of our export.
func isOther(o object) bool {
	return !o.has(fieldText) && !o.has("lc") && (o.has("act") || o.has(fieldTitle) || o.has("key")) && (o.has("prompt") || o.has("value") || o.has("body"))
}

// called returns an object with its title and text under our names. The name is no title of an
// object that has a text under our name, where it is a name.
func (o object) called() object {
	o = slices.Clone(o)
	for _, names := range [][]string{titleMembers, textMembers} {
		if names[0] == fieldTitle && o.has(fieldText) {
			names = names[:len(names)-1]
		}
		if names[0] == fieldText && o.has(fieldMessages) || o.has(names[0]) {
			continue
		}
		i := -1
		for _, name := range names {
			if i < 0 {
				i = slices.IndexFunc(o, func(m member) bool { return m.name == name && m.value.Kind() != 'n' })
			}
		}
		if i >= 0 && o[i].value.Kind() == '[' && names[0] == fieldText {
			o[i].name = fieldMessages
		} else if i >= 0 {
			o[i].name = names[0]
		}
	}
	return o
}

// worded returns an object whose title, name, description and text are texts and whose tags are a
// list of texts, where another program wrote a number, true or false, or tags as one text with
// commas or as objects with a name. A value that is neither is left for its reader to refuse.
func (o object) worded() object {
	o = slices.Clone(o)
	for i, m := range o {
		switch m.name {
		case fieldTitle, fieldName, fieldDescription, fieldText:
			o[i].value = quoted(m.value)
		case fieldTags:
			o[i].value = tagsOf(m.value)
		}
	}
	return o
}

// quoted returns a number, true or false as a text, as it is written, and any other value as it is.
func quoted(v jsontext.Value) jsontext.Value {
	if !slices.Contains([]jsontext.Kind{'0', 't', 'f'}, v.Kind()) {
		return v
	}
	text, _ := jsontext.AppendQuote(nil, string(v)) // which is ASCII
	return text
}

// tagsOf returns tags as a list of texts, or the value as it is if it holds anything else.
func tagsOf(v jsontext.Value) jsontext.Value {
	tags := []string{}
	if v.Kind() == '[' {
		var list []jsontext.Value
		if json.Unmarshal(v, &list) != nil {
			return v
		}
		for _, tag := range list {
			if o, err := parseObject(tag); err == nil && o.has(fieldName) {
				tag, _ = o.raw(fieldName)
			}
			var text string
			if json.Unmarshal(quoted(tag), &text) != nil {
				return v
			}
			tags = append(tags, strings.TrimSpace(text))
		}
	} else {
		var text string
		if v.Kind() == 'n' || json.Unmarshal(quoted(v), &text) != nil {
			return v
		}
		for tag := range strings.SplitSeq(text, ",") {
			tags = append(tags, strings.TrimSpace(tag))
		}
	}
	b, err := marshal(slices.DeleteFunc(tags, func(tag string) bool { return tag == "" }))
	if err != nil {
		return v
	}
	return b
}

// flatten makes the messages of an object say their contents as texts, where these are lists of
// parts. A part that is no text is left out, with a warning.
func (in *input) flatten(o object) object {
	i := slices.IndexFunc(o, func(m member) bool { return m.name == fieldMessages })
	if i < 0 || o[i].value.Kind() != '[' || !bytes.Contains(o[i].value, []byte(`"content":[`)) {
		return o
	}
	var list []object
	if !(&object{o[i]}).take(fieldMessages, &list) {
		return o // which reading it tells of
	}
	for n, m := range list {
		var parts []object
		if !m.take("content", &parts) {
			continue
		}
		var texts []string
		for k, part := range parts {
			var text string
			if part.take(fieldText, &text) {
				texts = append(texts, text)
			} else {
				in.warnings = append(in.warnings, Warning{Text: fmt.Sprintf(
					"messages[%d].content[%d] is of the type %.40q, which is no text, and is left out: describe it in words", n, k, part.text("type"))})
			}
		}
		m.put("content", strings.Join(texts, "\n"))
		list[n] = m
	}
	o = slices.Clone(o)
	var one object
	one.put(fieldMessages, list)
	if len(one) == 1 {
		o[i] = one[0]
	}
	return o
}

// whyNoJSON says where JSON is broken, and what should stand there. The JSON begins at a line of
// its file.
func whyNoJSON(file []byte, line int, err error) error {
	var broken *jsontext.SyntacticError
	if !errors.As(err, &broken) {
		return err
	}
	at := min(int(broken.ByteOffset), len(file))
	before := file[:at]
	column := at - bytes.LastIndexByte(before, '\n')
	line += bytes.Count(before, newline)
	what := broken.Err.Error()
	if rest := file[at:]; strings.HasPrefix(what, "invalid surrogate pair") && len(rest) >= 6 {
		what = fmt.Sprintf("%s is half of a character, a lone surrogate: write the character itself, or both halves", rest[:6])
	} else if what == "unexpected EOF" {
		what = "the file ends in the middle of it"
	}
	return fmt.Errorf("line %d, column %d: %s", line, column, what)
}

// syntaxOfJSON returns why a file is no JSON, nil where it is.
func syntaxOfJSON(file []byte) error {
	d := decoder(file)
	for {
		if _, err := d.ReadValue(); err != nil {
			return err // io.EOF at the end
		}
	}
}
