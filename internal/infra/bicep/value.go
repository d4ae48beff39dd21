package bicep

import "strconv"

// Objects returns the objects that an expression may become or is put together from: itself, the branches
// of a choice, the arguments of a union.
func (n *Node) Objects() []*Node {
	n = n.inner()
	switch n.Kind {
	case "object":
		return []*Node{n}
	case "ternary_expression":
		return append(n.field("consequence").Objects(), n.field("alternative").Objects()...)
	case "call_expression":
		var all []*Node
		if n.field("function").Text() == "union" {
			for _, a := range n.field("arguments").named() {
				all = append(all, a.Objects()...)
			}
		}
		return all
	}
	return nil
}

// Elements returns the values of an array, or of an object, in their order.
func (n *Node) Elements() []*Node {
	switch n = n.inner(); n.Kind {
	case "array":
		return n.named()
	case "object":
		var all []*Node
		for _, p := range n.Properties() {
			all = append(all, p.Value)
		}
		return all
	}
	return nil
}

// JSON returns what an expression of the file becomes in JSON. Where that is known in Azure only, some value of
// its kind stands in; a choice is its last branch.
func (f *File) JSON(n *Node) any {
	n = n.inner()
	switch n.Kind {
	case "object":
		m := make(map[string]any)
		for _, p := range n.Properties() {
			m[p.Name] = f.JSON(p.Value)
		}
		return m
	case "array":
		list := []any{}
		for _, e := range n.named() {
			list = append(list, f.JSON(e))
		}
		return list
	case "for_statement":
		return []any{f.JSON(n.field("body"))}
	case "ternary_expression":
		return f.JSON(n.field("alternative"))
	case "identifier":
		return f.named(n.Text())
	}
	return scalar(n)
}

// named returns what stands in for a variable or a parameter.
func (f *File) named(name string) any {
	if v := f.Vars[name]; v != nil {
		return f.JSON(v)
	}
	switch f.paramType(name) {
	case "object":
		return map[string]any{}
	case "array":
		return []any{}
	case "int":
		return 0
	case "bool":
		return false
	}
	return "${" + name + "}"
}

func scalar(n *Node) any {
	switch n.Kind {
	case "number":
		if i, err := strconv.Atoi(n.Text()); err == nil {
			return i
		}
	case "boolean":
		return n.Text() == "true"
	case "null":
		return nil
	}
	if text, ok := n.Literal(); ok {
		return text
	}
	return "${" + n.Text() + "}"
}
