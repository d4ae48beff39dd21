package stream

import "context"

// How many streams there are at once, and of one person.
const (
	Most         = most
	MostOfPerson = mostOfPerson
)

// Enter opens one.
func (s *Service) Enter(ctx context.Context, user, session string) (context.Context, func()) {
	return s.enterSession(ctx, user, session)
}
