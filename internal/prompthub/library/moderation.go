package library

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// The limits of texts by admins, in characters.
const (
	MaxReason      = 500
	MaxDisplayName = 60
)

func adminOnly(who auth.User) error {
	if !who.Admin() {
		return fault.New(fault.Forbidden, "this needs the role admin")
	}
	return nil
}

// Hide takes a public prompt off every public list and read. Its author sees that it is hidden, and
// why.
func (s *Service) Hide(ctx context.Context, who auth.User, id prompt.ID, reason string) error {
	reason = strings.TrimSpace(reason)
	if err := adminOnly(who); err != nil {
		return s.unlessUnknown(ctx, who, id, err)
	}
	if n := len([]rune(reason)); n == 0 || n > MaxReason || strings.ContainsFunc(reason, unicode.IsControl) {
		return &fault.Error{Kind: fault.Invalid, Text: "the author needs a reason", Fields: []fault.Field{
			{Name: "reason", Message: fmt.Sprintf("must be 1 to %d characters, without control characters", MaxReason)},
		}}
	}
	return s.moderate(ctx, who, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Hidden() && p.HiddenReason == reason {
			return p, promptdb.ErrUnchanged
		}
		p.HiddenAt, p.HiddenBy, p.HiddenReason = s.now().UTC().Truncate(time.Millisecond), IDOf(who), reason
		if prompt.IsWorkspace(p.AuthorID) { // whose rows hold no id of a user
			p.HiddenBy = prompt.UserID(s.AuthorKey(IDOf(who)))
		}
		return p, nil
	})
}

// Unhide undoes Hide.
func (s *Service) Unhide(ctx context.Context, who auth.User, id prompt.ID) error {
	if err := adminOnly(who); err != nil {
		return s.unlessUnknown(ctx, who, id, err)
	}
	return s.moderate(ctx, who, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if !p.Hidden() {
			return p, promptdb.ErrUnchanged
		}
		p.HiddenAt, p.HiddenBy, p.HiddenReason = time.Time{}, "", ""
		return p, nil
	})
}

// unlessUnknown returns err only where the caller may know of the prompt.
func (s *Service) unlessUnknown(ctx context.Context, who auth.User, id prompt.ID, err error) error {
	if _, getErr := s.look(ctx, who, id); getErr != nil {
		return getErr
	}
	return err
}

// moderate changes a public prompt, whoever wrote it.
func (s *Service) moderate(ctx context.Context, who auth.User, id prompt.ID, edit promptdb.Edit) error {
	author, err := s.db.Author(ctx, IDOf(who), id)
	if err != nil {
		return err
	}
	_, err = s.db.Change(ctx, author, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() || p.Visibility != prompt.Public {
			return p, prompt.ErrUnknown()
		}
		return edit(p)
	})
	return err
}

// Hidden returns the hidden prompts, for an admin.
func (s *Service) Hidden(ctx context.Context, who auth.User, limit int, token string) (Page, error) {
	if err := adminOnly(who); err != nil {
		return Page{}, err
	}
	return s.page(ctx, who, "hidden", token, func(after string) (promptdb.Page, error) {
		return s.db.Hidden(ctx, after, limit)
	})
}

// Users returns users who have written a prompt or saved a profile, for an admin, and a cursor for
// the rest, "" at the end. They are in no order that means anything.
func (s *Service) Users(ctx context.Context, who auth.User, limit int,
	token string,
) (users []User, next string, err error) {
	if err := adminOnly(who); err != nil {
		return nil, "", err
	}
	next, err = onward("users", token, func(after string) (string, error) {
		known, next, err := s.db.Users(ctx, after, limit)
		for _, u := range known {
			users = append(users, User{Key: s.AuthorKey(u.ID), Profile: u.Profile})
		}
		return next, err
	})
	return users, next, err
}

// AllTokens returns access tokens of all users, for an admin, and a cursor for the rest, "" at the
// end. They are in no order that means anything, and do not say when they were used.
func (s *Service) AllTokens(ctx context.Context, who auth.User, limit int,
	token string,
) (tokens []Token, next string, err error) {
	if err := adminOnly(who); err != nil {
		return nil, "", err
	}
	next, err = onward("all tokens", token, func(after string) (next string, err error) {
		tokens, next, err = s.db.AllTokens(ctx, after, limit)
		return next, err
	})
	return tokens, next, err
}

// onward opens a cursor, reads from the position in it on, and seals that of the rest.
func onward(scope, token string, read func(after string) (string, error)) (next string, err error) {
	p, err := open(scope, token, func(after string) (p promptdb.Page, err error) {
		p.After, err = read(after)
		return p, err
	})
	return sealed(scope, p).Next, err
}

// A Catalog is the tags, and how many public prompts there are.
type Catalog = promptdb.Catalog

// Tags returns the tag catalog by sort order and name: the active tags or, if an admin sets all,
// every tag.
func (s *Service) Tags(ctx context.Context, who auth.User, all bool) ([]prompt.TagInfo, error) {
	c, err := s.Catalog(ctx, who, all)
	return c.Tags, err
}

// Catalog is Tags, with how many public prompts there are.
func (s *Service) Catalog(ctx context.Context, who auth.User, all bool) (Catalog, error) {
	if all {
		if err := adminOnly(who); err != nil {
			return Catalog{}, err
		}
	}
	c, err := s.db.Catalog(ctx)
	if err != nil || all {
		return c, err
	}
	c.Tags = slices.DeleteFunc(c.Tags, func(t prompt.TagInfo) bool { return !t.Active })
	return c, nil
}

// PutTag creates or changes a tag of the catalog.
func (s *Service) PutTag(ctx context.Context, who auth.User, tag prompt.TagInfo) (prompt.TagInfo, error) {
	tag, err := entryOf(who, tag)
	if err != nil {
		return tag, err
	}
	return tag, s.db.PutTag(ctx, tag)
}

// AddTag is PutTag for a new tag. Where there is one of its name, the answer is Conflict.
func (s *Service) AddTag(ctx context.Context, who auth.User, tag prompt.TagInfo) error {
	tag, err := entryOf(who, tag)
	if err != nil {
		return err
	}
	return s.db.AddTag(ctx, tag)
}

// ChangeTag is PutTag for a tag that has the revision was. Where somebody changed it meanwhile, the
// answer is Stale, with the tag as it is now.
func (s *Service) ChangeTag(ctx context.Context, who auth.User, tag prompt.TagInfo, was string) error {
	tag, err := entryOf(who, tag)
	if err != nil {
		return err
	}
	return s.db.ChangeTag(ctx, tag, was)
}

// entryOf returns a tag as an admin may store it.
func entryOf(who auth.User, tag prompt.TagInfo) (prompt.TagInfo, error) {
	if err := adminOnly(who); err != nil {
		return tag, err
	}
	return CheckTag(tag)
}

// CheckTag returns a tag normalised, or an error of the kind Invalid.
func CheckTag(tag prompt.TagInfo) (prompt.TagInfo, error) {
	tag.DisplayName = strings.TrimSpace(tag.DisplayName)
	if n := len([]rune(tag.DisplayName)); n == 0 || n > MaxDisplayName ||
		strings.ContainsFunc(tag.DisplayName, unicode.IsControl) {
		return tag, &fault.Error{
			Kind: fault.Invalid, Text: "the tag breaks the rules named here",
			Fields: []fault.Field{
				{Name: "displayName", Message: fmt.Sprintf("must be 1 to %d characters, without control characters",
					MaxDisplayName)},
			},
		}
	}
	return tag, nil
}

// RetireTag makes a tag inactive: prompts that have it keep it, others cannot take it.
func (s *Service) RetireTag(ctx context.Context, who auth.User, tag prompt.Tag) error {
	if err := adminOnly(who); err != nil {
		return err
	}
	return s.db.RetireTag(ctx, tag)
}
