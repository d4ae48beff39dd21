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

// Dotprompt is a *.prompt of Genkit.
const Dotprompt Format = "dotprompt"

func init() {
	register(codec{
		name: Dotprompt, path: "*.prompt", ends: []string{".prompt"}, front: true, comments: true,
		read: readDotprompt, write: writeDotprompt,
		keeps: []string{
			fieldName, fieldText, fieldDescription, fieldKind, fieldMessages, fieldConfig, fieldVariables,
			fieldVariables + ".description",
			fieldVariables + ".required", fieldVariables + ".default", fieldVariables + ".choices",
		},
	})
}

// roleMark begins a message of Dotprompt, or is the place of earlier ones.
var roleMark = regexp.MustCompile(`\{\{\s*(?:role\s+["']([a-z]+)["']|(history))\s*\}\}`)

// dotpromptRole is a role that a mark can name.
var dotpromptRole = regexp.MustCompile(`^[a-z]+$`)

const (
	dotpromptHistory   = "history"
	dotpromptAssistant = "model"
)

// readDotprompt reads a *.prompt. Helpers of Handlebars stay in the text as they are.
func readDotprompt(in *input) (Document, object, error) {
	o, text, err := in.frontMatter(nameAndAbout, "model", "config", "input")
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
	var text strings.Builder
	text.WriteString(d.Text)
	for _, m := range d.Messages {
		role := m.Role
		switch {
		case m.Placeholder != "":
			text.WriteString("{{history}}")
			continue
		case role == "assistant":
			role = dotpromptAssistant
		case !dotpromptRole.MatchString(role):
			role = "user"
		}
		text.WriteString(`{{role "` + role + `"}}` + m.Content)
	}
	if len(o) == 0 {
		// without front matter a parser keeps all white space
		o = object{{"config", jsontext.Value("{}")}}
	}
	return joinFrontMatter(o, text.String())
}

// picoTypes are the types of Picoschema by ours.
var picoTypes = map[prompt.VariableType]string{
	prompt.Number:  "number",
	prompt.Boolean: "boolean", prompt.Line: "string",
}

// picoInteger is one that has none of ours: such a variable is a number here, and the file keeps
// what it is there.
const picoInteger = "integer"

// takePicoschema takes the variables that an input declares: members of its schema such as
//
//	name?: string, for people
//	tone(enum, for people): [dry, warm]
//
// Members that say something else, such as objects, stay in the input, as does all of a schema that
// is no Picoschema.
func takePicoschema(o *object) []prompt.Variable {
	var input, schema, defaults object
	original := slices.Clone(*o)
	if !o.take("input", &input) || !input.take("schema", &schema) || isJSONSchema(schema) {
		*o = original
		return nil
	}
	input.take("default", &defaults)
	var list []prompt.Variable
	var halves, others object
	for _, m := range schema {
		v, ok := picoVariable(m)
		if declared := func(d prompt.Variable) bool { return d.Name == v.Name }; !ok ||
			slices.ContainsFunc(list, declared) {
			others = append(others, m)
			continue
		}
		if value, _ := defaults.raw(v.Name); value != nil {
			if v.Default = scalarText(value); v.Default != nil {
				defaults.drop(v.Name)
			}
		}
		if list = append(list, v); isInteger(m) {
			halves = append(halves, m)
		}
	}
	if len(list) == 0 && len(others)+len(defaults)+len(input) > 0 {
		*o = original
		return nil
	}
	o.put("input", picoInput(append(halves, others...), defaults, input))
	return list
}

// picoInput returns an input with a schema, defaults, and what else it says.
func picoInput(schema, defaults, rest object) (input object) {
	input.put("schema", schema)
	input.put("default", defaults)
	input.add(rest)
	return input
}

// isJSONSchema reports whether a schema is what Dotprompt takes for JSON Schema.
func isJSONSchema(schema object) bool {
	kind, _ := schema.raw("type")
	properties, _ := schema.raw("properties")
	kinds := []string{`"string"`, `"boolean"`, `"null"`, `"number"`, `"integer"`, `"object"`, `"array"`}
	return slices.Contains(kinds, string(kind)) || properties.Kind() == '{'
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
	kind, about, ok := picoType(m)
	if !ok {
		return v, false
	}
	v.Description = about
	for t, name := range picoTypes {
		if name == kind || t == prompt.Number && kind == picoInteger {
			v.Type = t
		}
	}
	return v, v.Type != ""
}

// picoType returns the type of a member of a schema, and what it is for.
func picoType(m member) (kind, about string, ok bool) {
	var value string
	if json.Unmarshal(m.value, &value) != nil {
		return "", "", false
	}
	kind, about, _ = strings.Cut(value, ",")
	return strings.TrimSpace(kind), strings.TrimSpace(about), true
}

func isInteger(m member) bool {
	kind, _, _ := picoType(m)
	return kind == picoInteger
}

// picoschema returns an input with the variables, and with what the file's own says besides. What
// that says of a name stays where the library could not read it.
func picoschema(list []prompt.Variable, extra object) object {
	var was, own, ownDefaults object
	if extra.has("input") && !extra.take("input", &was) {
		return nil
	}
	if _, has := was.raw("schema"); has && (!was.take("schema", &own) || isJSONSchema(own)) {
		return nil
	}
	was.take("default", &ownDefaults)
	var schema, defaults, kept object
	for _, m := range own {
		if _, readable := picoVariable(m); !readable {
			kept = append(kept, m)
		}
	}
	if len(list) == 0 && len(kept) == len(own) {
		return nil // nothing was read of it
	}
	for _, v := range list {
		if slices.ContainsFunc(kept, func(m member) bool { return picoNameOf(m) == v.Name }) {
			continue
		}
		schema = append(schema, picoMember(v, own))
		if v.Default != nil {
			defaults = append(defaults, member{v.Name, defaultJSON(v)})
		}
	}
	schema.add(kept)
	defaults.add(ownDefaults)
	return picoInput(schema, defaults, was)
}

// picoNameOf returns the name that a member of a schema declares.
func picoNameOf(m member) string {
	name, _, _ := strings.Cut(m.name, "(")
	return strings.TrimSuffix(name, "?")
}

// picoMember returns a variable as a member of a schema: as the file has it where that says the
// same.
func picoMember(v prompt.Variable, own object) member {
	for _, m := range own {
		if is, ok := picoVariable(m); ok && is.Name == v.Name && is.Type == v.Type && is.Required == v.Required &&
			is.Description == v.Description {
			return m
		}
	}
	name := v.Name
	if !v.Required {
		name += "?"
	}
	if v.Type == prompt.Choice {
		name += "(enum"
		if v.Description != "" {
			name += ", " + v.Description
		}
		b, _ := marshal(v.Choices) // texts cannot fail
		return member{name + ")", b}
	}
	about := cmp.Or(picoTypes[v.Type], "string")
	if v.Description != "" {
		about += ", " + v.Description
	}
	b, _ := marshal(about)
	return member{name, b}
}
