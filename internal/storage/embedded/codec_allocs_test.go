//go:build !race

package embedded

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

// The race detector allocates too, so this counts without it.
func TestDecodeAllocates(t *testing.T) {
	stored := encoded(table.Key{Partition: "p|1", Row: "row"}, table.Props{
		{Name: "Title", Value: table.String("a title")},
		{Name: "Text", Value: table.String("a text")},
		{Name: "Likes", Value: table.Int32(5)},
		{Name: "At", Value: table.FromTicks(1 << 60)},
	})
	seal(packedKey(table.Key{Partition: "p|1", Row: "row"}), stored, 42)
	key := packedKey(table.Key{Partition: "p|1", Row: "row"})
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := decodeStored(key, stored); err != nil {
			t.Fatal(err)
		}
	})
	require.LessOrEqual(t, allocs, 2.0, "one for the text, one for the properties")
}
