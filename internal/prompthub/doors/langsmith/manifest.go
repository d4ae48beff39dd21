package langsmith

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// An object is one that LangChain has serialized.
type object struct {
	LC     int      `json:"lc"`
	Type   string   `json:"type"`
	ID     []string `json:"id"`
	Kwargs kwargs   `json:"kwargs"`
}

// kwargs are the members of the objects that are read and written here.
type kwargs struct {
	Input     []string                  `json:"input_variables,omitzero"`
	Partial   map[string]jsontext.Value `json:"partial_variables,omitempty"` // a value may be of any kind
	Format    string                    `json:"template_format,omitempty"`
	Template  partText                  `json:"template,omitzero"`
	Messages  []object                  `json:"messages,omitempty"`
	Prompt    templates                 `json:"prompt,omitzero"`
	Role      string                    `json:"role,omitempty"`
	Name      string                    `json:"variable_name,omitempty"`
	Content   jsontext.Value            `json:"content,omitzero"`
	Example   *object                   `json:"example_prompt,omitzero"`
	Examples  []map[string]any          `json:"examples,omitzero"`
	Prefix    string                    `json:"prefix,omitempty"`
	Suffix    string                    `json:"suffix,omitempty"`
	Separator *string                   `json:"example_separator,omitzero"`
}

// A partText is the text of a template, and nil where that is something else: that of a picture is
// an object.
type partText struct{ *string }

// MarshalJSONTo writes the text.
func (t partText) MarshalJSONTo(e *jsontext.Encoder) error { return json.MarshalEncode(e, t.string) }

// UnmarshalJSONFrom reads a text, and leaves what is none.
func (t *partText) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '"' {
		return d.SkipValue()
	}
	t.string = new(string)
	return json.UnmarshalDecode(d, t.string)
}

// templates are the objects that say a message: one, or in a list those of texts and pictures.
type templates []object

// MarshalJSONTo writes one alone as it is.
func (t templates) MarshalJSONTo(e *jsontext.Encoder) error {
	if len(t) == 1 {
		return json.MarshalEncode(e, t[0])
	}
	return json.MarshalEncode(e, []object(t))
}

// UnmarshalJSONFrom reads an object, or a list of them.
func (t *templates) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '{':
		*t = make(templates, 1)
		return json.UnmarshalDecode(d, &(*t)[0])
	case '[':
		return json.UnmarshalDecode(d, (*[]object)(t))
	}
	return d.SkipValue()
}

func (o object) class() string {
	if len(o.ID) == 0 {
		return ""
	}
	return o.ID[len(o.ID)-1]
}

// The formats of templates. There are others, which can run code where they are filled in.
const (
	fString  = "f-string"
	mustache = "mustache"
)

// roles are the classes of messages, by role.
var roles = map[string]string{"system": "System", "user": "Human", "assistant": "AI"}

// classes are those that a manifest may hold: templates and messages, which do nothing when they
// are loaded. Models, tools and secrets are not among them.
var classes = func() []string {
	all := []string{
		"PromptTemplate", "ChatPromptTemplate", "StructuredPrompt", "FewShotPromptTemplate",
		"FewShotChatMessagePromptTemplate",
		"MessagesPlaceholder", "ChatMessagePromptTemplate", "ChatMessage", "ToolMessage", "FunctionMessage",
		"ImagePromptTemplate", "DictPromptTemplate",
	}
	for _, class := range roles {
		all = append(all, class+"MessagePromptTemplate", class+"Message")
	}
	return all
}()

func newObject(class string, k kwargs, path ...string) object {
	return object{1, "constructor", slices.Concat([]string{"langchain_core", "prompts"}, path, []string{class}), k}
}

// manifestOf returns the manifest of a content: the pushed one, if that still says the content,
// else templates whose literal braces are doubled and whose defaults are partial variables. Any
// author can write a config, so the manifest kept there is read again.
func manifestOf(c prompt.Content) (jsontext.Value, error) {
	if manifest := keptOf(c.Config); manifest != nil {
		if says, err := read(manifest); err == nil && words(says) == words(c) {
			return manifest, nil
		}
	}
	return generated(c)
}

func generated(c prompt.Content) (jsontext.Value, error) {
	f, err := c.Template().Fill(nil, prompt.LimitMaxText)
	if err != nil {
		return nil, unread("it says too much")
	}
	w := writer{variables: c.Template().Variables}
	if c.Kind != prompt.KindChat {
		o := w.template(f.Texts[0])
		o.Kwargs.Partial = w.partial
		return canonical(o)
	}
	root := kwargs{Input: []string{}}
	for i, m := range c.Messages {
		if m.Placeholder != "" {
			root.Messages = append(root.Messages, newObject("MessagesPlaceholder", kwargs{Name: m.Placeholder}, "chat"))
			w.input = append(w.input, m.Placeholder)
			continue
		}
		said := w.template(f.Texts[i])
		class, k := roles[m.Role]+"MessagePromptTemplate", kwargs{Prompt: templates{said}}
		if roles[m.Role] == "" {
			class, k.Role = "ChatMessagePromptTemplate", m.Role
		}
		root.Messages = append(root.Messages, newObject(class, k, "chat"))
	}
	for _, name := range w.input {
		if !slices.Contains(root.Input, name) {
			root.Input = append(root.Input, name)
		}
	}
	root.Partial = w.partial
	return canonical(newObject("ChatPromptTemplate", root, "chat"))
}

// A writer makes templates, and notes their variables.
type writer struct {
	variables []prompt.Variable
	input     []string                  // those without a default
	partial   map[string]jsontext.Value // the others, with their values
}

var doubled = strings.NewReplacer("{", "{{", "}", "}}")

// template returns a text as a template of LangChain.
func (w *writer) template(parts []prompt.Part) object {
	var b strings.Builder
	input := []string{}
	for _, p := range parts {
		if p.Variable < 0 {
			b.WriteString(doubled.Replace(p.Text))
			continue
		}
		v := w.variables[p.Variable]
		b.WriteString("{" + v.Name + "}")
		switch {
		case slices.Contains(input, v.Name):
		case !v.Needed():
			if w.partial == nil {
				w.partial = map[string]jsontext.Value{}
			}
			w.partial[v.Name], _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(p.Text, ""))
		default:
			input = append(input, v.Name)
		}
	}
	text := b.String()
	w.input = append(w.input, input...)
	return newObject("PromptTemplate", kwargs{Input: input, Format: fString, Template: partText{&text}}, "prompt")
}

func canonical(o object) (jsontext.Value, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(b)
	return v, v.Canonicalize()
}

// A kept is a manifest that says more than the prompt does, in the prompt's config.
type kept struct {
	Manifest jsontext.Value `json:"manifest,omitzero"`
}

// keptName is the member of a config that holds a kept.
const keptName = "langchain"

func keptOf(config string) jsontext.Value {
	var members map[string]jsontext.Value
	var k kept
	if json.Unmarshal([]byte(config), &members) == nil && members[keptName] != nil {
		_ = json.Unmarshal(members[keptName], &k) // any other text keeps nothing
	}
	return k.Manifest
}

// words names a content without its config.
func words(c prompt.Content) string {
	c.Config, c.Variables = "", nil
	return c.Hash()
}

// contentOf returns a manifest as a content. The config is that of before, with the manifest where
// the prompt cannot say the same.
func contentOf(manifest jsontext.Value, config string) (prompt.Content, error) {
	c, err := read(manifest)
	if err != nil {
		return c, err
	}
	members := map[string]jsontext.Value{}
	if config != "" && json.Unmarshal([]byte(config), &members) != nil {
		members = map[string]jsontext.Value{"config": jsontext.Value(config)}
	}
	delete(members, keptName)
	same, err := generated(c)
	if err != nil {
		return c, err
	}
	manifest = manifest.Clone()
	if err := manifest.Canonicalize(); err != nil {
		return c, fault.Wrap(fault.Malformed, "the manifest is no JSON", err)
	}
	if !bytes.Equal(same, manifest) {
		if members[keptName], err = json.Marshal(kept{manifest}); err != nil {
			return c, err
		}
	}
	if len(members) > 0 {
		b, err := json.Marshal(members, json.Deterministic(true))
		if err != nil {
			return c, err
		}
		c.Config = string(b)
	}
	return c, nil
}

func unread(format string, args ...any) error {
	return fault.New(fault.Invalid, "the manifest cannot be kept: "+fmt.Sprintf(format, args...))
}

// read returns what a manifest says to a model.
func read(manifest jsontext.Value) (c prompt.Content, err error) {
	if err := harmless(manifest); err != nil {
		return c, err
	}
	var o object
	if err := json.Unmarshal(manifest, &o); err != nil {
		return c, unread("it is no template of LangChain")
	}
	r := reader{left: maxRead}
	switch o.class() {
	case "PromptTemplate":
		c.Text, err = r.text(o, nil)
	case "FewShotPromptTemplate":
		c.Text, err = r.fewShot(o)
	case "ChatPromptTemplate", "StructuredPrompt":
		c.Kind = prompt.KindChat
		c.Messages, err = r.chat(o.Kwargs.Messages, nil)
	case "FewShotChatMessagePromptTemplate":
		c.Kind = prompt.KindChat
		c.Messages, err = r.messages(o, nil)
	default:
		err = unread("it is a %q, which is no prompt alone; push a template of a text or of a chat", o.class())
	}
	return c, err
}

// maxDepth is how deep the objects of a manifest may be nested.
const maxDepth = 50

// harmless refuses a manifest with an object of another class, wherever in it.
func harmless(manifest jsontext.Value) error {
	if manifest == nil {
		return unread("there is none")
	}
	if prompt.Deeper(manifest, maxDepth) {
		return unread("it is nested more than %d deep", maxDepth)
	}
	var v any
	if err := json.Unmarshal(manifest, &v); err != nil {
		return unread("it is no JSON")
	}
	return allowed(v)
}

// allowed refuses an object of another class, and a template of another format, in a value.
func allowed(v any) error {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := allowed(x); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, ok := v["lc"]; ok && !known(v) {
			if v["type"] == "not_implemented" {
				return unread("the client could not write %.200q down and sent its name alone; push another template",
					v["id"])
			}
			return unread("it holds %.200q, which is none of the templates and messages that are kept here; push a prompt alone, without a model", v["id"])
		}
		if _, ok := v["lc"]; ok && !plain(v) {
			return unread("a template_format is %s or %s here", fString, mustache)
		}
		for _, x := range v {
			if err := allowed(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// known reports whether an object of LangChain is a template or a message.
func known(o map[string]any) bool {
	path, _ := o["id"].([]any)
	if len(path) < 2 || o["type"] != "constructor" || path[0] != "langchain" && path[0] != "langchain_core" {
		return false
	}
	class, _ := path[len(path)-1].(string)
	return slices.Contains(classes, class)
}

// plain reports whether an object of LangChain is filled in without running anything.
func plain(o map[string]any) bool {
	k, _ := o["kwargs"].(map[string]any)
	format := k["template_format"]
	return format == nil || format == fString || format == mustache
}

// A reader reads a manifest. Examples say a template again and again, so it counts what it reads.
type reader struct{ left int } // bytes

// maxRead is how much is read of a manifest, in bytes: more than any text that can be kept.
const maxRead = 4 * prompt.LimitMaxText

// take counts some bytes.
func (r *reader) take(n int) error {
	if r.left -= n; r.left < 0 {
		return unread("it says too much")
	}
	return nil
}

// text returns a template as a text of ours, with values in the places of variables that have some.
func (r *reader) text(o object, values map[string]any) (string, error) {
	if o.Kwargs.Template.string == nil {
		return "", unread("a PromptTemplate has no template that is a text")
	}
	return r.fill(*o.Kwargs.Template.string, o.Kwargs.Format, o.Kwargs.Partial, values)
}

// examples returns the examples of a few, and how each must be said.
func (o object) examples() (object, []map[string]any, error) {
	if o.Kwargs.Example == nil || len(o.Kwargs.Examples) > prompt.MaxMessages {
		return object{}, nil, unread("a few-shot template needs an example_prompt, and at most %d examples",
			prompt.MaxMessages)
	}
	return *o.Kwargs.Example, o.Kwargs.Examples, nil
}

// fewShot returns the text around examples and the examples themselves.
func (r *reader) fewShot(o object) (string, error) {
	template, examples, err := o.examples()
	if err != nil {
		return "", err
	}
	separator := "\n\n"
	if o.Kwargs.Separator != nil {
		separator = *o.Kwargs.Separator
	}
	var parts []string
	add := func(s string, err error) error {
		if s != "" {
			parts = append(parts, s)
		}
		return cmp.Or(err, r.take(len(separator)))
	}
	err = add(r.fill(o.Kwargs.Prefix, o.Kwargs.Format, nil, nil))
	for _, values := range examples {
		if err == nil {
			err = add(r.text(template, values))
		}
	}
	if err == nil {
		err = add(r.fill(o.Kwargs.Suffix, o.Kwargs.Format, nil, nil))
	}
	return strings.Join(parts, separator), err
}

// chat returns the messages of templates; of an example, those with its values.
func (r *reader) chat(list []object, example map[string]any) ([]prompt.Message, error) {
	var all []prompt.Message
	for _, o := range list {
		made, err := r.messages(o, example)
		if err != nil {
			return nil, err
		}
		if all = append(all, made...); len(all) > prompt.MaxMessages {
			return nil, unread("it has more than %d messages", prompt.MaxMessages)
		}
	}
	return all, nil
}

// messages returns the messages of one template.
func (r *reader) messages(o object, example map[string]any) ([]prompt.Message, error) {
	switch o.class() {
	case "MessagesPlaceholder":
		return []prompt.Message{{Placeholder: o.Kwargs.Name}}, r.take(len(o.Kwargs.Name))
	case "FewShotChatMessagePromptTemplate":
		return r.fewMessages(o, example)
	}
	m, err := r.message(o, example)
	if m.Content == "" { // of a call of a tool, say, which the manifest keeps
		return nil, err
	}
	return []prompt.Message{m}, err
}

func (r *reader) fewMessages(o object, example map[string]any) ([]prompt.Message, error) {
	template, examples, err := o.examples()
	if err == nil && example != nil {
		err = unread("examples within examples")
	}
	if err != nil {
		return nil, err
	}
	list := []object{template}
	if template.class() == "ChatPromptTemplate" {
		list = template.Kwargs.Messages
	}
	var all []prompt.Message
	for _, values := range examples {
		if values == nil {
			values = map[string]any{}
		}
		made, err := r.chat(list, values)
		if err != nil {
			return nil, err
		}
		if all = append(all, made...); len(all) > prompt.MaxMessages {
			return nil, unread("it has more than %d messages", prompt.MaxMessages)
		}
	}
	return all, nil
}

func (r *reader) message(o object, values map[string]any) (m prompt.Message, err error) {
	kind := strings.TrimSuffix(strings.TrimSuffix(o.class(), "PromptTemplate"), "Message")
	m.Role = o.Kwargs.Role
	for role, class := range roles {
		if class == kind {
			m.Role = role
		}
	}
	if kind == "Tool" || kind == "Function" {
		m.Role = "tool"
	}
	if m.Role == "" {
		return m, unread("%q is no message with a role", o.class())
	}
	if strings.HasSuffix(o.class(), "Message") {
		if err := r.take(len(o.Kwargs.Content)); err != nil {
			return m, err
		}
		m.Content, err = textsOf(o.Kwargs.Content)
		return m, err
	}
	if len(o.Kwargs.Prompt) == 0 {
		return m, unread("a message has no prompt")
	}
	var texts []string
	for _, part := range o.Kwargs.Prompt {
		// the manifest keeps it
		if class := part.class(); class == "ImagePromptTemplate" || class == "DictPromptTemplate" {
			continue
		}
		text, err := r.text(part, values)
		if err != nil {
			return m, err
		}
		texts = append(texts, text)
	}
	m.Content = strings.Join(texts, "\n")
	return m, nil
}

// textsOf returns the text of a content: that, or the texts in a list of parts, each on a line. The
// manifest keeps the other parts.
func textsOf(content jsontext.Value) (string, error) {
	var text string
	if content == nil || json.Unmarshal(content, &text) == nil {
		return text, nil
	}
	var parts []jsontext.Value
	if json.Unmarshal(content, &parts) != nil {
		return "", unread("a content is a text, or a list of parts")
	}
	var texts []string
	for _, part := range parts {
		var p struct {
			Text *string `json:"text"`
		}
		if json.Unmarshal(part, &text) == nil {
			texts = append(texts, text)
		} else if json.Unmarshal(part, &p) == nil && p.Text != nil {
			texts = append(texts, *p.Text)
		}
	}
	return strings.Join(texts, "\n"), nil
}

// fill returns a template as a text of ours. In an f-string a brace that is doubled stands for one;
// the variables of Mustache are written as ours are.
func (r *reader) fill(template, format string, partial map[string]jsontext.Value,
	values map[string]any,
) (string, error) {
	if err := r.take(len(template)); err != nil {
		return "", err
	}
	if format == mustache {
		if len(values) > 0 {
			return "", unread("examples are filled in where the template_format is f-string")
		}
		return template, nil
	}
	var b strings.Builder
	for i := 0; i < len(template); i++ {
		c := template[i]
		end := strings.IndexByte(template[i:min(i+maxVariable, len(template))], '}')
		switch {
		case (c == '{' || c == '}') && strings.HasPrefix(template[i+1:], string(c)):
			b.WriteByte(c)
			i++
		case c == '{' && end > 0:
			value := ours(template[i+1:i+end], partial, values)
			if err := r.take(len(value)); err != nil {
				return "", err
			}
			b.WriteString(value)
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// maxVariable is how far the end of a variable is looked for.
const maxVariable = 256

// ours returns what stands for a variable of a template here.
func ours(name string, partial map[string]jsontext.Value, values map[string]any) string {
	if v, ok := values[name]; ok {
		return fmt.Sprint(v)
	}
	v, ok := partial[name]
	var text string
	if ok && json.Unmarshal(v, &text) != nil && v.Kind() != '[' && v.Kind() != 'n' {
		text = string(v) // a number, true or false, as it is written
	} else if v.Kind() == '[' || v.Kind() == 'n' {
		ok = false
	}
	if ok && !strings.ContainsAny(text, "{}|") {
		return "{{" + name + ":" + text + "}}"
	}
	return "{{" + name + "}}"
}
