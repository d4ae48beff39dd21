package infra

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A param is a parameter of a Bicep file, with the decorators that limit its values.
type param struct {
	kind     string // bool, int, string, object, array, string[] and the like
	fallback string // as Bicep writes it; empty: a value is needed
	limits   map[string]string
}

// declaration finds a parameter with the decorators before it. A decorator is a line, or several
// where its value is a list or an object.
var declaration = regexp.MustCompile(`(?m)((?:^@\w+\((?:[^()\n]|\n|\([^()]*\))*?\)\n)*)^param (\w+) ([\w\[\]]+)(?: = (.+))?$`)

var decorator = regexp.MustCompile(`(?m)^@(minLength|maxLength|minValue|maxValue|allowed)\(([^)]*)\)`)

// params returns the parameters of a file.
func params(text string) map[string]param {
	all := make(map[string]param)
	for _, m := range declaration.FindAllStringSubmatch(text, -1) {
		p := param{m[3], m[4], map[string]string{}}
		for _, d := range decorator.FindAllStringSubmatch(m[1], -1) {
			p.limits[d[1]] = d[2]
		}
		all[m[2]] = p
	}
	return all
}

// refuses says why a value cannot be the parameter's, empty if it can. Of what is not a literal only
// the compiler knows the value.
func (p param) refuses(value string) string {
	text := quoted.FindStringSubmatch(value)
	number, err := strconv.Atoi(value)
	size, kind := 0, ""
	switch {
	case strings.Contains(value, "${"):
		return ""
	case text != nil && text[0] == value:
		kind, size = "string", utf8.RuneCountInString(text[1])
	case err == nil:
		kind, size = "int", number
	case value == "true" || value == "false":
		kind = "bool"
	case value == "[]":
		kind = "array"
	case value == "{}":
		kind = "object"
	default:
		return ""
	}
	if kind != p.kind && (kind != "array" || !strings.HasSuffix(p.kind, "[]")) {
		return fmt.Sprintf("%s is no %s", value, p.kind)
	}
	for limit, bound := range p.limits {
		n, _ := strconv.Atoi(strings.TrimSpace(bound))
		switch {
		case limit == "allowed" && !slices.Contains(strings.FieldsFunc(strings.Trim(bound, "[] "), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }), value),
			strings.HasPrefix(limit, "min") && size < n, strings.HasPrefix(limit, "max") && size > n:
			return fmt.Sprintf("%s: @%s(%s)", value, limit, bound)
		}
	}
	return ""
}

var (
	moduleCall = regexp.MustCompile(`(?ms)^module (\w+) '([^']+)' = .*?^  params: \{\n(.*?)^  \}`)
	argument   = regexp.MustCompile(`(?m)^    (\w+): (.+)$`)
)

// arguments compares what a file gives to its modules, and its own defaults, with the parameters.
// The compiler does too, and ends the deployment, but is not at hand everywhere.
func arguments(file string, all files) []string {
	var problems []string
	for name, p := range params(all[file]) {
		if why := p.refuses(p.fallback); why != "" {
			problems = append(problems, fmt.Sprintf("%s: the default of %s: %s", file, name, why))
		}
	}
	for _, call := range moduleCall.FindAllStringSubmatch(all[file], -1) {
		takes := params(all[path.Join(path.Dir(file), call[2])])
		given := make(map[string]bool)
		for _, arg := range argument.FindAllStringSubmatch(call[3], -1) {
			given[arg[1]] = true
			p, ok := takes[arg[1]]
			if !ok {
				problems = append(problems, fmt.Sprintf("%s: %s takes no %s", file, call[1], arg[1]))
			} else if why := p.refuses(arg[2]); why != "" {
				problems = append(problems, fmt.Sprintf("%s: %s of %s: %s", file, arg[1], call[1], why))
			}
		}
		for name, p := range takes {
			if p.fallback == "" && !given[name] {
				problems = append(problems, fmt.Sprintf("%s: %s needs %s", file, call[1], name))
			}
		}
	}
	return problems
}

// allBicep returns every Bicep file of the repository by its path from the root.
func allBicep(t *testing.T) files {
	t.Helper()
	all := make(files)
	for _, pattern := range []string{"infra/*.bicep", "infra/modules/*.bicep", "apps/*/infra/*.bicep"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		for _, f := range found {
			name, err := filepath.Rel(root, f)
			require.NoError(t, err)
			all[filepath.ToSlash(name)] = comment.ReplaceAllString(string(content(t, name)), "")
		}
	}
	return all
}

func TestModulesTakeTheirArguments(t *testing.T) {
	t.Parallel()
	all, declared := allBicep(t), regexp.MustCompile(`(?m)^(param|module) `)
	for name, text := range all {
		require.Empty(t, arguments(name, all))
		require.Len(t, declared.FindAllString(text, -1), len(params(text))+len(moduleCall.FindAllString(text, -1)), "%s: this test does not read all", name)
	}
}

func TestWrongArgumentsAreFound(t *testing.T) {
	t.Parallel()
	const main, ricochet = "infra/main.bicep", "apps/ricochet/infra/main.bicep"
	all := allBicep(t)
	for _, f := range []struct{ file, from, to, want string }{
		{ricochet, "shortName: 'Ricochet'", "shortName: 'Async Ricochet Robots'", "shortName of alerts: 'Async Ricochet Robots': @maxLength(12)"},
		{ricochet, "shortName: 'Ricochet'", "shortName: ''", "@minLength(1)"},
		{ricochet, "shortName: 'Ricochet'", "", "alerts needs shortName"},
		{ricochet, "dailyGb: 1", "dailyGb: -1", "dailyGb of monitoring: -1: @minValue(0)"},
		{ricochet, "dailyGb: 1", "dailyGb: '1'", "'1' is no int"},
		{ricochet, "privateNetwork: false", "privateNet: false", "storage takes no privateNet"},
		{ricochet, "token: token", "token: 'ab'", "'ab': @minLength(3)"},
		{main, "int = 512", "int = 1024", "the default of instanceMemoryMB: 1024: @allowed"},
		{main, "int = 40", "int = 4000", "4000: @maxValue(1000)"},
	} {
		require.Contains(t, all[f.file], f.from)
		changed := maps.Clone(all)
		changed[f.file] = strings.ReplaceAll(all[f.file], f.from, f.to)
		require.Contains(t, strings.Join(arguments(f.file, changed), "\n"), f.want, f.to)
	}
}

// Two applications with environments of one name, in one subscription and region, must not deploy
// over each other: names in a resource group follow from the token, and the group from its own text.
func TestApplicationsShareNoNames(t *testing.T) {
	t.Parallel()
	all := allBicep(t)
	for _, from := range []*regexp.Regexp{regexp.MustCompile(`(?m)^var token = (.+)$`), regexp.MustCompile(`(?m)^  name: '(rg-.+)'$`)} {
		made := make(map[string]string)
		for _, app := range applications(t) {
			file := path.Join(string(app), "infra/main.bicep")
			name := from.FindStringSubmatch(all[file])
			require.NotNil(t, name, file)
			require.Contains(t, name[1], "environmentName", file)
			require.Empty(t, made[name[1]], "%s makes the names of the other: %s", file, name[1])
			made[name[1]] = file
		}
	}
	top := regexp.MustCompile(`(?m)^resource \w+ '([^@]+)@[^']+' = (?:if \(.+\) )?\{\n  name: (.+)\n  (?:location|properties):`)
	for name, text := range all {
		if name != "infra/modules/"+path.Base(name) {
			continue // their only resource is the group
		}
		for _, made := range top.FindAllStringSubmatch(text, -1) {
			require.Contains(t, made[2], "token", "%s: %s has the same name in every resource group", name, made[1])
		}
	}
}

// Commands of docs/deploy.md read the prefixes from the environment of azd, which prints an error
// where a value belongs if there is none.
func TestPrefixesAreOutputs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, app application) {
		main := infrastructure(t, app)["main.bicep"]
		require.Contains(t, main, "\noutput TABLE_PREFIX string = tablePrefix\n")
		require.Contains(t, main, "\noutput QUEUE_PREFIX string = queuePrefix\n")
	})
}
