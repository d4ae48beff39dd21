package format

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// yaml reads a file that is YAML.
func (in *input) yaml(texts []string, others ...string) (object, error) {
	if line := secondDocument(in.file); line > 0 {
		in.warnings = append(in.warnings,
			Warning{Line: line, Text: "a second document begins here and is left out: save it in a file of its own"})
	}
	return in.parse(in.file, 0, texts, others)
}

// secondDocument returns the line with which a second document of YAML begins, 0 for none.
func secondDocument(y []byte) int {
	n, said := 0, false
	for line := range bytes.Lines(y) {
		n++
		switch {
		case said && bytes.HasPrefix(line, []byte("---")) &&
			(isDashes(bytes.TrimSuffix(line, newline)) || len(line) > 3 && line[3] == ' '):
			return n
		case len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("#")) &&
			!bytes.HasPrefix(line, []byte("---")):
			said = true
		}
	}
	return 0
}

// parse reads the members of YAML that stands in the file after some lines. The texts and others
// are the names that the format reads; the former are texts, however they are written.
func (in *input) parse(y []byte, before int, texts, others []string) (object, error) {
	o, warnings, err := readYAML(y, texts)
	for i := range warnings {
		warnings[i].Line += before
	}
	if err != nil {
		o, warnings, err = leniently(y, before, texts, err)
	}
	in.warnings = append(in.warnings, warnings...)
	return o.spelled(slices.Concat(texts, others)), err
}

// parseYAML reads the members of a YAML document, as JSON. Empty YAML has none. Those that are
// meant as texts are texts.
func parseYAML(file []byte, texts ...string) (object, error) {
	o, _, err := readYAML(file, texts)
	return o, err
}

// readYAML is parseYAML with warnings of texts that end before a # that their author may not have
// meant as the beginning of a comment.
func readYAML(file []byte, texts []string) (object, []Warning, error) {
	if len(file) > MaxOne || yamlParts(file) > maxStructural {
		return nil, nil, fault.Coded(fault.Invalid, YAMLTooLarge,
			fmt.Sprintf("the YAML is larger than %d bytes, or has more than %d parts: take a part of it", MaxOne,
				maxStructural))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(file, &doc); err != nil {
		return nil, nil, noYAML{err}
	}
	if doc.Kind == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil, errNoObject
	}
	r := yamlReader{most: aliasFactor*len(file) + aliasFree, texts: texts}
	v, err := r.value(nil, doc.Content[0], 0)
	if err != nil {
		return nil, nil, err
	}
	o, err := parseObject(v)
	return o, r.warnings, err
}

// yamlParts returns how many bytes of YAML may begin a node, which is what parsing it costs.
func yamlParts(file []byte) (n int) {
	for _, c := range file {
		switch c {
		case ',', '[', '{', ':', '-', '?', '!':
			n++
		}
	}
	return n
}

var (
	yamlAnchor = regexp.MustCompile(`&([0-9A-Za-z_-]+)`)
	yamlAlias  = regexp.MustCompile(`\*([0-9A-Za-z_-]+)`)
)

// hasAliases reports whether YAML may have an alias: a name after a star that stands after an
// ampersand too. It costs little, because it parses nothing.
func hasAliases(file []byte) bool {
	anchors := make(map[string]bool)
	for _, m := range yamlAnchor.FindAllSubmatch(file, -1) {
		anchors[string(m[1])] = true
	}
	if len(anchors) == 0 {
		return false
	}
	for _, m := range yamlAlias.FindAllSubmatch(file, -1) {
		if anchors[string(m[1])] {
			return true
		}
	}
	return false
}

// A yamlReader makes JSON of nodes.
type yamlReader struct {
	texts   []string // names of members that are texts
	aliases int
	most    int // bytes that aliases may add
	added   int // bytes that they added
	begin   int // of what the alias adds that is being followed; 0 for none

	warnings []Warning
}

// value appends a node to b.
func (r *yamlReader) value(b []byte, n *yaml.Node, depth int) ([]byte, error) {
	if depth > maxDepth {
		return b, fmt.Errorf("line %d: is nested more than %d deep", n.Line, maxDepth)
	}
	if r.begin > 0 && r.added+len(b)-r.begin > r.most {
		return b, r.tooMuch(n)
	}
	switch n.Kind {
	case yaml.AliasNode:
		if r.aliases++; r.aliases > maxAliases {
			return b, fault.Coded(fault.Invalid, AliasesTooLarge,
				fmt.Sprintf("line %d: there are more than %d aliases: write out what they stand for", n.Line,
					maxAliases))
		}
		return r.alias(b, n, depth)
	case yaml.MappingNode:
		return r.mapping(b, n, depth)
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = r.value(b, item, depth+1); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
	return scalar(b, n)
}

// alias appends what an alias stands for, within what all aliases of the file may add.
func (r *yamlReader) alias(b []byte, n *yaml.Node, depth int) (_ []byte, err error) {
	if r.begin > 0 { // a part of another one, which counts it
		return r.value(b, n.Alias, depth+1)
	}
	r.begin = len(b)
	b, err = r.value(b, n.Alias, depth+1)
	r.added, r.begin = r.added+len(b)-r.begin, 0
	if err == nil && r.added > r.most {
		err = r.tooMuch(n)
	}
	return b, err
}

func (r *yamlReader) tooMuch(n *yaml.Node) error {
	return fault.Coded(fault.Invalid, AliasesTooLarge, fmt.Sprintf("line %d: the aliases add more than %d bytes, which is %d times what the YAML has and %d: write out what they stand for",
		n.Line, r.most, aliasFactor, aliasFree))
}

func (r *yamlReader) mapping(b []byte, n *yaml.Node, depth int) ([]byte, error) {
	seen := make(map[string]bool, len(n.Content)/2)
	b = append(b, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			return b, fmt.Errorf("line %d: a name must be a text; merge keys are not supported", key.Line)
		}
		if seen[key.Value] {
			return b, noYAML{fmt.Errorf("line %d: %.40q stands there twice", key.Line, key.Value)}
		}
		seen[key.Value] = true
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = jsontext.AppendQuote(b, key.Value); err != nil {
			return b, fmt.Errorf("line %d: %w", key.Line, err)
		}
		b = append(b, ':')
		isText := depth == 0 && slices.ContainsFunc(r.texts, func(name string) bool {
			return strings.EqualFold(name, key.Value)
		})
		if text, ok := sourceText(n.Content[i+1]); ok && isText {
			r.cut(key.Value, n.Content[i+1])
			if b, err = jsontext.AppendQuote(b, text); err != nil {
				return b, fmt.Errorf("line %d: %w", key.Line, err)
			}
			continue
		}
		if b, err = r.value(b, n.Content[i+1], depth+1); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// cut warns of a text before a # that no space follows, such as #123: YAML takes the # for the
// beginning of a comment, and the author may not.
func (r *yamlReader) cut(name string, n *yaml.Node) {
	if rest := n.LineComment; n.Style == 0 && len(rest) > 1 && rest[1] != ' ' && rest[1] != '#' {
		r.warnings = append(r.warnings,
			Warning{Line: n.Line, Text: fmt.Sprintf(
				"%.40s ends before %.40q, which is a comment in YAML: put quotes around the text", name, rest)})
	}
}

// sourceText returns a scalar as it is written, and those of a list with commas between. It reports
// false for anything else.
func sourceText(n *yaml.Node) (string, bool) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return n.Value, true
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		return "", false
	}
	var list []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return "", false
		}
		list = append(list, item.Value)
	}
	return strings.Join(list, ", "), true
}

var jsonNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$`)

// scalar appends a scalar: a number as it is written where JSON writes it so, else its value.
func scalar(b []byte, n *yaml.Node) ([]byte, error) {
	switch n.Tag {
	case "!!null":
		return append(b, "null"...), nil
	case "!!bool":
		var v bool
		if err := n.Decode(&v); err != nil {
			return b, err
		}
		return fmt.Append(b, v), nil
	case "!!int", "!!float":
		if jsonNumber.MatchString(n.Value) {
			return append(b, n.Value...), nil
		}
		var v float64
		if err := n.Decode(&v); err != nil {
			return b, err
		}
		number, err := json.Marshal(v) // refuses what is no number
		return append(b, number...), err
	}
	quoted, err := jsontext.AppendQuote(b, n.Value)
	if err != nil {
		return b, fmt.Errorf("line %d: %w", n.Line, err)
	}
	return quoted, nil
}

// writeYAML returns an object as YAML, which reads back as the same.
func writeYAML(o object) ([]byte, error) {
	if len(o) == 0 {
		return nil, nil
	}
	v := o.value()
	if prompt.Deeper(v, maxDepth) {
		return nil, errDeep
	}
	n, err := yamlNode(jsontext.NewDecoder(bytes.NewReader(v)))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err = errors.Join(e.Encode(n), e.Close())
	return b.Bytes(), err
}

// yamlNode makes a node of the next JSON value.
func yamlNode(d *jsontext.Decoder) (*yaml.Node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch t.Kind() {
	case '{', '[':
		n.Kind = yaml.SequenceNode
		end := jsontext.Kind(']')
		if t.Kind() == '{' {
			n.Kind, end = yaml.MappingNode, '}'
		}
		for d.PeekKind() != end {
			item, err := yamlNode(d)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, item)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle
		}
		_, err = d.ReadToken()
	case '"':
		n.Tag, n.Value, n.Style = "!!str", t.String(), stringStyle(t.String())
	case '0':
		n.Tag, n.Value = "!!float", t.String()
		if !strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!int"
		}
	case 't', 'f':
		n.Tag, n.Value = "!!bool", t.String()
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, err
}

// stringStyle returns the style in which a text is sure to be read back: a block where it has
// several lines that a block can hold, else what the emitter finds.
func stringStyle(s string) yaml.Style {
	if !strings.Contains(s, "\n") {
		if strings.TrimSpace(s) != s || strings.ContainsFunc(s, unsafeInYAML) {
			return yaml.DoubleQuotedStyle
		}
		return 0
	}
	if strings.TrimLeft(s, " \t\n") != s || strings.ContainsFunc(s, unsafeInYAML) ||
		strings.Contains(s, " \n") || strings.Contains(s, "\t") {
		return yaml.DoubleQuotedStyle
	}
	return yaml.LiteralStyle
}

// unsafeInYAML reports whether a parser may take r for something else than itself.
func unsafeInYAML(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0xa0 || r == 0x2028 ||
		r == 0x2029 || r == 0xfeff || r >= 0xfff0
}
