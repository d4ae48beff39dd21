package hubs

import (
	"context"
	"strings"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/apps/duuble/internal/search"
	"prompthub/internal/storage/table"
)

// searchWords are those by which a hub is found.
func (h Hub) searchWords() []string { return search.Words("", h.Name) }

// searchIndex finds hubs.
func (s *Service) searchIndex() search.Index {
	return search.Index{
		Store: s.Store, Lists: s.Tables.Lists, Begin: "hn|", Own: s.Tables.Hubs, Partition: schema.Hub,
		Due: s.endedRows(), Old: s.People.Overdue,
		Words: func(ctx context.Context, id string) ([]string, error) {
			h, err := s.readHub(ctx, id)
			if err != nil || h == nil {
				return nil, err
			}
			return h.searchWords(), nil
		},
	}
}

// Search returns hubs with a word in their names that begins as a query does.
func (s *Service) Search(ctx context.Context, c people.Claim, text, after string, limit int) (Page[Hub], error) {
	page := Page[Hub]{Items: []Hub{}}
	q, bad := search.Parse(text)
	found := map[string]*Hub{}
	var ids []string
	_, err := s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		if bad != nil {
			return nil //nolint:nilerr // it is told to members alone
		}
		ids, page.Next, err = s.searchIndex().Find(ctx, q, after, limit,
			func(ctx context.Context, ids []string) (map[string][]string, error) {
				some, err := s.hubsOf(ctx, c.UserID, ids)
				words := map[string][]string{}
				for id, h := range some {
					words[id], found[id] = h.searchWords(), h
				}
				return words, err
			})
		return err
	})
	if err == nil {
		err = bad
	}
	for _, id := range ids {
		page.Items = append(page.Items, *found[id])
	}
	return page, err
}

// wordsOf calls do for each row by which a hub is found.
func (s *Service) wordsOf(h *Hub, do func(name string, key table.Key, props ...table.Prop) error) error {
	return s.searchIndex().Want(h.ID, h.searchWords(), func(name string, row table.Row) error {
		return do(name, row.Key, row.Props...)
	})
}

// isWord reports whether a row of a hub is one of package search, which may be of a hub that was
// never made.
func isWord(row table.Row) bool { return strings.HasPrefix(row.Row, search.Rows) }
