package promptdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// rankKeys returns the keys of a prompt in the orders hot and best.
func rankKeys(t require.TestingT, p prompt.Prompt) (hot, best table.Key) {
	db := promptdb.New(promptdb.Config{Tables: promptdb.DefaultTables()})
	for _, row := range db.IndexRows(p) {
		switch row.Table {
		case "PublicPromptsHotIndex":
			hot = row.Row.Key
		case "PublicPromptsBestIndex":
			best = row.Row.Key
		}
	}
	require.NotEmpty(t, hot)
	require.NotEmpty(t, best)
	return hot, best
}

func withVotes(t require.TestingT, at time.Time, likes, dislikes int32) prompt.Prompt {
	id, err := prompt.NewID(at, zeros{})
	require.NoError(t, err)
	return prompt.Prompt{
		ID: id, AuthorID: "ann", CreatedAt: at, Tally: prompt.Tally{Likes: likes, Dislikes: dislikes},
		Draft: prompt.Draft{Title: "T", Visibility: prompt.Public},
	}
}

func TestHotKeys(t *testing.T) {
	t.Parallel()
	at := time.Unix(1763683200, 0)
	for _, tt := range []struct {
		likes, dislikes int32
		weeks           int
		partition, row  string
	}{
		{0, 0, 0, "pub|hot|999902", "0999998029"},
		{10, 0, 0, "pub|hot|999901", "0999998009"},
		{0, 0, 1, "pub|hot|999901", "0999998009"},
		{100, 0, 0, "pub|hot|999900", "0999997989"},
		{0, 10, 0, "pub|hot|999903", "0999998049"},
	} {
		hot, best := rankKeys(t, withVotes(t, at.AddDate(0, 0, 7*tt.weeks), tt.likes, tt.dislikes))
		require.Equal(t, tt.partition, hot.Partition)
		require.Equal(t, tt.row, hot.Row[:10])
		require.Equal(t, tt.likes+tt.dislikes < 3, best.Partition[:10] == "pub|best|h")
	}
}

// TestMovesPerThousandLikes counts how often rows change their place on the way to a thousand
// likes.
func TestMovesPerThousandLikes(t *testing.T) {
	t.Parallel()
	at := time.Unix(1763683200, 0)
	var hotMoves, bestMoves, buckets int
	hotWas, bestWas := rankKeys(t, withVotes(t, at, 0, 0))
	for likes := range int32(1000) {
		hot, best := rankKeys(t, withVotes(t, at, likes+1, 0))
		if hot != hotWas {
			hotMoves++
		}
		if best != bestWas {
			bestMoves++
		}
		if hot.Partition != hotWas.Partition || best.Partition != bestWas.Partition {
			buckets++
		}
		hotWas, bestWas = hot, best
	}
	require.Equal(t, 49, hotMoves)
	require.Equal(t, 34, bestMoves, "with 2 as hot moves, with 3 to those with votes enough, then 32 times")
	require.Equal(t, 8, buckets, "the others are one batch in one partition")
}

// TestRankKeysKeepTheOrder holds that ascending keys are descending numbers, across partitions too,
// from the first time that an id can have to the last, and that every key tells its prompt.
func TestRankKeysKeepTheOrder(t *testing.T) {
	t.Parallel()
	draw := func(t *rapid.T, name string) prompt.Prompt {
		at := time.UnixMilli(rapid.OneOf(rapid.Int64Range(0, 253402300799999),
			rapid.Int64Range(1.7e12, 1.8e12)).Draw(t, name+" made"))
		votes := rapid.OneOf(rapid.Int32Range(0, 5), rapid.Int32Range(0, 1<<30))
		return withVotes(t, at, votes.Draw(t, name+" likes"), votes.Draw(t, name+" dislikes"))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		hotA, bestA := rankKeys(t, a)
		hotB, bestB := rankKeys(t, b)
		keysSort(t, "PublicPromptsHotIndex", []prompt.Prompt{a, b}, []table.Key{hotA, hotB}, hotness(a) > hotness(b))
		keysSort(t, "PublicPromptsBestIndex", []prompt.Prompt{a, b}, []table.Key{bestA, bestB},
			a.ID != b.ID && better(a, b) < 0)
	})
}

// keysSort holds that the keys of two prompts tell whose they are, and that the first is the lesser
// one where it must be.
func keysSort(t require.TestingT, name string, of []prompt.Prompt, keys []table.Key, ascending bool) {
	db := promptdb.New(promptdb.Config{Tables: promptdb.DefaultTables()})
	for i, p := range of {
		require.Equal(t, p.ID, db.OwnerOf(name, keys[i]))
	}
	if ascending {
		require.Less(t, keys[0].Row, keys[1].Row)
		require.LessOrEqual(t, keys[0].Partition, keys[1].Partition)
	}
}

// TestOrdersStayAsTimePasses walks all orders page by page, finds each public prompt once, and the
// same a year later.
func TestOrdersStayAsTimePasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []prompt.Prompt
	for i := range 40 {
		p := w.add("ann", draft(fmt.Sprint(i), "text"))
		for v := range i % 7 {
			value := prompt.Like
			if v%3 == 2 {
				value = prompt.Dislike
			}
			w.vote(prompt.UserID(fmt.Sprint("voter", v)), p.ID, value)
		}
		w.clock.Advance(26 * time.Hour)
		all = append(all, p)
	}
	w.run()
	all = w.truth(all)
	for range 2 {
		for _, order := range []promptdb.Order{promptdb.MostLiked, promptdb.Hot, promptdb.Best, promptdb.Trending} {
			var want []string
			for _, p := range sorted(all, order) {
				want = append(want, p.Title)
			}
			for _, limit := range []int{1, 7, 100} {
				require.Equal(t, want, w.titles(limit, func(after string) (promptdb.Page, error) {
					return w.Ranked(t.Context(), order, after, limit)
				}), "%s, limit %d", order, limit)
			}
		}
		w.clock.Advance(365 * 24 * time.Hour)
	}
}

// trendOf returns the key of a prompt in the order trending.
func trendOf(t require.TestingT, p prompt.Prompt) table.Key {
	db := promptdb.New(promptdb.Config{Tables: promptdb.DefaultTables()})
	for _, row := range db.IndexRows(p) {
		if row.Table == "PublicPromptsTrendingIndex" {
			return row.Row.Key
		}
	}
	require.Fail(t, "no row")
	return table.Key{}
}

// casts returns a tally of votes.
func casts(all ...prompt.Cast) (t prompt.Tally) {
	for _, c := range all {
		t = t.Add(prompt.Cast{}, c)
	}
	return t
}

func cast(v prompt.Vote, at time.Time) prompt.Cast { return prompt.Cast{Vote: v, At: at} }

func TestTrendingKeys(t *testing.T) {
	t.Parallel()
	at := time.Unix(1704067200, 0).Add(99 * 7 * 24 * time.Hour) // ninety-nine weeks: unit 99, place 693
	for name, tt := range map[string]struct {
		tally          prompt.Tally
		partition, row string
	}{
		"no votes":             {prompt.Tally{}, "pub|trending|9998", "50000"},
		"one":                  {casts(cast(1, at)), "pub|trending|9899", "49307"},
		"two":                  {casts(cast(1, at), cast(1, at)), "pub|trending|9898", "49300"},
		"one a week later":     {casts(cast(1, at.AddDate(0, 0, 7))), "pub|trending|9898", "49300"},
		"one a day later":      {casts(cast(1, at.AddDate(0, 0, 1))), "pub|trending|9899", "49306"},
		"a like and a dislike": {casts(cast(1, at), cast(-1, at)), "pub|trending|9998", "50000"},
		"a dislike":            {casts(cast(-1, at)), "pub|trending|9999", "50693"},
		"a newer dislike":      {casts(cast(1, at), cast(-1, at.AddDate(0, 0, 7))), "pub|trending|9999", "50693"},
		"less than a first vote": {
			casts(cast(1, time.Unix(1704067200+3600, 0)), cast(-1, time.Unix(1704067200, 0))),
			"pub|trending|9998", "50000",
		},
	} {
		p := withVotes(t, at, 0, 0)
		p.Tally = tt.tally
		key := trendOf(t, p)
		require.Equal(t, tt.partition, key.Partition, name)
		require.Equal(t, tt.row, key.Row[:5], name)
	}
}

// TestTrendingKeysKeepTheOrder holds that ascending keys are descending numbers, across partitions
// too, from the first vote that weighs to the latest time of clocks, and that every key tells its
// prompt.
func TestTrendingKeysKeepTheOrder(t *testing.T) {
	t.Parallel()
	draw := func(t *rapid.T, name string) prompt.Prompt {
		p := withVotes(t, time.UnixMilli(rapid.Int64Range(1.7e12, 1.8e12).Draw(t, name+" made")), 0, 0)
		for range rapid.IntRange(0, 6).Draw(t, name+" votes") {
			at := time.UnixMilli(rapid.OneOf(rapid.Int64Range(0, 253402300799999),
				rapid.Int64Range(1.7e12, 1.8e12)).Draw(t, "at"))
			p.Tally = p.Add(prompt.Cast{}, cast(rapid.SampledFrom([]prompt.Vote{-1, 1, 1}).Draw(t, "vote"), at))
		}
		return p
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		keysSort(t, "PublicPromptsTrendingIndex", []prompt.Prompt{a, b}, []table.Key{trendOf(t, a), trendOf(t, b)},
			a.ID != b.ID && trendier(a, b) < 0)
	})
}

// TestVotesTakenBackLeaveNothing: a vote that is changed or taken back weeks later takes off its
// whole weight, in any order of votes of others, and an edit keeps the place.
func TestVotesTakenBackLeaveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, untouched := w.add("ann", draft("One", "text")), w.add("ann", draft("Other", "text"))
	w.vote("early", p.ID, prompt.Like)
	w.run()
	before := w.truth([]prompt.Prompt{p})[0]
	require.NotEmpty(t, before.Weight)
	for i, v := range []prompt.Vote{prompt.Like, prompt.Dislike, prompt.Like, prompt.None} {
		w.clock.Advance(40 * time.Hour)
		for _, voter := range []prompt.UserID{"vera", "will", "zoe"} {
			w.vote(voter, p.ID, v)
			got, err := w.Vote(t.Context(), voter, p.ID, v)
			require.NoError(t, err)
			shown, err := w.Get(t.Context(), "bob", p.ID)
			require.NoError(t, err)
			require.Equal(t, shown.Tally, got, "what is answered is what is read")
		}
		w.run()
		w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Text += "." })
		w.run()
		w.check()
		now := w.truth([]prompt.Prompt{p})[0]
		require.Equal(t, i == 3, now.Weight == before.Weight)
		first := w.titles(10, func(after string) (promptdb.Page, error) {
			return w.Ranked(t.Context(), promptdb.Trending, after, 10)
		})[0]
		require.Equal(t, map[bool]string{true: untouched.Title, false: p.Title}[v == prompt.Dislike], first)
	}
	require.Equal(t, before.Tally, w.truth([]prompt.Prompt{p})[0].Tally)
}

// TestOrderOfTwoNeedsAVote: with time alone nothing moves; a like of today outdoes two of a
// fortnight ago.
func TestOrderOfTwoNeedsAVote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, late := w.add("ann", draft("Old", "text")), w.add("ann", draft("Late", "text"))
	w.vote("vera", old.ID, prompt.Like)
	w.vote("will", old.ID, prompt.Like)
	list := func() []string {
		w.run()
		return w.titles(1, func(after string) (promptdb.Page, error) {
			return w.Ranked(t.Context(), promptdb.Trending, after, 1)
		})
	}
	require.Equal(t, []string{"Old", "Late"}, list())
	w.clock.Advance(14 * 24 * time.Hour)
	require.Equal(t, []string{"Old", "Late"}, list())
	w.vote("vera", late.ID, prompt.Like)
	require.Equal(t, []string{"Late", "Old"}, list())
	w.clock.Advance(10 * 365 * 24 * time.Hour)
	require.Equal(t, []string{"Late", "Old"}, list())
	w.check()
}

// TestForgedRanks holds that a text that is no position of an order is refused.
func TestForgedRanks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hot, best := rankKeys(t, withVotes(t, time.Unix(1763683200, 0), 5, 0))
	for _, after := range []string{
		"x", "|", hot.Row, best.Row, "100000" + hot.Row[10:], "00000" + hot.Row[10:],
		"-1000" + hot.Row[10:], "+0000" + hot.Row[10:],
	} {
		_, err := w.Ranked(t.Context(), promptdb.Trending, after, 5)
		require.ErrorContains(t, err, "the cursor is not one that this list gave out", after)
	}
	for _, order := range []promptdb.Order{promptdb.Hot, promptdb.Best} {
		for _, after := range []string{
			"x", "|", "h", "h|", "101" + best.Row[3:], "-01" + best.Row[3:],
			"+79" + best.Row[3:], "h" + best.Row, "9999999999999999999" + hot.Row[10:], "00" + hot.Row,
		} {
			_, err := w.Ranked(t.Context(), order, after, 5)
			require.ErrorContains(t, err, "the cursor is not one that this list gave out", "%s %q", order, after)
		}
	}
}

func (w *world) all(name string) (rows []table.Row) {
	w.t.Helper()
	for row, err := range table.All(w.t.Context(), w.store, name, table.Range{}) {
		require.NoError(w.t, err)
		rows = append(rows, row)
	}
	return rows
}
