package infra

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// refuses says why a parameter cannot have the value that a file writes, empty if it can. Of what
// is not a literal only the compiler knows the value.
func refuses(p Param, written string) string {
	text := quoted.FindStringSubmatch(written)
	number, err := strconv.Atoi(written)
	switch {
	case strings.Contains(written, "${"):
	case text != nil && text[0] == written:
		return p.Refuses(text[1])
	case err == nil:
		return p.Refuses(number)
	case written == "true" || written == "false":
		return p.Refuses(written == "true")
	case written == "[]" && p.Kind != "array" && !strings.HasSuffix(p.Kind, "[]"),
		written == "{}" && p.Kind != "object":
		return fmt.Sprintf("%s is no %s", written, p.Kind)
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
	for name, p := range Params(all[file]) {
		if why := refuses(p, p.Fallback); why != "" {
			problems = append(problems, fmt.Sprintf("%s: the default of %s: %s", file, name, why))
		}
	}
	for _, call := range moduleCall.FindAllStringSubmatch(all[file], -1) {
		takes := Params(all[path.Join(path.Dir(file), call[2])])
		given := make(map[string]bool)
		for _, arg := range argument.FindAllStringSubmatch(call[3], -1) {
			given[arg[1]] = true
			p, ok := takes[arg[1]]
			if !ok {
				problems = append(problems, fmt.Sprintf("%s: %s takes no %s", file, call[1], arg[1]))
			} else if why := refuses(p, arg[2]); why != "" {
				problems = append(problems, fmt.Sprintf("%s: %s of %s: %s", file, arg[1], call[1], why))
			}
		}
		for name, p := range takes {
			if p.Fallback == "" && !given[name] {
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
		require.Len(t, declared.FindAllString(text, -1), len(Params(text))+len(moduleCall.FindAllString(text, -1)),
			"%s: this test does not read all", name)
	}
}

func TestWrongArgumentsAreFound(t *testing.T) {
	t.Parallel()
	const main, ricochet = "infra/main.bicep", "apps/ricochet/infra/main.bicep"
	all := allBicep(t)
	for _, f := range []struct{ file, from, to, want string }{
		{
			ricochet, "shortName: 'Ricochet'", "shortName: 'Async Ricochet Robots'",
			"shortName of alerts: 'Async Ricochet Robots' is above @maxLength(12)",
		},
		{ricochet, "shortName: 'Ricochet'", "shortName: ''", "@minLength(1)"},
		{ricochet, "shortName: 'Ricochet'", "", "alerts needs shortName"},
		{ricochet, "dailyGb: logDailyGb", "dailyGb: -1", "dailyGb of monitoring: -1 is below @minValue(0)"},
		{ricochet, "dailyGb: logDailyGb", "dailyGb: '1'", "'1' is no int"},
		{ricochet, "privateNetwork: false", "privateNet: false", "storage takes no privateNet"},
		{ricochet, "token: token", "token: 'ab'", "'ab' is below @minLength(3)"},
		{ricochet, "int = 2048", "int = 512", "the default of instanceMemoryMB: 512 is none of 2048, 4096"},
		{main, "int = 512", "int = 1024", "the default of instanceMemoryMB: 1024 is none of 512, 2048, 4096"},
		{main, "int = 40", "int = 4000", "4000 is above @maxValue(1000)"},
	} {
		require.Contains(t, all[f.file], f.from)
		changed := maps.Clone(all)
		changed[f.file] = strings.ReplaceAll(all[f.file], f.from, f.to)
		require.Contains(t, strings.Join(arguments(f.file, changed), "\n"), f.want, f.to)
	}
}

// Two applications with environments of one name, in one subscription and region, must not deploy
// over each other: names in a resource group follow from the token, and the group from its own
// text.
func TestApplicationsShareNoNames(t *testing.T) {
	t.Parallel()
	all := allBicep(t)
	for _, from := range []*regexp.Regexp{
		regexp.MustCompile(`(?m)^var token = (.+)$`),
		regexp.MustCompile(`(?m)^  name: '(rg-.+)'$`),
	} {
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
	top := regexp.MustCompile(
		`(?m)^resource \w+ '([^@]+)@[^']+' = (?:if \(.+\) )?\{\n  name: (.+)\n  (?:location|properties):`)
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
