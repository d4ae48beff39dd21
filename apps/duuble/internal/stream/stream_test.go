package stream_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/http/httpjson"
)

// TestStreamsEndWithTheServer: a server that must end does not wait for the news of a stream.
func TestStreamsEndWithTheServer(t *testing.T) {
	t.Parallel()
	s := stream.New(stream.Config{})
	ending, end := context.WithCancel(t.Context())
	ctx, leave, ok := s.Enter(httpjson.WithEnding(t.Context(), ending), "0")
	require.True(t, ok)
	require.NoError(t, ctx.Err())
	end()
	<-ctx.Done()
	leave()
}

// TestStreamsAreLimited: there are no more than may be, but a session that has one gets another one
// for it, and there is room again once one ends.
func TestStreamsAreLimited(t *testing.T) {
	t.Parallel()
	s := stream.New(stream.Config{})
	var leave func()
	for i := range stream.Most {
		_, end, ok := s.Enter(t.Context(), fmt.Sprint(i))
		require.True(t, ok)
		leave = end
	}
	_, _, ok := s.Enter(t.Context(), "another")
	require.False(t, ok)
	ctx, again, ok := s.Enter(t.Context(), "0")
	require.True(t, ok)
	next, _, ok := s.Enter(t.Context(), "0")
	require.True(t, ok)
	require.Error(t, ctx.Err(), "its first one has ended")
	again() // late
	require.NoError(t, next.Err())
	leave()
	_, _, ok = s.Enter(t.Context(), "another")
	require.True(t, ok)
}
