package prompthub

import (
	"context"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub/prompt"
)

// A Rendering is a prompt with values in the places of its variables.
type Rendering struct {
	prompt.Content
	Version int64 // whose content it is
}

// Render fills a prompt in, as it is or, where want names one, in a version. Who may be nobody.
// Values that the prompt does not take, and needed ones that are missing, are Invalid, each named
// under prompt.ValuesField.
func (s *Service) Render(ctx context.Context, who auth.User, id prompt.ID, want *WantedVersion, values map[string]string) (Rendering, error) {
	var v View
	var err error
	if want != nil {
		v, err = s.db.GetVersion(ctx, who.ID, id, *want)
	} else {
		v, err = s.db.Get(ctx, who.ID, id)
	}
	if err != nil {
		return Rendering{}, err
	}
	return s.Fill(v, values)
}

// Fill is Render for a prompt that was read.
func (s *Service) Fill(v View, values map[string]string) (Rendering, error) {
	filled, err := v.Content().Render(values, s.rules.TextLimit())
	if err != nil {
		return Rendering{}, err
	}
	return Rendering{Content: filled, Version: max(v.Version, 1)}, nil
}
