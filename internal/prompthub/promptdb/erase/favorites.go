package erase

import (
	"context"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// favorites removes what the user has kept.
func (e *erasure) favorites(ctx context.Context) error {
	return e.each(ctx, e.db.T.Favorites, table.Range{Partition: schema.FavoritesPartition(e.user)},
		func(row table.Row) error {
			return e.db.RemoveKey(ctx, e.db.T.Favorites, row.Key)
		})
}
