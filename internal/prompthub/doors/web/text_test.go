package web

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
)

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago",
		47 * time.Hour: "1 day ago", 40 * 24 * time.Hour: "1 month ago", 800 * 24 * time.Hour: "2 years ago",
	} {
		require.Equal(t, want, age(d))
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB",
		12 << 20: "12 MiB", 1 << 30: "1 GiB",
	} {
		require.Equal(t, want, size(n))
	}
}

// TestLinesBreakAsMeasured: lines break where the plain way breaks them, which measures what a line
// would become as a whole.
func TestLinesBreakAsMeasured(t *testing.T) {
	t.Parallel()
	f, err := opentype.Parse(goregular.TTF)
	require.NoError(t, err)
	face, err := faceOf(f, 32)
	require.NoError(t, err)
	plain := func(text string, width, most int) (lines []string) {
		fits := func(s string) bool { return font.MeasureString(face, s).Ceil() <= width }
		line := ""
		for _, word := range strings.Fields(text) {
			for word != "" {
				if next := strings.TrimSpace(line + " " + word); fits(next) {
					line = next
					break
				}
				if line == "" {
					rs := []rune(word)
					n := len(rs)
					for !fits(string(rs[:n])) {
						n--
					}
					line, word = string(rs[:n]), string(rs[n:])
				}
				if len(lines) == most-1 {
					for line != "" && !fits(line+"…") {
						_, size := utf8.DecodeLastRuneInString(line)
						line = line[:len(line)-size]
					}
					return append(lines, strings.TrimSpace(line)+"…")
				}
				lines, line = append(lines, line), ""
			}
		}
		if line != "" {
			lines = append(lines, line)
		}
		return lines
	}
	part := rapid.OneOf(rapid.StringMatching(`[A-Za-zäß.,'VAWT]{1,12}`),
		rapid.SampledFrom([]string{"", "W", "iiii", "\u0301", "…", strings.Repeat("W", 90), strings.Repeat("il", 200)}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 60).Draw(t, "parts"),
			rapid.SampledFrom([]string{" ", " ", ""}).Draw(t, "between"))
		width, most := rapid.IntRange(1, 1100).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "lines")
		require.Equal(t, plain(text, width, most), breakLines(face, text, width, most))
	})
}

// TestInvisibleIsMarked: the source shows where characters stand that cannot be seen, by what
// copying it does not take, and at no more places than a page has room for.
func TestInvisibleIsMarked(t *testing.T) {
	t.Parallel()
	shown := func(text string) (string, reading) {
		r := readingOf(prompt.Content{Text: text}, nil)
		return string(r.Exact(text)), r
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	html, r := shown("a<\u200b\U000e0049b 👩\u200d👧\u202e")
	require.Equal(t, "a&lt;<span class=\"invisible\" data-is=\"U+200B U+E0049\">\u200b\U000e0049</span>b 👩\u200d👧<span class=\"invisible\" data-is=\"U+202E\">\u202e</span>", html)
	require.Equal(t, 3, r.Invisible)
	for _, text := range []string{"plain", strings.Repeat("\u200b", 10_000), strings.Repeat("a\u200b", 10_000)} {
		html, r := shown(text)
		require.Equal(t, text, tags.ReplaceAllString(html, ""))
		require.Equal(t, strings.Count(text, "\u200b"), r.Invisible)
		require.LessOrEqual(t, len(html), len(text)+aroundMark*maxMarks)
		require.GreaterOrEqual(t, r.size(), len(html))
	}
}
