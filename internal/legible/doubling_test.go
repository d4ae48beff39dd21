package legible_test

import (
	"testing"

	"prompthub/internal/legible"
	"prompthub/internal/testing/doubling"
)

func text(call func(string)) func(string) func() {
	return func(s string) func() { return func() { call(s) } }
}

func TestDoubling(t *testing.T) {
	funcs := []doubling.Func{
		{Name: "Invisible", With: text(func(s string) {
			for range legible.Invisible(s) {
				continue
			}
		})},
		{Name: "Count", With: text(func(s string) { legible.Count(s) })},
		{Name: "Visible", With: text(func(s string) { legible.Visible(s) })},
		{Name: "Line", With: text(func(s string) { legible.Line(s) })},
		{Name: "Name", With: text(func(s string) { legible.Name(s) })},
		{Name: "Clean", With: text(func(s string) { legible.Clean(s) })},
	}
	doubling.Listed(t, funcs, nil)
	doubling.Check(t, funcs)
}
