package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"prompthub/internal/storage/table"
)

// TestFlippedKey flips each bit of each key where it lies, so that it may be out of order. Every
// reader comes to an end and serves rows under their own keys, and one of all rows serves all
// others and names this one. The copies of keys that lead to a page are flipped too: no row is lost
// to one who reads all.
func TestFlippedKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	s := open(t, path)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	var keys []table.Key
	for _, partition := range []string{"o", "p", "q|1"} {
		for i := range 3 {
			for _, row := range []string{"%d", listKey[:len(listKey)-2] + "%02d", "a%d"} {
				keys = append(keys, table.Key{Partition: partition, Row: fmt.Sprintf(row, i)})
				mustWrite(t, s, table.Op{Kind: table.Insert, Row: table.Row{Key: keys[len(keys)-1], Props: table.Props{
					{Name: "N", Value: table.Int64(1)},
					{Name: "Text", Value: table.String(string(bytes.Repeat([]byte("many words "), 30)))},
				}}})
			}
		}
	}
	slices.SortFunc(keys, func(a, b table.Key) int { return bytes.Compare(packedKey(a), packedKey(b)) })
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })

	// read returns the rows that were served and how many were named.
	read := func(r table.Range, limit int) (served []table.Key, named int) {
		for next, pages := "", 0; ; pages++ {
			require.Less(t, pages, 3*len(keys), "it comes to an end")
			page, err := s.Tables.List(t.Context(), "Rows", r, limit, next)
			next = page.Next
			if d := (*table.DamagedError)(nil); errors.As(err, &d) {
				named, next = named+1, d.Next
			} else {
				require.NoError(t, err)
			}
			for _, row := range page.Rows {
				served = append(served, row.Key)
			}
			if next == "" {
				return served, named
			}
		}
	}
	parts := []table.Range{
		{Partition: "p"},
		{Partition: "p", From: "1", To: "a2"},
		{From: "2", To: "a2"},
		{FromPartition: "p", ToPartition: "q"},
		{After: "a0", Filter: func(table.Props) bool { return true }},
	}
	ofFirst := table.Range{Partition: "o"} // where no key that is too high misleads the first search
	check := func(key table.Key, inLeaf, raised bool) {
		t.Helper()
		others, damaged := keys, 0
		if inLeaf {
			others, damaged = slices.DeleteFunc(slices.Clone(keys), func(k table.Key) bool { return k == key }), 1
		}
		for _, limit := range []int{2, 1000} {
			for _, r := range []table.Range{{}, {Select: []string{"N"}}} {
				served, named := read(r, limit)
				require.Equal(t, others, served, "key %s, pages of %d", key, limit)
				require.Equal(t, damaged, named, "key %s, pages of %d", key, limit)
			}
			if raised {
				served, _ := read(ofFirst, limit)
				ends := slices.IndexFunc(others, func(k table.Key) bool { return k.Partition != "o" })
				require.Equal(t, others[:ends], served, "key %s, pages of %d", key, limit)
			}
			for _, r := range parts {
				served, _ := read(r, limit)
				from := 0
				for _, k := range served {
					at := slices.Index(others[from:], k)
					require.GreaterOrEqual(t, at, 0, "key %s: %s once and in order", key, k)
					from += at + 1
				}
			}
		}
	}
	in, err := os.ReadFile(path)
	require.NoError(t, err)
	copies := 0
	for _, key := range keys {
		packed := packedKey(key)
		var value []byte
		require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
			value = bytes.Clone(tx.Bucket(rowsBucket("Rows")).Get(packed))
			return nil
		}))
		var leaves, branches []int // pages that are free have some too
		for at := 0; ; at++ {
			found := bytes.Index(in[at:], packed)
			if found < 0 {
				break
			}
			at += found
			switch rest := in[at+len(packed):]; {
			case bytes.HasPrefix(rest, value):
				leaves = append(leaves, at)
			case !slices.Contains([]byte{rowVersion, sharingVersion}, rest[0]):
				branches = append(branches, at)
			}
		}
		require.NotEmpty(t, leaves)
		copies += len(branches)
		for i, places := range [][]int{leaves, branches} {
			for bit := range 8 * len(packed) {
				if len(places) == 0 {
					break
				}
				flip := func() {
					for _, at := range places {
						in[at+bit/8] ^= 1 << (bit % 8)
						_, err := file.WriteAt(in[at+bit/8:at+bit/8+1], int64(at+bit/8))
						require.NoError(t, err)
					}
				}
				raised := packed[bit/8]>>(bit%8)&1 == 0
				flip()
				check(key, i == 0, i == 0 && raised)
				flip()
			}
		}
	}
	require.NotZero(t, copies)
	check(table.Key{}, false, true)
}
