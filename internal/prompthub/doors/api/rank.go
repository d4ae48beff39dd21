package api

import (
	"context"
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) ranks() {
	route(a, reader, huma.Operation{
		OperationID: "get-rank", Method: http.MethodGet, Path: "/prompts/{id}/rank", Tags: []string{"prompts"},
		Summary: "Why a prompt stands where it does",
		Description: "The numbers that GET /prompts orders by, what they are made of, and how. None of them changes as time passes: " +
			"only votes move a prompt.",
		Errors: []int{http.StatusNotFound},
	}, a.rank)
}

// A Rank is what orders of public prompts make of one.
type Rank struct {
	MostLiked int32      `json:"mostLiked" doc:"likes - dislikes" example:"10"`
	Hot       float64    `json:"hot" doc:"The decades of the score and the weeks of its making together" example:"99.571429"`
	Best      float64    `json:"best" doc:"The share of likes that it has at least, with a confidence of 95 %, by its votes so far; with fewer than 3 votes it follows those that have them, by hot" example:"0.72246"`
	Trending  float64    `json:"trending" doc:"Likes less dislikes, of which one counts twice as much as one of the week before, as a logarithm: one more is twice as many likes, or as many a week later. 0 without votes" example:"101.893357"`
	Inputs    RankInputs `json:"inputs" doc:"What the numbers are made of"`
	Formulas  Formulas   `json:"formulas" doc:"How they are made"`
}

// RankInputs are what a rank is made of.
type RankInputs struct {
	Likes     int32  `json:"likes" doc:"All of them" example:"10"`
	Dislikes  int32  `json:"dislikes" doc:"All of them" example:"0"`
	Weight    string `json:"weight" doc:"The likes less the dislikes, of which each counts 2 to the power of the weeks from 2024-01-01 to the hour when it was cast; a number in a text, as it may be larger than numbers of JSON readers" example:"4.709304e+30"`
	CreatedAt string `json:"createdAt" format:"date-time" doc:"UTC" example:"2025-11-21T00:00:00.000Z"`
}

// Formulas say how a rank is made.
type Formulas struct {
	Hot  string `json:"hot" doc:"In one line" example:"sign(s)·log10(max(|s|, 1)) + (createdAt − 2024-01-01) / 1 week, s = likes − dislikes"`
	Best string `json:"best" doc:"In one line" example:"lower bound of Wilson's interval for likes / (likes + dislikes), z = 1.96"`

	Trending string `json:"trending" doc:"In one line" example:"sign(w)·log2(max(|w|, 1)), w = weight"`
}

const (
	hotFormula  = "sign(s)·log10(max(|s|, 1)) + (createdAt − 2024-01-01) / 1 week, s = likes − dislikes; a place is 1/20"
	bestFormula = "lower bound of Wilson's interval for likes / (likes + dislikes), z = 1.96; a place is 1/100"

	trendingFormula = "sign(w)·log2(max(|w|, 1)), w = weight = Σ ±2^((hour of the vote − 2024-01-01) / 1 week); a place is 1/7"
)

type rankOutput struct {
	Body Rank
}

func (a *api) rank(ctx context.Context, c call, in *ByID) (*rankOutput, error) {
	id, err := in.prompt()
	if err != nil {
		return nil, err
	}
	v, err := a.Service.Get(ctx, c.User, id)
	if err != nil {
		return nil, err
	}
	return &rankOutput{Rank{
		MostLiked: v.Score(), Hot: rounded(prompt.Hot(v.Tally, v.CreatedAt)), Best: rounded(prompt.Best(v.Tally)),
		Trending: rounded(prompt.Trending(v.Tally)),
		Inputs: RankInputs{
			Likes: v.Likes, Dislikes: v.Dislikes, Weight: v.Weight.Likes(),
			CreatedAt: httpjson.FormatTime(v.CreatedAt),
		},
		Formulas: Formulas{Hot: hotFormula, Best: bestFormula, Trending: trendingFormula},
	}}, nil
}

// rounded returns a number with six places.
func rounded(x float64) float64 { return math.Round(x*1e6) / 1e6 }
