package posts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/storage/table"
)

// stored returns all stored rows of a post, with all that they say but for sealed texts.
func (w *world) stored(post string) (all []string) {
	w.t.Helper()
	for row, err := range table.All(w.t.Context(), w.db, "Posts", table.Range{Partition: "p|" + post}) {
		require.NoError(w.t, err)
		for _, p := range row.Props {
			if p.Name != "sealed" {
				all = append(all, fmt.Sprint(row.Row, " ", p.Name, "=", p.Value.String()))
			}
		}
	}
	return all
}

// TestEnds: of ten posts in a hub of five that end, half of them by time and half as soon as all
// have voted, nothing is counted before the end, in answers or rows, and all five votes are then,
// each with its position.
func TestEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	h := duubletest.NewHub(t, w.posts.Hubs, w.ann, hubs.Draft{Name: "Five"})
	all := []people.Claim{w.ann}
	for i := 2; i <= 5; i++ {
		c := w.enter(i)
		w.joinHub(w.ann, c, i, h.ID)
		all = append(all, c)
	}
	var made []posts.Card
	for n := range 10 {
		slider := &posts.Slider{Text: "Tea?", EndsWhenAllVoted: n%2 == 0}
		if n%2 == 1 {
			slider.EndsAt = w.Now().Add(time.Duration(n) * time.Hour)
		}
		c, err := w.posts.Create(ctx, all[n%5],
			posts.Draft{Visibility: posts.Locked, Hubs: []string{h.ID}, Slider: slider}, "")
		require.NoError(t, err)
		require.False(t, c.End.At.IsZero())
		made = append(made, c)
	}
	newcomer := w.enter(6)
	w.joinHub(w.ann, newcomer, 6, h.ID)
	position := func(n, i int) ballot.Position { return ballot.Position((n*n + i*i) % 5) }
	look := func(n int) (ballot.Result, ballot.Result) {
		t.Helper()
		all1, voted, err := w.posts.Result(ctx, all[0], made[n].ID)
		require.NoError(t, err)
		require.True(t, voted)
		in, err := w.posts.HubResults(ctx, all[1], made[n].ID)
		require.NoError(t, err)
		require.Len(t, in, 1)
		return all1, in[0].Result
	}
	for n, c := range made {
		for i := range 5 {
			if i == 4 && n%2 == 0 {
				break // the last one ends it
			}
			_, err := w.posts.Vote(ctx, all[i], c.ID, position(n, i))
			require.NoError(t, err)
			for _, r := range resultsOf(look(n)) {
				require.Equal(t, []any{int64(i + 1), int64(0), ballot.Counts{}}, []any{r.Total, r.Counted, r.Counts})
			}
		}
	}
	for range 8 { // many messages
		w.pump(2 * time.Minute)
	}
	require.NoError(t, w.posts.Ballot.SettleAll(ctx))
	require.Empty(t, w.differences())
	for n, c := range made {
		for _, line := range w.stored(c.ID) {
			if strings.Contains(line, "k|") && !strings.Contains(line, "total_votes") {
				require.True(t, strings.HasSuffix(line, "=0"), "post %d: %s", n, line)
			}
		}
	}
	for n, c := range made {
		if n%2 == 0 {
			_, err := w.posts.Vote(ctx, all[4], c.ID, position(n, 4))
			require.NoError(t, err)
		} else {
			w.Pass(c.End.At.Sub(w.Now()))
		}
		var want ballot.Counts
		for i := range 5 {
			want[position(n, i)]++
		}
		for _, r := range resultsOf(look(n)) {
			require.Equal(t, []any{int64(5), int64(5), want}, []any{r.Total, r.Counted, r.Counts}, "post %d", n)
		}
		card, err := w.posts.Card(ctx, all[2], c.ID)
		require.NoError(t, err)
		require.True(t, card.End.Counted)
		_, err = w.posts.Vote(ctx, newcomer, c.ID, ballot.Left)
		require.Equal(t, ballot.VoteEnded, fault.CodeOf(err))
	}
	for range 8 { // many messages
		w.pump(2 * time.Minute)
	}
	require.Empty(t, w.differences())
}

func resultsOf(a, b ballot.Result) []ballot.Result { return []ballot.Result{a, b} }

// TestEndsAreChecked: which ends a post can have.
func TestEndsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	h := duubletest.NewHub(t, w.posts.Hubs, w.ann, hubs.Draft{Name: "Two"})
	w.joinHub(w.ann, w.enter(2), 2, h.ID)
	refused := func(d posts.Draft) fault.Code {
		_, err := w.posts.Create(ctx, w.ann, d, "")
		require.Error(t, err)
		return fault.CodeOf(err)
	}
	at := func(d time.Duration) posts.Draft {
		return posts.Draft{Slider: &posts.Slider{Text: "Tea?", EndsAt: w.Now().Add(d)}}
	}
	require.Empty(t, refused(at(0)))
	require.Empty(t, refused(at(posts.MaxEnd+time.Second)))
	require.Empty(t, refused(posts.Draft{Slider: &posts.Slider{Text: "Tea?", EndsWhenAllVoted: true}}))
	all := posts.Draft{
		Visibility: posts.Locked, Hubs: []string{h.ID},
		Slider: &posts.Slider{Text: "Tea?", EndsWhenAllVoted: true},
	}
	require.Equal(t, posts.HubTooSmall, refused(all))
	made, err := w.posts.Create(ctx, w.ann, at(posts.MaxEnd), "")
	require.NoError(t, err)
	require.Equal(t, w.Now().Add(posts.MaxEnd), made.Slider.EndsAt)
	require.NoError(t, w.posts.Delete(ctx, w.ann, made.ID))
	w.Pass(posts.MaxEnd)
	w.purge()
	w.pump(time.Minute)
	require.Empty(t, w.stored(made.ID), "an end leaves nothing of a post that has gone")
}
