package rules

import "golang.org/x/text/language"

var matcher = language.NewMatcher([]language.Tag{language.Russian, language.English}) // in the order of Languages

// Language returns the language that suits a header Accept-Language best: Russian if none does.
func Language(accept string) string {
	_, i := language.MatchStrings(matcher, accept)
	return Languages[i]
}
