package library

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Fetch is what an access token fetched of a prompt last.
type Fetch struct {
	Token   string // the name of a token of the owner; "" for one of somebody else
	Version int64
	On      time.Time // in UTC, whose day is told
}

// Fetches are the last fetches of a prompt by the tokens that there are, lower versions first.
type Fetches struct {
	ByToken []Fetch
	Without int64 // how often programs without a token fetched it
	More    bool  // whether more tokens did than are told
}

// Fetched notes that a door answered a program with a version of a prompt.
func (s *Service) Fetched(ctx context.Context, who auth.User, v View) {
	if who.Grant != nil && who.Grant.TokenID != "" {
		s.FetchedBy(ctx, who.Grant.TokenID, v)
	} else if !who.Known() {
		s.FetchedBy(ctx, "", v)
	}
}

// FetchedBy is Fetched for a program that brings the id of an access token, or "" for none.
func (s *Service) FetchedBy(ctx context.Context, token string, v View) {
	s.db.Fetched(ctx, v.ID, token, max(v.Version, 1))
}

// maxStrangers is how many tokens of others are looked up for a list.
const maxStrangers = 100

// Fetches returns which versions of a prompt programs fetched last. The owner may know, or the
// administrators of the workspace that owns it.
func (s *Service) Fetches(ctx context.Context, who auth.User, id prompt.ID) (f Fetches, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		v, err := s.db.Get(ctx, IDOf(as), id)
		if err != nil {
			return err
		}
		if err := mayAdminister(as, v); err != nil {
			return err
		}
		f, err = s.fetchesOf(ctx, v.AuthorID, id)
		return err
	})
	return f, err
}

// mayAdminister returns an error unless the caller administers the owner of a prompt.
func mayAdminister(as auth.User, v View) error {
	switch {
	case !v.IsOwn():
		return fault.New(fault.Forbidden, "only its author may see what programs fetch of a prompt")
	case as.Grant != nil && as.Grant.By != "" && slices.Contains(as.Grant.Scopes, administer):
		return nil
	case as.Grant != nil && as.Grant.By != "":
		return prompt.ErrNeedsRole(prompt.RoleAdministrator)
	}
	return signedIn(as)
}

func (s *Service) fetchesOf(ctx context.Context, owner prompt.UserID, id prompt.ID) (f Fetches, err error) {
	var all []promptdb.Fetch
	var own []Token
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		all, f.Without, f.More, err = s.db.Fetches(gctx, id)
		return err
	})
	g.Go(func() (err error) {
		own, err = s.db.Tokens(gctx, owner)
		return err
	})
	if err := g.Wait(); err != nil {
		return Fetches{}, err
	}
	names := make(map[string]string)
	for _, t := range own {
		names[t.ID] = t.Name
	}
	there := make([]bool, len(all))
	looked := 0
	g, gctx = errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, x := range all {
		if there[i] = names[x.Token] != ""; there[i] {
			continue
		}
		if looked++; looked > maxStrangers {
			f.More = true
			continue
		}
		g.Go(func() error {
			t, err := s.db.Token(gctx, x.Token, func() error { return nil })
			there[i] = t != nil
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Fetches{}, err
	}
	for i, x := range all {
		if there[i] {
			f.ByToken = append(f.ByToken, Fetch{Token: names[x.Token], Version: x.Version, On: x.At})
		}
	}
	slices.SortFunc(f.ByToken, func(a, b Fetch) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(b.Token, a.Token), b.On.Compare(a.On))
	})
	return f, nil
}
