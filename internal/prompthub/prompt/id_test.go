package prompt_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

func TestNewID(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 891_234_567, time.FixedZone("", 3600))
	id, err := prompt.NewID(now, bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	require.NoError(t, err)
	require.Equal(t, prompt.ID("01KJVGCHRKZZZZZZZZZZZZZZZZ"), id)
	require.Equal(t, now.Truncate(time.Millisecond).UTC(), id.Time())
	require.Equal(t, time.UTC, id.Time().Location())
}

func TestNewIDTimes(t *testing.T) {
	t.Parallel()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	tests := []struct {
		name string
		now  time.Time
		ok   bool
	}{
		{"before 1970", time.UnixMilli(-1), false},
		{"first", time.UnixMilli(0), true},
		{"last", last, true},
		{"after 9999", last.Add(1), false},
		{"beyond a ULID", time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id, err := prompt.NewID(tt.now, rand.Reader)
			if !tt.ok {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			got, ok := prompt.ParseID(string(id))
			require.True(t, ok)
			require.Equal(t, id, got)
			require.Equal(t, tt.now.UnixMilli(), id.Time().UnixMilli())
		})
	}
}

func TestNewIDWithoutEntropy(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := prompt.NewID(time.UnixMilli(1), iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	_, err = prompt.NewID(time.UnixMilli(1), strings.NewReader("too short"))
	require.Error(t, err)
}

func TestIDsOrderByTime(t *testing.T) {
	t.Parallel()
	var last prompt.ID
	for ms := int64(1); ms < 1<<47; ms *= 3 {
		id, err := prompt.NewID(time.UnixMilli(ms), rand.Reader)
		require.NoError(t, err)
		require.Less(t, last, id)
		last = id
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	tests := []struct {
		name, in string
		want     prompt.ID
	}{
		{"upper case", id, id},
		{"lower case", strings.ToLower(id), id},
		{"mixed case", "01arz3ndEKTSV4RRFFQ69G5FAV", id},
		{"empty", "", ""},
		{"short", id[:25], ""},
		{"long", id + "0", ""},
		{"space around", " " + id[:25], ""},
		{"letter of no ULID", id[:25] + "U", ""},
		{"look-alike", "O" + id[1:], ""},
		{"slash", id[:25] + "/", ""},
		{"not ASCII", id[:24] + "é", ""},
		{"more than 128 bits", "8" + id[1:], ""},
		{"last of the year 9999", "76EZ91ZPZZZZZZZZZZZZZZZZZZ", "76EZ91ZPZZZZZZZZZZZZZZZZZZ"},
		{"first of the year 10000", "76EZ91ZQ000000000000000000", ""},
		{"last ULID", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := prompt.ParseID(tt.in)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want != "", ok)
		})
	}
}

func TestTimeOfNoID(t *testing.T) {
	t.Parallel()
	for _, id := range []prompt.ID{"", "x", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FA/"} {
		require.Zero(t, id.Time(), id)
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	f.Add("76EZ91ZQ000000000000000000")
	f.Add("01arz3ndektsv4rrffq69g5fa\xff")
	form := regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	f.Fuzz(func(t *testing.T, s string) {
		id, ok := prompt.ParseID(s)
		if !ok {
			require.Empty(t, id)
			// The prefix is that of the first millisecond of the year 10000.
			upper := asciiUpper(s)
			require.False(t, form.MatchString(upper) && upper < "76EZ91ZQ", s)
			return
		}
		require.Regexp(t, form, string(id))
		require.Equal(t, asciiUpper(s), string(id))
		require.Less(t, id.Time().Year(), 10000)
		again, ok := prompt.ParseID(strings.ToLower(string(id)))
		require.True(t, ok)
		require.Equal(t, id, again)
		made, err := prompt.NewID(id.Time(), rand.Reader)
		require.NoError(t, err)
		require.Equal(t, id[:10], made[:10])
	})
}

func asciiUpper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}
