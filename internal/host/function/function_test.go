package function_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/function"
)

func nothing(context.Context, function.Invocation) error { return nil }

func TestCheck(t *testing.T) {
	t.Parallel()
	ok := function.Trigger{Name: "score-bucket-moves", Queue: "q", Run: nothing}
	tests := []struct {
		name     string
		triggers []function.Trigger
		want     string // part of the error; empty for none
	}{
		{"none", nil, ""},
		{"queue and timer", []function.Trigger{ok, {Name: "purge", Schedule: "0 0 3 * * *", Run: nothing}}, ""},
		{"same name", []function.Trigger{ok, ok}, "taken"},
		{
			"same name in other case",
			[]function.Trigger{ok, {Name: "SCORE-bucket-moves", Queue: "q", Run: nothing}},
			"taken",
		},
		{"neither", []function.Trigger{{Name: "a", Run: nothing}}, "either"},
		{"both", []function.Trigger{{Name: "a", Queue: "q", Schedule: "0 * * * * *", Run: nothing}}, "either"},
		{"nothing to run", []function.Trigger{{Name: "a", Queue: "q"}}, "run"},
		{"no name", []function.Trigger{{Queue: "q", Run: nothing}}, "name"},
		{"path", []function.Trigger{{Name: "api/x", Queue: "q", Run: nothing}}, "name"},
		{"reserved", []function.Trigger{{Name: "Host", Queue: "q", Run: nothing}}, "name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := function.Check(tt.triggers)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}
