package prompt

import "slices"

// What tests of the package see of it.
var (
	Folds = folds
	Fold  = fold
)

// TokensOfAll is Tokens without a limit.
func TokensOfAll(title string) []string { return tokensOf(terms(title), ladder[:]) }

// Whole reports whether search looks at all of a normalised title.
func Whole(title string) bool { return slices.Equal(searchable(terms(title)), terms(title)) }
