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

// A Plural is a form of words after a number.
type Plural string

// The forms of words after numbers. English has no Few.
const (
	One  Plural = "one"
	Few  Plural = "few"
	Many Plural = "many"
)

// PluralOf returns the form of words after a number in a language.
func PluralOf(lang string, n int) Plural {
	switch {
	case lang == "en" && n == 1, lang == "ru" && n%10 == 1 && n%100 != 11:
		return One
	case lang == "ru" && n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		return Few
	}
	return Many
}
