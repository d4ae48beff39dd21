package prompt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

func draft(change func(*prompt.Draft)) prompt.Draft {
	d := prompt.Draft{Title: "A title", Text: "A text", Tags: []prompt.Tag{"text", "c++"}, Visibility: prompt.Private}
	change(&d)
	return d
}

func titled(s string) prompt.Draft { return draft(func(d *prompt.Draft) { d.Title = s }) }
func texted(s string) prompt.Draft { return draft(func(d *prompt.Draft) { d.Text = s }) }
func tagged(s ...string) prompt.Draft {
	return draft(func(d *prompt.Draft) {
		d.Tags = nil
		for _, tag := range s {
			d.Tags = append(d.Tags, prompt.Tag(tag))
		}
	})
}

func ownTagged(s ...string) prompt.Draft {
	return draft(func(d *prompt.Draft) { d.OwnTags = s })
}

// many returns n different tags.
func many(n int) []string {
	var tags []string
	for i := range n {
		tags = append(tags, fmt.Sprintf("tag%d", i))
	}
	return tags
}

// long returns n different tags of a length.
func long(n, length int) []string {
	tags := many(n)
	for i, tag := range tags {
		tags[i] = tag + strings.Repeat("é", length-len(tag))
	}
	return tags
}

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	const clef = "\U0001d11e" // two UTF-16 code units
	tests := []struct {
		name     string
		in, want prompt.Draft
		maxText  int
	}{
		{name: "as it is", in: titled("A title")},
		{name: "public", in: draft(func(d *prompt.Draft) { d.Visibility = prompt.Public })},
		{name: "title trimmed", in: titled("\u3000\t A  title\r\n\u2028"), want: titled("A  title")},
		{name: "title of 200", in: titled(strings.Repeat("é", 200))},
		{
			name: "title of 200 after trimming", in: titled(strings.Repeat("a", 200) + "  "),
			want: titled(strings.Repeat("a", 200)),
		},
		{name: "title of 100 pairs", in: titled(strings.Repeat(clef, 100))},
		{name: "title with a joiner", in: titled("a\u200db")},
		{
			name: "titles of emoji and scripts with joiners",
			in:   titled("👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 می\u200cخواهم क्\u200dष"),
		},
		{name: "title with U+FFFD", in: titled("\ufffd")},
		{name: "text with everything", in: texted(" \r\n\t\x01\x7f\u0085\u2028\ufeff\ufffd\uffff a\u0301 ﬁ \n")},
		{name: "text of 3000", in: texted(strings.Repeat("é", 3000))},
		{name: "text of 1500 pairs", in: texted(strings.Repeat(clef, 1500))},
		{name: "text of the limit set", in: texted("12345"), maxText: 5},
		{name: "text of the highest limit", in: texted(strings.Repeat("a", 30000)), maxText: prompt.LimitMaxText},
		{name: "no tags", in: tagged()},
		{name: "10 tags", in: tagged(many(10)...)},
		{name: "tags in lower case, in order", in: tagged("Text", "c++", "B"), want: tagged("text", "c++", "b")},
		{
			name: "own tags trimmed, as they are written", in: ownTagged(" Küche; später ", "text, c++", "TEXT"),
			want: ownTagged("Küche; später", "text, c++", "TEXT"),
		},
		{name: "50 own tags of 100", in: ownTagged(long(50, 100)...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := tt.want
			if want.Title == "" {
				want = tt.in
			}
			got, err := prompt.Rules{MaxText: tt.maxText}.Check(tt.in)
			require.NoError(t, err)
			require.Equal(t, want, got)
			again, err := prompt.Rules{MaxText: tt.maxText}.Check(got)
			require.NoError(t, err)
			require.Equal(t, got, again)
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	const clef = "\U0001d11e"
	tests := []struct {
		name    string
		in      prompt.Draft
		maxText int
		where   string
		message string // part of it
	}{
		{name: "no title", in: titled(""), where: "title", message: "give"},
		{name: "blank title", in: titled(" \t\u3000"), where: "title", message: "give"},
		{
			name: "title of 201", in: titled(strings.Repeat("é", 201)), where: "title",
			message: "200 characters, it has 201",
		},
		{name: "title of 101 pairs", in: titled(strings.Repeat(clef, 101)), where: "title", message: "it has 202"},
		{name: "title with NUL", in: titled("a\x00b"), where: "title", message: "control"},
		{name: "title with NUL at its end", in: titled("a\x00"), where: "title", message: "control"},
		{name: "title with a line break", in: titled("a\nb"), where: "title", message: "line breaks"},
		{name: "title with DEL", in: titled("a\x7fb"), where: "title", message: "control"},
		{name: "title with a C1 control", in: titled("a\u0085b"), where: "title", message: "control"},
		{name: "title with a line separator", in: titled("a\u2028b"), where: "title", message: "line breaks"},
		{name: "title with a paragraph separator", in: titled("a\u2029b"), where: "title", message: "line breaks"},
		{name: "title of broken UTF-8", in: titled("a\xffb"), where: "title", message: "UTF-8"},
		{name: "title of a lone surrogate", in: titled("\xed\xa0\x80"), where: "title", message: "UTF-8"},
		{name: "no text", in: texted(""), where: "text", message: "write"},
		{name: "blank text", in: texted(" \r\n\t\u3000"), where: "text", message: "write"},
		{
			name: "text of 3001", in: texted(strings.Repeat("a", 3001)), where: "text",
			message: "3000 characters, it has 3001",
		},
		{name: "text of 1501 pairs", in: texted(strings.Repeat(clef, 1501)), where: "text", message: "it has 3002"},
		{name: "text over the limit set", in: texted("123456"), maxText: 5, where: "text", message: "5 characters"},
		{name: "text with NUL", in: texted("a\x00"), where: "text", message: "U+0000"},
		{name: "text of broken UTF-8", in: texted("a\xc3"), where: "text", message: "UTF-8"},
		{name: "11 tags", in: tagged(many(11)...), where: "tags", message: "at most 10"},
		{name: "malformed tag", in: tagged("a", "b c"), where: "tags[1]", message: "1 to 40"},
		{name: "empty tag", in: tagged(""), where: "tags[0]", message: "1 to 40"},
		{name: "tag twice", in: tagged("a", "b", "a"), where: "tags[2]", message: `"a"`},
		{name: "tag twice in two cases", in: tagged("Go", "gO"), where: "tags[1]", message: `"go"`},
		{name: "51 own tags", in: ownTagged(many(51)...), where: "ownTags", message: "at most 50"},
		{
			name: "own tag of 101", in: ownTagged(long(1, 101)...), where: "ownTags[0]",
			message: "100 characters, it has 101",
		},
		{name: "own tag in two lines", in: ownTagged("a\nb"), where: "ownTags[0]", message: "one line"},
		{name: "empty own tag", in: ownTagged("a", " "), where: "ownTags[1]", message: "write"},
		{name: "own tag twice", in: ownTagged("a", " a"), where: "ownTags[1]", message: `"a"`},
		{name: "own tag that is a tag", in: ownTagged("c++"), where: "ownTags[0]", message: `"c++"`},
		{
			name: "no visibility", in: draft(func(d *prompt.Draft) { d.Visibility = "" }), where: "visibility",
			message: "private or public",
		},
		{
			name: "other visibility", in: draft(func(d *prompt.Draft) { d.Visibility = "Public" }), where: "visibility",
			message: "private or public",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fields := refused(t, prompt.Rules{MaxText: tt.maxText}, tt.in)
			require.Len(t, fields, 1)
			require.Equal(t, tt.where, fields[0].Name)
			require.Contains(t, fields[0].Message, tt.message)
		})
	}
}

// refused returns what Check says against d.
func refused(t *testing.T, rules prompt.Rules, d prompt.Draft) []fault.Field {
	t.Helper()
	got, err := rules.Check(d)
	require.Zero(t, got)
	broken, ok := errors.AsType[*fault.Error](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, fault.Invalid, broken.Kind)
	require.NotEmpty(t, broken.Text)
	for _, f := range broken.Fields {
		value, ok := f.Value.(string)
		require.True(t, ok)
		require.True(t, utf8.ValidString(value))
		require.LessOrEqual(t, utf8.RuneCountInString(value), 41)
	}
	return broken.Fields
}

func TestCheckNamesEveryBrokenRule(t *testing.T) {
	t.Parallel()
	d := prompt.Draft{
		Title:      strings.Repeat("a\x00", 150),
		Text:       strings.Repeat("b\x00", 2000),
		Tags:       []prompt.Tag{"a", "A", "?", "d", "e", "f", "g", "h", "i", "j", "!"},
		Visibility: "secret",
	}
	var locations []string
	for _, f := range refused(t, prompt.Rules{}, d) {
		locations = append(locations, f.Name)
	}
	require.Equal(t, []string{
		"title", "title", "text", "text",
		"tags", "tags[1]", "tags[2]", "tags[10]", "visibility",
	}, locations)

	require.Len(t, refused(t, prompt.Rules{}, prompt.Draft{}), 3, "title, text and visibility are required")
}

func TestCheckAnswersNoMoreThanItIsSent(t *testing.T) {
	t.Parallel()
	bad := make([]string, 50000)
	require.LessOrEqual(t, len(refused(t, prompt.Rules{}, tagged(bad...))), 21)
}

func TestCheckCutsLongValues(t *testing.T) {
	t.Parallel()
	long := refused(t, prompt.Rules{}, titled(strings.Repeat("é", 201)))
	require.Equal(t, strings.Repeat("é", 40)+"…", long[0].Value)
	broken := refused(t, prompt.Rules{}, titled("a\xff"))
	require.Equal(t, "a\ufffd", broken[0].Value)
	brokenAndLong := refused(t, prompt.Rules{}, titled(strings.Repeat("\xff", 300)))
	require.Equal(t, "\ufffd…", brokenAndLong[0].Value)
	whole := refused(t, prompt.Rules{}, tagged(strings.Repeat("b", 39)+"!"))
	require.Equal(t, strings.Repeat("b", 39)+"!", whole[0].Value)
}

func TestCheckLeavesItsArgumentAlone(t *testing.T) {
	t.Parallel()
	d := tagged("Text", "Image")
	got, err := prompt.Rules{}.Check(d)
	require.NoError(t, err)
	require.Equal(t, []prompt.Tag{"Text", "Image"}, d.Tags)
	require.Equal(t, []prompt.Tag{"text", "image"}, got.Tags)
}

func TestConfigIsNotNestedForEver(t *testing.T) {
	t.Parallel()
	nested := func(n int) prompt.Draft {
		return prompt.Draft{
			Title: "t", Text: "x", Visibility: prompt.Private,
			Config: strings.Repeat("[", n) + strings.Repeat("]", n),
		}
	}
	rules := prompt.Rules{MaxText: 100}
	_, err := rules.Check(nested(prompt.MaxConfigDepth))
	require.NoError(t, err)
	fields := refused(t, rules, nested(prompt.MaxConfigDepth+1))
	require.Len(t, fields, 1)
	require.Equal(t, "config", fields[0].Name)
	require.Contains(t, fields[0].Message, "at most 100 deep")
}

func TestConfigHasNumbersThatReadersTake(t *testing.T) {
	t.Parallel()
	with := func(config string) prompt.Draft {
		return prompt.Draft{Title: "t", Text: "x", Visibility: prompt.Private, Config: config}
	}
	rules := prompt.Rules{MaxText: 100}
	_, err := rules.Check(with(`{"a":0.7,"b":[-1.7e308,1e-400,123456789012345678901234567890],"c":"1e400"}`))
	require.NoError(t, err)
	for _, config := range []string{`1e400`, `{"a":[0,-1e400]}`, `1` + strings.Repeat("0", 400)} {
		fields := refused(t, rules, with(config))
		require.Len(t, fields, 1)
		require.Equal(t, "config", fields[0].Name)
		require.Contains(t, fields[0].Message, "at most 1.79e308")
	}
}

// No new prompt gets a name of which a part is what the path of an address resolves, or an escaped
// slash; one that has such a name keeps it.
func TestNamesThatPathsCannotHave(t *testing.T) {
	t.Parallel()
	named := func(s string) prompt.Draft { return draft(func(d *prompt.Draft) { d.Name = s }) }
	for _, name := range []string{
		".", "..", "a/../b", "./a", "a/..", " .. ", "a%2Fb",
		"a%2fb", "a%252Fb", "a%25252fb",
	} {
		_, err := prompt.Rules{}.Check(named(name))
		require.Equal(t, fault.Invalid, fault.Of(err), name)
		_, err = prompt.Rules{}.CheckEdit(named(name), named("other"))
		require.ErrorContains(t, err, "rules named here", name)
		_, err = prompt.Rules{}.CheckEdit(named(name), named(strings.TrimSpace(name)))
		require.NoError(t, err, name)
	}
	for _, name := range []string{"...", ".a", "a..", "a.b/..c", "a%2", "a%25b", "a%252G", "percent%20encoded"} {
		_, err := prompt.Rules{}.Check(named(name))
		require.NoError(t, err, name)
	}
}
