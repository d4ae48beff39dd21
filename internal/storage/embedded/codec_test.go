package embedded

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/storage/table"
)

var testKey = table.Key{Partition: "p", Row: "r"}

var testNames = &dictionary{names: []string{"A", "Title"}, numbers: map[string]uint64{"A": 1, "Title": 2}}

// encoded returns what a row is stored as that shares nothing.
func encoded(key table.Key, props table.Props) []byte {
	stored, _ := testNames.encode(key, props)
	return stored
}

// decodeStored returns the row of a key as a table has it.
func decodeStored(key, value []byte) (table.Row, error) {
	var room [64]byte
	plain, ok := appendPlain(room[:0], key)
	if !ok {
		return table.Row{}, table.ErrDamaged
	}
	return testNames.decode(plain, value, nil)
}

func value() *rapid.Generator[table.Value] {
	return rapid.OneOf(
		rapid.Map(rapid.String(), table.String),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "as", "as long as that", listID}), table.String), // often again
		rapid.Map(rapid.Int32(), table.Int32),
		rapid.Map(rapid.Int64(), table.Int64),
		rapid.Map(rapid.Bool(), table.Bool),
		rapid.Map(rapid.Int64(), table.FromTicks),
	)
}

func TestCodecRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		props := table.Props(rapid.SliceOf(rapid.Custom(func(t *rapid.T) table.Prop {
			return table.Prop{Name: rapid.String().Draw(t, "name"), Value: value().Draw(t, "value")}
		})).Draw(t, "props"))
		keys := rapid.OneOf(rapid.StringMatching(`[a-z|é]{1,5}`),
			rapid.SampledFrom([]string{"as", "u|as long as that", "!x|y|as", listKey, listID}))
		key := table.Key{Partition: keys.Draw(t, "partition"), Row: keys.Draw(t, "row")}
		want := table.Row{Key: key, Props: props}
		stored := encoded(key, props)
		want.ETag = seal(packedKey(key), stored, rapid.Uint64().Draw(t, "stamp"))
		if _, err := decodeStored([]byte(want.Partition), stored); err == nil {
			t.Fatal("a key without a row was taken")
		}
		got, err := decodeStored(packedKey(want.Key), stored)
		require.NoError(t, err)
		require.Equal(t, want.ETag, got.ETag)
		require.Equal(t, want.Key, got.Key)
		require.Len(t, got.Props, len(props))
		for i := range props {
			require.Equal(t, props[i], got.Props[i])
		}
		v := testNames.viewer(nil, nil)
		seen, err := v.view(plainKey(want.Key), stored)
		require.NoError(t, err)
		require.Equal(t, got.Props, seen)
	})
}

// Anything may stand in a damaged file. It is refused or read, and a read row can be
// stored again.
func FuzzDecode(f *testing.F) {
	stored := encoded(testKey, table.Props{
		{Name: "A", Value: table.String("text")},
		{Name: "B", Value: table.Int64(-7)},
	})
	seal(packedKey(testKey), stored, 42)
	for i := range stored {
		f.Add(stored[:i])
	}
	f.Add(stored)
	f.Add(append(stored, 0))
	f.Add(encoded(testKey, table.Props{
		{Name: "A", Value: table.String("text")},
		{Name: "B", Value: table.Int64(-7)},
		{Name: "Title", Value: table.String("text")},
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		key := packedKey(testKey)
		row, err := decodeStored(key, b)
		if err != nil {
			require.ErrorIs(t, err, table.ErrDamaged)
			return
		}
		again := encoded(testKey, row.Props)
		_, err = hex.Decode(again[1:1+stampLen], []byte(row.ETag))
		require.NoError(t, err)
		second, err := decodeStored(key, again)
		require.NoError(t, err)
		row.ETag = strings.ToLower(row.ETag)
		require.Equal(t, row, second)
	})
}

// A text that is there twice is stored once, and leads to no property but those before it.
func TestTextIsStoredOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long text ", 20)
	props := table.Props{
		{Name: "A", Value: table.String(long)},
		{Name: "N", Value: table.Int64(1)},
		{Name: "Title", Value: table.String(long)},
	}
	stored := encoded(testKey, props)
	require.Less(t, len(stored), len(long)+30)
	row, err := decodeStored(packedKey(testKey), stored)
	require.NoError(t, err)
	require.Equal(t, props, row.Props)
	at := len(stored) - 1
	require.Zero(t, stored[at], "the place of the first")
	for _, place := range []byte{1, 4, 127} { // a number, and none
		stored[at] = place
		_, err := decodeStored(packedKey(testKey), stored)
		require.ErrorIs(t, err, table.ErrDamaged, "%d", place)
	}
}

// Texts that the key has are not stored.
func TestTextOfTheKeyIsNotStored(t *testing.T) {
	t.Parallel()
	key := table.Key{Partition: "u|an author", Row: listKey}
	props := table.Props{{Name: "A", Value: table.String(listID)}, {Name: "Title", Value: table.String("an author")}}
	stored := encoded(key, props)
	require.Len(t, stored, headerLen+1+2*2)
	row, err := decodeStored(packedKey(key), stored)
	require.NoError(t, err)
	require.Equal(t, table.Row{Key: key, ETag: row.ETag, Props: props}, row)
}

func TestDecodeRefusesEveryCut(t *testing.T) {
	t.Parallel()
	stored := encoded(testKey, table.Props{
		{Name: "A", Value: table.String("text")},
		{Name: "B", Value: table.Int64(-7)},
	})
	seal(packedKey(testKey), stored, 42)
	for i := range stored {
		_, err := decodeStored(packedKey(testKey), stored[:i])
		require.ErrorIs(t, err, table.ErrDamaged, "cut to %d bytes", i)
	}
	_, err := decodeStored(packedKey(testKey), append(stored, 0))
	require.ErrorIs(t, err, table.ErrDamaged)
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add(message{id: 1 << 40, dequeued: 3, inserted: -5, locked: true, text: []byte("text")}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if err != nil {
			require.ErrorIs(t, err, errDamagedMessage)
			return
		}
		again, err := decodeMessage(m.encode())
		require.NoError(t, err)
		require.Equal(t, string(m.text), string(again.text))
		m.text, again.text = nil, nil
		require.Equal(t, m, again)
	})
}

// Whichever bit of a stored row or of its key flips, it is known, but for rows of before, which
// have no checksum.
func TestFlippedBitsAreKnown(t *testing.T) {
	t.Parallel()
	stored := encoded(testKey, table.Props{
		{Name: "A", Value: table.String("text")},
		{Name: "B", Value: table.Int64(-7)},
	})
	key := packedKey(testKey)
	seal(key, stored, 42)
	require.True(t, isIntact(key, stored))
	for _, b := range [][]byte{key, stored} {
		for bit := range 8 * len(b) {
			b[bit/8] ^= 1 << (bit % 8)
			if isIntact(key, stored) {
				_, err := body(stored) // of another version
				require.ErrorIs(t, err, table.ErrDamaged, "bit %d", bit)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
}
