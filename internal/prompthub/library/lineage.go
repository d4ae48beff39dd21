package library

import (
	"context"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Lineage is a prompt with all of its versions that programs of its reader may get.
type Lineage = promptdb.Lineage

// Lineage returns the prompt that a name, an old name or a slug of an owner leads to, with its
// versions.
func (s *Service) Lineage(ctx context.Context, who auth.User, owner prompt.UserID, name string) (Lineage, error) {
	as, _, err := s.actor(ctx, who, owner)
	if err != nil {
		return Lineage{}, err
	}
	v, err := s.db.GetByName(ctx, IDOf(as), owner, name, WantedVersion{History: true})
	if err != nil {
		return Lineage{}, err
	}
	return s.db.Lineage(ctx, IDOf(as), v.ID)
}

// VersionsWith hands versions of a lineage to do with their contents, some at once.
func (s *Service) VersionsWith(ctx context.Context, l Lineage, numbers []int64, do func(prompt.Version) error) error {
	return s.db.VersionsWith(ctx, l, numbers, do)
}

// FileBytes returns the bytes of files of a prompt by their SHA-256, in hex. Its caller has found
// them in a version that it may see.
func (s *Service) FileBytes(ctx context.Context, id prompt.ID, files prompt.Files) (map[string][]byte, error) {
	return s.db.FileBytes(ctx, id, files)
}
