package meet

import (
	"context"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/table"
)

// RepairAccounts finishes the accounts that were being made when a backup was written, and removes
// those that no address names: the messages that would do it are in no backup. Nothing else may
// work on the store.
func (s *Service) RepairAccounts(ctx context.Context) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{}) {
		if err != nil {
			return err
		}
		if err := s.repairAccount(ctx, account.ParseUser(row)); err != nil {
			return err
		}
	}
	for row, err := range table.All(ctx, s.DB, s.Tables.UserEmails, table.Range{}) {
		if err != nil {
			return err
		}
		u, err := s.Account(ctx, row.Props.Get("UserId").Str())
		// it was erased, or moved, meanwhile
		if err == nil && (u == nil || u.Registered && account.EmailKey(u.Email) != row.Key) {
			err = s.RemoveKey(ctx, s.Tables.UserEmails, row.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) repairAccount(ctx context.Context, u User) error {
	if u.Erasing {
		return nil // its timer goes on
	}
	owner, err := s.ownerOf(ctx, u.Email)
	switch {
	case err != nil:
		return err
	case owner == "" && u.Registered: // the account was made while rows were read
		return s.takeEmail(ctx, u)
	case owner == u.ID && !u.Registered:
		return s.completeAccount(ctx, u, rules.Languages[0])
	case !u.Registered:
		return s.RemoveKey(ctx, s.Tables.Users, account.UserKey(u.ID))
	}
	return nil
}
