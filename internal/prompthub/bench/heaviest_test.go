package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeaviest has the search for the requests that cost most go on for a moment, so that it keeps
// working: what it finds depends on the time that it has. Its errors about bounds are not asked
// about here, where other tests run at the same time.
func TestHeaviest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	binary, clean, err := build(t.Context())
	require.NoError(t, err)
	defer clean()
	var out strings.Builder
	_ = heaviest(t.Context(), options{heaviest: 3 * time.Second, seed: 1}, binary, &out)
	require.Contains(t, out.String(), "201:", "something was stored: %s", &out)
	require.Contains(t, out.String(), "200:", "and read")
	require.Contains(t, out.String(), "| `-try '{\"shape\":")
	require.NotContains(t, out.String(), " 0:", "every request was answered")
}

func TestHeapLog(t *testing.T) {
	h := new(heapLog)
	for _, part := range []string{"gc 1 @0.1s 2%: 0.1+1+0 ms clock, 0.1+0/1/2+0 ms cpu, 4->5->", "3 MB, 8 MB goal, 0 MB stacks, 0 MB globals, 2 P\nan error\n"} {
		_, err := h.Write([]byte(part))
		require.NoError(t, err)
	}
	n, live := h.last()
	require.Equal(t, []int{1, 3}, []int{n, live})
}
