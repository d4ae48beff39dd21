package stream_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/http/httpjson"
)

// TestStreamsEndWithTheServer: a server that must end does not wait for the news of a stream.
func TestStreamsEndWithTheServer(t *testing.T) {
	t.Parallel()
	s := stream.New(stream.Config{})
	ending, end := context.WithCancel(t.Context())
	ctx, leave := s.Enter(httpjson.WithEnding(t.Context(), ending), "ann", "0")
	require.NoError(t, ctx.Err())
	end()
	<-ctx.Done()
	leave()
}

// TestStreamsAreLimited: sessions of people open and end streams, in any order. There are no more
// than may be, of a person and of all; a new one always has a place; and those that end for it are
// the one of its session, else the oldest of its person if that has five, else the oldest of the
// person who has most.
func TestStreamsAreLimited(t *testing.T) {
	t.Parallel()
	type opened struct {
		user, session string
		ctx           context.Context
		leave         func()
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := stream.New(stream.Config{})
		var open []opened
		enter := func(user, session string) {
			ctx, leave := s.Enter(t.Context(), user, session)
			require.NoError(rt, ctx.Err())
			by := map[string]int{}
			for _, one := range open {
				by[one.user]++
			}
			most := 0
			for _, n := range by {
				most = max(most, n)
			}
			ends := slices.IndexFunc(open, func(one opened) bool { return one.session == session })
			switch {
			case ends >= 0:
			case by[user] == stream.MostOfPerson:
				ends = slices.IndexFunc(open, func(one opened) bool { return one.user == user })
			case len(open) == stream.Most:
				ends = slices.IndexFunc(open, func(one opened) bool { return by[one.user] == most })
			}
			if ends >= 0 {
				require.Error(rt, open[ends].ctx.Err())
				open[ends].leave() // late
				open = slices.Delete(open, ends, ends+1)
			}
			open = append(open, opened{user, session, ctx, leave})
		}
		each := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 3, 5}).Draw(rt, "streams of each person of a crowd")
		for i := range min(each, 1) * stream.Most {
			user, session := fmt.Sprint("crowd ", i/each), fmt.Sprint("crowd ", i)
			ctx, leave := s.Enter(t.Context(), user, session)
			open = append(open, opened{user, session, ctx, leave})
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			user := rapid.SampledFrom([]string{"ann", "bob", "eve"}).Draw(rt, "user")
			if i := rapid.IntRange(0, 50).Draw(rt, "leaves"); i < len(open) && i < 10 {
				open[i].leave()
				require.Error(rt, open[i].ctx.Err())
				open = slices.Delete(open, i, i+1)
				continue
			}
			enter(user, user+fmt.Sprint(rapid.IntRange(0, 9).Draw(rt, "session")))
			for _, one := range open {
				require.NoError(rt, one.ctx.Err())
			}
			require.LessOrEqual(rt, len(open), stream.Most)
		}
	})
}
