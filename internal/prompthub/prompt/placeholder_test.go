package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestPlaceholdersOfOtherPrograms: each is a variable of its own name, with what it says of that.
func TestPlaceholdersOfOtherPrograms(t *testing.T) {
	t.Parallel()
	line := func(name, about string) prompt.Variable {
		return prompt.Variable{Name: name, Description: about, Type: prompt.Line, Required: true}
	}
	a, five, yes := "a", "5", "true"
	for text, want := range map[string][]prompt.Variable{
		"${input:what:bugs or style}, ${input:depth}": {line("what", "bugs or style"), line("depth", "")},
		"${input:what} ${input:what:a hint}":          {line("what", "a hint")},
		"${input:a-b_1:x:y}":                          {line("a-b_1", "x:y")},
		// a default of another program
		"${input:你好}": {{Name: "input", Type: prompt.Line, Default: new("你好")}},
		"${input:two words}": {
			{Name: "input", Type: prompt.Line, Default: new("two words")},
		},
		"${input}":                 {line("input", "")},
		"{{$x}} {{ $y_2 }} {{$x}}": {line("x", ""), line("y_2", "")},
		"{{$json['a']}} {{$x := 5}} {{Plugin.Do $x}} {{$1}}": nil,
		`{{who | select:options=["a","b"]}}`: {
			{Name: "who", Type: prompt.Choice, Choices: []string{"a", "b"}},
		},
		`{{who | select:options=["a","b"]:default="a"}}`: {
			{Name: "who", Type: prompt.Choice, Choices: []string{"a", "b"}, Default: &a},
		},
		`{{who | select:options=["a"]}} {{x|select}}`: {
			{Name: "who", Type: prompt.Line},
			{Name: "x", Type: prompt.Line},
		},
		`{{n | number:placeholder="How many":required}}`: {
			{Name: "n", Type: prompt.Number, Description: "How many", Required: true},
		},
		`{{n|range:min=1:max=9:default=5}} {{m | number:default=many}}`: {
			{Name: "n", Type: prompt.Number, Default: &five}, {Name: "m", Type: prompt.Number},
		},
		`{{on | checkbox:default=true}} {{d | date}} {{t | textarea:required}}`: {
			{Name: "on", Type: prompt.Boolean, Default: &yes},
			{Name: "d", Type: prompt.Date},
			{Name: "t", Type: prompt.Multiline, Required: true},
		},
		"{{x | upper}} {{x | default: 1}} {{a|b}} {{x |}}": nil,
	} {
		got := prompt.ParseTemplate(nil, text).Variables
		require.Equal(t, want, got, text)
	}
	texts, err := prompt.ParseTemplate([]prompt.Variable{{Name: "x", Type: prompt.Line, Default: &five}},
		"{{$x}} ${input:y:hint} {{z | text:required}}").
		Render(map[string]string{"y": "Y", "z": "Z"}, 100)
	require.NoError(t, err)
	require.Equal(t, []string{"5 Y Z"}, texts)
}
