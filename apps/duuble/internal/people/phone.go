package people

import (
	"regexp"
	"strings"
	"unicode"
)

// Phone returns a phone number as E.164 writes it, from how people and phones write one: with
// spaces, hyphens, points, brackets and slashes between its digits, in the digits of any script,
// and 00 in place of the plus. ok is false if that is no number with its country.
func Phone(s string) (phone string, ok bool) {
	phone = bareNumber(s)
	if rest, international := strings.CutPrefix(phone, "00"); international {
		phone = "+" + rest
	}
	return phone, phones.MatchString(phone)
}

// phones are numbers as E.164 writes them.
var phones = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// bareNumber returns a number or a code without what stands between its digits, and without the
// invisible characters around it that phones copy.
func bareNumber(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Pd, unicode.Cf) || strings.ContainsRune("()./", r):
			return -1
		case unicode.IsDigit(r):
			return '0' + digitValue(r)
		case r == '\uff0b': // of the keyboards that write wide digits
			return '+'
		}
		return r
	}, s)
}

// digitValue returns the value of a digit of any script: those of each stand in a row, from zero
// on.
func digitValue(r rune) rune {
	for _, in := range unicode.Nd.R16 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return (r - rune(in.Lo)) % 10
		}
	}
	for _, in := range unicode.Nd.R32 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return (r - rune(in.Lo)) % 10
		}
	}
	return 0
}

// twoDigits are the calling codes of countries that have two digits. Of others 1 and 7 have one,
// and all else three.
const twoDigits = "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98"

// callingCode returns the calling code of a phone number, which may be that of several countries.
func callingCode(phone string) string {
	digits := phone[1:]
	switch {
	case digits[0] == '1' || digits[0] == '7':
		return digits[:1]
	case strings.Contains(twoDigits, digits[:2]):
		return digits[:2]
	}
	return digits[:3]
}
