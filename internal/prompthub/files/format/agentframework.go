package format

import (
	"errors"
	"regexp"
)

// AgentFramework is a declarative agent of Microsoft Agent Framework.
const AgentFramework Format = "agent-framework"

func init() {
	register(codec{
		name: AgentFramework, path: "*.yaml", ends: []string{".yaml", ".yml"}, says: isDeclared,
		read: readDeclared, write: writeDeclared,
		keeps: []string{fieldName, fieldTitle, fieldText, fieldDescription, fieldConfig},
	})
}

var (
	declaredKind = regexp.MustCompile(`(?m)^kind:[ \t]*["']?Prompt["']?[ \t]*(?:#.*)?\r?$`)
	declaredText = regexp.MustCompile(`(?m)^instructions:`)
)

// isDeclared reports whether YAML is an agent with instructions. A workflow, and an agent that is
// hosted elsewhere, have none.
func isDeclared(b []byte) bool { return declaredKind.Match(b) && declaredText.Match(b) }

// readDeclared reads an agent: its instructions are the text. Its tools, schemas and connections
// stay in the file, and expressions are text here.
func readDeclared(in *input) (Document, object, error) {
	o, err := in.yaml([]string{fieldName, "displayName", fieldDescription, "instructions"}, "model")
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{
		Name: o.text("name"), Title: o.text("displayName"), Description: o.text("description"),
		Text: o.text("instructions"),
	}
	if d.Text == "" {
		return d, o, errors.New("instructions: there are none")
	}
	takePromptyModel(&d, &o)
	return d, o, nil
}

func writeDeclared(d Document, extra object) ([]byte, error) {
	var o object
	o.put("kind", "Prompt")
	o.put("name", d.Name)
	o.put("displayName", d.Title)
	o.put("description", d.Description)
	o.put("instructions", d.words())
	o.put("model", promptyModel(d, &extra))
	o.add(extra)
	return writeYAML(o)
}
