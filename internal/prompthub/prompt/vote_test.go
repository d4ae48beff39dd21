package prompt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

var votes = []prompt.Vote{prompt.Dislike, prompt.None, prompt.Like}

func TestVoteRoundTrip(t *testing.T) {
	t.Parallel()
	require.Equal(t, []prompt.Vote{-1, 0, 1}, votes, "the numbers are stored")
	for i, word := range []string{"dislike", "none", "like"} {
		require.Equal(t, word, votes[i].String())
		got, ok := prompt.ParseVote(word)
		require.True(t, ok)
		require.Equal(t, votes[i], got)
	}
	for _, s := range []string{"", "Like", " like", "up", "1", "0"} {
		got, ok := prompt.ParseVote(s)
		require.False(t, ok, s)
		require.Equal(t, prompt.None, got)
	}
}

func TestTallyAdd(t *testing.T) {
	t.Parallel()
	start := prompt.Tally{Likes: 5, Dislikes: 8}
	require.Equal(t, int32(-3), start.Score())
	tests := []struct {
		was, now prompt.Vote
		want     prompt.Tally
	}{
		{prompt.None, prompt.None, start},
		{prompt.Like, prompt.Like, start},
		{prompt.Dislike, prompt.Dislike, start},
		{prompt.None, prompt.Like, prompt.Tally{Likes: 6, Dislikes: 8}},
		{prompt.None, prompt.Dislike, prompt.Tally{Likes: 5, Dislikes: 9}},
		{prompt.Like, prompt.None, prompt.Tally{Likes: 4, Dislikes: 8}},
		{prompt.Like, prompt.Dislike, prompt.Tally{Likes: 4, Dislikes: 9}},
		{prompt.Dislike, prompt.None, prompt.Tally{Likes: 5, Dislikes: 7}},
		{prompt.Dislike, prompt.Like, prompt.Tally{Likes: 6, Dislikes: 7}},
	}
	for _, tt := range tests {
		t.Run(tt.was.String()+" to "+tt.now.String(), func(t *testing.T) {
			t.Parallel()
			was, now := prompt.Cast{Vote: tt.was, At: weeks(1)}, prompt.Cast{Vote: tt.now, At: weeks(3)}
			got := start.Add(was, now)
			require.Equal(t, tt.want, got.Unweighed())
			require.Equal(t, start.Score()+int32(tt.now)-int32(tt.was), got.Score())
			require.Equal(t, start, got.Add(now, was), "taking a vote back")
		})
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	then := time.UnixMilli(1)
	tests := []struct {
		name                    string
		visibility              prompt.Visibility
		deletedAt, hiddenAt     time.Time
		deleted, hidden, listed bool
	}{
		{name: "public", visibility: prompt.Public, listed: true},
		{name: "private", visibility: prompt.Private},
		{name: "unset"},
		{name: "deleted", visibility: prompt.Public, deletedAt: then, deleted: true},
		{name: "hidden", visibility: prompt.Public, hiddenAt: then, hidden: true},
		{name: "both", visibility: prompt.Public, deletedAt: then, hiddenAt: then, deleted: true, hidden: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := prompt.Prompt{
				Draft:     prompt.Draft{Visibility: tt.visibility},
				DeletedAt: tt.deletedAt, HiddenAt: tt.hiddenAt,
			}
			require.Equal(t, tt.deleted, p.Deleted())
			require.Equal(t, tt.hidden, p.Hidden())
			require.Equal(t, tt.listed, p.Listed())
		})
	}
}
