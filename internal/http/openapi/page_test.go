package openapi_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/http/openapi"
)

type thing struct {
	Name  string   `json:"name"`
	Notes []string `json:"notes"`
	Count int64    `json:"count"`
	Of    *thing   `json:"of"`
}

type list struct {
	Items []thing `json:"items"`
	Next  string  `json:"next"`
}

// TestPagesEnd reads lists of things of all sizes to their end: each page is as JSON no larger than
// it may be unless it has one thing, each has one at least, and nothing is missing or there twice.
func TestPagesEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 100, 5_000, 100_000, 300_000, 600_000}), 1,
			30).Draw(t, "sizes")
		letter := rapid.SampledFrom([]string{"x", "\"", "\n", "<", "ж", "\u2028", "😀"}).Draw(t, "letter")
		var all []thing
		for i, n := range sizes {
			text := strings.Repeat(letter, n/len(letter))
			all = append(all, thing{Name: text, Count: int64(i), Notes: []string{text}, Of: &thing{Name: "part"}})
		}
		most := rapid.IntRange(1, 40).Draw(t, "limit")
		var got []int64
		for at := 0; at < len(all); {
			in := struct{ Limit int }{most}
			out, err := openapi.WithinPage(&in, func() (*struct{ Body list }, error) {
				return &struct{ Body list }{list{Items: all[at:min(at+in.Limit, len(all))]}}, nil
			})
			require.NoError(t, err)
			require.NotEmpty(t, out.Body.Items)
			var b bytes.Buffer
			require.NoError(t, huma.DefaultJSONFormat.Marshal(&b, out.Body.Items))
			if len(out.Body.Items) > 1 {
				require.LessOrEqual(t, b.Len(), openapi.MaxPage)
			}
			for _, one := range out.Body.Items {
				got = append(got, one.Count)
			}
			at += len(out.Body.Items)
		}
		for i, n := range got {
			require.EqualValues(t, i, n)
		}
		require.Len(t, got, len(all))
	})
}
