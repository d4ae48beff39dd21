package query

import (
	"context"

	"prompthub/internal/cursor"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/table"
)

// Events says which events of a workspace are wanted. A zero field does not filter.
type Events struct {
	Prompt prompt.ID
	By     prompt.UserID
	Type   prompt.EventType
}

// eventProps are those by which events are chosen.
var eventProps = []string{"Type", "Prompt", "By"}

func (q Events) match(p table.Props) bool {
	return (q.Prompt == "" || p.Get("Prompt").Str() == string(q.Prompt)) &&
		(q.By == "" || schema.UserIn(p, "By") == q.By) &&
		(q.Type == "" || p.Get("Type").Str() == string(q.Type))
}

// Events returns events of a workspace after a position, the newest first. Fewer than limit, even
// none, may come with a position to go on from: a request reads a bounded number of rows.
func (db *Queries) Events(ctx context.Context, workspace prompt.UserID, q Events, after string,
	limit int,
) (events []prompt.Event, next string, err error) {
	r := schema.EventsOf(workspace)
	r.Filter, r.FilterProps = q.match, eventProps
	if after != "" {
		if _, _, ok := schema.ParseEventKey(table.Key{Partition: r.Partition, Row: after}); !ok {
			return nil, "", cursor.Refuse()
		}
		r.From, r.After = "", after
	}
	s := db.Budget()
	for {
		r.MaxMatches = limit - len(events)
		rows, more, err := s.Rows(ctx, db.T.Prompts, r, s.Size(max(limit, table.MaxPage)))
		if err != nil {
			return nil, "", err
		}
		for _, row := range rows {
			r.From, r.After = "", row.Row
			if row.Props == nil {
				continue
			}
			if _, e, ok := schema.ParseEvent(row); ok {
				events = append(events, e)
			}
			if len(events) == limit {
				return events, row.Row, nil
			}
		}
		if !more {
			return events, "", nil
		}
		if s.Spent() {
			return events, r.After, nil
		}
	}
}

// Proposals returns proposals of a prompt after a position, the newest first.
func (db *Queries) Proposals(ctx context.Context, owner prompt.UserID, id prompt.ID, after string,
	limit int,
) (list []prompt.Proposal, next string, err error) {
	rows, next, err := db.rowsAfter(ctx, table.Prefix(schema.AuthorPartition(owner), schema.ProposalsOf(id)),
		after, limit)
	for _, row := range rows {
		if p, ok := schema.ParseProposal(row); ok {
			list = append(list, p)
		}
	}
	return list, next, err
}

// rowsAfter returns rows of a range after a position, and the position to go on from, "" at the
// end.
func (db *Queries) rowsAfter(ctx context.Context, r table.Range, after string,
	limit int,
) (rows []table.Row, next string, err error) {
	if after != "" {
		r.From, r.After = "", after
	}
	rows, more, err := db.Budget().Rows(ctx, db.T.Prompts, r, limit)
	if err == nil && more && len(rows) > 0 {
		next = rows[len(rows)-1].Row
	}
	return rows, next, err
}

// NamesOf returns a prompt of an owner with its title and all names that lead to it alone, nil for
// none. Its owner views it.
func (db *Queries) NamesOf(ctx context.Context, owner prompt.UserID, id prompt.ID) (*truth.View, error) {
	rec, err := db.Read(ctx, owner, id, "PromptId", "AuthorId", "Title", "Name", "Slug", "OldNames")
	if err != nil || rec == nil {
		return nil, err
	}
	return &truth.View{Prompt: rec.Prompt, Viewer: owner}, nil
}

// An Open is an open proposal of a prompt.
type Open struct {
	Prompt prompt.ID
	Number int64
}

// OpenProposals returns open proposals of a workspace after a position, the newest first.
func (db *Queries) OpenProposals(ctx context.Context, owner prompt.UserID, after string,
	limit int,
) (list []Open, next string, err error) {
	rows, next, err := db.rowsAfter(ctx, schema.OpenProposals(owner), after, limit)
	for _, row := range rows {
		if id, n, ok := schema.ParseOpen(row.Row); ok {
			list = append(list, Open{id, n})
		}
	}
	return list, next, err
}
