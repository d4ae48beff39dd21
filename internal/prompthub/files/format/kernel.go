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
		holds: func(o object) bool { // which its programs read as JSON, too
			return o.has("template") && slices.Contains(kernelSyntaxes, o.text("template_format")) &&
				!o.isLangChain() && !o.hasAny("prompt", "content")
		},
		name: SemanticKernel, path: "*.yaml", ends: []string{".yaml", ".yml"}, says: isKernel,
		read: readKernel, write: writeKernel,
		keeps: []string{
			fieldName, fieldText, fieldDescription, fieldKind, fieldMessages, fieldMessages + ".role",
			fieldMessages + ".placeholder", fieldVariables,
			fieldVariables + ".description", fieldVariables + ".required", fieldVariables + ".default",
		},
	})
}

// A prompt of Semantic Kernel may be a folder too, which has the name of the prompt: the first file
// has its text, the other one everything else.
const (
	KernelText   = "skprompt.txt"
	KernelConfig = "config.json"
)

var kernelMember = regexp.MustCompile(`(?m)^(?:template|"template"|[ ]*"template"):`)

// isKernel reports whether YAML has a template, and is none that LangChain has saved.
func isKernel(b []byte) bool {
	b = bytes.TrimPrefix(b, bom)
	return bytes.HasPrefix(b, []byte("{")) && bytes.Contains(b, []byte(`"template":`)) ||
		kernelMember.Match(b) && !isSaved(b)
}

// The formats of templates.
const (
	kernelSyntax     = "semantic-kernel"
	kernelHandlebars = "handlebars"
)

var kernelSyntaxes = []string{kernelSyntax, kernelHandlebars, "liquid"}

// kernelMark is a message in a template, or a loop over the messages of a caller, which has one.
var kernelMark = regexp.MustCompile(`(?s)\{\{#each\s+(\w+)\s*\}\}\s*<message\s+role="\{\{[^}"]*\}\}"\s*>\s*\{\{[^}]*\}\}\s*</message>\s*\{\{/each\}\}` +
	`|\{%-?\s*for\s+\w+\s+in\s+(\w+)\s*-?%\}\s*<message\s+role="\{\{[^}"]*\}\}"\s*>\s*\{\{[^}]*\}\}\s*</message>\s*\{%-?\s*endfor\s*-?%\}` +
	`|<message\s+role="([^"{}]+)"\s*>(.*?)</message>`)

// kernelCode is what a program fills in and the library does not: calls, helpers, loops, conditions
// and filters.
var kernelCode = regexp.MustCompile(`\{\{[~#^/&>]?[^{}$|:]*[\s.][^{}]*\}\}|\{\{[#^/&>][^{}]*\}\}|\{%[^%]*%\}`)

// readKernel reads the YAML of a prompt. How a model is called stays in the file.
func readKernel(in *input) (Document, object, error) {
	o, err := in.kernel()
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{
		Name: o.text("name"), Description: o.text("description"),
		Text: strings.TrimPrefix(o.text("template"), string(bom)),
	}
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
		in.warnings = append(in.warnings,
			Warning{
				Text: fmt.Sprintf("%.60q is filled in by Semantic Kernel alone, and stands here as it is", code),
				note: true,
			})
	}
	return d, o, nil
}

// kernel reads the members of a file: JSON may have what YAML has not, such as tabs.
func (in *input) kernel() (object, error) {
	_, text := splitBOM(in.file)
	o, err := parseObject(text)
	if _, _, ok := cutKernel(in.file); !ok && err != nil {
		return in.yaml([]string{fieldName, fieldDescription, "template"}, "template_format", "input_variables")
	}
	if err == nil {
		o.renewInput()
	}
	return o, err
}

// renewInput brings the variables of a config.json of the first years to where they are now.
func (o *object) renewInput() {
	var input struct {
		Parameters []struct{ Name, Description, DefaultValue string }
	}
	v, ok := o.raw("input")
	if !ok || json.Unmarshal(v, &input, json.MatchCaseInsensitiveNames(true)) != nil || len(input.Parameters) == 0 {
		return
	}
	var list []object
	for _, p := range input.Parameters {
		in := object{{"name", mustQuote(p.Name)}}
		in.put("description", p.Description)
		list = append(list, append(in, member{"default", mustQuote(p.DefaultValue)}))
	}
	o.drop("input")
	o.put("input_variables", list)
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
		v := prompt.Variable{
			Name: in.text("name"), Description: in.text("description"),
			Type: prompt.Line, Required: true,
		}
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
			fmt.Fprintf(&b, "{{#each %s}}\n<message role=\"{{role}}\">{{content}}</message>\n{{/each}}\n",
				m.Placeholder)
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

// JoinKernel returns the two files of a folder as one: the JSON of config.json as it is, after the
// name and the text. A config.json that is none says nothing.
func JoinKernel(file string, text, config []byte) []byte {
	quoted, err := jsontext.AppendQuote(nil, string(text))
	if err != nil {
		return text // which is told of
	}
	b := fmt.Appendf(nil, `{"name":%s,"template":%s`, mustQuote(folder(file)), quoted)
	mark, rest := splitBOM(config)
	rest = bytes.TrimLeft(rest, " \t\r\n")
	o, err := parseObject(rest)
	_, named := o.raw(fieldName)
	_, said := o.raw("template")
	switch {
	case err != nil || named || said:
		return append(b, '}')
	case len(o) > 0:
		b = append(b, ',')
	}
	return slices.Concat(mark, b, newline, rest[1:])
}

func splitBOM(b []byte) (mark, rest []byte) {
	rest = bytes.TrimPrefix(b, bom)
	return b[:len(b)-len(rest)], rest
}

// cutKernel returns the two files that JoinKernel made one of, and false for any other file.
func cutKernel(b []byte) (text, config []byte, ok bool) {
	mark, b := splitBOM(b)
	if !bytes.HasPrefix(b, []byte(`{"name":"`)) {
		return nil, nil, false
	}
	d := decoder(b)
	var said jsontext.Token
	for i, want := range []string{"{", fieldName, "", "template", ""} {
		t, err := d.ReadToken()
		if err != nil || want != "" && t.String() != want || i > 0 && t.Kind() != '"' {
			return nil, nil, false
		}
		said = t
	}
	text = []byte(said.String())
	rest := b[d.InputOffset():]
	if string(rest) == "}" {
		return text, nil, true
	}
	rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(",")), newline)
	return text, slices.Concat(mark, []byte("{"), rest), ok
}

// IsKernelText reports whether a file is the text of a prompt of Semantic Kernel that is a folder.
func IsKernelText(file string) bool { return path.Base(file) == KernelText }

// KernelFolder returns the folder that the file of a prompt stands for, "" for none: one that was
// read from such a folder, of a prompt that is called as a folder can be, or as one in others.
func KernelFolder(name string, b []byte) string {
	if _, _, ok := cutKernel(b); !ok || !kernelName.MatchString(name) {
		return ""
	}
	return name
}

var kernelName = regexp.MustCompile(`^\w[\w-]*(?:/\w[\w-]*)*$`)

// SplitKernel returns the two files of the folder of a prompt of Semantic Kernel, the second as nil
// if there was none.
func SplitKernel(b []byte) (text, config []byte, err error) {
	if text, config, ok := cutKernel(b); ok {
		return text, config, nil
	}
	o, err := parseYAML(b, "template")
	if err != nil {
		return nil, nil, err
	}
	text = []byte(o.text("template"))
	o.drop(fieldName)
	config, err = indented(o)
	return text, config, err
}
