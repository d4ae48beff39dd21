package posts

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The row pd|{inv}|{post} in the partition of a person names a post that the person has deleted
// then. It is written before the deletion and goes with the row that says when the post is due, so
// it may name one that is back. A read looks at the post.

const deletedOfUser = "pd|"

// authorOf, in the due row of a post, is the author: the list of deleted posts of that person names
// the post.
const authorOf = "author_id"

func deletedKey(author string, at time.Time, id string) table.Key {
	return table.Key{Partition: schema.User(author), Row: deletedOfUser + rowstore.Descending(at) + "|" + id}
}

// addDeleted writes the rows by which a post that is deleted at a time is found: by Purge, and by
// its author unless somebody who manages the service has deleted it.
func (s *Service) addDeleted(ctx context.Context, author string, at time.Time, id string, removed bool) error {
	if err := s.deletedRows().Add(ctx, at, id, table.Prop{Name: authorOf, Value: table.String(author)}); err != nil ||
		removed {
		return err
	}
	return s.Upsert(ctx, s.Tables.Users, table.Row{Key: deletedKey(author, at, id)})
}

// unlistDeleted removes the row by which an author finds a deleted post. row is the due row of the
// post.
func (s *Service) unlistDeleted(ctx context.Context, row table.Row) error {
	author := row.Props.Get(authorOf).Str()
	if author == "" {
		return nil // an older program wrote it, or Purge, which is at it
	}
	return s.RemoveKey(ctx, s.Tables.Users, deletedKey(author, due.At(row), row.Row))
}

// A DeletedPost is a post that its author can bring back.
type DeletedPost struct {
	Card
	DeletedAt time.Time
	GoneAt    time.Time // from when on nothing brings it back
}

// Deleted returns posts that the caller has deleted and can bring back, the last deletion first.
func (s *Service) Deleted(ctx context.Context, c people.Claim, after string,
	limit int,
) (all []DeletedPost, next string, err error) {
	var rows []table.Row
	var mu sync.Mutex
	found := map[string]seen{}
	_, err = s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		l := lists.List{Table: s.Tables.Users, Partition: schema.User(c.UserID), Prefix: deletedOfUser}
		rows, next, err = lists.Read(ctx, s.Store, l, after, limit,
			func(ctx context.Context, rows []table.Row) ([]table.Row, error) {
				err := rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) error {
					p, err := s.findDeleted(ctx, c.UserID, rows[i])
					if err == nil && p.post != nil {
						mu.Lock()
						found[rows[i].Row] = p
						mu.Unlock()
					}
					return err
				})
				return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool {
					return found[row.Row].post == nil
				}), err
			})
		return err
	})
	if err != nil {
		return nil, "", err
	}
	posts := make([]seen, len(rows))
	for i, row := range rows {
		posts[i] = found[row.Row]
	}
	in := map[string]bool{}
	for _, p := range posts {
		for _, hub := range p.post.Hubs {
			in[hub] = true
		}
	}
	mine, err := s.Hubs.In(ctx, c.UserID, slices.Sorted(maps.Keys(in)))
	if err != nil {
		return nil, "", err
	}
	for i, p := range posts {
		some := slices.DeleteFunc(slices.Clone(p.post.Hubs), func(hub string) bool {
			return !slices.Contains(mine, hub)
		})
		posts[i].in = some[:min(len(some), maxNamed)]
	}
	cards, err := s.cardsOf(ctx, c.UserID, posts)
	for _, card := range cards {
		all = append(all, DeletedPost{card, card.deletedAt, card.deletedAt.Add(s.People.Keep)})
	}
	return all, next, err
}

// findDeleted reads the post that a row of the list of its author names, none unless its author
// deleted it then and can bring it back.
func (s *Service) findDeleted(ctx context.Context, author string, named table.Row) (p seen, err error) {
	id := lists.ID(named)
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Posts, cardRows(id), rowstore.MaxScan)
	if err != nil {
		return seen{}, err
	}
	post := parsePost(id, rows)
	if post == nil || post.isLive() || post.removed || s.isGone(post) || post.AuthorID != author ||
		deletedKey(author, post.deletedAt, id) != named.Key {
		return seen{}, nil
	}
	return seen{post: post, result: ballot.GlobalResult(rows)}, nil
}
