package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJudged(t *testing.T) {
	qs, err := readJudged("how do i\n\t3 2\tOne\n\t0 1\tTwo\nnothing\n")
	require.NoError(t, err)
	require.Equal(t, []question{{"how do i", map[string]float64{"One": 2.5, "Two": 0.5}}, {"nothing", map[string]float64{}}}, qs)
	for _, bad := range []string{"\t3 2\tOne\n", "a\n\t3\tOne\n", "a\n\t3 2 One\n"} {
		_, err := readJudged(bad)
		require.ErrorContains(t, err, judgedFile)
	}
}

func TestNDCG(t *testing.T) {
	all := []float64{0, 3, 1}
	require.InDelta(t, 1, ndcg([]float64{3, 1}, all), 0)
	require.InDelta(t, (1+7/1.5849625)/(7+1/1.5849625), ndcg([]float64{1, 3}, all), 1e-6)
	require.Zero(t, ndcg(nil, all))
	require.InDelta(t, 1, ndcg(nil, []float64{0, 0}), 0)
	require.Zero(t, ndcg([]float64{0}, []float64{0, 0}))
}
