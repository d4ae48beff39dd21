package embedded

import (
	"bytes"
	"cmp"
	"strings"
	"testing"

	"prompthub/internal/storage/table"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A row of a list as promptdb makes it: the ticks that are left until the year 10,000, and a ULID.
const (
	listKey = "2516068210159339999|" + listID
	listID  = "01M85EYJM2SF0N1WQ35JT7JJAB"
)

// rowLike makes rows that are alike, near to where the packed form goes from one way of storing to
// the next: keys of lists that are cut, changed and continued.
func rowLike() *rapid.Generator[string] {
	base := rapid.SampledFrom([]string{
		listKey, listKey, listKey,
		"2516068210159339999|01M85EYJM20000000000000000", "2516068210159339999|01M85EYJM2ZZZZZZZZZZZZZZZZ",
		"2516068210159339999|01M85EYJM1ZZZZZZZZZZZZZZZZ", "2516068210159339999|01M85EYJM30000000000000000",
		"2516068210159330000|01M85EYJM2SF0N1WQ35JT7JJAB", "2516068210159340000|01M85EYJM2SF0N1WQ35JT7JJAB",
		"9999999999999999999|7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "3155378975999999999|00000000000000000000000000",
		"0000000000000000000|00000000000000000000000000", "2533999999999999999|00000000000000000000000000",
		"1999999999999999999", "2000000000000000000", "2", listID,
	})
	return rapid.Custom(func(t *rapid.T) string {
		s := base.Draw(t, "base")
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			return s
		case 1:
			s = s[:rapid.IntRange(0, len(s)).Draw(t, "length")]
		case 2:
			at := rapid.IntRange(0, len(s)-1).Draw(t, "at")
			return s[:at] + rapid.SampledFrom(strings.Split("\x01!/09:AHIJZ[a{|}~\xff0Z|", "")).Draw(t,
				"other") + s[at+1:]
		}
		return s + rapid.StringMatching(`[\x01!/0-9:AHIJLOUZ\[a-z{|}~é]{0,3}`).Draw(t, "more")
	})
}

// TestPackedKeys: packed keys have the order of the plain ones, and give these back.
func TestPackedKeys(t *testing.T) {
	t.Parallel()
	row := rapid.OneOf(rowLike(), rapid.StringMatching(`[!-~]{0,60}`),
		rapid.StringMatching(`2[09]{0,2}0{0,19}[!|]?`), rapid.StringMatching(`2[09]{0,2}9{0,19}[!|]?`),
		rapid.StringMatching(`2516068210159339999\|01M85EYJM2[GH]?0{0,15}[!:I~]?`),
		rapid.StringMatching(`2516068210159339999\|01M85EYJM2[GH]?Z{0,15}[!:I~]?`))
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 2, 8).Draw(t, "rows")
		for _, a := range rows {
			back, ok := appendPlain(nil, packedKey(table.Key{Partition: "p", Row: a}))
			require.True(t, ok, "%q", a)
			require.Equal(t, "p\x00"+a, string(back))
			for _, b := range rows {
				require.Equal(t, cmp.Compare(a, b),
					bytes.Compare(packedKey(table.Key{Partition: "p", Row: a}),
						packedKey(table.Key{Partition: "p", Row: b})), "%q and %q", a, b)
			}
		}
	})
}

// TestPackedKeysOfHalfAULID: the text after fewer characters than a ULID has lies where these
// would.
func TestPackedKeysOfHalfAULID(t *testing.T) {
	t.Parallel()
	const half = "2516068210159339999|01M85EYJM2S"
	rows := []string{
		half, half + "!", half + "0", half + "000000000000000", half + "9ZZZZZZZZZZZZZZ",
		half + ":", half + "A00000000000000",
		half + "ZZZZZZZZZZZZZZZ", half + "ZZZZZZZZZZZZZZZ!", half + "~",
	}
	for i, a := range rows {
		for j, b := range rows {
			require.Equal(t, cmp.Compare(i, j),
				bytes.Compare(packedKey(table.Key{Partition: "p", Row: a}),
					packedKey(table.Key{Partition: "p", Row: b})), "%q and %q", a, b)
		}
	}
}

// TestPackedKeysOfFewDigits: a row that begins with fewer digits than a time has lies where times
// with more of them would.
func TestPackedKeysOfFewDigits(t *testing.T) {
	t.Parallel()
	const few = "2516068210"
	rows := []string{
		few, few + "!", few + "0", few + "0!", few + "000000000", few + "000000000!", few + "999999999",
		few + "999999999~", few + "99999999:",
		few + "99999999~", few + "9:", few + ":", few + "A", few + "~",
	}
	for i, a := range rows {
		for j, b := range rows {
			require.Equal(t, cmp.Compare(i, j),
				bytes.Compare(packedKey(table.Key{Partition: "p", Row: a}),
					packedKey(table.Key{Partition: "p", Row: b})), "%q and %q", a, b)
		}
	}
}

// TestPackedKeysAreShort: the rows of lists are, and no other has more than ten bytes more.
func TestPackedKeysAreShort(t *testing.T) {
	t.Parallel()
	require.Len(t, appendPacked(nil, listKey), 20)
	rapid.Check(t, func(t *rapid.T) {
		row := rowLike().Draw(t, "row")
		require.LessOrEqual(t, len(appendPacked(nil, row)), len(row)+11)
	})
}

// FuzzUnpack: anything may stand in a damaged file. It is refused, or the one packed form of a row.
func FuzzUnpack(f *testing.F) {
	for _, row := range []string{
		"", "!prompt", "~", "0999999999|" + listKey, "25!", listKey, listKey + "|x",
		listKey[:19] + "!", listKey[:19] + "~", listKey[:29] + "U", listKey[:40], listKey[:35] + "U",
	} {
		key := appendPacked(nil, row)
		for i := range key {
			f.Add(key[:i])
			for bit := range 8 {
				flipped := bytes.Clone(key)
				flipped[i] ^= 1 << bit
				f.Add(flipped)
			}
		}
		f.Add(key)
	}
	whole := appendPacked(nil, listKey)
	f.Add(append(whole[:len(whole)-1:len(whole)-1], followedAbove-randomChars))
	f.Fuzz(func(t *testing.T, b []byte) {
		if row, ok := appendUnpacked(nil, b); ok {
			require.Equal(t, b, appendPacked(nil, string(row)))
		}
	})
}

func BenchmarkPack(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		packedKey(table.Key{Partition: "x|word", Row: listKey})
	}
}

func BenchmarkUnpack(b *testing.B) {
	key, room := packedKey(table.Key{Partition: "x|word", Row: listKey}), make([]byte, 0, 100)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := appendPlain(room, key); !ok {
			b.Fatal("no key")
		}
	}
}
