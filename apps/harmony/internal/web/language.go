package web

import (
	"slices"

	"prompthub/apps/harmony/internal/cookie"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
)

// Other returns the language in which the page is not.
func (w words) Other() string {
	if w.Lang == rules.Languages[0] {
		return rules.Languages[1]
	}
	return rules.Languages[0]
}

// Named returns a language as its speakers name it.
func (words) Named(language string) string {
	return map[string]string{"ru": "Русский", "en": "English"}[language]
}

// shownAt returns the address of the page that another language leads back to.
func shownAt(address string) string { return pages.Back(Prefix, Prefix+"/language", address) }

// speak has the pages speak another language from now on, to this browser and to the member.
func (s *web) speak(r *request) error {
	language := r.form("to")
	if !slices.Contains(rules.Languages, language) {
		return fault.Coded(fault.Invalid, rules.LanguageUnknown, "the language must be ru or en")
	}
	if r.who != nil {
		all, err := s.Service.Settings(r.Context(), r.claim)
		if err != nil {
			return err
		}
		all.Privacy.Language = language
		if err := s.Service.SetPrivacy(r.Context(), r.claim, all.Privacy); err != nil {
			return err
		}
	}
	cookie.Speak(r.w, r.Request, language)
	goOn(r, shownAt(r.form("back")))
	return nil
}
