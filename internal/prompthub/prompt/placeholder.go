package prompt

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Placeholders that other programs have, as their texts stand in files. Between its braces each
// says more of its variable than a name.
var (
	// ${input:name} and ${input:name:hint} of VS Code; a name has no spaces and no other letters
	vsCodeInput = regexp.MustCompile(`^input:([A-Za-z_][A-Za-z0-9_-]*)(?::(.*))?$`)
	// {{$name}} of Semantic Kernel
	kernelName = regexp.MustCompile(`^[ \t]*\$([A-Za-z_][A-Za-z0-9_]*)[ \t]*$`)
	// {{name | type:property=value:required}} of Open WebUI
	webUIInput = regexp.MustCompile(`^[ \t]*([A-Za-z_][A-Za-z0-9_-]*)[ \t]*\|[ \t]*([a-z-]+)((?::.*)?)$`)
	// a property of one: a list, a text in quotes, or the text before the next colon
	webUIProperty = regexp.MustCompile(`:([a-z]+)(?:=(\[[^\]]*\]|"[^"]*"|[^:]*))?`)
)

// webUITypes are the types of Open WebUI, by ours. A word that is none of them is a filter of
// another program.
var webUITypes = map[string]VariableType{
	"text": Line, "textarea": Multiline, "select": Choice, "number": Number, "range": Number,
	"checkbox": Boolean, "date": Date,
	"datetime-local": Line, "email": Line, "tel": Line, "url": Line, "color": Line, "month": Line, "time": Line,
}

// ofOtherPrograms returns the variable of a placeholder by the text between its braces. The braces
// stand after a dollar sign or are doubled. It reports false for a placeholder of ours.
func ofOtherPrograms(inner string, dollar bool) (Variable, bool) {
	if dollar {
		m := vsCodeInput.FindStringSubmatch(inner)
		if m == nil {
			return Variable{}, false
		}
		return Variable{Name: m[1], Description: oneLine(m[2]), Type: Line, Required: true}, true
	}
	if m := kernelName.FindStringSubmatch(inner); m != nil {
		return Variable{Name: m[1], Type: Line, Required: true}, true
	}
	m := webUIInput.FindStringSubmatch(inner)
	if m == nil || webUITypes[m[2]] == "" {
		return Variable{}, false
	}
	return webUIVariable(m[1], webUITypes[m[2]], m[3]), true
}

// webUIVariable returns a variable of Open WebUI as its properties describe it.
func webUIVariable(name string, as VariableType, properties string) Variable {
	v := Variable{Name: name, Type: as}
	for _, p := range webUIProperty.FindAllStringSubmatch(properties, -1) {
		value := strings.Trim(strings.TrimSpace(p[2]), `"`)
		switch p[1] {
		case "required":
			v.Required = true
		case "placeholder":
			v.Description = oneLine(value)
		case "default":
			v.Default = &value
		case "options":
			var options []string
			if json.Unmarshal([]byte(p[2]), &options) == nil {
				v.Choices = splitChoices(strings.Join(options, "|"))
			}
		}
	}
	if v.Type == Choice && len(v.Choices) == 0 {
		v.Type = Line
	}
	if v.Type != Choice {
		v.Choices = nil
	}
	if v.Default != nil && (v.wrong(*v.Default) != "" || v.Type == Choice && !slices.Contains(v.Choices, *v.Default)) {
		v.Default = nil
	}
	if v.Default != nil {
		v.Required = false
	}
	return v
}

// Bare returns the content with each placeholder as {{name}}, which is all that some programs fill
// in, and the variables whose defaults or choices these do not know.
func (c Content) Bare() (bare Content, lost []Variable) {
	t := c.Template()
	said := make(map[int]bool)
	write := func(parts []Part) string {
		var b strings.Builder
		for _, p := range parts {
			if p.Variable < 0 {
				b.WriteString(p.Text)
				continue
			}
			v := t.Variables[p.Variable]
			if !said[p.Variable] && (v.Default != nil || len(v.Choices) > 0) {
				lost = append(lost, v)
			}
			said[p.Variable] = true
			if inner, ok := strings.CutPrefix(p.Text, "{{"); ok &&
				strings.Trim(strings.TrimSuffix(inner, "}}"), " ") == v.Name {
				b.WriteString(p.Text)
				continue
			}
			b.WriteString("{{" + v.Name + "}}")
		}
		return b.String()
	}
	if c.Kind != KindChat {
		c.Text = write(t.Parts()[0])
		return c, lost
	}
	c.Messages = slices.Clone(c.Messages)
	for i, parts := range t.Parts() {
		c.Messages[i].Content = write(parts)
	}
	return c, lost
}

// maxTold is of how many variables Told tells.
const maxTold = 10

// Told says which defaults and choices are lost, for a header.
func Told(lost []Variable) (told []string) {
	for _, v := range lost[:min(len(lost), maxTold)] {
		said := "choices"
		if v.Default != nil {
			said = "default " + strconv.QuoteToASCII(Excerpt(*v.Default))
		}
		told = append(told, "variables."+v.Name+" ("+said+")")
	}
	return told
}

// oneLine returns a text that can be the description of a variable.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for units(s) > maxAbout {
		s = s[:len(s)/2]
	}
	return strings.ToValidUTF8(s, "")
}
