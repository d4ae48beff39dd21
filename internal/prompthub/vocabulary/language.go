package vocabulary

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

// A language is one whose endings are known, as it is written in the stored vocabulary.
type language byte

const (
	inEnglish language = 'e'
	inGerman  language = 'd'
	inFrench  language = 'f'
	inSpanish language = 's'
	inRussian language = 'r'
)

// languages are all of them, English first: it is the one in doubt.
var languages = []language{inEnglish, inGerman, inFrench, inSpanish, inRussian}

// stemmers take the endings of words away.
var stemmers = map[language]func(*snowballstem.Env) bool{
	inEnglish: english.Stem, inGerman: german.Stem, inFrench: french.Stem, inSpanish: spanish.Stem, inRussian: russian.Stem,
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

// askingWords are those that people ask for a prompt with, whatever it is about: a search can do
// without them first.
var askingWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
		act ai ask assistant best build chatgpt claude create design develop do find fix generate get give good gpt help improve learn like llm make me
		my need new please prepare prompt prompts provide show tell use want write
		bitte brauche erklären erstellen finden geben hilfe machen schreiben suche zeigen
		aide aider besoin créer donner écrire expliquer faire montrer trouver
		ayuda ayudar crear dar escribir explicar hacer mostrar necesito buscar
		напиши написать помоги помощь создать сделать найти нужен нужна покажи`) {
		m[w] = true
	}
	return m
}()

// letters that one language of Latin script has and the others of them have not.
var ownLetters = map[rune]language{'ß': inGerman, 'ä': inGerman, 'ö': inGerman, 'ñ': inSpanish, '¿': inSpanish, '¡': inSpanish, 'ç': inFrench, 'è': inFrench, 'ê': inFrench, 'à': inFrench, 'œ': inFrench, 'ù': inFrench}

// languageOf tells the language of a text in lower case by its common words and by letters.
func languageOf(text string) language {
	found := map[language]int{}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if l := commonWords[w]; l != 0 {
			found[l]++
		}
		for _, r := range w {
			if l, ok := ownLetters[r]; ok {
				found[l]++
			}
		}
	}
	best := inEnglish
	for _, l := range languages {
		if found[l] > found[best] {
			best = l
		}
	}
	return best
}

// languagesOf returns the languages that a word may be of, by its script.
func languagesOf(word string) []language {
	if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
		return []language{inRussian}
	}
	return languages[:len(languages)-1]
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
	return string(rune(l)) + word
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
