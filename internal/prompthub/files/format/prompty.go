package format

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
)

// Prompty is a *.prompty.
const Prompty Format = "prompty"

func init() {
	register(codec{
		name: Prompty, path: "*.prompty", ends: []string{".prompty"}, front: true,
		read: readPrompty, write: writePrompty,
		keeps: []string{
			fieldName, fieldTitle, fieldText, fieldDescription, fieldKind, fieldMessages, fieldConfig, fieldVariables,
			fieldVariables + ".description",
			fieldVariables + ".required", fieldVariables + ".default", fieldVariables + ".choices",
		},
	})
}

// promptyMark is the line that begins a message of Prompty.
var promptyMark = regexp.MustCompile(`(?im)^[ \t]*#?[ \t]*(system|user|assistant|developer)[ \t]*:[ \t]*\r?$\n?`)

// promptyKinds are the kinds of inputs by our types.
var promptyKinds = map[prompt.VariableType]string{
	prompt.Number:  "float",
	prompt.Boolean: "boolean", prompt.Line: "string",
}

// readPrompty reads a *.prompty. Of the form before version 2, the model and the inputs stay what
// only Prompty knows. References to the environment or to files are text here.
func readPrompty(in *input) (Document, object, error) {
	o, text, err := in.frontMatter([]string{fieldName, "displayName", fieldDescription}, "model", "inputs")
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: o.text("name"), Title: o.text("displayName"), Description: o.text("description")}
	takePromptyModel(&d, &o)
	takePromptyInputs(&d, &o)
	d.Messages = promptyMessages(text)
	if d.Messages == nil {
		d.Text = text
	}
	return d, o, nil
}

// takePromptyModel takes a model, a name or {id, options}, into the config.
func takePromptyModel(d *Document, o *object) {
	if model := o.text("model"); model != "" {
		*d = d.withModel(&object{{"model", mustQuote(model)}})
		return
	}
	value, _ := o.raw("model")
	model, err := parseObject(value)
	if err != nil || !model.has("id") && !model.has("options") || model.has("configuration") {
		return
	}
	o.drop("model")
	d.Config = takeConfig(&model, "id", "options")
	if len(model) > 0 { // how to reach it
		*o = append(*o, member{"model", model.value()})
	}
}

func mustQuote(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, s) // it was JSON before
	return b
}

// A promptyInput is a variable of Prompty.
type promptyInput struct {
	Name        string         `json:"name"`
	Kind        string         `json:"kind"`
	Description string         `json:"description,omitempty"`
	Required    bool           `json:"required,omitempty"`
	Default     jsontext.Value `json:"default,omitempty"`
	EnumValues  []string       `json:"enumValues,omitempty"`
}

// takePromptyInputs takes inputs, if all of them can be variables.
func takePromptyInputs(d *Document, o *object) {
	original := slices.Clone(*o)
	var list []object
	if !o.take("inputs", &list) {
		return
	}
	for _, in := range list {
		v, ok := promptyVariable(in)
		if !ok {
			d.Variables, *o = nil, original
			return
		}
		d.Variables = append(d.Variables, v)
	}
}

func promptyVariable(in object) (v prompt.Variable, ok bool) {
	v = prompt.Variable{Name: in.text("name"), Description: in.text("description")}
	in.take("required", &v.Required)
	kind := in.text("kind")
	for t, name := range promptyKinds {
		if name == kind || kind == "integer" && t == prompt.Number {
			v.Type = t
		}
	}
	if in.take("enumValues", &v.Choices) {
		v.Type = prompt.Choice
	}
	if value, has := in.raw("default"); has {
		if v.Default = scalarText(value); v.Default == nil {
			return v, false
		}
		in.drop("default")
	}
	return v, v.Name != "" && v.Type != "" && len(in) == 0
}

// promptyMessages returns what stands below the lines that name roles, and nothing without any.
func promptyMessages(text string) (list []prompt.Message) {
	marks := promptyMark.FindAllStringSubmatchIndex(text, -1)
	if len(marks) == 0 || strings.TrimSpace(text[:marks[0][0]]) != "" {
		return nil
	}
	for i, m := range marks {
		content := text[m[1]:]
		if i+1 < len(marks) {
			content = trimLineEnd(text[m[1]:marks[i+1][0]])
			if strings.HasSuffix(content, "\n") {
				content = trimLineEnd(content)
			}
		}
		list = append(list, prompt.Message{Role: strings.ToLower(text[m[2]:m[3]]), Content: content})
	}
	return list
}

func writePrompty(d Document, extra object) ([]byte, error) {
	var o object
	o.put("name", d.Name)
	o.put("displayName", d.Title)
	o.put("description", d.Description)
	o.put("model", promptyModel(d, &extra))
	if !extra.has("inputs") {
		o.put("inputs", promptyInputs(d.Variables))
	}
	o.add(extra)
	var text strings.Builder
	text.WriteString(d.Text)
	messages := spoken(d.Messages)
	for i, m := range messages {
		role := m.Role
		if !promptyMark.MatchString(role + ":") {
			role = "user"
		}
		message := role + ":\n" + m.Content
		if i+1 < len(messages) {
			message = ended(message) + "\n"
		}
		text.WriteString(message)
	}
	return joinFrontMatter(o, text.String())
}

// promptyModel returns the model with what only the file says of it.
func promptyModel(d Document, extra *object) (model object) {
	value, _ := extra.raw("model")
	rest, _ := parseObject(value)
	if rest.has("configuration") || rest.has("api") && !rest.has("provider") {
		return nil // of a form before version 2
	}
	id, options := modelOf(d.Config)
	model.put("id", id)
	model.put("options", options)
	model.add(rest)
	extra.drop("model")
	return model
}

func promptyInputs(list []prompt.Variable) (inputs []promptyInput) {
	for _, v := range list {
		in := promptyInput{
			Name: v.Name, Kind: cmp.Or(promptyKinds[v.Type], "string"), Description: v.Description,
			Required: v.Required, EnumValues: v.Choices,
		}
		if v.Default != nil {
			in.Default = defaultJSON(v)
		}
		inputs = append(inputs, in)
	}
	return inputs
}
