package infra

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Param is a parameter of a Bicep file, with the decorators that limit its values.
type Param struct {
	Kind     string // bool, int, string, string[] and the like; object for one of texts, too
	Fallback string // as Bicep writes it; empty: a value is needed
	limits   map[string]string
}

// declaration finds a parameter with the decorators before it. A decorator is a line, or several
// if its value is a list or an object.
var declaration = regexp.MustCompile(
	`(?m)((?:^@\w+\((?:[^()\n]|\n|\([^()]*\))*?\)\n)*)^param (\w+) ([\w\[\]]+|\{ \*: string \})(?: = (.+))?$`)

var decorator = regexp.MustCompile(`(?m)^@(minLength|maxLength|minValue|maxValue|allowed)\(([^)]*)\)`)

var comment = regexp.MustCompile(`(?m)(^|\s)//.*$`)

// Params returns the parameters of a Bicep file by their names.
func Params(text string) map[string]Param {
	all := make(map[string]Param)
	for _, m := range declaration.FindAllStringSubmatch(comment.ReplaceAllString(text, ""), -1) {
		p := Param{m[3], m[4], map[string]string{}}
		if strings.HasPrefix(p.Kind, "{") {
			p.Kind = "object"
		}
		for _, d := range decorator.FindAllStringSubmatch(m[1], -1) {
			p.limits[d[1]] = strings.TrimSpace(d[2])
		}
		all[m[2]] = p
	}
	return all
}

// Refuses says why a value cannot be the parameter's, empty if it can. A value is a string, an int
// or a bool.
func (p Param) Refuses(value any) string {
	size, kind, written := 0, "", fmt.Sprint(value)
	switch v := value.(type) {
	case string:
		size, kind, written = utf8.RuneCountInString(v), "string", "'"+v+"'"
	case int:
		size, kind = v, "int"
	case bool:
		kind = "bool"
	}
	if kind != p.Kind {
		return fmt.Sprintf("%s is no %s", written, p.Kind)
	}
	for limit, bound := range p.limits {
		n, err := strconv.Atoi(bound)
		switch {
		case limit == "allowed" && !slices.Contains(items(bound), written):
			return fmt.Sprintf("%s is none of %s", written, strings.Join(items(bound), ", "))
		case err == nil && strings.HasPrefix(limit, "min") && size < n:
			return fmt.Sprintf("%s is below @%s(%d)", written, limit, n)
		case err == nil && strings.HasPrefix(limit, "max") && size > n:
			return fmt.Sprintf("%s is above @%s(%d)", written, limit, n)
		}
	}
	return ""
}

// items returns the literals of a list.
func items(list string) []string {
	return strings.FieldsFunc(strings.Trim(list, "[]"), func(r rune) bool { return strings.ContainsRune(", \n", r) })
}
