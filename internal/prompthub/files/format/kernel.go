package format

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
)

// SemanticKernel is the YAML of a prompt of Semantic Kernel.
const SemanticKernel Format = "semantic-kernel"

func init() {
	register(codec{
		name: SemanticKernel, path: "*.yaml", ends: []string{".yaml", ".yml"}, says: isKernel, read: readKernel, write: writeKernel,
		keeps: []string{
			fieldName, fieldText, fieldDescription, fieldKind, fieldMessages, fieldMessages + ".role", fieldMessages + ".placeholder", fieldVariables,
			fieldVariables + ".description", fieldVariables + ".required", fieldVariables + ".default",
		},
	})
}

// A prompt of Semantic Kernel may be a folder too, which has the name of the prompt: one file has
// its text, the other one everything else.
const (
	kernelText   = "skprompt.txt"
	KernelConfig = "config.json" // the name of the latter
)

var kernelMember = regexp.MustCompile(`(?m)^(?:template|"template"|[ ]*"template"):`)

// isKernel reports whether YAML has a template, and is none that LangChain has saved.
func isKernel(b []byte) bool {
	return bytes.HasPrefix(b, []byte("{")) && bytes.Contains(b, []byte(`"template":`)) || kernelMember.Match(b) && !isSaved(b)
}

// The formats of templates.
const (
	kernelSyntax     = "semantic-kernel"
	kernelHandlebars = "handlebars"
)

// kernelMark is a message in a template, or a loop over the messages of a caller, which has one.
var kernelMark = regexp.MustCompile(`(?s)\{\{#each\s+(\w+)\s*\}\}\s*<message\s+role="\{\{[^}"]*\}\}"\s*>\s*\{\{[^}]*\}\}\s*</message>\s*\{\{/each\}\}` +
	`|\{%-?\s*for\s+\w+\s+in\s+(\w+)\s*-?%\}\s*<message\s+role="\{\{[^}"]*\}\}"\s*>\s*\{\{[^}]*\}\}\s*</message>\s*\{%-?\s*endfor\s*-?%\}` +
	`|<message\s+role="([^"{}]+)"\s*>(.*?)</message>`)

// kernelCode is what a program fills in and the library does not: calls, helpers, loops, conditions
// and filters.
var kernelCode = regexp.MustCompile(`\{\{[~#^/&>]?[^{}$|:]*[\s.][^{}]*\}\}|\{\{[#^/&>][^{}]*\}\}|\{%[^%]*%\}`)

// readKernel reads the YAML of a prompt. How a model is called stays in the file.
func readKernel(in *input) (Document, object, error) {
	o, err := in.yaml([]string{fieldName, fieldDescription, "template"}, "template_format", "input_variables")
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: o.text("name"), Description: o.text("description"), Text: o.text("template")}
	if strings.TrimSpace(d.Text) == "" {
		return d, o, errors.New("template: there is none")
	}
	if list := kernelMessages(d.Text); list != nil {
		d.Text, d.Messages = "", list
	} else {
		d.Text = trimLineEnd(d.Text)
	}
	d.takeKernelVariables(&o)
	for _, code := range kernelCode.FindAllString(d.draft().Content().Words(), 1) {
		in.warnings = append(in.warnings, Warning{Text: fmt.Sprintf("%.60q is filled in by Semantic Kernel alone, and stands here as it is", code), note: true})
	}
	return d, o, nil
}

// kernelMessages returns the messages of a template, and nothing if anything else is in it.
func kernelMessages(text string) (list []prompt.Message) {
	at := 0
	for _, m := range kernelMark.FindAllStringSubmatchIndex(text, -1) {
		if strings.TrimSpace(text[at:m[0]]) != "" {
			return nil
		}
		at = m[1]
		switch {
		case m[2] >= 0:
			list = append(list, prompt.Message{Placeholder: text[m[2]:m[3]]})
		case m[4] >= 0:
			list = append(list, prompt.Message{Placeholder: text[m[4]:m[5]]})
		default:
			list = append(list, prompt.Message{Role: text[m[6]:m[7]], Content: text[m[8]:m[9]]})
		}
	}
	if strings.TrimSpace(text[at:]) != "" {
		return nil
	}
	return list
}

// takeKernelVariables takes the variables of a file. What else it says of one stays there, under
// its name.
func (d *Document) takeKernelVariables(o *object) {
	var list, rest []object
	if !o.take("input_variables", &list) {
		return
	}
	for _, in := range list {
		v := prompt.Variable{Name: in.text("name"), Description: in.text("description"), Type: prompt.Line, Required: true}
		if !in.take("is_required", &v.Required) {
			in.take("required", &v.Required)
		}
		if value, ok := in.raw("default"); ok {
			if v.Default = scalarText(value); v.Default != nil {
				in.drop("default")
			}
		}
		isMessages := slices.ContainsFunc(d.Messages, func(m prompt.Message) bool { return m.Placeholder == v.Name })
		if isMessages {
			continue
		}
		d.Variables = append(d.Variables, v)
		if len(in) > 0 {
			rest = append(rest, append(object{{"name", mustQuote(v.Name)}}, in...))
		}
	}
	o.put("input_variables", rest)
}

// writeKernel writes the YAML of a prompt.
func writeKernel(d Document, extra object) ([]byte, error) {
	var o object
	o.put("name", d.Name)
	o.put("description", d.Description)
	as := extra.text("template_format")
	if as == "" && !strings.Contains(d.words(), "{{$") {
		as = kernelHandlebars
	}
	text := ended(d.Text)
	if len(d.Messages) > 0 {
		text = kernelTemplate(d.Messages, as)
	}
	o.put("template", text)
	o.put("template_format", as)
	o.put("input_variables", kernelVariables(d, extra))
	extra.drop("input_variables")
	o.add(extra)
	return writeYAML(o)
}

func kernelTemplate(list []prompt.Message, as string) string {
	var b strings.Builder
	for _, m := range list {
		switch {
		case m.Placeholder == "":
			fmt.Fprintf(&b, "<message role=%q>%s</message>\n", m.Role, m.Content)
		case as == kernelHandlebars:
			fmt.Fprintf(&b, "{{#each %s}}\n<message role=\"{{role}}\">{{content}}</message>\n{{/each}}\n", m.Placeholder)
		case as != kernelSyntax && as != "":
			fmt.Fprintf(&b, "{%% for message in %s %%}\n<message role=\"{{ message.role }}\">{{ message.content }}</message>\n{%% endfor %%}\n", m.Placeholder)
		}
	}
	return b.String()
}

// kernelVariables returns the variables with what only the file says of them.
func kernelVariables(d Document, extra object) (list []object) {
	var own []object
	extra.take("input_variables", &own)
	for _, m := range d.Messages {
		if m.Placeholder != "" {
			list = append(list, object{{"name", mustQuote(m.Placeholder)}})
		}
	}
	for _, v := range d.Variables {
		o := object{{"name", mustQuote(v.Name)}}
		o.put("description", v.Description)
		if v.Default != nil {
			o = append(o, member{"default", defaultJSON(v)})
		}
		if !v.Required {
			o = append(o, member{"is_required", jsontext.Value("false")})
		}
		for _, w := range own {
			if name, _ := w.raw("name"); string(name) == string(mustQuote(v.Name)) {
				o.add(w)
			}
		}
		list = append(list, o)
	}
	return list
}

// JoinKernel returns the two files of a folder as one of YAML: of its JSON, which YAML is too. A
// config.json of the first years has its variables elsewhere.
func JoinKernel(file string, text, config []byte) []byte {
	o, _ := parseObject(bytes.TrimPrefix(config, bom)) // none, or a broken one, says nothing
	var input struct {
		Parameters []struct{ Name, Description, DefaultValue string }
	}
	if v, ok := o.raw("input"); ok && json.Unmarshal(v, &input, json.MatchCaseInsensitiveNames(true)) == nil && len(input.Parameters) > 0 {
		var list []object
		for _, p := range input.Parameters {
			in := object{{"name", mustQuote(p.Name)}}
			in.put("description", p.Description)
			in = append(in, member{"default", mustQuote(p.DefaultValue)})
			list = append(list, in)
		}
		o.drop("input")
		o.put("input_variables", list)
	}
	said := object{{"name", mustQuote(folder(file))}}
	quoted, err := jsontext.AppendQuote(nil, string(bytes.TrimPrefix(text, bom)))
	if err != nil {
		return text // which is told of
	}
	said = append(said, member{"template", quoted})
	said.add(o)
	b, err := indented(said)
	if err != nil {
		return text
	}
	return b
}

// IsKernelText reports whether a file is the text of a prompt of Semantic Kernel that is a folder.
func IsKernelText(file string) bool { return path.Base(file) == kernelText }

// SplitKernel returns the two files of the folder of a prompt of Semantic Kernel.
func SplitKernel(b []byte) (text, config []byte, err error) {
	o, err := parseYAML(b, "template")
	if err != nil {
		return nil, nil, err
	}
	text = []byte(o.text("template"))
	o.drop(fieldName)
	config, err = indented(o)
	return text, config, err
}
