package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLiked: no member likes the same one twice, or a neighbor, with whom they match from the
// beginning; one like in ten answers another one.
func TestLiked(t *testing.T) {
	t.Parallel()
	const people, likes = 1000, 50_000
	seen := map[[2]int]bool{}
	answered := 0
	for n := answers; n < answers+likes; n++ {
		from, to := liked(n, people)
		require.False(t, seen[[2]int{from, to}], "like %d comes twice", n)
		require.NotContains(t, []int{from, from ^ 1}, to)
		seen[[2]int{from, to}] = true
		if seen[[2]int{to, from}] {
			answered++
		}
	}
	require.Equal(t, likes/10-4, answered) // the first four answer likes of before
}
