package people

import (
	"context"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/apps/duuble/internal/search"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// searchWords are those by which a user is found.
func (u User) searchWords() []string { return search.Words(u.Username, u.FullName) }

// searchIndex finds people.
func (s *Service) searchIndex() search.Index {
	return search.Index{
		Store: s.Store, Lists: s.Tables.Lists, Begin: "pn|", Own: s.Tables.Users, Partition: schema.User,
		Due: s.endedTies(), Old: s.Overdue,
		Words: func(ctx context.Context, id string) ([]string, error) {
			u, err := s.readUser(ctx, id)
			if err != nil || u == nil {
				return nil, err
			}
			return u.searchWords(), nil
		},
	}
}

// Search returns people whose usernames, or words of whose names, begin as a query does. Those who
// are hidden from the caller, or have left, are not found.
func (s *Service) Search(ctx context.Context, c Claim, text, after string, limit int) (PersonPage, error) {
	page := PersonPage{Items: []Person{}}
	q, bad := search.Parse(text)
	persons := map[string]Person{}
	var ids []string
	_, err := s.Member(ctx, c, func(ctx context.Context) (err error) {
		if bad != nil {
			return nil //nolint:nilerr // it is told to members alone
		}
		ids, page.Next, err = s.searchIndex().Find(ctx, q, after, limit,
			func(ctx context.Context, ids []string) (map[string][]string, error) {
				return s.wordsSeen(ctx, c.UserID, ids, persons)
			})
		return err
	})
	if err == nil {
		err = bad
	}
	for _, id := range ids {
		page.Items = append(page.Items, persons[id])
	}
	return page, err
}

// wordsSeen returns the words of those of some people that a viewer may find, and notes who they
// are.
func (s *Service) wordsSeen(ctx context.Context, viewer string, ids []string,
	persons map[string]Person,
) (map[string][]string, error) {
	found := make([]*User, len(ids))
	var hidden map[string]bool
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		return rowstore.Each(ctx, len(ids), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
			found[i], err = s.readUser(ctx, ids[i])
			return err
		})
	}, func(ctx context.Context) (err error) {
		hidden, err = s.AreHidden(ctx, viewer, ids)
		return err
	})
	words := map[string][]string{}
	for _, u := range found {
		if u.isThere() && !hidden[u.ID] {
			words[u.ID], persons[u.ID] = u.searchWords(), u.Person()
		}
	}
	return words, err
}

// verifyWords reports rows by which people are found that are missing, or of nothing.
func (s *Service) verifyWords(ctx context.Context, u User, report func(string)) error {
	return s.searchIndex().Want(u.ID, u.searchWords(), func(name string, row table.Row) error {
		there, err := s.GetRow(ctx, name, row.Key)
		if err == nil && there == nil {
			report("user " + u.ID + ": a row by which a search finds them is missing")
		}
		return err
	})
}
