package bicep

import (
	"fmt"
	"path"
	"strings"
)

// A File is a parsed Bicep file.
type File struct {
	Path         string
	Params       []Param
	Vars, Output map[string]*Node // by name, their values
	Resources    []Resource       // nested ones too
	Modules      []Module

	tree     *Node
	declared []*Node // the names, where they are declared
}

// A Param is a parameter of a file.
type Param struct {
	Name, Type string
	Default    *Node   // nil: a value is needed
	Allowed    []*Node // nil: any value of the type
	line       int
}

// A Resource is a resource that a file declares or refers to.
type Resource struct {
	Symbol, Type, Version string
	Existing              bool
	Body                  *Node // the object
	Parent                *Resource
	line                  int
}

// A Module is the use of another file.
type Module struct {
	Symbol, Path string // the path of the file, from where paths begin
	Body         *Node
	line         int
}

func newFile(name string, tree *Node) *File {
	f := &File{Path: name, tree: tree, Vars: make(map[string]*Node), Output: make(map[string]*Node)}
	var allowed []*Node
	for _, n := range tree.named() {
		parts := n.named()
		switch n.Kind {
		case "decorators":
			allowed = allowedValues(n)
			continue
		case "parameter_declaration":
			f.param(n, parts, allowed)
		case "variable_declaration":
			f.declare(parts[0])
			f.Vars[parts[0].Text()] = parts[len(parts)-1]
		case "output_declaration":
			f.Output[parts[0].Text()] = parts[len(parts)-1]
		case "resource_declaration":
			f.resource(n, nil)
		case "module_declaration":
			f.declare(parts[0])
			file, _ := parts[1].Literal()
			f.Modules = append(f.Modules, Module{Symbol: parts[0].Text(), Path: path.Join(path.Dir(name), file), Body: body(n), line: n.Line})
		}
		allowed = nil
	}
	return f
}

func (f *File) declare(name *Node) { f.declared = append(f.declared, name) }

func (f *File) param(n *Node, parts, allowed []*Node) {
	f.declare(parts[0])
	p := Param{Name: parts[0].Text(), Type: parts[1].Text(), Allowed: allowed, line: n.Line}
	if len(parts) > 2 {
		p.Default = parts[2]
	}
	f.Params = append(f.Params, p)
}

func allowedValues(decorators *Node) []*Node {
	for _, d := range decorators.named() {
		call := d.named()[0]
		if call.Kind == "call_expression" && call.field("function").Text() == "allowed" {
			return call.field("arguments").named()[0].named()
		}
	}
	return nil
}

// resource takes a declaration with those inside it.
func (f *File) resource(n *Node, parent *Resource) {
	parts := n.named()
	f.declare(parts[0])
	r := Resource{Symbol: parts[0].Text(), Body: body(n), Parent: parent, line: n.Line}
	r.Type, _ = parts[1].Literal()
	r.Type, r.Version, _ = strings.Cut(r.Type, "@")
	if parent != nil {
		r.Type = parent.Type + "/" + r.Type
		if r.Version == "" {
			r.Version = parent.Version
		}
	}
	for _, c := range n.Children {
		r.Existing = r.Existing || !c.Named && c.Kind == "existing"
	}
	f.Resources = append(f.Resources, r)
	if r.Body == nil {
		return
	}
	for _, c := range r.Body.named() {
		if c.Kind == "object_property" && len(c.named()) == 1 && c.named()[0].Kind == "resource_declaration" {
			f.resource(c.named()[0], &r)
		}
	}
}

// body returns the object of a declaration, through conditions and loops.
func body(n *Node) *Node {
	for _, c := range n.named() {
		switch c.Kind {
		case "object":
			return c
		case "if_statement", "for_statement":
			if b := body(c); b != nil {
				return b
			}
		}
	}
	return nil
}

// Resource returns the resource under a name, nil if there is none.
func (f *File) Resource(symbol string) *Resource {
	for i := range f.Resources {
		if f.Resources[i].Symbol == symbol {
			return &f.Resources[i]
		}
	}
	return nil
}

func (f *File) problem(line int, format string, args ...any) Problem {
	return Problem{f.Path, line, fmt.Sprintf(format, args...)}
}

// syntax reports what is not Bicep.
func (f *File) syntax() []Problem {
	var all []Problem
	f.tree.walk(func(n *Node) {
		switch {
		case n.Missing:
			all = append(all, f.problem(n.Line, "syntax: %q is missing", n.Kind))
		case n.Kind == "ERROR":
			all = append(all, f.problem(n.Line, "syntax: cannot read %.40q", n.Text()))
		case n.Kind == "object" || n.Kind == "array":
			all = append(all, f.separators(n)...)
		}
	})
	return all
}

// separators reports members in one line without a comma between them, which the grammar takes.
func (f *File) separators(n *Node) []Problem {
	var all []Problem
	var last *Node
	for _, c := range n.Children {
		switch {
		case c.Kind == ",":
			last = nil
		case !c.Named || c.Kind == "comment":
		default:
			if last != nil && !strings.Contains(n.text[last.End:c.Start], "\n") {
				all = append(all, f.problem(c.Line, "syntax: no comma before %.40q", c.Text()))
			}
			last = c
		}
	}
	return all
}
