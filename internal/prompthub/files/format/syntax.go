package format

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
)

// A Syntax is how a text says what must be filled in.
type Syntax string

// The syntaxes.
const (
	Mustache   Syntax = "mustache"   // {{name}} and {{name:default}}
	Dollar     Syntax = "dollar"     // ${name} and ${name:default}
	FString    Syntax = "f-string"   // {name}, where {{ stands for a brace
	Handlebars Syntax = "handlebars" // {{name}} alone
	Jinja      Syntax = "jinja"      // the same
	Library    Syntax = "library"    // as the library has the text

	inputs  Syntax = "inputs"  // ${input:name}, of VS Code alone
	kernels Syntax = "kernels" // {{$name}}, of templates of Semantic Kernel alone
)

// Syntaxes returns those that one may ask for.
func Syntaxes() []Syntax { return []Syntax{Dollar, FString, Handlebars, Jinja, Library, Mustache} }

// filledIn says in which syntax the program of a format fills placeholders in, or, where it hands a
// text to a model as it is, how people who put values in by hand, and other programs, know a place
// for one. The formats that are not here are lines and cells of this library.
var filledIn = map[Format]Syntax{
	Markdown: Handlebars, Fabric: Handlebars, Skill: Handlebars, Command: Handlebars, AgentFramework: Handlebars,
	Agent: Handlebars, Instructions: Handlebars, ChatMode: Handlebars, CursorRule: Handlebars,
	Dotprompt: Handlebars, SemanticKernel: Handlebars, Langfuse: Handlebars, LangChain: Handlebars,
	GitHubModels: Handlebars, OpenWebUI: Handlebars,
	Prompty: Jinja, Messages: Jinja, PromptsChat: Dollar, VSCode: inputs,
}

// ForProgram returns the document with the placeholders that the program of a format fills in, and
// whether any had to be written anew: one that it knows stays as it is written. A text that cannot
// be written so stays too, and so does one in a syntax of the format that is another.
func (f Format) ForProgram(d Document) (Document, bool) {
	to, known := filledIn[f]
	if !known || d.isFString() {
		return d, false
	}
	if f == SemanticKernel && strings.Contains(d.words(), "{{$") {
		to = kernels
	}
	if to == Handlebars || to == Jinja {
		content := d.draft().Content()
		if bare, _ := content.Bare(); bare.Text == content.Text && slices.Equal(bare.Messages, content.Messages) {
			return d, false
		}
	}
	filled, err := d.In(to)
	if err != nil && to != Dollar { // which has defaults
		filled, err = d.bare()
	}
	if err != nil || filled.Text == d.Text && slices.Equal(filled.Messages, d.Messages) {
		return d, false
	}
	if f == LangChain {
		filled.syntax = mustache // as it calls {{name}}
	}
	return filled, true
}

// Imported returns those that texts of files may be rewritten in, as the library fills them in.
func Imported() []Syntax { return []Syntax{Dollar, Mustache} }

// names are those that placeholders of a syntax can have, where not all can be.
var names = map[Syntax]*regexp.Regexp{
	FString: identifier, Jinja: identifier, inputs: identifier, kernels: identifier,
	Handlebars: regexp.MustCompile(`^[A-Za-z_][\w-]*$`),
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// In returns the document with the placeholders of its text in a syntax. Where that has no defaults
// and choices, those that only the text has become declared ones. A text that would say something
// else then is an error.
func (d Document) In(to Syntax) (Document, error) {
	if to == "" || to == Library || to == FString && d.isFString() {
		return d, nil
	}
	d, err := d.Mustache()
	if err != nil {
		return d, err
	}
	texts := d.texts()
	was := prompt.ParseTemplate(d.Variables, said(texts)...)
	for i, parts := range was.Parts() {
		var b strings.Builder
		for _, p := range parts {
			written, err := to.part(p, was.Variables)
			if err != nil {
				return d, err
			}
			b.WriteString(written)
		}
		*texts[i] = b.String()
	}
	d.syntax = string(to)
	now, err := d.Mustache()
	if err != nil {
		return d, err
	}
	if !d.declare(was, now) {
		return d, fmt.Errorf("the text cannot be written as %s: other braces in it would be placeholders", to)
	}
	return d, nil
}

// Taken returns the document of a file that is taken in with a syntax: in that, and the file that
// is kept with it says so. It warns of words in single braces, which only an f-string fills in.
func (d Document) Taken(to Syntax) (Document, error) {
	taken, err := d.In(to)
	if err != nil {
		return d, err
	}
	if d.Source != nil {
		s := *d.Source
		s.Syntax = to
		taken.Source = &s
	}
	if first, words := taken.inSingleBraces(); words > 0 && !d.isFString() {
		written, _ := to.part(prompt.Part{Text: "{{" + first + "}}"}, []prompt.Variable{{Name: first}})
		more := ""
		if words > 1 {
			more = fmt.Sprintf(" and %d more", words-1)
		}
		taken.Warnings = append(slices.Clip(taken.Warnings), Warning{Text: fmt.Sprintf(
			"{%s}%s: left as it is, because the file does not say that its text is an f-string; write %s where it must be filled in", first, more, written)})
	}
	return taken, nil
}

var singleBraces = regexp.MustCompile(`\{([A-Za-z_]\w*)\}`)

// inSingleBraces returns the first word of the text that stands in single braces, and how many such
// words there are.
func (d Document) inSingleBraces() (first string, words int) {
	seen := make(map[string]bool)
	for _, parts := range prompt.ParseTemplate(d.Variables, said(d.texts())...).Parts() {
		for _, p := range parts {
			if p.Variable >= 0 {
				continue
			}
			for _, m := range singleBraces.FindAllStringSubmatch(p.Text, -1) {
				first, seen[m[1]] = cmp.Or(first, m[1]), true
			}
		}
	}
	return first, len(seen)
}

// declare declares the variables that a document had before its placeholders were written anew,
// where its text no longer says all of them. It reports whether the text has the same ones.
func (d *Document) declare(was prompt.Template, now Document) bool {
	is := prompt.ParseTemplate(d.Variables, said(now.texts())...)
	same := func(v, w prompt.Variable) bool { return v.Name == w.Name }
	if !slices.EqualFunc(was.Variables, is.Variables, same) {
		return false
	}
	if len(variableDifferences(was.Variables, is.Variables)) > 0 {
		d.Variables = was.Variables
	}
	return true
}

// bare returns the document with {{name}} for placeholders whatever their names are, where no
// syntax of a program can have all of these.
func (d Document) bare() (Document, error) {
	was := prompt.ParseTemplate(d.Variables, said(d.texts())...)
	content, _ := d.draft().Content().Bare()
	d.Text, d.Messages = content.Text, content.Messages
	if !d.declare(was, d) {
		return d, errors.New("other braces in the text would be placeholders")
	}
	return d, nil
}

// part writes a part of a text.
func (s Syntax) part(p prompt.Part, variables []prompt.Variable) (string, error) {
	if p.Variable < 0 {
		if s == FString {
			return strings.NewReplacer("{", "{{", "}", "}}").Replace(p.Text), nil
		}
		return p.Text, nil
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(p.Text, "${"), "}")
	if strings.HasPrefix(p.Text, "{{") {
		inner = p.Text[2 : len(p.Text)-2]
	}
	if called, _, _ := strings.Cut(inner, ":"); prompt.VariableName(
		strings.Trim(called, " ")) != variables[p.Variable].Name {
		inner = variables[p.Variable].Name // of a placeholder of another program
	}
	if allowed := names[s]; allowed != nil {
		inner = variables[p.Variable].Name
		if s == kernels && p.Text == "{{"+inner+"}}" && strings.Contains(inner, ".") {
			return p.Text, nil // a function of a plugin
		}
		if !allowed.MatchString(inner) {
			return "", fmt.Errorf("the variable %q has a name that no placeholder of %s can have", inner, s)
		}
	}
	switch s {
	case Dollar:
		return "${" + inner + "}", nil
	case FString:
		return "{" + inner + "}", nil
	case inputs:
		return "${input:" + inner + "}", nil
	case kernels:
		return "{{$" + inner + "}}", nil
	}
	return "{{" + inner + "}}", nil
}

// texts returns where the texts of a copy of the document are.
func (d *Document) texts() []*string {
	d.Messages = slices.Clone(d.Messages)
	all := []*string{&d.Text}
	for i := range d.Messages {
		all = append(all, &d.Messages[i].Content)
	}
	return all
}

func said(texts []*string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = *text
	}
	return list
}

// isFString reports whether placeholders are those of an f-string: as the file says, or as they
// were written for one that must be.
func (d Document) isFString() bool {
	if d.syntax != "" {
		return d.syntax == fString
	}
	format, _ := d.Extra.Members.raw(templateFormat)
	return d.Extra.Format == LangChain && string(format) == `"`+fString+`"`
}

var (
	fStringToken  = regexp.MustCompile(`\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]`)
	mustacheToken = regexp.MustCompile(`\{\{([A-Za-z_]\w*)\}\}|[{}]`)
)

// Mustache returns the document with placeholders that the library fills in, where those that it
// has are of an f-string: {x} becomes {{x}}, and {{ becomes {. A text that could not be written
// back as it was is an error.
func (d Document) Mustache() (Document, error) {
	if !d.isFString() {
		return d, nil
	}
	d.syntax = mustache
	if i := slices.IndexFunc(d.Extra.Members, func(m member) bool { return m.name == templateFormat }); i >= 0 &&
		d.Extra.Format == LangChain {
		d.Extra.Members = slices.Clone(d.Extra.Members)
		d.Extra.Members[i].value = []byte(`"` + mustache + `"`)
	}
	for _, text := range d.texts() {
		translated, err := fromFString(*text)
		if err != nil {
			return d, err
		}
		*text = translated
	}
	return d, nil
}

func fromFString(text string) (string, error) {
	var b strings.Builder
	at := 0
	for _, m := range fStringToken.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[at:m[0]])
		token := text[m[0]:m[1]]
		switch {
		case m[2] >= 0:
			b.WriteString("{" + token + "}")
		case len(token) == 2:
			b.WriteString(token[:1])
		default:
			return "", fmt.Errorf("the brace at byte %d of an f-string is no placeholder such as {name}", m[0])
		}
		at = m[1]
	}
	b.WriteString(text[at:])
	if translated := b.String(); toFString(translated) == text {
		return translated, nil
	}
	return "", fmt.Errorf("the f-string has braces that would be placeholders: %.40q", text)
}

// toFString is the other way.
func toFString(text string) string {
	return mustacheToken.ReplaceAllStringFunc(text, func(token string) string {
		if len(token) == 1 {
			return token + token
		}
		return token[1 : len(token)-1]
	})
}
