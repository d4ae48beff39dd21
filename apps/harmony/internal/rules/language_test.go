package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/rules"
)

// TestPluralOf: one, few or many, as a reader of the language counts.
func TestPluralOf(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]rules.Plural{
		0: rules.Many, 1: rules.One, 2: rules.Few, 4: rules.Few, 5: rules.Many, 11: rules.Many, 12: rules.Many,
		14: rules.Many, 20: rules.Many, 21: rules.One, 24: rules.Few, 111: rules.Many, 112: rules.Many, 121: rules.One,
	} {
		require.Equal(t, want, rules.PluralOf("ru", n), n)
	}
	for n, want := range map[int]rules.Plural{0: rules.Many, 1: rules.One, 2: rules.Many, 21: rules.Many} {
		require.Equal(t, want, rules.PluralOf("en", n), n)
	}
}
