package prompt

import "slices"

// Whole reports whether search looks at all of a normalised title.
func Whole(title string) bool { return slices.Equal(searchable(terms(title)), terms(title)) }
