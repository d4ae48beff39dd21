package prompt_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

func ptr(s string) *string { return &s }

// needed returns a variable that is found without a default.
func needed(name string) prompt.Variable {
	return prompt.Variable{Name: name, Type: prompt.Line, Required: true}
}

// optional returns a variable that is found with a default.
func optional(name, def string) prompt.Variable {
	return prompt.Variable{Name: name, Type: prompt.Line, Default: ptr(def)}
}

func labelled(v prompt.Variable, label string) prompt.Variable {
	v.Label = label
	return v
}

func TestFoundVariables(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []prompt.Variable
	}{
		{"none", "plain {text} $x {{}} ${} {{ }} ${:x}", nil},
		{"two braces", "a {{name}} b", []prompt.Variable{needed("name")}},
		{
			"spaces are no part of the name's ends", "a {{ my name }} b",
			[]prompt.Variable{labelled(needed("my_name"), "my name")},
		},
		{"dollar", "a ${language} b", []prompt.Variable{needed("language")}},
		{"default", "${Position:Software Developer}", []prompt.Variable{optional("Position", "Software Developer")}},
		{"default in two braces", "{{day: Monday }}", []prompt.Variable{optional("day", "Monday")}},
		{"empty default", "{{day:}}", []prompt.Variable{optional("day", "")}},
		{"default with a colon", "${time:12:30}", []prompt.Variable{optional("time", "12:30")}},
		{"default of lines", "${a:x\ny}", []prompt.Variable{optional("a", "x\ny")}},
		{"choices", "{{tone: formal | casual|formal}} ${tone:x}", []prompt.Variable{
			{Name: "tone", Type: prompt.Choice, Default: ptr("formal"), Choices: []string{"formal", "casual"}},
		}},
		{"no choices but a default", "{{a:x|}} ${b:|}", []prompt.Variable{optional("a", "x|"), optional("b", "|")}},
		{"the first default counts", "${a} {{a}} ${a:x} ${a:y}", []prompt.Variable{optional("a", "x")}},
		{
			"one name, two spellings", "{{my name}} {{my_name}}",
			[]prompt.Variable{labelled(needed("my_name"), "my name")},
		},
		{"other scripts", "{{имя}} ${名前} {{नाम}}", []prompt.Variable{needed("имя"), needed("名前"), needed("नाम")}},
		{"template commands", "{{#if x}} {{/if}} {{> y}} {{role \"system\"}}", nil},
		{"long name", "{{" + strings.Repeat("x", 65) + "}}", nil},
		{"inner placeholder", "{{a:${b}}} {${c}} {{{d}}}", []prompt.Variable{needed("b"), needed("c"), needed("d")}},
		{"not closed", "{{a ${b {{c} ${d", nil},
		{"closed by one brace", "{{a} }", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, prompt.ParseTemplate(nil, tt.text).Variables)
		})
	}
}

func TestVariablesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range prompt.MaxVariables + 5 {
		fmt.Fprintf(&b, "{{v%d}} ", i)
	}
	template := prompt.ParseTemplate(nil, b.String())
	require.Len(t, template.Variables, prompt.MaxVariables)
	f, err := template.Fill(nil, 30000)
	require.NoError(t, err)
	require.Equal(t, b.String(), joined(f.Texts[0]))
}

func TestDeclaredOverridesFound(t *testing.T) {
	t.Parallel()
	declared := []prompt.Variable{
		{Name: "when", Type: prompt.Date, Required: true, Label: "Day"},
		{Name: "name", Type: prompt.Line, Description: "Of the guest"},
		{Name: "count", Type: prompt.Number},
	}
	template := prompt.ParseTemplate(declared, "${when:today} {{name:Ann}} ${count:many} {{other}}")
	require.Equal(t, []prompt.Variable{
		{Name: "when", Type: prompt.Date, Required: true, Label: "Day"},
		{Name: "name", Type: prompt.Line, Description: "Of the guest", Default: ptr("Ann")},
		{Name: "count", Type: prompt.Number}, // many is no number
		needed("other"),
	}, template.Variables)
	require.Nil(t, declared[1].Default, "the argument was changed")
	require.Equal(t, []string{"2026-01-31 Ann  x"},
		rendered(t, template, map[string]string{"when": "2026-01-31", "other": "x"}))
}

func rendered(t *testing.T, template prompt.Template, values map[string]string) []string {
	t.Helper()
	texts, err := template.Render(values, 3000)
	require.NoError(t, err)
	return texts
}

func joined(parts []prompt.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func TestRender(t *testing.T) {
	t.Parallel()
	template := prompt.ParseTemplate(nil, "Dear {{my name}}, ${greeting:hello} from {{place}}. {{ my_name }}!",
		"{{place}}")
	require.Equal(t, []string{"Dear Ann, hello from {{greeting}}. Ann!", "{{greeting}}"},
		rendered(t, template, map[string]string{"my name": "Ann", "place": "{{greeting}}"}))
	f, err := template.Fill(map[string]string{"greeting": "<hi>"}, 3000)
	require.NoError(t, err)
	require.Equal(t, "Dear {{my name}}, <hi> from {{place}}. {{ my_name }}!", joined(f.Texts[0]))
	require.Len(t, f.Missing, 2)
	require.Equal(t, prompt.Part{Text: "<hi>", Variable: 1}, f.Texts[0][3])
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	declared := []prompt.Variable{
		{Name: "n", Type: prompt.Number},
		{Name: "b", Type: prompt.Boolean},
		{Name: "d", Type: prompt.Date},
		{Name: "c", Type: prompt.Choice, Choices: []string{"x", "y"}},
		{Name: "m", Type: prompt.Multiline},
	}
	long := strings.Repeat("😀", 1001) // 2,002 units
	tests := []struct {
		name, text string
		values     map[string]string
		want       []string // locations
	}{
		{"every missing one", "{{a}} {{z:1}} ${b c}", nil, []string{"values.a", "values.b_c"}},
		{
			"missing, unknown and wrong ones", "{{a}} {{b}} {{c|d}}",
			map[string]string{"c": "e", "x": "1"},
			[]string{"values.a", "values.b", "values.c", "values.x"},
		},
		{"unknown", "{{a}}", map[string]string{"a": "", "x": "1", "y": "2"}, []string{"values.x", "values.y"}},
		{"no variables", "a", map[string]string{"x": "1"}, []string{"values.x"}},
		{"two values", "{{a b}}", map[string]string{"a b": "1", "a_b": "2"}, []string{"values.a_b"}},
		{"long value", "{{a}}", map[string]string{"a": long}, []string{"values.a"}},
		{"bad characters", "{{a}}{{e}}", map[string]string{"a": "\xff", "e": "\x00"}, []string{"values.a", "values.e"}},
		{"long result", strings.Repeat("{{a}}", 7), map[string]string{"a": long[:4*1000]}, []string{"values"}},
		{
			"types", "",
			map[string]string{"n": "1,5", "b": "yes", "d": "2026-02-30", "c": "z"},
			[]string{"values.b", "values.c", "values.d", "values.n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var d []prompt.Variable
			if tt.text == "" {
				d = declared
			}
			_, err := prompt.ParseTemplate(d, tt.text).Render(tt.values, 3000)
			require.Equal(t, tt.want, locations(t, err))
		})
	}
	good := map[string]string{"n": "-1.5e3", "b": "true", "d": "2026-02-28", "c": "y", "m": strings.Repeat("x", 12000)}
	require.Len(t, rendered(t, prompt.ParseTemplate(declared, "{{m}}"), good)[0], 12000)
	require.Len(t, rendered(t, prompt.ParseTemplate(nil, strings.Repeat("x", 30000)), nil)[0], 30000,
		"was stored under a higher limit")
	good["m"] += "x"
	_, err := prompt.ParseTemplate(declared, "{{m}}").Render(good, 3000)
	require.Equal(t, []string{"values"}, locations(t, err))
}

func locations(t *testing.T, err error) []string {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Invalid, f.Kind)
	var all []string
	for _, field := range f.Fields {
		all = append(all, field.Name)
	}
	return all
}

func TestRenderErrorIsShort(t *testing.T) {
	t.Parallel()
	values := make(map[string]string)
	for i := range 10000 {
		values[strings.Repeat("x", 50)+fmt.Sprint(i)] = "1"
	}
	_, err := prompt.ParseTemplate(nil, "{{a}}").Render(values, 3000)
	require.Len(t, locations(t, err), 1+20, "the missing one, and the first of the others")
}

// placeholders is what a placeholder is, said once more and simply.
var placeholders = regexp.MustCompile(
	`\{\{ *([\p{L}_][\p{L}\p{N}\p{M}_ .-]*?) *(:[^{}]*)?\}\}|\$\{ *([\p{L}_][\p{L}\p{N}\p{M}_ .-]*?) *(:[^{}]*)?\}`)

// modelRender replaces the placeholders of a text one by one.
func modelRender(text, value string) string {
	names := make(map[string]bool)
	return placeholders.ReplaceAllStringFunc(text, func(all string) string {
		m := placeholders.FindStringSubmatch(all)
		name := m[1] + m[3]
		if len(utf16.Encode([]rune(name))) > 64 {
			return all
		}
		name = strings.Join(strings.Fields(name), "_")
		if !names[name] && len(names) == prompt.MaxVariables {
			return all
		}
		names[name] = true
		return value
	})
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"a ${b:c} {{d}}", "{{a|b}} {{a:b|c}}", "{{{a}}}", "${{a}}", "${a:{{b}}}", "{{a:${b}}}", "{{ a  b }}{{a b}}",
		"{{a}", "{{a}}}}", "${}${a", "{{é1}}", "{{ a\u0301 }}",
		strings.Repeat("{{", 100) + strings.Repeat("a}}", 100), "{${{a}}}", "$${a}", "{{a:}}{{a :}}",
	} {
		f.Add(seed, "x{{a}}")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		if !utf8.ValidString(text) || !utf8.ValidString(value) || strings.ContainsRune(value, 0) || len(value) > 1000 {
			t.Skip()
		}
		found := prompt.ParseTemplate(nil, text).Variables
		require.LessOrEqual(t, len(found), prompt.MaxVariables)
		values := make(map[string]string)
		for i, v := range found {
			// Every value is taken where a variable is declared as what it was found as, but for choices.
			found[i].Type, found[i].Choices = prompt.Line, nil
			values[v.Name] = value
		}
		out, err := prompt.ParseTemplate(found, text).Render(values, len(text)*(len(value)+1)+1)
		require.NoError(t, err)
		require.Equal(t, modelRender(text, value), out[0])
	})
}

func TestCheckVariables(t *testing.T) {
	t.Parallel()
	kept, err := prompt.CheckVariables(
		[]prompt.Variable{{Name: "a"}, {Name: "b.c-d", Type: prompt.Choice, Choices: []string{"x"}, Default: ptr("x")}})
	require.NoError(t, err)
	require.Equal(t, prompt.Line, kept[0].Type)
	for location, bad := range map[string]prompt.Variable{
		"variables[1].name":        {Name: "a"},
		"variables[1].type":        {Name: "x", Type: "integer"},
		"variables[1].choices":     {Name: "x", Type: prompt.Choice},
		"variables[1].choices[1]":  {Name: "x", Type: prompt.Choice, Choices: []string{"x", "x"}},
		"variables[1].default":     {Name: "x", Type: prompt.Number, Default: ptr("many")},
		"variables[1].label":       {Name: "x", Label: "a\nb"},
		"variables[1].description": {Name: "x", Description: strings.Repeat("x", 1025)},
	} {
		_, err := prompt.CheckVariables([]prompt.Variable{{Name: "a"}, bad})
		require.Equal(t, []string{location}, locations(t, err))
	}
	for _, name := range []string{"", "1a", "a b", "a{", strings.Repeat("x", 65)} {
		_, err := prompt.CheckVariables([]prompt.Variable{{Name: name}})
		require.Equal(t, []string{"variables[0].name"}, locations(t, err))
	}
	_, err = prompt.CheckVariables(make([]prompt.Variable, prompt.MaxVariables+1))
	require.Equal(t, []string{"variables"}, locations(t, err))
	require.True(t, errors.As(err, new(*fault.Error)))
}

// The cost of a placeholder is the same in a text ten times as long.
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		text := strings.Repeat("Dear {{name}}, ${greeting:hello}! ", n/2)
		b.Run(fmt.Sprint(n, "-placeholders"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := prompt.ParseTemplate(nil, text).Render(map[string]string{"name": "Ann"},
					len(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
		open := strings.Repeat("{{a:${", n)
		b.Run(fmt.Sprint(n, "-opened"), func(b *testing.B) {
			b.SetBytes(int64(len(open)))
			for b.Loop() {
				prompt.ParseTemplate(nil, open)
			}
		})
	}
}
