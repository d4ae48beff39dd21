package bicep

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// modules reports uses of other files that do not fit them.
func (f *File) modules(files map[string]*File) []Problem {
	var all []Problem
	for _, m := range f.Modules {
		used := files[m.Path]
		if used == nil {
			all = append(all, f.problem(m.line, "module %s: there is no file %s", m.Symbol, m.Path))
			continue
		}
		all = append(all, f.arguments(m, used)...)
		all = append(all, f.outputs(m, used)...)
	}
	return all
}

func (f *File) arguments(m Module, used *File) []Problem {
	var all []Problem
	given := make(map[string]bool)
	var params []Property
	if p := m.Body.Get("params"); p != nil {
		params = p.Properties()
	}
	for _, p := range params {
		given[p.Name] = true
		want := used.paramType(p.Name)
		if want == "" {
			all = append(all, f.problem(p.Node.Line, "module %s has no parameter %s", m.Symbol, p.Name))
			continue
		}
		c := checker{f: f, types: &ResourceType{}}
		c.value(p.Name, p.Value, want)
		all = append(all, c.found...)
	}
	for _, p := range used.Params {
		if !given[p.Name] && p.Default == nil {
			all = append(all, f.problem(m.line, "module %s: parameter %s is missing", m.Symbol, p.Name))
		}
	}
	return all
}

// outputs reports m.outputs.x where there is no output x.
func (f *File) outputs(m Module, used *File) []Problem {
	var all []Problem
	f.tree.walk(func(n *Node) {
		rest, ok := strings.CutPrefix(n.Text(), m.Symbol+".outputs.")
		if !ok || n.Kind != "member_expression" {
			return
		}
		name, _, _ := strings.Cut(rest, ".")
		if used.Output[name] == nil {
			all = append(all, f.problem(n.Line, "module %s has no output %s", m.Symbol, name))
		}
	})
	return all
}

// CheckParameters reports differences between a file and the values that azd gives to its parameters.
func (f *File) CheckParameters(data []byte) ([]Problem, error) {
	var file struct {
		Schema     string `json:"$schema"`
		Version    string `json:"contentVersion"`
		Parameters map[string]struct {
			Value any `json:"value"`
		} `json:"parameters"`
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	var all []Problem
	for _, p := range f.Params {
		given, ok := file.Parameters[p.Name]
		delete(file.Parameters, p.Name)
		text, _ := given.Value.(string)
		switch {
		case !ok:
			all = append(all, f.problem(p.line, "parameter %s has no value in the parameters file", p.Name))
		case !strings.HasPrefix(text, "${") || !strings.HasSuffix(text, "}"):
			all = append(all, f.problem(p.line, "parameter %s: the value %q is no azd variable", p.Name, text))
		default:
			all = append(all, f.sameDefault(p, strings.Trim(text, "${}"))...)
		}
	}
	for name := range file.Parameters {
		all = append(all, f.problem(1, "there is no parameter %s", name))
	}
	slices.SortFunc(all, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	return all, nil
}

// sameDefault reports a default of a variable that is not that of the parameter.
func (f *File) sameDefault(p Param, variable string) []Problem {
	_, value, has := strings.Cut(variable, "=")
	switch {
	case p.Default == nil && has:
		return []Problem{f.problem(p.line, "parameter %s has no default, its variable %s has", p.Name, variable)}
	case p.Default == nil:
		return nil
	}
	want, literal := p.Default.Literal()
	if !literal {
		want = p.Default.Text()
	}
	if value != want {
		return []Problem{f.problem(p.line, "parameter %s: default %q, of its variable %q", p.Name, want, value)}
	}
	return nil
}
