package rules

import "golang.org/x/text/language"

var (
	matched = []string{"en", "ru"} // the first one if none is close
	matcher = language.NewMatcher([]language.Tag{language.English, language.Russian})
)

// Language returns the language that suits a header Accept-Language best: Russian for readers of
// languages close to it and for readers who ask for none, English for all others.
func Language(accept string) string {
	if accept == "" {
		return "ru"
	}
	_, i := language.MatchStrings(matcher, accept)
	return matched[i]
}
