package stream

import "context"

// Most is how many streams there are at once.
const Most = most

// Enter opens one.
func (s *Service) Enter(ctx context.Context, session string) (context.Context, func(), bool) {
	return s.enter(ctx, session)
}
