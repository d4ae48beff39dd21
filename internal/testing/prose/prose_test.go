package prose_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// dialect finds what plain English says otherwise: name the actor (caller, author, job) and say
// must, after, next to, up to n.
var dialect = map[string]*regexp.Regexp{
	"nobody":  regexp.MustCompile(`(?i)\bnobody\b`),
	"beside":  regexp.MustCompile(`(?i)\bbeside\b`),
	"behind":  regexp.MustCompile(`(?i)\bbehind\b`),
	"is to":   regexp.MustCompile(`(?i)\b(is|are|was|were) to\b`),
	"so many": regexp.MustCompile(`(?i)\bso many\b`),
	"who, what": regexp.MustCompile(
		`(?im)(^|[.;:,(] +|\b(and|or|for|of|by|to|that|with|from|as|than|but|where|if|in) )` +
			`(who|what|whoever|whatever) (is|are|was|has|had|have|may|can|must|does|do|did|will|would|[a-z]+s|[a-z]+ed)\b`),
}

// most is how often each may stand in each kind of text. An author who removes one lowers the
// number.
var most = map[string]map[string]int{
	"documents": {"behind": 4, "who, what": 3},
	"the API":   {"who, what": 1},
}

// TestDialectFalls counts the words of the dialect.
func TestDialectFalls(t *testing.T) {
	t.Parallel()
	inputs.Files(t, ".")
	root, err := inputs.Root()
	require.NoError(t, err)
	texts := make(map[string][]passage)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") ||
				slices.Contains([]string{"node_modules", "testdata", "bin", "dist"}, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go":
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, c := range f.Comments {
				texts["comments"] = append(texts["comments"], passage{path, c.Text()})
			}
		case ".md":
			return read(texts, "documents", path)
		case ".html":
			return read(texts, "pages", path)
		}
		return nil
	}))
	require.NoError(t, read(texts, "the API",
		filepath.Join(root, "internal/prompthub/doors/api/testdata/openapi.json")))
	for kind, all := range texts {
		for word, pattern := range dialect {
			var found []string
			for _, p := range all {
				for _, at := range pattern.FindAllStringIndex(p.text, -1) {
					found = append(found, p.file+": "+
						strings.ReplaceAll(p.text[max(at[0]-30, 0):min(at[1]+30, len(p.text))], "\n", " "))
				}
			}
			assert.Equal(t, most[kind][word], len(found),
				"%q in %s: more than there were, write it in plain English; fewer, lower the number here:\n%s", word,
				kind, strings.Join(found, "\n"))
		}
	}
}

// A passage is a comment or a document.
type passage struct{ file, text string }

func read(texts map[string][]passage, kind, path string) error {
	b, err := os.ReadFile(path)
	texts[kind] = append(texts[kind], passage{path, string(b)})
	return err
}
