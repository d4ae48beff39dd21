package prompthub

import (
	"context"
	"time"

	"prompthub/internal/auth"
)

// EraseDays is for how many days a user who wants to be erased can change his mind.
const EraseDays = 30

// Erase has the caller's account erased in EraseDays, or when it was to be erased already, and
// returns from when on. Until then nothing changes. Who came with an access token cannot ask for
// it.
func (s *Service) Erase(ctx context.Context, who auth.User) (time.Time, error) {
	if err := signedIn(who); err != nil {
		return time.Time{}, err
	}
	return s.db.EraseAt(ctx, who.ID, s.now().UTC().Truncate(time.Millisecond).AddDate(0, 0, EraseDays))
}

// Keep takes back that the caller's account is to be erased.
func (s *Service) Keep(ctx context.Context, who auth.User) error {
	if err := signedIn(who); err != nil {
		return err
	}
	return s.db.Keep(ctx, who.ID)
}

// ErasedAt returns when the caller's account is to be erased; the zero time where it is not.
func (s *Service) ErasedAt(ctx context.Context, who auth.User) (time.Time, error) {
	return s.db.Erasure(ctx, who.ID)
}
