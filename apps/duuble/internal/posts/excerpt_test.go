package posts_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/storage/table"
)

// TestExcerpts: lists have the beginning of a text, which is no longer than it may be and cuts no
// character in two, and say whether there is more; the post has all of it. That is so of texts that
// an older program stored in one row, too.
func TestExcerpts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var texts []string
	for _, letter := range []string{"x", "ж", "字", "𝄞", "\n"} {
		for _, units := range []int{1, 499, 500, 501, 502, 31_999, 32_000, 32_001, 60_000} {
			texts = append(texts, "x"+strings.Repeat(letter, (units-1)/len(utf16.Encode([]rune(letter)))))
		}
	}
	ids := map[string]string{}
	for i, text := range texts {
		made, err := w.posts.Create(t.Context(), w.ann,
			posts.Draft{Article: &posts.Article{Kind: "text", Text: text}}, "")
		require.NoError(t, err)
		require.Equal(t, text, made.Article.Text)
		ids[made.ID] = text
		if i%2 == 1 {
			w.storeAsBefore(made.ID, text)
		}
	}
	after, seen := "", 0
	for {
		page, err := w.posts.Newest(t.Context(), people.Claim{}, after, 10)
		require.NoError(t, err)
		for _, card := range page.Cards {
			text := ids[card.ID]
			units := len(utf16.Encode([]rune(text)))
			what := fmt.Sprintf("%.4q, %d units", text, units)
			require.Equal(t, units > posts.MaxExcerpt, card.Article.More, what)
			require.True(t, strings.HasPrefix(text, card.Article.Text), what)
			got := len(utf16.Encode([]rune(card.Article.Text)))
			require.LessOrEqual(t, got, posts.MaxExcerpt, what)
			require.GreaterOrEqual(t, got, min(units, posts.MaxExcerpt-1), what)
			whole, err := w.posts.Card(t.Context(), people.Claim{}, card.ID)
			require.NoError(t, err)
			require.Equal(t, text, whole.Article.Text, what)
			require.False(t, whole.Article.More, what)
			seen++
		}
		if after = page.Next; after == "" {
			break
		}
	}
	require.Equal(t, len(texts), seen)
}

// storeAsBefore stores the article of a post as programs did that kept a text in one row.
func (w *world) storeAsBefore(id, text string) {
	w.t.Helper()
	main, err := w.db.Get(w.t.Context(), "Posts", table.Key{Partition: "p|" + id, Row: "!main"})
	require.NoError(w.t, err)
	props := table.Props{{Name: "kind", Value: main.Props.Get("kind")}}
	for i, rest := 0, text; rest != ""; i++ {
		letters := []rune(rest)
		part := string(letters[:min(len(letters), 16_000)])
		props = append(props, table.Prop{Name: fmt.Sprint("text", i), Value: table.String(part)})
		rest = rest[len(part):]
	}
	_, err = w.db.Write(w.t.Context(), "Posts",
		table.Op{Kind: table.Replace, Row: table.Row{Key: main.Key, ETag: main.ETag, Props: props}})
	require.NoError(w.t, err)
	if _, err := w.db.Get(w.t.Context(), "Posts", table.Key{Partition: "p|" + id, Row: "text"}); err == nil {
		_, err = w.db.Write(w.t.Context(), "Posts",
			table.Op{
				Kind: table.Delete,
				Row:  table.Row{Key: table.Key{Partition: "p|" + id, Row: "text"}, ETag: table.Any},
			})
		require.NoError(w.t, err)
	}
}
