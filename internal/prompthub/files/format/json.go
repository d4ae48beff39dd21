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

// Names that other programs have for the members of a prompt. The first that an object has counts.
// One with a dot is a member of a member, which stays where it is: of agents of LobeChat, versions
// of MLflow, Agenta and PromptLayer, presets of LibreChat, and masks of NextChat.
var (
	titleMembers = []string{fieldTitle, "act", "key", "meta.title", fieldName, "prompt_name", "label"}
	textMembers  = []string{
		fieldText, "prompt", "content", "value", "body", "template", "instructions",
		"instruction", "config.systemRole", "promptPrefix", "productionPrompt.prompt", "system_prompt", "systemPrompt",
	}
	messagesMembers = []string{
		fieldMessages, "context", "prompt_template.messages",
		"parameters.prompt.messages", "prompt.messages",
	}
	descriptionMembers = []string{fieldDescription, "meta.description", "oneliner"}
	tagMembers         = []string{fieldTags, "meta.tags"}
	nameMembers        = []string{fieldName, "identifier"}
)

// anyCase are the names under which the members of an object count in any case.
var anyCase = []string{
	fieldTitle, fieldName, fieldDescription, fieldTags, fieldText, "prompt",
	"content", fieldMessages, "act",
}

// isOther reports whether an object has a title and a text under names of other programs, and is no
// line of our export.
func isOther(o object) bool {
	titled := o.has("act") || o.has(fieldTitle) || o.has("key") ||
		o.has(fieldName) && o.has(fieldDescription) && !o.hasAny("type", "version", "labels", "config", "commitMessage")
	return !o.has(fieldText) && !o.isLangChain() && titled && o.hasAny("prompt", "value", "body")
}

// hasAny reports whether the object has one of some members.
func (o object) hasAny(names ...string) bool { return slices.ContainsFunc(names, o.has) }

// saysPrompt reports whether an object of JSON may be a prompt.
func (o object) saysPrompt() bool {
	if o = o.spelled(anyCase); formatOf(o) != JSONLines || isOther(o) {
		return true
	}
	for _, names := range [][]string{textMembers, messagesMembers} {
		for _, name := range names {
			if name == "value" || name == "body" { // which say nothing without a title
				continue
			}
			if v, ok := o.at(name); ok && (v.Kind() == '"' || hasRoles(v)) {
				return true
			}
		}
	}
	return false
}

// at returns the value of a member, or of a member of a member.
func (o object) at(name string) (jsontext.Value, bool) {
	for {
		outer, inner, below := strings.Cut(name, ".")
		v, ok := o.raw(outer)
		if !ok || !below {
			return v, ok
		}
		var err error
		if o, err = parseObject(v); err != nil {
			return nil, false
		}
		name = inner
	}
}

// called returns an object with the members of a prompt under our names. The name is no title of an
// object that has a text under our name, where it is a name.
func (o object) called() object {
	o = o.spelled(anyCase)
	isOurs := o.has(fieldText)
	for _, names := range [][]string{
		titleMembers, textMembers, messagesMembers,
		descriptionMembers, tagMembers, nameMembers,
	} {
		ours := names[0]
		if o.has(ours) || ours == fieldText && o.has(fieldMessages) || ours == fieldMessages && o.has(fieldText) {
			continue
		}
		for _, name := range names[1:] {
			v, ok := o.at(name)
			if !ok || v.Kind() == 'n' || name == fieldName && isOurs {
				continue
			}
			as := ours
			if ours == fieldText && v.Kind() == '[' {
				as = fieldMessages
			}
			if v.Kind() == '{' || ours == fieldMessages && !hasRoles(v) {
				continue
			}
			if i := slices.IndexFunc(o, func(m member) bool { return m.name == name }); i >= 0 {
				o = slices.Clone(o)
				o[i].name = as
			} else {
				o = append(slices.Clip(o), member{as, v})
			}
			break
		}
	}
	return o.withSystem()
}

// withSystem puts what a request of Anthropic says of a system before its messages.
func (o object) withSystem() object {
	system, ok := o.raw("system")
	var list []jsontext.Value
	if messages, has := o.raw(fieldMessages); !ok || !has || json.Unmarshal(messages, &list) != nil ||
		system.Kind() != '"' && system.Kind() != '[' {
		return o
	}
	first := object{{"role", jsontext.Value(`"system"`)}, {"content", system}}
	b, err := json.Marshal(slices.Insert(list, 0, first.value()))
	if err != nil {
		return o
	}
	o = slices.Clone(o)
	o.drop("system")
	for i := range o {
		if o[i].name == fieldMessages {
			o[i].value = b
			_ = o[i].value.Compact() // which was JSON
		}
	}
	return o
}

// hasRoles reports whether a value is a list of messages: objects with a role.
func hasRoles(v jsontext.Value) bool {
	var list []jsontext.Value
	if v.Kind() != '[' || json.Unmarshal(v, &list) != nil || len(list) == 0 {
		return false
	}
	for _, m := range list {
		if o, err := parseObject(m); err != nil || !o.hasAny("role", "placeholder") {
			return false
		}
	}
	return true
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
		}
	}
	return o.tagged()
}

// quoted returns a number, true or false as a text, as it is written, and any other value as it is.
func quoted(v jsontext.Value) jsontext.Value {
	if !slices.Contains([]jsontext.Kind{'0', 't', 'f'}, v.Kind()) {
		return v
	}
	text, _ := jsontext.AppendQuote(nil, string(v)) // which is ASCII
	return text
}

// tagged returns an object whose tags are lists of texts, as tagsOf makes them.
func (o object) tagged() object {
	o = slices.Clone(o)
	for i, m := range o {
		if m.name == fieldTags || m.name == fieldOwnTags {
			o[i].value = tagsOf(m.value)
		}
	}
	return o
}

// tagsOf returns tags as a list of texts, or the value as it is if it is none: a list, in lists or
// not, of texts, numbers and objects with a name; a text with commas; or names with values.
func tagsOf(v jsontext.Value) jsontext.Value {
	var tags []string
	var text string
	switch v.Kind() {
	case '[':
		var ok bool
		if tags, ok = tagsIn(v, 0); !ok {
			return v
		}
	case '{':
		o, err := parseObject(v)
		if err != nil {
			return v
		}
		for _, m := range o {
			if err := json.Unmarshal(quoted(m.value), &text); err != nil || text == "" || m.value.Kind() == 't' {
				tags = append(tags, m.name)
			} else {
				tags = append(tags, m.name+": "+text)
			}
		}
	default:
		if v.Kind() == 'n' || json.Unmarshal(quoted(v), &text) != nil {
			return v
		}
		tags = tagsOfLine(text)
	}
	b, err := marshal(tags)
	if err != nil || len(tags) == 0 {
		return jsontext.Value("[]")
	}
	return b
}

// tagsIn returns the tags of a list. It reports false for one that holds anything else.
func tagsIn(v jsontext.Value, depth int) (tags []string, ok bool) {
	var list []jsontext.Value
	if depth > maxDepth || json.Unmarshal(v, &list) != nil {
		return nil, false
	}
	for _, tag := range list {
		if tag.Kind() == '[' {
			in, ok := tagsIn(tag, depth+1)
			if !ok {
				return nil, false
			}
			tags = append(tags, in...)
			continue
		}
		if o, err := parseObject(tag); err == nil && o.has(fieldName) {
			tag, _ = o.raw(fieldName)
		}
		var text string
		if tag.Kind() == 'n' {
			continue
		}
		if json.Unmarshal(quoted(tag), &text) != nil {
			return nil, false
		}
		if text = strings.TrimSpace(text); text != "" {
			tags = append(tags, text)
		}
	}
	return tags, true
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
		what = fmt.Sprintf("%s is half of a character, a lone surrogate: write the character itself, or both halves",
			rest[:6])
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
