package ballot

import (
	"context"

	"prompthub/internal/storage/table"
)

// disownedRows begin the receipts of people whose accounts were purged.
const disownedRows = receiptRows + "~"

// Disown takes the name of a person off the vote on a post, which stays cast and counted: another
// receipt with a random name takes the place of the person's. One that has none is left as it is.
func (s *Store) Disown(ctx context.Context, post, voter string) error {
	return s.Change(ctx, s.Posts, func(ctx context.Context) ([]table.Op, error) {
		row, err := s.GetRow(ctx, s.Posts, receiptKey(post, voter))
		if err != nil || row == nil {
			return nil, err
		}
		return []table.Op{
			{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: row.ETag}},
			{Kind: table.Insert, Row: table.Row{
				Key: table.Key{Partition: row.Partition, Row: disownedRows + s.newID()},
				Props: table.Props{
					{Name: "post_id", Value: table.String(post)},
					{Name: "voted_at", Value: row.Props.Get("voted_at")},
					{Name: "scopes", Value: row.Props.Get("scopes")},
				},
			}},
		}, nil
	})
}
