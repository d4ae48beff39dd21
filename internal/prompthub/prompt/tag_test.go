package prompt_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

func TestParseTag(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     prompt.Tag // empty: refused
	}{
		{"letters", "writing", "writing"},
		{"upper case", "DevOps", "devops"},
		{"one letter", "c", "c"},
		{"one digit", "7", "7"},
		{"every kind of character", "a0-.+", "a0-.+"},
		{"40 characters", strings.Repeat("a", 40), prompt.Tag(strings.Repeat("a", 40))},
		{"41 characters", strings.Repeat("a", 41), ""},
		{"empty", "", ""},
		{"begins with a dash", "-a", ""},
		{"begins with a dot", ".net", ""},
		{"begins with a plus", "+1", ""},
		{"space before", " a", ""},
		{"space after", "a ", ""},
		{"space inside", "a b", ""},
		{"separator of tags", "a;b", ""},
		{"hash", "c#", ""},
		{"underscore", "a_b", ""},
		{"pipe", "a|b", ""},
		{"NUL", "a\x00", ""},
		{"not ASCII", "é", ""},
		{"lower-cases to ASCII in Unicode", "\u212aelvin", ""},
		{"invalid UTF-8", "a\xff", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := prompt.ParseTag(tt.in)
			require.Equal(t, tt.want, got)
			if tt.want != "" {
				require.NoError(t, err)
				return
			}
			_, ok := errors.AsType[*fault.Error](err)
			require.True(t, ok)
			require.Equal(t, fault.Invalid, fault.Of(err))
		})
	}
}

func FuzzParseTag(f *testing.F) {
	for _, s := range []string{"c++", "A.B-c+1", "", "-", "\u212a", strings.Repeat("Z", 40)} {
		f.Add(s)
	}
	form := regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.+-]{0,39}$`)
	f.Fuzz(func(t *testing.T, s string) {
		tag, err := prompt.ParseTag(s)
		require.Equal(t, form.MatchString(s), err == nil)
		if err != nil {
			return
		}
		require.Equal(t, strings.ToLower(s), string(tag))
		again, err := prompt.ParseTag(string(tag))
		require.NoError(t, err)
		require.Equal(t, tag, again)
	})
}

func TestDefaultTags(t *testing.T) {
	t.Parallel()
	infos := prompt.DefaultTags()
	seen := map[prompt.Tag]bool{}
	names := map[string]bool{}
	var last int32
	for _, info := range infos {
		tag, err := prompt.ParseTag(string(info.Tag))
		require.NoError(t, err, info.Tag)
		require.Equal(t, tag, info.Tag)
		require.NotEmpty(t, info.DisplayName, info.Tag)
		require.False(t, seen[tag] || names[info.DisplayName], info.Tag)
		seen[tag], names[info.DisplayName] = true, true
		require.Greater(t, info.SortOrder, last, info.Tag)
		last = info.SortOrder
		require.True(t, info.Active, info.Tag)
	}
	for _, needed := range []prompt.Tag{"development", "text", "structured", "image"} {
		require.True(t, seen[needed], "%s: the import needs it", needed)
	}
	infos[0].Tag = "changed"
	require.NotEqual(t, infos[0], prompt.DefaultTags()[0], "each call returns its own list")
}
