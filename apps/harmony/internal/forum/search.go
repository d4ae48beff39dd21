package forum

import (
	"context"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// QueryLength is the code of a query that is too short or too long.
const QueryLength fault.Code = "QUERY_LENGTH"

// maxSearched is how many topics one part of a search looks at.
const maxSearched = 1000

// Search returns topics of the forum that have, in title and text, a word that begins with each
// word of a query, the newest first. A part of the answer looks at 1,000 topics, so it may be
// short, or empty, before the end. It finds no topics of events.
func (s *Service) Search(ctx context.Context, c meet.Claim, query, after string, limit int) (Page, error) {
	var b rules.Broken
	text, q := b.Text("q", query, 2, 100, QueryLength, false), topic.ParseQuery(query)
	if len(q) == 0 && b.Err() == nil {
		b.Add("q", QueryLength, "give letters or digits", text)
	}
	var rows []table.Row
	var more bool
	caller, err := s.members.Admit(ctx, c, func(ctx context.Context) (err error) {
		if len(b) > 0 {
			return nil
		}
		rows, more, err = s.Budget().Rows(ctx, s.tables.ForumTopics, table.Range{
			Partition: topic.SearchList, After: after, Filter: func(p table.Props) bool {
				return q.Finds(p.Get("Words").Str())
			},
		}, maxSearched)
		return err
	})
	if err == nil {
		err = b.Err()
	}
	if err != nil {
		return Page{}, err
	}
	var p Page
	var found []table.Row
	for _, row := range rows {
		if !rowstore.IsMatch(row) {
			continue
		}
		if len(found) == limit {
			p.Next = found[limit-1].Key.Row
			break
		}
		found = append(found, row)
	}
	if p.Next == "" && more {
		p.Next = rows[len(rows)-1].Key.Row
	}
	p.Topics, err = s.viewTopics(ctx, caller, found, events.Standing{})
	return p, err
}
