package library

import (
	"context"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Lineage is a prompt with all of its versions that programs of its reader may get.
type Lineage = promptdb.Lineage

// A LineageVersion is one of them.
type LineageVersion = promptdb.LineageVersion

// Lineage returns the prompt that a name, an old name or a slug of an owner leads to, with its
// versions.
func (s *Service) Lineage(ctx context.Context, who auth.User, owner prompt.UserID, name string) (Lineage, error) {
	as, _, err := s.actor(ctx, who, owner)
	if err != nil {
		return Lineage{}, err
	}
	v, err := s.db.GetByName(ctx, IDOf(as), owner, name, WantedVersion{Label: prompt.Latest, History: true})
	if err != nil {
		return Lineage{}, err
	}
	return s.db.Lineage(ctx, IDOf(as), v.ID)
}

// VersionOf returns a version of a prompt with its content. Its caller has found it in a lineage.
func (s *Service) VersionOf(ctx context.Context, p prompt.Prompt, n int64) (prompt.Version, error) {
	return s.db.VersionOf(ctx, p.AuthorID, p.ID, n)
}

// FileBytes returns the bytes of files of a prompt by their SHA-256, in hex. Its caller has found
// them in a version that it may see.
func (s *Service) FileBytes(ctx context.Context, id prompt.ID, files prompt.Files) (map[string][]byte, error) {
	return s.db.FileBytes(ctx, id, files)
}
