package searchindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

const testLabel = "x"

// snapshotOf returns a snapshot of random documents and of one word that all have, so that its list
// has several blocks.
func snapshotOf(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 61))
	x := New()
	for i := range n {
		d := someDoc(r, i)
		d.Title = append(d.Title, "prompt")
		d.Text = append(d.Text, strings.Fields("the prompt the")...)
		x.Add(d)
	}
	x.Flush() // no merge runs while memory is measured
	return x.Encode(testLabel)
}

// sealed returns the body of a snapshot with its sum.
func sealed(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

// bodyOf returns a snapshot without its sum.
func bodyOf(snapshot []byte) []byte { return snapshot[:len(snapshot)-sha256.Size] }

// segmentBegin is where the segment begins in a snapshot.
const segmentBegin = len(snapshotMark) + 8 + 8 + len(testLabel)

// useful asks and changes an index of a snapshot in every way that walks its bytes.
func useful(t *testing.T, x *Index) {
	t.Helper()
	for _, text := range []string{
		"the prompt translaters node.js", "javascript java", "東京都", `"code review" tag:a -news`, "author:lee",
		"name:name-1 co", "résumé переводчики", "", "un",
	} {
		words, err := prompt.ParseQuery(text)
		require.NoError(t, err)
		for _, q := range []Query{
			{Words: words},
			{Words: words, Newest: true},
			{Words: words, InTitle: true, Loose: true},
			{Words: words, By: "u1"},
		} {
			s := Ask(q, x)
			hits := s.Next(20)
			if len(hits) == 0 {
				continue
			}
			_, found := s.Find(hits[0].ID)
			require.True(t, found)
			resumed, err := Resume(q, s.After(hits[0]), x)
			require.NoError(t, err)
			resumed.Next(20)
		}
	}
	x.Add(Doc{ID: testID(1000), Title: []string{"new", "prompt"}})
	if hits := Ask(Query{}, x).Next(2); len(hits) > 1 {
		x.Remove(hits[1].ID, math.MaxInt64)
	}
	x.Flush()
	Ask(Query{}, x).Next(20)
}

// TestDamagedSnapshot puts other numbers into many places of a snapshot, and the right sum under
// it. That is refused, or it works; and reading it takes a small multiple of its bytes of memory.
func TestDamagedSnapshot(t *testing.T) { // not parallel: it counts what is allocated
	body := bodyOf(snapshotOf(70))
	try := func(body []byte) (refused bool) {
		b := sealed(body)
		x, err := Decode(b, testLabel)
		least := uint64(math.MaxUint64) // what else the process allocates meanwhile is not of it
		for i := 0; i < 3 && least > uint64(8*len(b)+1<<12); i++ {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			x, err = Decode(b, testLabel)
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		require.LessOrEqual(t, least, uint64(8*len(b)+1<<12))
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return true
		}
		useful(t, x)
		return false
	}
	require.False(t, try(body))
	for n := segmentBegin; n < len(body); n += 1 + n%149 {
		require.True(t, try(body[:n]), n)
	}
	require.True(t, try(append(bytes.Clone(body), 0)))
	for at := segmentBegin; at+8 <= len(body); at += 1 + at%149 {
		for _, n := range []uint64{math.MaxUint64, math.MaxInt64, 1 << 33, 0xff} {
			other := bytes.Clone(body)
			binary.LittleEndian.PutUint64(other[at:], n)
			try(other)
		}
	}
}

func TestForeignSnapshot(t *testing.T) {
	t.Parallel()
	good := snapshotOf(3)
	for name, b := range map[string][]byte{
		"another label": New().Encode("y"),
		"another version": sealed(
			append(append([]byte(snapshotMark), 9, 0, 0, 0, 0, 0, 0, 0), bodyOf(good)[len(snapshotMark)+8:]...)),
		"something else":      sealed([]byte("something else")),
		"nothing in the file": sealed(nil),
	} {
		_, err := Decode(b, testLabel)
		require.ErrorIs(t, err, ErrForeign, name)
	}
	for n := range len(good) {
		_, err := Decode(good[:n], testLabel)
		require.ErrorIs(t, err, ErrDamaged, n)
	}
	for n := range segmentBegin - len(snapshotMark) {
		_, err := Decode(sealed(good[:len(snapshotMark)+n]), testLabel)
		require.ErrorIs(t, err, ErrDamaged, n)
	}
}

// FuzzDecode reads segments with the right sum. One that is not refused works, and is written as it
// was read.
func FuzzDecode(f *testing.F) {
	for _, n := range []int{0, 1, 3, 70} {
		f.Add(bodyOf(snapshotOf(n))[segmentBegin:])
	}
	begin := bodyOf(New().Encode(testLabel))[:segmentBegin]
	f.Fuzz(func(t *testing.T, segment []byte) {
		b := sealed(append(bytes.Clone(begin), segment...))
		x, err := Decode(b, testLabel)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		if x.Len() > 0 {
			require.Equal(t, b, x.Encode(testLabel))
		}
		useful(t, x)
	})
}
