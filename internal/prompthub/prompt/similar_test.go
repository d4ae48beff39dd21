package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// sentenceOf is a text of n words, from a number on.
func sentenceOf(from, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint("word", from+i))
	}
	return strings.Join(words, " ")
}

func TestLike(t *testing.T) {
	t.Parallel()
	runs := prompt.RunsOf
	require.InDelta(t, 1, runs("I want you — to ACT as a chef!").Like(runs("i want you to act, as a chef")), 0,
		"signs and case mean nothing")
	require.Zero(t, runs("I want you to act as a chef").Like(runs("I want you to act as a cook")),
		"short texts are only like themselves")
	require.Zero(t, runs("").Like(runs("")))
	require.Zero(t, runs("?!").Like(runs("a text")))
	// 100 words are 98 runs; half of the words shared are 48 runs of 148
	require.InDelta(t, 48.0/148, runs(sentenceOf(0, 100)).Like(runs(sentenceOf(50, 100))), 1e-9)
	require.InDelta(t, 1, runs("你是一名厨师").Like(runs("你是一名厨师")), 0)
}
