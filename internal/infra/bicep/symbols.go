package bicep

import "slices"

// functions are those of Bicep that infra/ may call.
var functions = []string{
	"array", "concat", "contains", "empty", "environment", "filter", "flatten", "format", "guid", "int", "items", "join", "json",
	"last", "length", "map", "max", "min", "range", "reference", "replace", "resourceGroup", "resourceId", "split", "string",
	"subscription", "subscriptionResourceId", "substring", "take", "tenant", "toLower", "toUpper", "trim", "union", "uniqueString",
}

// decorations are the functions after an @.
var decorations = []string{
	"allowed", "batchSize", "description", "export", "maxLength", "maxValue", "metadata", "minLength", "minValue", "secure",
}

// symbols reports names declared twice, used without being declared, or declared in vain.
func (f *File) symbols() []Problem {
	var all []Problem
	used := make(map[string]int) // 0: declared
	for _, d := range f.declared {
		if _, twice := used[d.Text()]; twice {
			all = append(all, f.problem(d.Line, "%s is declared twice", d.Text()))
		}
		used[d.Text()] = 0
	}
	f.use(f.tree, nil, used, &all)
	for _, p := range f.Params {
		if used[p.Name] == 0 {
			all = append(all, f.problem(p.line, "parameter %s is not used", p.Name))
		}
	}
	for name, value := range f.Vars {
		if used[name] == 0 {
			all = append(all, f.problem(value.Line, "variable %s is not used", name))
		}
	}
	for _, r := range f.Resources {
		if r.Existing && used[r.Symbol] == 0 {
			all = append(all, f.problem(r.line, "existing resource %s is not used", r.Symbol))
		}
	}
	return all
}

// use counts the uses of names below n. locals are the variables of loops and lambdas around it.
func (f *File) use(n *Node, locals []string, used map[string]int, all *[]Problem) {
	switch n.Kind {
	case "identifier":
		f.useName(n, locals, used, all)
		return
	case "for_statement":
		locals = append(slices.Clone(locals), loopNames(n)...)
	case "lambda_expression":
		for _, c := range n.named()[:len(n.named())-1] {
			c.walk(func(n *Node) { locals = append(slices.Clone(locals), n.Text()) })
		}
	case "decorator":
		f.known(n.named()[0], decorations, "decorator", all)
	case "call_expression":
		if n.field("function").Kind == "identifier" && !slices.Contains(decorations, n.field("function").Text()) {
			f.known(n, functions, "function", all)
		}
	case "assert_statement", "import_statement", "user_defined_function", "type_declaration", "import_with_statement", "test_block":
		*all = append(*all, f.problem(n.Line, "%s is not in the part of Bicep that these checks know", n.Kind))
		return
	}
	for _, c := range uses(n) {
		f.use(c, locals, used, all)
	}
}

func (f *File) useName(n *Node, locals []string, used map[string]int, all *[]Problem) {
	name := n.Text()
	switch _, declared := used[name]; {
	case slices.Contains(locals, name):
	case declared:
		used[name]++
	default:
		*all = append(*all, f.problem(n.Line, "%s is not declared", name))
	}
}

func (f *File) known(call *Node, names []string, what string, all *[]Problem) {
	name := call.named()[0].Text()
	if !slices.Contains(names, name) {
		*all = append(*all, f.problem(call.Line, "unknown %s %s", what, name))
	}
}

// uses returns the children of n that are expressions or hold some, so no names of properties,
// functions, types and declarations.
func uses(n *Node) []*Node {
	nodes := n.named()
	switch n.Kind {
	case "parameter_declaration", "output_declaration", "variable_declaration", "resource_declaration", "module_declaration":
		return nodes[1:]
	case "object_property":
		if nodes[0].Kind == "identifier" {
			return nodes[1:]
		}
	case "lambda_expression":
		return nodes[len(nodes)-1:]
	}
	return slices.DeleteFunc(nodes, func(c *Node) bool {
		return c.Field == "function" || c.Field == "property" || c.Field == "initializer" || c.Kind == "type"
	})
}

func loopNames(n *Node) []string {
	if one := n.field("initializer"); one != nil && one.Kind == "identifier" {
		return []string{one.Text()}
	}
	var names []string
	for _, c := range n.named() {
		if c.Kind == "for_loop_parameters" {
			for _, v := range c.named() {
				names = append(names, v.Text())
			}
		}
	}
	return names
}
