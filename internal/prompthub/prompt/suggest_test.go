package prompt_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
)

// cooksAndLawyers are twenty prompts whose words tell their tags, which are not among them.
func cooksAndLawyers() (all []prompt.Example) {
	for i := range 10 {
		all = append(all,
			prompt.NewExample(fmt.Sprint("Chef ", i), "Cook a soup of onions and carrots.", []prompt.Tag{"kitchen"}),
			prompt.NewExample(fmt.Sprint("Lawyer ", i), "Draft a contract of two parties.", []prompt.Tag{"legal", "writing"}))
	}
	return all
}

func catalog(names ...string) (all []prompt.TagInfo) {
	for _, name := range names {
		all = append(all, prompt.TagInfo{Tag: prompt.Tag(strings.ToLower(name)), DisplayName: name, Active: true})
	}
	return all
}

func tagsOf(all []prompt.TagInfo) (tags []prompt.Tag) {
	for _, t := range all {
		tags = append(tags, t.Tag)
	}
	return tags
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	known := catalog("Games", "Kitchen", "Legal", "Poetry", "Writing")
	m, trial := prompt.LearnTags(cooksAndLawyers())
	require.Equal(t, prompt.Trial{Prompts: 20, Learned: 20, Named: 0}, trial)
	suggest := func(title, text string, has ...prompt.Tag) []prompt.Tag {
		return tagsOf(m.Suggest(known, title, text, has))
	}
	require.Equal(t, prompt.Tag("kitchen"), suggest("Cook", "A soup of onions.")[0])
	require.Equal(t, []prompt.Tag{"legal", "writing", "kitchen"}, suggest("Lawyer", "Read this contract of two parties."))
	require.Equal(t, []prompt.Tag{"writing", "kitchen"}, suggest("Lawyer", "Read this contract of two parties.", "legal"), "which it has")
	require.Equal(t, prompt.Tag("games"), suggest("Games of chess", "Cook a soup of onions.")[0], "the title names it, and it was not learned")
	require.NotContains(t, suggest("Chess", "Cook a soup of onions, and play games."), prompt.Tag("games"), "what is learned comes before what a text names")

	known[1].Active = false
	require.NotContains(t, suggest("Cook", "A soup of onions."), prompt.Tag("kitchen"), "the catalog offers it no more")
	known[1].Active = true

	b, err := json.Marshal(m)
	require.NoError(t, err)
	require.NotContains(t, string(b), "onions")
	var read prompt.TagWords
	require.NoError(t, json.Unmarshal(b, &read))
	require.Equal(t, m, read)

	var none prompt.TagWords
	require.Equal(t, []prompt.Tag{"poetry", "games", "legal"}, tagsOf(none.Suggest(known, "Poetry", "Of games, not legal, in writing", nil)), "nothing learned: what they name")
	require.Empty(t, none.Suggest(known, "", "", nil))
	require.Equal(t, []prompt.Tag{"c++", "code-review"}, tagsOf(none.Suggest([]prompt.TagInfo{
		{Tag: "code-review", DisplayName: "Reviews", Active: true}, {Tag: "c++", DisplayName: "C++", Active: true},
	}, "A C++ helper", "It does code review.", nil)))
}

// TestLearnsNothing: where words tell no more than names do, nothing is kept; and a tag of few
// prompts is not learned.
func TestLearnsNothing(t *testing.T) {
	t.Parallel()
	var named []prompt.Example
	for i := range 20 {
		tag := prompt.Tag([]string{"poetry", "games", "legal", "kitchen"}[i%4])
		named = append(named, prompt.NewExample("About "+string(tag), fmt.Sprint("Text ", i), []prompt.Tag{tag}))
	}
	m, trial := prompt.LearnTags(named)
	require.Equal(t, prompt.Trial{Prompts: 20, Learned: 20, Named: 20}, trial)
	require.Equal(t, prompt.TagWords{}, m)
	m, _ = prompt.LearnTags(append(cooksAndLawyers(), prompt.NewExample("Chess", "Play.", []prompt.Tag{"games"}), prompt.NewExample("Without tags", "Cook.", nil)))
	require.Equal(t, []prompt.Tag{"kitchen"}, tagsOf(m.Suggest(catalog("Games", "Kitchen"), "Chess", "Play a soup", nil)))
	m, trial = prompt.LearnTags(nil)
	require.Equal(t, prompt.Trial{}, trial)
	require.Equal(t, prompt.TagWords{}, m)
}

// TestTriedPromptIsLeftOut: the learned words are tried by prompts as if they were new. Here the
// words of each stand in three others, which have three other tags, so they lead to those.
func TestTriedPromptIsLeftOut(t *testing.T) {
	t.Parallel()
	var all []prompt.Example
	for group := range 20 {
		var text strings.Builder
		for i := range 10 {
			fmt.Fprintf(&text, "word%d ", 10*group+i)
		}
		for _, n := range []int{0, 1, 3, 6} {
			all = append(all, prompt.NewExample("", text.String(), []prompt.Tag{prompt.Tag(fmt.Sprint("tag", (group+n)%8))}))
		}
	}
	_, trial := prompt.LearnTags(all)
	require.Equal(t, prompt.Trial{Prompts: 80}, trial)
}

// TestDamagedTagWords: what cannot have been written is passed over.
func TestDamagedTagWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"prompts":9,"tags":["a","b"],"with":[1]}`,
		`{"prompts":9,"tags":["a"],"with":[5],"words":{"1":[9,7,2],"2":[9,0],"3":[],"4":[9,-1,2]}}`,
	} {
		var m prompt.TagWords
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		m.Suggest(catalog("A", "B"), "title", "text", nil)
	}
	require.Error(t, json.Unmarshal([]byte(`{"prompts":"x"}`), new(prompt.TagWords)))
}

// TestTagWordsHaveBounds: words learned of many different prompts fit into a row.
func TestTagWordsHaveBounds(t *testing.T) {
	t.Parallel()
	var all []prompt.Example
	for i := range 1200 {
		var text strings.Builder
		words := rand.New(rand.NewPCG(uint64(i%120), uint64(i/120%5)))
		for range 100 {
			fmt.Fprintf(&text, "word%d ", words.IntN(3500))
		}
		all = append(all, prompt.NewExample("Title", text.String(), []prompt.Tag{prompt.Tag(fmt.Sprint(strings.Repeat("t", 36), i%120))}))
	}
	m, trial := prompt.LearnTags(all)
	require.Equal(t, 400, trial.Prompts, "each third")
	b, err := json.Marshal(m)
	require.NoError(t, err)
	require.Greater(t, len(b), 200<<10, "the words that fit")
	require.LessOrEqual(t, len(b), 256<<10)
}

// TestSuggestAmongRealPrompts tries what is learned from the real prompts of PROMPTS_CSV, with the
// tags that an import gives them, and from those of FABRIC: a folder with the patterns of
// github.com/danielmiessler/Fabric (data/patterns and scripts/pattern_descriptions there), with
// those 18 tags that at least nine of them have. One of three is right in nine of ten, and that
// beats the names of the tags.
func TestSuggestAmongRealPrompts(t *testing.T) {
	t.Parallel()
	try := func(t *testing.T, all []prompt.Example) {
		t.Helper()
		var sum prompt.Trial
		// each prompt is tried once, 500 at most in one run
		for i := range (len(all) + 499) / 500 {
			_, trial := prompt.LearnTags(slices.Concat(all[i:], all[:i]))
			sum = prompt.Trial{Prompts: sum.Prompts + trial.Prompts, Learned: sum.Learned + trial.Learned, Named: sum.Named + trial.Named}
		}
		share := func(n int) float64 { return float64(n) / float64(sum.Prompts) }
		t.Logf("%d prompts, %d tried: one of three tags is right for %.3f, by names alone for %.3f", len(all), sum.Prompts, share(sum.Learned), share(sum.Named))
		require.GreaterOrEqual(t, sum.Prompts, len(all))
		require.GreaterOrEqual(t, share(sum.Learned), 0.9)
		require.Greater(t, sum.Learned, sum.Named)
	}
	t.Run("prompts.chat", func(t *testing.T) {
		t.Parallel()
		var all []prompt.Example
		for _, d := range prompttest.Real(t) {
			all = append(all, prompt.NewExample(d.Title, d.Text, d.Tags))
		}
		try(t, all)
	})
	t.Run("Fabric", func(t *testing.T) {
		t.Parallel()
		dir := os.Getenv("FABRIC")
		if dir == "" {
			t.Skip("FABRIC names no folder of patterns")
		}
		b, err := os.ReadFile(filepath.Join(dir, "scripts/pattern_descriptions/pattern_descriptions.json"))
		require.NoError(t, err)
		var descriptions struct {
			Patterns []struct {
				PatternName string
				Tags        []prompt.Tag
			}
		}
		require.NoError(t, json.Unmarshal(b, &descriptions))
		used := map[prompt.Tag]int{}
		for _, p := range descriptions.Patterns {
			for i, tag := range p.Tags {
				p.Tags[i] = prompt.Tag(strings.ToLower(string(tag)))
				used[p.Tags[i]]++
			}
		}
		var all []prompt.Example
		for _, p := range descriptions.Patterns {
			tags := slices.DeleteFunc(p.Tags, func(tag prompt.Tag) bool { return used[tag] < 9 }) // 18 remain
			text, err := os.ReadFile(filepath.Join(dir, "data/patterns", p.PatternName, "system.md"))
			if err == nil && len(tags) > 0 {
				all = append(all, prompt.NewExample(strings.ReplaceAll(p.PatternName, "_", " "), string(text), tags))
			}
		}
		try(t, all)
	})
}
