package prompttest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"prompthub/internal/prompthub/prompt"
)

// A Way is how people type a title, or words that they remember of a text.
type Way struct {
	Name  string
	First int     // among how many answers the prompt must be
	Least float64 // of all titles, how many must be found
	typed func(words []string) (string, bool)
}

// Type returns what is typed of a title or a text, and false if it cannot be typed so.
func (w Way) Type(of string) (string, bool) { return w.typed(Words(of)) }

// Ways returns the ways in which titles of prompts are typed. The order of the calls decides the
// searches that they make.
func Ways(ds []prompt.Draft) []Way {
	exists := map[string]bool{} // each beginning of a word of titles, and each word of texts
	for _, d := range ds {
		for _, word := range Words(d.Title) {
			for i := range len(word) {
				exists[word[:i+1]] = true
			}
		}
		for _, word := range Words(d.Text) {
			exists[word] = true
		}
	}
	rnd := rand.New(rand.NewPCG(44, 1))
	return []Way{
		{"the exact title", 1, 0.99, func(words []string) (string, bool) { return strings.Join(words, " "), true }},
		{
			"a slip in a word of five letters or more, not in the first, that makes no word", 10, 0.95,
			func(words []string) (string, bool) {
				return changed(rnd, words, 5, func(word string) (string, bool) {
					slipped := word[:1] + Slip(rnd, word[1:])
					return slipped, !exists[slipped]
				})
			},
		},
		{"any slip", 10, 0.80, func(words []string) (string, bool) {
			return changed(rnd, words, 4, func(word string) (string, bool) { return Slip(rnd, word), true })
		}},
		{"plural or singular", 10, 0.97, func(words []string) (string, bool) {
			return changed(rnd, words, 4, func(word string) (string, bool) { return otherNumber(word), true })
		}},
		{"two words joined", 10, 0.90, func(words []string) (string, bool) {
			if len(words) < 2 {
				return "", false
			}
			i := rnd.IntN(len(words) - 1)
			joined := append(append([]string{}, words[:i]...), words[i]+words[i+1])
			return strings.Join(append(joined, words[i+2:]...), " "), true
		}},
		{"a word split", 10, 0.90, func(words []string) (string, bool) {
			return changed(rnd, words, 6, func(word string) (string, bool) {
				at := 2 + rnd.IntN(len(word)-4)
				return word[:at] + " " + word[at:], true
			})
		}},
		{"without its accents, or with one too many", 10, 0.90, func(words []string) (string, bool) {
			title := strings.Join(words, " ")
			if plain := withoutAccents(title); plain != title {
				return plain, true
			}
			return changed(rnd, words, 3, func(word string) (string, bool) {
				i := strings.IndexAny(word, "aeiou")
				if i < 0 {
					return word, false
				}
				return word[:i+1] + "\u0301" + word[i+1:], true
			})
		}},
		{"the last word not to its end", 10, 0.90, func(words []string) (string, bool) {
			if len(words) == 0 {
				return "", false
			}
			last := []rune(words[len(words)-1])
			if len(last) < 5 {
				return "", false
			}
			beginning := string(last[:3+rnd.IntN(len(last)-3)])
			return strings.Join(append(slices.Clone(words[:len(words)-1]), beginning), " "), true
		}},
	}
}

// withoutAccents returns a text without the marks of its letters.
func withoutAccents(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}

// Words returns the words of letters and digits of a text in lower case.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

// changed changes one of the words that have a least number of letters, all of ASCII. It is not ok
// if there are none, or if none of ten changes is as it must be.
func changed(rnd *rand.Rand, words []string, letters int, change func(word string) (string, bool)) (string, bool) {
	var at []int
	for i, word := range words {
		if len(word) >= letters && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
			at = append(at, i)
		}
	}
	for range 10 {
		if len(at) == 0 {
			break
		}
		i := at[rnd.IntN(len(at))]
		if other, ok := change(words[i]); ok && other != words[i] {
			all := append([]string{}, words...)
			all[i] = other
			return strings.Join(all, " "), true
		}
	}
	return "", false
}

// Slip leaves a letter out, doubles one or adds another, takes another one, or swaps two.
func Slip(rnd *rand.Rand, word string) string {
	i, letter := rnd.IntN(len(word)), string(rune('a'+rnd.IntN(26)))
	switch rnd.IntN(4) {
	case 0:
		return word[:i] + word[i+1:]
	case 1:
		return word[:i] + letter + word[i:]
	case 2:
		return word[:i] + letter + word[i+1:]
	}
	i = rnd.IntN(len(word) - 1)
	return word[:i] + word[i+1:i+2] + word[i:i+1] + word[i+2:]
}

// otherNumber makes a plural of a singular, and the other way round.
func otherNumber(word string) string {
	end := func(s ...string) bool {
		for _, e := range s {
			if strings.HasSuffix(word, e) {
				return true
			}
		}
		return false
	}
	switch {
	case end("ies"):
		return word[:len(word)-3] + "y"
	case end("s") && !end("ss", "us", "is"):
		return word[:len(word)-1]
	case end("s", "x", "ch", "sh"):
		return word + "es"
	case end("y") && !end("ay", "ey", "oy", "uy"):
		return word[:len(word)-1] + "ies"
	}
	return word + "s"
}
