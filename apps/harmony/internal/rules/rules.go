// Package rules says what a member may write about themselves: addresses, passwords, birth dates,
// names, positions and preferences. It is pure: it asks no store and no clock.
//
// A rule reports each mistake as a fault.Field with a code of its own, so that a page can say it in
// the reader's language.
package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"prompthub/internal/fault"
	"prompthub/internal/legible"
	"prompthub/internal/storage/table"
)

// The codes of requests that break rules.
const (
	ValidationError fault.Code = "VALIDATION_ERROR"
	Underage        fault.Code = "UNDERAGE"
	WeakPassword    fault.Code = "WEAK_PASSWORD"
)

// The codes of single fields.
const (
	EmailForm        fault.Code = "EMAIL_FORM"
	PasswordLength   fault.Code = "PASSWORD_LENGTH"
	BirthDateForm    fault.Code = "BIRTH_DATE_FORM"
	NameLength       fault.Code = "NAME_LENGTH"
	BioLength        fault.Code = "BIO_LENGTH"
	LocationLength   fault.Code = "LOCATION_LENGTH"
	ControlCharacter fault.Code = "CONTROL_CHARACTER"
	GenderUnknown    fault.Code = "GENDER_UNKNOWN"
	LanguageUnknown  fault.Code = "LANGUAGE_UNKNOWN"
	PositionRange    fault.Code = "POSITION_RANGE"
	AgeRange         fault.Code = "AGE_RANGE"
	DistanceRange    fault.Code = "DISTANCE_RANGE"
	ShowMeUnknown    fault.Code = "SHOW_ME_UNKNOWN"
	VisibilityWrong  fault.Code = "VISIBILITY_UNKNOWN"
	DaysRange        fault.Code = "DAYS_RANGE"
	ReasonLength     fault.Code = "REASON_LENGTH"
	MessageLength    fault.Code = "MESSAGE_LENGTH"
	PriceRange       fault.Code = "PRICE_RANGE"
	CurrencyUnknown  fault.Code = "CURRENCY_UNKNOWN"
	DateForm         fault.Code = "DATE_FORM"
)

// Broken collects the rules that a request breaks.
type Broken []fault.Field

// Add notes a rule that the member of the body called name breaks.
func (b *Broken) Add(name string, code fault.Code, message string, value any) {
	*b = append(*b, fault.Field{Name: "body." + name, Code: code, Message: message, Value: value})
}

// Err returns what was collected as one error, or nil. Its code is that of its only field, if
// programs decide by that one, as for UNDERAGE.
func (b Broken) Err() error {
	if len(b) == 0 {
		return nil
	}
	code := ValidationError
	if len(b) == 1 && (b[0].Code == Underage || b[0].Code == WeakPassword) {
		code = b[0].Code
	}
	return &fault.Error{Kind: fault.Invalid, Code: code, Text: "the request breaks the rules named here", Fields: b}
}

// The longest texts, in UTF-16 units.
const (
	MaxEmail    = 254
	MinPassword = 10
	MaxPassword = 128
	MaxName     = 50
	MaxBio      = 1000
	MaxLocation = 100
	MaxReason   = 1000
	MaxMessage  = 4000
)

// MaxDays is how many days a suspension has.
const MaxDays = 3650

var email = regexp.MustCompile(`^[a-z0-9.!#$%&'*+/=?^_{|}~` + "`" +
	`-]+@[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.[a-z][a-z0-9-]*[a-z0-9]$`)

// Email returns an address as it is kept: trimmed and in lower case.
func (b *Broken) Email(name, s string) string {
	got, ok := NormalEmail(s)
	if !ok {
		b.Add(name, EmailForm, "give an e-mail address such as anna@example.com, of at most 254 characters", nil)
	}
	return got
}

// NormalEmail returns an address as it is kept. ok is false for what no account has.
func NormalEmail(s string) (normal string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	return s, len(s) <= MaxEmail && email.MatchString(s)
}

// Password checks a new password of the member with an address and a name.
func (b *Broken) Password(name, password, address, person string) {
	switch n := table.Units(password); {
	case n < MinPassword || n > MaxPassword:
		b.Add(name, PasswordLength, "give 10 to 128 characters", nil)
	case weak(password, address, person):
		b.Add(name, WeakPassword, "choose another password: this one holds your name or address, repeats a few characters, or is one that many people use", nil)
	}
}

const (
	minLocalPart = 4 // of an address, that a password may not hold
	minName      = 5 // letters of a name that it may not hold: shorter ones are in many words
	minDifferent = 5 // characters of a password
)

func weak(password, address, person string) bool {
	local, _, _ := strings.Cut(address, "@")
	different := map[rune]bool{}
	for _, r := range password {
		different[r] = true
	}
	return len(different) < minDifferent ||
		len(local) >= minLocalPart && strings.Contains(strings.ToLower(norm.NFC.String(password)), local) ||
		holdsName(password, person) ||
		common[strings.ToLower(norm.NFC.String(password))]
}

// holdsName reports whether a name, or a word of it, stands in a password, however it is written:
// in other case or width, and with anything but letters and digits between.
func holdsName(password, person string) bool {
	written := folded(password)
	for _, name := range append(strings.Fields(person), person) {
		name = folded(name)
		letters := 0
		for _, r := range name {
			if unicode.IsLetter(r) {
				letters++
			}
		}
		if letters >= minName && strings.Contains(written, name) {
			return true
		}
	}
	return false
}

// folded returns the letters and digits of a text, in one form for all ways to write them.
func folded(text string) string {
	text = norm.NFKD.String(cases.Fold().String(norm.NFKC.String(text)))
	return strings.Map(func(r rune) rune {
		if accent := 0x300 <= r && r < 0x370; accent || !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return -1
		}
		return r
	}, text)
}

// Text returns a text as it is kept: in the form NFC and without space around it. Line breaks are
// allowed in one of several lines. A text of one line says what its readers see, and no text has
// nothing to see.
func (b *Broken) Text(name, s string, least, most int, code fault.Code, lines bool) string {
	if lines {
		return b.text(name, s, least, most, code, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }, seen)
	}
	return b.text(name, s, least, most, code, legible.Breaks, legible.Line)
}

// Name returns a name as it is kept.
func (b *Broken) Name(s string) string {
	return b.text("name", s, 1, MaxName, NameLength, legible.Breaks, legible.Name)
}

// seen is the rule for texts of several lines, as of legible.Line: scripts are written with
// characters that no reader sees.
func seen(s string) (code fault.Code, message string) {
	if s == "" || legible.Visible(s) {
		return "", ""
	}
	return legible.NothingVisible, "write at least one character that can be seen"
}

// text checks a text, which may not have characters that are bad.
func (b *Broken) text(name, s string, least, most int, code fault.Code, bad func(rune) bool,
	check func(string) (fault.Code, string),
) string {
	s = strings.TrimSpace(norm.NFC.String(strings.ReplaceAll(s, "\r\n", "\n")))
	if strings.ContainsFunc(s, bad) {
		b.Add(name, ControlCharacter, "leave control characters out", nil)
	} else if n := table.Units(s); n < least || n > most {
		b.Add(name, code, fmt.Sprintf("give %d to %d characters", least, most), nil)
	} else if code, message := check(s); code != "" {
		b.Add(name, code, message, nil)
	}
	return s
}

// Bio returns the text of a profile as it is stored.
func (b *Broken) Bio(s string) string { return b.Text("bio", s, 0, MaxBio, BioLength, true) }

// Message returns the text of a message as it is stored.
func (b *Broken) Message(s string) string {
	return b.Text("content", s, 1, MaxMessage, MessageLength, true)
}

// Location returns the name of a place as it is kept.
func (b *Broken) Location(s string) string {
	return b.Text("location", s, 0, MaxLocation, LocationLength, false)
}

// Instant reads an instant, which is kept to the millisecond.
func (b *Broken) Instant(name, s string) time.Time {
	at, err := time.Parse(time.RFC3339, s)
	if at = at.UTC().Truncate(time.Millisecond); err != nil || at.Year() < 1900 || at.Year() > 9998 {
		b.Add(name, DateForm, "give an instant with a zone, such as 2026-12-31T20:00:00Z", s)
		return time.Time{}
	}
	return at
}

// The values that some members of bodies have.
var (
	Genders      = []string{"male", "female", "non-binary", "prefer-not-to-say"}
	Languages    = []string{"ru", "en"}
	ShowMe       = []string{"everyone", "men", "women", "non-binary"}
	Visibilities = []string{"public", "private", "friends"}
)

// OneOf checks a value of a short list.
func (b *Broken) OneOf(name, s string, of []string, code fault.Code) {
	if !slices.Contains(of, s) {
		b.Add(name, code, "give one of "+strings.Join(of, ", "), s)
	}
}
