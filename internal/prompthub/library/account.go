package library

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// EraseDays is for how many days a user who wants to be erased can change his mind.
const EraseDays = 30

// Erase has the caller's account erased in EraseDays, or earlier, if that was decided before, and
// returns from when on. Until then nothing changes. Who came with an access token cannot ask for
// it.
func (s *Service) Erase(ctx context.Context, who auth.User) (time.Time, error) {
	if err := signedIn(who); err != nil {
		return time.Time{}, err
	}
	return s.db.EraseAt(ctx, IDOf(who), s.now().UTC().Truncate(time.Millisecond).AddDate(0, 0, EraseDays))
}

// CancelErase keeps the caller's account, which would have been erased.
func (s *Service) CancelErase(ctx context.Context, who auth.User) error {
	if err := signedIn(who); err != nil {
		return err
	}
	return s.db.CancelErase(ctx, IDOf(who))
}

// ErasedAt returns when the caller's account will be erased; the zero time where it is not.
func (s *Service) ErasedAt(ctx context.Context, who auth.User) (time.Time, error) {
	return s.db.Erasure(ctx, IDOf(who))
}

// Storage is what the caller takes of what one user may store; a limit of zero is none.
type Storage struct {
	promptdb.Usage
	Limit        promptdb.Quota
	MaxFavorites int64
}

// Storage returns it, as it was counted up to a minute ago.
func (s *Service) Storage(ctx context.Context, who auth.User) (Storage, error) {
	u, err := s.db.Usage(ctx, IDOf(who))
	return Storage{Usage: u, Limit: s.db.Quota(), MaxFavorites: promptdb.MaxFavorites}, err
}

// Warning tells a user who has used nine tenths of it, and is empty for others.
func (s Storage) Warning() string {
	if !s.Limit.Near(s.Usage) {
		return ""
	}
	var used []string
	if s.Limit.Prompts > 0 {
		used = append(used, fmt.Sprintf("%d of the %d prompts", s.Prompts, s.Limit.Prompts))
	}
	if s.Limit.Bytes > 0 {
		used = append(used, fmt.Sprintf("%.1f of the %.1f MiB", mebibytes(s.Bytes), mebibytes(s.Limit.Bytes)))
	}
	return fmt.Sprintf(
		"you use %s that a user may have; deleted prompts count until they are gone for good, %d days later",
		strings.Join(used, " and "), prompt.RestoreDays)
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

// The most that a part of an account holds.
const (
	partPrompts = 50
	partVotes   = 50
	partBytes   = 1 << 20 // of contents; the last prompt may go beyond
)

// An AccountPart is a part of all that a user has: the profile first, then the prompts by name with
// their histories, the votes on prompts of others, and the favorites in the end.
type AccountPart struct {
	Profile   *prompt.Profile // in the first part
	Prompts   []ExportedPrompt
	Votes     []View
	Favorites []View
	Next      string
}

// A ExportedPrompt is a prompt with a part of its history.
type ExportedPrompt = promptdb.ExportedPrompt

// Whole returns a prompt of the caller's, or of a workspace of which they are a member, with its
// history from a version on. Of other prompts one sees a part at most, so they are forked.
func (s *Service) Whole(ctx context.Context, who auth.User, id prompt.ID, from int64) (*ExportedPrompt, error) {
	v, err := s.look(ctx, who, id)
	if err != nil {
		return nil, err
	}
	if !v.IsOwn() {
		return nil, fault.New(fault.Forbidden,
			"this prompt is neither yours nor of a workspace of yours, so you may not read all of it; fork it")
	}
	w, err := s.db.ExportPrompt(ctx, v.AuthorID, id, from)
	if err == nil && w == nil { // deleted
		err = prompt.ErrUnknown()
	}
	return w, err
}

// An accountPlace says where the next part begins.
type accountPlace struct {
	Name  string `json:"n,omitempty"` // where the row of a name is
	From  int64  `json:"f,omitempty"` // the number of a version of that
	Vote  bool   `json:"v,omitempty"` // among the votes, after After
	Kept  bool   `json:"k,omitempty"` // among the favorites, after After
	After string `json:"a,omitempty"`
}

func (p accountPlace) seal(scope string) string {
	b, _ := json.Marshal(p) // texts and a number cannot fail
	return cursor.Seal(scope, string(b))
}

// Account returns a part of all that the caller has.
func (s *Service) Account(ctx context.Context, who auth.User, token string) (AccountPart, error) {
	var part AccountPart
	scope := fmt.Sprintf("account %q", who.ID)
	_, err := open(scope, token, func(position string) (_ promptdb.Page, err error) {
		var at accountPlace
		if position != "" {
			_ = json.Unmarshal([]byte(position), &at) // was sealed here, or is a place like any other
		}
		switch {
		case at.Vote:
			part, err = s.accountVotes(ctx, who, scope, at.After)
			return promptdb.Page{}, err
		case at.Kept:
			part, err = s.accountFavorites(ctx, who, scope, at.After)
			return promptdb.Page{}, err
		}
		part, err = s.accountPrompts(ctx, who, scope, at)
		if err == nil && token == "" {
			var p prompt.Profile
			p, err = s.db.Profile(ctx, IDOf(who))
			part.Profile = &p
		}
		return promptdb.Page{}, err
	})
	return part, err
}

func (s *Service) accountPrompts(ctx context.Context, who auth.User, scope string,
	at accountPlace,
) (part AccountPart, err error) {
	names, behind, err := s.db.NamesFrom(ctx, IDOf(who), at.Name, partPrompts)
	if err != nil {
		return part, err
	}
	size := 0
	for _, n := range names {
		from := int64(1)
		if n.At == at.Name {
			from = max(at.From, 1)
		}
		for from > 0 {
			if size >= partBytes {
				part.Next = accountPlace{Name: n.At, From: from}.seal(scope)
				return part, nil
			}
			w, err := s.db.ExportPrompt(ctx, IDOf(who), n.ID, from)
			if err != nil {
				return part, err
			}
			if w == nil {
				break // deleted meanwhile
			}
			if from == 1 || len(w.Versions) > 0 {
				part.Prompts = append(part.Prompts, *w)
			}
			size += partBytes / (2 * partPrompts) // a part has at most a hundred looks
			for _, v := range w.Versions {
				size += len(v.Words()) + len(v.Config) + len(w.Sources[v.Number].Bytes)
			}
			for _, b := range w.FileBytes {
				size += len(b)
			}
			from = w.Next
		}
	}
	next := accountPlace{Vote: true}
	if behind != "" {
		next = accountPlace{Name: behind}
	}
	part.Next = next.seal(scope)
	return part, nil
}

func (s *Service) accountVotes(ctx context.Context, who auth.User, scope, after string) (part AccountPart, err error) {
	page, err := s.db.MyVotes(ctx, IDOf(who), prompt.None, after, partVotes)
	if err != nil {
		return part, err
	}
	// which stand with his prompts
	part.Votes = slices.DeleteFunc(page.Items, func(v View) bool { return v.AuthorID == IDOf(who) })
	next := accountPlace{Kept: true}
	if page.After != "" {
		next = accountPlace{Vote: true, After: page.After}
	}
	part.Next = next.seal(scope)
	return part, nil
}

func (s *Service) accountFavorites(ctx context.Context, who auth.User,
	scope, after string,
) (part AccountPart, err error) {
	page, err := s.db.Favorites(ctx, IDOf(who), Filter{}, after, partVotes)
	if err != nil {
		return part, err
	}
	part.Favorites = page.Items
	if page.After != "" {
		part.Next = accountPlace{Kept: true, After: page.After}.seal(scope)
	}
	return part, nil
}
