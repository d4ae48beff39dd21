package searchindex

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"golang.org/x/text/unicode/norm"
)

// A language is one whose endings are known: a bit of languages. Their numbers are stored in
// snapshots.
type language uint8

const (
	inEnglish language = 1 << iota
	inGerman
	inFrench
	inSpanish
	inRussian
	inAny = 1<<iota - 1
)

// latin are those of Latin script, English first: it is the one in doubt.
var latin = [...]language{inEnglish, inGerman, inFrench, inSpanish}

// stemmers take the endings of words away.
var stemmers = map[language]func(*snowballstem.Env) bool{
	inEnglish: english.Stem, inGerman: german.Stem, inFrench: french.Stem,
	inSpanish: spanish.Stem, inRussian: russian.Stem,
}

// commonWords are in nearly every sentence of a language, and in few of the others.
var commonWords = func() map[string]language {
	m := map[string]language{}
	for l, words := range map[language]string{
		inEnglish: `the of and to in is for with that on as you your are it this from by an be will my want act write create`,
		inGerman:  `der die das und ist nicht ein eine einen einem einer für mit auf den dem des zu von im zum zur als ich du sie wir wie aus bei auch oder über nach deutsch`,
		inFrench:  `le la les un une des du et est pour avec dans sur vous je tu il nous votre vos mes en au aux ce cette qui que comme par pas ne sont`,
		inSpanish: `el los las una unos unas y es para con por del al que se su sus como más yo tú eres lo este esta mi tus`,
	} {
		for w := range strings.FieldsSeq(words) {
			if _, twice := m[w]; twice {
				m[w] = 0
				continue
			}
			m[w] = l
		}
	}
	return m
}()

// letters that one language of Latin script has and the others of them have not.
var ownLetters = map[rune]language{
	'ß': inGerman, 'ä': inGerman, 'ö': inGerman, 'ñ': inSpanish, '¿': inSpanish,
	'¡': inSpanish, 'ç': inFrench, 'è': inFrench, 'ê': inFrench, 'à': inFrench, 'œ': inFrench, 'ù': inFrench,
}

// told is how many words of a text tell its language.
const told = 200

// languageOf tells the language of a text of Latin script by its common words and by letters.
func languageOf(title, text []string) language {
	var found [inRussian]int
	for _, terms := range [...][]string{title, text[:min(len(text), told)]} {
		for _, w := range terms {
			found[commonWords[w]]++
			for _, r := range w {
				if r >= 0x80 {
					found[ownLetters[r]]++
				}
			}
		}
	}
	best := inEnglish
	for _, l := range latin {
		if found[l] > found[best] {
			best = l
		}
	}
	return best
}

// cyrillic reports whether a word is of that script, and so Russian.
func cyrillic(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) })
}

// shortest is how many bytes a word has at least whose ending is taken away.
const shortest = 4

// stem returns what forms of a word have in common: it has no accents, no dots and spaces between
// its parts, and no ending of the language.
func (l language) stem(word string) string {
	word = folded(word)
	if strings.ContainsAny(word, ". ") && word[0] != '.' { // .net is not net
		word = strings.Map(func(r rune) rune {
			if r == '.' || r == ' ' {
				return -1
			}
			return r
		}, word)
	}
	if len(word) >= shortest && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		env := snowballstem.NewEnv(word)
		stemmers[l](env)
		word = env.Current()
	}
	return word
}

// folded returns a word without its accents. A mark on a letter of a script other than Latin,
// Greek and Cyrillic makes another letter, and so does that of й.
func folded(word string) string {
	plain := true
	for i := range len(word) {
		plain = plain && word[i] < 0x80
	}
	if plain {
		return word
	}
	var b strings.Builder
	bare := false // the letter before may lose its marks
	for _, r := range norm.NFD.String(word) {
		if unicode.Is(unicode.Mn, r) && bare {
			continue
		}
		bare = unicode.In(r, unicode.Latin, unicode.Greek) || r == 'е'
		switch r {
		case 'ø':
			r = 'o'
		case 'ł':
			r = 'l'
		case 'æ':
			b.WriteByte('a')
			r = 'e'
		case 'œ':
			b.WriteByte('o')
			r = 'e'
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}
