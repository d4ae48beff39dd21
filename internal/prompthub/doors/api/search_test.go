package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestHostileSearches holds that no search answers anything but the prompts that match it, or 400
// or 422.
func TestHostileSearches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	ann.create("Plain title", "text")
	ann.create("Other words or more", "image")
	ann.create("שלום עולם", "text")
	ann.create("C++ and C# on .NET", "text")
	ann.do(http.MethodPost, prompts, `{"title":"Plain private secret","text":"X","tags":["text"]}`).is(201)
	tests := []struct {
		name, query string
		titles      []string // nil: refused, or nothing is found
	}{
		{"a word of 10,000 characters", "q=" + strings.Repeat("a", 10_000), nil},
		{"1,000 words", "q=" + strings.Repeat("plain+", 1000), nil},
		{"200 characters of one word", "q=" + strings.Repeat("a", 200), []string{}},
		{"many words", "q=" + strings.TrimSuffix(strings.Repeat("p+", 100), "+"), nil},
		{"a tag of 10,000 characters", "tag=" + strings.Repeat("a", 10_000), nil},
		{
			"1,000 tags", "tag=" + strings.Repeat("text,", 1000),
			[]string{"Plain title", "שלום עולם", "C++ and C# on .NET"},
		},
		{"1,000 different tags", "tag=" + numbered(1000), nil},
		{"single quote", "q=" + url.QueryEscape("plain' or 'a' eq 'a"), []string{"Plain title"}},
		{"end of a filter", "q=" + url.QueryEscape("' or PartitionKey ne '"), []string{"C++ and C# on .NET"}},
		{"quote in a tag", "tag=" + url.QueryEscape("text' or '1' eq '1"), nil},
		{"the word or", "q=or", []string{"Other words or more"}},
		{"a phrase with or", "q=" + url.QueryEscape(`"plain or words"`), []string{}},
		{"double quotes", "q=" + url.QueryEscape(`"plain title"`), []string{"Plain title"}},
		{"NUL", "q=%00", nil},
		{"NUL inside", "q=pla%00in", nil},
		{"NUL in a tag", "tag=te%00xt", nil},
		{"key characters", "q=" + url.QueryEscape(`/\#?%|`), nil},
		{"a key", "q=" + url.QueryEscape("q|plain"), []string{"Plain title"}},
		{"a row key", "q=" + url.QueryEscape("!mine|3155"), nil},
		{"key characters in a tag", "tag=" + url.QueryEscape("t|text"), nil},
		{"a path in a tag", "tag=" + url.QueryEscape("../text"), nil},
		{"right to left", "q=" + url.QueryEscape("שלום"), []string{"שלום עולם"}},
		{"right-to-left override", "q=" + url.QueryEscape("\u202eplain"), []string{"Plain title"}},
		{"zero width", "q=" + url.QueryEscape("pl\u200bain"), []string{"Plain title"}},
		{"a surrogate in UTF-8", "q=%ed%a0%80", nil},
		{"half a character", "q=%e2%82", nil},
		{"overlong", "q=%c0%af", nil},
		{"as an escape of JSON", "q=" + url.QueryEscape(`\ud800`), nil},
		{"percent signs", "q=" + url.QueryEscape("%27%25"), nil},
		{"wild cards", "q=" + url.QueryEscape("*"), nil},
		{"symbols of words", "q=" + url.QueryEscape("c++ .net"), []string{"C++ and C# on .NET"}},
		{
			"white space only", "q=" + "++",
			[]string{"Plain title", "Other words or more", "שלום עולם", "C++ and C# on .NET"},
		},
		{"a private title", "q=secret", []string{}},
		{"given twice", "q=plain&q=title", []string{"Plain title"}},
	}
	for _, tt := range tests {
		for _, path := range []string{prompts + "?", prompts + "?sort=most-liked&"} {
			t.Run(tt.name+" "+path, func(t *testing.T) {
				t.Parallel()
				a := w.on(t).as("Bob").get(path + tt.query)
				require.True(t, utf8.ValidString(a.body))
				require.Less(t, len(a.body), 4000)
				if a.status != http.StatusOK {
					require.Contains(t, []int{400, 422}, a.status, a.body)
					require.Nil(t, tt.titles, a.body)
					return
				}
				require.ElementsMatch(t, tt.titles, a.titles(), fmt.Sprintf("%.200s", a.body))
			})
		}
	}
}

func numbered(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("tag-%d", i)
	}
	return strings.Join(names, ",")
}

// TestSearchInTexts finds a word that no title has, and tells where; in=title looks at titles
// alone, and the cursor of one is none of the other.
func TestSearchInTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	for _, title := range []string{"Needles", "Second", "Third"} {
		ann.do(http.MethodPost, prompts,
			fmt.Sprintf(`{"title":%q,"text":"Look for the needle in the haystack.","visibility":"public"}`, title)).is(
			201)
	}
	w.drain()
	for _, sort := range []string{"newest", "most-liked"} {
		path := prompts + "?limit=2&sort=" + sort + "&q="
		found := ann.do(http.MethodGet, path+"haystack+needle", "").is(200)
		list := found.list()
		require.Len(t, list.Items, 2, sort)
		require.NotEmpty(t, list.NextCursor)
		for _, p := range list.Items {
			require.Equal(t, "text", p.FoundIn)
			require.Equal(t, "Look for the needle in the haystack.", p.Snippet)
			require.Empty(t, p.Text)
		}
		rest := ann.do(http.MethodGet, path+"haystack+needle&cursor="+url.QueryEscape(list.NextCursor),
			"").is(200).list()
		require.Len(t, rest.Items, 1)
		ann.do(http.MethodGet, path+"haystack+needle&in=title&cursor="+url.QueryEscape(list.NextCursor), "").is(400)
		require.Equal(t, "title", ann.do(http.MethodGet, path+"needles&verbatim=true",
			"").is(200).list().Items[0].FoundIn)
		require.Empty(t, ann.do(http.MethodGet, path+"haystack&in=title", "").is(200).list().Items)
		alone := ann.do(http.MethodGet, path+"needle&in=title", "").is(200).list()
		require.Len(t, alone.Items, 1)
		require.Equal(t, "title", alone.Items[0].FoundIn)
	}
	ann.do(http.MethodGet, prompts+"?q=needle&in=tags", "").is(422)
}

// TestSearchWithASlip tells which words were searched for in place of one that no prompt has, on
// each page, and not if the words count as they are.
func TestSearchWithASlip(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	for _, title := range []string{"Linux terminal", "Terminal of an airport"} {
		ann.do(http.MethodPost, prompts,
			fmt.Sprintf(`{"title":%q,"text":"A text.","visibility":"public"}`, title)).is(201)
	}
	w.drain()
	_, err := w.db.CountTags(t.Context())
	require.NoError(t, err)
	path := prompts + "?limit=1&q=terminl"
	for _, fields := range []string{"", "&fields=text"} {
		first := ann.do(http.MethodGet, path+fields, "").is(200)
		require.Contains(t, first.body, `"understood":[{"word":"terminl","as":["terminal"],"instead":true}]`)
		next := ann.do(http.MethodGet, path+fields+"&cursor="+url.QueryEscape(first.list().NextCursor), "").is(200)
		require.Contains(t, next.body, `"understood":[{"word":"terminl","as":["terminal"],"instead":true}]`)
		require.ElementsMatch(t, []string{"Linux terminal", "Terminal of an airport"},
			append(first.titles(), next.titles()...))
	}
	require.NotContains(t, ann.do(http.MethodGet, path+"&verbatim=true", "").is(200).body, "erminal")
	require.Contains(t, ann.do(http.MethodGet, prompts+"?q=terminals", "").is(200).body, "Linux terminal", "a plural")
	require.NotContains(t, ann.do(http.MethodGet, prompts+"?q=terminals&verbatim=true", "").is(200).body,
		"Linux terminal")
}
