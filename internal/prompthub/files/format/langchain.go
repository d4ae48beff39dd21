package format

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
)

// A langChain is a serialized object of LangChain.
type langChain struct {
	LC     int      `json:"lc"`
	Type   string   `json:"type"`
	ID     []string `json:"id"`
	Kwargs object   `json:"kwargs"`
}

func newLangChain(kwargs object, path ...string) langChain {
	return langChain{1, "constructor", append([]string{"langchain_core", "prompts"}, path...), kwargs}
}

func (l langChain) class() string {
	if len(l.ID) == 0 || l.Type != "constructor" {
		return ""
	}
	return l.ID[len(l.ID)-1]
}

// chatClasses are the templates of messages by their roles.
var chatClasses = map[string]string{
	"system": "SystemMessagePromptTemplate", "user": "HumanMessagePromptTemplate",
	"assistant": "AIMessagePromptTemplate",
}

// LangChain is the JSON of a serialized template.
const LangChain Format = "langchain"

func init() {
	register(codec{
		name: LangChain, path: "*.json", ends: []string{".yaml", ".yml"}, says: isSaved,
		read: readLangChain, write: writeLangChain,
		holds: object.isLangChain,
		keeps: []string{fieldText, fieldKind, fieldMessages, fieldMessages + ".role", fieldMessages + ".placeholder"},
	})
}

// isLangChain reports whether an object is one that LangChain serialized, or saved.
func (o object) isLangChain() bool { return o.has("lc") || o.isSaved() }

// readLangChain reads a template. What a chain binds to it is a program's, and refused.
func readLangChain(in *input) (d Document, extra object, err error) {
	if saved, ok := savedPrompt(in.file); ok {
		return readSaved(saved)
	}
	var l langChain
	if err := json.Unmarshal(in.file, &l); err != nil {
		return d, nil, err
	}
	extra = l.Kwargs
	extra.drop("input_variables")
	switch l.class() {
	case "PromptTemplate":
		if !extra.take("template", &d.Text) {
			return d, extra, errors.New("kwargs.template: must be a text")
		}
	case "ChatPromptTemplate":
		var list []langChain
		extra.take("messages", &list)
		for _, m := range list {
			made, err := langChainMessage(m, &extra)
			if err != nil {
				return d, extra, err
			}
			d.Messages = append(d.Messages, made)
		}
		if len(d.Messages) == 0 {
			return d, extra, errNoMessages
		}
	default:
		return d, extra, errors.New(
			"id: only PromptTemplate and ChatPromptTemplate are read; what else is bound to them is a program's")
	}
	return d, extra, nil
}

// savedType finds what LangChain saves in YAML. Its first versions said no type, and no other
// program has these formats of templates.
var savedType = regexp.MustCompile(
	`(?m)^(?:_type:|template_format:[ ]*["']?(?:f-string|mustache)["']?[ ]*(?:#.*)?\r?$)`)

// isSaved reports whether YAML is a prompt that LangChain has saved.
func isSaved(b []byte) bool { return savedType.Match(b) }

// savedPrompt returns what the method save of a prompt writes, in JSON or in YAML.
func savedPrompt(b []byte) (object, bool) {
	o, err := parseObject(b)
	if err != nil && isSaved(b) {
		o, err = parseYAML(b)
	}
	return o, err == nil && o.isSaved()
}

// ofLangChain matches what it calls what it saves: prompt, llm_chain, zero-shot-react-description.
var ofLangChain = regexp.MustCompile(`^[a-z0-9_-]+$`)

// isSaved reports the same of an object.
func (o object) isSaved() bool {
	syntax, _ := o.raw(templateFormat)
	return ofLangChain.MatchString(o.text("_type")) ||
		o.has("template") && !o.has("prompt") &&
			slices.Contains([]string{`"` + fString + `"`, `"` + mustache + `"`}, string(syntax))
}

// readSaved reads a saved prompt: a text that stands in the file itself.
func readSaved(o object) (d Document, extra object, err error) {
	if !o.has("_type") {
		o = append(object{{"_type", jsontext.Value(`"prompt"`)}}, o...)
	}
	if kind, _ := o.raw("_type"); string(kind) != `"prompt"` {
		return d, o,
			fmt.Errorf("_type: of the prompts that LangChain saves only those of the type prompt are read, and this is of %s", kind)
	}
	o.drop("input_variables")
	if !o.take("template", &d.Text) {
		return d, o, errors.New("template: must be a text that stands here, and not in another file")
	}
	return d, o, nil
}

// langChainMessage reads a message. The format of its template is that of all.
func langChainMessage(l langChain, extra *object) (m prompt.Message, err error) {
	if l.class() == "MessagesPlaceholder" {
		if m.Placeholder = l.Kwargs.text("variable_name"); m.Placeholder == "" {
			err = errors.New("kwargs.messages: a placeholder has no variable_name")
		}
		return m, err
	}
	m.Role = l.Kwargs.text("role")
	for role, class := range chatClasses {
		if class == l.class() {
			m.Role = role
		}
	}
	var template langChain
	if m.Role == "" || !l.Kwargs.take("prompt", &template) || !template.Kwargs.take("template", &m.Content) {
		return m, errors.New("kwargs.messages: only templates of texts are read")
	}
	if !extra.has(templateFormat) {
		extra.put(templateFormat, template.Kwargs.text(templateFormat))
	}
	return m, nil
}

const (
	templateFormat = "template_format"
	mustache       = "mustache"
	fString        = "f-string"
)

// writeLangChain writes a template whose placeholders are as they were read: of Mustache, where the
// document says nothing else.
func writeLangChain(d Document, extra object) ([]byte, error) {
	syntax := cmp.Or(d.syntax, extra.text(templateFormat), mustache)
	if extra.has("_type") && len(d.Messages) == 0 { // one that was saved, as JSON, which is YAML too
		saved := append(object{{"_type", jsontext.Value(`"prompt"`)}}, langChainTemplate(d.Text, syntax)...)
		saved.add(extra)
		slices.SortStableFunc(saved, func(a, b member) int { return cmp.Compare(a.name, b.name) }) // as LangChain did
		return indented(saved)
	}
	extra.drop("_type")
	if len(d.Messages) == 0 {
		kwargs := langChainTemplate(d.Text, syntax)
		kwargs.add(extra)
		return indented(newLangChain(kwargs, "prompt", "PromptTemplate"))
	}
	var list []langChain
	var texts []string
	for _, m := range d.Messages {
		list = append(list, newLangChainMessage(m, syntax))
		texts = append(texts, m.Content)
	}
	kwargs := object{}
	kwargs.put("messages", list)
	kwargs = append(kwargs, inputVariables(syntax, texts...))
	kwargs.add(extra)
	return indented(newLangChain(kwargs, "chat", "ChatPromptTemplate"))
}

func newLangChainMessage(m prompt.Message, syntax string) langChain {
	var kwargs object
	if m.Placeholder != "" {
		kwargs.put("variable_name", m.Placeholder)
		return newLangChain(kwargs, "chat", "MessagesPlaceholder")
	}
	kwargs.put("prompt", newLangChain(langChainTemplate(m.Content, syntax), "prompt", "PromptTemplate"))
	class, ok := chatClasses[m.Role]
	if !ok {
		class = "ChatMessagePromptTemplate"
		kwargs.put("role", m.Role)
	}
	return newLangChain(kwargs, "chat", class)
}

func langChainTemplate(text, syntax string) object {
	kwargs := object{inputVariables(syntax, text)}
	kwargs.put("template", text)
	kwargs.put(templateFormat, syntax)
	return kwargs
}

// fStringName is a placeholder of an f-string, or two braces, which stand for one.
var fStringName = regexp.MustCompile(`\{\{|\}\}|\{([A-Za-z_]\w*)[^{}]*\}`)

// inputVariables returns the member that names what texts leave to be filled in.
func inputVariables(syntax string, texts ...string) member {
	names := []string{}
	if syntax == fString {
		for _, text := range texts {
			for _, m := range fStringName.FindAllStringSubmatch(text, -1) {
				if m[1] != "" && !slices.Contains(names, m[1]) {
					names = append(names, m[1])
				}
			}
		}
	} else {
		for _, v := range prompt.ParseTemplate(nil, texts...).Variables {
			names = append(names, v.Name)
		}
	}
	b, _ := json.Marshal(names) // texts cannot fail
	return member{"input_variables", b}
}
