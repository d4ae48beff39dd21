package infra

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/drone/envsubst"
	"github.com/stretchr/testify/require"
)

// A parameter is one of main.bicep, with the text from which azd makes its value.
type parameter struct {
	kind     string // bool, int, object or string
	fallback string // as Bicep writes it; empty: a value is needed
	template string
}

var declared = regexp.MustCompile(`(?m)^param (\w+) (\w+|\{ \*: string \})(?: = (.+))?$`)

// parameters returns the parameters of main.bicep, each of which has its value from azd and from
// nowhere else.
func parameters(t *testing.T) map[string]parameter {
	t.Helper()
	var file struct {
		Parameters map[string]struct {
			Value string `json:"value"`
		} `json:"parameters"`
	}
	require.NoError(t, json.Unmarshal(content(t, "infra/main.parameters.json"), &file))
	all := make(map[string]parameter)
	for _, m := range declared.FindAllStringSubmatch(string(content(t, "infra/main.bicep")), -1) {
		require.Contains(t, file.Parameters, m[1])
		if strings.HasPrefix(m[2], "{") {
			m[2] = "object" // of texts
		}
		all[m[1]] = parameter{m[2], m[3], file.Parameters[m[1]].Value}
	}
	require.Len(t, all, len(file.Parameters), "main.parameters.json gives values that main.bicep does not take")
	return all
}

// errUnset says that azd leaves a parameter out, so that its default counts.
var errUnset = errors.New("left out")

// value returns what azd makes of a parameter in an environment. It follows loadParameters and
// armParameterFileValue in cli/azd/pkg/infra/provisioning/bicep/bicep_provider.go of
// Azure/azure-dev: of an object the substituted text is parsed, of everything else the JSON around
// it, into which the raw value goes without escapes.
func (p parameter) value(env map[string]string) (any, error) {
	unset := false
	variable := func(name string) string {
		value, ok := env[name]
		unset = unset || !ok
		return value
	}
	if p.kind == "object" || p.kind == "array" {
		text, err := envsubst.Eval(p.template, variable)
		if err != nil || text == "" && unset {
			return nil, errors.Join(err, errUnset)
		}
		var value any
		return value, errors.Join(json.Unmarshal([]byte(text), &value), p.takes(value))
	}
	around, err := json.Marshal(map[string]string{"value": p.template})
	if err != nil {
		return nil, err
	}
	text, err := envsubst.Eval(string(around), variable)
	if err != nil {
		return nil, err
	}
	var got struct {
		Value any `json:"value"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return nil, err
	}
	if got.Value == "" && unset {
		return nil, errUnset
	}
	value := p.relax(got.Value)
	return value, p.takes(value)
}

// relax makes a bool or a number of a text that is one, as azd does.
func (p parameter) relax(value any) any {
	text, _ := value.(string)
	switch p.kind {
	case "bool":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case "int":
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
	}
	return value
}

// takes reports a value of another type than the parameter has: azd would ask for one, or end.
func (p parameter) takes(value any) error {
	fits := false
	switch value.(type) {
	case bool:
		fits = p.kind == "bool"
	case int64:
		fits = p.kind == "int"
	case string:
		fits = p.kind == "string"
	case map[string]any:
		fits = p.kind == "object"
	}
	if !fits {
		return fmt.Errorf("%v is no %s", value, p.kind)
	}
	return nil
}

var variables = regexp.MustCompile(`\$\{([A-Z_]+)(?:=([^}]*))?\}`)

// given are the variables that azd itself sets.
var given = map[string]string{
	"AZURE_ENV_NAME": "my-prompts", "AZURE_LOCATION": "westeurope", "AZURE_PRINCIPAL_ID": "p",
	"AZURE_PRINCIPAL_TYPE": "User",
}

// TestDocumentedValues holds that azd can make parameters of every value that docs/deploy.md shows,
// and of none.
func TestDocumentedValues(t *testing.T) {
	t.Parallel()
	examples := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|[^|]*\\| `([^`]+)` \\|").FindAllStringSubmatch(
		string(content(t, "docs/deploy.md")), -1) {
		examples[m[1]] = m[2]
	}
	shown := make(map[string]bool)
	for name, p := range parameters(t) {
		variable := variables.FindStringSubmatch(p.template)
		require.NotNil(t, variable, name)
		value, err := p.value(given)
		if _, own := given[variable[1]]; own {
			require.NoError(t, err, name)
			continue
		}
		if !errors.Is(err, errUnset) {
			require.NoError(t, err, name)
			require.Equal(t, strings.Trim(p.fallback, "'"), fmt.Sprint(value),
				"%s: the default of the variable is that of the parameter", name)
		}
		example := examples[variable[1]]
		require.NotEmpty(t, example, "docs/deploy.md shows no value of %s", variable[1])
		value, err = p.value(map[string]string{variable[1]: example})
		require.NoError(t, err, "%s=%s", variable[1], example)
		require.NotNil(t, value)
		shown[variable[1]] = true
	}
	// ENTRA_SIGN_IN and ENTRA_ASSIGNMENT_REQUIRED are the hook's
	require.Len(t, shown, len(examples)-2, "docs/deploy.md shows variables that nothing reads")
}

// TestObjectsNeedTheirOwnParameters shows what azd makes of an object in other ways than ours.
func TestObjectsNeedTheirOwnParameters(t *testing.T) {
	t.Parallel()
	env := map[string]string{"M": `{"LIMIT_WRITES":"50"}`}
	value, err := parameter{kind: "object", template: "${M}"}.value(env)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"LIMIT_WRITES": "50"}, value)
	_, err = parameter{kind: "string", template: "${M=}"}.value(env)
	require.ErrorContains(t, err, "invalid character", "a quote ends the text that it is put into")
	_, err = parameter{kind: "object", template: "${M={}}"}.value(env)
	require.ErrorContains(t, err, "invalid character", "the default ends at the first brace")
	_, err = parameter{kind: "object", template: "${M}"}.value(map[string]string{"M": "[]"})
	require.ErrorContains(t, err, "is no object")
}
