package bicep

import "strings"

// A Node is a node of a syntax tree.
type Node struct {
	Kind     string  `json:"k"`
	Field    string  `json:"f"`
	Named    bool    `json:"n"`
	Missing  bool    `json:"m"`
	Line     int     `json:"l"`
	Start    int     `json:"s"`
	End      int     `json:"e"`
	Children []*Node `json:"c"`

	text string // of the whole file
}

func (n *Node) adopt(text string) {
	n.text = text
	for _, c := range n.Children {
		c.adopt(text)
	}
}

// Text returns the source of a node.
func (n *Node) Text() string { return n.text[n.Start:n.End] }

// named returns the children that are no punctuation.
func (n *Node) named() []*Node {
	var nodes []*Node
	for _, c := range n.Children {
		if c.Named && c.Kind != "comment" {
			nodes = append(nodes, c)
		}
	}
	return nodes
}

// field returns the child in a field, nil if there is none.
func (n *Node) field(name string) *Node {
	for _, c := range n.Children {
		if c.Field == name && c.Named {
			return c
		}
	}
	return nil
}

// walk calls do for a node and all below it.
func (n *Node) walk(do func(*Node)) {
	do(n)
	for _, c := range n.Children {
		c.walk(do)
	}
}

// Literal returns the text of a string without interpolation.
func (n *Node) Literal() (string, bool) {
	if n == nil || n.Kind != "string" {
		return "", false
	}
	var text strings.Builder
	for _, c := range n.named() {
		switch c.Kind {
		case "string_content":
			text.WriteString(c.Text())
		case "escape_sequence":
			text.WriteString(strings.TrimPrefix(c.Text(), `\`))
		default:
			return "", false
		}
	}
	return text.String(), true
}

// A Property is a member of an object. Value is nil for a nested resource, which Node then is.
type Property struct {
	Name  string // empty where it is computed
	Node  *Node
	Value *Node
}

// Properties returns the members of an object in their order, nested resources left out.
func (n *Node) Properties() []Property {
	var all []Property
	for _, c := range n.named() {
		parts := c.named()
		if c.Kind != "object_property" || len(parts) < 2 {
			continue
		}
		p := Property{Node: c, Value: parts[1]}
		if parts[0].Kind == "identifier" {
			p.Name = parts[0].Text()
		} else {
			p.Name, _ = parts[0].Literal()
		}
		all = append(all, p)
	}
	return all
}

// Get returns the value of a member of an object, or of an object below, nil if there is none.
func (n *Node) Get(path ...string) *Node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		var next *Node
		for _, p := range n.Properties() {
			if p.Name == name {
				next = p.Value
			}
		}
		n = next
	}
	return n
}

// inner goes through parentheses.
func (n *Node) inner() *Node {
	for n.Kind == "parenthesized_expression" {
		n = n.named()[0]
	}
	return n
}
