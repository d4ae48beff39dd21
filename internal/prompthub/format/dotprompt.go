package format

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
)

// roleMark begins a message of Dotprompt, or is the place of earlier ones.
var roleMark = regexp.MustCompile(`\{\{\s*(?:role\s+["']([a-z]+)["']|(history))\s*\}\}`)

// dotpromptRole is a role that a mark can name.
var dotpromptRole = regexp.MustCompile(`^[a-z]+$`)

const (
	dotpromptHistory   = "history"
	dotpromptAssistant = "model"
)

// readDotprompt reads a *.prompt. Helpers of Handlebars stay in the text as they are.
func readDotprompt(_ string, b []byte) (Document, object, error) {
	o, text, err := splitFrontMatter(b)
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: o.text("name"), Description: o.text("description")}
	d.Config = takeConfig(&o, "model", "config")
	d.Variables = takePicoschema(&o)
	d.Messages = dotpromptMessages(text)
	if d.Messages == nil {
		d.Text = text
	}
	return d, o, nil
}

// dotpromptMessages returns what stands between marks, byte for byte as Dotprompt sends it, and
// nothing where there is no mark.
func dotpromptMessages(text string) (list []prompt.Message) {
	role, at := "user", 0
	add := func(content string) {
		if strings.TrimSpace(content) != "" {
			list = append(list, prompt.Message{Role: role, Content: content})
		}
	}
	marks := roleMark.FindAllStringSubmatchIndex(text, -1)
	for _, m := range marks {
		add(text[at:m[0]])
		at = m[1]
		if m[4] >= 0 {
			list = append(list, prompt.Message{Placeholder: dotpromptHistory})
			role = "assistant"
			continue
		}
		if role = text[m[2]:m[3]]; role == dotpromptAssistant {
			role = "assistant"
		}
	}
	if len(marks) == 0 {
		return nil
	}
	add(text[at:])
	return list
}

func writeDotprompt(d Document, extra object) ([]byte, error) {
	var o object
	o.put("name", d.Name)
	o.put("description", d.Description)
	model, config := modelOf(d.Config)
	o.put("model", model)
	o.put("config", config)
	o.put("input", picoschema(d.Variables, extra))
	o.add(extra)
	text := d.Text
	for _, m := range d.Messages {
		role := m.Role
		switch {
		case m.Placeholder != "":
			text += "{{history}}"
			continue
		case role == "assistant":
			role = dotpromptAssistant
		case !dotpromptRole.MatchString(role):
			role = "user"
		}
		text += `{{role "` + role + `"}}` + m.Content
	}
	if len(o) == 0 {
		// without front matter a parser keeps all white space
		o = object{{"config", jsontext.Value("{}")}}
	}
	return joinFrontMatter(o, text)
}

// picoTypes are the types of Picoschema by ours.
var picoTypes = map[prompt.VariableType]string{prompt.Number: "number", prompt.Boolean: "boolean", prompt.Line: "string"}

// takePicoschema takes the variables that an input declares: members of its schema such as
//
//	name?: string, for people
//	tone(enum, for people): [dry, warm]
//
// A schema that says more, such as objects, stays what it is.
func takePicoschema(o *object) []prompt.Variable {
	var input, schema, defaults object
	original := slices.Clone(*o)
	if !o.take("input", &input) || !input.take("schema", &schema) {
		*o = original
		return nil
	}
	input.take("default", &defaults)
	var list []prompt.Variable
	for _, m := range schema {
		v, ok := picoVariable(m)
		if value, has := defaults.raw(v.Name); has && ok {
			v.Default = scalarText(value)
			ok = v.Default != nil
			defaults.drop(v.Name)
		}
		if !ok {
			*o = original
			return nil
		}
		list = append(list, v)
	}
	if len(defaults) > 0 || len(input) > 0 {
		*o = original
		return nil
	}
	return list
}

var picoName = regexp.MustCompile(`(?s)^([^?(]+)(\?)?(?:\((enum)(?:,\s*(.*))?\))?$`)

func picoVariable(m member) (v prompt.Variable, ok bool) {
	name := picoName.FindStringSubmatch(m.name)
	if name == nil {
		return v, false
	}
	v = prompt.Variable{Name: name[1], Required: name[2] == "", Description: name[4]}
	if name[3] != "" {
		v.Type = prompt.Choice
		return v, json.Unmarshal(m.value, &v.Choices) == nil
	}
	var value string
	if json.Unmarshal(m.value, &value) != nil {
		return v, false
	}
	kind, about, _ := strings.Cut(value, ",")
	v.Description = strings.TrimSpace(about)
	for t, name := range picoTypes {
		if name == strings.TrimSpace(kind) {
			v.Type = t
		}
	}
	return v, v.Type != ""
}

// picoschema returns an input with the variables, unless the file has one that says more.
func picoschema(list []prompt.Variable, extra object) object {
	if extra.has("input") {
		return nil
	}
	var input, schema, defaults object
	for _, v := range list {
		name := v.Name
		if !v.Required {
			name += "?"
		}
		if v.Type == prompt.Choice {
			name += "(enum"
			if v.Description != "" {
				name += ", " + v.Description
			}
			schema.put(name+")", v.Choices)
		} else {
			about := cmp.Or(picoTypes[v.Type], "string")
			if v.Description != "" {
				about += ", " + v.Description
			}
			schema.put(name, about)
		}
		if v.Default != nil {
			defaults = append(defaults, member{v.Name, defaultJSON(v)})
		}
	}
	input.put("schema", schema)
	input.put("default", defaults)
	return input
}
