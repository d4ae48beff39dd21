package prompthub

import (
	"context"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub/prompt"
)

// A Rendering is a prompt with values in the places of its variables.
type Rendering struct {
	Text string
}

// Render fills a prompt in. Who may be nobody. Values that the prompt does not take, and needed ones that
// are missing, are Invalid, each named under prompt.ValuesLocation.
func (s *Service) Render(ctx context.Context, who auth.User, id prompt.ID, values map[string]string) (Rendering, error) {
	v, err := s.db.Get(ctx, who.ID, id)
	if err != nil {
		return Rendering{}, err
	}
	texts, err := prompt.ParseTemplate(v.Variables, v.Text).Render(values, s.rules.TextLimit())
	if err != nil {
		return Rendering{}, err
	}
	return Rendering{Text: texts[0]}, nil
}
