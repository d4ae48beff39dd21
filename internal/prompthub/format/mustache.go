package format

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	fStringToken  = regexp.MustCompile(`\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]`)
	mustacheToken = regexp.MustCompile(`\{\{([A-Za-z_]\w*)\}\}|[{}]`)
)

// Mustache returns the document with placeholders that the library fills in, where those of its
// file are of an f-string: {x} becomes {{x}}, and {{ becomes {. A text that could not be written
// back as it was is an error.
func (d Document) Mustache() (Document, error) {
	i := slices.IndexFunc(d.Extra.Members, func(m member) bool { return m.name == templateFormat })
	if i < 0 || d.Extra.Format != LangChain || string(d.Extra.Members[i].value) != `"`+fString+`"` {
		return d, nil
	}
	d.Extra.Members = slices.Clone(d.Extra.Members)
	d.Extra.Members[i].value = []byte(`"` + mustache + `"`)
	d.Messages = slices.Clone(d.Messages)
	texts := []*string{&d.Text}
	for i := range d.Messages {
		texts = append(texts, &d.Messages[i].Content)
	}
	for _, text := range texts {
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
