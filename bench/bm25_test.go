package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestPlainBM25: words that fewer prompts have count more, and in a shorter prompt more; words that
// no prompt has count nothing; prompts without a word of the search are not found.
func TestPlainBM25(t *testing.T) {
	b := newPlainBM25([]prompt.Draft{
		{Title: "Chess", Text: "Play a game."},
		{Title: "Poker", Text: "Play a game with cards, and then one more game with more cards, in a long text."},
		{Title: "Verses", Text: "A poem."},
	})
	require.Equal(t, []string{"Chess", "Poker"}, b.find("game", 5))
	require.Equal(t, []string{"Poker", "Chess"}, b.find("GAME of cards", 5))
	require.Equal(t, []string{"Poker"}, b.find("game of cards", 1))
	require.Empty(t, b.find("nothing", 5))
	require.InDelta(t, (4+18+3)/3.0, b.average, 1e-9)
	require.Equal(t, []wordCount{{0, 1}, {1, 2}}, b.has["game"])
	require.InDelta(t, 4, b.lengths[0], 0)
	require.False(t, math.IsNaN(b.average))
}
