package prompt

import "slices"

// What tests of the package see of it.
var (
	Folds = folds
	Fold  = fold
)

// Whole reports whether search looks at all of a normalised title.
func Whole(title string) bool { return slices.Equal(searchable(terms(title)), terms(title)) }
