package git_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/git"
)

// library returns a world with skills of five files each, 20 kB together, as a collection has them.
func library(skills int) *world {
	w := newWorld()
	files := map[string]file{"README.md": {content: "skills\n"}, ".claude-plugin/marketplace.json": {content: "{}\n"}}
	for i := range skills {
		plugin := fmt.Sprintf("plugins/skill-%d/", i)
		files[plugin+"plugin.json"] = file{content: fmt.Sprintf(`{"name": "skill-%d", "version": "1.0.0"}`, i)}
		for n, name := range []string{"SKILL.md", "references/api.md", "references/more.md", "scripts/run.sh"} {
			var text strings.Builder
			for k := range 80 {
				fmt.Fprintf(&text, "Line %d of file %d: %x says what to do with %d.\n", k, n, i*k*7919, i+k)
			}
			files[plugin+fmt.Sprintf("skills/skill-%d/", i)+name] = file{text.String(), n == 3}
		}
	}
	w.commit(main, files)
	return w
}

// BenchmarkDepth1 packs 500 skills at depth 1.
func BenchmarkDepth1(b *testing.B) {
	w := library(500)
	body := request("want "+w.refs[main].String(), "deepen 1")
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		q, err := git.ReadRequest(strings.NewReader(body))
		require.NoError(b, err)
		parts, err := q.Answer(b.Context(), w)
		require.NoError(b, err)
		size = 0
		for _, part := range parts {
			size += len(part)
		}
	}
	b.ReportMetric(float64(size), "bytes")
	b.ReportMetric(float64(len(w.trees)+len(w.blobs)+1), "objects")
}
