package rowstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/rowstore"
)

// TestInstantsInKeys holds the two orders of instants, a tick apart and thousands of years, and
// their stored form.
func TestInstantsInKeys(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, "0639291312000000000", rowstore.Ascending(at))
	require.Equal(t, "2516087663999999999", rowstore.Descending(at))
	for _, later := range []time.Time{at.Add(100 * time.Nanosecond), at.AddDate(7000, 0, 0)} {
		require.Less(t, rowstore.Ascending(at), rowstore.Ascending(later))
		require.Greater(t, rowstore.Descending(at), rowstore.Descending(later))
	}
}

// TestTables: every field with a usual name names a table.
func TestTables(t *testing.T) {
	t.Parallel()
	type tables struct {
		Prefix string
		Posts  string `default:"Posts"`
		Hubs   string `table:"Groups"`
	}
	require.Equal(t, tables{"", "Posts", "Groups"}, rowstore.DefaultTables[tables]())
	of := rowstore.PrefixedTables[tables]("x")
	require.Equal(t, tables{"", "xPosts", "xGroups"}, of)
	require.Equal(t, tables{"", "yxPosts", "yxGroups"}, rowstore.PrefixTables(of, "y"))
	require.Equal(t, []string{"xPosts", "xGroups"}, rowstore.TableNames(of))
}
