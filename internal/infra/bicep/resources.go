package bicep

import (
	"slices"
	"strings"
)

// language are the members of a resource that Bicep itself gives it.
var language = []string{"parent", "scope", "dependsOn"}

// resources reports what does not fit the types of the Azure API.
func (f *File) resources(types Types) []Problem {
	var all []Problem
	for _, r := range f.Resources {
		all = append(all, f.parent(r)...)
		key := r.Type + "@" + r.Version
		t := types[key]
		switch {
		case slices.Contains(WithoutTypes, key):
		case t == nil:
			all = append(all, f.problem(r.line, "there is no type data for %s: is the name or the version wrong?", key))
		case r.Body != nil && !r.Existing:
			c := checker{f: f, types: t, resource: true}
			c.object(r.Body, t.Body, false)
			all = append(all, c.found...)
		}
	}
	return all
}

// parent reports a parent that is not of the type of which the resource is a part.
func (f *File) parent(r Resource) []Problem {
	want := r.Type[:max(0, strings.LastIndex(r.Type, "/"))]
	if strings.Count(r.Type, "/") < 2 || r.Parent != nil {
		return nil
	}
	if r.Body.Get("parent") == nil {
		return []Problem{f.problem(r.line, "%s has no parent, want a %s", r.Symbol, want)}
	}
	name := strings.TrimSpace(strings.Split(r.Body.Get("parent").Text(), "[")[0])
	if p := f.Resource(name); p == nil || p.Type != want {
		return []Problem{f.problem(r.line, "the parent of %s is %s, want a %s", r.Symbol, name, want)}
	}
	return nil
}

// A checker compares one resource with its type.
type checker struct {
	f        *File
	types    *ResourceType
	found    []Problem
	resource bool // the object at hand is the resource itself
}

func (c *checker) report(n *Node, format string, args ...any) {
	c.found = append(c.found, c.f.problem(n.Line, format, args...))
}

// object compares an object with its type. Of an object that is a part of a union, nothing is required.
func (c *checker) object(n *Node, t *ObjectType, part bool) {
	resource := c.resource
	c.resource = false
	one := t.choose(n)
	if one == nil {
		c.report(n, "%s is missing or names no known kind", t.Discriminator)
		return
	}
	t = one
	computed := false
	for _, p := range n.Properties() {
		want := t.property(p.Name)
		switch {
		case p.Name == "":
			computed = true
		case resource && slices.Contains(language, p.Name):
		case want == nil && t.Others == "":
			c.report(p.Node, "unknown property %s", p.Name)
		case want == nil:
			c.value(p.Name, p.Value, t.Others)
		case want.ReadOnly:
			c.report(p.Node, "property %s is read-only", p.Name)
		default:
			c.value(p.Name, p.Value, want.Type)
		}
	}
	for _, p := range t.Properties {
		if p.Required && !p.ReadOnly && !part && !computed && n.Get(p.Name) == nil {
			c.report(n, "property %s is missing", p.Name)
		}
	}
}

// value compares an expression with a type, as far as it is known before it is evaluated.
func (c *checker) value(name string, n *Node, want string) {
	n = n.inner()
	elem, array := strings.CutSuffix(want, "[]")
	switch n.Kind {
	case "identifier":
		if v := c.f.Vars[n.Text()]; v != nil {
			c.value(name, v, want)
		} else if got := c.f.paramType(n.Text()); got != "" {
			c.kind(name, n, got, want)
		}
	case "ternary_expression":
		c.value(name, n.field("consequence"), want)
		c.value(name, n.field("alternative"), want)
	case "call_expression":
		c.call(name, n, want)
	case "object":
		c.objectValue(name, n, want, false)
	case "for_statement":
		if c.kind(name, n, "array", want); array {
			c.value(name, n.field("body"), elem)
		}
	case "array":
		if c.kind(name, n, "array", want); array {
			for _, e := range n.named() {
				c.value(name, e, elem)
			}
		}
	case "string":
		c.stringValue(name, n, want)
	case "number":
		c.kind(name, n, "int", want)
	case "boolean":
		c.kind(name, n, "bool", want)
	}
}

func (f *File) paramType(name string) string {
	for _, p := range f.Params {
		if p.Name == name {
			return p.Type
		}
	}
	return ""
}

// call looks into the parts of a union, and knows what some functions return.
func (c *checker) call(name string, n *Node, want string) {
	switch n.field("function").Text() {
	case "union":
		for _, a := range n.field("arguments").named() {
			c.partOf(name, a.inner(), want)
		}
	case "string", "guid", "replace", "toLower", "toUpper", "trim", "uniqueString", "join", "format":
		c.kind(name, n, "string", want)
	case "empty", "contains":
		c.kind(name, n, "bool", want)
	}
}

func (c *checker) partOf(name string, n *Node, want string) {
	switch n.Kind {
	case "object":
		c.objectValue(name, n, want, true)
	case "ternary_expression":
		c.partOf(name, n.field("consequence").inner(), want)
		c.partOf(name, n.field("alternative").inner(), want)
	}
}

func (c *checker) objectValue(name string, n *Node, want string, part bool) {
	if t := c.types.Objects[want]; t != nil {
		c.object(n, t, part)
		return
	}
	c.kind(name, n, "object", want)
}

func (c *checker) stringValue(name string, n *Node, want string) {
	text, literal := n.Literal()
	choices := slices.DeleteFunc(strings.Split(want, " | "), func(s string) bool { return s == "string" })
	switch {
	case c.kind(name, n, "string", want):
	case literal && want != "string" && want != "any" && !slices.Contains(choices, text):
		// The API may take more, and a deployment with a slip of the pen may go through and never run.
		c.report(n, "%s is %q, want one of %s", name, text, strings.Join(choices, ", "))
	}
}

// kind reports an expression of a kind that the type does not take.
func (c *checker) kind(name string, n *Node, got, want string) (wrong bool) {
	switch {
	case want == "any" || got == "any":
	case got == "array":
		wrong = !strings.HasSuffix(want, "[]") && want != "array"
	case got == "object":
		wrong = c.types.Objects[want] == nil && want != "object"
	case got == "int" || got == "bool":
		wrong = want != got
	case got == "string":
		wrong = want == "int" || want == "bool" || want == "object" || strings.HasSuffix(want, "[]") || c.types.Objects[want] != nil
	}
	if wrong {
		c.report(n, "%s is a value of type %s, want %s", name, got, want)
	}
	return wrong
}
