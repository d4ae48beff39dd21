package web

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/topic"
)

// asked finds the words that a template or a page of pages.go asks for.
var (
	asked  = regexp.MustCompile(`\.T "([^"]+)"`)
	fields = regexp.MustCompile(`\(field [.$] "([^"]+)" "([^"]+)" "[^"]*"((?: "[^"]+")*)\)`)
	// confirmed finds the buttons that ask once more.
	confirmed = regexp.MustCompile(`\.Sure \([^)]*\) "([^"]+)"`)
	quoted    = regexp.MustCompile(`"([^"]+)"`)
	// declared finds the codes of refusals.
	declared = regexp.MustCompile(`fault\.Code += "([A-Z_]+)"`)
)

// TestWords: whatever a page may say has words in both languages.
func TestWords(t *testing.T) {
	t.Parallel()
	for key, both := range catalog {
		for _, text := range both {
			require.NotEmpty(t, text, key)
		}
	}
	shared, err := fs.Glob(files, "templates/shared/*.html")
	require.NoError(t, err)
	own, err := fs.Glob(files, "templates/*.html")
	require.NoError(t, err)
	n := 0
	for _, file := range append(shared, own...) {
		b, err := files.ReadFile(file)
		require.NoError(t, err)
		for _, m := range asked.FindAllStringSubmatch(string(b), -1) {
			require.Contains(t, catalog, m[1], file)
			n++
		}
		for _, m := range confirmed.FindAllStringSubmatch(string(b), -1) {
			for _, part := range []string{"", ".sure", ".yes"} {
				require.Contains(t, catalog, m[1]+part, file)
			}
		}
		for _, m := range fields.FindAllStringSubmatch(string(b), -1) {
			require.Contains(t, catalog, "field."+m[1], file)
			for _, option := range quoted.FindAllStringSubmatch(m[3], -1) {
				require.Contains(t, catalog, "option."+m[1]+"."+option[1], file)
			}
			n++
		}
	}
	require.Greater(t, n, 50)
	codes := codesOf(t, "../*/*.go", "../../../../internal/legible/*.go")
	require.Greater(t, len(codes), 90)
	for _, code := range codes {
		if !slices.Contains(unseen, code) {
			require.Contains(t, catalog, "error."+code)
		}
	}
}

// unseen are codes that no page shows: their fields have codes of their own.
var unseen = []string{"VALIDATION_ERROR"}

// codesOf returns the codes of refusals that files declare.
func codesOf(t *testing.T, patterns ...string) (codes []string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, m := range declared.FindAllSubmatch(source, -1) {
				codes = append(codes, string(m[1]))
			}
		}
	}
	return codes
}

// TestChoices: a form offers every value that there is.
func TestChoices(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"gender": rules.Genders, "showMe": rules.ShowMe,
		"profileVisibility": rules.Visibilities, "category": events.Categories, "visibility": events.Visibilities,
		"audience": topic.Visibilities, "reportReason": reports.Reasons, "language": rules.Languages,
	} {
		for _, v := range values {
			require.Contains(t, catalog, "option."+name+"."+v)
		}
	}
}

func TestBack(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/app/me": "/app/me", "/app/settings?x=1": "/app/settings?x=1", "": Prefix,
		"https://example.com/app": Prefix, "//example.com/app": Prefix,
		"/api/v1": Prefix, "/app/sign-in": Prefix, "/app\r\nx": Prefix,
		`/app\example.com`: Prefix, "/application": Prefix,
	} {
		require.Equal(t, want, build(Config{}).site.Back(address), address)
	}
}

// TestCalled: the topic of attendees says so in the language of its reader.
func TestCalled(t *testing.T) {
	t.Parallel()
	title := topic.OfEvent("e", "Lamps", "anna", time.Time{})[1].Title
	require.Equal(t, "Lamps (для участников)", words{"ru"}.Called(title))
	require.Equal(t, "Lamps (for those who attend)", words{"en"}.Called(title))
	require.Equal(t, "Lamps", words{"en"}.Called("Lamps"))
}

// TestPrices: prices are written as people of each language write them.
func TestPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minor             int64
		code, russian, en string
	}{
		{199000, "RUB", "1 990 ₽", "1,990 ₽"},
		{2550, "EUR", "25,50 €", "€25.50"},
		{123456789, "USD", "1 234 567,89 $", "$1,234,567.89"},
		{5, "RUB", "0,05 ₽", "0.05 ₽"},
		{1990, "JPY", "1 990 JPY", "1,990 JPY"},
		{0, "RUB", "бесплатно", "free"},
		{100000, "GBP", "1 000 £", "£1,000"},
	} {
		p := &rules.Price{Minor: c.minor, Currency: c.code}
		require.Equal(t, strings.ReplaceAll(c.russian, " ", "\u00a0"), words{"ru"}.Price(p))
		require.Equal(t, strings.ReplaceAll(c.en, " ", "\u00a0"), words{"en"}.Price(p))
	}
	require.Empty(t, words{"ru"}.Price(nil))
}
