package library

import (
	"context"
	"errors"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Rendering is a prompt with values in the places of its variables.
type Rendering struct {
	prompt.Content
	Version int64 // whose content it is
}

// Render fills a version of a prompt in. The caller need not be signed in.
// Values that the prompt does not take, and needed ones that are missing, are Invalid, each named
// under prompt.ValuesField.
func (s *Service) Render(ctx context.Context, who auth.User, id prompt.ID, want WantedVersion,
	values map[string]string,
) (Rendering, error) {
	v, err := s.GetVersion(ctx, who, id, want)
	if err != nil {
		return Rendering{}, err
	}
	s.Fetched(ctx, who, v)
	return s.Fill(ctx, v, values)
}

// Fill is Render for a prompt that was read.
func (s *Service) Fill(ctx context.Context, v View, values map[string]string) (Rendering, error) {
	resolved, err := s.Resolve(ctx, v)
	if err != nil {
		return Rendering{}, err
	}
	filled, err := resolved.Render(values, s.rules.TextLimit())
	if err != nil {
		return Rendering{}, err
	}
	return Rendering{Content: filled, Version: max(v.Version, 1)}, nil
}

// A Resolution is a content with the included texts in their places, and the tree of includes.
type Resolution = promptdb.Resolution

// A Node is a version of a prompt that includes others, or that others include.
type Node = promptdb.Node

// Resolve puts what a prompt includes into its places: other prompts of its author, as far as the
// caller may read each of them. Where one is missing, or they lead in a circle, or are too many,
// too deep or too long, the error is a Conflict.
func (s *Service) Resolve(ctx context.Context, v View) (Resolution, error) {
	return s.db.Resolve(ctx, v.Viewer, v, s.rules.TextLimit())
}

// checkIncludes reports why a content cannot be resolved now, and notes the arguments of the prompt
// with its includes, for lists of programs. Arguments of texts that others may not read are left
// out.
func (s *Service) checkIncludes(ctx context.Context, p *prompt.Prompt) error {
	p.AllArguments = nil
	if len(p.Content().Includes()) == 0 {
		return nil
	}
	resolved, err := s.db.Resolve(ctx, p.AuthorID, View{Prompt: *p}, s.rules.TextLimit())
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Kind == fault.Conflict {
		return &fault.Error{
			Kind: fault.Invalid, Text: f.Text,
			Fields: []fault.Field{{Name: prompt.TextsField(p.Content()), Message: f.Text, Code: f.Code}},
		}
	}
	if err == nil && (p.Visibility != prompt.Public || len(resolved.Closed) == 0) {
		p.AllArguments = resolved.Arguments()
	}
	return err
}

// recheckIncludes is checkIncludes for a changed prompt. Publishing needs no look at
// the included texts, but their visibility must be checked.
func (s *Service) recheckIncludes(ctx context.Context, was prompt.Prompt, now *prompt.Prompt) error {
	if !now.Content().Same(was.Content()) {
		return s.checkIncludes(ctx, now)
	}
	if now.Visibility != was.Visibility {
		_ = s.checkIncludes(ctx, now) // an include that cannot be resolved is told to no reader
	}
	return nil
}

// UsedBy returns which prompts of its author's include a prompt, and whether there are more. Its
// author may know.
func (s *Service) UsedBy(ctx context.Context, who auth.User, id prompt.ID) (uses []promptdb.Use, more bool, err error) {
	v, err := s.look(ctx, who, id)
	if err != nil {
		return nil, false, err
	}
	return s.UsesOf(ctx, v)
}

// UsesOf is UsedBy for a prompt that was read.
func (s *Service) UsesOf(ctx context.Context, v View) (uses []promptdb.Use, more bool, err error) {
	if !v.IsOwn() {
		return nil, false, fault.New(fault.Forbidden, "only its author may see which prompts include a prompt")
	}
	return s.db.UsedBy(ctx, v.Prompt)
}
