package rules_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/legible"
)

var today = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// code returns the code of the only field that check breaks, "" if it breaks none.
func code(t *testing.T, check func(*rules.Broken)) fault.Code {
	t.Helper()
	var b rules.Broken
	check(&b)
	if len(b) == 0 {
		require.NoError(t, b.Err())
		return ""
	}
	require.Len(t, b, 1)
	return b[0].Code
}

func TestEmail(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"anna@example.com": "anna@example.com", " ANNA+x@Mail.Example.COM\t": "anna+x@mail.example.com",
		"o'hara@a-b.io":                     "o'hara@a-b.io",
		strings.Repeat("a", 248) + "@bb.io": strings.Repeat("a", 248) + "@bb.io",
		strings.Repeat("a", 249) + "@bb.io": "", "anna": "", "anna@example": "", "@example.com": "", "anna@": "",
		"a@b@example.com": "", "анна@example.com": "",
		"anna@пример.рф": "", "anna@-a.com": "", "anna@a..com": "", "an na@example.com": "",
		"anna@example.c": "", "anna@1.2.3.4": "",
	} {
		normal, ok := rules.NormalEmail(s)
		require.Equal(t, want != "", ok, s)
		if ok {
			require.Equal(t, want, normal)
		}
	}
}

func TestPassword(t *testing.T) {
	t.Parallel()
	for password, want := range map[string]fault.Code{
		"tea under seven lamps": "", "чай под семью лампами": "", "𝄞1𝄞2𝄞3𝄞4": "", "9 letters": rules.PasswordLength,
		strings.Repeat("abcdef", 22): rules.PasswordLength, strings.Repeat("abcd", 32): rules.WeakPassword,
		strings.Repeat("abcde", 25): "",
		"aaaabbbbcccc":              rules.WeakPassword, "Qwertyuiop": rules.WeakPassword,
		"my Annapolis": rules.WeakPassword,
		"xx ANNA.K xx": rules.WeakPassword,
	} {
		require.Equal(t, want, code(t, func(b *rules.Broken) {
			b.Password("password", password, "anna.k@example.com", "Annapolis")
		}), password)
	}
	for name, password := range map[string]string{
		"Eve": "tea under seven lamps", "Я": "моя семья и чай",
		"Ли": "любимые лилии мамы", "Ева": "королева и чай 77", "Anna": "bananna split 7",
		"Anna Lee": "anna 2026 lamps, lee", "12345": "12345 lamps under", "李 - !": "x 李 - ! 123456",
	} {
		require.Empty(t, code(t, func(b *rules.Broken) { b.Password("password", password, "x@example.com", name) }),
			name)
	}
	for name, password := range map[string]string{
		"Ольга": "я ОЛЬГА и чай", "José Luis": "jose\u0301 luis 1234", "Zoëlla": "zoella 2026!",
		"Annabell": "ＡＮＮＡＢＥＬＬ2026", "Ａｎｎａｂｅｌ": "annabel 2026", "Strauße": "STRAUSSE und mehr",
		"Strausse": "strauße und mehr",
		"Ελληνας":  "ΕΛΛΗΝΑΣ 20 26", "İpeker": "ipeker ve cay", "ﬃnity": "ffinity 2026 !",
		"Anna Bella": "annabella2026", "Anna-Bella": "anna  bella 26", "Annabella": "anna\u200bbel\u00adla 26",
		"Annabell 🌸":  "annabell2026!",
		"Lo Smithson": "smithson2026!",
	} {
		require.Equal(t, rules.WeakPassword,
			code(t, func(b *rules.Broken) { b.Password("password", password, "x@example.com", name) }), name)
	}
	require.Empty(t, code(t, func(b *rules.Broken) {
		b.Password("password", "bob and his lamps", "bob@example.com", "Анна")
	}), "three letters are no secret")
}

func TestBirthDate(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]fault.Code{
		"2008-11-01": "", "2008-11-02": rules.Underage, "1900-01-01": "", "1899-12-31": rules.BirthDateForm,
		"2001-02-29": rules.BirthDateForm,
		"2000-02-29": "", "2000-2-9": rules.BirthDateForm, "": rules.BirthDateForm, "2027-01-01": rules.BirthDateForm,
	} {
		require.Equal(t, want, code(t, func(b *rules.Broken) { b.BirthDate(s, today) }), s)
	}
	born := time.Date(2004, 2, 29, 0, 0, 0, 0, time.UTC)
	require.Equal(t, 17, rules.Age(born, time.Date(2022, 2, 28, 23, 59, 59, 0, time.UTC)))
	require.Equal(t, 18, rules.Age(born, time.Date(2022, 3, 1, 0, 0, 0, 0, time.UTC)))
	require.Equal(t, 20, rules.Age(born, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)))
	require.Equal(t, 17, rules.Age(born, time.Date(2022, 3, 1, 2, 0, 0, 0, time.FixedZone("", 3*3600))), "by UTC")
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		check func(*rules.Broken)
		want  fault.Code
	}{
		"name":          {func(b *rules.Broken) { require.Equal(t, "Й", b.Name(" Й ")) }, ""},
		"blank":         {func(b *rules.Broken) { b.Name(" \t ") }, rules.NameLength},
		"astral":        {func(b *rules.Broken) { b.Name(strings.Repeat("𝄞", 25)) }, ""},
		"astral beyond": {func(b *rules.Broken) { b.Name(strings.Repeat("𝄞", 25) + "a") }, rules.NameLength},
		"break in name": {func(b *rules.Broken) { b.Name("a\nb") }, rules.ControlCharacter},
		"break in bio":  {func(b *rules.Broken) { require.Equal(t, "a\nb", b.Bio("a\r\nb")) }, ""},
		"bell":          {func(b *rules.Broken) { b.Bio("a\ab") }, rules.ControlCharacter},
		"long bio":      {func(b *rules.Broken) { b.Bio(strings.Repeat("a", 1001)) }, rules.BioLength},
		"unseen":        {func(b *rules.Broken) { b.Name("\u200b") }, legible.NothingVisible},
		"filler":        {func(b *rules.Broken) { b.Name("\u3164") }, legible.NothingVisible},
		"turned":        {func(b *rules.Broken) { b.Name("\u202e evil") }, legible.InvisibleCharacters},
		"line in name":  {func(b *rules.Broken) { b.Name("Bea\u2028x") }, rules.ControlCharacter},
		"line in title": {
			func(b *rules.Broken) { b.Text("title", "Bea\u2029x", 1, 9, "X", false) },
			rules.ControlCharacter,
		},
		"lines in text": {func(b *rules.Broken) { b.Text("text", "Bea\nx\u2029", 1, 9, "X", true) }, ""},
		"private":       {func(b *rules.Broken) { b.Name("\ue000") }, legible.NothingVisible},
		"copy":          {func(b *rules.Broken) { b.Name("Bea\u200b") }, legible.InvisibleCharacters},
		"Persian":       {func(b *rules.Broken) { b.Name("می\u200cخواهم") }, ""},
		"turned place":  {func(b *rules.Broken) { b.Location("\u2066Rome") }, legible.InvisibleCharacters},
		"unseen bio":    {func(b *rules.Broken) { b.Bio("\u2060\n\u200b") }, legible.NothingVisible},
		"Hebrew bio":    {func(b *rules.Broken) { b.Bio("\u200fשלום\u200e") }, ""},
		"unseen text":   {func(b *rules.Broken) { b.Message("\u2060") }, legible.NothingVisible},
		"no bio":        {func(b *rules.Broken) { b.Bio("") }, ""},
		"location":      {func(b *rules.Broken) { b.Location(strings.Repeat("a", 101)) }, rules.LocationLength},
	} {
		require.Equal(t, tt.want, code(t, tt.check), name)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	at := func(lat, lon float64) rules.Position {
		var b rules.Broken
		p := b.Position(lat, lon)
		require.NoError(t, b.Err())
		return p
	}
	require.Equal(t, rules.Position{Lat: 557, Lon: -1}, at(55.79, -0.01))
	require.Equal(t, rules.Position{Lat: 3, Lon: -903}, at(0.3, -90.3), "what has one digit stays")
	require.Equal(t, rules.Position{Lat: 900, Lon: -1800}, at(90, -180))
	for _, wrong := range [][2]float64{{90.1, 0}, {0, 180.1}, {math.NaN(), 0}, {0, math.Inf(1)}} {
		require.Equal(t, rules.PositionRange, code(t, func(b *rules.Broken) { b.Position(wrong[0], wrong[1]) }))
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"": "ru", "en-GB,en;q=0.9": "en", "ru-RU,ru;q=0.9,en;q=0.8": "ru", "de-DE,de;q=0.9": "en",
		"de,ru;q=0.5,en;q=0.3": "ru", "ja": "en", "ja,en;q=0.1": "en",
		"be": "ru", "kk-KZ": "ru", "uk": "en", "be,en;q=0.9": "en", "x;;": "en", "*": "en", "tlh": "en",
	} {
		require.Equal(t, want, rules.Language(accept), accept)
	}
}
