package api

import "context"

// MostStreams is how many streams of notifications there are at once.
const MostStreams = mostStreams

// Streams are those that are open.
type Streams struct{ streams }

// Enter opens one.
func (s *Streams) Enter(ctx context.Context, session string) (context.Context, func(), bool) {
	return s.enter(ctx, session)
}
